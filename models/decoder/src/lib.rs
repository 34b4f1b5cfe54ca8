//! A decoder-only transformer of the Llama architecture as programs of an NPU:
//! configuration, weights, tokenizer, KV cache.
//!
//! An adapter crate describes its model in a [`DecoderSpec`], and this crate
//! turns that into an [`npugate::Adapter`]:
//!
//! - [`DecoderConfig`] is read from Hugging Face's `config.json`;
//! - [`Programs`] are built from it and from [`Options`];
//! - every distinct launch of the programs is a kernel test;
//! - [`weights`] reads safetensors and GGUF, and [`Tokenizer`] turns text into tokens;
//! - [`DecoderRunner`] runs the programs on a [`Device`](npugate_kernels::Device): the emulated
//!   NPU, or one behind XRT with the compiled programs that [`Hardware`] names.
#![forbid(unsafe_code)]

mod adapter;
mod config;
mod hardware;
mod options;
mod programs;
mod runner;
mod spec;
mod tokenizer;
pub mod weights;

pub use adapter::{DecoderAdapter, DeviceFactory};
pub use config::{ConfigError, DecoderConfig, TooManyPositions};
pub use hardware::Hardware;
pub use options::{Attention, Fusion, GemmMethod, Options, UnknownValue};
pub use programs::{Programs, Stage};
pub use runner::{DecoderRunner, RunnerError};
pub use spec::{DecoderSpec, SpecError, TokenizerSpec, WeightsSpec};
pub use tokenizer::{Tokenizer, TokenizerError};
