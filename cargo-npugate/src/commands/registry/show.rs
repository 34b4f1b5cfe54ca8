//! Rows in full, and the best row of a shape.

use crate::error::Error;
use crate::shell;
use npugate_kernels::{
    DType,
    registry::{Figures, Registry, Row, Shape, Tier},
};
use npugate_schema::ExitCode;

/// How similar a name must be to be suggested.
const CLOSE: f32 = 0.6;
/// How many names are suggested.
const SUGGESTIONS: usize = 3;

/// Shows the rows of one name, one for each device and toolchain.
pub(super) fn run(registry: &Registry, name: &str) -> Result<ExitCode, Error> {
    let rows: Vec<_> = registry.rows().iter().filter(|row| row.name() == name).collect();
    if rows.is_empty() {
        let nearest = nearest(registry, name);
        return Err(Error::NoTests(format!("no row is called `{name}`{nearest}")));
    }
    shell::print_data(full(&rows))?;
    Ok(ExitCode::Ok)
}

/// Shows the best configuration that was measured for a shape.
pub(super) fn best(
    registry: &Registry,
    shape: &Shape,
    output: DType,
    tier: Tier,
) -> Result<ExitCode, Error> {
    let row = registry
        .best(shape, output, tier)
        .map_err(|unmeasured| Error::NoTests(unmeasured.to_string()))?;
    shell::print_data(full(&[row]))?;
    Ok(ExitCode::Ok)
}

/// The nearest names, as the end of a sentence.
pub(super) fn nearest(registry: &Registry, name: &str) -> String {
    let mut names: Vec<_> = registry.rows().iter().map(Row::name).collect();
    names.dedup();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    match similar::get_close_matches(name, &names, SUGGESTIONS, CLOSE).as_slice() {
        [] => "; `cargo npugate registry` lists them".to_owned(),
        close => format!("; the nearest are {}", close.join(", ")),
    }
}

/// `8508 GFLOP/s`, `36.0 GB/s`.
pub(super) fn speed(figures: &Figures) -> Option<String> {
    let gflops = figures.gflops.map(|figure| format!("{} GFLOP/s", figure.0));
    gflops.or_else(|| figures.gbps.map(|figure| format!("{} GB/s", figure.0)))
}

/// Rows in full, with an empty line between them.
pub(super) fn full(rows: &[&Row]) -> String {
    rows.iter().map(|row| lines(row)).collect::<Vec<_>>().join("\n")
}

fn lines(row: &Row) -> String {
    let mut lines = vec![row.name()];
    let mut line = |name: &str, value: String| lines.push(format!("  {name:<12} {value}"));
    if let Some(tier) = row.tier() {
        let best = if row.best_for.is_some() { ", the fastest of its tier" } else { "" };
        line("tier", format!("{tier}{best}"));
    }
    match &row.tiling {
        Some(tiling) => line("tiling", format!("{tiling}, {}", parts(tiling))),
        None => line("tiling", "left to the build".to_owned()),
    }
    if let (Some(tiling), Ok(op)) = (&row.tiling, row.op()) {
        line(
            "legal",
            match tiling.check(&op) {
                Ok(()) => "yes, by every rule".to_owned(),
                Err(illegal) => format!("no: {illegal}"),
            },
        );
    }
    for (name, figure) in row.figures.iter().filter(|(name, _)| !["gflops", "gbps"].contains(name))
    {
        line(name, figure.to_string());
    }
    if let Some(speed) = speed(&row.figures) {
        line("speed", speed);
    }
    if !row.used_by.is_empty() {
        line("used by", row.used_by.join(", "));
    }
    let measured = &row.measured;
    line(
        "measured",
        format!("on {} with {}, {}", measured.device, measured.toolchain, measured.date),
    );
    line("source", measured.source.clone());
    lines.join("\n") + "\n"
}

/// `tile_m 64, tile_k_l2 256, ..., herd 8x4`: a tiling by the names of its parts.
fn parts(tiling: &npugate_kernels::Tiling) -> String {
    use serde_json::Value;
    // `{"gemm": {"tile_m": 64, ...}}`
    let json = serde_json::to_value(tiling).unwrap_or_default();
    let parts = json.as_object().and_then(|kinds| kinds.values().next()).and_then(Value::as_object);
    let text = |value: &Value| match value {
        Value::Array(extents) => {
            extents.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
        }
        other => other.to_string(),
    };
    let parts = parts.into_iter().flatten().map(|(name, value)| format!("{name} {}", text(value)));
    parts.collect::<Vec<_>>().join(", ")
}
