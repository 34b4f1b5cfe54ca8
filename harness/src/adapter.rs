//! What an adapter crate implements.

use crate::schema::{
    Access, Availability, BaselineUse, LaunchDescription, ModelConfig, WeightsFile,
};
use crate::{Context, Kernel, PrecisionProfile, RunError, Runner, Settings, SettingsError};
use std::path::PathBuf;

/// Describes what to gate: kernels, a model, or both. Nothing here may open a
/// device or read weights: tests are listed from it.
pub trait Adapter: Send + Sync + 'static {
    /// The adapter's name, such as `smollm2-135m`.
    fn name(&self) -> &str;

    /// The folder with the goldens and baselines.
    fn fixtures(&self) -> Option<PathBuf> {
        None
    }

    /// What names a run: the settings that differ from this adapter's defaults. A
    /// default that is spelled out is the default run, with its name and its
    /// baseline. A value that means the contents of a file is replaced by what
    /// tells them from others, so that runs of one name compute the same.
    ///
    /// # Errors
    ///
    /// A setting that the adapter does not have, or a value it cannot take.
    fn distinct(&self, settings: &Settings) -> Result<Settings, SettingsError> {
        Ok(settings.clone())
    }

    /// Checks the settings of a run and says in one line what runs where
    /// (shown in the summary): `drain GEMM, NPU attention, rounding rne`.
    ///
    /// # Errors
    ///
    /// A setting that the adapter does not have, or a value it cannot take.
    fn configuration(&self, context: &Context) -> Result<String, SettingsError> {
        context.settings.expect_only(&[])?;
        Ok(String::new())
    }

    /// The devices that this adapter can run on; the first is the default.
    fn devices(&self) -> Vec<String> {
        vec!["emu".to_owned()]
    }

    /// Whether a device is there. Looks, and opens nothing: listing asks this.
    fn availability(&self, device: &str) -> Availability {
        let _ = device;
        Availability::Available
    }

    /// How many processes may use a device at a time. Only what is computed can be
    /// shared: two processes on one NPU disturb each other's results, and unserialised
    /// use can wedge it until the power is cut.
    fn access(&self, device: &str) -> Access {
        if device == "emu" { Access::Shared } else { Access::Exclusive }
    }

    /// The name under which results of a device are kept, where that is not how it was
    /// asked for: a double of a device has one of its own. Looks, and opens nothing.
    fn device_name(&self, device: &str) -> String {
        device.to_owned()
    }

    /// Whether the figures of a device may be kept as a baseline. Those of a double
    /// say nothing of the device that it plays.
    fn baselines(&self, device: &str) -> BaselineUse {
        let _ = device;
        BaselineUse::Allowed
    }

    /// Every kernel at every shape that the adapter's programs launch.
    ///
    /// # Errors
    ///
    /// Settings that give no valid programs.
    fn kernels(&self, context: &Context) -> Result<Vec<Box<dyn Kernel>>, SettingsError> {
        let _ = context;
        Ok(Vec::new())
    }

    /// Every launch of every program, with the test that gates it, for the
    /// record of tested kernels. Listed from the programs, not from
    /// [`kernels`](Self::kernels): a launch that no test gates must show.
    ///
    /// # Errors
    ///
    /// Settings that give no valid programs.
    fn launches(&self, context: &Context) -> Result<Vec<LaunchDescription>, SettingsError> {
        let _ = context;
        Ok(Vec::new())
    }

    /// The model, if the adapter has one.
    fn model(&self) -> Option<&dyn Model> {
        None
    }
}

/// A decoder-only language model.
pub trait Model: Send + Sync {
    /// The configuration that the programs are built from.
    fn config(&self) -> ModelConfig;

    /// The arithmetic that the kernels declare.
    fn profile(&self) -> PrecisionProfile;

    /// The weights and where they come from; `path` is where they are on this
    /// machine. Looks at the file system, reads no weights.
    fn weights(&self) -> WeightsFile;

    /// Reads every tensor's name and shape from the weight file, checks the
    /// digest, and says how many tensors there are.
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
