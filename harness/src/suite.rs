//! The tests of one adapter in one context. They are planned without touching weights or
//! a device, run one by one, and share what they compute.

use crate::check::Check;
use crate::measured::Stop;
use crate::plan::plan;
pub use crate::plan::{PlanError, Planned};
use crate::schema::{
    Baseline, BaselineError, CheckDescription, Description, KnownFailure, KnownFailures,
    KnownFailuresError, Phase, Record,
};
use crate::session::{Session, fixtures};
use crate::verdict::{History, conclude};
use crate::{Adapter, Baselines, Context, DeviceSpec, Effort, Gates, Model};
use std::{
    any::Any,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// The tests of one adapter in one context.
pub struct Suite {
    adapter: Arc<dyn Adapter>,
    context: Context,
    description: Description,
    past: Result<Past, PastError>,
    plan: Vec<Planned>,
    session: Mutex<Session>,
    lost: AtomicBool,
}

/// What was accepted before, for one device class.
#[derive(Default)]
struct Past {
    baseline: Option<Baseline>,
    known_failures: BTreeMap<String, KnownFailure>,
}

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum PastError {
    Baseline(#[from] BaselineError),
    KnownFailures(#[from] KnownFailuresError),
}

impl Past {
    fn load(description: &Description) -> Result<Self, PastError> {
        let Some(fixtures) = &description.fixtures else { return Ok(Self::default()) };
        let path = Baseline::path(fixtures, &description.device);
        Ok(Self {
            baseline: Baseline::load(&path, &description.model, &description.device)?,
            known_failures: KnownFailures::load(fixtures, &description.device)?,
        })
    }

    /// Keeps what still applies to tests of another size: no known failures of kernels,
    /// and no baseline, since a run is compared with a baseline as a whole.
    fn at(self, effort: Effort) -> Self {
        match effort {
            Effort::Full => self,
            Effort::Smoke => {
                let mut known_failures = self.known_failures;
                known_failures.retain(|test, _| Phase::of(test) != Phase::Kernel);
                Self { baseline: None, known_failures }
            }
        }
    }

    /// Drops the baseline if the run ignores baselines.
    fn with(self, baselines: Baselines) -> Self {
        match baselines {
            Baselines::Compare => self,
            Baselines::Ignore => Self { baseline: None, ..self },
        }
    }

    fn of(&self, test: &str) -> History<'_> {
        History { baseline: self.baseline.as_ref(), known_failure: self.known_failures.get(test) }
    }
}

/// Why an adapter's tests cannot be planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// A test has a name that cannot be used.
    #[error("the tests of {model}: {source}")]
    Plan {
        /// The adapter.
        model: String,
        /// What is wrong with its tests.
        source: PlanError,
    },
    /// The adapter does not accept a setting.
    #[error(transparent)]
    Settings(#[from] crate::SettingsError),
    /// The adapter cannot run on the device.
    #[error("{model} does not run on device `{device}`; it runs on {known}")]
    Device {
        /// The adapter.
        model: String,
        /// The device that was asked for.
        device: String,
        /// The devices that it runs on.
        known: String,
    },
}

impl Suite {
    /// Plans the tests of an adapter. Reads nothing but the golden manifest, the baseline
    /// and the known failures. An empty device name means the adapter's default.
    ///
    /// # Errors
    ///
    /// A setting or a device that the adapter does not accept; one of its own checks whose
    /// name is not valid, or is the name of another test.
    pub fn new(adapter: Arc<dyn Adapter>, mut context: Context) -> Result<Self, SuiteError> {
        let device = choose(&*adapter, &context.device)?;
        context.device.clone_from(&device.name);
        context.settings.expect_only(adapter.settings())?;
        let distinct = adapter.distinct(&context.settings)?;
        let Gates { configuration, kernels, launches, checks } = adapter.gates(&context)?;
        let description = Description {
            model: adapter.name().to_owned(),
            device: distinct.device_class(&device.class),
            configuration,
            fixtures: fixtures(&*adapter, &context),
            weights: adapter.model().map(Model::weights),
            launches,
            checks: checks.iter().map(|check| describe(&**check)).collect(),
            availability: device.availability,
            access: device.access,
            baselines: device.baselines,
        };
        if description.baselines.refusal().is_some() {
            context.baselines = Baselines::Ignore;
        }
        let past =
            Past::load(&description).map(|past| past.at(context.effort).with(context.baselines));
        let mut session = Session::new(adapter.clone(), context.clone(), kernels, checks);
        let plan = plan(&mut session)
            .map_err(|source| SuiteError::Plan { model: adapter.name().to_owned(), source })?;
        Ok(Self {
            adapter,
            context,
            description,
            past,
            plan,
            session: Mutex::new(session),
            lost: AtomicBool::new(false),
        })
    }

    /// The same suite without a baseline and known failures: every check is judged by its
    /// own limits alone.
    #[must_use]
    pub fn without_history(mut self) -> Self {
        self.past = Ok(Past::default());
        self
    }

    /// The adapter whose tests these are.
    pub fn adapter(&self) -> &dyn Adapter {
        &*self.adapter
    }

    /// The context of the run, with the device that was chosen.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The tests, in the order in which they run.
    pub fn plan(&self) -> &[Planned] {
        &self.plan
    }

    /// The binary's description of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Whether a test has lost the device, so that this process should end: any test that
    /// it runs now fails, which says nothing about the test.
    pub fn has_lost_its_device(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Runs one test; `None` if there is no test of that name. A panic inside a check gives
    /// a failed record, and later tests still run.
    pub fn run(&self, name: &str) -> Option<Record> {
        let test = self.plan.iter().find(|test| test.name == name)?;
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        let result = match &self.past {
            Err(error) => Err(Stop::Invalid(error.to_string())),
            Ok(_) => catch_unwind(AssertUnwindSafe(|| test.run(&mut session)))
                .unwrap_or_else(|panic| Err(Stop::Fail(format!("panicked: {}", message(&*panic))))),
        };
        if matches!(result, Err(Stop::Lost(_))) {
            self.lost.store(true, Ordering::Relaxed);
        }
        let history = self.past.as_ref().map_or(History::default(), |past| past.of(name));
        Some(conclude(name, result, history, start.elapsed().as_secs_f64()))
    }
}

/// Finds the device of a run by its name; an empty name means the adapter's default.
fn choose(adapter: &dyn Adapter, name: &str) -> Result<DeviceSpec, SuiteError> {
    let devices = adapter.devices();
    let known: Vec<_> = devices.iter().map(|device| device.name.clone()).collect();
    let mut devices = devices.into_iter();
    let device =
        if name.is_empty() { devices.next() } else { devices.find(|device| device.name == name) };
    device.ok_or_else(|| SuiteError::Device {
        model: adapter.name().to_owned(),
        device: name.to_owned(),
        known: known.join(", "),
    })
}

/// Describes one of the adapter's own checks.
fn describe(check: &dyn Check) -> CheckDescription {
    CheckDescription { name: check.name(), explanation: check.explanation() }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
