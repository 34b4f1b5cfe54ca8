//! The published inputs: drawn by numpy, checked against digests.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fmt::Write,
    io::{ErrorKind, Read},
    process::{Child, Command, Stdio},
    sync::LazyLock,
};

use half::bf16;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::FidelityError;
use crate::{
    kernel::{Access, KernelSpec, Operand},
    op::{Op, with_op},
    tensor::{Tensor, TensorData},
};

/// The script that draws the inputs it is given the names of.
const SCRIPT: &str = include_str!("../../registry/inputs.py");
/// Its exit code if there is no numpy.
const NO_NUMPY: i32 = 3;

/// Inputs that are small enough to be kept, so that some fidelity is tested without Python.
const BUNDLED: &[(&str, &[u8])] = &[
    ("gemm::192x64x256", include_bytes!("../../registry/inputs/gemm-192x64x256.bf16")),
    ("gemm::192x64x320", include_bytes!("../../registry/inputs/gemm-192x64x320.bf16")),
    ("gemm::64x32x720", include_bytes!("../../registry/inputs/gemm-64x32x720.bf16")),
    ("gemm::64x720x32", include_bytes!("../../registry/inputs/gemm-64x720x32.bf16")),
    ("rope::256_d64", include_bytes!("../../registry/inputs/rope-256_d64.bf16")),
    ("rope::32_d64", include_bytes!("../../registry/inputs/rope-32_d64.bf16")),
    ("rope::8_d64", include_bytes!("../../registry/inputs/rope-8_d64.bf16")),
];

/// The contents of `registry/inputs.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Digests {
    /// The numpy that drew them.
    numpy: String,
    /// SHA-256 of each operand's bytes, by the name of the inputs.
    inputs: BTreeMap<String, Vec<String>>,
}

static DIGESTS: LazyLock<Digests> = LazyLock::new(|| {
    match serde_json::from_str(include_str!("../../registry/inputs.json")) {
        Ok(digests) => digests,
        // The file is compiled in and read by a test: this does not happen in a tested build.
        Err(e) => panic!("registry/inputs.json is malformed: {e}"),
    }
});

/// The name of an op's published inputs, which methods and masks share; `None` if none were
/// published for such an op.
pub(super) fn name(op: &Op) -> Option<String> {
    let key = with_op!(op, kernel => kernel.published_inputs())?;
    Some(format!("{}::{key}", op.kernel()))
}

/// Whether the digests of these inputs are known.
pub(super) fn is_known(name: &str) -> bool {
    DIGESTS.inputs.contains_key(name)
}

/// Whether these inputs are kept with this crate, so that no Python is needed for them.
pub fn is_bundled(op: &Op) -> bool {
    name(op).is_some_and(|name| bundled(&name).is_some())
}

fn bundled(name: &str) -> Option<&'static [u8]> {
    BUNDLED.iter().find(|(bundled, _)| *bundled == name).map(|(_, bytes)| *bytes)
}

/// Where inputs come from, one after another.
pub(super) struct Source<'a> {
    python: &'a OsStr,
    child: Option<Child>,
}

impl<'a> Source<'a> {
    /// Starts Python for those of `names` that are not bundled; they must be read in this order.
    ///
    /// # Errors
    /// [`FidelityError::NoPython`].
    pub(super) fn start(python: &'a OsStr, names: &[&str]) -> Result<Self, FidelityError> {
        let drawn: Vec<&&str> = names.iter().filter(|name| bundled(name).is_none()).collect();
        let child = if drawn.is_empty() {
            None
        } else {
            let mut command = Command::new(python);
            command.arg("-c").arg(SCRIPT).args(drawn);
            command.stdin(Stdio::null()).stdout(Stdio::piped());
            let child = command
                .spawn()
                .map_err(|source| FidelityError::NoPython { python: python.to_owned(), source })?;
            Some(child)
        };
        Ok(Self { python, child })
    }

    /// The operands that `op` reads, whose inputs are called `name`.
    ///
    /// # Errors
    /// If Python ends early, or the values are not the published ones.
    pub(super) fn next(&mut self, name: &str, op: &Op) -> Result<Vec<Tensor>, FidelityError> {
        if let Some(mut bytes) = bundled(name) {
            return operands(name, op, &mut bytes).map_err(|e| e.with_source(name));
        }
        let Some(stdout) = self.child.as_mut().and_then(|child| child.stdout.as_mut()) else {
            let input = name.to_owned();
            return Err(FidelityError::Read { input, source: ErrorKind::BrokenPipe.into() });
        };
        operands(name, op, stdout).map_err(|e| match e {
            Failure::Read(e) if e.kind() == ErrorKind::UnexpectedEof => self.cut_short(name),
            e => e.with_source(name),
        })
    }

    /// Why there is no more to read.
    fn cut_short(&mut self, name: &str) -> FidelityError {
        let input = name.to_owned();
        match self.child.as_mut().map(Child::wait) {
            Some(Ok(status)) if status.code() == Some(NO_NUMPY) => {
                FidelityError::NoNumpy { python: self.python.to_owned() }
            }
            Some(Ok(status)) => FidelityError::CutShort { input, status },
            Some(Err(source)) => FidelityError::Read { input, source },
            None => FidelityError::Read { input, source: ErrorKind::UnexpectedEof.into() },
        }
    }
}

/// Nobody reads the rest: Python must neither wait on the pipe nor be left behind.
impl Drop for Source<'_> {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may already have ended by itself, which is fine.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Why operands could not be read.
enum Failure {
    Read(std::io::Error),
    Other(FidelityError),
}

impl Failure {
    fn with_source(self, name: &str) -> FidelityError {
        match self {
            Self::Read(source) => FidelityError::Read { input: name.to_owned(), source },
            Self::Other(error) => error,
        }
    }
}

fn operands(name: &str, op: &Op, from: &mut dyn Read) -> Result<Vec<Tensor>, Failure> {
    let unknown = || Failure::Other(FidelityError::NoDigest { input: name.to_owned() });
    let digests = DIGESTS.inputs.get(name).ok_or_else(unknown)?;
    let reads: Vec<Operand> =
        op.operands().into_iter().filter(|operand| operand.access == Access::Read).collect();
    if reads.len() != digests.len() {
        return Err(unknown());
    }
    reads
        .into_iter()
        .zip(digests)
        .map(|(operand, digest)| read(name, operand, digest, from))
        .collect()
}

fn read(
    name: &str,
    operand: Operand,
    expected: &str,
    from: &mut dyn Read,
) -> Result<Tensor, Failure> {
    let len: usize = operand.shape.iter().product();
    let mut bytes = vec![0; len * size_of::<bf16>()];
    from.read_exact(&mut bytes).map_err(Failure::Read)?;
    let found = hexadecimal(&Sha256::digest(&bytes));
    if found != expected {
        return Err(Failure::Other(FidelityError::Digest {
            input: name.to_owned(),
            operand: operand.name,
            found,
            expected: expected.to_owned(),
            numpy: DIGESTS.numpy.clone(),
        }));
    }
    let values: Vec<bf16> =
        bytes.as_chunks().0.iter().map(|&pair| bf16::from_le_bytes(pair)).collect();
    Ok(Tensor::from_parts(operand.shape, TensorData::Bf16(values.into())))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gemm, Rope};

    fn rope(tokens: usize) -> Op {
        Op::Rope(Rope { tokens, heads: 1, head_dim: 64, rotary_dim: 64 })
    }

    #[test]
    fn bundled_inputs_are_the_published_ones_and_need_no_python() {
        for (name, bytes) in BUNDLED {
            let mut source = Source::start(OsStr::new("/no/python"), &[name]).unwrap();
            let op = match name.split_once("::").unwrap() {
                ("rope", shape) => rope(shape.split('_').next().unwrap().parse().unwrap()),
                (_, shape) => {
                    let extents: Vec<usize> =
                        shape.split('x').map(|e| e.parse().unwrap()).collect();
                    let output = crate::GemmOutput::Drain;
                    Op::Gemm(Gemm { m: extents[0], k: extents[1], n: extents[2], output })
                }
            };
            let tensors = source.next(name, &op).unwrap();
            assert_eq!(tensors.iter().map(Tensor::bytes).sum::<usize>(), bytes.len(), "{name}");
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let mut bytes = bundled("rope::8_d64").unwrap().to_vec();
        bytes[700] ^= 1;
        let failure = operands("rope::8_d64", &rope(8), &mut bytes.as_slice()).err().unwrap();
        let message = failure.with_source("rope::8_d64").to_string();
        assert!(message.contains("operand `x`") && message.contains("use numpy"), "{message}");
    }

    #[test]
    fn inputs_without_a_digest_are_refused() {
        let error = Source { python: OsStr::new("python3"), child: None }
            .next("rope::24_d64", &rope(24))
            .unwrap_err();
        assert!(matches!(error, FidelityError::Read { .. }), "{error}");
        let failure = operands("rope::24_d64", &rope(24), &mut [0; 8192].as_slice()).err().unwrap();
        let message = failure.with_source("rope::24_d64").to_string();
        assert!(message.contains("--sha256 rope::24_d64"), "{message}");
    }
}
