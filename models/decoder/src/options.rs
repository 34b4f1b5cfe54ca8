//! The settings that an adapter of this crate understands.

use crate::Hardware;
use npugate::{Settings, SettingsError};
use npugate_kernels::{Functions, GemmOutput, Toolchain};
use std::{fmt, str::FromStr};

/// What runs where, and with which arithmetic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Positions that prefill is compiled for; shorter prompts are padded.
    pub seq_len: usize,
    /// How launches are grouped into programs.
    pub fusion: Fusion,
    /// Where prefill computes attention. Decode always computes it on the host.
    pub attention: Attention,
    /// How prefill's matrix products narrow their accumulator.
    pub gemm: GemmMethod,
    /// The toolchain that compiled the kernels, which decides how each core rounds.
    pub toolchain: Toolchain,
    /// How the functions that the hardware approximates are computed.
    pub functions: Functions,
    /// The settings of a run on an NPU.
    pub hardware: Hardware,
}

/// How launches are grouped into programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fusion {
    /// Each launch is a program: every intermediate passes through the host.
    Leaf,
    /// The launches between two pieces of host work are one program.
    Merged,
}

/// Where prefill computes attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attention {
    /// On the NPU, by the FlashAttention kernel.
    Npu,
    /// On the host, in f32.
    Host,
}

/// How a matrix product narrows its f32 accumulator to the bf16 that the next
/// kernel reads. The names are the kernel registry's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GemmMethod {
    /// Once, in the core that accumulated it.
    Drain,
    /// Once, by a separate cast launch.
    FusedCast,
    /// After every 32 values along K: there is no f32 accumulator.
    Direct,
}

impl GemmMethod {
    /// Returns the kernel's own parameter.
    pub fn output(self) -> GemmOutput {
        match self {
            Self::Drain => GemmOutput::Drain,
            Self::FusedCast => GemmOutput::FusedCast,
            Self::Direct => GemmOutput::Direct,
        }
    }
}

impl Options {
    /// The keys of all settings.
    pub const KEYS: [&str; 11] = [
        "toolchain",
        "attention",
        "gemm",
        "fusion",
        "seq_len",
        "exp2",
        "tanh",
        "reciprocal",
        "rsqrt",
        "deployment",
        "deadline",
    ];

    /// Returns the default options for `seq_len` positions: merged programs, NPU
    /// attention, `drain` products, rounding to nearest even and the hardware's
    /// functions.
    pub const fn new(seq_len: usize) -> Self {
        Self {
            seq_len,
            fusion: Fusion::Merged,
            attention: Attention::Npu,
            gemm: GemmMethod::Drain,
            toolchain: Toolchain::Rne,
            functions: Functions::HARDWARE,
            hardware: Hardware::DEFAULT,
        }
    }

    /// Returns these options, changed by `settings`.
    ///
    /// # Errors
    ///
    /// Fails if a key is not one of [`Options::KEYS`] or a value does not parse.
    pub fn with(self, settings: &Settings) -> Result<Self, SettingsError> {
        settings.expect_only(&Self::KEYS)?;
        let functions = Functions {
            exp2: settings.get("exp2")?.unwrap_or(self.functions.exp2),
            tanh: settings.get("tanh")?.unwrap_or(self.functions.tanh),
            reciprocal: settings.get("reciprocal")?.unwrap_or(self.functions.reciprocal),
            rsqrt: settings.get("rsqrt")?.unwrap_or(self.functions.rsqrt),
        };
        Ok(Self {
            functions,
            hardware: self.hardware.with(settings)?,
            seq_len: settings.get("seq_len")?.unwrap_or(self.seq_len),
            fusion: settings.get("fusion")?.unwrap_or(self.fusion),
            attention: settings.get("attention")?.unwrap_or(self.attention),
            gemm: settings.get("gemm")?.unwrap_or(self.gemm),
            toolchain: settings.get("toolchain")?.unwrap_or(self.toolchain),
        })
    }

    /// Returns the keys of the settings that are the same in `other` or do not affect the
    /// results.
    pub(crate) fn same_keys(&self, other: &Self) -> Vec<&'static str> {
        let same = [
            self.toolchain == other.toolchain,
            self.attention == other.attention,
            self.gemm == other.gemm,
            self.fusion == other.fusion,
            self.seq_len == other.seq_len,
            self.functions.exp2 == other.functions.exp2,
            self.functions.tanh == other.functions.tanh,
            self.functions.reciprocal == other.functions.reciprocal,
            self.functions.rsqrt == other.functions.rsqrt,
            true,
            true,
        ];
        Self::KEYS.into_iter().zip(same).filter_map(|(key, same)| same.then_some(key)).collect()
    }
}

impl fmt::Display for Options {
    /// Writes what runs where, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attention = match self.attention {
            Attention::Npu => "NPU",
            Attention::Host => "host",
        };
        write!(
            f,
            "{} GEMM, {attention} attention, {}, seq {}, rounding {}",
            self.gemm, self.fusion, self.seq_len, self.toolchain
        )?;
        self.functions.replaced().try_for_each(|(name, choice)| write!(f, ", {name} {choice}"))
    }
}

/// A value that a setting cannot take.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("choose {0}")]
pub struct UnknownValue(&'static str);

/// Names the values of a setting, both for parsing and for display.
macro_rules! named {
    ($type:ident { $($name:literal => $variant:ident),+ $(,)? }, $choices:literal) => {
        impl FromStr for $type {
            type Err = UnknownValue;

            fn from_str(text: &str) -> Result<Self, UnknownValue> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(UnknownValue($choices)),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$variant => $name,)+ })
            }
        }
    };
}

named!(Fusion { "leaf" => Leaf, "merged" => Merged }, "`leaf` or `merged`");
named!(Attention { "npu" => Npu, "host" => Host }, "`npu` or `host`");
named!(
    GemmMethod { "drain" => Drain, "fused-cast" => FusedCast, "direct" => Direct },
    "`drain`, `fused-cast` or `direct`"
);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &str) -> Result<Options, SettingsError> {
        Options::new(256).with(&settings.parse().unwrap())
    }

    #[test]
    fn without_settings_the_line_shows_the_defaults() {
        assert_eq!(
            read("").unwrap().to_string(),
            "drain GEMM, NPU attention, merged, seq 256, rounding rne"
        );
    }

    #[test]
    fn every_setting_changes_its_part_of_the_line() {
        let line =
            read("toolchain=npu2-2026-06,attention=host,gemm=fused-cast,fusion=leaf,seq_len=512");
        assert_eq!(
            line.unwrap().to_string(),
            "fused-cast GEMM, host attention, leaf, seq 512, rounding npu2-2026-06"
        );
        let line = read("exp2=exact,tanh=exact,reciprocal=exact,rsqrt=exact").unwrap().to_string();
        assert!(
            line.ends_with("rne, exp2 exact, tanh exact, reciprocal exact, rsqrt exact"),
            "{line}"
        );
        assert_eq!(read("exp2=hardware").unwrap(), read("").unwrap());
    }

    #[test]
    fn the_error_for_an_unknown_key_or_value_lists_the_choices() {
        for (settings, message) in [
            (
                "seqlen=1",
                "this adapter has no setting `seqlen`; it has toolchain, attention, gemm, fusion, \
                 seq_len, exp2, tanh, reciprocal, rsqrt, deployment, deadline",
            ),
            ("attention=cpu", "setting `attention` cannot be `cpu`: choose `npu` or `host`"),
            (
                "tanh=pade",
                "setting `tanh` cannot be `pade`: choose `hardware`, `exact` or `table:PATH`",
            ),
        ] {
            assert_eq!(read(settings).unwrap_err().to_string(), message);
        }
        assert!(read("gemm=f32").unwrap_err().to_string().contains("`fused-cast`"));
        assert!(read("seq_len=many").is_err() && read("toolchain=x").is_err());
    }
}
