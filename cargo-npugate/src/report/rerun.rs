//! A command line that runs a test again as it was run.

use crate::config::{Config, Lock, Test};
use crate::selection::{Effort, History, Ignored, TestSet, WeightsNeed};
use crate::text::shell_word;
use npugate_schema::{FlakyResult, NotRun, Record};
use std::{collections::BTreeMap, fmt::Write, path::Path};

/// How to run the tests of a run again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reruns {
    /// With these options, which are those of the run.
    With(String),
    /// With recorded command lines, by model and test.
    Recorded(BTreeMap<(String, String), String>),
}

impl Reruns {
    /// For a run on this machine.
    pub fn of(config: &Config, test: &Test) -> Self {
        Self::With(options(config, test))
    }

    /// The command line for a test of a model, or `None` if the test cannot be run or its
    /// command line is unknown.
    pub fn line(&self, model: &str, package: &str, record: &Record) -> Option<String> {
        if record.not_run == Some(NotRun::Gone) {
            return None;
        }
        match self {
            Self::With(options) => {
                let (package, name) = (shell_word(package), shell_word(&record.name));
                Some(format!("cargo npugate -p {package} --exact {name}{options}"))
            }
            Self::Recorded(lines) => lines.get(&(model.to_owned(), record.name.clone())).cloned(),
        }
    }
}

/// The options of a run that affect its tests, each after a space.
fn options(config: &Config, test: &Test) -> String {
    let mut line = String::new();
    let mut push = |flag: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = write!(line, " {flag} {}", shell_word(value));
    };
    let cargo = &config.cargo;
    let path = |path: &Path| path.to_string_lossy().into_owned();
    if let Some(manifest) = &cargo.manifest_path {
        push("--manifest-path", &path(manifest));
    }
    if let Some(folder) = &cargo.target_dir {
        push("--target-dir", &path(folder));
    }
    if let Some(profile) = &cargo.cargo_profile {
        push("--cargo-profile", profile);
    }
    for feature in &cargo.features.features {
        push("--features", feature);
    }
    if let Some(device) = &config.device.device {
        push("--device", device);
    }
    for setting in &config.device.set {
        push("--set", setting);
    }
    if let Some(toolchain) = &config.device.toolchain {
        push("--toolchain", toolchain);
    }
    if let Some(file) = &config.profile.file {
        push("--config", &path(file));
    }
    if let Some(profile) = &config.profile.name {
        push("--profile", profile);
    }
    if let Lock::Take { path: Some(lock), .. } = &test.scheduling.lock {
        push("--lock", &path(lock));
    }
    let settings = &test.settings;
    if let Some(timeout) = settings.timeout {
        push("--timeout", &timeout.to_string());
    }
    if let Some(retries) = settings.retries {
        push("--retries", &retries.to_string());
    }
    if settings.flaky == Some(FlakyResult::Pass) {
        push("--flaky-result", "pass");
    }
    let selection = &test.selection;
    let flags = [
        (cargo.features.all_features, " --all-features"),
        (cargo.features.no_default_features, " --no-default-features"),
        (selection.set == TestSet::Full, " --full"),
        (selection.effort == Effort::Smoke, " --smoke"),
        (selection.history == History::Ignore, " --baseline ignore"),
        (selection.weights == WeightsNeed::Required, " --require-weights"),
        (selection.ignored != Ignored::Skip, " --include-ignored"),
    ];
    line.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use crate::config::Action;
    use crate::environment::Environment;
    use crate::runner::NoVerdict;
    use npugate_schema::Outcome;
    use std::ffi::OsString;

    fn rerun(words: &[&str]) -> String {
        let argv = ["x"].iter().chain(words).map(OsString::from);
        let cli = cli::parse(argv, clap::ColorChoice::Never).unwrap();
        let config = Config::resolve(cli, Environment::default()).unwrap();
        let Action::Test(test) = config.action.clone() else { panic!() };
        let record = Record::new("kernel::a", Outcome::Failed, "");
        Reruns::of(&config, &test).line("tiny", "tiny-llama", &record).unwrap()
    }

    const BARE: &str = "cargo npugate -p tiny-llama --exact kernel::a";

    #[test]
    fn a_plain_run_is_rerun_without_options() {
        for words in [&["a"][..], &["--skip", "b", "kernel"], &["-p", "x"], &["--junit", "j"]] {
            assert_eq!(rerun(words), BARE, "{words:?}");
        }
    }

    #[test]
    fn whatever_changes_a_test_is_kept() {
        for (words, expected) in [
            (&["--all-features"][..], " --all-features"),
            (
                &["--no-default-features", "-F", "a b"],
                " --features a --features b --no-default-features",
            ),
            (&["--target-dir", "my target"], " --target-dir 'my target'"),
            (&["--manifest-path", "it's/Cargo.toml"], r" --manifest-path 'it'\''s/Cargo.toml'"),
            (&["--cargo-profile", "dev"], " --cargo-profile dev"),
            (&["--device", "emu", "--set", "a=b c"], " --device emu --set 'a=b c'"),
            (&["--toolchain", "npu2"], " --toolchain npu2"),
            (&["--full", "--smoke"], " --full --smoke"),
            (&["-P", "ci", "--config", "a.toml"], " --config a.toml --profile ci"),
            (&["--lock", "npu.lock", "--jobs", "2"], " --lock npu.lock"),
            (
                &["--timeout", "90s", "--retries", "2", "--flaky-result", "pass", "--slow", "1s"],
                " --timeout '1m 30s' --retries 2 --flaky-result pass",
            ),
            (&["--require-weights", "--ignored"], " --require-weights --include-ignored"),
        ] {
            assert_eq!(rerun(words), format!("{BARE}{expected}"));
        }
    }

    #[test]
    fn a_test_that_is_gone_or_unknown_has_no_command_line() {
        let with = Reruns::With(String::new());
        assert_eq!(with.line("tiny", "tiny", &NoVerdict::Gone.record("kernel::a")), None);
        let key = ("tiny".to_owned(), "kernel::a".to_owned());
        let recorded = Reruns::Recorded([(key, "again".to_owned())].into());
        let record = |name: &str| Record::new(name, Outcome::Failed, "");
        assert_eq!(recorded.line("tiny", "p", &record("kernel::a")).as_deref(), Some("again"));
        assert_eq!(recorded.line("tiny", "p", &record("kernel::b")), None);
    }
}
