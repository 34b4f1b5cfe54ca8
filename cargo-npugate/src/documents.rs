//! Documents under version control that are compared with the code: the help, the exit
//! codes, the map of the code. `NPUGATE_UPDATE_DOCS=1 cargo test -p cargo-npugate` writes
//! those that are generated.

use crate::cli;
use clap::Command;
use npugate_documents::document;
use npugate_schema::ExitCode;
use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// Columns of the help in the documents.
const WIDTH: usize = 100;

const HELP: &str = "docs/help";

/// The start of the document on exit codes.
const EXIT_CODES: &str = "\
# Exit codes

The exit codes of `cargo npugate`. Codes that cargo-nextest also has keep its meaning. A gate binary
that is run by hand returns 101 when a test fails, as libtest does; its other codes are the same.
`cargo npugate record` passes on the recorder's own code.

Written by `NPUGATE_UPDATE_DOCS=1 cargo test -p cargo-npugate` from
[`ExitCode`](../../harness/schema/src/exit_code.rs).

| code | name | meaning |
|---|---|---|
";

/// The long help of a command and all its subcommands, by file name.
fn help(command: &Command, name: &str) -> Vec<(String, String)> {
    let text = command.clone().term_width(WIDTH).render_long_help().to_string();
    // The parser pads some lines with spaces.
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    let mut all = vec![(format!("{name}.txt"), lines.join("\n").trim_end().to_owned() + "\n")];
    for below in command.get_subcommands() {
        all.extend(help(below, &format!("{name}-{}", below.get_name())));
    }
    all
}

#[test]
fn the_committed_help_is_that_of_the_parser() {
    let mut command = cli::command();
    command.build();
    let all = help(&command, "cargo-npugate");
    for (name, text) in &all {
        document!(format!("{HELP}/{name}")).check(text);
    }
    let known: BTreeSet<_> = all.into_iter().map(|(name, _)| name).collect();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(HELP)).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name), "{HELP}/{name} belongs to no command: remove it");
    }
}

#[test]
fn no_line_of_the_help_is_wider_than_a_page() {
    let mut command = cli::command();
    command.build();
    for (name, text) in help(&command, "cargo-npugate") {
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{name}: {line}");
        }
    }
}

#[test]
fn the_committed_exit_codes_are_those_of_the_code() {
    let mut text = EXIT_CODES.to_owned();
    for code in ExitCode::ALL {
        writeln!(text, "| {} | `{code:?}` | {} |", code as u8, code.description()).unwrap();
    }
    document!("docs/exit-codes.md").check(&text);
}

/// The paths that the table "Where to look" names: in its second column, in backticks, with
/// a slash or the ending of a file at the end. A path that does not start at the root starts
/// in a folder of the path before it.
fn places(document: &str, root: &Path) -> Vec<Result<PathBuf, String>> {
    let table = document.split("\n## Where to look\n").nth(1).unwrap_or_default();
    let table = table.split("\n## ").next().unwrap_or_default();
    let mut places = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        let mut before = root.to_owned();
        for word in row.splitn(3, '|').nth(2).unwrap_or_default().split('`').skip(1).step_by(2) {
            let endings = [".rs", ".md", ".json", ".py", ".toml", ".txt", "/"];
            if !endings.iter().any(|ending| word.ends_with(ending)) {
                continue;
            }
            // MODEL stands for the name of any model.
            let word = word.replace("MODEL", "tiny-llama");
            let starts = [root].into_iter().chain(before.ancestors());
            let found = starts.map(|start| start.join(&word)).find(|path| path.exists());
            if let Some(path) = &found {
                before.clone_from(path);
            }
            places.push(found.ok_or_else(|| format!("`{word}` in {row}")));
        }
    }
    places
}

#[test]
fn every_place_on_the_map_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let places = places(&map, &root);
    assert!(places.len() > 50, "{}", places.len());
    let lost: Vec<_> = places.into_iter().filter_map(Result::err).collect();
    assert_eq!(lost, [""; 0], "ARCHITECTURE.md names paths that do not exist");
}

#[test]
fn a_place_that_does_not_exist_is_noticed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let map = "\n## Where to look\n\n| you want | look at |\n|---|---|\n\
               | a `name` | `cargo-npugate/src/cli.rs`, `config.rs`, `Type::name`, `lost.rs` |\n\
               | b | `config.rs` |\n\n## More\n\n| c | `gone.rs` |\n";
    let found: Vec<_> = places(map, &root).iter().map(Result::is_ok).collect();
    assert_eq!(found, [true, true, false, false]);
}
