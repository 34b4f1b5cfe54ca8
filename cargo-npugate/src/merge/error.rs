//! Why files cannot be merged.

use crate::files::FileError;
use crate::partition::{Partition, PartitionError};
use npugate_schema::MESSAGE_SCHEMA;
use std::path::PathBuf;

/// Why files cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    // One file.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "{} is not the results of a run: it does not start with a `run_started` message, as the files of `--results PATH` do",
        path.display()
    )]
    NoRun { path: PathBuf },
    #[error(
        "{} is in the format `{found}`, but this command reads `{MESSAGE_SCHEMA}`: merge with the cargo-npugate that wrote it",
        path.display()
    )]
    Schema { path: PathBuf, found: String },
    #[error("{}:{line} is not a message: {reason}", path.display())]
    Line { path: PathBuf, line: usize, reason: String },
    #[error("{} has an invalid partition: {source}", path.display())]
    Part { path: PathBuf, source: PartitionError },

    // Several files.
    #[error(
        "{} is from a --smoke run, but {} is from a full run: merge runs of one kind",
        smoke.display(),
        full.display()
    )]
    Effort { smoke: PathBuf, full: PathBuf },
    #[error(
        "{} is part {part} of a run, but {} is a whole run: merge the parts of one run",
        path.display(),
        whole.display()
    )]
    PartAndWhole { path: PathBuf, part: Partition, whole: PathBuf },
    #[error(
        "{} is part {part} of a run, but {} is part {other_part} of another run: merge the parts of one run",
        path.display(),
        other.display()
    )]
    OtherPart { path: PathBuf, part: Partition, other: PathBuf, other_part: Partition },
    #[error("{} and {} are both part {part}: give each part once", first.display(), second.display())]
    SamePart { part: Partition, first: PathBuf, second: PathBuf },
    #[error("the run is incomplete without {}: give the files of all parts", .0.join(" and "))]
    Missing(Vec<String>),
    #[error(
        "{model} is {first} in {}, but {second} in {}: merge runs of the same model on the same device in the same configuration",
        first_path.display(),
        second_path.display()
    )]
    OtherModel {
        model: String,
        first: String,
        first_path: PathBuf,
        second: String,
        second_path: PathBuf,
    },
    #[error(
        "{model} {test} has a verdict in {} and in {}: merge runs that share no test",
        first.display(),
        second.display()
    )]
    Twice { model: String, test: String, first: PathBuf, second: PathBuf },
}
