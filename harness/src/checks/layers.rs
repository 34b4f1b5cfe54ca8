//! The layer lens: how the residual stream drifts from the reference, layer by
//! layer, when the whole stack runs freely. It shows where an error begins, but only
//! finiteness decides.

use crate::measured::{CheckResult, Measured, Stop};
use crate::metrics::{
    Distribution, compare, find_non_finite, per_position_cosine, relative_errors,
};
use crate::schema::{Direction, Metric, Unit, cliffs};
use crate::session::{Session, Shared};
use crate::{LogitRows, Prefill, Probe, Tensor};

/// The whole stack on one diagnosis prompt.
struct Stack(Prefill);

impl Shared for Stack {
    fn compute(session: &mut Session, index: usize) -> Result<Self, Stop> {
        let prompt = session.prompt(index)?;
        let layers = session.model()?.config().n_layers;
        let probe = Probe { hidden: true, logits: LogitRows::Last };
        let prefill = session.runner()?.prefill(&prompt.ids, probe)?;
        if prefill.hidden.len() != layers || prefill.final_norm.is_none() {
            return Err(Stop::Fail(format!(
                "prefill returned {} hidden states for {layers} layers and the final norm",
                prefill.hidden.len() + usize::from(prefill.final_norm.is_some())
            )));
        }
        Ok(Self(prefill))
    }
}

/// Checks that every hidden state of every diagnosis prompt is finite.
pub(super) fn finite(session: &mut Session) -> CheckResult {
    let mut values = 0;
    for index in session.diagnosis_prompts()? {
        let stack = session.shared::<Stack>(index)?;
        let Stack(prefill) = &*stack;
        let stages = prefill.hidden.iter().chain(&prefill.final_norm);
        for (layer, hidden) in stages.enumerate() {
            values += hidden.len();
            if let Some(found) = find_non_finite(hidden) {
                let stage = if layer == prefill.hidden.len() {
                    "the final norm".to_owned()
                } else {
                    format!("layer {layer}")
                };
                return Err(Stop::Fail(format!("the output of {stage}: {found}")));
            }
        }
        if let Some(found) = find_non_finite(&prefill.logits) {
            return Err(Stop::Fail(format!("the logits: {found}")));
        }
    }
    Ok(Measured::default().noted(format!("{values} values are finite")))
}

/// One row of the table, pooled over the diagnosis prompts.
#[derive(Default)]
struct Row {
    cosines: Vec<f64>,
    relative: Vec<f64>,
    /// One value for each prompt, as in the two fields below.
    whole_cosines: Vec<f64>,
    max_abs: Vec<f64>,
    max_rel: Vec<f64>,
}

impl Row {
    fn add(&mut self, y: &Tensor, b: &Tensor, r: &Tensor) -> Result<(), Stop> {
        let errors = compare(y, b)?;
        self.cosines.extend(per_position_cosine(y, b)?);
        self.relative.extend(relative_errors(y, b, r)?);
        self.whole_cosines.push(errors.cosine);
        self.max_abs.push(errors.max_abs);
        self.max_rel.push(errors.max_rel);
        Ok(())
    }
}

/// The layer table, with its cliffs named.
pub(super) fn drift(session: &mut Session) -> CheckResult {
    let layers = session.model()?.config().n_layers;
    let mut rows: Vec<Row> = (0..=layers).map(|_| Row::default()).collect();
    for index in session.diagnosis_prompts()? {
        let golden = session.layer_golden(index)?;
        let stack = session.shared::<Stack>(index)?;
        let Stack(prefill) = &*stack;
        for ((row, y), golden) in rows.iter_mut().zip(&prefill.hidden).zip(&golden.layers) {
            row.add(y, &golden.b.hidden, &golden.r_hidden)?;
        }
        if let (Some(row), Some(y)) = (rows.last_mut(), &prefill.final_norm) {
            row.add(y, &golden.b_final, &golden.r_final)?;
        }
    }
    let mut metrics = Vec::new();
    let mut medians = Vec::new();
    for (layer, row) in rows.iter().enumerate() {
        let slice = if layer == layers { "final".to_owned() } else { format!("layer{layer:02}") };
        let distribution = |values: &[f64]| {
            Distribution::of(values)
                .ok_or_else(|| Stop::Invalid(format!("{slice} was not compared")))
        };
        let cosine = distribution(&row.cosines)?;
        let relative = distribution(&row.relative)?;
        medians.push((slice.clone(), cosine.median));
        let higher = |name: &str, value| {
            Metric::new(name, value, Unit::Cosine, Direction::Higher).on(&slice)
        };
        let lower =
            |name: &str, value, unit| Metric::new(name, value, unit, Direction::Lower).on(&slice);
        metrics.extend([
            higher("cosine_min", cosine.min),
            higher("cosine_p5", cosine.p5),
            higher("cosine_median", cosine.median),
            higher("cosine_whole", distribution(&row.whole_cosines)?.min),
            lower("max_abs", distribution(&row.max_abs)?.max, Unit::Absolute),
            Metric::new(
                "max_rel",
                distribution(&row.max_rel)?.max,
                Unit::Ratio,
                Direction::Neutral,
            )
            .on(&slice),
            lower("relative_error_median", relative.median, Unit::Ratio),
        ]);
    }
    Ok(Measured::of(metrics).noted(describe(&medians)))
}

fn describe(medians: &[(String, f64)]) -> String {
    let lowest = medians.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let lowest = lowest.map_or(String::new(), |(slice, median)| {
        format!("lowest median cosine {} at {slice}", Unit::Cosine.format(*median))
    });
    let cliffs: Vec<_> = cliffs(medians)
        .map(|(layer, from, to)| {
            let (from, to) = (Unit::Cosine.format(from), Unit::Cosine.format(to));
            format!("{layer} ({from} to {to})")
        })
        .collect();
    if cliffs.is_empty() {
        format!("{lowest}, no cliff")
    } else {
        format!("{lowest}, cliffs at {}", cliffs.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cliff_is_named_by_its_layer_and_nan_is_a_cliff() {
        let rows = |values: &[f64]| -> Vec<(String, f64)> {
            let rows = values.iter().enumerate();
            rows.map(|(layer, value)| (format!("layer{layer:02}"), *value)).collect()
        };
        assert_eq!(
            describe(&rows(&[0.999, 0.998])),
            "lowest median cosine 0.998 at layer01, no cliff"
        );
        assert_eq!(
            describe(&rows(&[0.999, 0.93, 0.92])),
            "lowest median cosine 0.92 at layer02, cliffs at layer01 (0.999 to 0.93)"
        );
        assert!(describe(&rows(&[0.999, f64::NAN])).contains("cliffs at layer01"));
    }
}
