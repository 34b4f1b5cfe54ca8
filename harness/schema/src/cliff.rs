//! Cliffs in a layer table, which show where an error begins.

/// A step in the median per-position cosine from one layer to the next that is
/// called a cliff. MLIR-AIR's rule.
pub const CLIFF: f64 = 0.05;

/// The layers at which a sequence of values steps by more than [`CLIFF`], with
/// the values before and after. A step to or from NaN is a cliff too.
pub fn cliffs(layers: &[(String, f64)]) -> impl Iterator<Item = (&str, f64, f64)> {
    layers.windows(2).filter_map(|pair| {
        let (before, (layer, after)) = (pair[0].1, &pair[1]);
        let is_level = (after - before).abs() <= CLIFF;
        (!is_level).then_some((layer.as_str(), before, *after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cliff_is_a_step_beyond_the_rule_or_a_nan() {
        let layers: Vec<_> = [0.999, 0.96, 0.90, f64::NAN]
            .into_iter()
            .enumerate()
            .map(|(layer, value)| (format!("layer{layer:02}"), value))
            .collect();
        let names: Vec<_> = cliffs(&layers).map(|(layer, ..)| layer).collect();
        assert_eq!(names, ["layer02", "layer03"]);
    }
}
