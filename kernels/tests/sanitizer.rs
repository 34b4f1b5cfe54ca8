//! Mistakes that hardware does not report are errors on the emulated NPU, and each error says what
//! is wrong and where.

#![allow(clippy::unwrap_used)] // A test says no more than the error itself does.

mod support;

use half::bf16;
use npugate_kernels::{
    Add, Arg, ArgIndex, BufferSet, DType, Device, DeviceError, Emulator, Gemm, GemmOutput, Launch,
    Op, Program, ProgramError, ProgramId, RmsNorm, Role, Rounding, Tensor,
};

const ROWS: usize = 2;
const COLS: usize = 16;
const X: ArgIndex = ArgIndex(0);
const WEIGHT: ArgIndex = ArgIndex(1);
const NORMED: ArgIndex = ArgIndex(2);
const SUM: ArgIndex = ArgIndex(3);
const SET: BufferSet = BufferSet(3);

fn arg(name: &str, shape: &[usize], role: Role) -> Arg {
    Arg { name: name.into(), dtype: DType::Bf16, shape: shape.into(), role }
}

fn norm(args: [ArgIndex; 3]) -> Launch {
    let op = Op::RmsNorm(RmsNorm { rows: ROWS, cols: COLS, eps: 1e-5 });
    Launch::new(op, args, Rounding::Floor)
}

fn add(args: [ArgIndex; 3]) -> Launch {
    let op = Op::Add(Add { rows: ROWS, cols: COLS });
    Launch::new(op, args, Rounding::Floor)
}

/// `sum = x + rms_norm(x) * weight`.
fn program() -> Program {
    Program {
        name: "residual".into(),
        args: vec![
            arg("x", &[ROWS, COLS], Role::Input),
            arg("weight", &[COLS], Role::Static),
            arg("normed", &[ROWS, COLS], Role::Intermediate),
            arg("sum", &[ROWS, COLS], Role::Output),
        ],
        launches: vec![norm([X, WEIGHT, NORMED]), add([X, NORMED, SUM])],
    }
}

fn tensor(shape: &[usize], value: f32) -> Tensor {
    let len = shape.iter().product();
    Tensor::bf16(shape, vec![bf16::from_f32(value); len]).unwrap()
}

fn x() -> Tensor {
    tensor(&[ROWS, COLS], 3.0)
}

fn weight() -> Tensor {
    tensor(&[COLS], 2.0)
}

/// An emulated NPU that is ready to run the program for `SET`.
fn ready() -> (Emulator, ProgramId) {
    let mut emulator = Emulator::default();
    let id = emulator.load(&program()).unwrap();
    emulator.write(id, SET, WEIGHT, weight()).unwrap();
    emulator.write(id, SET, X, x()).unwrap();
    (emulator, id)
}

/// Every error names the program, the buffer and the set.
#[track_caller]
fn names(error: &DeviceError, arg: &str) {
    let text = error.to_string();
    for part in ["`residual`", &format!("`{arg}`"), "set 3"] {
        assert!(text.contains(part), "{part} is missing in: {text}");
    }
}

#[test]
fn a_well_used_program_runs_again_and_again() {
    let (mut emulator, id) = ready();
    for run in 0..3 {
        if run > 0 {
            emulator.write(id, SET, X, x()).unwrap();
        }
        let dispatch = emulator.run(id, SET).unwrap();
        assert_eq!(dispatch.launches.len(), 2);
        let sum = emulator.read(id, SET, SUM).unwrap().to_f32();
        // 3 / sqrt(9 + 1e-5) is just below 1, floored to 0.99609375, doubled, added to 3, floored.
        assert_eq!(sum, vec![4.96875; ROWS * COLS]);
    }
    let counters = emulator.counters();
    let tensor = (ROWS * COLS * 2) as u64;
    assert_eq!(counters.dispatches, 3);
    assert_eq!(counters.bytes_written, 3 * tensor + COLS as u64 * 2);
    assert_eq!(counters.bytes_read, 3 * tensor);
}

#[test]
fn an_intermediate_may_be_read_as_a_probe() {
    let (mut emulator, id) = ready();
    emulator.run(id, SET).unwrap();
    assert_eq!(emulator.read(id, SET, NORMED).unwrap().to_f32(), vec![1.992_187_5; ROWS * COLS]);
}

#[test]
fn a_static_buffer_is_written_once() {
    let (mut emulator, id) = ready();
    let error = emulator.write(id, SET, WEIGHT, weight()).unwrap_err();
    assert!(matches!(error, DeviceError::StaticRewritten { .. }));
    names(&error, "weight");
    emulator.write(id, BufferSet(4), WEIGHT, weight()).unwrap();
}

#[test]
fn a_static_buffer_is_written_before_its_set_is_run() {
    let mut emulator = Emulator::default();
    let id = emulator.load(&program()).unwrap();
    emulator.write(id, BufferSet(0), WEIGHT, weight()).unwrap();
    emulator.write(id, SET, X, x()).unwrap();
    let error = emulator.run(id, SET).unwrap_err();
    assert!(matches!(error, DeviceError::StaticUnwritten { .. }));
    names(&error, "weight");
}

#[test]
fn a_host_does_not_write_what_launches_write() {
    let (mut emulator, id) = ready();
    for (index, name, role) in [(NORMED, "normed", Role::Intermediate), (SUM, "sum", Role::Output)]
    {
        let error = emulator.write(id, SET, index, x()).unwrap_err();
        assert!(matches!(error, DeviceError::NotForHost { role: r, .. } if r == role));
        names(&error, name);
    }
}

#[test]
fn an_input_is_written_before_every_run() {
    let mut emulator = Emulator::default();
    let id = emulator.load(&program()).unwrap();
    emulator.write(id, SET, WEIGHT, weight()).unwrap();
    let error = emulator.run(id, SET).unwrap_err();
    assert!(matches!(error, DeviceError::InputUnwritten { .. }));
    names(&error, "x");

    emulator.write(id, SET, X, x()).unwrap();
    emulator.run(id, SET).unwrap();
    let error = emulator.run(id, SET).unwrap_err();
    assert!(matches!(error, DeviceError::StaleInput { .. }));
    names(&error, "x");
}

#[test]
fn an_input_is_written_for_the_set_that_is_run() {
    let (mut emulator, id) = ready();
    emulator.write(id, BufferSet(9), X, x()).unwrap();
    let error = emulator.run(id, SET).unwrap_err();
    assert!(matches!(error, DeviceError::InputOfOtherSet { written: BufferSet(9), .. }));
    names(&error, "x");
}

#[test]
fn a_tensor_of_another_type_or_shape_is_refused() {
    let (mut emulator, id) = ready();
    let f32s = Tensor::f32([ROWS, COLS], vec![0.0; ROWS * COLS]).unwrap();
    let error = emulator.write(id, SET, X, f32s).unwrap_err();
    assert!(matches!(error, DeviceError::WrongDType { found: DType::F32, .. }));
    names(&error, "x");

    let error = emulator.write(id, SET, X, tensor(&[COLS, ROWS], 1.0)).unwrap_err();
    assert!(matches!(error, DeviceError::WrongShape { .. }));
    names(&error, "x");
}

#[test]
fn nothing_is_read_before_a_run_or_for_another_set_than_the_last() {
    let (mut emulator, id) = ready();
    let error = emulator.read(id, SET, SUM).unwrap_err();
    assert!(matches!(error, DeviceError::NotRun { .. }));
    names(&error, "sum");

    emulator.write(id, BufferSet(4), WEIGHT, weight()).unwrap();
    emulator.run(id, SET).unwrap();
    emulator.write(id, BufferSet(4), X, x()).unwrap();
    emulator.run(id, BufferSet(4)).unwrap();
    let error = emulator.read(id, SET, SUM).unwrap_err();
    assert!(matches!(error, DeviceError::ResultOfOtherSet { last: BufferSet(4), .. }));
    names(&error, "sum");
}

#[test]
fn a_refused_run_leaves_the_last_result_readable() {
    let (mut emulator, id) = ready();
    emulator.run(id, SET).unwrap();
    // Refused before anything ran: the buffers still hold the last run.
    emulator.run(id, SET).unwrap_err();
    emulator.read(id, SET, SUM).unwrap();
}

#[test]
fn a_host_does_not_read_back_what_it_wrote() {
    let (mut emulator, id) = ready();
    emulator.run(id, SET).unwrap();
    for (index, name) in [(X, "x"), (WEIGHT, "weight")] {
        let error = emulator.read(id, SET, index).unwrap_err();
        assert!(matches!(error, DeviceError::NotReadable { .. }));
        names(&error, name);
    }
}

#[test]
fn an_intermediate_that_no_launch_writes_cannot_be_probed() {
    let mut program = program();
    program.args.push(arg("unused", &[COLS], Role::Intermediate));
    let mut emulator = Emulator::default();
    let id = emulator.load(&program).unwrap();
    emulator.write(id, SET, WEIGHT, weight()).unwrap();
    emulator.write(id, SET, X, x()).unwrap();
    emulator.run(id, SET).unwrap();
    let error = emulator.read(id, SET, ArgIndex(4)).unwrap_err();
    assert!(matches!(error, DeviceError::ResultUnwritten { .. }));
    names(&error, "unused");
}

#[test]
fn an_unknown_program_or_argument_is_refused() {
    let (mut emulator, id) = ready();
    let error = emulator.run(ProgramId::new(7), SET).unwrap_err();
    assert!(matches!(error, DeviceError::UnknownProgram { index: 7 }));
    for error in [
        emulator.write(id, SET, ArgIndex(9), x()).unwrap_err(),
        emulator.read(id, SET, ArgIndex(9)).unwrap_err(),
    ] {
        assert!(matches!(error, DeviceError::UnknownArg { index: 9, count: 4, .. }));
    }
}

#[test]
fn a_malformed_program_is_not_loaded() {
    let refused = |change: fn(&mut Program)| {
        let mut program = program();
        change(&mut program);
        match Emulator::default().load(&program).unwrap_err() {
            DeviceError::Program(error) => {
                let text = error.to_string();
                assert!(text.contains("`residual`"), "{text}");
                *error
            }
            other => panic!("another error: {other}"),
        }
    };
    let error = refused(|p| p.launches.clear());
    assert!(matches!(error, ProgramError::NoLaunch { .. }), "{error}");
    let error = refused(|p| p.args[1].name = "x".into());
    assert!(matches!(error, ProgramError::DuplicateName { .. }), "{error}");
    let error = refused(|p| p.launches.swap(0, 1));
    assert!(matches!(error, ProgramError::ReadBeforeWrite { launch: 0, .. }), "{error}");
    let error = refused(|p| p.launches.truncate(1));
    assert!(matches!(error, ProgramError::OutputNeverWritten { .. }), "{error}");
    let error = refused(|p| p.args[2].role = Role::Static);
    assert!(matches!(error, ProgramError::WritesHostBuffer { role: Role::Static, .. }), "{error}");
    let error = refused(|p| p.launches[1] = add([NORMED, X, NORMED]));
    assert!(matches!(error, ProgramError::InPlace { launch: 1, .. }), "{error}");
    let error = refused(|p| p.launches[0] = norm([X, ArgIndex(8), NORMED]));
    assert!(matches!(error, ProgramError::NoSuchArg { index: 8, .. }), "{error}");
    let error = refused(|p| p.launches[0].args.truncate(2));
    assert!(matches!(error, ProgramError::OperandCount { expected: 3, found: 2, .. }), "{error}");
    let error = refused(|p| p.args[1].shape = vec![COLS + 16]);
    assert!(matches!(error, ProgramError::Mismatch { .. }), "{error}");
    let error = refused(|p| p.args[3].dtype = DType::F32);
    assert!(matches!(error, ProgramError::Mismatch { .. }), "{error}");
    let error = refused(|p| {
        let norm = RmsNorm { rows: ROWS, cols: 12, eps: 1e-5 };
        p.launches[0].op = Op::RmsNorm(norm);
    });
    assert!(matches!(error, ProgramError::Op { .. }), "{error}");
}

#[test]
fn a_single_row_and_a_vector_are_the_same_memory() {
    let mut program = program();
    program.args[1].shape = vec![1, COLS];
    program.check().unwrap();
    program.args[1].shape = vec![COLS, 1];
    assert!(matches!(program.check(), Err(ProgramError::Mismatch { .. })));
}

/// A right matrix may serve a launch that packs it and one that reads it as it is.
#[test]
fn a_static_buffer_may_be_used_packed_and_plain() {
    let gemm = Op::Gemm(Gemm { m: 16, k: 16, n: 16, output: GemmOutput::Drain });
    let sum = Op::Add(Add { rows: 16, cols: 16 });
    let launch = |op, args: [usize; 3]| Launch::new(op, args.map(ArgIndex), Rounding::NearestEven);
    let square = |name, role| arg(name, &[16, 16], role);
    let program = Program {
        name: "both".into(),
        args: vec![
            square("x", Role::Input),
            square("w", Role::Static),
            square("product", Role::Intermediate),
            square("sum", Role::Output),
        ],
        launches: vec![launch(gemm, [0, 1, 2]), launch(sum, [2, 1, 3])],
    };
    let mut emulator = Emulator::default();
    let id = emulator.load(&program).unwrap();
    emulator.write(id, SET, ArgIndex(0), tensor(&[16, 16], 1.0)).unwrap();
    emulator.write(id, SET, ArgIndex(1), tensor(&[16, 16], 0.5)).unwrap();
    emulator.run(id, SET).unwrap();
    assert_eq!(emulator.read(id, SET, ArgIndex(3)).unwrap().to_f32(), vec![8.5; 256]);
}
