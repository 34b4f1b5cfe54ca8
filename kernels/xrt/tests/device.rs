//! Programs on the mock's device, which the emulated NPU computes: the same bytes, the same rules,
//! and an error of its own for each way in which a run fails.

#![expect(clippy::unwrap_used, reason = "a test says no more than the error itself does")]

#[path = "support/deployed.rs"]
mod deployed;

use std::{fs, path::Path, time::Duration};

use deployed::{bytes, deploy};
use half::bf16;
use npugate_kernels::{
    Add, Arg, ArgIndex, BufferSet, DType, Device, DeviceError, Emulator, Gemm, GemmOutput, Launch,
    Op, Program, ProgramId, RmsNorm, Role, Rounding, RunFailure, Tensor,
};
use npugate_xrt::{
    Library, MismatchError, XrtDevice, XrtOptions,
    deployment::{Deployment, DeploymentError},
};
use npugate_xrt_mock::{Mock, ProgramFile, State};
use tempfile::TempDir;

const ROWS: usize = 16;
const COLS: usize = 16;
const X: ArgIndex = ArgIndex(0);
const NORM: ArgIndex = ArgIndex(1);
const W: ArgIndex = ArgIndex(2);
const NORMED: ArgIndex = ArgIndex(3);
const OUT: ArgIndex = ArgIndex(5);

/// `out = x + rms_norm(x) w`: every role, and three kernels.
fn program() -> Program {
    let arg = |name: &str, shape: &[usize], role| Arg {
        name: name.into(),
        dtype: DType::Bf16,
        shape: shape.into(),
        role,
    };
    let launch = |op, args: [usize; 3]| Launch::new(op, args.map(ArgIndex), Rounding::NearestEven);
    let norm = RmsNorm { rows: ROWS, cols: COLS, eps: 1e-5 };
    let gemm = Gemm { m: ROWS, k: COLS, n: COLS, output: GemmOutput::Drain };
    Program {
        name: "block".into(),
        args: vec![
            arg("x", &[ROWS, COLS], Role::Input),
            arg("norm", &[COLS], Role::Static),
            arg("w", &[COLS, COLS], Role::Static),
            arg("normed", &[ROWS, COLS], Role::Intermediate),
            arg("product", &[ROWS, COLS], Role::Intermediate),
            arg("out", &[ROWS, COLS], Role::Output),
        ],
        launches: vec![
            launch(Op::RmsNorm(norm), [0, 1, 3]),
            launch(Op::Gemm(gemm), [3, 2, 4]),
            launch(Op::Add(Add { rows: ROWS, cols: COLS }), [0, 4, 5]),
        ],
    }
}

/// A tensor whose values depend on place and seed.
fn tensor(shape: &[usize], seed: usize) -> Tensor {
    let len = shape.iter().product();
    let value = |index: usize| ((index * 37 + seed * 101) % 255) as f32 / 127.0 - 1.0;
    Tensor::bf16(shape, (0..len).map(|i| bf16::from_f32(value(i))).collect::<Vec<_>>()).unwrap()
}

fn x(seed: usize) -> Tensor {
    tensor(&[ROWS, COLS], seed)
}

/// The mock, with a folder that has the program's deployment.
struct Deployed {
    mock: Mock,
    library: Library,
    folder: TempDir,
}

impl Deployed {
    fn new() -> Self {
        let (mock, folder) = (Mock::load().unwrap(), tempfile::tempdir().unwrap());
        deploy(&mock, folder.path(), [&program()]);
        let library = Library::open_at(&npugate_xrt_mock::path().unwrap()).unwrap();
        Self { mock, library, folder }
    }

    fn open(&self) -> XrtDevice {
        self.open_with(XrtOptions::default())
    }

    fn open_with(&self, options: XrtOptions) -> XrtDevice {
        let deployment = Deployment::open(self.folder.path()).unwrap();
        XrtDevice::open(&self.library, deployment, options).unwrap()
    }

    /// A device with the weights of two layers.
    fn ready(&self) -> (XrtDevice, ProgramId) {
        let mut device = self.open();
        let id = device.load(&program()).unwrap();
        for layer in 0..2 {
            write_layer(&mut device, id, layer);
        }
        (device, id)
    }

    /// Replaces the compiled program.
    fn recompile(&self, file: &ProgramFile) {
        fs::write(self.binary(), file.to_text()).unwrap();
    }

    fn binary(&self) -> std::path::PathBuf {
        self.folder.path().join("block.elf")
    }

    fn note(&self, notes: &str) {
        fs::write(self.folder.path().join("programs.toml"), notes).unwrap();
    }

    /// The error of loading the program.
    fn refused(&self) -> DeviceError {
        self.open().load(&program()).unwrap_err()
    }
}

fn write_layer(device: &mut dyn Device, id: ProgramId, layer: u32) {
    let (set, seed) = (BufferSet(layer), layer as usize);
    device.write(id, set, NORM, tensor(&[COLS], 7 + seed)).unwrap();
    device.write(id, set, W, tensor(&[COLS, COLS], 11 + seed)).unwrap();
}

fn forward(device: &mut dyn Device, id: ProgramId, layer: u32, input: Tensor) -> Tensor {
    let set = BufferSet(layer);
    device.write(id, set, X, input).unwrap();
    device.run(id, set).unwrap();
    device.read(id, set, OUT).unwrap()
}

/// The mismatch in a device's error.
#[track_caller]
fn mismatch(error: DeviceError) -> MismatchError {
    match error {
        DeviceError::Backend { source: Some(source), .. } => {
            *source.downcast::<MismatchError>().unwrap()
        }
        other => panic!("unexpected error: {other}"),
    }
}

#[test]
fn every_buffer_has_the_bytes_that_the_emulated_npu_gives_it_layer_after_layer() {
    let deployed = Deployed::new();
    let (mut device, id) = deployed.ready();
    let mut emulator = Emulator::default();
    let twin = emulator.load(&program()).unwrap();
    (0..2).for_each(|layer| write_layer(&mut emulator, twin, layer));
    for call in 0..3 {
        for layer in 0..2 {
            let found = forward(&mut device, id, layer, x(call));
            let expected = forward(&mut emulator, twin, layer, x(call));
            assert_eq!(bytes(&found), bytes(&expected), "call {call}, layer {layer}");
            let set = BufferSet(layer);
            let probe = device.read(id, set, NORMED).unwrap();
            assert_eq!(bytes(&probe), bytes(&emulator.read(twin, set, NORMED).unwrap()));
        }
    }
    let (found, expected) = (device.counters(), emulator.counters());
    assert_eq!(
        (found.dispatches, found.bytes_written, found.bytes_read),
        (expected.dispatches, expected.bytes_written, expected.bytes_read)
    );
    assert_eq!(found.dispatches, 6);
    assert!(found.write > Duration::ZERO && found.run > Duration::ZERO);
    assert!(found.read > Duration::ZERO);
}

#[test]
fn a_double_is_called_one() {
    let info = Deployed::new().open().info();
    assert_eq!((info.name.as_str(), info.vector_unit.as_str()), ("xrt-fake", "npu2"));
    assert!(info.description.contains("(fake)"), "{}", info.description);
}

#[test]
fn the_rules_for_buffers_are_those_of_the_emulated_npu() {
    let deployed = Deployed::new();
    let (mut device, id) = deployed.ready();
    let set = BufferSet(0);
    let error = device.write(id, set, W, tensor(&[COLS, COLS], 1)).unwrap_err();
    assert!(matches!(error, DeviceError::StaticRewritten { .. }), "{error}");
    let error = device.write(id, set, OUT, x(0)).unwrap_err();
    assert!(matches!(error, DeviceError::NotForHost { role: Role::Output, .. }), "{error}");
    let error = device.write(id, set, X, tensor(&[COLS], 0)).unwrap_err();
    assert!(matches!(error, DeviceError::WrongShape { .. }), "{error}");
    let error = device.run(id, set).unwrap_err();
    assert!(matches!(error, DeviceError::InputUnwritten { .. }), "{error}");
    let error = device.read(id, set, OUT).unwrap_err();
    assert!(matches!(error, DeviceError::NotRun { .. }), "{error}");
    device.write(id, BufferSet(1), X, x(0)).unwrap();
    let error = device.run(id, set).unwrap_err();
    assert!(matches!(error, DeviceError::InputOfOtherSet { .. }), "{error}");
    device.run(id, BufferSet(1)).unwrap();
    let error = device.run(id, BufferSet(1)).unwrap_err();
    assert!(matches!(error, DeviceError::StaleInput { .. }), "{error}");
    let error = device.read(id, set, OUT).unwrap_err();
    assert!(matches!(error, DeviceError::ResultOfOtherSet { .. }), "{error}");
    let error = device.read(id, BufferSet(1), X).unwrap_err();
    assert!(matches!(error, DeviceError::NotReadable { .. }), "{error}");
    device.write(id, BufferSet(1), X, x(1)).unwrap();
    let error = device.read(id, BufferSet(1), OUT).unwrap_err();
    assert!(matches!(error, DeviceError::StaleResult { .. }), "{error}");
    device.write(id, BufferSet(2), X, x(0)).unwrap();
    let error = device.run(id, BufferSet(2)).unwrap_err();
    assert!(matches!(error, DeviceError::StaticUnwritten { .. }), "{error}");
    // None of these is a failure of the device.
    forward(&mut device, id, 0, x(2));
}

#[test]
fn a_program_that_was_not_compiled_is_an_error_of_the_deployment() {
    let deployed = Deployed::new();
    let error = deployed.open().load(&Program { name: "o_ffn".into(), ..program() }).unwrap_err();
    let DeviceError::Unprepared { source: Some(source), .. } = &error else { panic!("{error}") };
    assert!(matches!(
        source.downcast_ref::<DeploymentError>(),
        Some(DeploymentError::NotDeployed { .. })
    ));
    assert!(error.to_string().contains("it has block"), "{error}");
}

#[test]
fn a_binary_for_another_generation_or_wider_than_the_array_is_not_loaded() {
    let deployed = Deployed::new();
    deployed.recompile(&ProgramFile { platform: 64, ..ProgramFile::elf("main", "block", 6) });
    let error = mismatch(deployed.refused());
    assert!(matches!(error, MismatchError::Platform { .. }), "{error}");
    assert!(error.to_string().contains("aie2ps and the device is npu2"), "{error}");
    deployed.recompile(&ProgramFile { columns: 9, ..ProgramFile::elf("main", "block", 6) });
    let error = mismatch(deployed.refused());
    assert!(matches!(error, MismatchError::Columns { found: 9, columns: 8, .. }), "{error}");
}

#[test]
fn an_elf_is_not_loaded_on_the_generation_without_elfs() {
    let deployed = Deployed::new();
    deployed.mock.fail(&["npg_device_text=text:RyzenAI-npu1 (fake)"]).unwrap();
    let error = mismatch(deployed.refused());
    assert!(matches!(error, MismatchError::Platform { .. }), "{error}");
    assert!(error.to_string().contains("the device is npu1"), "{error}");
}

#[test]
fn a_device_of_unknown_generation_is_not_opened() {
    let deployed = Deployed::new();
    deployed.mock.fail(&["npg_device_text=text:fake NPU of the future"]).unwrap();
    let deployment = Deployment::open(deployed.folder.path()).unwrap();
    let opened = XrtDevice::open(&deployed.library, deployment, XrtOptions::default());
    let error = mismatch(opened.err().unwrap());
    assert!(matches!(error, MismatchError::Generation(_)), "{error}");
}

#[test]
fn a_binary_with_another_number_of_buffers_is_not_loaded() {
    let deployed = Deployed::new();
    deployed.recompile(&ProgramFile::elf("main", "block", 5));
    let error = mismatch(deployed.refused());
    assert!(matches!(error, MismatchError::ArgCount { expected: 6, found: 5, .. }), "{error}");
}

#[test]
fn a_kernel_is_chosen_by_its_instance_if_there_are_several() {
    let deployed = Deployed::new();
    let instances = vec!["other".to_owned(), "block".to_owned()];
    let file = ProgramFile {
        kernels: vec![("main".to_owned(), 6, instances)],
        ..ProgramFile::elf("main", "block", 6)
    };
    deployed.recompile(&file);
    let error = mismatch(deployed.refused());
    assert!(error.to_string().contains("main:{other,block}"), "{error}");
    deployed.note("[programs.block]\ninstance = \"block\"");
    deployed.open().load(&program()).unwrap();
    deployed.note("[programs.block]\ninstance = \"nope\"");
    let error = mismatch(deployed.refused());
    assert!(error.to_string().contains("for `nope`"), "{error}");
}

#[test]
fn a_binary_with_an_order_and_scratch_memory_of_its_own_gets_them() {
    let deployed = Deployed::new();
    let manifest = serde_json::json!({
        "entries": { "block": { "output_binary": "block.elf", "kernel": "MLIR_AIE", "insts": null } }
    });
    fs::write(deployed.folder.path().join("manifest.json"), manifest.to_string()).unwrap();
    deployed.recompile(&ProgramFile::elf("main", "block", 7));
    deployed.note(
        "[programs.block]\nargs = [
            { name = 'out', role = 'output', bytes = 512 },
            { name = 'scratch', role = 'intermediate', bytes = 64 },
            { name = 'x', role = 'input', bytes = 512 },
            { name = 'norm', role = 'static', bytes = 32 },
            { name = 'w', role = 'static', bytes = 512 },
            { name = 'normed', role = 'intermediate', bytes = 512 },
            { name = 'product', role = 'intermediate', bytes = 512 },
        ]",
    );
    // Shows what it received: the input comes third, and is the output.
    let copy = |call: &npugate_xrt_mock::Call<'_>| {
        let sizes: Vec<usize> = (0..7).map(|index| call.read(index).unwrap().len()).collect();
        assert_eq!(sizes, [512, 64, 512, 32, 512, 512, 512]);
        call.write(0, &call.read(2).unwrap()).unwrap();
        State::Completed
    };
    deployed.mock.set_compute(&deployed.binary(), copy).unwrap();
    let (mut device, id) = deployed.ready();
    assert_eq!(bytes(&forward(&mut device, id, 1, x(5))), bytes(&x(5)));
}

#[test]
fn an_xclbin_runs_with_its_instructions() {
    let deployed = Deployed::new();
    let folder = deployed.folder.path();
    let xclbin = folder.join("block.xclbin");
    fs::write(&xclbin, ProgramFile::xclbin("MLIR_AIE", 6).to_text()).unwrap();
    // The mock's file begins like an xclbin, up to the zero in a real one.
    let text = fs::read(&xclbin).unwrap();
    assert!(text.starts_with(b"xclbin2"), "{text:?}");
    fs::write(folder.join("block.insts.bin"), [0; 16]).unwrap();
    let manifest = serde_json::json!({ "entries": { "block": {
        "output_binary": "block.xclbin", "kernel": "MLIR_AIE", "insts": "block.insts.bin"
    } } });
    fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
    let compiled = deployed::Compiled::new(&program());
    deployed.mock.set_compute(&xclbin, move |call| compiled.compute(call)).unwrap();
    let (mut device, id) = deployed.ready();
    let mut emulator = Emulator::default();
    let twin = emulator.load(&program()).unwrap();
    write_layer(&mut emulator, twin, 1);
    let found = forward(&mut device, id, 1, x(3));
    assert_eq!(bytes(&found), bytes(&forward(&mut emulator, twin, 1, x(3))));
}

#[test]
fn a_binary_that_computes_nothing_is_noticed_at_the_first_read() {
    let deployed = Deployed::new();
    deployed.mock.set_compute(&deployed.binary(), |_| State::Completed).unwrap();
    let (mut device, id) = deployed.ready();
    device.write(id, BufferSet(0), X, x(0)).unwrap();
    device.run(id, BufferSet(0)).unwrap();
    let error = device.read(id, BufferSet(0), OUT).unwrap_err();
    assert!(matches!(error, DeviceError::Backend { .. }), "{error}");
    assert!(error.to_string().contains("wrote nothing to `out`"), "{error}");
}

/// Runs with this fault in the mock, and returns the error of the run and the device.
fn run_with(fault: &str) -> (DeviceError, XrtDevice, ProgramId) {
    let deployed = Deployed::new();
    let mut device =
        deployed.open_with(XrtOptions { deadline: "20ms".parse().unwrap(), ..Default::default() });
    let id = device.load(&program()).unwrap();
    write_layer(&mut device, id, 0);
    device.write(id, BufferSet(0), X, x(0)).unwrap();
    deployed.mock.fail(&[fault]).unwrap();
    let error = device.run(id, BufferSet(0)).unwrap_err();
    (error, device, id)
}

#[test]
fn each_failure_of_a_run_has_an_error_of_its_own_that_says_what_to_do() {
    let hung = RunFailure::HostTimeout { after: Duration::from_millis(20) };
    for (fault, expected, next) in [
        ("npg_run_wait=hang", hung, "end this process"),
        ("npg_run_wait=aie:8:TIMEOUT", RunFailure::DeviceTimeout, "tdr_timeout_ms"),
        ("npg_run_wait=aie:5:ERROR", RunFailure::Failed, "built for this NPU"),
        ("npg_run_wait=aie:6:ABORT", RunFailure::Aborted, "with nothing else on the NPU"),
        ("npg_run_wait=aie:9:NORESPONSE", RunFailure::NoResponse, "reload the driver"),
        (
            "npg_run_start=system:22:DRM_IOCTL_AMDXDNA_EXEC_CMD IOCTL failed (err=-22)",
            RunFailure::NotSubmitted,
            "check the program's arguments",
        ),
        ("npg_run_wait=aie:42:WHAT", RunFailure::Unknown, "only state 4 is a success"),
    ] {
        let (error, ..) = run_with(fault);
        let DeviceError::RunFailed { failure, program, .. } = &error else { panic!("{error}") };
        assert_eq!((*failure, program.as_str()), (expected, "block"), "{fault}");
        assert!(error.to_string().contains(next), "{error}");
        assert!(error.is_final());
    }
}

#[test]
fn after_a_failed_run_the_device_takes_no_further_work() {
    for fault in ["npg_run_wait=hang", "npg_run_wait=aie:5:ERROR"] {
        let (_, mut device, id) = run_with(fault);
        Mock::load().unwrap().fail(&[]).unwrap();
        let set = BufferSet(0);
        let unusable = |error: DeviceError| {
            assert!(matches!(error, DeviceError::Unusable { .. }), "{error}");
            assert!(error.to_string().contains("end the process and start another"), "{error}");
            assert!(error.is_final());
        };
        unusable(device.write(id, set, X, x(0)).unwrap_err());
        unusable(device.run(id, set).unwrap_err());
        unusable(device.read(id, set, OUT).unwrap_err());
        unusable(device.load(&program()).unwrap_err());
    }
}

#[test]
fn a_program_that_is_loaded_twice_occupies_its_columns_once() {
    let deployed = Deployed::new();
    let mut device = deployed.open();
    // More often than there are contexts.
    for _ in 0..20 {
        device.load(&program()).unwrap();
    }
}

#[test]
fn a_device_that_cannot_be_opened_is_unprepared_and_not_faulty() {
    let deployed = Deployed::new();
    for (fault, next) in [
        ("npg_device_open=exception: No such device with index '0'", "cargo npugate doctor"),
        (
            "npg_device_open=system:13:Open /dev/accel/accel0 failed (err=-13): Permission denied",
            "usermod -aG render",
        ),
    ] {
        deployed.mock.fail(&[fault]).unwrap();
        let deployment = Deployment::open(Path::new(deployed.folder.path())).unwrap();
        let opened = XrtDevice::open(&deployed.library, deployment, XrtOptions::default());
        let error = opened.err().unwrap();
        assert!(matches!(error, DeviceError::Unprepared { .. }), "{error}");
        assert!(error.to_string().contains(next), "{error}");
    }
}
