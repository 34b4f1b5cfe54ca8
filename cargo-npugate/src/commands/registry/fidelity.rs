//! Comparing the emulated NPU with silicon, row by row.

use super::show;
use crate::cli::MessageFormat;
use crate::config::{Config, Fidelity};
use crate::error::Error;
use crate::files::FileError;
use crate::report::table::{Align, Table};
use crate::shell::{self, Shell, Tone};
use crate::text;
use npugate_kernels::{
    fidelity::{self, RowResult, Standing, Summary},
    registry::{Registry, Row},
};
use npugate_schema::{ExitCode, write_atomically};
use serde::Serialize;
use std::io;

/// Measures the selected rows and prints the comparison.
pub(super) fn run(task: &Fidelity, config: &Config, shell: &mut Shell) -> Result<ExitCode, Error> {
    let registry = Registry::published();
    let rows = select(registry, task)?;
    let options = fidelity::Options {
        functions: task.functions.clone(),
        toolchain: task.toolchain,
        python: config.environment.python(),
        ..fidelity::Options::default()
    };
    let arithmetic: Vec<_> = std::iter::once(format!("rounding {}", task.toolchain))
        .chain(task.functions.replaced().map(|(name, choice)| format!("{name} {choice}")))
        .collect();
    let count = text::count(rows.len(), "row");
    shell.status(
        Tone::Good,
        "Measuring",
        format_args!("{count} on the emulated NPU, {}", arithmetic.join(", ")),
    );
    let mut done = 0;
    let summary = fidelity::run(&rows, &options, |row| {
        done += 1;
        if row.standing.is_failure() {
            shell.status_always(Tone::Bad, "MISS", format_args!("{}: {}", row.name, row.standing));
        }
        shell.live("Measured", &format!("{done}/{}: {}", rows.len(), row.name));
    })?;
    match task.format {
        MessageFormat::Human => shell::print_data(table(&summary))?,
        MessageFormat::Json => {
            let rows: Vec<_> = summary.rows.iter().map(Printed::of).collect();
            let text = serde_json::to_string_pretty(&rows).map_err(io::Error::from)?;
            shell::print_data(text + "\n")?;
        }
    }
    let failures = summary.failures().count();
    let known = summary.rows.len() - failures - count_within(&summary);
    let tone = if failures == 0 { Tone::Good } else { Tone::Bad };
    let message = format!(
        "{count} in {}: {} within the band, {known} known to miss, {failures} not as expected",
        text::duration(summary.took.as_secs_f64()),
        count_within(&summary),
    );
    shell.status_always(tone, "Summary", message);
    if let Some(path) = &task.write {
        let date = crate::commands::today().to_string();
        write_atomically(path, fidelity::document(&summary, &date).as_bytes())
            .map_err(|source| FileError::Write { path: path.clone(), source })?;
        shell.status(Tone::Good, "Wrote", path.display());
    }
    Ok(if failures == 0 { ExitCode::Ok } else { ExitCode::TestsFailed })
}

/// The rows that can be compared and whose names match.
fn select<'a>(registry: &'a Registry, task: &Fidelity) -> Result<Vec<&'a Row>, Error> {
    let mut rows = fidelity::rows(registry, task.effort);
    let matches = |name: &str| task.filters.iter().any(|filter| name.contains(filter.as_str()));
    rows.retain(|row| task.filters.is_empty() || matches(&row.name()));
    if rows.is_empty() {
        let nearest = match task.filters.as_slice() {
            [name] => show::nearest(registry, name),
            _ => String::new(),
        };
        let filters: Vec<_> = task.filters.iter().map(|text| format!("`{text}`")).collect();
        return Err(Error::NoTests(format!(
            "no published row matches {}{nearest}",
            filters.join(" or ")
        )));
    }
    Ok(rows)
}

fn count_within(summary: &Summary) -> usize {
    let within = |row: &&RowResult| row.standing == Standing::Within;
    summary.rows.iter().filter(within).count()
}

fn table(summary: &Summary) -> String {
    let mut table = Table::new([
        ("row", Align::Left),
        ("silicon", Align::Right),
        ("emulated", Align::Right),
        ("band", Align::Right),
        ("standing", Align::Left),
    ]);
    for row in &summary.rows {
        let published = row.published.mean_rel_l1;
        table.row(vec![
            row.name.clone(),
            published.map_or_else(String::new, |figure| figure.to_string()),
            format!("{:.3e}", row.found.mean_rel_l1),
            row.band.to_string(),
            row.standing.to_string(),
        ]);
    }
    table.to_string()
}

/// A row's comparison as JSON.
#[derive(Serialize)]
struct Printed<'a> {
    name: &'a str,
    published_mean_rel_l1: Option<f64>,
    mean_rel_l1: f64,
    max_rel: f64,
    max_abs: f64,
    band: String,
    standing: String,
    as_expected: bool,
    seconds: f64,
}

impl<'a> Printed<'a> {
    fn of(row: &'a RowResult) -> Self {
        Self {
            name: &row.name,
            published_mean_rel_l1: row.published.mean_rel_l1.map(|figure| figure.0),
            mean_rel_l1: row.found.mean_rel_l1,
            max_rel: row.found.max_rel,
            max_abs: row.found.max_abs,
            band: row.band.to_string(),
            standing: row.standing.to_string(),
            as_expected: !row.standing.is_failure(),
            seconds: row.took.as_secs_f64(),
        }
    }
}
