//! Where a model drifts: the figures of `layers::drift` as a table by layer,
//! its cliffs and its lowest layer. A lens, never a verdict.

use super::table::{Align, Table};
use npugate_schema::{CLIFF, Metric, Record, Unit, cliffs};
use std::fmt::Write;

/// The test that measures each layer.
pub const DRIFT: &str = "layers::drift";

/// The figure in which cliffs are looked for.
const COSINE: &str = "cosine_median";

/// The report on a model's drift; `None` if the record has no figures by layer.
pub fn report(model: &str, record: &Record) -> Option<String> {
    let (layers, others) =
        slices(&record.metrics).into_iter().partition::<Vec<_>, _>(|(slice, _)| is_layer(slice));
    if layers.is_empty() {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for metric in layers.iter().flat_map(|(_, metrics)| metrics) {
        if !names.contains(&metric.name.as_str()) {
            names.push(&metric.name);
        }
    }
    // Slices after the layers that are measured in the same way.
    let (after, others) = others.into_iter().partition::<Vec<_>, _>(|(_, metrics)| {
        metrics.iter().all(|metric| names.contains(&metric.name.as_str()))
    });
    let columns = names.iter().map(|name| (*name, Align::Right));
    let mut table = Table::new([("layer", Align::Left)].into_iter().chain(columns));
    for (slice, metrics) in layers.iter().chain(&after) {
        let cell = |name: &&str| {
            let metric = metrics.iter().find(|metric| metric.name == **name);
            metric.map_or_else(String::new, |metric| value(metric))
        };
        table.row([(*slice).to_owned()].into_iter().chain(names.iter().map(cell)).collect());
    }
    let mut text = format!("{model}: {DRIFT}\n{table}");
    for metric in others.iter().flat_map(|(_, metrics)| metrics) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}", metric.key(), value(metric));
    }
    let cosine = |(slice, metrics): &(&str, Vec<&Metric>)| {
        let metric = metrics.iter().find(|metric| metric.name == COSINE)?;
        Some(((*slice).to_owned(), metric.value))
    };
    // As in the gate, a cliff may be at the last step too.
    let cosines: Vec<_> = layers.iter().chain(&after).filter_map(cosine).collect();
    text += &findings(&cosines);
    Some(text)
}

/// The cliffs and the lowest layer, in words.
fn findings(cosines: &[(String, f64)]) -> String {
    let mut text = String::new();
    for (below, before, after) in cliffs(cosines) {
        let above = cosines.windows(2).find(|pair| pair[1].0 == below);
        let above = above.map_or("", |pair| &pair[0].0);
        let step = after - before;
        let _ = writeln!(
            text,
            "cliff: {COSINE} goes from {before:.6} in {above} to {after:.6} in {below} ({step:+.6})"
        );
    }
    if text.is_empty() && !cosines.is_empty() {
        let _ = writeln!(text, "no cliff: {COSINE} never steps by more than {CLIFF}");
    }
    // NaN is lower than any cosine.
    let key = |value: f64| if value.is_nan() { f64::NEG_INFINITY } else { value };
    let layers = cosines.iter().filter(|(slice, _)| is_layer(slice));
    if let Some((layer, value)) = layers.min_by(|a, b| key(a.1).total_cmp(&key(b.1))) {
        let _ = writeln!(text, "lowest: {layer} with {COSINE} {value:.6}");
    }
    text
}

/// The metrics by slice, in order of appearance; those of the whole have an empty name.
fn slices(metrics: &[Metric]) -> Vec<(&str, Vec<&Metric>)> {
    let mut slices: Vec<(&str, Vec<&Metric>)> = Vec::new();
    for metric in metrics {
        let slice = metric.slice.as_deref().unwrap_or_default();
        match slices.iter_mut().find(|(name, _)| *name == slice) {
            Some((_, metrics)) => metrics.push(metric),
            None => slices.push((slice, vec![metric])),
        }
    }
    slices
}

fn is_layer(slice: &str) -> bool {
    let digits = slice.strip_prefix("layer").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn value(metric: &Metric) -> String {
    match metric.unit {
        Unit::Cosine => format!("{:.6}", metric.value),
        Unit::Count => format!("{:.0}", metric.value),
        Unit::Decibel => format!("{:.1}", metric.value),
        _ if metric.value.abs() >= 1e-2 && metric.value.abs() < 1e4 => {
            format!("{:.3}", metric.value)
        }
        _ if metric.value == 0.0 => "0".to_owned(),
        _ => format!("{:.2e}", metric.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npugate_schema::{Direction, Outcome};

    /// These cosines by layer, and one after the layers.
    fn drift(cosines: &[f64], after: f64) -> Record {
        let mut metrics = Vec::new();
        for (layer, &cosine) in cosines.iter().enumerate() {
            let slice = format!("layer{layer:02}");
            let cosine = Metric::new(COSINE, cosine, Unit::Cosine, Direction::Neutral);
            metrics.push(cosine.on(&slice));
            let max_abs = Metric::new("max_abs", 0.125, Unit::Absolute, Direction::Neutral);
            metrics.push(max_abs.on(&slice));
        }
        if !cosines.is_empty() {
            let cosine = Metric::new(COSINE, after, Unit::Cosine, Direction::Neutral);
            metrics.push(cosine.on("final"));
            let max_abs = Metric::new("max_abs", 0.5, Unit::Absolute, Direction::Neutral);
            metrics.push(max_abs.on("final"));
        }
        metrics.push(Metric::new("positions", 12.0, Unit::Count, Direction::Neutral));
        Record::new(DRIFT, Outcome::Passed, "").measured(metrics)
    }

    #[test]
    fn each_layer_is_a_row_and_each_metric_a_column() {
        let report = report("tiny", &drift(&[0.999, 0.998], 0.9985)).unwrap();
        assert_eq!(
            report,
            "tiny: layers::drift
layer    cosine_median  max_abs
layer00       0.999000    0.125
layer01       0.998000    0.125
final         0.998500    0.500
positions: 12
no cliff: cosine_median never steps by more than 0.05
lowest: layer01 with cosine_median 0.998000
"
        );
    }

    #[test]
    fn a_step_beyond_a_twentieth_is_a_cliff() {
        let report = report("tiny", &drift(&[0.99, 0.95, 0.89, f64::NAN], f64::NAN)).unwrap();
        assert!(!report.contains("in layer00 to"), "{report}");
        assert!(
            report.contains(
                "cliff: cosine_median goes from 0.950000 in layer01 to 0.890000 in layer02 (-0.060000)"
            ),
            "{report}"
        );
        assert!(report.contains("0.890000 in layer02 to NaN in layer03"), "{report}");
        assert!(report.contains("lowest: layer03"), "{report}");
    }

    #[test]
    fn a_slice_after_the_layers_may_be_a_cliff_but_is_not_a_layer() {
        let report = report("tiny", &drift(&[0.999, 0.998], 0.9)).unwrap();
        assert!(
            report.contains("0.998000 in layer01 to 0.900000 in final (-0.098000)"),
            "{report}"
        );
        assert!(report.contains("lowest: layer01 with cosine_median 0.998000"), "{report}");
    }

    #[test]
    fn a_record_without_layers_has_no_report() {
        assert_eq!(report("tiny", &drift(&[], 0.0)), None);
    }
}
