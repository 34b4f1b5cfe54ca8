//! Listing rows.

use super::show;
use crate::cli::MessageFormat;
use crate::error::Error;
use crate::report::table::{Align, Table};
use crate::shell;
use crate::text;
use npugate_kernels::{
    Kernel, Tiling,
    registry::{Figures, Measured, Registry, Row, Target, Tier},
};
use npugate_schema::ExitCode;
use serde::Serialize;
use std::io;

/// Which rows to list.
pub(super) struct Which<'a> {
    pub(super) filters: &'a [String],
    pub(super) kernel: Option<Kernel>,
    pub(super) target: Option<Target>,
}

/// Lists rows on stdout, or shows the one whose name was given in full.
pub(super) fn run(
    registry: &Registry,
    which: &Which<'_>,
    format: MessageFormat,
) -> Result<ExitCode, Error> {
    let rows = select(registry, which);
    if rows.is_empty() {
        return Err(Error::NoTests(no_row(registry, which)));
    }
    match format {
        MessageFormat::Json => {
            let rows: Vec<_> = rows.iter().map(|row| Printed::of(row)).collect();
            let text = serde_json::to_string_pretty(&rows).map_err(io::Error::from)?;
            shell::print_data(text + "\n")?;
        }
        MessageFormat::Human => match which.filters {
            [name] if rows.iter().all(|row| row.name() == *name) => {
                shell::print_data(show::full(&rows))?;
            }
            _ => shell::print_data(table(&rows))?,
        },
    }
    Ok(ExitCode::Ok)
}

fn select<'a>(registry: &'a Registry, which: &Which<'_>) -> Vec<&'a Row> {
    // A whole name selects only that row, even if longer names contain it.
    let exact: Vec<_> = match which.filters {
        [name] => registry.rows().iter().filter(|row| row.name() == *name).collect(),
        _ => Vec::new(),
    };
    let mut rows = if exact.is_empty() { registry.matching(which.filters) } else { exact };
    rows.retain(|row| which.kernel.is_none_or(|kernel| row.shape.kernel() == kernel));
    rows.retain(|row| which.target.is_none_or(|target| row.measured.device == target));
    rows
}

fn no_row(registry: &Registry, which: &Which<'_>) -> String {
    let asked = which.filters.iter().map(|text| format!("`{text}`"));
    let kernel = which.kernel.map(|kernel| format!("kernel `{kernel}`"));
    let target = which.target.map(|target| format!("device `{target}`"));
    let asked: Vec<_> = asked.chain(kernel).chain(target).collect();
    let nearest = match which.filters {
        [name] => show::nearest(registry, name),
        _ => String::new(),
    };
    format!("no row matches {}{nearest}", asked.join(" and "))
}

/// One line for each row, cut at the width of the terminal.
fn table(rows: &[&Row]) -> String {
    let columns = ["row", "tiling", "speed", "mean_rel_l1", "device", "used by"];
    let numbers = ["speed", "mean_rel_l1"];
    let mut table = Table::new(
        columns
            .map(|name| (name, if numbers.contains(&name) { Align::Right } else { Align::Left })),
    );
    for row in rows {
        let best = if row.best_for.is_some() { " *" } else { "" };
        table.row(vec![
            row.name() + best,
            row.tiling.map_or_else(String::new, |tiling| tiling.to_string()),
            show::speed(&row.figures).unwrap_or_default(),
            row.figures.mean_rel_l1.map_or_else(String::new, |figure| figure.to_string()),
            row.measured.device.to_string(),
            row.used_by.join(", "),
        ]);
    }
    let text = table.to_string();
    let Some(width) = shell::stdout_width() else { return text };
    text.lines().map(|line| text::fit(line, width) + "\n").collect()
}

/// A row as JSON, with its name.
#[derive(Serialize)]
struct Printed<'a> {
    name: String,
    kernel: &'static str,
    tier: Option<Tier>,
    tiling: Option<&'a Tiling>,
    figures: &'a Figures,
    best_for: Option<Tier>,
    used_by: &'a [String],
    measured: &'a Measured,
}

impl<'a> Printed<'a> {
    fn of(row: &'a Row) -> Self {
        Self {
            name: row.name(),
            kernel: row.shape.kernel().name(),
            tier: row.tier(),
            tiling: row.tiling.as_ref(),
            figures: &row.figures,
            best_for: row.best_for,
            used_by: &row.used_by,
            measured: &row.measured,
        }
    }
}
