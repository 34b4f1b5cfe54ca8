use super::*;
use crate::cli::{self, MessageFormat, RunFormat};
use crate::environment::Update;
use crate::fetch::Network;
use crate::profile::{BaselineMode, Profile, Profiles, Unreferenced};
use crate::selection::{Selection, TestSet};
use crate::version::Detail;
use clap::ColorChoice;
use npugate_schema::{CheckId, Phase};
use std::ffi::OsString;

fn resolve(line: &str) -> Result<Config, UsageError> {
    let argv = line.split_whitespace().map(OsString::from);
    let cli = cli::parse(argv, ColorChoice::Never).unwrap();
    Config::resolve(cli, Environment::default())
}

fn selection(line: &str) -> Selection {
    match resolve(line).unwrap().action {
        Action::Test(test) => test.selection,
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_before_and_after_a_command_add_up() {
    let before = selection("x --full --skip a verify --skip b token");
    assert_eq!(before.set, TestSet::Full);
    assert_eq!(before.skip, ["a", "b"]);
    assert_eq!(before.filters, ["token"]);
    assert_eq!(before.phases, test::VERIFY);
}

#[test]
fn everything_runs_without_a_command() {
    assert_eq!(selection("x"), Selection::default());
}

#[test]
fn a_phase_narrows_a_command_and_never_widens_it() {
    assert_eq!(selection("x verify --phase tokens").phases, [Phase::Tokens]);
    assert_eq!(selection("x --phase tokens").phases, [Phase::Tokens]);
    assert!(matches!(resolve("x kernel --phase tokens"), Err(UsageError::Phase { .. })));
}

#[test]
fn options_that_a_command_does_not_have_are_refused_before_it_too() {
    for (line, option) in [
        ("x --full fetch", "--full"),
        ("x --junit j.xml review", "--junit"),
        ("x --skip a run prompt", "--skip"),
        ("x --jobs 2 list", "--jobs"),
    ] {
        let argv = line.split_whitespace().map(OsString::from);
        let error = cli::parse(argv, ColorChoice::Never).unwrap_err().to_string();
        assert!(error.contains(&format!("unexpected argument '{option}' found")), "{error}");
    }
    let Action::Generate { network, .. } = resolve("x --no-fetch run prompt").unwrap().action
    else {
        panic!()
    };
    assert_eq!(network, Network::Never("--no-fetch"));
}

#[test]
fn outputs_may_be_given_on_either_side_of_the_command() {
    for line in
        ["x --results r --message-format json kernel", "x kernel --results r --message-format json"]
    {
        let Action::Test(test) = resolve(line).unwrap().action else { panic!("{line}") };
        assert_eq!((test.results, test.format), (Some("r".into()), RunFormat::Json), "{line}");
    }
    let Action::Test(test) = resolve("x").unwrap().action else { panic!() };
    assert_eq!((test.results, test.format), (None, RunFormat::Human));
}

#[test]
fn gates_and_messages_do_not_share_stdout() {
    for format in ["json", "libtest-json"] {
        let error = resolve(&format!("x --no-capture --message-format {format}")).unwrap_err();
        assert_eq!(error.exit_code(), npugate_schema::ExitCode::Usage);
    }
    assert!(resolve("x --no-capture --message-format human --results r").is_ok());
}

#[test]
fn merge_takes_files_and_a_report_on_either_side() {
    for line in ["x merge a b --junit j", "x --junit j merge a b"] {
        let Action::Merge(args) = resolve(line).unwrap().action else { panic!("{line}") };
        assert_eq!((args.files, args.junit), (vec!["a".into(), "b".into()], Some("j".into())));
    }
}

#[test]
fn a_prompt_without_text_is_refused() {
    let cli = cli::parse(["x", "run", ""].map(OsString::from), ColorChoice::Never).unwrap();
    let error = Config::resolve(cli, Environment::default()).unwrap_err();
    assert!(matches!(error, UsageError::EmptyPrompt), "{error}");
    assert_eq!(error.exit_code(), npugate_schema::ExitCode::Usage);
}

#[test]
fn offline_means_no_fetching() {
    for (line, expected) in [
        ("x --offline", Network::Never("--offline")),
        ("x --frozen kernel", Network::Never("--offline")),
        ("x kernel --no-fetch", Network::Never("--no-fetch")),
        ("x", Network::Use),
    ] {
        let Action::Test(test) = resolve(line).unwrap().action else { panic!("{line}") };
        assert_eq!(test.network, expected, "{line}");
    }
}

#[test]
fn device_options_are_passed_on_as_they_are() {
    let config = resolve("x --device emu --set a=1 --set b=2 --toolchain npu2").unwrap();
    let args = config.device.to_args();
    let expected = ["--device", "emu", "--set", "a=1", "--set", "b=2", "--toolchain", "npu2"];
    assert_eq!(args, expected.map(OsString::from));
}

fn test(line: &str) -> Test {
    match resolve(line).unwrap().action {
        Action::Test(test) => test,
        other => panic!("{other:?}"),
    }
}

fn baseline(line: &str, update: Update) -> Result<BaselineMode, UsageError> {
    test(line).baseline(&Profile::default(), update)
}

#[test]
fn a_baseline_that_is_saved_or_ignored_is_not_compared() {
    let mode = |line: &str| baseline(line, Update::New).unwrap();
    assert_eq!(mode("x"), BaselineMode::Compare);
    assert_eq!(mode("x --baseline save kernel"), BaselineMode::Save);
    for (line, passed_on) in
        [("x", false), ("x --baseline compare", false), ("x --baseline save", true)]
    {
        let args = test(line).selection(mode(line)).to_args();
        let has = args.windows(2).any(|pair| pair == ["--baseline", "ignore"]);
        assert_eq!(has, passed_on, "{line}");
    }
}

#[test]
fn options_on_baselines_override_the_profile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("npugate.toml");
    let text = "[profile.default]\nbaseline = \"ignore\"\nunreferenced = \"reject\"\n";
    std::fs::write(&path, text).unwrap();
    let profile = Profiles::load(folder.path(), Some(&path)).unwrap().resolve("default").unwrap();
    let mode = |line: &str| test(line).baseline(&profile, Update::New).unwrap();
    assert_eq!(mode("x"), BaselineMode::Ignore);
    assert_eq!(mode("x --baseline compare"), BaselineMode::Compare);
    assert_eq!(test("x gemm").unreferenced(&profile), Unreferenced::Reject);
    assert_eq!(test("x --unreferenced warn").unreferenced(&profile), Unreferenced::Warn);
}

#[test]
fn saving_is_refused_where_nothing_may_be_written_and_in_a_smoke_run() {
    let refused = baseline("x --baseline save", Update::No).unwrap_err();
    assert!(matches!(refused, UsageError::SaveForbidden), "{refused}");
    assert!(baseline("x --baseline ignore", Update::No).is_ok());
    let smoke = baseline("x --smoke --baseline save", Update::New).unwrap_err();
    assert!(matches!(smoke, UsageError::SmokeBaseline), "{smoke}");
    assert!(baseline("x --smoke --baseline ignore", Update::New).is_ok());
}

#[test]
fn a_run_of_every_test_looks_for_what_nothing_refers_to() {
    let mode = |line: &str| test(line).unreferenced(&Profile::default());
    assert_eq!(mode("x"), Unreferenced::Warn);
    assert_eq!(mode("x --full"), Unreferenced::Warn);
    for line in ["x gemm", "x kernel", "x --skip a", "x --unreferenced ignore"] {
        assert_eq!(mode(line), Unreferenced::Ignore, "{line}");
    }
    assert_eq!(mode("x gemm --unreferenced reject"), Unreferenced::Reject);
    assert_eq!(mode("x --unreferenced reject kernel"), Unreferenced::Reject);
}

#[test]
fn a_question_about_the_program_is_all_that_is_done() {
    let action = |line: &str| resolve(line).unwrap().action;
    assert_eq!(action("x -V"), Action::Version(Detail::Line));
    assert_eq!(action("x -vV kernel"), Action::Version(Detail::All));
    assert_eq!(action("x --explain"), Action::Explain(None));
    let kernel = Action::Explain(Some(CheckId::Kernel));
    assert_eq!(action("x --explain kernel"), kernel);
    assert_eq!(action("x --explain=kernel::add::2x8 verify"), kernel);
}

#[test]
fn json_is_short_for_its_message_format() {
    let format = |line: &str| match resolve(line).unwrap().action {
        Action::Pending { format } => format,
        other => panic!("{other:?}"),
    };
    assert_eq!(format("x pending"), MessageFormat::Human);
    assert_eq!(format("x pending --json"), MessageFormat::Json);
    assert_eq!(format("x pending --message-format json"), MessageFormat::Json);
}
