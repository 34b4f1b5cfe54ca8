//! Records in the program what it was built from: the commit, if this is a checkout of the
//! repository and git is installed, the compiler and the target.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = Path::new(&folder);
    let set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            println!("cargo:rustc-env=NPUGATE_{name}={value}");
        }
    };
    set("HOST", env::var("TARGET").ok());
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    set("RUSTC", output(Command::new(rustc).arg("--version")));
    commit(folder, set);
}

/// Sets the last commit. A package that was unpacked inside another repository has none,
/// because it is not among that repository's files.
fn commit(folder: &Path, set: impl Fn(&str, Option<String>)) {
    let git = |args: &[&str]| output(Command::new("git").arg("-C").arg(folder).args(args));
    if git(&["ls-files", "--error-unmatch", "build.rs"]).is_none() {
        return;
    }
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for file in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        // Cargo would rebuild every time for a file that does not exist.
        let path = git(&["rev-parse", "--git-path", file]).map(|path| folder.join(path));
        if let Some(path) = path.filter(|path| path.exists()) {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    set("COMMIT_HASH", git(&["log", "-1", "--format=%H"]));
    set("COMMIT_SHORT", git(&["log", "-1", "--format=%h", "--abbrev=9"]));
    set("COMMIT_DATE", git(&["log", "-1", "--format=%cd", "--date=short"]));
}

/// What a program prints, if it can be started and succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
