//! The command line of `registry`.

use super::MessageFormat;
use clap::{Args, Subcommand};
use npugate_kernels::{
    DType, Kernel,
    registry::{Shape, Tier},
    tiling::Rule,
};
use std::path::PathBuf;

/// `registry`.
#[derive(Clone, PartialEq, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RegistryArgs {
    /// What else to do with the registry
    #[command(subcommand)]
    pub command: Option<RegistryCommand>,

    /// Parts of row names: a row is listed if one of them is in its name; the
    /// whole name of one row shows it in full
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,

    /// Only rows of this kernel, such as `gemm`
    #[arg(long, value_name = "KERNEL", conflicts_with_all = ["check", "fidelity"])]
    pub kernel: Option<Kernel>,

    /// Check that every launch of every adapter's programs has a row and a test
    #[arg(long, conflicts_with_all = ["filters", "fidelity"])]
    pub check: bool,

    /// Run published rows on the emulated NPU and compare its accuracy with
    /// silicon's, row by row
    #[arg(long)]
    pub fidelity: bool,

    /// Only the rows that take a moment; without it, all take some minutes
    #[arg(long, requires = "fidelity")]
    pub quick: bool,

    /// Write the comparison to PATH as Markdown
    #[arg(long, value_name = "PATH", requires = "fidelity")]
    pub write: Option<PathBuf>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "human", conflicts_with = "check")]
    pub message_format: MessageFormat,
}

/// A command on the registry.
#[derive(Clone, PartialEq, Debug, Subcommand)]
pub enum RegistryCommand {
    /// Show one row in full
    Show {
        /// The row's name, such as `gemm::2048x2048x512::drain`
        name: String,
    },
    /// Say which configuration was measured to be the best for a shape
    Best {
        /// Kernel and shape, such as `gemm::2048x2048x512`
        shape: Shape,

        /// The output type of a GEMM
        #[arg(long, value_name = "bf16|f32", default_value = "bf16", value_parser = dtype)]
        output: DType,

        /// The accuracy tier of a GEMM
        #[arg(long, value_name = "high|low", default_value = "high")]
        tier: Tier,
    },
    /// List the rules that a tiling must keep, or explain one
    Rules {
        /// The rule's name, such as `l1-capacity`
        #[arg(value_parser = rule)]
        rule: Option<Rule>,
    },
    /// Run kernel tests and record those that pass
    Add {
        /// Parts of test names; the kernel tests of all adapters without any
        #[arg(value_name = "FILTER")]
        filters: Vec<String>,
    },
}

fn dtype(text: &str) -> Result<DType, String> {
    match text {
        "bf16" => Ok(DType::Bf16),
        "f32" => Ok(DType::F32),
        _ => Err("it is bf16 or f32".to_owned()),
    }
}

fn rule(text: &str) -> Result<Rule, String> {
    let found = Rule::ALL.iter().copied().find(|rule| rule.name() == text);
    found.ok_or_else(|| {
        let names: Vec<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        match similar::get_close_matches(text, &names, 1, 0.5).first() {
            Some(close) => format!("no rule is called that; did you mean `{close}`?"),
            None => "no rule is called that; `cargo npugate registry rules` lists them".to_owned(),
        }
    })
}
