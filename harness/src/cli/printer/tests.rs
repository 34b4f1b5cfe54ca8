//! Whole outputs, as a user sees them. Their form is libtest's, as a test binary of
//! rustc 1.95 prints it.

use crate::cli::run::tests::{record, run, run_with};
use crate::schema::Outcome;

/// Without its colours and its time.
fn plain(text: &str) -> String {
    let text = anstream::adapter::strip_str(text).to_string();
    match text.split_once("; finished in ") {
        Some((text, seconds)) => {
            assert!(seconds.ends_with("s\n\n"), "{seconds}");
            format!("{text}.")
        }
        None => text,
    }
}

#[test]
fn the_pretty_format_has_a_line_for_each_test_and_verdicts_of_failures() {
    let (_, out, err) = run("", |name| !name.ends_with("high"));
    assert_eq!(
        plain(&out),
        "
running 5 tests
test kernel::gemm::16x16x16::high ... FAILED
test kernel::gemm::16x16x16       ... ok
test kernel::softmax::4x16        ... ok
test block::layer00::cosine       ... ignored, no weights on this machine: run `cargo npugate fetch toy`
test tokens::base::p07            ... ignored, in the long set: run with --full

failures:

---- kernel::gemm::16x16x16::high ----
cosine 0.98 < 0.99


failures:
    kernel::gemm::16x16x16::high

test result: FAILED. 2 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out."
    );
    assert_eq!(err, "Error: kernel::gemm::16x16x16::high: cosine 0.98 < 0.99\n");
}

#[test]
fn verdicts_and_times_of_passed_tests_are_shown_on_demand() {
    let (_, out, _) = run("softmax --no-capture --report-time", |_| true);
    assert_eq!(
        plain(&out),
        "
running 1 test
test kernel::softmax::4x16 ... ok <0.250s>
    cosine 0.98 < 0.99

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 4 filtered out."
    );
}

#[test]
fn outcomes_that_libtest_has_no_word_for_are_failures_with_their_word() {
    let line = |outcome: Outcome, verdict| {
        let (_, out, err) =
            run_with("softmax", |name| Some(record(name, outcome.clone(), verdict)));
        (plain(&out).lines().nth(2).unwrap().to_owned(), err)
    };
    let invalid = Outcome::Invalid { reason: "the golden is missing".to_owned() };
    assert_eq!(
        line(invalid, ""),
        (
            "test kernel::softmax::4x16 ... FAILED (invalid)".to_owned(),
            "Error: kernel::softmax::4x16: invalid: the golden is missing\n".to_owned()
        )
    );
    let (printed, err) = line(Outcome::Regressed, "cosine got worse");
    assert!(printed.ends_with("... FAILED (regressed)"));
    assert_eq!(err, "Error: kernel::softmax::4x16: regressed: cosine got worse\n");
    let (printed, err) = line(Outcome::Waived { reason: "known".to_owned() }, "");
    assert!(printed.ends_with("... ok (waived)"));
    assert_eq!(err, "");
}

#[test]
fn the_terse_format_has_a_character_for_each_test() {
    let (_, out, _) = run("-q --include-ignored", |name| !name.starts_with("tokens"));
    assert!(plain(&out).starts_with("\nrunning 5 tests\n....F\n\nfailures:\n\n"), "{out}");
    let (_, out, _) = run("-q", |_| true);
    assert!(plain(&out).starts_with("\nrunning 5 tests\n...ii\n\ntest result: ok. 3 passed; "));
}

#[test]
fn the_json_format_is_libtests() {
    let (_, out, _) = run("--format json --report-time 16 --skip high", |_| false);
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let name = "kernel::gemm::16x16x16";
    assert_eq!(lines[0]["type"], "suite");
    assert_eq!((&lines[0]["event"], &lines[0]["test_count"]), (&"started".into(), &2.into()));
    assert_eq!(lines[1], serde_json::json!({ "type": "test", "event": "started", "name": name }));
    assert_eq!(
        lines[2],
        serde_json::json!({
            "type": "test", "event": "failed", "name": name, "exec_time": 0.25,
            "stdout": format!("Error: {name}: cosine 0.98 < 0.99\n")
        })
    );
    let last = lines.last().unwrap();
    assert_eq!((&last["event"], &last["failed"]), (&"failed".into(), &2.into()));
    assert_eq!(last["filtered_out"], 3);
}

#[test]
fn the_json_format_gives_reasons() {
    let (_, out, _) = run("--format json tokens", |_| true);
    let line: serde_json::Value = serde_json::from_str(out.lines().nth(2).unwrap()).unwrap();
    assert_eq!(line["event"], "ignored");
    assert_eq!(line["message"], "in the long set: run with --full");
}

#[test]
fn long_terse_lines_are_broken_as_libtest_breaks_them() {
    use super::{Ended, Printer, terse::Terse};
    let (mut printer, mut out) = (Terse::default(), Vec::new());
    printer.begin(&mut out, 90, None).unwrap();
    for _ in 0..90 {
        let ended = record("a", Outcome::Passed, "");
        printer.ended(&mut out, "a", Ended::Ran(&ended)).unwrap();
    }
    let text = plain(&String::from_utf8(out).unwrap());
    assert_eq!(text, format!("\nrunning 90 tests\n{} 88/90\n..", ".".repeat(88)));
}
