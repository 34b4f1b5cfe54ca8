//! The block gates: one decoder block on b's own input to that block, so that an
//! error is the block's own and not inherited.
//!
//! There are three tensors for each part of the block: r, the f32 block on that
//! input; a yardstick, the reference in the arithmetic that the kernels declare (b
//! in bf16, q in BFP16); and y, the device. Parts are compared before they are added
//! to the residual stream, where a few massive activations would hide everything
//! else.

use super::yardstick::BlockYardstick;
use crate::goldens::LayerGolden;
use crate::measured::{CheckResult, Measured, Stop};
use crate::memo::Keep;
use crate::metrics::{
    Axis, Distribution, compare, expect_dtype, figures_by_slice, find_non_finite,
    per_position_cosine, relative_errors, relative_errors_by_head,
};
use crate::schema::{Direction, Metric, Unit};
use crate::session::{Session, Shared};
use crate::{Block, Tensor, limits};
use std::sync::Arc;

/// One block on every diagnosis prompt.
#[derive(Debug)]
struct BlockFigures {
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    prompt: String,
    golden: Arc<LayerGolden>,
    block: Block,
}

impl Shared for BlockFigures {
    /// The checks of one block run one after the other.
    const KEEP: Keep = Keep::Last;

    /// Runs a block on every diagnosis prompt.
    fn compute(session: &mut Session, layer: usize) -> Result<Self, Stop> {
        let mut runs = Vec::new();
        for index in session.diagnosis_prompts()? {
            let golden = session.layer_golden(index)?;
            let input = match layer.checked_sub(1) {
                None => Some(&golden.embed),
                Some(before) => golden.layers.get(before).map(|layer| &layer.b.hidden),
            };
            let input = input
                .filter(|_| layer < golden.layers.len())
                .ok_or_else(|| Stop::Invalid(format!("the goldens have no layer {layer}")))?;
            let block = session.runner()?.block(layer, input)?;
            for (_, tensor) in parts(&block) {
                expect_dtype(tensor, input.dtype())?;
            }
            let prompt = session.prompt(index)?.name;
            runs.push(Run { prompt, golden, block });
        }
        Ok(Self { runs })
    }
}

/// Checks that every output is finite.
pub(super) fn finite(session: &mut Session, layer: usize) -> CheckResult {
    let figures = session.shared::<BlockFigures>(layer)?;
    let mut values = 0;
    for run in &figures.runs {
        for (part, tensor) in parts(&run.block) {
            values += tensor.len();
            if let Some(found) = find_non_finite(tensor) {
                return Err(Stop::Fail(format!("{part} on {}: {found}", run.prompt)));
            }
        }
    }
    if values == 0 {
        return Err(Stop::Invalid("the block returned no values".to_owned()));
    }
    Ok(Measured::default().noted(format!("{values} values are finite")))
}

fn parts(block: &Block) -> [(&'static str, &Tensor); 4] {
    [
        ("attn_ctx", &block.attn_ctx),
        ("attn_out", &block.attn_out),
        ("mlp_out", &block.mlp_out),
        ("hidden", &block.hidden),
    ]
}

/// The whole-tensor cosine of the block's output, as in MLIR-AIR.
pub(super) fn cosine(session: &mut Session, layer: usize) -> CheckResult {
    let figures = session.shared::<BlockFigures>(layer)?;
    let (mut cosines, mut max_abs) = (Vec::new(), Vec::new());
    for run in &figures.runs {
        let errors = compare(&run.block.hidden, &run.golden.layers[layer].b.hidden)?;
        cosines.push(errors.cosine);
        max_abs.push(errors.max_abs);
    }
    let (lowest, max_abs) = (pooled(&cosines)?.min, pooled(&max_abs)?.max);
    Ok(Measured::of(vec![
        Metric::new("cosine", lowest, Unit::Cosine, Direction::Higher)
            .limited(limits::BLOCK_COSINE),
        Metric::new("max_abs", max_abs, Unit::Absolute, Direction::Lower),
    ]))
}

/// The lowest cosine of a position, as in MLIR-AIR.
pub(super) fn per_position(session: &mut Session, layer: usize) -> CheckResult {
    let figures = session.shared::<BlockFigures>(layer)?;
    let head_dim = session.model()?.config().head_dim;
    let mut cosines = Vec::new();
    for run in &figures.runs {
        let expected = &run.golden.layers[layer].b.hidden;
        cosines.extend(per_position_cosine(&run.block.hidden, expected)?);
    }
    let distribution = pooled(&cosines)?;
    let metric = |name: &str, value| Metric::new(name, value, Unit::Cosine, Direction::Higher);
    Ok(Measured::of(vec![
        metric("cosine_min", distribution.min).limited(limits::block_position_cosine(head_dim)),
        metric("cosine_p5", distribution.p5),
        metric("cosine_median", distribution.median),
    ]))
}

/// The error of each part, in units of the yardstick's own error.
pub(super) fn injected(session: &mut Session, layer: usize) -> CheckResult {
    let figures = session.shared::<BlockFigures>(layer)?;
    let (head_dim, profile) = (session.model()?.config().head_dim, session.model()?.profile());
    let limits = limits::injected(profile);
    let (mut attention, mut mlp) = (Part::default(), Part::default());
    let mut by_head: Vec<Vec<f64>> = Vec::new();
    for run in &figures.runs {
        let golden = &run.golden.layers[layer];
        let (y, b, r) = (&run.block, &golden.b, &golden.injected);
        let yardstick = BlockYardstick::of(golden, profile)?;
        attention.add(&y.attn_out, yardstick.attn_out, &b.attn_out, &r.attn_out)?;
        mlp.add(&y.mlp_out, yardstick.mlp_out, &b.mlp_out, &r.mlp_out)?;
        let errors =
            relative_errors_by_head(&y.attn_ctx, yardstick.attn_ctx, &r.attn_ctx, head_dim)?;
        by_head.resize_with(errors.len(), Vec::new);
        for (head, errors) in by_head.iter_mut().zip(errors) {
            head.extend(errors);
        }
    }
    let mut metrics = attention.metrics("attn_out", limits)?;
    metrics.extend(mlp.metrics("mlp_out", limits)?);
    let mut medians = Vec::new();
    for errors in &by_head {
        medians.push(pooled(errors)?.median);
    }
    let median = pooled(&medians)?.max;
    let head =
        medians.iter().position(|other| other.total_cmp(&median).is_eq()).unwrap_or_default();
    metrics.push(
        Metric::new("worst_head_error", median, Unit::Ratio, Direction::Lower)
            .on("attn_ctx")
            .limited(limits.head_median),
    );
    metrics.push(
        Metric::new("worst_head", head as f64, Unit::Count, Direction::Neutral).on("attn_ctx"),
    );
    Ok(Measured::of(metrics))
}

/// One part of the block, pooled over prompts.
#[derive(Default)]
struct Part {
    relative: Vec<f64>,
    relative_to_bf16: Vec<f64>,
    slopes: Vec<f64>,
}

impl Part {
    fn add(&mut self, y: &Tensor, yardstick: &Tensor, b: &Tensor, r: &Tensor) -> Result<(), Stop> {
        self.relative.extend(relative_errors(y, yardstick, r)?);
        self.relative_to_bf16.extend(relative_errors(y, b, r)?);
        // The slope of a whole tensor would depend on nothing but the one position
        // with massive activations.
        let rows = figures_by_slice(y, r, Axis::Row)?;
        self.slopes.extend(rows.iter().map(|row| row.slope));
        Ok(())
    }

    fn metrics(&self, slice: &str, limits: limits::InjectedLimits) -> Result<Vec<Metric>, Stop> {
        let relative = pooled(&self.relative)?;
        let slope = pooled(&self.slopes)?.median;
        let ratio =
            |name: &str, value| Metric::new(name, value, Unit::Ratio, Direction::Lower).on(slice);
        Ok(vec![
            ratio("relative_error_median", relative.median).limited(limits.median),
            ratio("relative_error_p95", relative.p95).limited(limits.p95),
            Metric::new("slope_error", (slope - 1.0).abs(), Unit::ScaleError, Direction::Lower)
                .on(slice)
                .limited(limits::SLOPE),
            ratio("bf16_relative_error_median", pooled(&self.relative_to_bf16)?.median),
        ])
    }
}

fn pooled(values: &[f64]) -> Result<Distribution, Stop> {
    Distribution::of(values).ok_or_else(|| Stop::Invalid("no position was compared".to_owned()))
}
