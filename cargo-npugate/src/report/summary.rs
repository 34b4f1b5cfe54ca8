//! The end of a run: a table by model, the tests that did not pass with a line
//! to run each again, and the exit code.

use super::table::{Align, Table};
use crate::config::Config;
use crate::config::{Effort, History, Ignored, Selection, TestSet, WeightsNeed};
use crate::progress;
use crate::runner::{ModelResult, gone, is_interrupted};
use crate::shell::{Shell, Tone, Verbosity};
use crate::text::{self, shell_word};
use npugate_schema::{Description, ExitCode, Outcome, Record, Summary};
use std::fmt::Write;

/// What a smoke run is worth.
const SMOKE: &str = "kernels ran on few rows, and no baseline was compared or written; run without --smoke to gate them";

/// Prints the summary, and what did not pass.
pub fn print(results: &[ModelResult], config: &Config, selection: &Selection, shell: &mut Shell) {
    let bad: Vec<_> = results
        .iter()
        .flat_map(|result| result.records.iter().map(move |record| (result, record)))
        .filter(|(_, record)| !record.outcome.is_good() && !is_interrupted(record))
        .collect();
    if !bad.is_empty() && shell.verbosity() > Verbosity::Quiet {
        shell.line("");
    }
    for (result, record) in bad {
        if shell.verbosity() > Verbosity::Quiet {
            progress::show(shell, &result.description.model, record);
        }
        // What the adapter no longer has cannot be run.
        if !gone::is_gone(record) {
            let rerun = rerun(result, record, config, selection);
            shell.detail(&format!("rerun: {rerun}"));
        }
    }
    let summary = total(results);
    let tone = progress::tone_of(outcomes(results));
    let seconds: f64 = results.iter().map(|result| result.seconds).sum();
    // Those of which there is a verdict without a run are not among them.
    let unheard = records(results).filter(|record| gone::is_gone(record)).count();
    let interrupted = records(results).filter(|record| is_interrupted(record)).count();
    let tests = text::count(summary.ran() - unheard - interrupted, "test");
    let counts = progress::counts(&summary);
    if shell.verbosity() > Verbosity::Quiet {
        shell.line("");
    }
    if interrupted > 0 {
        let message = format!("{} not run", text::count(interrupted, "test"));
        shell.status_always(Tone::Odd, "Interrupted", message);
    }
    let message = format!("{tests} run in {}: {counts}", text::duration(seconds));
    shell.status_always(tone, "Summary", message);
    if selection.effort == Effort::Smoke {
        shell.status_always(Tone::Odd, "Smoke", SMOKE);
    }
    if shell.verbosity() > Verbosity::Quiet {
        shell.detail(&table(results).to_string());
        for Description { model, device, configuration, .. } in
            results.iter().map(|result| &result.description)
        {
            let separator = if configuration.is_empty() { "" } else { ": " };
            shell.detail(&format!("{model} on {device}{separator}{configuration}"));
        }
    }
}

fn table(results: &[ModelResult]) -> Table {
    let waivers = total(results).waived > 0;
    let mut columns = vec![("model", Align::Left), ("passed", Align::Right)];
    if waivers {
        columns.push(("waived", Align::Right));
    }
    let counted = ["failed", "regressed", "invalid", "skipped", "ignored", "time"];
    columns.extend(counted.map(|name| (name, Align::Right)));
    columns.push(("tightest", Align::Left));
    let mut table = Table::new(columns);
    for result in results {
        let counts: Summary = result.records.iter().map(|record| &record.outcome).collect();
        let mut cells = vec![counts.passed];
        if waivers {
            cells.push(counts.waived);
        }
        cells.extend([counts.failed, counts.regressed, counts.invalid]);
        cells.extend([counts.skipped, counts.ignored]);
        let mut row = vec![result.description.model.clone()];
        row.extend(cells.iter().map(ToString::to_string));
        row.push(text::duration(result.seconds));
        row.push(tightest(&result.records));
        table.row(row);
    }
    table
}

fn tightest(records: &[Record]) -> String {
    progress::tightest(records).map_or_else(String::new, |(record, metric, used)| {
        format!("{} {} {}", text::share(used), record.name, metric.key())
    })
}

/// A line that runs this test again, the same way.
fn rerun(result: &ModelResult, record: &Record, config: &Config, selection: &Selection) -> String {
    let mut line =
        format!("cargo npugate -p {} --exact {}", result.package, shell_word(&record.name));
    let mut push = |flag: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = write!(line, " {flag} {}", shell_word(value));
    };
    if let Some(path) = &config.cargo.manifest_path {
        push("--manifest-path", &path.to_string_lossy());
    }
    if config.cargo.cargo_profile != "release" {
        push("--cargo-profile", &config.cargo.cargo_profile);
    }
    for feature in &config.cargo.features.features {
        push("--features", feature);
    }
    if let Some(device) = &config.device.device {
        push("--device", device);
    }
    for setting in &config.device.set {
        push("--set", setting);
    }
    if let Some(toolchain) = &config.device.toolchain {
        push("--toolchain", toolchain);
    }
    if selection.set == TestSet::Full {
        line += " --full";
    }
    if selection.effort == Effort::Smoke {
        line += " --smoke";
    }
    if selection.history == History::Ignore {
        line += " --baseline ignore";
    }
    if selection.weights == WeightsNeed::Required {
        line += " --require-weights";
    }
    if selection.ignored != Ignored::Skip {
        line += " --include-ignored";
    }
    line
}

/// How the run ends, the worst first: a failed test, a broken gate, a test that
/// could not judge or run, a regression, nothing run at all.
pub fn exit_code(results: &[ModelResult]) -> ExitCode {
    let summary = total(results);
    let troubled = results.iter().any(|result| !result.troubles.is_empty());
    if summary.failed > 0 {
        ExitCode::TestsFailed
    } else if troubled {
        ExitCode::Setup
    } else if summary.invalid + summary.skipped > 0 {
        ExitCode::Inconclusive
    } else if summary.regressed > 0 {
        ExitCode::Regressed
    } else if summary.ran() == 0 {
        ExitCode::NoTests
    } else {
        ExitCode::Ok
    }
}

fn total(results: &[ModelResult]) -> Summary {
    outcomes(results).collect()
}

fn outcomes(results: &[ModelResult]) -> impl Iterator<Item = &Outcome> {
    records(results).map(|record| &record.outcome)
}

fn records(results: &[ModelResult]) -> impl Iterator<Item = &Record> {
    results.iter().flat_map(|result| &result.records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use crate::config::{Action, Environment};
    use crate::shell::testing::Printed;
    use npugate_schema::{Direction, Metric, Unit};
    use std::ffi::OsString;

    fn result(outcomes: Vec<Outcome>) -> ModelResult {
        let record = |(index, outcome)| Record {
            name: format!("kernel::k{index}"),
            outcome,
            verdict: "sqnr 46.0 >= 40".into(),
            metrics: vec![
                Metric::new("sqnr", 46.02, Unit::Decibel, Direction::Higher).limited(40.0),
            ],
            seconds: 0.5,
            attachments: Vec::new(),
        };
        ModelResult {
            records: outcomes.into_iter().enumerate().map(record).collect(),
            seconds: 1.5,
            ..ModelResult::new(
                Description {
                    configuration: "rounding rne".into(),
                    ..Description::new("tiny", "emu")
                },
                "tiny-llama",
            )
        }
    }

    fn invalid() -> Outcome {
        Outcome::Invalid { reason: "no golden".into() }
    }

    fn ignored() -> Outcome {
        Outcome::Ignored { reason: "no weights".into() }
    }

    #[test]
    fn the_worst_outcome_decides_the_exit_code() {
        use Outcome::{Failed, Passed, Regressed};
        for (outcomes, expected) in [
            (vec![Passed, ignored()], ExitCode::Ok),
            (vec![Passed, Regressed], ExitCode::Regressed),
            (vec![Passed, Regressed, invalid()], ExitCode::Inconclusive),
            (vec![Failed, invalid(), Regressed], ExitCode::TestsFailed),
            (vec![ignored()], ExitCode::NoTests),
            (vec![], ExitCode::NoTests),
        ] {
            assert_eq!(exit_code(&[result(outcomes.clone())]), expected, "{outcomes:?}");
        }
    }

    #[test]
    fn a_broken_gate_is_never_a_success() {
        let mut broken = result(vec![Outcome::Passed]);
        broken.troubles.push("it died after its last test".into());
        assert_eq!(exit_code(&[result(vec![Outcome::Passed]), broken]), ExitCode::Setup);
    }

    #[test]
    fn the_summary_ends_with_a_table_and_a_line_to_run_failures_again() {
        let line = "x --full --device emu --set attention=host";
        let argv = line.split_whitespace().map(OsString::from);
        let cli = cli::parse(argv, clap::ColorChoice::Never).unwrap();
        let config = Config::resolve(cli, Environment::default()).unwrap();
        let Action::Test(test) = config.action.clone() else { panic!() };
        let printed = Printed::default();
        let mut shell = printed.shell(Verbosity::Normal);
        let results = [result(vec![Outcome::Passed, Outcome::Failed])];
        print(&results, &config, &test.selection, &mut shell);
        let expected = "
        FAIL [   0.500s] tiny kernel::k1
             sqnr 46.0 >= 40
             rerun: cargo npugate -p tiny-llama --exact kernel::k1 --device emu --set attention=host --full

     Summary 2 tests run in 1.5s: 1 passed, 1 failed
             model  passed  failed  regressed  invalid  skipped  ignored  time  tightest
             tiny        1       1          0        0        0        0  1.5s  50 % kernel::k0 sqnr
             tiny on emu: rounding rne
";
        assert_eq!(printed.text(), expected);
    }
}
