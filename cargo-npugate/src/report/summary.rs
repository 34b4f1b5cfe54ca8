//! The end of a run: the tests that did not pass, a table by model, and the exit
//! code.

use super::table::{Align, Table};
use super::{Run, failures, words};
use crate::runner::ModelResult;
use crate::selection::Effort;
use crate::shell::{Shell, Tone, Verbosity};
use crate::text;
use npugate_schema::{Description, ExitCode, NotRun, Outcome, Record, Summary};

/// What a smoke run does not check.
const SMOKE: &str = "kernels ran on few rows, and no baseline was compared or written; run without --smoke to gate them";

/// Prints the tests that did not pass, and the summary.
pub fn print(results: &[ModelResult], run: &Run, shell: &mut Shell) {
    failures::print(results, run, shell);
    let summary = total(results);
    let tone = words::tone_of(outcomes(results));
    // Tests that have a verdict without having run are not counted as run.
    let count = |why| records(results).filter(|record| record.not_run == Some(why)).count();
    let unheard = count(NotRun::Gone);
    let interrupted = count(NotRun::Interrupted);
    let cancelled = count(NotRun::MaxFail);
    let tests = text::count(summary.ran() - unheard - interrupted - cancelled, "test");
    let counts = words::counts(&summary);
    if shell.verbosity() > Verbosity::Quiet {
        shell.line("");
    }
    if interrupted > 0 {
        let message = format!("{} not run", text::count(interrupted, "test"));
        shell.status_always(Tone::Odd, "Interrupted", message);
    }
    if cancelled > 0 {
        let message = format!("{} not run after the failures", text::count(cancelled, "test"));
        shell.status_always(Tone::Odd, "Cancelled", message);
    }
    let message = format!("{tests} run in {}: {counts}", text::duration(run.seconds));
    shell.status_always(tone, "Summary", message);
    if run.effort == Effort::Smoke {
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
    words::tightest(records).map_or_else(String::new, |(record, metric, used)| {
        format!("{} {} {}", text::share(used), record.name, metric.key())
    })
}

/// The exit code of the run. The worst decides: a failed test, a broken gate, a test that
/// could not judge or run, a regression, no test run at all.
pub fn exit_code(results: &[ModelResult]) -> ExitCode {
    let summary = total(results);
    let troubled = results.iter().any(|result| !result.troubles.is_empty());
    if summary.failed > 0 {
        ExitCode::TestsFailed
    } else if troubled {
        ExitCode::Setup
    } else if let Some(blocked) = results.iter().find_map(|result| result.blocked.as_ref()) {
        blocked.exit_code()
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

/// The counts of all models.
pub fn total(results: &[ModelResult]) -> Summary {
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
    use crate::shell::testing::Printed;
    use npugate_schema::{Direction, Metric, Unit};

    fn result(outcomes: Vec<Outcome>) -> ModelResult {
        let metric = || Metric::new("sqnr", 46.02, Unit::Decibel, Direction::Higher).limited(40.0);
        let record = |(index, outcome)| {
            Record::new(format!("kernel::k{index}"), outcome, "sqnr 46.0 >= 40")
                .measured(vec![metric()])
                .took(0.5)
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
    fn the_summary_ends_with_a_table() {
        let printed = Printed::default();
        let mut shell = printed.shell(Verbosity::Normal);
        let results = [result(vec![Outcome::Passed, ignored(), Outcome::Regressed])];
        print(&results, &Run { seconds: 2.5, ..Run::default() }, &mut shell);
        let expected = "
     Summary 2 tests run in 2.5s: 1 passed, 1 ignored, 1 regressed
             model  passed  failed  regressed  invalid  skipped  ignored  time  tightest
             tiny        1       0          1        0        0        1  1.5s  50 % kernel::k0 sqnr
             tiny on emu: rounding rne
";
        let text = printed.text();
        let at = text.find("\n     Summary").unwrap();
        assert!(text[..at].contains("   REGRESSED [   0.500s] tiny kernel::k2\n"), "{text}");
        assert_eq!(&text[at..], expected);
    }

    #[test]
    fn a_quiet_summary_is_one_line_and_a_smoke_run_adds_another() {
        let printed = Printed::default();
        let run = Run { effort: Effort::Smoke, ..Run::default() };
        print(&[result(vec![Outcome::Passed])], &run, &mut printed.shell(Verbosity::Quiet));
        let expected = "     Summary 1 test run in 0.000s: 1 passed\n       Smoke kernels ran on";
        assert!(printed.text().starts_with(expected), "{}", printed.text());
        assert_eq!(printed.text().lines().count(), 2);
    }
}
