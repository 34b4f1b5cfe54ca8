//! The kernel gates: the full output of one kernel at one shape, element by
//! element, on inputs of the registry's distribution and on exact integers.

use crate::kernel::{Bias, Draw, Tolerance};
use crate::metrics::{Axis, compare, expect_dtype, figures_by_slice, worst_slope, worst_sqnr};
use crate::schema::{Direction, Metric, Unit};
use crate::session::Session;
use crate::verdict::{CheckResult, Measured, Stop};
use crate::{Context, DType, Kernel, Tensor, limits};
use half::bf16;

/// Seed of every kernel test. One is enough: the same figures every day are
/// what a baseline is made of.
const SEED: u64 = 42;

pub(super) fn check(session: &mut Session, index: usize) -> CheckResult {
    let context = session.context.clone();
    let kernel = session
        .kernels
        .get(index)
        .ok_or_else(|| Stop::Invalid(format!("the adapter has no kernel {index}")))?;
    let kernel = &**kernel;
    let inputs = kernel.inputs(Draw::Registry { seed: SEED }).ok_or_else(|| {
        Stop::Invalid(format!("{} draws no inputs of the registry's distribution", kernel.id()))
    })?;
    let mut metrics = on_registry_inputs(kernel, &context, &inputs)?;
    if let Some(inputs) = kernel.inputs(Draw::Integers { seed: SEED }) {
        metrics.push(on_integers(kernel, &context, &inputs)?);
    }
    Ok(Measured::of(metrics))
}

fn on_registry_inputs(
    kernel: &dyn Kernel,
    context: &Context,
    inputs: &[Tensor],
) -> Result<Vec<Metric>, Stop> {
    let exact = kernel.reference(inputs)?;
    let device = run(kernel, context, inputs)?;
    // What is stored in bf16 is held against the truth stored in bf16, as the
    // registry's own gate does.
    let stored = stored_as(&exact, device.dtype())?;
    let gate = Gate { tolerance: kernel.tolerance(), sqnr: kernel.sqnr_floor() };
    gate.refuses_nonsense(&stored)?;
    let errors = compare(&device, &stored)?;
    let against_exact = compare(&device, &exact)?;

    let count = |name: &str, value: usize| {
        Metric::new(name, value as f64, Unit::Count, Direction::Lower).limited(0.0)
    };
    let mut metrics = vec![
        count("mismatches", gate.mismatches(&device, &stored)),
        Metric::new("mean_rel_l1", errors.mean_rel_l1, Unit::Ratio, Direction::Lower),
        Metric::new("mean_abs", errors.mean_abs, Unit::Absolute, Direction::Lower),
        Metric::new("max_abs", errors.max_abs, Unit::Absolute, Direction::Lower),
        Metric::new("mean_rel", errors.mean_rel, Unit::Ratio, Direction::Neutral),
        Metric::new("max_rel", errors.max_rel, Unit::Ratio, Direction::Neutral),
        scale_error(against_exact.slope).limited(limits::SLOPE),
        bias(kernel.bias(), &device, &exact),
    ];
    let sqnr = Metric::new("sqnr", against_exact.sqnr_db, Unit::Decibel, Direction::Higher);
    metrics.push(match gate.sqnr {
        Some(floor) => sqnr.limited(floor),
        None => sqnr,
    });
    metrics.extend(by_slice(kernel, &device, &exact)?);
    Ok(metrics)
}

/// Noise and scale of the worst row, column and head, where they are long
/// enough to say something.
fn by_slice(kernel: &dyn Kernel, device: &Tensor, exact: &Tensor) -> Result<Vec<Metric>, Stop> {
    let (rows, width) = (exact.rows().len(), exact.row_len());
    let head =
        kernel.head_dim().map(|head_dim| (Axis::Head { head_dim }, "worst_head", rows * head_dim));
    let axes = [(Axis::Row, "worst_row", width), (Axis::Column, "worst_column", rows)];
    let mut metrics = Vec::new();
    for (axis, name, length) in axes.into_iter().chain(head) {
        if length < limits::SLICE_LENGTH {
            continue;
        }
        let figures = figures_by_slice(device, exact, axis)?;
        let (Some(noisy), Some(scaled)) = (worst_sqnr(&figures), worst_slope(&figures)) else {
            continue;
        };
        let sqnr = Metric::new("sqnr", noisy.sqnr_db, Unit::Decibel, Direction::Higher).on(name);
        metrics.push(match kernel.sqnr_floor() {
            Some(floor) => sqnr.limited(floor - limits::SLICE_MARGIN_DB),
            None => sqnr,
        });
        metrics.push(scale_error(scaled.slope).on(name).limited(limits::SLICE_SLOPE));
    }
    Ok(metrics)
}

fn scale_error(slope: f64) -> Metric {
    Metric::new("slope_error", (slope - 1.0).abs(), Unit::ScaleError, Direction::Lower)
}

/// The mean error in units of its spread: rounding to nearest averages out,
/// truncation does not.
fn bias(declared: Bias, device: &Tensor, exact: &Tensor) -> Metric {
    let errors = || {
        let pairs = device.values().iter().zip(exact.values());
        pairs.map(|(y, r)| f64::from(*y) - f64::from(*r))
    };
    let count = device.len() as f64;
    let mean = errors().sum::<f64>() / count;
    let rms = (errors().map(|error| error * error).sum::<f64>() / count).sqrt();
    // No error at all has no bias.
    let bias = if rms == 0.0 { 0.0 } else { mean.abs() / rms };
    match declared {
        Bias::None if device.len() >= limits::BIAS_LENGTH => {
            Metric::new("bias", bias, Unit::Bias, Direction::Lower).limited(limits::BIAS)
        }
        Bias::None | Bias::Declared => Metric::new("bias", bias, Unit::Bias, Direction::Neutral),
    }
}

/// The device's output, in the dtype that the kernel declares.
fn run(kernel: &dyn Kernel, context: &Context, inputs: &[Tensor]) -> Result<Tensor, Stop> {
    let device = kernel.run(context, inputs)?;
    expect_dtype(&device, kernel.output_dtype())?;
    Ok(device)
}

/// On exact integers every bit must be right: tiling, sign, layout, tails and
/// stale buffers show without any tolerance.
fn on_integers(kernel: &dyn Kernel, context: &Context, inputs: &[Tensor]) -> Result<Metric, Stop> {
    let expected = kernel.reference(inputs)?;
    let device = run(kernel, context, inputs)?;
    compare(&device, &expected)?;
    // The shapes are equal, so `zip` drops nothing. A zero of either sign is zero.
    let pairs = device.values().iter().zip(expected.values());
    #[expect(clippy::float_cmp, reason = "exact integers must be exact")]
    let wrong = pairs.filter(|(y, r)| y != r).count();
    Ok(Metric::new("integer_mismatches", wrong as f64, Unit::Count, Direction::Lower).limited(0.0))
}

struct Gate {
    tolerance: Tolerance,
    sqnr: Option<f64>,
}

impl Gate {
    fn mismatches(&self, device: &Tensor, reference: &Tensor) -> usize {
        let pairs = device.values().iter().zip(reference.values());
        pairs.filter(|(y, r)| !self.tolerance.accepts(**y, **r)).count()
    }

    /// A tolerance so wide that it accepts nonsense cannot judge anything.
    fn refuses_nonsense(&self, reference: &Tensor) -> Result<(), Stop> {
        for (what, nonsense) in nonsense(reference)? {
            let passes_elements = self.mismatches(&nonsense, reference) == 0;
            if passes_elements {
                return Err(Stop::Invalid(format!(
                    "the tolerance of {} + {} * abs(r) would accept {what}: it cannot judge this kernel",
                    self.tolerance.atol, self.tolerance.rtol
                )));
            }
        }
        Ok(())
    }
}

/// Outputs that no gate may accept.
fn nonsense(reference: &Tensor) -> Result<Vec<(&'static str, Tensor)>, Stop> {
    let with = |values: Vec<f32>| {
        Tensor::new(reference.shape(), reference.dtype(), values)
            .map_err(|error| Stop::Invalid(error.to_string()))
    };
    let values = reference.values();
    let width = reference.row_len();
    let mut all = vec![
        ("an output of zeros", with(vec![0.0; values.len()])?),
        ("an output with its sign flipped", with(values.iter().map(|value| -value).collect())?),
    ];
    if reference.rows().len() > 1 && width > 1 {
        let mut rolled = values[width..].to_vec();
        rolled.extend_from_slice(&values[..width]);
        all.push(("an output rolled by one row", with(rolled)?));
    }
    Ok(all)
}

/// The reference as the device could store it at best.
fn stored_as(exact: &Tensor, dtype: DType) -> Result<Tensor, Stop> {
    let values = match dtype {
        DType::F32 => exact.values().to_vec(),
        DType::Bf16 => exact.values().iter().map(|r| bf16::from_f32(*r).to_f32()).collect(),
    };
    Tensor::new(exact.shape(), dtype, values).map_err(|error| Stop::Invalid(error.to_string()))
}
