//! `--help`.

use super::error::TEST_FAILED;
use super::typed::Typed;
use crate::schema::ExitCode;
use clap::CommandFactory;
use std::fmt::Write;

/// What a gate binary returns.
const EXIT_CODES: [(ExitCode, &str); 7] = [
    (ExitCode::Ok, "Every test that ran passed"),
    (ExitCode::Usage, "The command line is not valid"),
    (ExitCode::NoTests, "A name given with --exact selects no test"),
    (ExitCode::Setup, "Something that --generate needs is missing"),
    (TEST_FAILED, "A test failed"),
    (ExitCode::WriteFailed, "A file cannot be written"),
    (ExitCode::DeviceUnavailable, "Another process holds the device"),
];

/// The help of an adapter's gate binary.
pub(super) fn text(model: &str) -> String {
    let mut codes = "Exit codes:\n".to_owned();
    for (code, meaning) in EXIT_CODES {
        // Writing to a string cannot fail.
        let _ = writeln!(codes, "  {:<3}  {meaning}", code as u8);
    }
    Typed::command()
        .about(format!(
            "Runs the gates of {model} as tests.\n\n\
             Takes libtest's command line, and works under `cargo test`, `cargo nextest`\n\
             and `cargo npugate`."
        ))
        .after_help(codes.trim_end().to_owned())
        // The same at every width, whether clap was built to wrap or not.
        .term_width(0)
        .render_help()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_explained_under_a_heading() {
        let text = text("toy");
        for arg in Typed::command().get_arguments() {
            assert_eq!(arg.get_help_heading().is_none(), arg.is_positional(), "{arg}");
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty() && text.contains(&help), "{arg}");
        }
    }

    #[test]
    fn help_is_plain_and_fits_a_terminal() {
        let text = text("toy");
        assert!(!text.contains('\u{1b}'));
        for line in text.lines() {
            assert!(line.len() <= 120, "{line}");
        }
    }
}
