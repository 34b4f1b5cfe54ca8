//! The device against itself. These checks need no goldens, and catch what the token
//! gates miss, such as a KV slot that is written one position off.

use super::forced::{Forced, forced_tokens};
use crate::measured::{CheckResult, Measured, Stop};
use crate::metrics::{Distribution, per_position_cosine};
use crate::schema::{Direction, Metric, Unit};
use crate::session::Session;
use crate::{Kv, LogitRows, Probe, Tensor, limits};

/// Compares the KV cache that decode wrote with the one that the device's own prefill
/// writes for the same tokens, over the decoded positions.
pub(super) fn kv_cache(session: &mut Session) -> CheckResult {
    let prompt = 0;
    let golden = session.token_golden(prompt)?;
    let layers = session.model()?.config().n_layers;
    // A forced pass of another prompt may have overwritten the cache.
    session.forget::<Forced>(prompt);
    session.shared::<Forced>(prompt)?;
    let decoded = caches(session, layers)?;
    let probe = Probe { hidden: false, logits: LogitRows::Last };
    session.runner()?.prefill(&forced_tokens(&golden), probe)?;
    let prefilled = caches(session, layers)?;

    let first = golden.prompt_ids.len();
    let mut by_layer = Vec::new();
    for (layer, (decoded, prefilled)) in decoded.iter().zip(&prefilled).enumerate() {
        let mut cosines = Vec::new();
        let pairs = [(&decoded.keys, &prefilled.keys), (&decoded.values, &prefilled.values)];
        for (y, r) in pairs {
            let rows = per_position_cosine(y, r)?;
            cosines.extend_from_slice(rows.get(first..).unwrap_or_default());
        }
        let distribution = Distribution::of(&cosines).ok_or_else(|| {
            Stop::Invalid(format!("layer {layer} has no decoded positions to compare"))
        })?;
        by_layer.push(distribution);
    }
    let [first_layer, ..] = by_layer.as_slice() else {
        return Err(Stop::Invalid("the model has no layers".to_owned()));
    };
    let medians: Vec<_> = by_layer.iter().map(|layer| layer.median).collect();
    // A distribution keeps a NaN; a running minimum would lose it.
    let worst_median = Distribution::of(&medians).map_or(f64::NAN, |medians| medians.min);
    let limits = limits::kv_cache(session.model()?.profile());
    let metric = |name: &str, value| Metric::new(name, value, Unit::Cosine, Direction::Higher);
    Ok(Measured::of(vec![
        metric("cosine_min", first_layer.min).on("layer00").limited(limits.first_layer),
        metric("worst_layer_median", worst_median).limited(limits.worst_median),
    ]))
}

fn caches(session: &mut Session, layers: usize) -> Result<Vec<Kv>, Stop> {
    let runner = session.runner()?;
    (0..layers).map(|layer| Ok(runner.kv(layer)?)).collect()
}

/// Checks that two prefills of one prompt give the same bits.
pub(super) fn run_to_run(session: &mut Session) -> CheckResult {
    let prompt = session.prompt(0)?;
    let probe = Probe { hidden: true, logits: LogitRows::Last };
    let first = session.runner()?.prefill(&prompt.ids, probe)?;
    let second = session.runner()?.prefill(&prompt.ids, probe)?;
    let tensors = |prefill: &crate::Prefill| -> Vec<Tensor> {
        let mut tensors = prefill.hidden.clone();
        tensors.push(prefill.logits.clone());
        tensors
    };
    let (first, second) = (tensors(&first), tensors(&second));
    let bits = |tensors: &[Tensor]| -> Vec<u32> {
        tensors.iter().flat_map(Tensor::values).map(|value| value.to_bits()).collect()
    };
    let (first, second) = (bits(&first), bits(&second));
    if first.is_empty() || first.len() != second.len() {
        return Err(Stop::Invalid(format!(
            "the two runs returned {} and {} values, which cannot be compared",
            first.len(),
            second.len()
        )));
    }
    let different = first.iter().zip(&second).filter(|(a, b)| a != b).count();
    Ok(Measured::of(vec![
        Metric::new("different_values", different as f64, Unit::Count, Direction::Lower)
            .limited(0.0),
    ])
    .noted(format!("{different} of {} values differ between two runs", first.len())))
}
