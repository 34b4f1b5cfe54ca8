//! What the benchmarks of this project are made of: contests of which the contestants take
//! turns, so that a noisy machine is noisy for all of them.

mod contest;
mod error;
mod memory;
mod npu;
mod python;

pub use contest::{Contest, Contestant, Ratio, Required};
pub use error::BenchError;
pub use memory::Memory;
pub use npu::Npu;
pub use python::Python;
