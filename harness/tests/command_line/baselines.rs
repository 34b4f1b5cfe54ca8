//! A gate binary beside accepted figures and known failures.

use crate::gate::{Ran, run, run_with};
use tempfile::TempDir;

crate::trials! {
    a_test_that_is_not_what_its_baseline_says_fails,
    a_run_that_ignores_baselines_is_judged_by_its_limits,
    known_failures_hold_with_and_without_baselines,
    a_gate_does_not_save_baselines,
}

const NAME: &str = "kernel::add::4x160";

/// Fixtures of the toy whose baseline has a figure that is no longer measured.
fn fixtures() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("toy/baseline")).unwrap();
    let baseline = format!(
        r#"{{"schema":"npugate-baseline/1","model":"toy","device":"host","tests":{{"{NAME}":{{"old_figure":1.0}}}}}}"#
    );
    std::fs::write(folder.path().join("toy/baseline/host.json"), baseline).unwrap();
    folder
}

fn beside(folder: &TempDir, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut variables = variables.to_vec();
    variables.push(("NPUGATE_FIXTURES", folder.path().to_str().unwrap()));
    run_with("sound", &[&[NAME][..], args].concat(), &variables)
}

fn a_test_that_is_not_what_its_baseline_says_fails() {
    let folder = fixtures();
    for args in [&[][..], &["--baseline", "compare"]] {
        let ran = beside(&folder, args, &[]);
        assert_eq!(ran.code, Some(101), "{args:?}");
        assert!(ran.err.contains("the baseline has old_figure"), "{}", ran.err);
    }
    let typed_wins = beside(&folder, &["--baseline", "compare"], &[("NPUGATE_BASELINE", "ignore")]);
    assert_eq!(typed_wins.code, Some(101));
}

fn a_run_that_ignores_baselines_is_judged_by_its_limits() {
    let folder = fixtures();
    let typed = beside(&folder, &["--baseline=ignore"], &[]);
    let from_environment = beside(&folder, &[], &[("NPUGATE_BASELINE", "ignore")]);
    for ran in [typed, from_environment] {
        assert_eq!(
            (ran.code, ran.err.as_str()),
            (Some(0), "nothing was compared with the baseline\n")
        );
    }
    assert_eq!(run("faulty", &["3x8", "--baseline", "ignore"]).code, Some(101));
}

fn known_failures_hold_with_and_without_baselines() {
    let folder = fixtures();
    let known = format!(
        r#"{{"schema":"npugate-known-failures/1","devices":{{"host":{{"{NAME}":{{"reason":"floors","since":"2026-11-30","metrics":{{}}}}}}}}}}"#
    );
    std::fs::write(folder.path().join("toy/known-failures.json"), known).unwrap();
    let ran = beside(&folder, &["--baseline", "ignore"], &[]);
    assert_eq!(ran.code, Some(101));
    assert!(ran.err.contains("passes, but is listed as a known failure"), "{}", ran.err);
}

fn a_gate_does_not_save_baselines() {
    let ran = run("sound", &["--baseline", "save"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("`--baseline` cannot be `save`: a gate only reads"), "{}", ran.err);
    let ran = run_with("sound", &[], &[("NPUGATE_BASELINE", "never")]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.err.contains("`NPUGATE_BASELINE` cannot be `never`: it must be `compare`"),
        "{}",
        ran.err
    );
}
