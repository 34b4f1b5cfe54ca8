use std::path::PathBuf;

use npugate_kernels::{Add, Op, Rounding};

use super::*;
use crate::deployment::Binary;

/// `a + b`, 1 by 16 of bf16: 32 bytes each.
fn program() -> Program {
    Program::single(Op::Add(Add { rows: 1, cols: 16 }), Rounding::NearestEven)
}

fn names() -> [String; 3] {
    let [a, b, c] = program().args.try_into().unwrap();
    [a, b, c].map(|arg: Arg| arg.name)
}

fn deployed(args: Option<Vec<ArgNote>>, arg_count: Option<usize>) -> Deployed {
    Deployed {
        program: program().name,
        entry: "add".into(),
        binary: Binary::Elf(PathBuf::from("add.elf")),
        kernel: None,
        instance: None,
        arg_count,
        args,
    }
}

fn note(name: &str, role: Role, bytes: usize) -> ArgNote {
    ArgNote { name: name.into(), role, bytes }
}

/// The program's own arguments, noted as they are.
fn notes() -> Vec<ArgNote> {
    let [a, b, out] = names();
    let roles = [(a, Role::Input), (b, Role::Input), (out, Role::Output)];
    roles.into_iter().map(|(name, role)| note(&name, role, 32)).collect()
}

fn checked(notes: Vec<ArgNote>) -> Result<Vec<Position>, MismatchError> {
    positions(&program(), &deployed(Some(notes), None))
}

#[test]
fn without_notes_the_binary_takes_the_programs_arguments_in_their_order() {
    let found = positions(&program(), &deployed(None, Some(3))).unwrap();
    assert_eq!(found, [0, 1, 2].map(|index| Position::Arg(ArgIndex(index))));
}

#[test]
fn notes_give_the_binarys_own_order_and_its_scratch_memory() {
    let mut notes = notes();
    notes.rotate_right(1);
    notes.insert(1, note("scratch", Role::Intermediate, 4096));
    let arg = |index| Position::Arg(ArgIndex(index));
    assert_eq!(checked(notes).unwrap(), [arg(2), Position::Scratch(4096), arg(0), arg(1)]);
}

#[test]
fn a_manifest_or_binary_with_another_number_of_buffers_is_refused() {
    let error = positions(&program(), &deployed(None, Some(4))).unwrap_err();
    assert!(matches!(error, MismatchError::ArgCount { expected: 3, found: 4, .. }), "{error}");
    assert!(error.to_string().contains("the manifest says 4"), "{error}");
    let error = arg_count(&program(), 3, Some(5)).unwrap_err();
    assert!(error.to_string().contains("the binary itself says 5"), "{error}");
    assert_eq!(arg_count(&program(), 3, Some(3)), Ok(()));
    // An old XRT does not report it.
    assert_eq!(arg_count(&program(), 3, None), Ok(()));
}

#[test]
fn an_argument_that_is_left_out_or_listed_twice_is_refused_by_name() {
    let [a, ..] = names();
    let error = checked(notes().split_off(1)).unwrap_err();
    assert!(matches!(&error, MismatchError::ArgMissing { arg, .. } if *arg == a), "{error}");
    let mut twice = notes();
    twice.push(note(&a, Role::Input, 32));
    let error = checked(twice).unwrap_err();
    assert!(matches!(&error, MismatchError::ArgTwice { arg, .. } if *arg == a), "{error}");
}

#[test]
fn an_argument_of_another_size_or_role_is_refused() {
    let [a, ..] = names();
    let with = |first: ArgNote| {
        let mut notes = notes();
        notes[0] = first;
        checked(notes).unwrap_err()
    };
    let error = with(note(&a, Role::Input, 64));
    assert!(matches!(error, MismatchError::ArgBytes { expected: 32, found: 64, .. }), "{error}");
    let error = with(note(&a, Role::Static, 32));
    assert!(matches!(error, MismatchError::ArgRole { found: Role::Static, .. }), "{error}");
}

#[test]
fn an_argument_that_the_program_lacks_and_the_host_should_write_is_refused() {
    for role in [Role::Input, Role::Static, Role::Output] {
        let mut notes = notes();
        notes.push(note("mystery", role, 32));
        let error = checked(notes).unwrap_err();
        assert!(matches!(error, MismatchError::ArgUnknown { .. }), "{error}");
        assert!(error.to_string().contains("`mystery`"), "{error}");
    }
}
