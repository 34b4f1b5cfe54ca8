use std::fs;

use npugate_kernels::Role;
use tempfile::TempDir;

use super::*;

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// Opens a folder with this manifest, these notes and both kinds of binaries.
fn open(manifest: &str, notes: &str) -> (TempDir, Result<Deployment, DeploymentError>) {
    let folder = folder(&[
        (MANIFEST, manifest.as_bytes()),
        (NOTES, notes.as_bytes()),
        ("a.elf", b"\x7fELF..."),
        ("x.xclbin", b"xclbin2\0..."),
        ("x.insts.bin", b"...."),
        ("text.elf", b"hello, world"),
    ]);
    let deployment = Deployment::open(folder.path());
    (folder, deployment)
}

/// One entry of each kind, as MLIR-AIR writes them.
const BOTH: &str = r#"{
    "_toolchain": {"mlir-air": "abc"},
    "entries": {
        "a": {"output_binary": "/build/here/a.elf", "kernel": "MLIR_AIE", "insts": null,
              "launches": {"air_launches": 3}, "n_args": 15},
        "x": {"output_binary": "x.xclbin", "kernel": "MLIR_AIE", "insts": "x.insts.bin"}
    }
}"#;

#[test]
fn a_kernel_cache_is_read_as_it_is() {
    let (folder, deployment) = open(BOTH, "");
    let deployment = deployment.unwrap();
    assert_eq!(deployment.programs().collect::<Vec<_>>(), ["a", "x"]);
    let a = deployment.program("a").unwrap();
    // It was built elsewhere, and is beside the manifest.
    assert_eq!(a.binary, Binary::Elf(folder.path().join("a.elf")));
    assert_eq!((a.kernel.as_deref(), a.arg_count), (Some("MLIR_AIE"), Some(15)));
    let x = deployment.program("x").unwrap();
    let binary = Binary::Xclbin {
        xclbin: folder.path().join("x.xclbin"),
        instructions: folder.path().join("x.insts.bin"),
        unit: InstructionUnit::Words,
    };
    assert_eq!((x.binary, x.arg_count), (binary, None));
}

#[test]
fn a_manifest_without_a_toolchain_has_its_entries_at_the_top() {
    let manifest = r#"{"a": {"output_binary": "a.elf", "kernel": "MLIR_AIE", "insts": null}}"#;
    let (_folder, deployment) = open(manifest, "");
    assert_eq!(deployment.unwrap().program("a").unwrap().entry, "a");
}

#[test]
fn notes_add_what_the_manifest_does_not_say() {
    let notes = r#"
        [programs.o_ffn]
        entry = "a"
        instance = "o_ffn"
        args = [
            { name = "x", role = "input", bytes = 64 },
            { name = "scratch", role = "intermediate", bytes = 4096 },
        ]
        [programs.x]
        ninstr = "bytes"
    "#;
    let (_folder, deployment) = open(BOTH, notes);
    let deployment = deployment.unwrap();
    assert_eq!(deployment.programs().collect::<Vec<_>>(), ["x", "o_ffn"]);
    let o_ffn = deployment.program("o_ffn").unwrap();
    assert_eq!((o_ffn.entry.as_str(), o_ffn.instance.as_deref()), ("a", Some("o_ffn")));
    let note = |name: &str, role, bytes| ArgNote { name: name.into(), role, bytes };
    let args = vec![note("x", Role::Input, 64), note("scratch", Role::Intermediate, 4096)];
    assert_eq!(o_ffn.args, Some(args));
    let x = deployment.program("x").unwrap();
    assert!(matches!(x.binary, Binary::Xclbin { unit: InstructionUnit::Bytes, .. }));
}

#[test]
fn a_folder_without_a_manifest_is_refused_with_its_path() {
    let folder = folder(&[]);
    let error = Deployment::open(folder.path()).unwrap_err();
    assert!(matches!(error, DeploymentError::NoManifest { .. }), "{error}");
    assert!(error.to_string().contains(&folder.path().join(MANIFEST).display().to_string()));
}

#[test]
fn a_manifest_of_another_form_is_refused() {
    for (manifest, part) in
        [("{", "EOF"), ("[]", "not an object"), (r#"{"entries": 3}"#, "entries")]
    {
        let error = open(manifest, "").1.unwrap_err();
        assert!(matches!(error, DeploymentError::Manifest { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn an_entry_of_another_form_is_refused_by_name() {
    for (entry, part) in [("3", "invalid type"), (r#"{"kernel": "k"}"#, "`output_binary`")] {
        let error = open(&format!(r#"{{"entries": {{"a": {entry}}}}}"#), "").1.unwrap_err();
        assert!(matches!(error, DeploymentError::Entry { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("manifest.json, entry `a`") && text.contains(part), "{text}");
    }
}

#[test]
fn malformed_notes_are_refused_with_the_line() {
    for (notes, part) in [
        ("[programs.a]\nninstr = \"nibbles\"", "nibbles"),
        ("[programs.a]\ninstanze = \"x\"", "instanze"),
        ("[program.a]", "program"),
        ("[programs.a]\nargs = [{ name = \"x\", role = \"input\" }]", "bytes"),
    ] {
        let error = open(BOTH, notes).1.unwrap_err();
        assert!(matches!(error, DeploymentError::Notes { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("programs.toml") && text.contains(part), "{text}");
        assert!(text.contains("line"), "{text}");
    }
}

#[test]
fn a_note_about_a_program_that_was_not_compiled_is_refused() {
    for (notes, entry) in [("[programs.b]", "`b`"), ("[programs.a]\nentry = \"c\"", "`c`")] {
        let error = open(BOTH, notes).1.unwrap_err();
        assert!(matches!(error, DeploymentError::NoteWithoutEntry { .. }), "{error}");
        assert!(error.to_string().contains(entry), "{error}");
    }
}

#[test]
fn the_error_for_a_program_that_is_not_deployed_lists_those_that_are() {
    let error = open(BOTH, "").1.unwrap().program("lm_head").unwrap_err();
    assert!(matches!(error, DeploymentError::NotDeployed { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("`lm_head`") && text.contains("it has a, x"), "{text}");
}

#[test]
fn a_missing_file_is_named_with_its_key() {
    for (binary, insts, key) in
        [("gone.elf", "null", "output_binary"), ("x.xclbin", r#""gone.bin""#, "insts")]
    {
        let entry = format!(r#"{{"output_binary": "{binary}", "kernel": "k", "insts": {insts}}}"#);
        let (_folder, deployment) = open(&format!(r#"{{"entries": {{"a": {entry}}}}}"#), "");
        let error = deployment.unwrap().program("a").unwrap_err();
        assert!(matches!(&error, DeploymentError::NoFile { key: k, .. } if *k == key), "{error}");
        assert!(error.to_string().contains("entry `a`"), "{error}");
    }
}

#[test]
fn an_xclbin_without_instructions_and_a_file_of_another_kind_are_refused() {
    let with = |binary: &str| {
        let entry = format!(r#"{{"output_binary": "{binary}", "kernel": "k", "insts": null}}"#);
        let (_folder, deployment) = open(&format!(r#"{{"entries": {{"a": {entry}}}}}"#), "");
        deployment.unwrap().program("a").unwrap_err()
    };
    let error = with("x.xclbin");
    assert!(matches!(error, DeploymentError::NoInstructions { .. }), "{error}");
    let error = with("text.elf");
    assert!(matches!(error, DeploymentError::UnknownBinary { .. }), "{error}");
    assert!(error.to_string().contains("text.elf is neither"), "{error}");
}
