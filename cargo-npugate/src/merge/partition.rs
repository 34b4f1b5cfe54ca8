//! Checking that files are all parts of one run.

use super::{MergeError, Shard};
use crate::partition::Partition;
use std::path::{Path, PathBuf};

/// The number of missing parts that are named.
const NAMED: usize = 10;

/// Checks that these are all parts of one run, each once, or all whole runs.
///
/// # Errors
///
/// A part is missing, is given twice, or belongs to another run.
pub(super) fn check(shards: &[Shard]) -> Result<(), MergeError> {
    let mut parts = Vec::<(Partition, &Path)>::new();
    let mut whole = None;
    for Shard { path, partition, .. } in shards {
        match partition {
            None => whole = Some(path),
            Some(text) => {
                let failed = |source| MergeError::Part { path: path.clone(), source };
                parts.push((text.parse().map_err(failed)?, path));
            }
        }
    }
    let Some(&(first, first_path)) = parts.first() else { return Ok(()) };
    if let Some(whole) = whole {
        let (path, whole) = (first_path.to_owned(), whole.clone());
        return Err(MergeError::PartAndWhole { path, part: first, whole });
    }
    let mut seen = Vec::<(Partition, PathBuf)>::new();
    for (part, path) in parts {
        let path = path.to_owned();
        if !part.goes_with(first) {
            let first_path = first_path.to_owned();
            return Err(MergeError::OtherPart {
                path: first_path,
                part: first,
                other: path,
                other_part: part,
            });
        }
        if let Some((_, other)) = seen.iter().find(|(known, _)| *known == part) {
            return Err(MergeError::SamePart { part, first: other.clone(), second: path });
        }
        seen.push((part, path));
    }
    let is_missing = |part: &Partition| seen.iter().all(|(known, _)| known != part);
    let missing: Vec<_> =
        first.all().filter(is_missing).take(NAMED).map(|part| part.to_string()).collect();
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
            "the run is incomplete without hash:2/4 and hash:4/4: give the files of all parts"
        );
    }

    #[test]
    fn files_of_different_runs_are_refused() {
        for (parts, expected) in [
            (
                [Some("hash:1/2"), Some("hash:1/2")],
                "0.jsonl and 1.jsonl are both part hash:1/2: give each part once",
            ),
            (
                [Some("hash:1/2"), Some("slice:2/2")],
                "0.jsonl is part hash:1/2 of a run, but 1.jsonl is part slice:2/2 of another run: merge the parts of one run",
            ),
            (
                [Some("hash:1/2"), Some("hash:2/3")],
                "0.jsonl is part hash:1/2 of a run, but 1.jsonl is part hash:2/3 of another run: merge the parts of one run",
            ),
            (
                [Some("hash:1/2"), None],
                "0.jsonl is part hash:1/2 of a run, but 1.jsonl is a whole run: merge the parts of one run",
            ),
        ] {
            assert_eq!(checked(&parts).unwrap_err(), expected);
        }
    }

    #[test]
    fn an_invalid_partition_is_refused() {
        for text in ["hash", "hash:1", "hash:0/4", "hash:5/4", "hash:a/b", "hash:1/0"] {
            let error = checked(&[Some(text)]).unwrap_err();
            assert!(error.starts_with("0.jsonl has an invalid partition: "), "{error}");
        }
    }
}
