//! Gates for language models on NPUs.
//!
//! An adapter crate describes a model (or just kernels) by the traits
//! [`Adapter`], [`Model`], [`Runner`] and [`Kernel`]; this crate turns it into
//! named tests with numbers and speaks libtest's command line, so that
//! `cargo test`, `cargo nextest` and `cargo npugate` all run the same gates:
//!
//! ```no_run
//! // tests/gate.rs of an adapter crate, with `harness = false`
//! # struct MyAdapter;
//! # impl npugate::Adapter for MyAdapter {
//! #     fn name(&self) -> &str { "my-model" }
//! # }
//! fn main() -> std::process::ExitCode {
//!     npugate::main(MyAdapter)
//! }
//! ```
#![forbid(unsafe_code)]

mod adapter;
mod baselines;
pub mod check;
mod checks;
mod cli;
mod device;
mod effort;
mod evidence;
mod gates;
pub mod goldens;
mod kernel;
mod limits;
mod measured;
mod memo;
pub mod metrics;
mod model;
mod plan;
mod profile;
mod runner;
mod session;
mod settings;
mod suite;
mod tensor;
mod verdict;

pub use adapter::Adapter;
pub use baselines::Baselines;
pub use cli::main;
pub use device::DeviceSpec;
pub use effort::Effort;
pub use gates::Gates;
pub use kernel::{Bias, Draw, Kernel, KernelId, Tolerance};
pub use model::Model;
pub use npugate_schema as schema;
pub use plan::Planned;
pub use profile::PrecisionProfile;
pub use runner::{Block, Context, Kv, LogitRows, Prefill, Probe, RunError, Runner, Usage};
pub use settings::{Settings, SettingsError};
pub use suite::{Suite, SuiteError};
pub use tensor::{DType, Tensor, TensorError};
