//! Writing a file whole or not at all.

use fs_err as fs;
use std::{io, io::Write, path::Path};

/// Writes `contents` to `path` so that a reader sees either the old file or the new one,
/// never a part of it: writes a temporary file in the same folder, syncs it, then renames
/// it. Creates missing folders.
///
/// # Errors
///
/// Any failure to create, write, sync or rename; the destination is then
/// unchanged.
pub fn write_atomically(path: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".npugate-").tempfile_in(folder)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    set_default_permissions(file.as_file())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A temporary file is private to its owner; a fixture under version control
/// is readable by all.
#[cfg(unix)]
fn set_default_permissions(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_default_permissions(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("target");
        std::fs::create_dir(&path).unwrap();
        assert!(write_atomically(&path, b"new").is_err(), "a folder stands in the way");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn missing_folders_are_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/c.json");
        write_atomically(&path, b"{}").unwrap();
        assert_eq!(std::fs::read(path).unwrap(), b"{}");
    }
}
