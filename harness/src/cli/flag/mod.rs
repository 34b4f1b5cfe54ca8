//! Every flag in one table, from which both the parser and the help work. The
//! flags of libtest 1.95 are all here, so that `cargo test -- FLAGS` never
//! stumbles over this binary.

mod compatibility;
mod device;
mod output;
mod selection;
mod task;

use super::typed::Typed;
use std::{num::NonZero, str::FromStr};

/// One flag.
pub(super) struct Flag {
    /// Without its dashes; `-Z` alone has no long name.
    pub long: Option<&'static str>,
    /// Without its dash.
    pub short: Option<char>,
    pub kind: Kind,
    pub help: &'static str,
}

/// Whether a flag takes a value, and what it does.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Switch(fn(&mut Typed)),
    Value {
        /// What stands for the value in the help.
        name: &'static str,
        /// Takes the value in, or says why not.
        set: fn(&mut Typed, &str) -> Result<(), String>,
    },
}

/// The flags under the titles that they have in the help.
pub(super) const GROUPS: [(&str, &[Flag]); 5] = [
    ("Which tests", selection::FLAGS),
    ("Where, and with what", device::FLAGS),
    ("What is printed", output::FLAGS),
    ("Instead of running tests", task::FLAGS),
    ("For libtest's sake", compatibility::FLAGS),
];

pub(super) fn by_long(name: &str) -> Option<&'static Flag> {
    all().find(|flag| flag.long == Some(name))
}

pub(super) fn by_short(short: char) -> Option<&'static Flag> {
    all().find(|flag| flag.short == Some(short))
}

pub(super) fn all() -> impl Iterator<Item = &'static Flag> {
    GROUPS.into_iter().flat_map(|(_, flags)| flags)
}

const fn switch(long: &'static str, help: &'static str, set: fn(&mut Typed)) -> Flag {
    Flag { long: Some(long), short: None, kind: Kind::Switch(set), help }
}

const fn value(
    long: &'static str,
    name: &'static str,
    help: &'static str,
    set: fn(&mut Typed, &str) -> Result<(), String>,
) -> Flag {
    Flag { long: Some(long), short: None, kind: Kind::Value { name, set }, help }
}

impl Flag {
    const fn short(mut self, short: char) -> Self {
        self.short = Some(short);
        self
    }

    const fn without_long_name(mut self) -> Self {
        self.long = None;
        self
    }
}

fn parse<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// A number from 1 up.
pub(super) fn positive(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "it is a whole number from 1 up".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_flags_have_one_name() {
        let mut names: Vec<_> = all()
            .flat_map(|flag| [flag.long.map(str::to_owned), flag.short.map(String::from)])
            .flatten()
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn numbers_start_at_one() {
        assert_eq!(positive("3").map(NonZero::get), Ok(3));
        for text in ["0", "", "-1", "x", "1.5"] {
            assert!(positive(text).is_err(), "{text}");
        }
    }
}
