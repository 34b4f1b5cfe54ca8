//! Files from the Hugging Face hub.

use super::FetchError;
use std::path::{Path, PathBuf};

/// Downloads a file of a repository, or takes it from the hub's own cache on this machine.
/// Respects `HF_HOME`, `HF_ENDPOINT` and the token of a login.
#[cfg(feature = "hf")]
pub fn download(
    repo: &str,
    revision: &str,
    file: &str,
    staging: &Path,
) -> Result<PathBuf, FetchError> {
    use fs_err as fs;
    use hf_hub::{Cache, Repo, RepoType, api::sync::ApiBuilder};

    let source_name = || format!("hf:{repo}@{revision}#{file}");
    let failed = |reason: String| FetchError::Hub { source_name: source_name(), reason };
    let wanted = Repo::with_revision(repo.to_owned(), RepoType::Model, revision.to_owned());
    let cache = Cache::from_env();
    let to = staging.join("file");
    let write = |source| FetchError::Write { path: to.clone(), source };
    if let Some(path) = cache.repo(wanted.clone()).get(file) {
        fs::copy(&path, &to).map_err(write)?;
        return Ok(to);
    }
    // Not into the hub's cache, because this program keeps the weights in its own.
    let api = ApiBuilder::from_env()
        .with_token(cache.token())
        .with_cache_dir(staging.join("hub"))
        .with_progress(false)
        .with_retries(3)
        .build()
        .map_err(|error| failed(error.to_string()))?;
    let link = api.repo(wanted).download(file).map_err(|error| failed(error.to_string()))?;
    let blob = fs::canonicalize(link).map_err(|error| failed(error.to_string()))?;
    fs::rename(blob, &to).map_err(write)?;
    Ok(to)
}

/// Fails: without the feature there is no client for the hub.
#[cfg(not(feature = "hf"))]
pub fn download(_: &str, _: &str, _: &str, _: &Path) -> Result<PathBuf, FetchError> {
    Err(FetchError::NoHub)
}
