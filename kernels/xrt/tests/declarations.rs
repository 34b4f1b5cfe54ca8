//! The C header, the Rust declarations and the mock agree.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::{collections::BTreeMap, fs, path::Path};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The type of an argument without its name: `npg_device** device` is `npg_device**`.
fn c_type(argument: &str) -> String {
    let argument = argument.trim();
    let end = argument.rfind([' ', '*']).map_or(argument.len(), |at| at + 1);
    argument[..end].replace(' ', "").replace("const", "const ")
}

/// Each function of the header, with the Rust types of its arguments.
fn header() -> BTreeMap<String, Vec<String>> {
    let text = read("shim/npugate_xrt.h");
    // Code is what follows the end of each comment.
    let code: String = text
        .split("/*")
        .map(|part| part.split_once("*/").map_or(part, |(_, code)| code))
        .flat_map(str::lines)
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut functions = BTreeMap::new();
    for declaration in code.split(';') {
        let Some((before, rest)) = declaration.split_once('(') else { continue };
        let name = before.split_whitespace().next_back().unwrap();
        let arguments = rest.split_once(')').unwrap().0.replace('\n', " ");
        let types: Vec<String> = arguments
            .split(',')
            .map(c_type)
            .filter(|name| name != "void")
            .map(|name| rust_type(&name))
            .collect();
        functions.insert(name.to_owned(), types);
    }
    functions
}

/// The type in `abi.rs` for a C type.
fn rust_type(c: &str) -> String {
    if let Some(inner) = c.strip_suffix('*') {
        return match inner {
            "const char" => "*const c_char".to_owned(),
            "const void" => "*const c_void".to_owned(),
            _ => format!("*mut {}", rust_type(inner)),
        };
    }
    match c {
        "int32_t" => "i32".to_owned(),
        "uint32_t" => "u32".to_owned(),
        "size_t" => "usize".to_owned(),
        "char" => "c_char".to_owned(),
        "void" => "c_void".to_owned(),
        "npg_error" => "Error".to_owned(),
        object => object.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect(),
    }
}

/// Each function of `abi.rs`, with the types of its arguments.
fn declarations() -> BTreeMap<String, Vec<String>> {
    let text = read("src/binding/abi.rs");
    let (_, functions) = text.split_once("functions! {").unwrap();
    let mut found = BTreeMap::new();
    for declaration in functions.split(';').filter(|text| text.contains('(')) {
        let (name, rest) = declaration.trim().split_once('(').unwrap();
        let arguments = rest.rsplit_once(')').unwrap().0;
        let types = arguments
            .split(',')
            .filter_map(|argument| argument.split_once(':'))
            .map(|(_, name)| match name.trim() {
                "Error" => "*mut Error".to_owned(),
                name => name.to_owned(),
            })
            .collect();
        found.insert(name.to_owned(), types);
    }
    found
}

#[test]
fn the_declarations_are_those_of_the_header() {
    let header = header();
    assert_eq!(header.len(), 32);
    assert_eq!(declarations(), header);
}

#[test]
fn the_mock_has_every_function_of_the_header() {
    let mock: String = ["device", "program", "kernel", "buffer", "run"]
        .iter()
        .map(|file| read(&format!("mock/src/exports/{file}.rs")))
        .collect();
    for name in header().keys() {
        assert!(mock.contains(&format!("extern \"C\" fn {name}(")), "{name}");
    }
}

#[test]
fn the_numbers_of_the_header_are_those_of_the_declarations() {
    let header = read("shim/npugate_xrt.h");
    let declared = read("src/binding/abi.rs");
    assert!(header.contains("#define NPG_ABI 2u"));
    assert!(declared.contains("pub const ABI: u32 = 2;"));
    assert!(header.contains("char message[1024];"));
    assert!(declared.contains("pub const MESSAGE: usize = 1024;"));
}
