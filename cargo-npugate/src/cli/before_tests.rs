use super::*;
use crate::cli::{self, Cli};
use clap::{ArgAction, ColorChoice, error::ErrorKind};
use std::collections::BTreeSet;

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn moved(line: &str) -> String {
    let argv = behind_command(&cli::command(), words(line));
    argv.join(" ".as_ref()).into_string().unwrap()
}

#[test]
fn options_before_a_command_go_behind_its_name() {
    for (line, expected) in [
        ("x --full --skip a verify --skip b token", "x verify --full --skip a --skip b token"),
        ("x --skip verify verify verify", "x verify --skip verify verify"),
        ("x -q setup -v xrt --xrt-lib d", "x setup xrt -q -v --xrt-lib d"),
        ("x -p tiny registry add x", "x registry add -p tiny x"),
        ("x -q run -- --prompt", "x run -q -- --prompt"),
    ] {
        assert_eq!(moved(line), expected);
    }
}

#[test]
fn a_line_without_a_command_or_with_an_error_before_it_is_unchanged() {
    for line in [
        "x",
        "x --full gemm list",
        "x -- kernel",
        "x --fail-fast --no-fail-fast kernel",
        "x --retries many kernel",
        "x --full --help kernel",
        "x -vV kernel",
        "x --explain=kernel verify",
    ] {
        assert_eq!(moved(line), line);
    }
}

/// How an argument is written, with a value that it accepts.
fn written(arg: &Arg) -> Vec<String> {
    let flag = match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => vec![format!("--{long}")],
        (None, Some(short)) => vec![format!("-{short}")],
        (None, None) => Vec::new(),
    };
    if !arg.get_action().takes_values() {
        return flag;
    }
    let first = arg.get_possible_values().first().map(|value| value.get_name().to_owned());
    let names = arg.get_value_names().unwrap_or_default();
    let value = first.unwrap_or_else(|| match names.first().map_or("", |name| name.as_str()) {
        "DURATION" => "5s".to_owned(),
        "N" => "2".to_owned(),
        "PHASE" | "FILTER" => "kernel".to_owned(),
        "PART" => "hash:1/2".to_owned(),
        "KERNEL" => "gemm".to_owned(),
        _ => "word".to_owned(),
    });
    [flag, vec![value]].concat()
}

fn parse(words: &[&[String]]) -> Result<Cli, clap::Error> {
    let argv = words.concat().into_iter().map(OsString::from);
    cli::parse(std::iter::once("x".into()).chain(argv), ColorChoice::Never)
}

/// Every command that does something, with its path.
fn commands(command: &Command, path: &[String]) -> Vec<(Vec<String>, Command)> {
    let mut all = Vec::new();
    for below in command.get_subcommands() {
        let path = [path, &[below.get_name().to_owned()]].concat();
        all.extend(commands(below, &path));
        if !below.is_subcommand_required_set() {
            all.push((path, below.clone()));
        }
    }
    all
}

/// The pairs of a command's arguments that cannot be given together, including an argument
/// with itself if it cannot be given twice.
fn conflicts(command: &Command) -> BTreeSet<(String, String)> {
    let id = |arg: &Arg| arg.get_id().to_string();
    let mut pairs = BTreeSet::new();
    for arg in command.get_arguments() {
        for other in command.get_arg_conflicts_with(arg) {
            pairs.extend([(id(arg), id(other)), (id(other), id(arg))]);
        }
        if matches!(arg.get_action(), ArgAction::Set | ArgAction::SetTrue) && !arg.is_positional() {
            pairs.insert((id(arg), id(arg)));
        }
    }
    for group in command.get_groups().filter(|group| !(*group).clone().is_multiple()) {
        let members: Vec<_> = group.get_args().map(ToString::to_string).collect();
        for one in &members {
            let others = members.iter().filter(|other| *other != one);
            pairs.extend(others.map(|other| (one.clone(), other.clone())));
        }
    }
    pairs
}

#[test]
fn arguments_that_conflict_behind_a_command_conflict_across_it_in_the_same_words() {
    let mut top = cli::command();
    top.build();
    let mut seen = BTreeSet::new();
    for (path, command) in commands(&top, &[]) {
        let find = |id: &str| command.get_arguments().find(|arg| arg.get_id() == id);
        for (first, second) in conflicts(&command) {
            // An argument that only the command has cannot stand before the command, and
            // behind a filter the command's name would be a filter too.
            let before = |arg: &Arg| arg.get_id() == first.as_str() && !arg.is_positional();
            if !top.get_arguments().any(before) {
                continue;
            }
            let (Some(a), Some(b)) = (find(&first), find(&second)) else { continue };
            let (a, b) = (written(a), written(b));
            let together = parse(&[&path, &a, &b]).unwrap_err();
            let apart = parse(&[&a, &path, &b]).unwrap_err();
            assert_eq!(together.kind(), ErrorKind::ArgumentConflict, "{path:?} {first} {second}");
            assert_eq!(apart.to_string(), together.to_string(), "{path:?} {first} {second}");
            seen.insert(format!("{first} {second}"));
        }
    }
    for pair in ["fail_fast no_fail_fast", "max_fail fail_fast", "quiet verbose", "lock no_lock"] {
        assert!(seen.contains(pair), "{pair} is among {seen:?}");
    }
}

#[test]
fn any_two_options_mean_the_same_together_and_across_a_command() {
    let mut top = cli::command();
    top.build();
    let kernel = top.find_subcommand("kernel").unwrap();
    let options: Vec<_> = kernel
        .get_arguments()
        .filter(|arg| !arg.is_positional() && arg.get_id() != "help")
        .map(written)
        .collect();
    let path = ["kernel".to_owned()];
    for (at, a) in options.iter().enumerate() {
        for b in &options[at..] {
            let line = [a.as_slice(), b].concat();
            match (parse(&[&path, a, b]), parse(&[a, &path, b])) {
                (Ok(together), Ok(apart)) => assert_eq!(together, apart, "{line:?}"),
                (Err(together), Err(apart)) => {
                    assert_eq!(apart.to_string(), together.to_string(), "{line:?}");
                }
                (together, apart) => panic!("{line:?}: {together:?}, {apart:?}"),
            }
        }
    }
}
