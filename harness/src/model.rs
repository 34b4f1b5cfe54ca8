//! A model, as an adapter describes and runs it.

pub use crate::profile::PrecisionProfile;
pub use crate::runner::{Block, Kv, LogitRows, Prefill, Probe, Runner, Usage};
use crate::schema::{ModelConfig, WeightsFile};
use crate::{Context, RunError};

/// A decoder-only language model.
pub trait Model: Send + Sync {
    /// The configuration that the programs are built from.
    fn config(&self) -> ModelConfig;

    /// The arithmetic that the kernels declare.
    fn profile(&self) -> PrecisionProfile;

    /// The weights and where they come from; `path` is where they are on this machine.
    /// May look at the file system, but does not read the weights.
    fn weights(&self) -> WeightsFile;

    /// Reads every tensor's name and shape from the weight file, checks the digest, and
    /// returns the number of tensors.
    ///
    /// # Errors
    ///
    /// A missing or extra tensor, a wrong shape, a wrong digest.
    fn check_weights(&self) -> Result<usize, RunError>;

    /// The token ids of a text, with nothing added.
    ///
    /// # Errors
    ///
    /// A tokenizer that cannot be read.
    fn encode(&self, text: &str) -> Result<Vec<u32>, RunError>;

    /// The text of token ids.
    ///
    /// # Errors
    ///
    /// A tokenizer that cannot be read.
    fn decode(&self, tokens: &[u32]) -> Result<String, RunError>;

    /// The tokens at which generation stops.
    fn stop_tokens(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Reads the weights, checks their digest, opens the device and writes the
    /// static buffers.
    ///
    /// # Errors
    ///
    /// Missing or changed weights (a setup error), a device that fails.
    fn build_runner(&self, context: &Context) -> Result<Box<dyn Runner>, RunError>;
}
