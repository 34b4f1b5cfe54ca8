//! What an adapter's programs launch, as a gate binary describes it. With it the command
//! checks that every kernel is tested and recorded.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One launch of one of an adapter's programs.
///
/// `op` and `tiling` are `npugate_kernels::Op` and `Tiling` as JSON: this crate knows no
/// kernels, and passes them on as they are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct LaunchDescription {
    /// The program's name: `o_ffn`.
    pub program: String,
    /// The launch's place in the program, from 0.
    pub index: usize,
    /// The name of the test that gates it: `kernel::gemm::256x576x1536::high`.
    pub test: String,
    /// What it computes.
    pub op: Value,
    /// How the build distributes it over the array; none if that is left to the build.
    pub tiling: Option<Value>,
    /// What compiled it, which determines how it rounds.
    pub toolchain: String,
    /// What is reported to go wrong with similar launches, although no rule refuses them.
    #[serde(default)]
    pub note: Option<String>,
}
