//! A run on GitHub Actions: an annotation for each test that did not pass, and a
//! summary of the step in Markdown.

use super::{Run, failures, summary, words};
use crate::environment::GitHub;
use crate::files::FileError;
use crate::runner::ModelResult;
use crate::shell::Shell;
use crate::text;
use fs_err as fs;
use npugate_schema::Summary;
use std::{fmt::Write as _, io::Write as _};

/// The number of failures in a summary: GitHub drops a summary larger than one MiB.
const LISTED: usize = 200;

/// Prints the annotations, each on its own line as GitHub requires.
pub fn annotate(results: &[ModelResult], shell: &mut Shell) {
    for result in results {
        let model = &result.description.model;
        for record in failures::of(result) {
            let (_, verb) = words::verb(&record.outcome);
            let title = property(&format!("{verb} {model} {}", record.name));
            shell.line(format_args!("::error title={title}::{}", data(&record.verdict)));
        }
        for trouble in &result.troubles {
            let title = property(&format!("the gate of {model} is broken"));
            shell.line(format_args!("::error title={title}::{}", data(trouble)));
        }
    }
}

/// Appends the summary to the step's file, if there is one.
///
/// # Errors
///
/// Any failure to write.
pub fn summarize(results: &[ModelResult], run: &Run, github: &GitHub) -> Result<(), FileError> {
    let Some(path) = &github.step_summary else { return Ok(()) };
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(markdown(results, run).as_bytes()))
        .map_err(|source| FileError::Write { path: path.clone(), source })
}

fn markdown(results: &[ModelResult], run: &Run) -> String {
    let counts = words::counts(&summary::total(results));
    let partition = run.partition.as_ref().map_or(String::new(), |part| format!(" {part}"));
    let mut text = format!("### cargo npugate{}: {counts}\n\n", escape(&partition));
    text +=
        "| model | device | passed | failed | regressed | invalid | skipped | ignored | time |\n";
    text += "|---|---|--:|--:|--:|--:|--:|--:|--:|\n";
    for result in results {
        let description = &result.description;
        let counts: Summary = result.records.iter().map(|record| &record.outcome).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            escape(&description.model),
            escape(&description.device),
            counts.passed + counts.waived,
            counts.failed,
            counts.regressed,
            counts.invalid,
            counts.skipped,
            counts.ignored,
            text::duration(result.seconds),
        );
    }
    text += &failed(results, run);
    for result in results {
        for trouble in &result.troubles {
            let model = escape(&result.description.model);
            let _ = write!(text, "\nThe gate of {model} is broken: {}\n", escape(trouble));
        }
    }
    text + "\n"
}

/// The tests that did not pass, with what was found and how to run them again.
fn failed(results: &[ModelResult], run: &Run) -> String {
    let of = |result| failures::of(result).map(move |record| (result, record));
    let failures: Vec<_> = results.iter().flat_map(of).collect();
    if failures.is_empty() {
        return String::new();
    }
    let mut text = "\n| test | outcome | verdict | rerun |\n|---|---|---|---|\n".to_owned();
    for (result, record) in failures.iter().take(LISTED) {
        let model = &result.description.model;
        let rerun = run.reruns.line(model, &result.package, record).unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} {} | {} | {} | {} |",
            escape(model),
            escape(&record.name),
            escape(&record.outcome.to_string()),
            escape(&record.verdict),
            code(&rerun),
        );
    }
    if let Some(more) = failures.len().checked_sub(LISTED).filter(|more| *more > 0) {
        let _ = write!(text, "\n{more} more did not pass.\n");
    }
    text
}

/// The message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Text in a cell of a Markdown table, shown literally.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => escaped += "<br>",
            '\r' => {}
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '\\' | '|' | '*' | '_' | '`' | '~' | '[' | ']' | '#' | '!' | '@' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// Code in a cell of a Markdown table, as HTML, in which a backtick has no meaning.
fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<code>{}</code>", escape(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Reruns;
    use crate::shell::{Verbosity, testing::Printed};
    use npugate_schema::{Description, Outcome, Record};

    fn results(verdict: &str) -> [ModelResult; 1] {
        let records = vec![
            Record::new("kernel::a", Outcome::Passed, "fine"),
            Record::new("block::b,c", Outcome::Failed, verdict),
        ];
        let troubles = vec!["it died".into()];
        let description = Description::new("tiny", "emu");
        let result = ModelResult::new(description, "tiny-llama");
        [ModelResult { records, troubles, seconds: 1.5, ..result }]
    }

    #[test]
    fn annotations_are_escaped_as_github_reads_them() {
        let printed = Printed::default();
        annotate(&results("50 %: a,\r\nb"), &mut printed.shell(Verbosity::Quiet));
        assert_eq!(
            printed.text(),
            "::error title=FAIL tiny block%3A%3Ab%2Cc::50 %25: a,%0D%0Ab
::error title=the gate of tiny is broken::it died
"
        );
    }

    #[test]
    fn the_step_summary_has_a_table_of_models_and_one_of_failures() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("summary.md");
        std::fs::write(&path, "before\n").unwrap();
        let github = GitHub { step_summary: Some(path.clone()) };
        let run = Run { reruns: Reruns::With(" --set 'a|b'".into()), ..Run::default() };
        summarize(&results("x < y | `z`\nend"), &run, &github).unwrap();
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            r"before
### cargo npugate: 1 passed, 1 failed

| model | device | passed | failed | regressed | invalid | skipped | ignored | time |
|---|---|--:|--:|--:|--:|--:|--:|--:|
| tiny | emu | 1 | 1 | 0 | 0 | 0 | 0 | 1.5s |

| test | outcome | verdict | rerun |
|---|---|---|---|
| tiny block::b,c | failed | x &lt; y \| \`z\`<br>end | <code>cargo npugate -p tiny-llama --exact block::b,c --set 'a\|b'</code> |

The gate of tiny is broken: it died

"
        );
    }

    #[test]
    fn a_long_list_of_failures_is_cut() {
        let [mut result] = results("");
        result.records =
            (0..250).map(|n| Record::new(format!("a::{n}"), Outcome::Failed, "")).collect();
        let text = markdown(&[result], &Run::default());
        assert_eq!(text.matches("| failed |  |").count(), 200);
        assert!(text.contains("\n50 more did not pass.\n"), "{text}");
    }

    #[test]
    fn a_summary_that_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let github = GitHub { step_summary: Some(folder.path().into()) };
        let error = summarize(&results(""), &Run::default(), &github).unwrap_err();
        assert_eq!(error.exit_code(), npugate_schema::ExitCode::WriteFailed);
        summarize(&results(""), &Run::default(), &GitHub { step_summary: None }).unwrap();
    }
}
