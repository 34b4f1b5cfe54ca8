//! This adapter's own check, for a property that no built-in check tests.

use crate::Axpy;
use npugate::check::{Check, Measured, Needs, Stop, Workbench};
use npugate::schema::{Direction, Metric, Unit};
use npugate::{Draw, Kernel, Tensor};
use std::time::Instant;

/// Twice the inputs give twice the output, to the bit: a factor of two is exact in bf16.
pub(crate) struct Linear;

impl Check for Linear {
    fn name(&self) -> String {
        "property::linear".to_owned()
    }

    fn explanation(&self) -> String {
        "Twice the inputs give twice the output. No element may differ: a factor of two is \
         exact in bf16."
            .to_owned()
    }

    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    fn run(&self, bench: &mut dyn Workbench) -> Result<Measured, Stop> {
        let kernel = Axpy { n: 1024 };
        let inputs = kernel
            .inputs(Draw::Registry { seed: 1 })
            .ok_or_else(|| Stop::Invalid("the kernel has no inputs".to_owned()))?;
        let mut twice = inputs.clone();
        for value in twice.iter_mut().flat_map(Tensor::values_mut) {
            *value *= 2.0;
        }
        let start = Instant::now();
        let once = kernel.run(bench.context(), &inputs)?;
        let twice = kernel.run(bench.context(), &twice)?;
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        let pairs = once.values().iter().zip(twice.values());
        let mut different = pairs.filter(|(once, twice)| 2.0 * **once != **twice).count() as f64;
        match std::env::var("AXPY_CHECK").as_deref() {
            Ok("nan") => different = f64::NAN,
            Ok("nothing") => return Ok(Measured::default().noted("all is well")),
            _ => {}
        }
        let different = Metric::new("different", different, Unit::Count, Direction::Lower);
        Ok(Measured::of([
            different.limited(0.0),
            Metric::new("time", milliseconds, Unit::Milliseconds, Direction::Lower),
        ]))
    }
}
