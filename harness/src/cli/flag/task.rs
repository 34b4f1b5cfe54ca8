//! Flags that ask for something else than a run of tests.

use super::{Flag, parse, positive, switch, value};
use crate::cli::typed::Action;

pub(super) const FLAGS: &[Flag] = &[
    switch("list", "List the tests; opens no device and reads no weights", |typed| {
        typed.actions.push(Action::List);
    }),
    switch("describe", "Print what this binary is, as JSON", |typed| {
        typed.actions.push(Action::Describe);
    }),
    value("generate", "PROMPT", "Generate text after a prompt", |typed, prompt| {
        parse(prompt).map(|prompt| typed.actions.push(Action::Generate(prompt)))
    }),
    value("max-tokens", "N", "How many tokens to generate at most [default: 64]", |typed, n| {
        positive(n).map(|n| typed.max_tokens = Some(n))
    }),
    switch("help", "Print this", |typed| typed.actions.push(Action::Help)).short('h'),
];
