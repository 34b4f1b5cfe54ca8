//! The kernel gate against faults that each of its figures must catch: a kernel
//! that scales its input, sound and broken.

#![expect(clippy::unwrap_used, reason = "tests fail by panics")]

use npugate::metrics::compare;
use npugate::schema::{Outcome, Record};
use npugate::{
    Adapter, Bias, Context, DType, Draw, Gates, Kernel, KernelId, RunError, SettingsError, Tensor,
    Tolerance, suite::Suite,
};
use std::sync::Arc;

const ROWS: usize = 64;
const WIDTH: usize = 256;
const HEAD_DIM: usize = 64;

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    Truncates,
    HeadTooLarge,
    DeadRow,
    DeadColumn,
    LastBlockPoisoned,
    LastBlockZero,
    LastBlockStale,
    Doubled,
    Nan,
    WrongDtype,
    WrongShape,
    WideTolerance,
    OneIntegerOff,
}

struct Toy(Fault);

impl Adapter for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn gates(&self, _: &Context) -> Result<Gates, SettingsError> {
        Ok(Gates::new().kernel(Scale(self.0)))
    }
}

/// `y = 1.1 x` in bf16, rounded to nearest even.
struct Scale(Fault);

fn rne(value: f32) -> f32 {
    half::bf16::from_f32(value).to_f32()
}

impl Kernel for Scale {
    fn id(&self) -> KernelId {
        KernelId::new("scale", format!("{ROWS}x{WIDTH}"))
    }

    fn head_dim(&self) -> Option<usize> {
        Some(HEAD_DIM)
    }

    fn bias(&self) -> Bias {
        Bias::None
    }

    fn tolerance(&self) -> Tolerance {
        match self.0 {
            // Wide enough for a head that is 5 % too large: other figures must see it.
            Fault::HeadTooLarge | Fault::Truncates => Tolerance { rtol: 0.1, atol: 1e-2 },
            Fault::WideTolerance => Tolerance { rtol: 0.0, atol: 100.0 },
            _ => Tolerance { rtol: 1.6e-2, atol: 1e-3 },
        }
    }

    fn sqnr_floor(&self) -> Option<f64> {
        Some(if self.0 == Fault::HeadTooLarge { 20.0 } else { 40.0 })
    }

    fn inputs(&self, draw: Draw) -> Option<Vec<Tensor>> {
        let value = |i: usize| match draw {
            // Signed, spread over some binades, no two rows alike.
            Draw::Registry { seed } => rne(((i as u64 * 7919 + seed) % 8191) as f32 / 1000.0 - 4.0),
            Draw::Integers { .. } => (i % 3) as f32 - 1.0,
        };
        let values = (0..ROWS * WIDTH).map(value).collect();
        Tensor::new([ROWS, WIDTH], DType::Bf16, values).ok().map(|tensor| vec![tensor])
    }

    fn reference(&self, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        let integers = inputs[0].values().iter().all(|x| x.abs() <= 1.0 && x.fract() == 0.0);
        let factor = if integers { 1.0 } else { 1.1 };
        let values = inputs[0].values().iter().map(|x| x * factor).collect();
        Ok(Tensor::new([ROWS, WIDTH], DType::F32, values)?)
    }

    fn run(&self, _: &Context, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        let exact = self.reference(inputs)?;
        let integers = exact.values().iter().all(|x| x.abs() <= 1.0 && x.fract() == 0.0);
        let mut values: Vec<f32> = exact.values().iter().map(|y| rne(*y)).collect();
        match self.0 {
            Fault::Truncates => {
                let floor = |y: &f32| {
                    let cut = f32::from_bits(y.to_bits() & 0xFFFF_0000);
                    if cut > *y { f32::from_bits(cut.to_bits() + 0x1_0000) } else { cut }
                };
                values = exact.values().iter().map(floor).collect();
            }
            Fault::HeadTooLarge if !integers => {
                for row in values.chunks_mut(WIDTH) {
                    row[HEAD_DIM..2 * HEAD_DIM].iter_mut().for_each(|y| *y = rne(*y * 1.05));
                }
            }
            Fault::DeadRow => values[3 * WIDTH..4 * WIDTH].fill(0.0),
            Fault::DeadColumn => values.iter_mut().skip(5).step_by(WIDTH).for_each(|y| *y = 0.0),
            Fault::LastBlockPoisoned => fill_last_block(&mut values, |_| f32::NAN),
            Fault::LastBlockZero => fill_last_block(&mut values, |_| 0.0),
            // Values that another launch left in the buffer.
            Fault::LastBlockStale => fill_last_block(&mut values, |y| 3.0 - y),
            Fault::Doubled => values.iter_mut().for_each(|y| *y *= 2.0),
            Fault::Nan => values[WIDTH + 1] = f32::NAN,
            Fault::OneIntegerOff if integers => values[9] += 1.0,
            _ => {}
        }
        let dtype = if self.0 == Fault::WrongDtype { DType::F32 } else { DType::Bf16 };
        let shape = if self.0 == Fault::WrongShape { [WIDTH, ROWS] } else { [ROWS, WIDTH] };
        Ok(Tensor::new(shape, dtype, values)?)
    }
}

/// The columns that the last tile along N would write.
const LAST_BLOCK: std::ops::Range<usize> = 240..256;

fn fill_last_block(values: &mut [f32], with: impl Fn(f32) -> f32) {
    for row in values.chunks_mut(WIDTH) {
        row[LAST_BLOCK].iter_mut().for_each(|y| *y = with(*y));
    }
}

fn run(fault: Fault) -> Record {
    let suite = Suite::new(Arc::new(Toy(fault)), Context::default()).unwrap();
    suite.run("kernel::scale::64x256").unwrap()
}

fn fails(fault: Fault, words: &str) {
    let record = run(fault);
    assert_eq!(record.outcome, Outcome::Failed, "{record:#?}");
    assert!(record.verdict.contains(words), "no `{words}` in `{}`", record.verdict);
}

#[test]
fn a_sound_kernel_passes() {
    let record = run(Fault::None);
    assert_eq!(record.outcome, Outcome::Passed, "{record:#?}");
}

#[test]
fn floor_rounding_fails_by_its_bias_alone() {
    fails(Fault::Truncates, "bias 0.");
}

#[test]
fn a_head_that_is_5_percent_too_large_fails_by_its_scale() {
    let record = run(Fault::HeadTooLarge);
    assert_eq!(record.outcome, Outcome::Failed, "{record:#?}");
    let broken: Vec<_> = record.metrics.iter().filter(|metric| !metric.within_limit()).collect();
    assert!(broken.iter().any(|metric| metric.key() == "worst_head.slope_error"), "{broken:#?}");
    let whole = record.metrics.iter().find(|metric| metric.key() == "slope_error").unwrap();
    assert!(whole.within_limit(), "the whole output hides it");
    assert!(record.verdict.contains("; head 1 is scaled by 1.05"), "{}", record.verdict);
}

#[test]
fn a_dead_row_and_a_dead_column_fail() {
    fails(Fault::DeadRow, "all 256 columns of row 3");
    fails(Fault::DeadColumn, "in column 5 (head 0) of all 64 rows");
}

#[test]
fn a_last_block_that_was_not_written_is_named_by_its_columns() {
    fails(
        Fault::LastBlockPoisoned,
        "1024 of 16384 values not finite, in columns 240..256 of all 64 rows (never written?); the \
         first is NaN at row 0, column 240",
    );
    for fault in [Fault::LastBlockZero, Fault::LastBlockStale] {
        fails(fault, "; in columns 240..256 (head 3) of all 64 rows");
        fails(fault, "; on integers in columns 240..256 (head 3) of all 64 rows");
    }
    fails(Fault::LastBlockZero, "all 0 on the device (never written?); worst at row ");
    let stale = run(Fault::LastBlockStale);
    assert!(!stale.verdict.contains("not written"), "{}", stale.verdict);
}

#[test]
fn a_doubled_output_fails_though_its_cosine_is_1() {
    let kernel = Scale(Fault::Doubled);
    let inputs = kernel.inputs(Draw::Registry { seed: 42 }).unwrap();
    let doubled = kernel.run(&Context::default(), &inputs).unwrap();
    let errors = compare(&doubled, &kernel.reference(&inputs).unwrap()).unwrap();
    assert!(errors.cosine > 0.99999, "{}", errors.cosine);

    let record = run(Fault::Doubled);
    assert_eq!(record.outcome, Outcome::Failed, "{record:#?}");
    let broken = |key: &str| {
        let metric = record.metrics.iter().find(|metric| metric.key() == key);
        !metric.unwrap_or_else(|| panic!("no {key}")).within_limit()
    };
    // Each figure catches it on its own.
    for key in ["mismatches", "integer_mismatches", "slope_error", "sqnr"] {
        assert!(broken(key), "{key} keeps its limit");
    }
    for axis in ["worst_row", "worst_column", "worst_head"] {
        assert!(broken(&format!("{axis}.slope_error")), "{axis} keeps its limit");
    }
}

#[test]
fn nan_a_wrong_dtype_and_a_wrong_shape_are_failures_of_their_own() {
    fails(Fault::Nan, "the first is NaN at row 1, column 1");
    fails(Fault::WrongDtype, "f32");
    fails(Fault::WrongShape, "[256, 64]");
}

#[test]
fn one_wrong_integer_fails_without_any_tolerance() {
    fails(
        Fault::OneIntegerOff,
        "integer_mismatches 1 > 0; on integers in column 9 (head 0) of row 0; worst at row 0, column \
         9: 0, reference -1",
    );
}

#[test]
fn a_tolerance_that_accepts_nonsense_is_invalid() {
    let record = run(Fault::WideTolerance);
    assert!(matches!(record.outcome, Outcome::Invalid { .. }), "{record:#?}");
    assert!(record.verdict.contains("would accept an output of zeros"), "{}", record.verdict);
}
