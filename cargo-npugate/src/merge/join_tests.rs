use super::*;
use crate::merge::testing::Script;
use crate::runner::Blocked;
use std::{num::NonZero, path::Path};

fn passed(name: &str) -> Record {
    Record::new(name, Outcome::Passed, "fine").took(0.5)
}

fn failed(name: &str) -> Record {
    Record::new(name, Outcome::Failed, "no").took(0.5)
}

fn joined(texts: &[String]) -> Result<Joined, String> {
    let parse = |(index, text): (usize, &String)| {
        Shard::parse(Path::new(&format!("{index}.jsonl")), text).unwrap()
    };
    let shards: Vec<_> = texts.iter().enumerate().map(parse).collect();
    join(&shards).map_err(|error| error.to_string())
}

/// A part of a run of `tiny` that ran one test.
fn part(part: &str, record: &Record, code: u8) -> String {
    let script = Script::part("tiny", &[&record.name], Some(part));
    script.ended(record, "").finished(1.5, &[]).exits(code)
}

#[test]
fn parts_become_one_run_in_the_order_of_the_phases() {
    let run = joined(&[
        part("hash:1/3", &passed("block::a"), 0),
        part("hash:2/3", &failed("kernel::a"), 100),
        part("hash:3/3", &passed("block::b"), 0),
    ])
    .unwrap();
    let result = &run.results[0];
    let names: Vec<_> = result.records.iter().map(|record| record.name.as_str()).collect();
    assert_eq!(names, ["kernel::a", "block::a", "block::b"]);
    assert_eq!(
        (result.package.as_str(), result.description.device.as_str()),
        ("tiny-llama", "emu")
    );
    assert_eq!(result.description.configuration, "rne");
    assert!((result.seconds - 4.5).abs() < 1e-9 && (run.run.seconds - 6.0).abs() < 1e-9);
    assert_eq!((run.code, run.cut_short.len()), (100, 0));
    let rerun = run.run.reruns.line("tiny", "tiny-llama", &result.records[0]);
    assert_eq!(rerun.as_deref(), Some("again kernel::a"));
}

#[test]
fn several_runs_of_different_models_are_joined() {
    let one = |model, code| {
        Script::new(model, &["kernel::a"])
            .ended(&passed("kernel::a"), "")
            .finished(1.0, &[])
            .exits(code)
    };
    let run = joined(&[one("tiny", 0), one("big", 0)]).unwrap();
    let models: Vec<_> = run.results.iter().map(|result| &result.description.model).collect();
    assert_eq!((models.as_slice(), run.code), (&[&"tiny".to_owned(), &"big".to_owned()][..], 0));
}

#[test]
fn another_device_or_configuration_is_refused() {
    let first = part("hash:1/2", &passed("kernel::a"), 0);
    let second = part("hash:2/2", &passed("kernel::b"), 0);
    let error = joined(&[first.clone(), second.replace("\"emu\"", "\"xrt\"")]).unwrap_err();
    assert_eq!(
        error,
        "tiny is `tiny-llama` on `emu` (rne) in 0.jsonl, but `tiny-llama` on `xrt` (rne) in 1.jsonl: merge runs of the same model on the same device in the same configuration"
    );
    let error = joined(&[first, second.replace("\"rne\"", "\"rtz\"")]).unwrap_err();
    assert!(error.contains("on `emu` (rtz) in 1.jsonl"), "{error}");
}

#[test]
fn a_smoke_run_is_not_merged_with_a_full_one() {
    let first = part("hash:1/2", &passed("kernel::a"), 0);
    let second = part("hash:2/2", &passed("kernel::b"), 0).replace("\"full\"", "\"smoke\"");
    let error = joined(&[first, second]).unwrap_err();
    assert_eq!(
        error,
        "1.jsonl is from a --smoke run, but 0.jsonl is from a full run: merge runs of one kind"
    );
}

#[test]
fn a_test_with_two_verdicts_is_refused() {
    let run = || {
        let script = Script::new("tiny", &["kernel::a"]);
        script.ended(&passed("kernel::a"), "").finished(1.0, &[]).exits(0)
    };
    assert_eq!(
        joined(&[run(), run()]).unwrap_err(),
        "tiny kernel::a has a verdict in 0.jsonl and in 1.jsonl: merge runs that share no test"
    );
}

#[test]
fn a_test_that_is_off_in_one_run_may_have_a_verdict_in_another() {
    let off = Record::new("kernel::a", Outcome::Ignored { reason: "long".into() }, "long");
    let of = |record: &Record| {
        Script::new("tiny", &["kernel::a"]).ended(record, "").finished(1.0, &[]).exits(0)
    };
    for texts in [[of(&off), of(&passed("kernel::a"))], [of(&passed("kernel::a")), of(&off)]] {
        let run = joined(&texts).unwrap();
        assert_eq!(run.results[0].records, [passed("kernel::a")]);
    }
}

#[test]
fn a_test_that_a_run_did_not_reach_may_have_a_verdict_in_another() {
    let of = |record: &Record, code| {
        Script::new("tiny", &["kernel::a"]).ended(record, "").finished(1.0, &[]).exits(code)
    };
    for why in [NoVerdict::Interrupted, NoVerdict::MaxFail(NonZero::<usize>::MIN)] {
        let run = joined(&[of(&why.record("kernel::a"), 4), of(&passed("kernel::a"), 0)]).unwrap();
        assert_eq!(run.results[0].records, [passed("kernel::a")]);
    }
    let without_device = NoVerdict::NoDevice("no NPU".into()).record("kernel::a");
    joined(&[of(&without_device, 0), of(&passed("kernel::a"), 0)]).unwrap_err();
}

#[test]
fn a_run_that_was_cut_short_leaves_tests_without_a_verdict() {
    let whole = part("hash:1/2", &failed("kernel::a"), 100);
    let cut = Script::part("tiny", &["kernel::b", "kernel::c"], Some("hash:2/2"))
        .ended(&passed("kernel::b"), "")
        .text();
    let run = joined(&[whole, cut]).unwrap();
    let records = &run.results[0].records;
    assert_eq!(records[2].name, "kernel::c");
    assert_eq!(records[2].not_run, Some(NotRun::Interrupted), "{:?}", records[2]);
    assert_eq!((run.code, run.cut_short), (123, vec![PathBuf::from("1.jsonl")]));
    assert!((run.results[0].seconds - 2.0).abs() < 1e-9, "as far as it is known");
}

#[test]
fn the_exit_code_is_that_of_one_run() {
    let regressed = Record::new("kernel::b", Outcome::Regressed, "worse");
    for (first, second, expected) in [
        ((passed("kernel::a"), 0), (passed("kernel::b"), 0), 0),
        ((passed("kernel::a"), 0), (regressed.clone(), 120), 120),
        ((failed("kernel::a"), 100), (regressed.clone(), 120), 100),
        // A baseline could not be read, and a report could not be written.
        ((passed("kernel::a"), 96), (regressed, 120), 96),
        ((failed("kernel::a"), 100), (passed("kernel::b"), 110), 100),
        ((failed("kernel::a"), 100), (passed("kernel::b"), 123), 123),
    ] {
        let texts = [part("hash:1/2", &first.0, first.1), part("hash:2/2", &second.0, second.1)];
        assert_eq!(joined(&texts).unwrap().code, expected, "{first:?} {second:?}");
    }
}

#[test]
fn a_part_without_tests_is_not_a_failure_of_the_whole() {
    let empty = Script::part("tiny", &[], Some("hash:2/2")).finished(0.1, &[]).exits(4);
    let run = joined(&[part("hash:1/2", &passed("kernel::a"), 0), empty]).unwrap();
    assert_eq!(run.code, 0);
}

#[test]
fn a_device_that_was_missing_for_one_part_decides_if_nothing_is_worse() {
    let skipped = Outcome::Skipped { reason: "held".into() };
    let blocked = Script::part("tiny", &["kernel::b"], Some("hash:2/2"))
        .ended(&Record::new("kernel::b", skipped, "held"), "")
        .blocked("held");
    for (first, code, expected) in [(passed("kernel::a"), 0, 122), (failed("kernel::a"), 100, 100)]
    {
        let blocked = blocked.clone().exits(122);
        let run = joined(&[part("hash:1/2", &first, code), blocked]).unwrap();
        assert_eq!(run.results[0].blocked.as_ref().map(Blocked::reason), Some("held"));
        assert_eq!(run.code, expected);
    }
}
