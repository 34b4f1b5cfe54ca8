//! `--help`, from the table of flags.

use super::flag::{Flag, GROUPS, Kind};
use std::fmt::Write;

/// The help of an adapter's gate binary.
pub(super) fn text(model: &str) -> String {
    let mut text = format!(
        "The gates of {model}, as tests.\n\n\
         Usage: [FLAGS] [FILTER]...\n\n\
         Runs the tests whose names contain one of the filters, or all tests. Takes\n\
         libtest's command line and works under `cargo test`, `cargo nextest` and\n\
         `cargo npugate`.\n"
    );
    let width = GROUPS.iter().flat_map(|(_, flags)| *flags).map(|flag| usage(flag).len()).max();
    let width = width.unwrap_or_default();
    for (title, flags) in GROUPS {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{title}:\n");
        for flag in flags {
            let _ = writeln!(text, "  {:width$}  {}", usage(flag), flag.help);
        }
    }
    text.push_str(
        "\nExit codes: 0 every test that ran passed, 2 the command line makes no sense, 4 no test\n\
         has a name that was given exactly, 96 something that the run needs is missing, 101 a test\n\
         failed, 110 a file cannot be written.\n",
    );
    text
}

/// `-q, --quiet`, `--skip TEXT`.
fn usage(flag: &Flag) -> String {
    let short = flag.short.map(|short| format!("-{short}"));
    let long = flag.long.map(|long| format!("--{long}"));
    let names: Vec<_> = [short, long].into_iter().flatten().collect();
    let names = names.join(", ");
    match flag.kind {
        Kind::Switch(_) => names,
        Kind::Value { name, .. } => format!("{names} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::flag;

    #[test]
    fn every_flag_is_explained() {
        let text = text("toy");
        for flag in flag::all() {
            assert!(text.contains(&format!("  {}  ", usage(flag))), "{}", usage(flag));
        }
        assert!(text.contains("  -q, --quiet  "));
        assert!(text.contains("  -Z unstable-options  "));
    }
}
