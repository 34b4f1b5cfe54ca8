//! What this program knows about itself and its checks. Needs no workspace.

use crate::cli;
use crate::error::Error;
use crate::files::FileError;
use crate::shell::{self, Shell, Tone};
use crate::text;
use crate::version::{Detail, Version};
use anstyle::Style;
use clap::Command;
use clap_mangen::Man;
use npugate_schema::{CheckId, ExitCode, write_atomically};
use std::{fmt::Write as _, io, path::Path};

/// Columns of a text whose reader is not a terminal.
const WIDTH: usize = 100;

/// The name of the executable, which is what a shell completes.
const EXECUTABLE: &str = "cargo-npugate";

/// Prints the version.
pub fn version(detail: Detail) -> Result<ExitCode, Error> {
    shell::print_data(Version::of_this_program().text(detail))?;
    Ok(ExitCode::Ok)
}

/// Explains a check, or lists them all.
pub fn explain(check: Option<CheckId>) -> Result<ExitCode, Error> {
    let width = shell::stdout_width().unwrap_or(WIDTH).clamp(40, WIDTH);
    shell::print_data(match check {
        Some(check) => explanation(check, width),
        None => checks(width),
    })?;
    Ok(ExitCode::Ok)
}

/// A line for each check.
fn checks(width: usize) -> String {
    let column = CheckId::ALL.map(|check| check.as_str().len()).into_iter().max().unwrap_or(0);
    let mut text = String::new();
    for check in CheckId::ALL {
        let title = text::fit(check.explanation().title, width.saturating_sub(column + 2));
        let _ = writeln!(text, "{check:column$}  {title}");
    }
    text
}

/// The sections of a check's explanation.
fn explanation(check: CheckId, width: usize) -> String {
    const BOLD: Style = Style::new().bold();
    let explanation = check.explanation();
    let mut text = format!("{BOLD}{check}{BOLD:#}: {}\n", explanation.title);
    for section in &explanation.sections {
        let _ = write!(text, "\n{BOLD}{}{BOLD:#}\n", section.title);
        let mut before_is_item = false;
        for (index, block) in section.blocks().iter().enumerate() {
            let is_item = block.starts_with("- ");
            if index > 0 && !(is_item && before_is_item) {
                text.push('\n');
            }
            before_is_item = is_item;
            let hanging = if is_item { "    " } else { "  " };
            text += &text::wrap(block, width, "  ", hanging);
        }
    }
    text
}

/// Prints a shell's completions.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), EXECUTABLE, &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == clap_complete::Shell::Bash {
        // clap_complete 4.6.12 spells a dash of the executable's name in two ways, and so
        // never finds what belongs to a command.
        script = script.replace("cargo__subcmd__npugate", "cargo__npugate");
    }
    shell::print_data(script)?;
    Ok(ExitCode::Ok)
}

/// Writes the manual's pages to a folder, or prints the main one.
pub fn man(folder: Option<&Path>, shell: &mut Shell) -> Result<ExitCode, Error> {
    let mut command = cli::command();
    command.build();
    let Some(folder) = folder else {
        let (_, page) = page(&command)?;
        shell::print_data(String::from_utf8_lossy(&page))?;
        return Ok(ExitCode::Ok);
    };
    let mut count = 0;
    for command in with_commands(&command) {
        let (name, page) = page(command)?;
        let path = folder.join(name);
        write_atomically(&path, &page).map_err(|source| FileError::Write { path, source })?;
        count += 1;
    }
    let pages = text::count(count, "page");
    shell.status(Tone::Good, "Written", format_args!("{pages} to {}", folder.display()));
    Ok(ExitCode::Ok)
}

/// A command and all its subcommands.
fn with_commands(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(command).chain(below.flat_map(with_commands)).collect()
}

/// A page's file name and text.
fn page(command: &Command) -> io::Result<(String, Vec<u8>)> {
    let version = Version::of_this_program().release;
    let man =
        Man::new(command.clone()).manual("cargo npugate").source(format!("{EXECUTABLE} {version}"));
    let mut page = Vec::new();
    man.render(&mut page)?;
    Ok((man.get_filename(), page))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn every_check_has_a_line_that_fits() {
        let text = checks(100);
        assert_eq!(text.lines().count(), CheckId::ALL.len());
        assert!(
            text.starts_with("goldens                  Every golden file is there and unchanged\n")
        );
        assert!(checks(60).lines().all(|line| line.chars().count() <= 60));
    }

    #[test]
    fn an_explanation_is_wrapped_with_hanging_items() {
        let text = plain(&explanation(CheckId::KvCache, 72));
        assert!(
            text.starts_with("consistency::kv_cache: The KV cache that decode writes is"),
            "{text}"
        );
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= 72), "{text}");
        assert!(
            text.contains(
                "\nWhat usually breaks it\n  - A slot that is written or read one position off: -0.16 in the first\n    layer (`tests/FAULTS.md`).\n  - RoPE"
            ),
            "{text}"
        );
    }

    #[test]
    fn there_is_a_manual_page_for_every_command() {
        let mut command = cli::command();
        command.build();
        let names: Vec<_> =
            with_commands(&command).into_iter().map(|command| page(command).unwrap().0).collect();
        for name in ["cargo-npugate.1", "cargo-npugate-kernel.1", "cargo-npugate-registry-add.1"] {
            assert!(names.contains(&name.to_owned()), "{names:?}");
        }
        let (_, main) = page(&command).unwrap();
        let main = String::from_utf8(main).unwrap();
        assert!(main.contains(".TH cargo-npugate 1") && main.contains("Exit codes"), "{main}");
    }
}
