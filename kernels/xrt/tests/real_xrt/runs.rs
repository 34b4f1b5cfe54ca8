//! Runs that succeed: the output is what was computed, for both kinds of files.

use std::{fs, path::Path};

use npugate_kernels::{
    Add, Arg, ArgIndex, BufferSet, DType, Device, Emulator, Gemm, GemmOutput, Launch, Op, Program,
    Role, Rounding, Tensor, TensorData,
    inputs::{Draw, draw},
};
use npugate_xrt_fixtures::{Key, deploy};
use tempfile::TempDir;

use crate::{
    child::{Outcome, play},
    faults::fails,
    scenario::{Form, Scenario},
};

/// Plays `scenario`, which must return `expected`.
fn says(scenario: Scenario, expected: &str) {
    let Some(outcome) = play(scenario, &[]) else { return };
    assert_eq!(outcome, Outcome::Done(expected.to_owned()), "{scenario}");
}

#[test]
fn the_device_is_found_and_says_that_it_is_a_fake() {
    let Some(outcome) = play(Scenario::Describe, &[]) else { return };
    let Outcome::Done(text) = outcome else { panic!("{outcome:?}") };
    assert!(text.starts_with("1 2.") && text.ends_with("RyzenAI-npu4 (fake)"), "{text}");
    assert!(text.contains(" 0000:c5:00.1 "), "{text}");
}

#[test]
fn a_run_computes_through_an_elf_and_through_an_xclbin() {
    says(Scenario::Add(Form::Elf), "x3");
    says(Scenario::Add(Form::Xclbin), "x3");
    says(Scenario::Add(Form::XclbinInBytes), "x3");
}

#[test]
fn a_run_that_is_started_three_times_sees_the_one_input_that_changes() {
    says(Scenario::Reuse(Form::Elf), "x3 x6 x8");
    says(Scenario::Reuse(Form::Xclbin), "x3 x6 x8");
}

/// `y = x + x w`, in 16 rows and columns, with the product in between.
fn design() -> Program {
    let arg =
        |name: &str, role| Arg { name: name.into(), dtype: DType::Bf16, shape: vec![16, 16], role };
    let launch = |op, args: [usize; 3]| Launch::new(op, args.map(ArgIndex), Rounding::NearestEven);
    Program {
        name: "sum".into(),
        args: vec![
            arg("x", Role::Input),
            arg("w", Role::Static),
            arg("product", Role::Intermediate),
            arg("y", Role::Output),
        ],
        launches: vec![
            launch(GEMM, [0, 1, 2]),
            launch(Op::Add(Add { rows: 16, cols: 16 }), [0, 2, 3]),
        ],
    }
}

const GEMM: Op = Op::Gemm(Gemm { m: 16, k: 16, n: 16, output: GemmOutput::Drain });

fn bytes(tensor: &Tensor) -> Vec<u8> {
    match tensor.data() {
        TensorData::Bf16(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        TensorData::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

/// The emulated NPU's results for two inputs and one `w`; the inputs are left in `folder`.
fn emulated(folder: &Path) -> [[Vec<u8>; 2]; 2] {
    let mut emulator = Emulator::default();
    let id = emulator.load(&design()).unwrap();
    let set = BufferSet(0);
    [1, 2].map(|seed| {
        let mut operands = draw(&GEMM, Draw::Registry { seed });
        let (w, x) = (operands.pop().unwrap(), operands.pop().unwrap());
        fs::write(folder.join(format!("x.{}.in", seed - 1)), bytes(&x)).unwrap();
        emulator.write(id, set, ArgIndex(0), x).unwrap();
        if seed == 1 {
            fs::write(folder.join("w.0.in"), bytes(&w)).unwrap();
            emulator.write(id, set, ArgIndex(1), w).unwrap();
        }
        emulator.run(id, set).unwrap();
        [2, 3].map(|arg| bytes(&emulator.read(id, set, ArgIndex(arg)).unwrap()))
    })
}

#[test]
fn a_program_gives_the_same_bytes_through_xrt_as_on_the_emulated_npu() {
    let folder = tempfile::tempdir().unwrap();
    let json = serde_json::to_vec(&design()).unwrap();
    fs::write(folder.path().join("design.json"), &json).unwrap();
    fs::write(folder.path().join(format!("{}.json", Key::of(&json))), &json).unwrap();
    let expected = emulated(folder.path());
    assert_ne!(expected[0], expected[1]);
    let path = folder.path().to_str().unwrap();
    let variables = [("NPUGATE_TEST_FILE", path), ("FAKE_XDNA_PROGRAMS", path)];
    for form in [Form::Elf, Form::Xclbin] {
        let Some(outcome) = play(Scenario::Program(form), &variables) else { return };
        assert_eq!(outcome, Outcome::Done("sum".to_owned()));
        for (turn, [product, y]) in expected.iter().enumerate() {
            let found = |name| fs::read(folder.path().join(format!("{name}.{turn}.out"))).unwrap();
            assert_eq!(&found("product"), product, "{form:?}, turn {turn}");
            assert_eq!(&found("y"), y, "{form:?}, turn {turn}");
        }
    }
}

/// A folder with the design as a deployment, and the results of its two turns.
fn deployment() -> (TempDir, [[Vec<u8>; 2]; 2]) {
    let folder = tempfile::tempdir().unwrap();
    deploy(folder.path(), [&design()]).unwrap();
    let json = serde_json::to_vec(&design()).unwrap();
    fs::write(folder.path().join("design.json"), json).unwrap();
    let expected = emulated(folder.path());
    (folder, expected)
}

#[test]
fn the_projects_device_gives_the_bytes_of_the_emulated_npu() {
    let (folder, expected) = deployment();
    let path = folder.path().to_str().unwrap();
    let variables = [("NPUGATE_TEST_FILE", path), ("FAKE_XDNA_PROGRAMS", path)];
    let Some(outcome) = play(Scenario::Device, &variables) else { return };
    assert_eq!(outcome, Outcome::Done("xrt-fake, 4 dispatches".to_owned()));
    for (turn, [_, y]) in expected.iter().enumerate() {
        let found = fs::read(folder.path().join(format!("y.{turn}.out"))).unwrap();
        assert_eq!(&found, y, "turn {turn}");
    }
}

#[test]
fn a_run_of_the_projects_device_that_hangs_ends_at_its_deadline() {
    let (folder, _) = deployment();
    let path = folder.path().to_str().unwrap();
    let variables = [
        ("NPUGATE_TEST_FILE", path),
        ("FAKE_XDNA_PROGRAMS", path),
        ("FAKE_XDNA_HANG", "1"),
        ("NPUGATE_RUN_DEADLINE", "300ms"),
    ];
    let Some(outcome) = play(Scenario::Device, &variables) else { return };
    let Outcome::Done(text) = outcome else { panic!("{outcome:?}") };
    assert!(text.contains("`sum`") && text.contains("deadline"), "{text}");
}

#[test]
fn a_program_that_the_double_does_not_have_is_an_error_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let json = serde_json::to_vec(&design()).unwrap();
    fs::write(folder.path().join("design.json"), &json).unwrap();
    let path = folder.path().to_str().unwrap();
    let variables = [("NPUGATE_TEST_FILE", path), ("FAKE_XDNA_PROGRAMS", path)];
    fails(Scenario::Program(Form::Elf), &variables, "Device", "built for this NPU");
}
