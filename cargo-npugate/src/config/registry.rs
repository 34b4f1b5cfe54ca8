//! What a `registry` command does, resolved from what was typed.

use super::UsageError;
use crate::cli::{DeviceArgs, MessageFormat, RegistryArgs, RegistryCommand};
use npugate_kernels::{
    DType, Exp2, FunctionError, Functions, Kernel, Reciprocal, Rsqrt, Tanh, Toolchain,
    fidelity::Effort,
    registry::{Shape, Target, Tier},
    tiling::Rule,
};
use std::path::PathBuf;

/// What to do with the registry.
#[derive(Clone, PartialEq, Debug)]
pub enum RegistryTask {
    /// List rows.
    List {
        filters: Vec<String>,
        kernel: Option<Kernel>,
        target: Option<Target>,
        format: MessageFormat,
    },
    /// Show one row.
    Show { name: String },
    /// Look up the best configuration.
    Best { shape: Shape, output: DType, tier: Tier },
    /// List the rules, or explain one.
    Rules { rule: Option<Rule> },
    /// Check that every launch is recorded and tested.
    Check,
    /// Record the kernels that pass.
    Add { filters: Vec<String> },
    /// Compare the emulated NPU with silicon.
    Fidelity(Fidelity),
}

/// How to compare the emulated NPU with silicon.
#[derive(Clone, PartialEq, Debug)]
pub struct Fidelity {
    /// Parts of row names; all rows if there are none.
    pub filters: Vec<String>,
    /// How many rows.
    pub effort: Effort,
    /// The functions that the hardware approximates.
    pub functions: Functions,
    /// The toolchain whose rounding is followed.
    pub toolchain: Toolchain,
    /// Where to write the document.
    pub write: Option<PathBuf>,
    /// How to print the comparison.
    pub format: MessageFormat,
}

impl RegistryTask {
    /// Resolves what was typed.
    ///
    /// # Errors
    ///
    /// A device, toolchain or function that the registry does not know.
    pub fn resolve(args: RegistryArgs, device: &DeviceArgs) -> Result<Self, UsageError> {
        let RegistryArgs { command, filters, kernel, check, fidelity, .. } = args;
        Ok(match command {
            Some(RegistryCommand::Show { name }) => Self::Show { name },
            Some(RegistryCommand::Best { shape, output, tier }) => {
                Self::Best { shape, output, tier }
            }
            Some(RegistryCommand::Rules { rule }) => Self::Rules { rule },
            Some(RegistryCommand::Add { filters }) => Self::Add { filters },
            None if check => Self::Check,
            None if fidelity => Self::Fidelity(Fidelity {
                filters,
                effort: if args.quick { Effort::Quick } else { Effort::Full },
                functions: functions(&device.set)?,
                toolchain: match &device.toolchain {
                    Some(name) => name.parse().map_err(|error| usage(&error))?,
                    None => Toolchain::Npu2_2026_06,
                },
                write: args.write,
                format: args.message_format,
            }),
            None => {
                let target = device.device.as_deref().map(target).transpose()?;
                Self::List { filters, kernel, target, format: args.message_format }
            }
        })
    }
}

fn target(name: &str) -> Result<Target, UsageError> {
    let found = [Target::Npu2, Target::Emu].into_iter().find(|target| target.name() == name);
    found.ok_or_else(|| {
        UsageError::Registry(format!(
            "no row was measured on `{name}`: with `registry`, --device must be `npu2` or `emu`"
        ))
    })
}

/// The settings that name functions of the emulated NPU.
fn functions(settings: &[String]) -> Result<Functions, UsageError> {
    let mut functions = Functions::default();
    for setting in settings {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let choice = |error: FunctionError| {
            UsageError::Registry(format!("setting `{key}` cannot be `{value}`: {error}"))
        };
        match key {
            "exp2" => functions.exp2 = value.parse::<Exp2>().map_err(choice)?,
            "tanh" => functions.tanh = value.parse::<Tanh>().map_err(choice)?,
            "reciprocal" => functions.reciprocal = value.parse::<Reciprocal>().map_err(choice)?,
            "rsqrt" => functions.rsqrt = value.parse::<Rsqrt>().map_err(choice)?,
            _ => {
                return Err(UsageError::Registry(format!(
                    "`--fidelity` has no setting `{key}`; its settings are exp2, tanh, reciprocal and rsqrt"
                )));
            }
        }
    }
    Ok(functions)
}

fn usage(error: &impl ToString) -> UsageError {
    UsageError::Registry(error.to_string())
}
