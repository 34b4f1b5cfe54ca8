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
        "{} holds no run: it does not begin with a `run_started` message; `--results PATH` writes such files",
        path.display()
    )]
    NoRun { path: PathBuf },
    #[error(
        "{} is in the format `{found}`, this command reads `{MESSAGE_SCHEMA}`: merge with the cargo-npugate that wrote it",
        path.display()
    )]
    Schema { path: PathBuf, found: String },
    #[error("{}:{line} is no message: {reason}", path.display())]
    Line { path: PathBuf, line: usize, reason: String },
    #[error("{} is of no part of a run: {source}", path.display())]
    Part { path: PathBuf, source: PartitionError },

    // Several files.
    #[error(
        "{} is of a --smoke run, and {} is of a full one: merge runs of one kind",
        smoke.display(),
        full.display()
    )]
    Effort { smoke: PathBuf, full: PathBuf },
    #[error(
        "{} is the part {part} of a run, and {} is a whole one: merge the parts of one run",
        path.display(),
        whole.display()
    )]
    PartAndWhole { path: PathBuf, part: Partition, whole: PathBuf },
    #[error(
        "{} is the part {part} of a run, and {} is the part {other_part} of another one: merge the parts of one run",
        path.display(),
        other.display()
    )]
    OtherPart { path: PathBuf, part: Partition, other: PathBuf, other_part: Partition },
    #[error("{} and {} are both the part {part}: name each once", first.display(), second.display())]
    SamePart { part: Partition, first: PathBuf, second: PathBuf },
    #[error("the run is not whole without {}: name the files of all parts", .0.join(" and "))]
    Missing(Vec<String>),
    #[error(
        "{model} is {first} in {}, and {second} in {}: merge runs of the same model on the same device in the same configuration",
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
