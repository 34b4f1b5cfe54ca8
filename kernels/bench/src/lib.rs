//! The building blocks of this project's benchmarks: contests whose contestants take turns, so
//! that a noisy machine is noisy for all of them.

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
