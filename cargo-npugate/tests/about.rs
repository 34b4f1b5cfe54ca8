//! What the command says about itself, in a folder without a workspace.
#![allow(clippy::unwrap_used, reason = "a helper of tests may panic")]

use std::{fs, path::Path, process::Command};

/// Runs the command in a folder. Returns the exit code, stdout and stderr.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-npugate"));
    let output = command.arg("npugate").args(args).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn checks_are_explained_by_their_own_names_and_by_those_of_tests() {
    let folder = tempfile::tempdir().unwrap();
    let (code, all, _) = run(folder.path(), &["--explain"]);
    assert_eq!((code, all.lines().count()), (Some(0), 16));
    let (code, by_check, _) = run(folder.path(), &["--explain", "block::injected"]);
    assert_eq!(code, Some(0));
    assert!(by_check.contains("\nWhat to do next\n") && by_check.contains("worst_head_error 3"));
    let (_, by_test, _) = run(folder.path(), &["--explain", "block::layer07::injected"]);
    assert_eq!(by_test, by_check);
    let (code, out, err) = run(folder.path(), &["--explain", "block::injekted"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("the nearest check is block::injected"), "{err}");
}

#[test]
fn the_version_is_one_line_or_all_facts() {
    let folder = tempfile::tempdir().unwrap();
    let (code, line, _) = run(folder.path(), &["--version"]);
    assert_eq!((code, line.lines().count()), (Some(0), 1));
    assert!(line.starts_with(concat!("cargo-npugate ", env!("CARGO_PKG_VERSION"))), "{line}");
    assert_eq!(run(folder.path(), &["-V"]).1, line);
    let (_, all, _) = run(folder.path(), &["--version", "--verbose"]);
    assert_eq!(run(folder.path(), &["-vV"]).1, all);
    assert!(all.starts_with(&line) && all.contains("\nrelease: ") && all.contains("\nrustc: "));
}

#[test]
fn completions_are_for_the_executable() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, script, err) = run(folder.path(), &["completions", shell]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{shell}");
        assert!(script.contains("cargo-npugate") && script.contains("diagnosis"), "{shell}");
    }
    assert!(run(folder.path(), &["completions", "zsh"]).1.starts_with("#compdef cargo-npugate\n"));
    assert_eq!(run(folder.path(), &["completions", "tcsh"]).0, Some(2));
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_and_their_options() {
    let folder = tempfile::tempdir().unwrap();
    let (_, script, _) = run(folder.path(), &["completions", "bash"]);
    let complete = |words: &[&str]| {
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let call = format!(
            "{script}\nCOMP_WORDS=({}); COMP_CWORD={}\n_cargo__npugate cargo-npugate {last} {before}\necho \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1
        );
        let output = Command::new("bash").args(["-c", &call]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete(&["cargo-npugate", "diag"]), "diagnosis");
    assert_eq!(complete(&["cargo-npugate", "kernel", "--base"]), "--baseline");
    assert_eq!(complete(&["cargo-npugate", "kernel", "--baseline", "sa"]), "save");
    assert_eq!(complete(&["cargo-npugate", "registry", "ru"]), "rules");
}

#[test]
fn the_manual_is_printed_or_written_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (code, page, _) = run(folder.path(), &["man"]);
    assert_eq!(code, Some(0));
    assert!(page.contains(".TH cargo-npugate 1"), "{page}");
    let (code, out, err) = run(folder.path(), &["man", "pages/man1"]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(err.contains("     Written ") && err.contains(" pages to pages/man1"), "{err}");
    let written = fs::read_to_string(folder.path().join("pages/man1/cargo-npugate.1")).unwrap();
    assert_eq!(written, page);
    assert!(folder.path().join("pages/man1/cargo-npugate-registry-add.1").exists());
    fs::write(folder.path().join("file"), "").unwrap();
    assert_eq!(run(folder.path(), &["man", "file"]).0, Some(110));
}
