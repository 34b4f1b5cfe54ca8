//! Compiling the shim.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use super::{SetupError, locate::Located, source};

/// Compilers to try, in this order, unless `CXX` names one.
const COMPILERS: [&str; 3] = ["g++", "c++", "clang++"];

/// Folders that the loader searches by default.
const USUAL: [&str; 3] = ["/usr/lib", "/usr/lib64", "/lib"];

/// Compiles the source in `folder` into `shim`.
pub(super) fn compile(
    compiler: Option<&OsStr>,
    folder: &Path,
    xrt: &Located,
    shim: &Path,
) -> Result<(), SetupError> {
    let arguments = arguments(folder, xrt, shim);
    let (compiler, output) = first_compiler(compiler, &arguments)?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(SetupError::Compile { compiler, include: xrt.include.clone(), message: errors(&stderr) })
}

/// Runs the first compiler that exists.
fn first_compiler(
    compiler: Option<&OsStr>,
    arguments: &[OsString],
) -> Result<(OsString, Output), SetupError> {
    let named = compiler.map(OsStr::to_owned).or_else(|| env::var_os("CXX"));
    let named = named.filter(|name| !name.is_empty());
    let tried: Vec<OsString> = match named {
        Some(named) => vec![named],
        None => COMPILERS.map(OsString::from).to_vec(),
    };
    for compiler in &tried {
        match Command::new(compiler).args(arguments).output() {
            Ok(output) => return Ok((compiler.clone(), output)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(SetupError::Start { compiler: compiler.clone(), source });
            }
        }
    }
    Err(SetupError::NoCompiler {
        tried: tried.iter().map(|name| name.to_string_lossy().into_owned()).collect(),
    })
}

/// The arguments for the compiler.
fn arguments(folder: &Path, xrt: &Located, shim: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        ["-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"]
            .map(OsString::from)
            .to_vec();
    arguments.push(folder.join(source::MAIN).into());
    if let Some(include) = xrt.include_flag() {
        arguments.extend(["-isystem".into(), include.into()]);
    }
    // After all other folders: it is for machines without uuid-dev.
    arguments.extend(["-idirafter".into(), folder.join(source::FALLBACK).into()]);
    arguments.extend(["-o".into(), shim.into(), xrt.library.clone().into()]);
    // XRT may need a newer C library than this machine has, as in a container that only builds.
    arguments.extend(["-Wl,-z,defs", "-Wl,--allow-shlib-undefined"].map(OsString::from));
    arguments.extend(rpath(&xrt.library));
    arguments
}

/// The flag by which the shim finds an XRT outside of the system's own folders.
fn rpath(library: &Path) -> Option<OsString> {
    let folder: PathBuf = fs::canonicalize(library.parent()?).ok()?;
    if USUAL.iter().any(|usual| folder.starts_with(usual)) {
        return None;
    }
    let mut flag = OsString::from("-Wl,-rpath,");
    flag.push(folder);
    Some(flag)
}

/// The first few lines that say what is wrong.
fn errors(stderr: &str) -> String {
    let errors: Vec<&str> = stderr
        .lines()
        .filter(|line| line.contains("error:") || line.contains("undefined reference"))
        .take(5)
        .collect();
    if errors.is_empty() { stderr.trim().to_owned() } else { errors.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_reported_without_the_notes_around_it() {
        // Shortened from g++ 12.
        let stderr = "In file included from shim.cpp:3:\n\
                      a.h:1:10: fatal error: b.h: No such file or directory\n\
                      compilation terminated.\n";
        assert_eq!(errors(stderr), "a.h:1:10: fatal error: b.h: No such file or directory");
        assert_eq!(errors("cc1plus: killed\n"), "cc1plus: killed");
    }

    #[test]
    fn a_default_folder_is_not_passed_to_the_loader() {
        assert_eq!(rpath(Path::new("/usr/lib/libxrt_coreutil.so")), None);
        let folder = tempfile::tempdir().unwrap();
        let flag = rpath(&folder.path().join("libxrt_coreutil.so")).unwrap();
        assert!(flag.to_string_lossy().starts_with("-Wl,-rpath,/"), "{flag:?}");
    }
}
