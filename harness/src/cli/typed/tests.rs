use super::*;
use clap::CommandFactory;

fn parse(line: &str) -> Result<Typed, UsageError> {
    Typed::parse_args(line.split_whitespace().map(OsString::from))
}

fn error(line: &str) -> String {
    parse(line).unwrap_err().to_string()
}

#[test]
fn clap_finds_no_fault_in_the_definitions() {
    Typed::command().debug_assert();
}

/// `--help` of a test binary that rustc 1.95 built, flag by flag.
#[test]
fn every_flag_of_libtest_is_accepted() {
    const LIBTEST: &[&str] = &[
        "--include-ignored",
        "--ignored",
        "--force-run-in-process",
        "--exclude-should-panic",
        "--test",
        "--bench",
        "--list",
        "--fail-fast",
        "--help",
        "-h",
        "--logfile PATH",
        "--no-capture",
        "--nocapture",
        "--test-threads 4",
        "--skip FILTER",
        "--quiet",
        "-q",
        "--exact",
        "--color auto",
        "--color always",
        "--color never",
        "--format pretty",
        "--format terse",
        "--format json",
        "--show-output",
        "-Z unstable-options",
        "-Zunstable-options",
        "--report-time",
        "--ensure-time",
        "--shuffle",
        "--shuffle-seed 42",
    ];
    for line in LIBTEST {
        assert!(parse(line).is_ok(), "{line}");
        let joined = line.replacen(' ', "=", 1);
        assert!(parse(&joined).is_ok() || joined.starts_with("-Z"), "{joined}");
        assert!(parse(&format!("{line} {line}")).is_ok(), "{line}, repeated");
    }
}

#[test]
fn flags_and_filters_may_be_mixed_and_repeated() {
    let typed = parse("gemm --skip high --exact softmax --skip=low -- --odd -q").unwrap();
    assert_eq!(typed.filters, ["gemm", "softmax", "--odd", "-q"]);
    assert_eq!(typed.tests.skip, ["high", "low"]);
    assert!(typed.tests.exact && !typed.printing.quiet);
}

#[test]
fn a_lone_dash_is_a_filter_and_short_flags_may_be_joined() {
    assert_eq!(parse("-").unwrap().filters, ["-"]);
    let typed = parse("-qZunstable-options -hq").unwrap();
    assert!(typed.printing.quiet && typed.task.help);
}

#[test]
fn a_value_may_begin_with_a_dash_or_hold_an_equals_sign() {
    let typed = parse("--skip --exact --set attention=host --toolchain=2026-06").unwrap();
    assert_eq!(typed.tests.skip, ["--exact"]);
    assert!(!typed.tests.exact);
    assert_eq!(typed.running.settings, ["attention=host"]);
    assert_eq!(typed.running.toolchain.unwrap(), "2026-06");
}

#[test]
fn the_last_of_several_values_counts() {
    let typed = parse("--format json --max-tokens 3 --format terse --max-tokens 4").unwrap();
    assert_eq!(typed.printing.format, Some(Format::Terse));
    assert_eq!(typed.task.max_tokens.get(), 4);
}

#[test]
fn each_mistake_has_its_sentence() {
    assert!(error("--bogus").starts_with("unknown flag `--bogus`: `--help` lists the flags"));
    assert!(error("-x").starts_with("unknown flag `-x`: "));
    assert!(error("--=x").starts_with("unknown flag `--`: "));
    assert_eq!(error("--lst"), "unknown flag `--lst`: did you mean `--list`?");
    assert_eq!(error("--skip"), "`--skip` needs a value: write `--skip TEXT`");
    assert_eq!(error("-Z"), "`-Z` needs a value: write `-Z unstable-options`");
    assert_eq!(error("--exact=yes"), "`--exact` takes no value");
    assert_eq!(
        error("--test-threads 0"),
        "`--test-threads` cannot be `0`: it must be a whole number of at least 1"
    );
    assert_eq!(
        error("--color blue"),
        "`--color` cannot be `blue`: it must be one of auto, always, never"
    );
    assert_eq!(error("--list --describe"), "`--list` and `--describe` cannot be used together");
    assert_eq!(
        error("--include-ignored --ignored"),
        "`--include-ignored` and `--ignored` cannot be used together"
    );
    assert!(error("--phase blok").contains("`blok` is not a phase; the phases are goldens, "));
    assert!(error("--format junit").contains("cargo npugate --junit PATH"));
}

#[test]
fn numbers_start_at_one() {
    assert_eq!(positive("3").map(NonZero::get), Ok(3));
    for text in ["0", "", "-1", "x", "1.5"] {
        assert!(positive(text).is_err(), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn arguments_are_utf8() {
    use std::os::unix::ffi::OsStringExt;
    let error = Typed::parse_args([OsString::from_vec(vec![b'a', 0xff])]).unwrap_err();
    assert!(matches!(error, UsageError::NotUtf8(_)));
}
