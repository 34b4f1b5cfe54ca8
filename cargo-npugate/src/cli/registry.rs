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

    /// List the rows whose names contain one of these; the whole name of a row
    /// shows it in full
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,

    /// List only the rows of this kernel, such as `gemm`
    #[arg(long, value_name = "KERNEL", conflicts_with_all = ["check", "fidelity"])]
    pub kernel: Option<Kernel>,

    /// Check that every launch of every adapter's programs has a row and a test
    #[arg(long, conflicts_with_all = ["filters", "fidelity"])]
    pub check: bool,

    /// Run published rows on the emulated NPU and compare its accuracy with
    /// that of silicon, row by row
    #[arg(long)]
    pub fidelity: bool,

    /// Run only the rows that take a moment; all rows take some minutes
    #[arg(long, requires = "fidelity")]
    pub quick: bool,

    /// Write the comparison to PATH as Markdown
    #[arg(long, value_name = "PATH", requires = "fidelity")]
    pub write: Option<PathBuf>,

    /// Print the result in this format
    #[arg(long, value_name = "FORMAT", default_value = "human", conflicts_with = "check")]
    pub message_format: MessageFormat,
}

/// A command on the registry.
#[derive(Clone, PartialEq, Debug, Subcommand)]
pub enum RegistryCommand {
    /// Show one row in full
    Show {
        /// Name of the row, such as `gemm::2048x2048x512::drain`
        name: String,
    },
    /// Show the best configuration that was measured for a shape
    Best {
        /// Kernel and shape, such as `gemm::2048x2048x512`
        shape: Shape,

        /// Output type of a GEMM
        #[arg(long, value_name = "bf16|f32", default_value = "bf16", value_parser = dtype)]
        output: DType,

        /// Accuracy tier of a GEMM
        #[arg(long, value_name = "high|low", default_value = "high")]
        tier: Tier,
    },
    /// List the rules that a tiling must follow, or explain one
    Rules {
        /// Name of the rule, such as `l1-capacity`
        #[arg(value_parser = rule)]
        rule: Option<Rule>,
    },
    /// Run kernel tests and record those that pass
    Add {
        /// Run the kernel tests whose names contain one of these [default: all]
        #[arg(value_name = "FILTER")]
        filters: Vec<String>,
    },
}

fn dtype(text: &str) -> Result<DType, String> {
    match text {
        "bf16" => Ok(DType::Bf16),
        "f32" => Ok(DType::F32),
        _ => Err("expected `bf16` or `f32`".to_owned()),
    }
}

fn rule(text: &str) -> Result<Rule, String> {
    let found = Rule::ALL.iter().copied().find(|rule| rule.name() == text);
    found.ok_or_else(|| {
        let names: Vec<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        match similar::get_close_matches(text, &names, 1, 0.5).first() {
            Some(close) => format!("no rule has this name; did you mean `{close}`?"),
            None => "no rule has this name; `cargo npugate registry rules` lists them".to_owned(),
        }
    })
}
