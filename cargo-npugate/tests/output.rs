//! What a run reports to people, programs and CI, and how its parts are merged.

mod support;

use quick_junit::{Report, TestCaseStatus};
use std::{fs, process::Stdio};
use support::{Scene, json_lines};

const MIXED: &str = "alpha kernel::a pass
    alpha kernel::b fail 0.98
    alpha block::c crash
    alpha tokens::d full
    beta kernel::a pass";

#[test]
fn a_failure_is_one_line_during_the_run_and_shown_in_full_once() {
    let run = Scene::with_tests(MIXED).run("");
    run.expect(100, &["Running alpha", "FAIL [", "CRASH [", "Running beta-7b", "Summary 4 tests"]);
    for once in
        ["metric  value    limit   used", "| about to abort in block::c", "--exact block::c "]
    {
        assert_eq!(run.stderr.matches(once).count(), 1, "{once}\n{run}");
    }
    assert_eq!(run.stderr.matches("cosine 0.98, the limit is 0.99").count(), 2, "{run}");
}

#[test]
fn messages_go_to_stdout_and_unchanged_to_a_file() {
    let scene = Scene::with_tests(MIXED);
    let run = scene.run("--message-format json --results out/run.jsonl --set a=b");
    run.expect(100, &["FAIL [", "Summary 4 tests"]);
    assert_eq!(run.stdout, scene.read("out/run.jsonl"));
    let messages = json_lines(&run.stdout);
    assert_eq!(messages[0]["schema"], "npugate-messages/1");
    assert_eq!(messages[0]["models"][0]["planned"].as_array().unwrap().len(), 4);
    assert_eq!(messages[0]["models"][1]["model"], "beta-7b");
    let of = |test: &str| {
        let found = messages.iter().find(|message| {
            message["message"] == "test_finished" && message["record"]["name"] == test
        });
        found.unwrap_or_else(|| panic!("{test} is missing in:\n{run}"))
    };
    assert_eq!(of("kernel::b")["record"]["metrics"][0]["value"], 0.98);
    let rerun = "cargo npugate -p alpha --exact kernel::b --cargo-profile dev --set a=b";
    assert_eq!(of("kernel::b")["rerun"], rerun);
    assert!(of("block::c")["output"].as_str().unwrap().contains("about to abort in block::c"));
    assert_eq!(of("tokens::d")["record"]["outcome"]["kind"], "ignored");
    let last = messages.last().unwrap();
    assert_eq!((&last["message"], &last["exit_code"]), (&"run_finished".into(), &100.into()));
}

#[test]
fn ides_read_the_lines_of_libtest() {
    let run = Scene::with_tests(MIXED).run("--message-format libtest-json");
    run.expect(100, &["Summary 4 tests"]);
    let all = json_lines(&run.stdout);
    let suites: Vec<_> = all.iter().filter(|line| line["type"] == "suite").collect();
    let events: Vec<_> = suites.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["started", "failed", "started", "ok"], "{run}");
    assert_eq!((&suites[0]["test_count"], &suites[1]["failed"]), (&4.into(), &2.into()));
    let crashed =
        all.iter().find(|line| line["name"] == "alpha$block::c" && line["event"] == "failed");
    assert!(crashed.unwrap()["stdout"].as_str().unwrap().contains("about to abort"), "{run}");
}

#[test]
fn gates_and_messages_do_not_share_stdout() {
    let run = Scene::new().run("--no-capture --message-format json");
    run.expect(2, &["error: --no-capture lets the gates write to stdout, which --message-format"]);
    let run = Scene::new().run("diagnosis --message-format json");
    run.expect(0, &["alpha: layers::drift", "lowest: layer02"]);
    assert!(!json_lines(&run.stdout).is_empty());
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_ends_the_messages_but_not_the_run() {
    let scene = Scene::with_tests(MIXED);
    let mut command = scene.command(["--message-format", "json", "--junit", "junit.xml"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(100), "{stderr}");
    assert!(stderr.contains("Summary 4 tests") && !stderr.contains("panicked"), "{stderr}");
    assert!(scene.path("junit.xml").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn messages_that_cannot_be_written_are_an_error_after_the_tests() {
    let scene = Scene::with_tests("alpha kernel::a pass");
    let run = scene.run("--results /dev/full");
    run.expect(110, &["Summary 1 test", "error: /dev/full cannot be written: "]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = scene.command(["--message-format", "json"]);
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(110));
    fs::write(scene.path("file"), "").unwrap();
    let run = scene.run("--results file/run.jsonl");
    run.expect(110, &["cannot be written"]).expect_none(&["Summary"]);
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let scene = Scene::with_tests(MIXED);
    let path = scene.path("summary.md");
    let scene = scene
        .with("GITHUB_ACTIONS", "true")
        .with("GITHUB_STEP_SUMMARY", path.display().to_string());
    scene.run("").expect(
        100,
        &[
            "     Summary 4 tests",
            "\n::error title=FAIL alpha kernel%3A%3Ab::cosine 0.98, the limit is 0.99\n",
            "::error title=CRASH alpha block%3A%3Ac::the process died in this test: signal 6",
        ],
    );
    let summary = scene.read("summary.md");
    assert!(summary.contains("### cargo npugate: 2 passed, 1 ignored, 2 failed\n"), "{summary}");
    assert!(summary.contains("| alpha kernel::b | failed | cosine 0.98, the limit"), "{summary}");
    assert!(summary.contains("<code>cargo npugate -p alpha --exact block::c"), "{summary}");
    let mut scene = scene;
    scene.set("GITHUB_ACTIONS", "false");
    scene.run("").expect_none(&["::error"]);
}

#[test]
fn the_parts_of_a_run_become_one_report() {
    let scene = Scene::with_tests(MIXED);
    scene.run("-p alpha --phase kernel --results a.jsonl").expect(100, &[]);
    scene.run("-p alpha --phase block --phase tokens --results b.jsonl").expect(100, &[]);
    scene.run("-p beta-7b --results c.jsonl").expect(0, &[]);
    let all = scene.run("--junit whole.xml");
    let joined = scene.run("merge b.jsonl a.jsonl c.jsonl --junit joined.xml");
    joined.expect(
        100,
        &[
            "        FAIL [   0.010s] alpha kernel::b\n",
            "rerun: cargo npugate -p alpha --exact kernel::b --cargo-profile dev\n",
            "       CRASH [",
            "| about to abort in block::c",
            "     Summary 4 tests run in ",
            ": 2 passed, 1 ignored, 2 failed\n",
        ],
    );
    assert!(all.stderr.contains(": 2 passed, 1 ignored, 2 failed\n"), "{all}");
    // Except for the times, the merged report equals the report of one run.
    let cases = |file: &str| {
        let report = Report::deserialize_from_str(&scene.read(file)).unwrap();
        let cases = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
        let kind = |status: &TestCaseStatus| std::mem::discriminant(status);
        let case = |case: &quick_junit::TestCase| {
            let names = [case.classname.as_ref().unwrap(), &case.name].map(|name| name.to_string());
            (names, case.properties.len(), kind(&case.status))
        };
        cases.map(case).collect::<Vec<_>>()
    };
    assert_eq!(cases("joined.xml"), cases("whole.xml"));
}

#[test]
fn shards_become_one_run_even_if_one_is_empty() {
    let scene = Scene::with_tests("alpha kernel::a pass\nbeta kernel::a fail 0.5");
    scene.run("--partition slice:1/3 --results 1.jsonl").expect(0, &["Summary 1 test"]);
    scene.run("--partition slice:2/3 --results 2.jsonl").expect(100, &["Summary 1 test"]);
    scene
        .run("--partition slice:3/3 --results 3.jsonl")
        .expect(4, &["error: slice:3/3 has none of the 2 tests"]);
    let run = scene.run("merge 1.jsonl 2.jsonl 3.jsonl");
    run.expect(
        100,
        &["FAIL [", "beta-7b kernel::a", "Summary 2 tests", "alpha on emu", "beta-7b on emu"],
    );
    scene.run("merge 1.jsonl 3.jsonl").expect(96, &["incomplete without slice:2/3"]);
}

#[test]
fn the_output_of_models_that_run_in_parallel_is_kept_apart() {
    let scene = Scene::with_tests(
        "alpha kernel::a slow\nalpha kernel::b pass\nbeta kernel::a slow\nbeta kernel::b fail 0.5",
    );
    let run = scene.run("-j 2 --message-format libtest-json --results run.jsonl");
    run.expect(100, &["Running", "Running", "Summary 4 tests"]);
    let lines = json_lines(&run.stdout);
    let suites: Vec<_> = lines.iter().map(|line| line["type"] == "suite").collect();
    let suite = [true, false, false, false, false, true];
    assert_eq!(suites, [suite, suite].concat(), "{run}");
    scene.run("merge run.jsonl").expect(100, &["kernel::b", "Summary 4 tests"]);
}

#[test]
fn files_that_are_not_one_whole_run_are_not_merged() {
    let scene = Scene::with_tests("alpha kernel::a pass\nalpha kernel::b pass");
    scene.run("kernel::a --results a.jsonl").expect(0, &[]);
    scene.run("kernel::b --results b.jsonl").expect(0, &[]);
    scene.run("kernel::b --set x=y --results other.jsonl").expect(0, &[]);
    scene.run("merge a.jsonl b.jsonl").expect(0, &["Summary 2 tests"]);
    scene
        .run("merge a.jsonl a.jsonl")
        .expect(96, &["error: alpha kernel::a has a verdict in a.js"]);
    scene.run("merge a.jsonl other.jsonl").expect(96, &["on `emu+x=y` (fake NPU) in other.jsonl"]);
    scene.run("merge a.jsonl c.jsonl").expect(96, &["error: c.jsonl cannot be read: "]);
    scene
        .run("merge a.jsonl Cargo.toml")
        .expect(96, &["error: Cargo.toml is not the results of a run: "]);
    scene.run("merge").expect(2, &["<FILE>..."]);
    scene.run("--full merge a.jsonl").expect(2, &["unexpected argument '--full' found"]);
    scene.run("--partition slice:1/2 --results part.jsonl").expect(0, &["Summary 1 test"]);
    scene.run("merge part.jsonl").expect(96, &["error: the run is incomplete without slice:2/2: "]);
    assert!(!scene.path("junit.xml").exists());
}

#[test]
fn a_part_that_was_cut_short_is_reported_and_is_not_a_success() {
    let scene = Scene::with_tests("alpha kernel::a pass\nalpha kernel::b pass");
    scene.run("--results a.jsonl").expect(0, &[]);
    let text = scene.read("a.jsonl");
    let at = text.find(r#"{"message":"test_finished","model":"alpha","package":"alpha","record":{"name":"kernel::b""#);
    // As if the command was killed while it wrote.
    fs::write(scene.path("cut.jsonl"), &text[..at.unwrap() + 20]).unwrap();
    let run = scene.run("merge cut.jsonl --junit junit.xml");
    run.expect(
        123,
        &[
            "warning: cut.jsonl is from a run that was cut short: not every test has a verdict\n",
            " Interrupted 1 test not run\n     Summary 1 test run in ",
            ": 1 passed, 1 skipped\n",
        ],
    );
    let report = Report::deserialize_from_str(&scene.read("junit.xml")).unwrap();
    assert_eq!((report.tests, report.skipped), (2, 1));
}

/// A command line that is an error before anything is built.
const ERROR: [&str; 2] = ["run", ""];

#[test]
fn the_environment_decides_on_colours_and_the_option_overrules_it() {
    let colored = |variables: &[(&'static str, &str)], words: &[&str]| {
        let scene =
            variables.iter().fold(Scene::new(), |scene, (name, value)| scene.with(name, *value));
        let run = scene.run_words(ERROR.iter().chain(words));
        run.expect(2, &["the prompt is empty"]);
        run.stderr.contains('\u{1b}')
    };
    let force = ("CLICOLOR_FORCE", "1");
    for (variables, words, expected) in [
        (&[][..], &[][..], false),
        (&[force], &[], true),
        (&[force, ("NO_COLOR", "1")], &[], false),
        (&[force, ("NO_COLOR", "")], &[], true),
        (&[force, ("CLICOLOR", "0")], &[], true),
        (&[("CARGO_TERM_COLOR", "always")], &[], true),
        (&[("CARGO_TERM_COLOR", "always"), ("NO_COLOR", "1")], &[], true),
        (&[force, ("CARGO_TERM_COLOR", "never")], &[], false),
        (&[("CARGO_TERM_COLOR", "always")], &["--color", "never"], false),
        (&[("CARGO_TERM_COLOR", "never")], &["--color", "always"], true),
        (&[("NO_COLOR", "1")], &["--color", "always"], true),
    ] {
        assert_eq!(colored(variables, words), expected, "{variables:?} {words:?}");
    }
    let run = Scene::new().with("CARGO_TERM_COLOR", "sometimes").run("fetch");
    run.expect(2, &["invalid value 'sometimes' for '--color <WHEN>'"]);
}

/// Returns what the command prints on a terminal, or `None` if there is no
/// program to emulate one.
#[cfg(target_os = "linux")]
fn on_a_terminal(scene: &Scene, words: &str) -> Option<String> {
    let plain = scene.command(words.split_whitespace());
    let program = plain.get_program().to_string_lossy().into_owned();
    let args = plain.get_args().map(|arg| arg.to_string_lossy().into_owned());
    let line = std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ");
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null());
    script.current_dir(plain.get_current_dir()?).env("TERM", "xterm-256color");
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    match script.output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            eprintln!("SKIPPED: the program `script` does not start: {error}");
            None
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_has_colours_and_a_live_area_unless_they_are_turned_off() {
    let scene = Scene::with_tests("alpha kernel::a pass\nalpha kernel::b fail 0.5");
    let Some(seen) = on_a_terminal(&scene, "") else { return };
    assert!(seen.contains("\u{1b}[1m\u{1b}[91m        FAIL\u{1b}[0m"), "{seen:?}");
    assert!(seen.contains("1/2 in 0s: 1 passed"), "{seen:?}");
    for quiet in ["-q", "--no-capture"] {
        let seen = on_a_terminal(&scene, quiet).unwrap();
        assert!(seen.contains("Summary") && !seen.contains("1/2 in"), "{quiet}: {seen:?}");
    }
    for (name, value) in [("CLICOLOR", "0"), ("NO_COLOR", "1"), ("CARGO_TERM_COLOR", "never")] {
        let scene = Scene::with_tests("alpha kernel::b fail 0.5").with(name, value);
        let seen = on_a_terminal(&scene, "").unwrap();
        assert!(
            seen.contains("        FAIL [") && !seen.contains("\u{1b}[91m"),
            "{name}: {seen:?}"
        );
        // The live area does not depend on colours, but its verbs do.
        assert!(!seen.contains("\u{1b}[96m"), "{name}: {seen:?}");
    }
}
