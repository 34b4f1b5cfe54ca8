//! An adapter's own checks.

use crate::goldens::Goldens;
pub use crate::measured::{Measured, Stop};
use crate::schema::{Attributes, TimeLimits};
use crate::{Context, Model, Runner};
use std::sync::Arc;

/// A check that an adapter adds to the built-in ones with
/// [`Gates::check`](crate::Gates::check). It is one test, which is listed, filtered, run,
/// recorded, compared with its baseline and reported like any other.
///
/// It passes if every metric keeps its limit and none is NaN. A check that measures no
/// metric with a limit and a direction is invalid.
///
/// ```
/// use npugate::check::{Check, Measured, Needs, Stop, Workbench};
/// use npugate::schema::{Direction, Metric, Unit};
///
/// /// The longest prompt that the model accepts is as long as its users need.
/// struct LongEnough;
///
/// impl Check for LongEnough {
///     fn name(&self) -> String {
///         "length::prefill".to_owned()
///     }
///
///     fn explanation(&self) -> String {
///         "Prefill is compiled for 2,048 positions: what our users send.".to_owned()
///     }
///
///     fn run(&self, bench: &mut dyn Workbench) -> Result<Measured, Stop> {
///         let longest = bench.runner()?.max_prefill() as f64;
///         let metric = Metric::new("positions", longest, Unit::Count, Direction::Higher);
///         Ok(Measured::of([metric.limited(2048.0)]))
///     }
/// }
/// ```
pub trait Check: Send + Sync {
    /// The stable name of its test, `PHASE::NAME`. The phase is one of the existing ones,
    /// or a phase of its own, which runs last. Each part consists of letters, digits, `_`,
    /// `-` and `.`; more parts may follow.
    fn name(&self) -> String;

    /// What it tests, why its limits are what they are, and what to do when it fails.
    fn explanation(&self) -> String;

    /// What must be on this machine for the check to run.
    fn needs(&self) -> Needs {
        Needs::Weights
    }

    /// Whether it runs by default.
    fn set(&self) -> Set {
        Set::Default
    }

    /// How long it may take before it counts as slow or hanging.
    fn limits(&self) -> TimeLimits {
        TimeLimits::default()
    }

    /// What filter expressions can ask for besides the name.
    fn attributes(&self) -> Attributes {
        Attributes::new()
    }

    /// Measures. A panic fails this test alone.
    ///
    /// # Errors
    ///
    /// What is tested is so wrong that there is no number to measure, or the check cannot
    /// judge.
    fn run(&self, bench: &mut dyn Workbench) -> Result<Measured, Stop>;
}

/// What must be on a machine for a check to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Nothing that is not under version control.
    Nothing,
    /// The weights, or a tokenizer that comes with them. Without them the test is ignored,
    /// and says how to get them.
    Weights,
}

/// Whether a test runs by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    /// It runs by default.
    Default,
    /// It runs with `--full` only.
    Full,
}

/// What a check works with, the same as the built-in checks have. Everything is made when
/// the first test of a process asks for it, and shared by the tests that follow.
pub trait Workbench: private::Sealed {
    /// The run: its device and settings.
    fn context(&self) -> &Context;

    /// The model.
    ///
    /// # Errors
    ///
    /// An adapter that has only kernels.
    fn model(&self) -> Result<&dyn Model, Stop>;

    /// What the reference computed.
    ///
    /// # Errors
    ///
    /// Goldens that are missing or cannot be read.
    fn goldens(&mut self) -> Result<Arc<Goldens>, Stop>;

    /// The model on the device. Its KV cache is left from whichever test ran before, so
    /// begin with a prefill.
    ///
    /// # Errors
    ///
    /// A model that cannot be set up.
    fn runner(&mut self) -> Result<&mut dyn Runner, Stop>;
}

/// Seals [`Workbench`], so that functions can be added to it later.
pub(crate) mod private {
    pub trait Sealed {}
}
