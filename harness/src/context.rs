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
    /// Whether the run is held against the accepted figures.
    pub(crate) baselines: Baselines,
    /// A folder with one folder of goldens and baselines for each adapter, in
    /// place of the adapters' own.
    pub(crate) fixtures: Option<PathBuf>,
    /// A folder to leave the token gate's evidence in, for an independent
    /// computation of its verdict.
    pub(crate) evidence: Option<PathBuf>,
}

impl Context {
    /// A run on a device, by its name.
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
