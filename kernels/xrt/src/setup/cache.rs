//! Where built shims are kept: in a folder for each version of XRT and of the shim's source.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::source;
use crate::{SHIM_NAME, XrtVersion};

/// A shim that setup built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installed {
    /// The shim.
    pub shim: PathBuf,
    /// The version of XRT that it was built for; the patch level is not known.
    pub xrt: XrtVersion,
}

/// The folder in which [`run`](super::run) puts shims: `npugate` in `$XDG_CACHE_HOME` or
/// `~/.cache`; `None` without a home folder.
pub fn cache() -> Option<PathBuf> {
    let absolute = |variable| {
        env::var_os(variable).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute())
    };
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(base.join("npugate"))
}

/// The shims of this version of the crate in [`cache`], newest first.
pub fn find_installed() -> Vec<Installed> {
    cache().map(|cache| find_installed_in(&cache)).unwrap_or_default()
}

/// The shims of this version of the crate in `cache`, newest first.
pub fn find_installed_in(cache: &Path) -> Vec<Installed> {
    let Ok(folders) = fs::read_dir(cache) else { return Vec::new() };
    let mut found: Vec<(SystemTime, Installed)> = folders
        .filter_map(|folder| {
            let folder = folder.ok()?;
            let name = folder.file_name().into_string().ok()?;
            let (version, hash) = name.strip_prefix("xrt-")?.split_once('-')?;
            let xrt = version.parse().ok().filter(|_| hash == source::hash())?;
            let shim = folder.path().join(SHIM_NAME);
            let built = fs::metadata(&shim).ok()?.modified().ok()?;
            Some((built, Installed { shim, xrt }))
        })
        .collect();
    found.sort_by_key(|(built, _)| std::cmp::Reverse(*built));
    found.into_iter().map(|(_, installed)| installed).collect()
}

/// The folder of the shim for this version of XRT.
pub fn folder(cache: &Path, xrt: XrtVersion) -> PathBuf {
    cache.join(format!("xrt-{}.{}-{}", xrt.major, xrt.minor, source::hash()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn shims_of_this_source_are_found_newest_first() {
        let cache = tempfile::tempdir().unwrap();
        assert_eq!(find_installed_in(cache.path()), []);
        let now = SystemTime::now();
        for (minor, age) in [(23, 10), (25, 0), (20, 20)] {
            let folder = folder(cache.path(), XrtVersion::new(2, minor, 0));
            fs::create_dir(&folder).unwrap();
            let shim = fs::File::create(folder.join(SHIM_NAME)).unwrap();
            shim.set_modified(now - Duration::from_secs(age)).unwrap();
        }
        // For another source, without a shim, without a version, and something else.
        for folder in ["xrt-2.25-00000000", &format!("xrt-2.26-{}", source::hash()), "xrt-x-y", "a"]
        {
            fs::create_dir(cache.path().join(folder)).unwrap();
        }
        fs::write(cache.path().join("xrt-2.25-00000000").join(SHIM_NAME), "").unwrap();
        let minors: Vec<_> =
            find_installed_in(cache.path()).iter().map(|found| found.xrt.minor).collect();
        assert_eq!(minors, [25, 23, 20]);
    }
}
