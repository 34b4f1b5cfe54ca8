use super::*;
use std::ffi::OsString;

fn resolve(line: &str, env: &[(&str, &str)]) -> Result<Resolved, UsageError> {
    let typed = Typed::parse_args(line.split_whitespace().map(OsString::from))?;
    Resolved::new(typed, &|name| {
        env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn what_was_typed_wins_over_the_environment() {
    let env = [("NPUGATE_DEVICE", "xrt"), ("NPUGATE_SETTINGS", "a=1,b=2")];
    let context = resolve("--device emu --set a=3 --toolchain v", &env).unwrap().context;
    assert_eq!(context.device, "emu");
    assert_eq!(context.settings.to_string(), "a=3,b=2,toolchain=v");
    let context = resolve("", &env).unwrap().context;
    assert_eq!(context.device, "xrt");
    assert_eq!(context.settings.to_string(), "a=1,b=2");
}

#[test]
fn a_setting_that_is_not_a_pair_is_a_usage_error() {
    assert!(matches!(resolve("--set attention", &[]), Err(UsageError::Settings(_))));
}

#[test]
fn switches_in_the_environment_are_off_when_empty_or_zero() {
    let set = |value| resolve("", &[("NPUGATE_FULL", value)]).unwrap().selection.set;
    assert_eq!((set("1"), set("0"), set("")), (TestSet::Full, TestSet::Short, TestSet::Short));
}

#[test]
fn folders_come_from_the_flag_or_the_environment() {
    let env = [("NPUGATE_FIXTURES", "env"), ("NPUGATE_EVIDENCE", "")];
    let context = resolve("", &env).unwrap().context;
    assert_eq!((context.fixtures, context.evidence), (Some("env".into()), None));
    let context = resolve("--fixtures typed --evidence e", &env).unwrap().context;
    assert_eq!((context.fixtures, context.evidence), (Some("typed".into()), Some("e".into())));
}

#[test]
fn threads_are_validated_wherever_they_come_from() {
    assert!(resolve("", &[("RUST_TEST_THREADS", "1")]).is_ok());
    let error = resolve("", &[("RUST_TEST_THREADS", "0")]).unwrap_err().to_string();
    assert_eq!(error, "`RUST_TEST_THREADS` cannot be `0`: it must be a whole number of at least 1");
}

#[test]
fn help_wins_and_other_tasks_exclude_each_other() {
    assert_eq!(resolve("--list --help", &[]).unwrap().task, Task::Help);
    assert_eq!(resolve("--list --list", &[]).unwrap().task, Task::List);
    let error = resolve("--list --describe", &[]).unwrap_err().to_string();
    assert_eq!(error, "`--list` and `--describe` cannot be used together");
    let error = resolve("--ignored --include-ignored", &[]).unwrap_err().to_string();
    assert_eq!(error, "`--ignored` and `--include-ignored` cannot be used together");
}

#[test]
fn an_explicit_format_overrules_quiet() {
    let format = |line| resolve(line, &[]).unwrap().output.format;
    assert_eq!(format(""), Format::Pretty);
    assert_eq!(format("-q"), Format::Terse);
    assert_eq!(format("-q --format json"), Format::Json);
}

#[test]
fn each_filter_is_one_set_of_arguments() {
    let selection = resolve("a b --skip c", &[]).unwrap().selection;
    let filters: Vec<_> = selection.arguments.iter().map(|a| a.filter.clone()).collect();
    assert_eq!(filters, [Some("a".into()), Some("b".into())]);
    assert!(selection.arguments.iter().all(|arguments| arguments.skip == ["c"]));
    assert_eq!(resolve("", &[]).unwrap().selection.arguments.len(), 1);
}

#[test]
fn the_seed_of_a_shuffle_may_come_from_the_environment() {
    let env = [("RUST_TEST_SHUFFLE", "1"), ("RUST_TEST_SHUFFLE_SEED", "7")];
    let shuffle = |line, env: &[_]| resolve(line, env).unwrap().run.shuffle;
    assert_eq!(shuffle("", &env), Some(Shuffle::Seeded(7)));
    assert_eq!(shuffle("", &env[..1]), Some(Shuffle::Random));
    assert_eq!(shuffle("--shuffle-seed 9", &env), Some(Shuffle::Seeded(9)));
    assert_eq!(shuffle("", &[]), None);
}
