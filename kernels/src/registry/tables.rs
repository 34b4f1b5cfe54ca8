//! The registry as a document.

use std::fmt::Write;

use super::{Registry, Row};
use crate::{
    kernel::KernelSpec,
    op::{Kernel, with_kernel},
    tiling::{Rule, kind::TilingType},
};

const INTRODUCTION: &str = "\
# Measured kernels and shapes

What is known of each kernel and shape: the tiling it was built with, its accuracy and its speed.
Written by `NPUGATE_UPDATE_DOCS=1 cargo test -p npugate-kernels --lib registry` from the JSON files
beside it; a test checks that they agree.

- `KERNEL.json`: the rows, one a line, in the format of `schema.json`. Every load checks that shapes
  and tilings are legal, figures are finite, and rows are sorted and unique. The published rows are
  those of the kernel registry of Xilinx/mlir-air at e972f294 (2026-08-22), measured on NPU2
  silicon.
- How far an output may be from its f32 reference is in each kernel's file, `../src/kernels/`.

`mean_rel_l1` is mean(abs(y - r)) / mean(abs(r)), `max_rel` the largest abs(y - r) / abs(r),
`max_abs` the largest abs(y - r), with y the output and r the f32 reference, narrowed for bf16
outputs. Speeds are GFLOP/s, or GB/s for the kernels that move more than they compute. A row that is
*best for* a tier is the fastest method that was measured for its shape and output type. Rows of the
emulator (`emu`) show how accurate a kernel is, never how fast, and are never the answer to what to
build a shape with.
";

impl Registry {
    /// The whole registry in Markdown: a table for each kernel, and the rules of tilings.
    pub fn document(&self) -> String {
        let mut text = String::from(INTRODUCTION);
        for kernel in Kernel::ALL {
            let rows: Vec<&Row> =
                self.rows.iter().filter(|row| row.shape.kernel() == kernel).collect();
            if rows.is_empty() {
                continue;
            }
            let count = rows.len();
            let noun = if count == 1 { "row" } else { "rows" };
            let _ = write!(text, "\n## {} ({count} {noun})\n\n{}", kernel.name(), table(&rows));
        }
        text.push_str("\n## Rules of tilings\n\n");
        text.push_str(&rules());
        text
    }
}

/// Rows of one kernel as a Markdown table.
fn table(rows: &[&Row]) -> String {
    let Some(kernel) = rows.first().map(|row| row.shape.kernel()) else { return String::new() };
    let mut text = format!(
        "| row | {} | speed | mean_rel_l1 | max_rel | max_abs | best for | used by | measured |\n\
         |---|---|---|---|---|---|---|---|---|\n",
        with_kernel!(kernel, Spec => <Spec as KernelSpec>::Tiling::PARTS)
    );
    for row in rows {
        let figures = &row.figures;
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let figure = |figure: Option<super::Figure>| or_dash(figure.map(|f| f.to_string()));
        let cells = [
            format!("`{}`", row.name()),
            or_dash(row.tiling.map(|tiling| tiling.to_string())),
            or_dash(figures.speed().map(|speed| speed.0.to_string())),
            figure(figures.mean_rel_l1),
            figure(figures.max_rel),
            figure(figures.max_abs),
            or_dash(row.best_for.map(|tier| tier.to_string())),
            row.used_by.join(", ").replace('|', "\\|"),
            format!("{} {} {}", row.measured.device, row.measured.toolchain, row.measured.date),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// The rules that a tiling must keep, as a Markdown table.
fn rules() -> String {
    let mut text = String::from("| rule | what, why, and source |\n|---|---|\n");
    for rule in Rule::ALL {
        let _ = writeln!(text, "| `{rule}` | {} |", rule.explain());
    }
    text
}

#[test]
fn the_committed_tables_are_those_of_the_rows() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("registry");
    let all = Registry::load(&folder).unwrap();
    npugate_documents::document!("registry/README.md").check(&all.document());
}
