//! Recording kernels that pass.

use super::{check, merged, own};
use crate::commands::test;
use crate::config::{Config, Test};
use crate::error::Error;
use crate::fetch::Network;
use crate::runner::ModelResult;
use crate::selection::Selection;
use crate::shell::{Shell, Tone};
use crate::text;
use crate::workspace::Workspace;
use npugate_kernels::{
    Op, Toolchain,
    registry::{Figure, Figures, Measured, Registry, Row, Shape, Target},
};
use npugate_schema::{ExitCode, LaunchDescription, Outcome, Phase, Record};

/// Who measured the rows that this command writes.
const SOURCE: &str = "cargo npugate registry add";
/// Significant digits of a recorded figure: enough to see a change of 0.1 %.
const DIGITS: i32 = 4;

/// Runs kernel tests and writes a row for each that passes.
pub(super) fn run(
    filters: &[String],
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let selection = Selection {
        filters: filters.to_vec(),
        phases: vec![Phase::Kernel],
        ..Selection::default()
    };
    let network = if config.cargo.offline || config.cargo.frozen {
        Network::Never("--offline")
    } else {
        Network::Use
    };
    let kernels = Test::new(selection, network);
    let test::Executed { results, interrupted, .. } =
        test::execute(&kernels, config, workspace, shell)?;
    if interrupted {
        shell.error("interrupted: the registry is unchanged");
        return Ok(ExitCode::Interrupted);
    }
    let folder = workspace.registry.as_std_path();
    // Every known row, to merge a measured one with, and the workspace's own, to write.
    let (known, mut registry) = (merged(folder)?, own(folder)?);
    let date = crate::commands::today().to_string();
    let (mut measured, mut refused) = (Vec::new(), 0);
    for result in &results {
        for record in &result.records {
            match row(result, record, &date) {
                Ok(row) => take_in(&mut measured, row),
                Err(reason) => {
                    refused += 1;
                    shell.warn(format_args!(
                        "{} of {} was not recorded: {reason}",
                        record.name, result.description.model
                    ));
                }
            }
        }
    }
    let mut added = 0;
    for row in measured {
        added += usize::from(insert(&mut registry, &known, row)?);
    }
    if added > 0 {
        registry.save(folder)?;
    }
    let rows = text::count(added, "row");
    let place = workspace.registry.strip_prefix(&workspace.root).unwrap_or(&workspace.registry);
    shell.status(Tone::Good, "Recorded", format_args!("{rows} in {place}"));
    Ok(if refused > 0 { ExitCode::TestsFailed } else { ExitCode::Ok })
}

/// Whether two rows describe one configuration: the registry keeps one of them.
fn is_same(a: &Row, b: &Row) -> bool {
    a.name() == b.name()
        && a.measured.device == b.measured.device
        && a.measured.toolchain == b.measured.toolchain
}

/// Adds a row to those of this run. Tests may share a row (those of two models, or of
/// shapes that the registry counts as one): the largest errors are kept.
fn take_in(measured: &mut Vec<Row>, row: Row) {
    let Some(other) = measured.iter_mut().find(|other| is_same(other, &row)) else {
        return measured.push(row);
    };
    let worse = |a: Option<Figure>, b: Option<Figure>| if a >= b { a } else { b };
    other.figures.mean_rel_l1 = worse(other.figures.mean_rel_l1, row.figures.mean_rel_l1);
    other.figures.max_abs = worse(other.figures.max_abs, row.figures.max_abs);
    other.used_by.extend(row.used_by);
}

/// Inserts a row, and returns whether that changed anything. A row of the same name,
/// device and toolchain keeps its earlier users.
fn insert(registry: &mut Registry, known: &Registry, mut row: Row) -> Result<bool, Error> {
    let same = |other: &&Row| is_same(other, &row);
    let earlier = registry.rows().iter().find(same).or_else(|| known.rows().iter().find(same));
    if let Some(earlier) = earlier {
        row.best_for = earlier.best_for;
        row.used_by.extend(earlier.used_by.iter().cloned());
        if row.figures == earlier.figures && row.tiling == earlier.tiling {
            // The figures are the same as before: the record stays as it is.
            row.measured = earlier.measured.clone();
        }
    }
    row.used_by.sort();
    row.used_by.dedup();
    if earlier == Some(&row) {
        return Ok(false);
    }
    registry.insert(row)?;
    Ok(true)
}

/// The row that a test stands for: one row, even if many launches share it.
fn row(result: &ModelResult, record: &Record, date: &str) -> Result<Row, String> {
    if record.outcome != Outcome::Passed {
        return Err(format!("it {}", record.outcome));
    }
    let description = &result.description;
    let launches: Vec<_> =
        description.launches.iter().filter(|launch| launch.test == record.name).collect();
    let Some(first) = launches.first() else {
        return Err("the description of its model has no launch with this test".to_owned());
    };
    let op: Op = serde_json::from_value(first.op.clone())
        .map_err(|error| format!("its launch is not a kernel of the registry ({error})"))?;
    Ok(Row {
        shape: Shape::of(&op),
        method: check::method(&op),
        tiling: tiling(first)?,
        figures: figures(record)?,
        best_for: None,
        used_by: used_by(&description.model, &launches),
        measured: Measured {
            device: target(&description.device)?,
            toolchain: first.toolchain.parse::<Toolchain>().map_err(|error| error.to_string())?,
            date: date.to_owned(),
            source: SOURCE.to_owned(),
        },
    })
}

fn tiling(launch: &LaunchDescription) -> Result<Option<npugate_kernels::Tiling>, String> {
    let tiling = launch.tiling.clone().map(serde_json::from_value).transpose();
    tiling.map_err(|error| format!("its tiling cannot be read ({error})"))
}

/// `smollm2-135m o_ffn`: the model and each of its programs that launch it.
fn used_by(model: &str, launches: &[&LaunchDescription]) -> Vec<String> {
    let mut users: Vec<_> =
        launches.iter().map(|launch| format!("{model} {}", launch.program)).collect();
    users.sort();
    users.dedup();
    users
}

/// The figures that the registry defines as the kernel gate does.
fn figures(record: &Record) -> Result<Figures, String> {
    let metric = |name: &str| {
        let found = record.metrics.iter().find(|metric| metric.key() == name);
        found.map(|metric| metric.value).ok_or_else(|| format!("it did not measure {name}"))
    };
    Ok(Figures {
        mean_rel_l1: Some(rounded(metric("mean_rel_l1")?)),
        max_abs: Some(rounded(metric("max_abs")?)),
        ..Figures::default()
    })
}

fn rounded(value: f64) -> Figure {
    let digits = usize::try_from(DIGITS - 1).unwrap_or_default();
    // Through text, so that the shortest decimal has these digits.
    Figure(format!("{value:.digits$e}").parse().unwrap_or(value))
}

/// The device of a device class: `emu+gemm=direct` is `emu`.
fn target(class: &str) -> Result<Target, String> {
    let device = class.split('+').next().unwrap_or_default();
    let known = [Target::Npu2, Target::Emu];
    let found = known.into_iter().find(|target| target.name() == device);
    found.ok_or_else(|| format!("the registry has no device `{device}`"))
}

#[cfg(test)]
mod tests;
