//! Options that stand before a command.
//!
//! `cargo npugate --full verify` means `cargo npugate verify --full`. The parser checks the
//! options before a command's name separately from those after it, so it would accept
//! `--fail-fast kernel --no-fail-fast`. Moving the options behind the name before parsing
//! leaves one set of options, whose conflicts the parser knows.

use super::AboutArgs;
use clap::{Arg, ArgMatches, Command, FromArgMatches};
use std::ffi::OsString;

/// Returns the command line with the options that stand before a command moved behind its
/// name. A command line without a command, or with an error before it, is left as it is: the
/// parser reports it. So is one that asks about this program, which does nothing else.
pub fn behind_command(grammar: &Command, argv: Vec<OsString>) -> Vec<OsString> {
    let Some((program, mut rest)) = argv.split_first() else { return argv };
    let (mut names, mut options) = (vec![program.clone()], Vec::new());
    let mut grammar = grammar.clone();
    while let Some((at, before)) = find_command(&grammar, rest) {
        let is_first = names.len() == 1;
        if is_first && AboutArgs::from_arg_matches(&before).is_ok_and(|about| about.any()) {
            return argv;
        }
        let Some(below) = grammar.find_subcommand(&rest[at]) else { break };
        // The options of the whole command line apply to every command.
        let globals = grammar.get_arguments().filter(|arg| arg.is_global_set());
        grammar = below.clone().args(globals.map(Arg::clone));
        options.extend_from_slice(&rest[..at]);
        names.push(rest[at].clone());
        rest = &rest[at + 1..];
    }
    [names.as_slice(), options.as_slice(), rest].concat()
}

/// Where the name of a command stands among arguments, and what stands before it.
fn find_command(grammar: &Command, args: &[OsString]) -> Option<(usize, ArgMatches)> {
    // Only the name is looked for: nothing is required of what follows it.
    let bare = grammar.clone().no_binary_name(true).mut_args(|arg| arg.global(false));
    let bare = bare.mut_subcommands(|below| {
        let below = below.subcommand_required(false).arg_required_else_help(false);
        below.mut_args(|arg| arg.required(false))
    });
    let named = |at: &usize| grammar.find_subcommand(&args[*at]).is_some();
    let parsed = |at: usize| {
        let matches = bare.clone().try_get_matches_from(&args[..=at]).ok()?;
        matches.subcommand_name().is_some().then_some((at, matches))
    };
    (0..args.len()).filter(named).find_map(parsed)
}

#[cfg(test)]
#[path = "before_tests.rs"]
mod tests;
