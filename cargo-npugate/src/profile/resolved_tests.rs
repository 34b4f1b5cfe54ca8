use crate::filter::testing::{Example, examples};
use crate::profile::{Profile, Profiles, show_test};
use npugate_schema::{FlakyResult, TimeLimits};
use std::{path::Path, time::Duration};

const EXAMPLE: &str = r#"
[profile.default]
timeout = "30m"
retries = 1

[[profile.default.overrides]]
filter = 'op(gemm)'
timeout = "40m"
slow = "4m"

[[profile.default.waivers]]
filter = 'model(tiny) & op(rms_norm)'
metric = "R_p95"
limit = 4.5
reason = "the kernel rounds to floor"
expires = 2027-01-31

[profile.ci]
grace = "10s"

[[profile.ci.overrides]]
filter = 'm >= 256'
timeout = "2h"
flaky-result = "pass"

[[profile.ci.overrides]]
filter = 'op(gemm)'
timeout = "50m"
retries = 3

[[profile.ci.waivers]]
filter = 'op(conv)'
metric = "R_p95"
limit = 9.0
reason = "gone"
expires = 2027-01-31
"#;

const DECLARED: TimeLimits = TimeLimits { slow: 60, timeout: 600 };

fn profile(name: &str) -> Profile {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("npugate.toml");
    std::fs::write(&file, EXAMPLE).unwrap();
    Profiles::load(Path::new("/w"), Some(&file)).unwrap().resolve(name).unwrap()
}

fn minutes(n: u64) -> Duration {
    Duration::from_secs(60 * n)
}

#[test]
fn the_first_override_that_gives_a_setting_wins() {
    let [large, small, block, _] = &examples()[..] else { panic!() };
    let ci = profile("ci");
    let (settings, _) = ci.test(&large.facts(), DECLARED);
    assert_eq!((settings.timeout, settings.retries), (minutes(120), 3));
    assert_eq!((settings.slow, settings.flaky), (minutes(4), FlakyResult::Pass));
    assert_eq!(settings.grace, Duration::from_secs(10));
    let (settings, _) = ci.test(&small.facts(), DECLARED);
    assert_eq!((settings.timeout, settings.flaky), (minutes(50), FlakyResult::Fail));
    // What no override sets comes from the profile, and what the profile does not set
    // from the check.
    let (settings, waivers) = ci.test(&block.facts(), DECLARED);
    assert_eq!((settings.timeout, settings.slow), (minutes(30), minutes(1)));
    assert_eq!((settings.retries, waivers.len()), (1, 0));
    let (settings, _) = profile("default").test(&large.facts(), DECLARED);
    assert_eq!((settings.timeout, settings.grace), (minutes(40), Duration::from_secs(5)));
}

#[test]
fn a_test_has_the_waivers_that_are_for_it() {
    let examples = examples();
    let (_, waivers) = profile("ci").test(&examples[3].facts(), DECLARED);
    assert_eq!(waivers.len(), 1);
    assert_eq!((waivers[0].metric.as_str(), waivers[0].limit), ("R_p95", 4.5));
    assert_eq!(waivers[0].expires, jiff::civil::date(2027, 1, 31));
}

#[test]
fn a_rule_that_matches_no_test_of_a_full_run_is_reported() {
    let examples = examples();
    let facts: Vec<_> = examples.iter().map(Example::facts).collect();
    let notes: Vec<_> = profile("ci").unmatched(&facts).iter().map(ToString::to_string).collect();
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert!(note.starts_with("a waiver of R_p95 for `op(conv)` matches no test ("), "{note}");
    let end = "npugate.toml:32, profile ci): no test here has `op(conv)`; op is gemm or rms_norm";
    assert!(note.ends_with(end), "{note}");
    let notes = profile("ci").unmatched(&facts[2..3]);
    let overrides = notes.iter().filter(|note| note.to_string().starts_with("an override for"));
    assert_eq!(overrides.count(), 3);
}

#[test]
fn a_profile_is_shown_as_toml_that_means_the_same() {
    let ci = profile("ci");
    let shown = ci.show();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shown.toml");
    std::fs::write(&file, &shown).unwrap();
    let again = Profiles::load(Path::new("/w"), Some(&file)).unwrap().resolve("ci").unwrap();
    for example in examples() {
        let facts = example.facts();
        assert_eq!(ci.test(&facts, DECLARED), again.test(&facts, DECLARED), "{shown}");
    }
    assert!(shown.starts_with("# inherits default\n[profile.ci]\n# jobs is not set\n"), "{shown}");
    assert!(shown.contains("\n# slow is declared by each check\n"), "{shown}");
    assert!(shown.contains("\nflaky-result = \"fail\""), "{shown}");
    let line = shown.lines().find(|line| line.starts_with("timeout")).unwrap();
    assert!(line.starts_with("timeout = \"30m\"        # "), "{line}");
    assert!(line.ends_with("npugate.toml:3, profile default"), "{line}");
}

#[test]
fn the_settings_of_a_test_are_shown_with_where_they_come_from() {
    let examples = examples();
    let facts = examples[3].facts();
    let ci = profile("ci");
    let shown = show_test(&facts, &ci.settle(&facts, DECLARED));
    let lines: Vec<_> = shown.lines().map(|line| line.split("  # ").next().unwrap()).collect();
    assert_eq!(
        lines[..3],
        ["[[test]]", "model = \"tiny-llama\"", "name = \"kernel::rms_norm::64x64\""]
    );
    assert!(shown.contains("slow = \"1m\"            # declared by the check\n"), "{shown}");
    assert!(shown.contains("flaky-result = \"fail\"  # built in\n"), "{shown}");
    assert!(shown.contains("[[test.waivers]]\nfilter = \"model(tiny) & op(rms_norm)\""), "{shown}");
    assert!(shown.contains("expires = 2027-01-31"), "{shown}");
}
