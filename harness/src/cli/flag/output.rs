//! Flags that choose what is printed.

use super::{Flag, parse, switch, value};
use crate::cli::typed::{Quiet, Times, Typed, Verdicts};

pub(super) const FLAGS: &[Flag] = &[
    value(
        "format",
        "pretty|terse|json",
        "A line for each test, a character for each test, or JSON",
        |typed, format| parse(format).map(|format| typed.format = Some(format)),
    ),
    switch("quiet", "As --format terse", |typed| typed.quiet = Quiet::Yes).short('q'),
    switch("show-output", "Show the verdicts of tests that pass too", show_verdicts),
    switch("no-capture", "The same [env: RUST_TEST_NOCAPTURE=1]", show_verdicts),
    switch("nocapture", "The same", show_verdicts),
    switch("report-time", "Show the time of each test", |typed| typed.times = Times::Shown),
    value(
        "color",
        "auto|always|never",
        "When to use colours [env: NO_COLOR, CLICOLOR_FORCE, CARGO_TERM_COLOR]",
        |typed, color| parse(color).map(|color| typed.color = Some(color)),
    ),
    value("logfile", "PATH", "Write a line for each test to a file too", |typed, path| {
        parse(path).map(|path| typed.logfile = Some(path))
    }),
];

fn show_verdicts(typed: &mut Typed) {
    typed.verdicts = Verdicts::All;
}
