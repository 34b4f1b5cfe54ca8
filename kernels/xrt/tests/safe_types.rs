//! The safe types over the mock of the shim.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::{fs, path::PathBuf, time::Duration};

use npugate_xrt::{
    Context, Deadline, Error, Generation, InstructionUnit, Instructions, Kernel, Library, Platform,
    Program, Run, RunState, XrtVersion,
};
use npugate_xrt_mock::{CONTEXTS, Mock, ProgramFile, State};
use tempfile::TempDir;

/// The mock, with a folder for a test's programs.
struct Bench {
    mock: Mock,
    library: Library,
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let mock = Mock::load().unwrap();
        mock.fail(&[]).unwrap();
        let library = Library::open_at(&npugate_xrt_mock::path().unwrap()).unwrap();
        Self { mock, library, folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn elf(&self, buffers: usize) -> Program {
        let path = self.file("a.elf", &ProgramFile::elf("main", "design", buffers).to_text());
        Program::Elf(self.library.elf(&path).unwrap())
    }

    fn xclbin(&self, buffers: usize, unit: InstructionUnit) -> Program {
        let path = self.file("a.xclbin", &ProgramFile::xclbin("MLIR_AIE", buffers).to_text());
        let xclbin = self.library.xclbin(&path).unwrap();
        Program::Xclbin { xclbin, instructions: Instructions { bytes: vec![1; 64], unit } }
    }

    fn context(&self, program: &Program) -> Context {
        self.library.device(0).unwrap().context(program).unwrap()
    }

    fn kernel(&self, buffers: usize) -> Kernel {
        self.context(&self.elf(buffers)).kernel("main:design").unwrap()
    }

    fn fail(&self, fault: &str) {
        self.mock.fail(&[fault]).unwrap();
    }
}

const SECOND: Deadline = Deadline::After(Duration::from_secs(1));
const MOMENT: Deadline = Deadline::After(Duration::from_millis(2));

/// A run of a vector addition, with its inputs set to 1 and 2.
fn addition(kernel: &Kernel) -> (Run, npugate_xrt::Buffer) {
    let mut run = kernel.run().unwrap();
    for (index, value) in [1_u32, 2].into_iter().enumerate() {
        let buffer = kernel.buffer(index, 16).unwrap();
        buffer.write(0, &value.to_le_bytes().repeat(4)).unwrap();
        buffer.sync_to_device().unwrap();
        run.set_buffer(index, &buffer).unwrap();
    }
    let output = kernel.buffer(2, 16).unwrap();
    run.set_buffer(2, &output).unwrap();
    (run, output)
}

fn words(buffer: &npugate_xrt::Buffer) -> Vec<u32> {
    let mut bytes = vec![0; buffer.size()];
    buffer.read(0, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn both_kinds_of_program_compute() {
    let bench = Bench::new();
    for (program, kernel) in [
        (bench.elf(3), "main:design"),
        (bench.xclbin(3, InstructionUnit::Words), "MLIR_AIE"),
        (bench.xclbin(3, InstructionUnit::Bytes), "MLIR_AIE"),
    ] {
        let kernel = bench.context(&program).kernel(kernel).unwrap();
        assert_eq!(kernel.buffers(), Some(3));
        let (mut run, output) = addition(&kernel);
        run.start().unwrap();
        run.wait(SECOND).unwrap();
        assert_eq!(run.state().unwrap(), RunState::Completed);
        output.sync_from_device().unwrap();
        assert_eq!(words(&output), [3; 4]);
    }
}

#[test]
fn a_run_is_started_again_with_one_input_changed() {
    let bench = Bench::new();
    let kernel = bench.kernel(3);
    let (mut run, output) = addition(&kernel);
    let input = kernel.buffer(1, 16).unwrap();
    run.set_buffer(1, &input).unwrap();
    for value in [10_u32, 20, 30] {
        input.write(0, &value.to_le_bytes().repeat(4)).unwrap();
        input.sync_to_device().unwrap();
        run.start().unwrap();
        run.wait(SECOND).unwrap();
        output.sync_from_device().unwrap();
        assert_eq!(words(&output), [value + 1; 4]);
    }
}

#[test]
fn what_is_not_synced_is_not_seen_by_the_other_side() {
    let bench = Bench::new();
    let kernel = bench.kernel(3);
    let (mut run, output) = addition(&kernel);
    run.start().unwrap();
    run.wait(SECOND).unwrap();
    assert_eq!(words(&output), [0; 4]);
    output.sync_from_device().unwrap();
    assert_eq!(words(&output), [3; 4]);
}

#[test]
fn a_test_can_compute_the_runs_of_a_program() {
    let bench = Bench::new();
    let program = bench.elf(2);
    bench
        .mock
        .set_compute(program.path(), |call| {
            assert_eq!((call.kernel, call.buffers()), ("main:design", 2));
            let reversed = call.read(0).map(|bytes| bytes.into_iter().rev().collect::<Vec<_>>());
            match reversed.and_then(|bytes| call.write(1, &bytes)) {
                Some(()) => State::Completed,
                None => State::Error,
            }
        })
        .unwrap();
    let kernel = bench.context(&program).kernel("main:design").unwrap();
    let (input, output) = (kernel.buffer(0, 3).unwrap(), kernel.buffer(1, 3).unwrap());
    input.write(0, &[1, 2, 3]).unwrap();
    input.sync_to_device().unwrap();
    let mut run = kernel.run().unwrap();
    run.set_buffer(0, &input).unwrap();
    run.set_buffer(1, &output).unwrap();
    run.start().unwrap();
    run.wait(SECOND).unwrap();
    output.sync_from_device().unwrap();
    let mut bytes = [0; 3];
    output.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [3, 2, 1]);

    // An output that is too small is an error of the run, and of nothing else.
    let small = kernel.buffer(1, 2).unwrap();
    run.set_buffer(1, &small).unwrap();
    run.start().unwrap();
    assert!(matches!(run.wait(SECOND), Err(Error::Device(_))));
}

#[test]
fn files_report_what_they_are() {
    let bench = Bench::new();
    let Program::Elf(elf) = bench.elf(3) else { panic!() };
    assert_eq!((elf.platform(), elf.columns()), (Platform::AIE2P, Some(8)));
    let [kernel] = elf.kernels() else { panic!("{:?}", elf.kernels()) };
    assert_eq!((kernel.name.as_str(), kernel.args), ("main", 3));
    assert_eq!(kernel.instances, ["design"]);

    let Program::Xclbin { xclbin, .. } = bench.xclbin(3, InstructionUnit::Words) else { panic!() };
    assert_eq!(xclbin.mlir_aie_kernel().unwrap().args, 6);

    // More kernels than the first buffer for their text can hold.
    let mut many = ProgramFile::elf("main", "design", 3);
    many.kernels = vec![("k".repeat(100), 3, vec!["design".to_owned()]); 9];
    let path = bench.file("many.elf", &many.to_text());
    assert_eq!(bench.library.elf(&path).unwrap().kernels().len(), 9);
}

#[test]
fn a_library_and_a_device_report_what_they_are() {
    let bench = Bench::new();
    assert_eq!(bench.library.version(), XrtVersion::new(2, 25, 0));
    assert_eq!(bench.library.device_count().unwrap(), 1);
    let device = bench.library.device(0).unwrap();
    assert_eq!(device.name(), "RyzenAI-npu4 (fake)");
    assert_eq!(device.bdf(), "0000:00:00.0");
    let generation = device.generation().unwrap();
    assert_eq!(generation, Generation::Npu2);
    assert_eq!((generation.platform(), generation.columns()), (Some(Platform::AIE2P), 8));
    assert!(matches!(bench.library.device(1), Err(Error::NoDevice(_))));
}

#[test]
fn a_shim_of_another_version_is_refused() {
    let bench = Bench::new();
    let path = npugate_xrt_mock::path().unwrap();
    bench.fail("npg_abi=value:3");
    let error = Library::open_at(&path).unwrap_err();
    assert!(matches!(error, Error::AbiMismatch { expected: 2, found: 3, .. }), "{error}");
    // 2.23.
    bench.fail("npg_version=value:131095");
    let error = Library::open_at(&path).unwrap_err();
    let Error::VersionMismatch { built, loaded, .. } = &error else { panic!("{error}") };
    assert_eq!((*built, *loaded), (XrtVersion::new(2, 23, 0), XrtVersion::new(2, 25, 0)));
    // 2.19, for the shim and for the library.
    bench.mock.fail(&["npg_version=value:131091", "npg_version_loaded=value:131091"]).unwrap();
    let error = Library::open_at(&path).unwrap_err();
    assert!(matches!(error, Error::XrtTooOld { .. }), "{error}");
    assert!(
        error.to_string().contains("2.19.0 is too old; install XRT 2.20.0 or newer"),
        "{error}"
    );
}

#[test]
fn what_is_not_a_shim_is_refused() {
    let bench = Bench::new();
    let missing = bench.folder.path().join("libnpugate_xrt.so.1");
    let error = Library::open_at(&missing).unwrap_err();
    assert!(matches!(error, Error::ShimMissing { .. }), "{error}");
    assert!(error.to_string().contains("cargo npugate setup xrt"), "{error}");
    let error = Library::open_at(&bench.file("text.so", "text")).unwrap_err();
    assert!(matches!(error, Error::ShimBroken { .. }), "{error}");
    // glibc's own message.
    assert!(error.to_string().contains("text.so: file too short"), "{error}");
}

#[test]
fn broken_files_are_refused_by_name() {
    let bench = Bench::new();
    let library = &bench.library;
    let missing = bench.folder.path().join("missing");
    for error in [library.elf(&missing).unwrap_err(), library.xclbin(&missing).unwrap_err()] {
        assert!(matches!(&error, Error::NoSuchFile { path } if *path == missing), "{error}");
    }
    let text = bench.file("text", "this is neither of the two");
    assert!(matches!(library.elf(&text), Err(Error::NotAnElf(_))));
    assert!(matches!(library.xclbin(&text), Err(Error::InvalidXclbin(_))));
    let short = bench.file("short", "xclbin2");
    assert!(matches!(library.xclbin(&short), Err(Error::ShortXclbin(_))));

    let elf = ProgramFile::elf("main", "design", 3);
    let x86 = bench.file("x86", &ProgramFile { platform: 0, ..elf.clone() }.to_text());
    assert!(matches!(library.elf(&x86), Err(Error::WrongPlatform(_))));
    let partial = bench.file("partial", &ProgramFile { full: 0, ..elf }.to_text());
    assert!(matches!(library.elf(&partial), Err(Error::PartialElf(_))));

    let mut none = ProgramFile::xclbin("MLIR_AIE", 3);
    none.kernels.clear();
    let xclbin = library.xclbin(&bench.file("none", &none.to_text())).unwrap();
    let instructions = Instructions { bytes: vec![1; 4], unit: InstructionUnit::Words };
    let error = library.device(0).unwrap().context(&Program::Xclbin { xclbin, instructions });
    assert!(matches!(error, Err(Error::NoDpuKernel(_))));
}

#[test]
fn kernels_and_arguments_that_do_not_exist_are_refused() {
    let bench = Bench::new();
    let context = bench.context(&bench.elf(3));
    for name in ["main:nope", "nope:design", "main", ""] {
        assert!(matches!(context.kernel(name), Err(Error::NoSuchKernel(_))), "{name}");
    }
    assert!(
        matches!(context.kernel("main:de\0sign"), Err(Error::ZeroByte { text }) if text == "main:de")
    );
    let xclbin = bench.context(&bench.xclbin(3, InstructionUnit::Words));
    assert!(matches!(xclbin.kernel("NOPE"), Err(Error::NoSuchKernel(_))));

    for kernel in [context.kernel("main:design").unwrap(), xclbin.kernel("MLIR_AIE").unwrap()] {
        let error = kernel.buffer(3, 16).unwrap_err();
        assert!(matches!(error, Error::NoSuchArg { index: 3, count: 3, .. }), "{error}");
        let (mut run, output) = addition(&kernel);
        assert!(matches!(run.set_buffer(3, &output), Err(Error::NoSuchArg { .. })));
        assert!(matches!(kernel.buffer(0, 0), Err(Error::Refused(_))));
    }
}

#[test]
fn ranges_outside_of_a_buffer_are_refused() {
    let bench = Bench::new();
    let buffer = bench.kernel(3).buffer(0, 16).unwrap();
    buffer.write(12, &[0; 4]).unwrap();
    for (offset, len) in [(13, 4), (0, 17), (usize::MAX, 1), (17, 0)] {
        assert!(matches!(buffer.write(offset, &vec![0; len]), Err(Error::OutOfRange { .. })));
        let error = buffer.read(offset, &mut vec![0; len]).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { size: 16, .. }), "{error}");
    }
}

#[test]
fn a_run_starts_only_with_all_buffers_and_once_at_a_time() {
    let bench = Bench::new();
    let kernel = bench.kernel(3);
    let mut bare = kernel.run().unwrap();
    assert!(matches!(bare.start(), Err(Error::ArgUnset { index: 0, .. })));
    assert!(matches!(bare.wait(SECOND), Err(Error::NotStarted { .. })));

    let (mut run, output) = addition(&kernel);
    run.start().unwrap();
    assert!(matches!(run.start(), Err(Error::InProgress { .. })));
    assert!(matches!(run.set_buffer(2, &output), Err(Error::InProgress { .. })));
    run.wait(SECOND).unwrap();
    run.set_buffer(2, &output).unwrap();
}

#[test]
fn contexts_run_out_and_come_back() {
    let bench = Bench::new();
    let device = bench.library.device(0).unwrap();
    let program = bench.elf(3);
    let mut contexts: Vec<_> = (0..CONTEXTS).map(|_| device.context(&program).unwrap()).collect();
    let error = device.context(&program).unwrap_err();
    assert!(matches!(error, Error::ContextsExhausted(_)), "{error}");
    contexts.pop();
    device.context(&program).unwrap();
}

#[test]
fn a_refusal_of_the_driver_reaches_the_caller() {
    let bench = Bench::new();
    bench.fail(
        "npg_device_open=system:13:Open /dev/accel/accel0 failed (err=-13): Permission denied",
    );
    let error = bench.library.device(0).unwrap_err();
    assert!(matches!(error, Error::Permission(_)), "{error}");
    assert!(error.to_string().contains("usermod -aG render"), "{error}");
    bench.mock.fail(&[]).unwrap();

    let kernel = bench.kernel(3);
    let (mut run, _output) = addition(&kernel);
    bench.fail("npg_run_start=system:22:DRM_IOCTL_AMDXDNA_EXEC_CMD IOCTL failed (err=-22)");
    assert!(matches!(run.start(), Err(Error::Submit(_))));
    // What was not submitted is not in progress.
    bench.mock.fail(&[]).unwrap();
    run.start().unwrap();
    run.wait(SECOND).unwrap();
}

#[test]
fn each_way_in_which_a_run_ends_has_an_error_and_frees_the_run() {
    let bench = Bench::new();
    let kernel = bench.kernel(3);
    let (mut run, _output) = addition(&kernel);
    for (state, ended) in [
        (8, RunState::Timeout),
        (5, RunState::Error),
        (6, RunState::Aborted),
        (9, RunState::NoResponse),
    ] {
        bench.fail(&format!("npg_run_wait=aie:{state}:Command failed to complete successfully"));
        run.start().unwrap();
        let error = run.wait(SECOND).unwrap_err();
        let expected = match ended {
            RunState::Timeout => matches!(error, Error::DeviceTimeout(_)),
            RunState::Error => matches!(error, Error::Device(_)),
            RunState::Aborted => matches!(error, Error::Aborted(_)),
            _ => matches!(error, Error::NoResponse(_)),
        };
        assert!(expected, "{state}: {error}");
        assert_eq!(run.state().unwrap(), ended);
    }
}

#[test]
fn a_deadline_that_passes_leaves_the_run_in_progress() {
    let bench = Bench::new();
    let kernel = bench.kernel(3);
    let (mut run, _output) = addition(&kernel);
    bench.fail("npg_run_wait=late");
    run.start().unwrap();
    assert!(matches!(run.wait(MOMENT), Err(Error::HostTimeout(_))));
    assert!(matches!(run.start(), Err(Error::InProgress { .. })));
    assert_eq!(run.state().unwrap(), RunState::InProgress);
    // It ends after all.
    run.wait(SECOND).unwrap();
    bench.mock.take_freed().unwrap();
    drop(run);
    assert_eq!(bench.mock.take_freed().unwrap()[0], "run");
}

#[test]
fn nothing_is_freed_while_the_device_uses_it() {
    let bench = Bench::new();
    let kernel = bench.kernel(3);
    let (mut run, output) = addition(&kernel);
    bench.fail("npg_run_wait=hang");
    run.start().unwrap();
    assert!(matches!(run.wait(MOMENT), Err(Error::HostTimeout(_))));
    bench.mock.take_freed().unwrap();
    drop((run, output, kernel));
    let freed = bench.mock.take_freed().unwrap();
    assert_eq!(freed, Vec::<String>::new(), "the hung run keeps all of it alive");
}

#[test]
fn everything_is_freed_before_what_it_was_made_from() {
    let bench = Bench::new();
    let program = bench.xclbin(3, InstructionUnit::Words);
    let device = bench.library.device(0).unwrap();
    let context = device.context(&program).unwrap();
    let kernel = context.kernel("MLIR_AIE").unwrap();
    let (run, output) = addition(&kernel);
    bench.mock.take_freed().unwrap();
    // In the worst possible order.
    drop(device);
    drop(program);
    drop(context);
    drop(kernel);
    assert_eq!(bench.mock.take_freed().unwrap(), Vec::<String>::new());
    drop(output);
    drop(run);
    let freed = bench.mock.take_freed().unwrap();
    let at = |name: &str| freed.iter().position(|freed| freed == name).unwrap();
    let last = |name: &str| freed.iter().rposition(|freed| freed == name).unwrap();
    assert_eq!(freed.iter().filter(|name| *name == "buffer").count(), 4, "{freed:?}");
    assert!(at("run") < at("kernel") && at("kernel") < at("context"), "{freed:?}");
    assert!(at("context") < at("xclbin"), "{freed:?}");
    assert!(last("buffer") < at("device") && at("xclbin") < at("device"), "{freed:?}");
    assert_eq!(freed.last().map(String::as_str), Some("device"));
}

#[test]
fn types_can_be_sent_to_other_threads() {
    fn sendable<T: Send + Sync>() {}
    sendable::<Library>();
    sendable::<Context>();
    sendable::<npugate_xrt::Buffer>();
    sendable::<Run>();
}
