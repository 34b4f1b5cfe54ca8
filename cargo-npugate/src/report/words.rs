//! The words for outcomes and counts, and their tones.

use crate::runner::Attempt;
use crate::shell::Tone;
use crate::text;
use npugate_schema::{Direction, FlakyResult, Metric, NotRun, Outcome, Phase, Record, Summary};
use std::borrow::Cow;

/// The word for an outcome, and its tone.
pub fn verb(outcome: &Outcome) -> (Tone, Cow<'static, str>) {
    let (tone, verb) = match outcome {
        Outcome::Passed => (Tone::Good, "PASS"),
        Outcome::Failed => (Tone::Bad, "FAIL"),
        Outcome::Regressed => (Tone::Bad, "REGRESSED"),
        Outcome::Crashed { .. } => (Tone::Bad, "CRASH"),
        Outcome::TimedOut { .. } => (Tone::Bad, "TIMEOUT"),
        Outcome::Invalid { .. } => (Tone::Odd, "INVALID"),
        Outcome::Skipped { .. } => (Tone::Odd, "SKIP"),
        Outcome::Waived { .. } => (Tone::Odd, "WAIVED"),
        Outcome::Ignored { .. } => (Tone::Odd, "IGNORED"),
        Outcome::Flaky { attempt, attempts, result } => {
            let tone = match result {
                FlakyResult::Fail => Tone::Bad,
                FlakyResult::Pass => Tone::Odd,
            };
            return (tone, format!("FLAKY {attempt}/{attempts}").into());
        }
        _ => (Tone::Odd, "UNKNOWN"),
    };
    (tone, verb.into())
}

/// The words for an attempt that did not pass and is not the last. They are short, to fit
/// twelve columns.
pub fn attempt(number: u32, outcome: &Outcome) -> String {
    let word = match outcome {
        Outcome::TimedOut { .. } => "TMT".into(),
        Outcome::Regressed => "REGR".into(),
        Outcome::Invalid { .. } => "INVAL".into(),
        other => verb(other).1,
    };
    format!("TRY {number} {word}")
}

/// A test in one line: how long it took, its name, and what was found.
pub fn line(model: &str, record: &Record, attempt: Attempt) -> String {
    let Record { name, seconds, .. } = record;
    let verdict = record.verdict.lines().next().unwrap_or_default();
    if record.not_run == Some(NotRun::Gone) {
        // The test took no time.
        return format!("{model} {name}: {verdict}");
    }
    let verdict = if verdict.is_empty() { String::new() } else { format!(": {verdict}") };
    let again = match &record.outcome {
        // The word for the outcome names the attempt.
        Outcome::Flaky { .. } => String::new(),
        _ if attempt.number > 1 => format!(" (attempt {attempt})"),
        _ => String::new(),
    };
    format!("[{seconds:>8.3}s] {model} {name}{verdict}{again}")
}

/// The worst tone among outcomes. Ignored tests do not count.
pub fn tone_of<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Tone {
    let tones: Vec<_> = outcomes
        .filter(|outcome| !matches!(outcome, Outcome::Ignored { .. }))
        .map(|outcome| verb(outcome).0)
        .collect();
    [Tone::Bad, Tone::Odd].into_iter().find(|tone| tones.contains(tone)).unwrap_or(Tone::Good)
}

/// `20 passed, 1 failed`: the counts that are not zero, the worst last.
pub fn counts(summary: &Summary) -> String {
    let &Summary { passed, failed, regressed, invalid, skipped, ignored, waived } = summary;
    let mut words = vec![format!("{passed} passed")];
    for (n, word) in [
        (waived, "waived"),
        (ignored, "ignored"),
        (skipped, "skipped"),
        (invalid, "invalid"),
        (regressed, "regressed"),
        (failed, "failed"),
    ] {
        if n > 0 {
            words.push(format!("{n} {word}"));
        }
    }
    words.join(", ")
}

/// The passed test that comes closest to its limit, the metric that does, and the share
/// of the allowed error that it uses. `None` if no test uses any.
pub fn tightest(records: &[Record]) -> Option<(&Record, &Metric, f64)> {
    records
        .iter()
        .filter(|record| record.outcome == Outcome::Passed)
        .filter_map(|record| record.tightest().map(|(metric, used)| (record, metric, used)))
        .filter(|(_, _, used)| *used > 0.0)
        .max_by(|a, b| a.2.total_cmp(&b.2))
}

/// How a value must compare with its limit.
pub fn sign(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => ">=",
        Direction::Lower | Direction::Neutral => "<=",
    }
}

/// The phase of a test, or else the first part of its name.
pub fn phase(test: &str) -> String {
    match Phase::of(test) {
        Phase::Own => text::ellipsis(test.split("::").next().unwrap_or(test), 9),
        phase => phase.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_leave_out_zeros() {
        let outcomes = [Outcome::Passed, Outcome::Failed, Outcome::Regressed];
        assert_eq!(counts(&outcomes.iter().collect()), "1 passed, 1 regressed, 1 failed");
        assert_eq!(tone_of(outcomes.iter()), Tone::Bad);
        assert_eq!(tone_of(outcomes[..1].iter()), Tone::Good);
    }

    #[test]
    fn a_flaky_test_is_bad_unless_it_counts_as_a_pass() {
        let flaky = |result| Outcome::Flaky { attempt: 2, attempts: 3, result };
        assert_eq!(verb(&flaky(FlakyResult::Fail)), (Tone::Bad, "FLAKY 2/3".into()));
        assert_eq!(verb(&flaky(FlakyResult::Pass)), (Tone::Odd, "FLAKY 2/3".into()));
    }

    #[test]
    fn the_words_for_an_attempt_fit_twelve_columns() {
        let invalid = Outcome::Invalid { reason: String::new() };
        let crashed = Outcome::Crashed { reason: String::new() };
        let slow = Outcome::TimedOut { seconds: 1 };
        for (outcome, expected) in [
            (Outcome::Failed, "TRY 1 FAIL"),
            (Outcome::Regressed, "TRY 1 REGR"),
            (invalid, "TRY 1 INVAL"),
            (crashed, "TRY 1 CRASH"),
            (slow, "TRY 1 TMT"),
        ] {
            assert_eq!(attempt(1, &outcome), expected);
            assert!(attempt(99, &outcome).len() <= 12, "{outcome}");
        }
    }

    #[test]
    fn a_test_in_one_line_has_the_first_line_of_its_verdict() {
        let record = Record::new("block::a", Outcome::Failed, "cosine 0.9\nand more").took(0.25);
        assert_eq!(line("tiny", &record, Attempt::ONLY), "[   0.250s] tiny block::a: cosine 0.9");
        let third = Attempt { number: 3, of: 3 };
        assert!(line("tiny", &record, third).ends_with("cosine 0.9 (attempt 3/3)"));
    }

    #[test]
    fn the_first_part_of_a_name_stands_for_a_missing_phase() {
        assert_eq!(phase("kernel::gemm"), "kernel");
        assert_eq!(phase("a_long_beginning::gemm"), "a_long_be...");
    }
}
