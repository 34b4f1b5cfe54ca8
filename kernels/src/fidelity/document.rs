//! The report as a document.

use std::fmt::Write;

use super::{Band, RowResult, Standing, Summary};
use crate::{Kernel, registry::Figure};

/// `registry/FIDELITY.md`: every row with what silicon showed, what the emulated NPU shows, the
/// band and the standing. `date` is when it was measured (ISO 8601).
pub fn document(summary: &Summary, date: &str) -> String {
    let (rows, within) = (summary.rows.len(), summary.within());
    let mut text = format!(
        "# Fidelity of the emulated NPU\n\
         \n\
         Measured on {date} with\n\
         \n\
         ```console\n\
         $ cargo npugate registry --fidelity\n\
         ```\n\
         \n\
         {within} of {rows} published rows are within their band: the emulated NPU (toolchain\n\
         `npu2-2026-06`), on the very inputs that silicon was measured on, is as far from the f32\n\
         reference as silicon was.\n\
         \n\
         The error is `mean |y - r| / mean |r|` over all outputs. Its band is 1 % of the published\n\
         figure (2 % for attention, 5 % for SiLU-and-mul and GELU, whose tanh is fitted), and half\n\
         a unit of the last digit that was printed. A GEMV has no such error except in a few\n\
         outputs, which flip by one unit of bf16's last place with the order of summation; these\n\
         flips are counted instead. The largest absolute error is shown as well, but has no band,\n\
         since it is the error of a single output.\n"
    );
    for kernel in Kernel::ALL {
        let of_kernel: Vec<&RowResult> =
            summary.rows.iter().filter(|row| row.op.kind() == kernel).collect();
        if !of_kernel.is_empty() {
            table(&mut text, kernel, &of_kernel);
        }
    }
    reasons(&mut text, &summary.rows);
    text
}

fn table(text: &mut String, kernel: Kernel, rows: &[&RowResult]) {
    let within = rows.iter().filter(|row| row.band.holds(&row.found)).count();
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n## {kernel}: {within} of {}\n\n\
         | row | silicon | emulated | band | largest error: silicon | emulated | standing |\n\
         |---|---:|---:|---|---:|---:|---|\n",
        rows.len()
    );
    for row in rows {
        let published = |figure: Option<Figure>| figure.map_or("-".into(), |f| f.to_string());
        let found = match row.band {
            Band::Error { .. } => format!("{:.3e}", row.found.mean_rel_l1),
            Band::Flips { .. } => {
                format!("{:.1e} ({} flips)", row.found.mean_rel_l1, row.found.differing)
            }
        };
        let _ = writeln!(
            text,
            "| {} | {} | {found} | {} | {} | {:.1e} | {} |",
            row.name,
            published(row.published.mean_rel_l1),
            row.band,
            published(row.published.max_abs),
            row.found.max_abs,
            row.standing,
        );
    }
}

fn reasons(text: &mut String, rows: &[RowResult]) {
    let mut known = rows.iter().filter_map(|row| match row.standing {
        Standing::KnownMiss { reason } | Standing::Stale { reason } => Some((&row.name, reason)),
        Standing::Within | Standing::Miss => None,
    });
    let Some(first) = known.next() else { return };
    text.push_str("\n## Known misses\n\n");
    for (name, reason) in std::iter::once(first).chain(known) {
        let _ = writeln!(text, "- `{name}`: {reason}");
    }
}
