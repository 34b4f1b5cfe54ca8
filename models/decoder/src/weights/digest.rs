//! Weights are used only if they are exactly the bytes that the adapter pins.

use super::{WeightsError, safetensors};
use npugate::schema::Sha256;
use std::path::Path;

/// A file beside the weight file, and its digest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PinnedFile {
    /// File name.
    pub file: String,
    /// The file's digest.
    pub sha256: Sha256,
}

/// Checks the digest of a weight file and, if the file is an index, those of its
/// shards. `remedy` says how to get the right file.
///
/// # Errors
///
/// Fails if a file cannot be read or has another digest, or if the shards of the
/// index are not those with a pinned digest.
pub fn verify_digest(
    path: &Path,
    pinned: Sha256,
    shards: &[PinnedFile],
    remedy: &str,
) -> Result<(), WeightsError> {
    verify_file(path, pinned, remedy)?;
    let found = safetensors::shards(path)?;
    let mut names: Vec<_> = shards.iter().map(|shard| shard.file.clone()).collect();
    names.sort();
    if found != names {
        return Err(WeightsError::UnpinnedShards {
            path: path.to_owned(),
            found: found.join(", "),
            pinned: if names.is_empty() { "none".to_owned() } else { names.join(", ") },
        });
    }
    shards
        .iter()
        .try_for_each(|shard| verify_file(&path.with_file_name(&shard.file), shard.sha256, remedy))
}

fn verify_file(path: &Path, pinned: Sha256, remedy: &str) -> Result<(), WeightsError> {
    let found = Sha256::of_file(path)
        .map_err(|source| WeightsError::Io { path: path.to_owned(), source })?;
    if found == pinned {
        Ok(())
    } else {
        let (path, remedy) = (path.to_owned(), remedy.to_owned());
        Err(WeightsError::WrongDigest { path, found, pinned, remedy })
    }
}
