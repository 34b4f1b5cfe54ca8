//! The kernel gates: the full output of one kernel at one shape, element by
//! element, on inputs from the registry's distribution and on exact integers.

mod place;

use crate::kernel::{Bias, Draw, Tolerance};
use crate::measured::{CheckResult, Measured, Stop};
use crate::metrics::{
    Axis, ErrorMetrics, Judgement, SliceFigures, compare, expect_dtype, judge, worst_slope,
    worst_sqnr,
};
use crate::schema::{Direction, Metric, Unit};
use crate::session::Session;
use crate::{Context, DType, Kernel, Tensor, limits};

/// The seed of every kernel test. One is enough: a baseline needs the same figures
/// every day.
const SEED: u64 = 42;

pub(super) fn check(session: &mut Session, index: usize) -> CheckResult {
    let context = session.context.clone();
    let kernel = session
        .kernels
        .get(index)
        .ok_or_else(|| Stop::Invalid(format!("the adapter has no kernel {index}")))?;
    let kernel = &**kernel;
    let inputs = kernel.inputs(Draw::Registry { seed: SEED }).ok_or_else(|| {
        Stop::Invalid(format!("{} has no inputs from the registry's distribution", kernel.id()))
    })?;
    let mut found = on_registry_inputs(kernel, &context, &inputs)?;
    if let Some(inputs) = kernel.inputs(Draw::Integers { seed: SEED }) {
        found.extend(on_integers(kernel, &context, &inputs)?);
    }
    Ok(found.measured())
}

/// What was measured, and where it broke a gate.
#[derive(Default)]
struct Found {
    metrics: Vec<Metric>,
    places: Vec<String>,
}

impl Found {
    /// Adds a metric, and the place to look at if the metric breaks its limit.
    fn push(&mut self, metric: Metric, place: impl FnOnce() -> Option<String>) {
        if !metric.within_limit() {
            self.places.extend(place());
        }
        self.metrics.push(metric);
    }

    fn extend(&mut self, other: Self) {
        self.metrics.extend(other.metrics);
        self.places.extend(other.places);
    }

    fn measured(self) -> Measured {
        let measured = Measured::of(self.metrics);
        if self.places.is_empty() { measured } else { measured.noted(self.places.join("; ")) }
    }
}

fn on_registry_inputs(
    kernel: &dyn Kernel,
    context: &Context,
    inputs: &[Tensor],
) -> Result<Found, Stop> {
    let exact = kernel.reference(inputs)?;
    let device = run(kernel, context, inputs)?;
    let tolerance = kernel.tolerance();
    refuse_nonsense(tolerance, &exact, device.dtype())?;
    let cuts = cuts(kernel, &exact);
    let axes: Vec<Axis> = cuts.iter().map(|(axis, _)| *axis).collect();
    let Judgement { errors, slices } = judge(&device, &exact, tolerance, &axes)?;

    let mut found = Found::default();
    found.push(count("mismatches", errors.mismatches), || {
        place::of(&device, &exact, kernel.head_dim(), tolerance)
    });
    found.metrics.extend([
        Metric::new("mean_rel_l1", errors.mean_rel_l1, Unit::Ratio, Direction::Lower),
        Metric::new("mean_abs", errors.mean_abs, Unit::Absolute, Direction::Lower),
        Metric::new("max_abs", errors.max_abs, Unit::Absolute, Direction::Lower),
        Metric::new("mean_rel", errors.mean_rel, Unit::Ratio, Direction::Neutral),
        Metric::new("max_rel", errors.max_rel, Unit::Ratio, Direction::Neutral),
        scale_error(errors.slope).limited(limits::SLOPE),
        bias(kernel.bias(), &errors),
    ]);
    let sqnr = Metric::new("sqnr", errors.sqnr_db, Unit::Decibel, Direction::Higher);
    found.metrics.push(match kernel.sqnr_floor() {
        Some(floor) => sqnr.limited(floor),
        None => sqnr,
    });
    // A slice is named only if no element is, since mismatches say more.
    let elements = !found.places.is_empty();
    for ((_, name), figures) in cuts.iter().zip(&slices) {
        let slices = of_slices(kernel, name, figures);
        found.metrics.extend(slices.metrics);
        found.places.extend(slices.places.into_iter().filter(|_| !elements));
    }
    Ok(found)
}

fn count(name: &str, value: usize) -> Metric {
    Metric::new(name, value as f64, Unit::Count, Direction::Lower).limited(0.0)
}

/// The axes whose slices are long enough to be judged, each with the name of its worst
/// slice.
fn cuts(kernel: &dyn Kernel, exact: &Tensor) -> Vec<(Axis, &'static str)> {
    let (rows, width) = (exact.rows().len(), exact.row_len());
    let head =
        kernel.head_dim().map(|head_dim| (Axis::Head { head_dim }, "worst_head", rows * head_dim));
    let axes = [(Axis::Row, "worst_row", width), (Axis::Column, "worst_column", rows)];
    let long = axes.into_iter().chain(head).filter(|(.., length)| *length >= limits::SLICE_LENGTH);
    long.map(|(axis, name, _)| (axis, name)).collect()
}

/// The noise and the scale of the worst slice along an axis.
fn of_slices(kernel: &dyn Kernel, name: &str, figures: &[SliceFigures]) -> Found {
    let mut found = Found::default();
    let (Some(noisy), Some(scaled)) = (worst_sqnr(figures), worst_slope(figures)) else {
        return found;
    };
    let sqnr = Metric::new("sqnr", noisy.sqnr_db, Unit::Decibel, Direction::Higher).on(name);
    let sqnr = match kernel.sqnr_floor() {
        Some(floor) => sqnr.limited(floor - limits::SLICE_MARGIN_DB),
        None => sqnr,
    };
    found.push(sqnr, || Some(format!("the noisiest slice is {}", noisy.slice)));
    let slope = scale_error(scaled.slope).on(name).limited(limits::SLICE_SLOPE);
    found.push(slope, || {
        Some(format!("{} is scaled by {}", scaled.slice, Unit::Ratio.format(scaled.slope)))
    });
    found
}

fn scale_error(slope: f64) -> Metric {
    Metric::new("slope_error", (slope - 1.0).abs(), Unit::ScaleError, Direction::Lower)
}

/// The mean error in units of its spread, gated if the kernel declares no bias.
fn bias(declared: Bias, errors: &ErrorMetrics) -> Metric {
    match declared {
        Bias::None if errors.count >= limits::BIAS_LENGTH => {
            Metric::new("bias", errors.bias, Unit::Bias, Direction::Lower).limited(limits::BIAS)
        }
        Bias::None | Bias::Declared => {
            Metric::new("bias", errors.bias, Unit::Bias, Direction::Neutral)
        }
    }
}

/// The device's output, in the dtype that the kernel declares.
fn run(kernel: &dyn Kernel, context: &Context, inputs: &[Tensor]) -> Result<Tensor, Stop> {
    let device = kernel.run(context, inputs)?;
    expect_dtype(&device, kernel.output_dtype())?;
    Ok(device)
}

/// Runs the kernel on exact integers, where every bit must be right: faults in tiling,
/// sign, layout and tails, and stale buffers, show without any tolerance.
fn on_integers(kernel: &dyn Kernel, context: &Context, inputs: &[Tensor]) -> Result<Found, Stop> {
    let expected = kernel.reference(inputs)?;
    let device = run(kernel, context, inputs)?;
    // A zero of either sign is zero.
    let wrong = compare(&device, &expected)?.mismatches;
    let mut found = Found::default();
    found.push(count("integer_mismatches", wrong), || {
        let exact = Tolerance { rtol: 0.0, atol: 0.0 };
        let place = place::of(&device, &expected, kernel.head_dim(), exact)?;
        Some(format!("on integers {place}"))
    });
    Ok(found)
}

/// Refuses a tolerance that is so wide that it accepts nonsense: it cannot judge anything.
fn refuse_nonsense(tolerance: Tolerance, exact: &Tensor, dtype: DType) -> Result<(), Stop> {
    type Nonsense<'a> = &'a dyn Fn(usize) -> f32;
    let r = exact.values();
    let width = exact.row_len();
    // Rolled by one row. With a single row, that would be the right output.
    let rolls = exact.rows().len() > 1 && width > 1;
    let rolled = |index: usize| r[(index + width) % r.len()];
    let nonsense: [(&str, bool, Nonsense<'_>); 3] = [
        ("an output of zeros", true, &|_| 0.0),
        ("an output with its sign flipped", true, &|index| -r[index]),
        ("an output rolled by one row", rolls, &rolled),
    ];
    for (what, _, nonsense) in nonsense.into_iter().filter(|(_, applies, _)| *applies) {
        // Stops at the first element that is refused.
        let accepted =
            |index| tolerance.accepts(dtype.store(nonsense(index)), dtype.store(r[index]));
        if (0..r.len()).all(accepted) {
            return Err(Stop::Invalid(format!(
                "the tolerance of {} + {} * abs(r) would accept {what}: it cannot judge this kernel",
                tolerance.atol, tolerance.rtol
            )));
        }
    }
    Ok(())
}
