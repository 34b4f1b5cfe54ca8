use super::*;
use crate::profile::{BaselineMode, MaxFail};
use std::num::NonZero;

const EXAMPLE: &str = r#"
[profile.default]
jobs = 2
fail-fast = true
timeout = "30m"
lock = "locks/npu"
baseline = "compare"

[profile.ci]
jobs = 4
fail-fast = false
junit = "/tmp/junit.xml"
unreferenced = "reject"

[profile.nightly]
inherits = "ci"
jobs = 8
max-fail = 3
"#;

fn parse(text: &str) -> Result<Profiles, ConfigError> {
    Profiles::parse(text, "npugate.toml", Path::new("/w"))
}

/// The error as it is shown.
fn refused(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

fn jobs(profile: &Profile) -> Option<usize> {
    profile.values.jobs.as_deref().map(|jobs| jobs.get())
}

#[test]
fn a_profile_inherits_what_it_does_not_set() {
    let profiles = parse(EXAMPLE).unwrap();
    let nightly = profiles.resolve("nightly").unwrap();
    assert_eq!(nightly.names, ["nightly", "ci", "default"]);
    assert_eq!(jobs(&nightly), Some(8));
    let three = MaxFail::After(NonZero::new(3).unwrap());
    assert_eq!(nightly.values.max_fail.as_deref(), Some(&three));
    assert_eq!(nightly.values.junit.as_deref(), Some(&PathBuf::from("/tmp/junit.xml")));
    assert_eq!(nightly.values.lock.as_deref(), Some(&PathBuf::from("/w/locks/npu")));
    assert_eq!(nightly.values.baseline.as_deref(), Some(&BaselineMode::Compare));
    let ci = profiles.resolve("ci").unwrap();
    assert_eq!((ci.names.len(), jobs(&ci)), (2, Some(4)));
    assert_eq!(ci.values.max_fail.as_deref(), Some(&MaxFail::Never));
    let default = profiles.resolve("default").unwrap();
    assert_eq!((jobs(&default), default.values.junit), (Some(2), None));
    assert_eq!(default.values.max_fail.as_deref(), Some(&MaxFail::After(NonZero::<usize>::MIN)));
}

#[test]
fn a_value_knows_where_it_comes_from() {
    let profile = parse(EXAMPLE).unwrap().resolve("ci").unwrap();
    let origin = |origin: &crate::profile::origin::Origin| origin.to_string();
    let jobs = profile.values.jobs.unwrap();
    assert_eq!(origin(&jobs.origin), "npugate.toml:10, profile ci");
    let timeout = profile.values.timeout.unwrap();
    assert_eq!(origin(&timeout.origin), "npugate.toml:5, profile default");
}

#[test]
fn only_default_exists_without_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let profiles = Profiles::load(folder.path(), None).unwrap();
    assert_eq!(jobs(&profiles.resolve("default").unwrap()), None);
    let error = profiles.resolve("ci").unwrap_err().to_string();
    assert!(error.ends_with("has no profile `ci`; choose default"), "{error}");
    let named = folder.path().join("mine.toml");
    let error = Profiles::load(folder.path(), Some(&named)).unwrap_err().to_string();
    assert!(error.contains("mine.toml cannot be read: "), "{error}");
}

#[test]
fn the_workspaces_own_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".config")).unwrap();
    std::fs::write(folder.path().join(FILE), EXAMPLE).unwrap();
    let profiles = Profiles::load(folder.path(), None).unwrap();
    assert_eq!(jobs(&profiles.resolve("ci").unwrap()), Some(4));
}

#[test]
fn a_mistyped_profile_is_refused_with_the_nearest() {
    let error = parse(EXAMPLE).unwrap().resolve("nigthly").unwrap_err().to_string();
    assert_eq!(error, "npugate.toml has no profile `nigthly`; did you mean `nightly`?");
}

#[test]
fn a_key_that_nothing_reads_is_pointed_at() {
    assert_eq!(
        refused("[profile.default]\njob = 4\n"),
        "npugate.toml:2:1: a profile has no key `job`; did you mean `jobs`?\n    job = 4\n    ^^^"
    );
    assert_eq!(
        refused("[[profile.ci.overrides]]\nfilter = 'all()'\ntimeuot = '5s'"),
        "npugate.toml:3:1: an override has no key `timeuot`; did you mean `timeout`?\n    timeuot = '5s'\n    ^^^^^^^"
    );
    assert!(refused("[[profile.ci.waivers]]\nreasn = ''").contains("did you mean `reason`?"));
    assert!(
        refused("[profiles.ci]")
            .contains("1:2: the file has no key `profiles`; did you mean `profile`?")
    );
    assert!(refused("xyz = 1").contains("the file has no key `xyz`; it can have profile\n"));
}

#[test]
fn a_value_that_makes_no_sense_is_pointed_at() {
    for (line, place, message) in [
        ("jobs = 0", "2:8", "nonzero"),
        ("jobs = 'many'", "2:8", "invalid type"),
        ("timeout = 60", "2:11", "invalid type"),
        ("timeout = '60'", "2:11", "`60` is not a duration; "),
        ("baseline = 'comapre'", "2:12", "unknown variant `comapre`"),
        ("flaky-result = 'maybe'", "2:16", "unknown variant `maybe`"),
        ("retries = -1", "2:11", "-1"),
        ("jobs = ", "2:8", ""),
        ("max-fail = 2\nfail-fast = true", "2:12", "`fail-fast` or `max-fail`, but not both"),
        ("overrides = [{ filter = 'all()' }]", "2:14", "this override sets nothing"),
        ("overrides = [{ slow = '1s' }]", "2:14", "missing field `filter`"),
    ] {
        let error = refused(&format!("[profile.default]\n{line}\n"));
        assert!(error.starts_with(&format!("npugate.toml:{place}: ")), "{line}: {error}");
        assert!(error.contains(message) && error.contains('^'), "{line}: {error}");
    }
}

#[test]
fn a_filter_that_cannot_be_read_is_pointed_at_in_the_file() {
    for (quoted, column) in [
        ("'op(gemm) & m >='", 26),
        ("\"op(gemm) & m >=\"", 26),
        // If an escape moves the characters, the error points at the whole string.
        ("\"op(g\\u0065mm) & m >=\"", 10),
    ] {
        let text = format!("[[profile.ci.overrides]]\nfilter = {quoted}\nslow = '1s'\n");
        let error = refused(&text);
        let start = format!("npugate.toml:2:{column}: expected a whole number");
        assert!(error.starts_with(&start), "{error}");
    }
    let text =
        "[[profile.ci.overrides]]\nslow = '1s'\nfilter = '''\nop(gemm)\n  & kind(kernle)'''\n";
    let error = refused(text);
    assert!(error.starts_with("npugate.toml:5:10: `kernle` is not a phase"), "{error}");
}

fn waiver(metric: &str, limit: &str, reason: &str, expires: &str) -> String {
    format!(
        "[[profile.ci.waivers]]\nfilter = 'all()'\nmetric = {metric}\nlimit = {limit}\nreason = {reason}\nexpires = {expires}\n"
    )
}

#[test]
fn a_waiver_needs_a_metric_a_limit_a_reason_and_a_day() {
    let whole = waiver("'R_p95'", "4.5", "'because'", "2027-01-31");
    parse(&whole).unwrap();
    for (text, start) in [
        (waiver("''", "4.5", "'because'", "2027-01-31"), "npugate.toml:3:10: a waiver must name"),
        (waiver("'R'", "nan", "'because'", "2027-01-31"), "npugate.toml:4:9: the limit of"),
        (waiver("'R'", "inf", "'because'", "2027-01-31"), "npugate.toml:4:9: the limit of"),
        (
            waiver("'R'", "4.5", "'  '", "2027-01-31"),
            "npugate.toml:5:10: a waiver must give a reason",
        ),
        (waiver("'R'", "4.5", "'because'", "'soon'"), "npugate.toml:6:11: "),
        (waiver("'R'", "4.5", "'because'", "2027-02-30"), "npugate.toml:6:"),
        (waiver("'R'", "4.5", "'because'", "2027-01-31T10:00:00Z"), "npugate.toml:6:11: `2027"),
        (waiver("'R'", "4.5", "'because'", "10:00:00"), "npugate.toml:6:11: `10:00"),
    ] {
        let error = refused(&text);
        assert!(error.starts_with(start), "{error}");
    }
    let lines: Vec<_> = whole.lines().collect();
    for missing in 1..lines.len() {
        let mut lines = lines.clone();
        let key = lines.remove(missing).split(' ').next().unwrap();
        let error = refused(&lines.join("\n"));
        assert!(error.contains(&format!("missing field `{key}`")), "{error}");
    }
}

#[test]
fn parents_that_do_not_exist_or_form_a_cycle_are_refused() {
    let error = refused("[profile.ci]\n[profile.nightly]\ninherits = 'cii'\n");
    assert!(
        error.starts_with("npugate.toml:3:12: there is no profile `cii`; did you mean `ci`?"),
        "{error}"
    );
    for (text, chain) in [
        ("[profile.a]\ninherits = 'a'", "`a` inherits itself: a inherits a"),
        (
            "[profile.a]\ninherits = 'b'\n[profile.b]\ninherits = 'c'\n[profile.c]\ninherits = 'a'",
            "`a` inherits itself: a inherits b inherits c inherits a",
        ),
        (
            "[profile.default]\ninherits = 'ci'\n[profile.ci]\n",
            "`default` inherits itself: default inherits ci inherits default",
        ),
    ] {
        assert!(refused(text).contains(chain), "{}", refused(text));
    }
}
