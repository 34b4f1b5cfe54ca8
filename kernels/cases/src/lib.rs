//! The launches of an adapter's programs as kernel tests.
//!
//! An adapter builds [`Program`](npugate_kernels::Program)s and says how a device is opened.
//! [`cases`] makes a [`npugate::Kernel`] of every distinct launch, and [`describe`](fn@describe) the
//! record of every launch; both go into the [`npugate::Gates`] of the adapter:
//!
//! ```
//! use std::sync::Arc;
//! use npugate::Effort;
//! use npugate_kernel_cases::{OpenDevice, cases};
//! use npugate_kernels::{Add, Emulator, Op, Program, Rounding};
//!
//! let add = Program::single(Op::Add(Add { rows: 256, cols: 576 }), Rounding::NearestEven);
//! let open: OpenDevice = Arc::new(|| Ok(Box::new(Emulator::default())));
//! let kernels = cases(&add.launches, &open, Effort::Full)?;
//! assert_eq!(kernels[0].id().to_string(), "kernel::add::256x576");
//! # Ok::<(), npugate_kernel_cases::AmbiguousKernel>(())
//! ```
#![forbid(unsafe_code)]

mod case;
mod cases;
mod convert;
mod describe;
mod error;

pub use case::OpenDevice;
pub use cases::{AmbiguousKernel, cases, id, programs};
pub use convert::{to_device, to_harness};
pub use describe::{arithmetic, describe};
pub use error::run_error;
