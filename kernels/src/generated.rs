//! Files that are written by the code and kept under version control.

use std::{env, fs, path::Path};

/// Set to 1, the committed file is written instead of compared.
const UPDATE_VAR: &str = "NPUGATE_UPDATE_DOCS";

/// Compares the file at `path` in this crate with what it should be.
#[track_caller]
pub(crate) fn check(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if env::var_os(UPDATE_VAR).is_some_and(|value| value == "1") {
        fs::write(&path, text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let path = path.display();
    assert!(committed == text, "{path} is out of date: run this test with {UPDATE_VAR}=1");
}
