//! What an adapter crate implements.

use crate::{Context, DeviceSpec, Gates, Model, Settings, SettingsError};
use std::path::PathBuf;

/// Describes what to gate: kernels, a model, or both. Nothing here may open a device
/// or read weights, since tests are listed from it.
pub trait Adapter: Send + Sync + 'static {
    /// The adapter's name, such as `smollm2-135m`.
    fn name(&self) -> &str;

    /// The folder with the goldens and baselines.
    fn fixtures(&self) -> Option<PathBuf> {
        None
    }

    /// The devices that this adapter can run on; the first is the default. May look for
    /// devices, but does not open them.
    fn devices(&self) -> Vec<DeviceSpec> {
        vec![DeviceSpec::emulated()]
    }

    /// The keys of the settings that this adapter understands. Any other key is refused
    /// before [`gates`](Self::gates) is called, so that a typo never silently runs the
    /// default.
    fn settings(&self) -> &[&str] {
        &[]
    }

    /// The settings that differ from this adapter's defaults: they name a run. A run
    /// with a default spelled out is the default run, with its name and its baseline.
    /// A value that stands for the contents of a file is replaced by something that
    /// identifies those contents, so that runs with one name compute the same.
    ///
    /// # Errors
    ///
    /// A setting that the adapter does not have, or a value that the setting cannot take.
    fn distinct(&self, settings: &Settings) -> Result<Settings, SettingsError> {
        Ok(settings.clone())
    }

    /// What is gated in a context. Called once for each listing or run.
    ///
    /// # Errors
    ///
    /// A value that a setting cannot take, or settings that give no valid programs.
    fn gates(&self, context: &Context) -> Result<Gates, SettingsError> {
        let _ = context;
        Ok(Gates::new())
    }

    /// The model, if the adapter has one.
    fn model(&self) -> Option<&dyn Model> {
        None
    }
}
