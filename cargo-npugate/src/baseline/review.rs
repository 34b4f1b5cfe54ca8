//! Deciding about pending changes: one by one on a terminal, or by name.

use super::{Change, ChangesError, Decision, LastRun, PendingFile, show};
use crate::cli::MessageFormat;
use crate::shell::{Shell, Tone};
use crate::text;
use npugate_schema::ExitCode;
use similar::ChangeTag;
use std::io::{self, BufRead};

/// The number of lines of a diff that are shown: the questions show every change again.
const SHOWN_DIFF: usize = 40;

/// An answer to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    One(Choice),
    AllTheRest(Choice),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    Decide(Decision),
    Skip,
}

/// Asks about each change. If the input ends, the remaining changes are skipped.
///
/// # Errors
///
/// A baseline that cannot be written. Earlier decisions are kept.
pub fn review(
    mut files: Vec<PendingFile>,
    last_run: &LastRun,
    input: &mut dyn BufRead,
    shell: &mut Shell,
) -> Result<(), ChangesError> {
    let mut all_the_rest = None;
    let mut tally = Tally::default();
    for file in &mut files {
        let changes = file.explained(last_run);
        shell.line(show::title(file));
        show_diff(file, shell);
        for (index, change) in changes.iter().enumerate() {
            let choice = match all_the_rest {
                Some(choice) => choice,
                None => match ask(change, (index + 1, changes.len()), input, shell) {
                    Answer::One(choice) => choice,
                    Answer::AllTheRest(choice) => *all_the_rest.insert(choice),
                },
            };
            match choice {
                Choice::Decide(decision) => decide(file, &change.test, decision, &mut tally),
                Choice::Skip => tally.skipped += 1,
            }
        }
        file.save()?;
    }
    tally.print(shell);
    Ok(())
}

/// Decides about every change of a test whose name contains one of these texts, or about
/// all changes if there are none.
///
/// # Errors
///
/// No such change, or a baseline that cannot be written.
pub fn decide_by_name(
    mut files: Vec<PendingFile>,
    names: &[String],
    decision: Decision,
    shell: &mut Shell,
) -> Result<(), ChangesError> {
    let mut tally = Tally::default();
    for file in &mut files {
        for test in file.changes() {
            if names.is_empty() || names.iter().any(|name| test.contains(name.as_str())) {
                decide(file, &test, decision, &mut tally);
            }
        }
        file.save()?;
    }
    if tally.accepted + tally.rejected == 0 && !names.is_empty() {
        return Err(ChangesError::NoMatch(names.to_vec()));
    }
    tally.print(shell);
    Ok(())
}

/// The pending changes as text, and the exit code that says whether there are any.
///
/// # Errors
///
/// None in practice: every value is representable.
pub fn pending(
    files: Vec<PendingFile>,
    last_run: &LastRun,
    format: MessageFormat,
) -> io::Result<(String, ExitCode)> {
    let with_changes = |file: PendingFile| {
        let changes = file.explained(last_run);
        (file, changes)
    };
    let files: Vec<_> =
        files.into_iter().map(with_changes).filter(|(_, changes)| !changes.is_empty()).collect();
    let code = if files.is_empty() { ExitCode::Ok } else { ExitCode::Pending };
    let text = match format {
        MessageFormat::Human => show::human(&files),
        MessageFormat::Json => {
            let pending: Vec<_> =
                files.iter().map(|(file, changes)| show::Pending::new(file, changes)).collect();
            serde_json::to_string_pretty(&pending).map_err(io::Error::from)? + "\n"
        }
    };
    Ok((text, code))
}

#[derive(Default)]
struct Tally {
    accepted: usize,
    rejected: usize,
    skipped: usize,
}

impl Tally {
    fn print(&self, shell: &mut Shell) {
        let mut say = |n, tone, verb| {
            if n > 0 {
                shell.status(tone, verb, text::count(n, "change"));
            }
        };
        say(self.accepted, Tone::Good, "Accepted");
        say(self.rejected, Tone::Bad, "Rejected");
        say(self.skipped, Tone::Odd, "Skipped");
        if self.accepted + self.rejected + self.skipped == 0 {
            shell.status(Tone::Good, "Fresh", "nothing is pending");
        }
    }
}

fn decide(file: &mut PendingFile, test: &str, decision: Decision, tally: &mut Tally) {
    match decision {
        Decision::Accept => {
            file.accept(test);
            tally.accepted += 1;
        }
        Decision::Reject => {
            file.reject(test);
            tally.rejected += 1;
        }
    }
}

fn show_diff(file: &PendingFile, shell: &mut Shell) {
    let lines = show::diff(&file.baseline, &file.pending);
    for line in lines.iter().take(SHOWN_DIFF) {
        let style = match line.tag {
            ChangeTag::Delete => Tone::Bad.style(),
            ChangeTag::Insert => Tone::Good.style(),
            ChangeTag::Equal => anstyle::Style::new(),
        };
        shell.line(format_args!("{style}{}{style:#}", line.text));
    }
    if lines.len() > SHOWN_DIFF {
        shell.line(format_args!("  ... {} more", text::count(lines.len() - SHOWN_DIFF, "line")));
    }
}

fn ask(
    change: &Change,
    (number, of): (usize, usize),
    input: &mut dyn BufRead,
    shell: &mut Shell,
) -> Answer {
    shell.line("");
    shell.line(show::table([change]).to_string().trim_end());
    loop {
        shell.ask(format_args!(
            "[{number}/{of}] accept, reject or skip? (a/r/s; A/R/S for all the rest) "
        ));
        let mut line = String::new();
        // Without input that can be read, nothing is decided.
        if input.read_line(&mut line).unwrap_or(0) == 0 {
            shell.line("");
            return Answer::AllTheRest(Choice::Skip);
        }
        if let Some(answer) = parse(line.trim()) {
            return answer;
        }
    }
}

fn parse(word: &str) -> Option<Answer> {
    let accept = Choice::Decide(Decision::Accept);
    let reject = Choice::Decide(Decision::Reject);
    Some(match word {
        "a" | "accept" => Answer::One(accept),
        "r" | "reject" => Answer::One(reject),
        "s" | "skip" => Answer::One(Choice::Skip),
        "A" => Answer::AllTheRest(accept),
        "R" => Answer::AllTheRest(reject),
        "S" => Answer::AllTheRest(Choice::Skip),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::{Verbosity, testing::Printed};
    use npugate_schema::{Baseline, Direction, Metric, Outcome, Record, Unit, pending_path};
    use std::path::Path;

    fn pending_file(folder: &Path, tests: &[&str]) -> PendingFile {
        let mut file = PendingFile::load(&Baseline::path(folder, "emu"), "tiny", "emu").unwrap();
        for test in tests {
            let metric = Metric::new("cosine", 0.999, Unit::Cosine, Direction::Higher);
            let record = Record::new(*test, Outcome::Passed, "").measured(vec![metric]);
            file.pending.accept(&record);
        }
        file.save().unwrap();
        file
    }

    struct Reviewed {
        accepted: Vec<String>,
        pending: Vec<String>,
        printed: String,
    }

    fn reviewed(answers: &str) -> Reviewed {
        let folder = tempfile::tempdir().unwrap();
        let file = pending_file(folder.path(), &["a", "b", "c", "d"]);
        let printed = Printed::default();
        let mut shell = printed.shell(Verbosity::Normal);
        let last_run = LastRun::new(folder.path());
        review(vec![file.clone()], &last_run, &mut answers.as_bytes(), &mut shell).unwrap();
        let after = PendingFile::load(&file.path, "tiny", "emu").unwrap();
        assert_eq!(pending_path(&file.path).exists(), !after.changes().is_empty());
        Reviewed {
            accepted: after.baseline.tests.keys().cloned().collect(),
            pending: after.changes(),
            printed: printed.text(),
        }
    }

    #[test]
    fn each_change_is_asked_about() {
        let reviewed = reviewed("a\nr\nwhat?\ns\na\n");
        assert_eq!(reviewed.accepted, ["a", "d"]);
        assert_eq!(reviewed.pending, ["c"]);
        assert_eq!(reviewed.printed.matches("accept, reject or skip?").count(), 5);
        assert!(reviewed.printed.contains("+       \"cosine\": 0.999"), "{}", reviewed.printed);
        assert!(reviewed.printed.contains("    Accepted 2 changes\n"), "{}", reviewed.printed);
    }

    #[test]
    fn a_capital_answers_for_all_the_rest() {
        let accepted = reviewed("r\nA\n");
        assert_eq!(accepted.accepted, ["b", "c", "d"]);
        assert_eq!(accepted.pending, [""; 0]);
        assert_eq!(reviewed("R\n").accepted, [""; 0]);
    }

    #[test]
    fn the_end_of_the_input_decides_nothing() {
        let reviewed = reviewed("a\n");
        assert_eq!(reviewed.accepted, ["a"]);
        assert_eq!(reviewed.pending, ["b", "c", "d"]);
    }

    #[test]
    fn names_select_what_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let file = pending_file(folder.path(), &["kernel::gemm", "kernel::softmax", "block::b"]);
        let mut shell = Printed::default().shell(Verbosity::Normal);
        let mut decide = |names: &[&str], decision| {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            let file = PendingFile::load(&file.path, "tiny", "emu").unwrap();
            decide_by_name(vec![file], &names, decision, &mut shell)
        };
        decide(&["gemm"], Decision::Accept).unwrap();
        let error = decide(&["gemm"], Decision::Accept).unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::NoTests);
        decide(&[], Decision::Reject).unwrap();
        let after = PendingFile::load(&file.path, "tiny", "emu").unwrap();
        assert_eq!(after.baseline.tests.keys().collect::<Vec<_>>(), ["kernel::gemm"]);
        assert_eq!(after.changes(), [""; 0]);
    }

    #[test]
    fn programs_read_what_is_pending_as_json() {
        let folder = tempfile::tempdir().unwrap();
        let file = pending_file(folder.path(), &["a"]);
        let last_run = LastRun::new(folder.path());
        let (text, code) = pending(vec![file], &last_run, MessageFormat::Json).unwrap();
        assert_eq!(code, ExitCode::Pending);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json[0]["changes"][0]["metrics"][0]["new"], 0.999);
        assert_eq!(json[0]["changes"][0]["metrics"][0]["old"], serde_json::Value::Null);
        let (text, code) = pending(vec![], &last_run, MessageFormat::Json).unwrap();
        assert_eq!((text.as_str(), code), ("[]\n", ExitCode::Ok));
    }
}
