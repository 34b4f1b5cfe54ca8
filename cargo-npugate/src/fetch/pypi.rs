//! Wheels from the Python package index, through pip, which knows the user's mirrors,
//! proxies and certificates.

use super::FetchError;
use crate::environment::Environment;
use crate::text;
use fs_err as fs;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Downloads one wheel into a folder.
pub fn download(
    requirement: &str,
    folder: &Path,
    environment: &Environment,
) -> Result<PathBuf, FetchError> {
    let python = environment.python();
    let output = Command::new(&python)
        .args(["-m", "pip", "download", "--no-deps", "--quiet"])
        // A source distribution would run its own code here.
        .args(["--only-binary", ":all:", "--disable-pip-version-check", "--no-input"])
        .arg("--dest")
        .arg(folder)
        .arg(requirement)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| FetchError::Python {
            program: python.to_string_lossy().into_owned(),
            source,
        })?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(FetchError::Pip {
            requirement: requirement.to_owned(),
            reason: reason(&stderr),
        });
    }
    let entries = fs::read_dir(folder)
        .map_err(|source| FetchError::Read { path: folder.to_owned(), source })?;
    entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| FetchError::NoWheel(requirement.to_owned()))
}

/// The last error that pip reports.
fn reason(stderr: &str) -> String {
    let mut errors = stderr.lines().filter_map(|line| line.trim().strip_prefix("ERROR: "));
    match errors.next_back().or_else(|| text::last_line(stderr)) {
        Some(line) => line.to_owned(),
        None => "pip does not say why".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pip_s_own_error_is_the_reason() {
        let stderr = "WARNING: odd\nERROR: Could not find a version\nERROR: No matching distribution found for x==9\n\n[notice] A new release\n";
        assert_eq!(reason(stderr), "No matching distribution found for x==9");
        assert_eq!(reason("python3: No module named pip\n"), "python3: No module named pip");
        assert_eq!(reason(""), "pip does not say why");
    }
}
