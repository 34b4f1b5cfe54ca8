//! A runner runs a model on a device. Its functions are the production ones: text
//! generation, profiling and every gate call the same functions.

use crate::schema::DeviceUsage;
use crate::{Tensor, TensorError};
use std::{error, fmt, time::Duration};

/// A model that is set up on a device: the weights are in static buffers before the first
/// call, so that calls can be timed.
pub trait Runner: Send {
    /// The longest sequence that prefill is compiled for.
    fn max_prefill(&self) -> usize;

    /// Runs the prompt through the whole stack and fills the KV cache with its
    /// positions, which are `0..tokens.len()`. Discards the cache of an earlier prompt.
    ///
    /// # Errors
    ///
    /// An empty or too long prompt, a token outside the vocabulary, a device
    /// that fails.
    fn prefill(&mut self, tokens: &[u32], probe: Probe) -> Result<Prefill, RunError>;

    /// Runs one token at position `pos`, appends it to the KV cache and returns
    /// the logits that follow it, `[vocab]` in f32. `pos` is the number of
    /// positions in the cache.
    ///
    /// # Errors
    ///
    /// A position that does not follow the cache, a full cache, a token outside
    /// the vocabulary, a device that fails.
    fn decode_step(&mut self, token: u32, pos: usize) -> Result<Vec<f32>, RunError>;

    /// Runs one decoder block on an injected input `[positions, hidden]` at the
    /// positions `0..positions`. The KV cache stays unchanged.
    ///
    /// # Errors
    ///
    /// A layer that does not exist, an input of another shape, a device that
    /// fails.
    fn block(&mut self, layer: usize, hidden: &Tensor) -> Result<Block, RunError>;

    /// The current KV cache of one layer.
    ///
    /// # Errors
    ///
    /// A layer that does not exist.
    fn kv(&mut self, layer: usize) -> Result<Kv, RunError>;

    /// What the runner has asked of its device so far.
    fn usage(&self) -> Usage;
}

/// What to return from a prefill besides the KV cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Probe {
    /// Whether to return the residual stream after every block and after the final norm.
    pub hidden: bool,
    /// Which positions to compute logits for.
    pub logits: LogitRows,
}

impl Probe {
    /// The logits of these positions, and nothing else.
    pub const fn logits(logits: LogitRows) -> Self {
        Self { hidden: false, logits }
    }

    /// The same, with the residual stream.
    #[must_use]
    pub const fn with_hidden(mut self) -> Self {
        self.hidden = true;
        self
    }
}

/// Which positions of a prefill to compute logits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LogitRows {
    /// Only the last position, which is what generation needs.
    #[default]
    Last,
    /// Every position from this one on.
    From(usize),
}

/// What a prefill returns, without padding.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Prefill {
    /// The logits of the requested rows, `[rows, vocab]`, f32.
    pub logits: Tensor,
    /// The residual stream after each block, `[positions, hidden]`; empty unless
    /// probed.
    pub hidden: Vec<Tensor>,
    /// The residual stream after the final norm, `[positions, hidden]`; `None` unless
    /// probed.
    pub final_norm: Option<Tensor>,
}

impl Prefill {
    /// Logits of the requested rows, `[rows, vocab]`, f32.
    pub fn new(logits: Tensor) -> Self {
        Self { logits, hidden: Vec::new(), final_norm: None }
    }

    /// The same, with the residual stream after each block and after the final norm, each
    /// `[positions, hidden]`: for a probe that asks for it.
    #[must_use]
    pub fn probed(mut self, hidden: Vec<Tensor>, final_norm: Tensor) -> Self {
        self.hidden = hidden;
        self.final_norm = Some(final_norm);
        self
    }
}

/// The outputs of one block. The parts are as they are before they are added to the
/// residual stream.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Block {
    /// The residual stream after the block, `[positions, hidden]`.
    pub hidden: Tensor,
    /// What attention computed per head, before the output projection,
    /// `[positions, heads * head_dim]`.
    pub attn_ctx: Tensor,
    /// The output projection, `[positions, hidden]`.
    pub attn_out: Tensor,
    /// The MLP's output, `[positions, hidden]`.
    pub mlp_out: Tensor,
}

impl Block {
    /// The outputs in the order in which a block computes them: attention per head
    /// `[positions, heads * head_dim]`, its output projection, the MLP, and the residual
    /// stream after the block, `[positions, hidden]` each.
    pub fn new(attn_ctx: Tensor, attn_out: Tensor, mlp_out: Tensor, hidden: Tensor) -> Self {
        Self { hidden, attn_ctx, attn_out, mlp_out }
    }
}

/// The KV cache of one layer, `[positions, kv_heads * head_dim]` each; keys
/// are stored rotated.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Kv {
    /// Keys.
    pub keys: Tensor,
    /// Values.
    pub values: Tensor,
}

impl Kv {
    /// Keys, stored rotated, and values, `[positions, kv_heads * head_dim]` each.
    pub fn new(keys: Tensor, values: Tensor) -> Self {
        Self { keys, values }
    }
}

/// What a runner has asked of its device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Usage {
    /// Programs run.
    pub dispatches: u64,
    /// Bytes written to the device.
    pub bytes_written: u64,
    /// Bytes read back.
    pub bytes_read: u64,
    /// Time spent writing.
    pub write: Duration,
    /// Time spent running.
    pub run: Duration,
    /// Time spent reading back.
    pub read: Duration,
}

impl Usage {
    /// The same, with this number of programs run.
    #[must_use]
    pub fn ran(mut self, dispatches: u64, took: Duration) -> Self {
        (self.dispatches, self.run) = (dispatches, took);
        self
    }

    /// The same, with this number of bytes written to the device.
    #[must_use]
    pub fn wrote(mut self, bytes: u64, took: Duration) -> Self {
        (self.bytes_written, self.write) = (bytes, took);
        self
    }

    /// The same, with this number of bytes read back.
    #[must_use]
    pub fn read_back(mut self, bytes: u64, took: Duration) -> Self {
        (self.bytes_read, self.read) = (bytes, took);
        self
    }

    /// What was asked of the device since `earlier`, for a report.
    pub fn since(self, earlier: Self) -> DeviceUsage {
        let milliseconds =
            |now: Duration, then: Duration| now.saturating_sub(then).as_secs_f64() * 1e3;
        DeviceUsage {
            dispatches: self.dispatches.saturating_sub(earlier.dispatches),
            bytes_written: self.bytes_written.saturating_sub(earlier.bytes_written),
            bytes_read: self.bytes_read.saturating_sub(earlier.bytes_read),
            write_ms: milliseconds(self.write, earlier.write),
            run_ms: milliseconds(self.run, earlier.run),
            read_ms: milliseconds(self.read, earlier.read),
        }
    }
}

/// Why a model could not be built or run: one sentence for the user, and whether it
/// counts as a failure of what is tested.
#[derive(Debug)]
pub struct RunError {
    kind: RunErrorKind,
    source: Box<dyn error::Error + Send + Sync>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RunErrorKind {
    /// The model or the device did something wrong: the test fails.
    Fault,
    /// The device accepts no more work: the test fails, and the process ends.
    Lost,
    /// Something other than what is tested is missing or wrong, such as the digest of the
    /// weights: the test is invalid.
    Setup,
}

impl RunError {
    /// The model or the device did something wrong: tests that get this error fail.
    pub fn fault(source: impl Into<Box<dyn error::Error + Send + Sync>>) -> Self {
        Self { kind: RunErrorKind::Fault, source: source.into() }
    }

    /// A run on the device hung or failed, and the device accepts no more work in this
    /// process: the test fails, the process ends, and the remaining tests are left to
    /// another process.
    pub fn lost(source: impl Into<Box<dyn error::Error + Send + Sync>>) -> Self {
        Self { kind: RunErrorKind::Lost, source: source.into() }
    }

    /// Something other than what is tested is missing or wrong (no weights, a wrong
    /// digest): tests that get this error cannot judge, and are invalid.
    pub fn setup(source: impl Into<Box<dyn error::Error + Send + Sync>>) -> Self {
        Self { kind: RunErrorKind::Setup, source: source.into() }
    }

    /// Whether this is a [`RunError::setup`].
    pub fn is_setup(&self) -> bool {
        self.kind == RunErrorKind::Setup
    }

    /// Whether this is a [`RunError::lost`].
    pub fn is_lost(&self) -> bool {
        self.kind == RunErrorKind::Lost
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl error::Error for RunError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&*self.source)
    }
}

impl From<TensorError> for RunError {
    fn from(error: TensorError) -> Self {
        Self::fault(error)
    }
}
