//! How faithful the emulated NPU is: for each row of the registry, the published inputs, through
//! the emulated NPU, against the reference, compared with what silicon showed.
//!
//! The inputs are the very values that the registry's harnesses drew (numpy's generators and
//! seeds), so figures can be compared to the digits that were printed. [`Band`] says how near a
//! figure must be, [`Standing`] whether it is; rows that are known to miss theirs, and why, are in
//! `registry/known-misses.json`. [`document()`] writes the table.

pub(crate) mod band;
mod compare;
mod document;
mod error;
mod inputs;
mod standing;

use std::{
    ffi::OsString,
    sync::mpsc::sync_channel,
    thread,
    time::{Duration, Instant},
};

pub use band::Band;
pub use compare::{Found, compare};
pub use document::document;
pub use error::FidelityError;
pub use inputs::is_bundled;
pub use standing::Standing;

use crate::{
    datapath::{functions::Functions, vector::VectorUnit},
    device::{BufferSet, Device, DeviceError},
    emu::{Emulator, EmulatorOptions},
    kernel::KernelSpec,
    op::{Op, with_op},
    program::{ArgIndex, Program},
    reference,
    registry::{Figure, Figures, Registry, Row},
    tensor::Tensor,
    toolchain::Toolchain,
};

/// How to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The emulator's transcendental functions.
    pub functions: Functions,
    /// The emulator's vector unit; by default the fastest of this machine.
    pub vector_unit: Option<VectorUnit>,
    /// The toolchain whose rounding modes are set. The published figures are
    /// [`Toolchain::Npu2_2026_06`]'s.
    pub toolchain: Toolchain,
    /// The Python that draws the inputs.
    pub python: OsString,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            functions: Functions::default(),
            vector_unit: None,
            toolchain: Toolchain::Npu2_2026_06,
            python: "python3".into(),
        }
    }
}

/// How many rows to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Effort {
    /// Rows that take only a moment; every kernel is among them.
    Quick,
    /// All.
    Full,
}

/// A row that was measured.
#[derive(Clone, Debug)]
pub struct RowResult {
    /// Name of the row.
    pub name: String,
    /// What was measured.
    pub op: Op,
    /// What silicon showed.
    pub published: Figures,
    /// What the emulated NPU shows.
    pub found: Found,
    /// What `found` must meet.
    pub band: Band,
    /// Whether it does.
    pub standing: Standing,
    /// How long it took, without the drawing of inputs.
    pub took: Duration,
}

/// All rows that were measured.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Each row, in the order in which they were given.
    pub rows: Vec<RowResult>,
    /// How long it took in all.
    pub took: Duration,
}

impl Summary {
    /// The rows that fail: those that miss their band without a known reason, and those that meet
    /// it although they are listed as known misses.
    pub fn failures(&self) -> impl Iterator<Item = &RowResult> {
        self.rows.iter().filter(|row| row.standing.is_failure())
    }

    /// How many rows meet their band.
    pub fn within(&self) -> usize {
        self.rows.iter().filter(|row| row.band.holds(&row.found)).count()
    }
}

/// The rows of `registry` whose figures can be compared: measured on silicon, with the published
/// toolchain, of a shape whose inputs are published.
pub fn rows(registry: &Registry, effort: Effort) -> Vec<&Row> {
    let comparable = |row: &&Row| {
        let inputs = row.op().ok().and_then(|op| inputs::name(&op));
        row.measured.device.is_silicon()
            && row.measured.toolchain == Toolchain::Npu2_2026_06
            && inputs.is_some_and(|name| inputs::is_known(&name))
    };
    let quick = |row: &&Row| row.op().is_ok_and(|op| cost(&op) <= QUICK);
    let rows = registry.rows().iter().filter(comparable);
    rows.filter(|row| effort == Effort::Full || quick(row)).collect()
}

impl Band {
    /// The band around a published `mean_rel_l1` of `op`, as wide as its kernel says and why.
    pub fn of(op: &Op, published: Figure) -> Self {
        with_op!(op, kernel => kernel.band(published))
    }
}

/// Seconds that a row may be estimated to take in a quick run.
const QUICK: f64 = 0.15;
/// Rough rates of one core of 2026; only their ratio matters.
const DRAWS_PER_SECOND: f64 = 3e7;
const PRODUCTS_PER_SECOND: f64 = 3e10;

/// About how many seconds a row takes.
fn cost(op: &Op) -> f64 {
    let drawn: usize = op.operands().iter().map(|o| o.shape.iter().product::<usize>()).sum();
    let products = with_op!(op, kernel => kernel.products());
    drawn as f64 / DRAWS_PER_SECOND + products / PRODUCTS_PER_SECOND
}

/// Measures `rows` and calls `on_row` after each, in an order in which rows that share inputs
/// follow one another. Inputs are drawn while the row before is measured.
///
/// # Errors
/// [`FidelityError`], if a row cannot be measured at all.
pub fn run(
    rows: &[&Row],
    options: &Options,
    mut on_row: impl FnMut(&RowResult),
) -> Result<Summary, FidelityError> {
    let start = Instant::now();
    let groups = groups(rows)?;
    let mut results: Vec<(usize, RowResult)> = Vec::with_capacity(rows.len());
    thread::scope(|scope| {
        // One set of inputs waits while another is used.
        let (sender, receiver) = sync_channel(0);
        let names: Vec<&str> = groups.iter().map(|group| group.input.as_str()).collect();
        let mut source = inputs::Source::start(&options.python, &names)?;
        let firsts: Vec<(&str, Op)> =
            groups.iter().map(|g| (g.input.as_str(), g.cases[0].op)).collect();
        scope.spawn(move || {
            for (input, op) in firsts {
                let tensors = source.next(input, &op);
                let failed = tensors.is_err();
                // The receiver hangs up when it has failed itself.
                if sender.send(tensors).is_err() || failed {
                    break;
                }
            }
        });
        for (group, tensors) in groups.iter().zip(receiver) {
            let tensors = tensors?;
            // Consecutive rows often share the reference, too.
            let mut last: Option<(Op, Vec<f32>)> = None;
            for case in &group.cases {
                let start = Instant::now();
                let of = of_reference(case.op);
                let reference = match last.take() {
                    Some((op, values)) if op == of => values,
                    _ => reference::run(&of, &tensors).map_err(|source| FidelityError::Op {
                        row: case.row.name(),
                        source: Box::new(source),
                    })?,
                };
                let result = measure(case, &tensors, &reference, options, start)?;
                last = Some((of, reference));
                on_row(&result);
                results.push((case.index, result));
            }
        }
        Ok(())
    })?;
    results.sort_by_key(|(index, _)| *index);
    let rows = results.into_iter().map(|(_, result)| result).collect();
    Ok(Summary { rows, took: start.elapsed() })
}

/// Rows that share inputs.
struct Group<'a> {
    input: String,
    cases: Vec<Case<'a>>,
}

struct Case<'a> {
    index: usize,
    row: &'a Row,
    op: Op,
    band: Band,
}

fn groups<'a>(rows: &[&'a Row]) -> Result<Vec<Group<'a>>, FidelityError> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (index, &row) in rows.iter().enumerate() {
        let named = row.op().ok().and_then(|op| Some((op, inputs::name(&op)?)));
        let (op, input) = named.ok_or_else(|| FidelityError::Unpublished { row: row.name() })?;
        let published = row.figures.mean_rel_l1;
        let published = published.ok_or_else(|| FidelityError::NoFigure { row: row.name() })?;
        let case = Case { index, row, op, band: Band::of(&op, published) };
        match groups.iter_mut().find(|group| group.input == input) {
            Some(group) => group.cases.push(case),
            None => groups.push(Group { input, cases: vec![case] }),
        }
    }
    if groups.is_empty() { Err(FidelityError::NoRows) } else { Ok(groups) }
}

/// The op whose f32 reference `op` shares: the methods of a kernel differ only in what follows it.
fn of_reference(op: Op) -> Op {
    fn first_method<K: KernelSpec>(kernel: K) -> K {
        K::METHODS.first().map_or(kernel, |&method| kernel.with_method(method))
    }
    with_op!(op, kernel => first_method(kernel).into())
}

fn measure(
    case: &Case<'_>,
    inputs: &[Tensor],
    reference: &[f32],
    options: &Options,
    start: Instant,
) -> Result<RowResult, FidelityError> {
    let &Case { row, op, band, .. } = case;
    let name = row.name();
    let output = launch(op, inputs, options)
        .map_err(|source| FidelityError::Device { row: name.clone(), source: Box::new(source) })?;
    let Some(found) = compare(&output, reference) else {
        return Err(FidelityError::NotComparable { row: name });
    };
    let standing = Standing::of(&name, &band, &found);
    let (published, took) = (row.figures, start.elapsed());
    Ok(RowResult { name, op, published, found, band, standing, took })
}

/// Runs one launch on its own emulated NPU, whose buffers are freed with it.
fn launch(op: Op, inputs: &[Tensor], options: &Options) -> Result<Tensor, DeviceError> {
    let mut emulator = Emulator::new(EmulatorOptions {
        functions: options.functions.clone(),
        vector_unit: options.vector_unit,
        ..EmulatorOptions::default()
    });
    let (set, output) = (BufferSet(0), ArgIndex(inputs.len()));
    let id = emulator.load(&Program::single(op, options.toolchain.rounding(&op)))?;
    for (index, tensor) in inputs.iter().enumerate() {
        emulator.write(id, set, ArgIndex(index), tensor.clone())?;
    }
    emulator.run(id, set)?;
    emulator.read(id, set, output)
}
