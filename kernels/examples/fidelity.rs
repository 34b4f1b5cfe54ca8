//! The fidelity of the emulated NPU, row by row: `cargo run --release -p npugate-kernels --example
//! fidelity [quick|full|FILTER...]`, or `... document DATE` for `registry/FIDELITY.md` on stdout.
//! `NPUGATE_PYTHON` names the Python that draws the inputs.

use std::error::Error;

use npugate_kernels::{
    fidelity::{self, Effort, Options, RowResult},
    registry::Registry,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let registry = Registry::published();
    let rows = match *arguments {
        [] | ["full"] | ["document", _] => fidelity::rows(registry, Effort::Full),
        ["quick"] => fidelity::rows(registry, Effort::Quick),
        _ => registry.matching(&arguments),
    };
    let python = std::env::var_os("NPUGATE_PYTHON");
    let python = python.unwrap_or_else(|| Options::default().python);
    let summary = fidelity::run(&rows, &Options { python, ..Options::default() }, print)?;
    if let ["document", date] = *arguments {
        print!("{}", fidelity::document(&summary, date));
    }
    eprintln!("{} of {} within, {:.1?}", summary.within(), summary.rows.len(), summary.took);
    Ok(())
}

fn print(row: &RowResult) {
    eprintln!(
        "{:<46} silicon {:<9} found {:.4e} ({}) max_abs {:.2e} max_rel {:.1e} flips {} {:.2?} {}",
        row.name,
        row.published.mean_rel_l1.map_or("-".into(), |figure| figure.to_string()),
        row.found.mean_rel_l1,
        row.band,
        row.found.max_abs,
        row.found.max_rel,
        row.found.differing,
        row.took,
        row.standing,
    );
}
