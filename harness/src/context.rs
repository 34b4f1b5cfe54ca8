//! A run, as an adapter sees it.

use crate::{Baselines, Effort, Settings};
use std::path::PathBuf;

/// A run: the device, and what differs from the adapter's default run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Context {
    /// The device's name: `emu`.
    pub device: String,
    /// What differs from the adapter's default run.
    pub settings: Settings,
    /// How much of a shape the kernel tests run.
    pub effort: Effort,
    /// Whether the run is compared with the accepted figures.
    pub(crate) baselines: Baselines,
    /// A folder with one folder of goldens and baselines for each adapter, used
    /// instead of the adapters' own.
    pub(crate) fixtures: Option<PathBuf>,
    /// The folder to write the token gate's evidence to, so that its verdict can be
    /// computed independently.
    pub(crate) evidence: Option<PathBuf>,
}

impl Context {
    /// A run on the device with this name.
    pub fn on(device: impl Into<String>) -> Self {
        Self { device: device.into(), ..Self::default() }
    }

    /// The same with other settings.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }
}
