//! Whether files are all parts of one run.

use super::{MergeError, Shard};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// A part of a run, as it is written: `hash:2/4`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part<'a> {
    text: &'a str,
    /// How the tests were dealt out.
    kind: &'a str,
    /// From 1 up.
    number: usize,
    of: usize,
}

impl<'a> Part<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (kind, numbers) = text.split_once(':')?;
        let (number, of) = numbers.split_once('/')?;
        let (number, of) = (number.parse().ok()?, of.parse().ok()?);
        (1..=of).contains(&number).then_some(Self { text, kind, number, of })
    }
}

/// Checks that these are all parts of one run, each once, or all whole runs.
///
/// # Errors
///
/// A part that is missing, is there twice, or is of another run.
pub(super) fn check(shards: &[Shard]) -> Result<(), MergeError> {
    let mut parts = Vec::<(Part<'_>, &Path)>::new();
    let mut whole = None;
    for Shard { path, partition, .. } in shards {
        match partition {
            None => whole = Some(path),
            Some(text) => {
                let no_part = || MergeError::Part { path: path.clone(), part: text.clone() };
                parts.push((Part::parse(text).ok_or_else(no_part)?, path));
            }
        }
    }
    let Some(&(first, first_path)) = parts.first() else { return Ok(()) };
    if let Some(whole) = whole {
        return Err(MergeError::PartAndWhole {
            path: first_path.to_owned(),
            part: first.text.to_owned(),
            whole: whole.clone(),
        });
    }
    let mut seen = BTreeMap::<usize, PathBuf>::new();
    for (part, path) in parts {
        if (part.kind, part.of) != (first.kind, first.of) {
            return Err(MergeError::OtherPart {
                path: first_path.to_owned(),
                part: first.text.to_owned(),
                other: path.to_owned(),
                other_part: part.text.to_owned(),
            });
        }
        if let Some(other) = seen.insert(part.number, path.to_owned()) {
            let (part, second) = (part.text.to_owned(), path.to_owned());
            return Err(MergeError::SamePart { part, first: other, second });
        }
    }
    let missing: Vec<_> = (1..=first.of)
        .filter(|number| !seen.contains_key(number))
        // A count of millions is no list for people.
        .take(10)
        .map(|number| format!("{}:{number}/{}", first.kind, first.of))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(MergeError::Missing(missing)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(parts: &[Option<&str>]) -> Result<(), String> {
        let shard = |(index, part): (usize, Option<&str>)| Shard {
            partition: part.map(str::to_owned),
            ..Shard::new(format!("{index}.jsonl"))
        };
        let shards: Vec<_> = parts.iter().copied().enumerate().map(shard).collect();
        check(&shards).map_err(|error| error.to_string())
    }

    #[test]
    fn whole_runs_and_all_parts_in_any_order_are_fine() {
        checked(&[None, None]).unwrap();
        checked(&[Some("hash:2/3"), Some("hash:1/3"), Some("hash:3/3")]).unwrap();
        checked(&[Some("slice:1/1")]).unwrap();
    }

    #[test]
    fn a_missing_part_is_named() {
        assert_eq!(
            checked(&[Some("hash:1/4"), Some("hash:3/4")]).unwrap_err(),
            "the run is not whole without hash:2/4 and hash:4/4: name the files of all parts"
        );
    }

    #[test]
    fn what_is_not_one_run_is_refused() {
        for (parts, expected) in [
            (
                [Some("hash:1/2"), Some("hash:1/2")],
                "0.jsonl and 1.jsonl are both the part hash:1/2: name each once",
            ),
            (
                [Some("hash:1/2"), Some("slice:2/2")],
                "0.jsonl is the part hash:1/2 of a run, and 1.jsonl is the part slice:2/2 of another one: merge the parts of one run",
            ),
            (
                [Some("hash:1/2"), Some("hash:2/3")],
                "0.jsonl is the part hash:1/2 of a run, and 1.jsonl is the part hash:2/3 of another one: merge the parts of one run",
            ),
            (
                [Some("hash:1/2"), None],
                "0.jsonl is the part hash:1/2 of a run, and 1.jsonl is a whole one: merge the parts of one run",
            ),
        ] {
            assert_eq!(checked(&parts).unwrap_err(), expected);
        }
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in ["hash", "hash:1", "hash:0/4", "hash:5/4", "hash:a/b", "hash:1/0"] {
            let error = checked(&[Some(text)]).unwrap_err();
            assert!(error.contains(&format!("`{text}` is no part of a run")), "{error}");
        }
    }
}
