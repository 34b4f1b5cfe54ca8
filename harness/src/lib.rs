//! Gates for language models on NPUs.
//!
//! An adapter crate describes a model (or just kernels) with the traits [`Adapter`],
//! [`Model`], [`Runner`] and [`Kernel`]. This crate turns it
//! into named tests with numbers and speaks libtest's command line, so that `cargo test`,
//! `cargo nextest` and `cargo npugate` all run the same gates:
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
//!
//! # What an adapter needs
//!
//! A crate that gates its own kernels needs these ten names and [`main`]:
//!
//! ```
//! use npugate::{
//!     Adapter, Context, Draw, Gates, Kernel, KernelId, RunError, SettingsError, Tensor,
//!     Tolerance,
//! };
//! ```
//!
//! The root also has what some kernels and adapters override: [`Bias`], [`DType`],
//! [`DeviceSpec`], [`Effort`], [`Settings`], [`TensorError`]. Everything else is in a
//! module:
//!
//! - [`model`]: a model and what runs it;
//! - [`check`]: an adapter's own checks;
//! - [`goldens`] and [`metrics`]: what such checks compare with, and how;
//! - [`suite`]: running an adapter's tests from another program;
//! - [`schema`]: the file formats, which the `cargo npugate` command shares.
#![forbid(unsafe_code)]

mod adapter;
mod baselines;
pub mod check;
mod checks;
mod cli;
mod context;
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
pub mod model;
mod plan;
mod profile;
mod runner;
mod session;
mod settings;
pub mod suite;
mod tensor;
mod verdict;

pub use adapter::Adapter;
pub use cli::main;
pub use context::Context;
pub use device::DeviceSpec;
pub use effort::Effort;
pub use gates::Gates;
pub use kernel::{Bias, Draw, Kernel, KernelId, Tolerance};
pub use npugate_schema as schema;
pub use runner::RunError;
pub use settings::{Settings, SettingsError};
pub use tensor::{DType, Tensor, TensorError};

pub(crate) use baselines::Baselines;
pub(crate) use model::Model;
pub(crate) use plan::Planned;
pub(crate) use profile::PrecisionProfile;
pub(crate) use runner::{Block, Kv, LogitRows, Prefill, Probe, Runner};
pub(crate) use suite::{Suite, SuiteError};
