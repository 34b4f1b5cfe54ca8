//! The tests of one adapter in one context: planned without touching weights or
//! a device, run one by one, sharing what they compute.

use crate::schema::{Description, Ignore, Phase, Record};
use crate::{Adapter, Context};
use std::sync::Arc;

/// A test that could run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Its stable name.
    pub name: String,
    /// Its phase.
    pub phase: Phase,
    /// Why it does not run by default, if it does not.
    pub ignore: Option<Ignore>,
}

/// The tests of one adapter in one context.
pub struct Suite {
    adapter: Arc<dyn Adapter>,
    context: Context,
    plan: Vec<Planned>,
}

/// Why an adapter's tests cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// A setting that the adapter does not take.
    #[error(transparent)]
    Settings(#[from] crate::SettingsError),
    /// A device that the adapter cannot run on.
    #[error("{model} does not run on device `{device}`; it runs on {known}")]
    Device {
        /// The adapter.
        model: String,
        /// What was asked for.
        device: String,
        /// What there is.
        known: String,
    },
}

impl Suite {
    /// Plans the tests of an adapter. Reads the golden manifest at most.
    ///
    /// # Errors
    ///
    /// A setting or a device that the adapter does not take.
    pub fn new(adapter: Arc<dyn Adapter>, context: Context) -> Result<Self, SuiteError> {
        Ok(Self { adapter, context, plan: Vec::new() })
    }

    /// The tests, in the order in which they run.
    pub fn plan(&self) -> &[Planned] {
        &self.plan
    }

    /// Runs one test; `None` if there is no test of that name. A panic inside
    /// of a check is a failed record.
    pub fn run(&self, name: &str) -> Option<Record> {
        let _ = (name, &self.adapter, &self.context);
        None
    }

    /// What the binary says of itself.
    pub fn description(&self) -> Description {
        Description {
            model: self.adapter.name().to_owned(),
            device: self.context.settings.device_class(&self.context.device),
            configuration: String::new(),
            fixtures: self.adapter.fixtures(),
            weights: self.adapter.model().map(crate::Model::weights),
        }
    }
}
