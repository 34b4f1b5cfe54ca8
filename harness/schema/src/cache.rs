//! Where weight files are looked for and stored: the same rule on both sides.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The environment variable that names a folder with weights; wins over the
/// user's cache folder.
pub const WEIGHTS_DIR_VAR: &str = "NPUGATE_WEIGHTS_DIR";

/// Every place where the weight file of a model may be, best first: in
/// `$NPUGATE_WEIGHTS_DIR` under the model's name or directly, else in the
/// user's cache folder. If the variable is set, the cache is not searched, so that a
/// wrong folder is noticed.
pub fn weights_candidates(model: &str, file: &str) -> Vec<PathBuf> {
    match variable(WEIGHTS_DIR_VAR) {
        Some(folder) => {
            let folder = Path::new(&folder);
            vec![folder.join(model).join(file), folder.join(file)]
        }
        None => cache_folder()
            .map(|cache| cache.join("weights").join(model).join(file))
            .into_iter()
            .collect(),
    }
}

/// Where a fetched weight file is stored; `None` if this machine has neither
/// `$NPUGATE_WEIGHTS_DIR` nor a home folder.
pub fn weights_destination(model: &str, file: &str) -> Option<PathBuf> {
    weights_candidates(model, file).into_iter().next()
}

/// `npugate` in the user's cache folder, by the platform's convention; `None` on a
/// machine that names neither a cache nor a home folder.
pub fn cache_folder() -> Option<PathBuf> {
    let home = || variable("HOME").map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
            .or_else(|| home().map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("npugate"))
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
