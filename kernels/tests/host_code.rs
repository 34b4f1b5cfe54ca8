//! The mistakes that host code of a model makes with its buffers, each made by a host of two layers
//! and caught by the emulated NPU. On hardware they go unnoticed, and the text is only slightly
//! wrong.

#![expect(clippy::unwrap_used, reason = "a test says no more than the error itself does")]

use half::bf16;
use npugate_kernels::{
    Add, Arg, ArgIndex, BufferSet, DType, Device, DeviceError, Emulator, Launch, Op, Program,
    ProgramError, ProgramId, Role, Rounding, Tensor,
};

const COLS: usize = 16;
const X: ArgIndex = ArgIndex(0);
const BIAS: ArgIndex = ArgIndex(1);
const SHIFTED: ArgIndex = ArgIndex(2);
const Y: ArgIndex = ArgIndex(3);
const LAYERS: [BufferSet; 2] = [BufferSet(0), BufferSet(1)];

/// `y = x + (x + bias)`: a layer whose result says which bias it had.
fn layer() -> Program {
    let arg = |name: &str, role| Arg {
        name: name.into(),
        dtype: DType::Bf16,
        shape: vec![1, COLS],
        role,
    };
    let add = |args: [ArgIndex; 3]| {
        Launch::new(Op::Add(Add { rows: 1, cols: COLS }), args, Rounding::NearestEven)
    };
    Program {
        name: "layer".into(),
        args: vec![
            arg("x", Role::Input),
            arg("bias", Role::Static),
            arg("shifted", Role::Intermediate),
            arg("y", Role::Output),
        ],
        launches: vec![add([X, BIAS, SHIFTED]), add([X, SHIFTED, Y])],
    }
}

fn row(value: f32) -> Tensor {
    Tensor::bf16([1, COLS], vec![bf16::from_f32(value); COLS]).unwrap()
}

/// The first element: all are the same.
fn value(tensor: &Tensor) -> bf16 {
    tensor.as_bf16().unwrap()[0]
}

/// The bias of layer `n` is `n + 1`.
fn bias(layer: BufferSet) -> Tensor {
    row(layer.0 as f32 + 1.0)
}

/// A device on which every layer has its bias.
fn ready() -> (Emulator, ProgramId) {
    let mut device = Emulator::default();
    let id = device.load(&layer()).unwrap();
    for set in LAYERS {
        device.write(id, set, BIAS, bias(set)).unwrap();
    }
    (device, id)
}

/// One layer, as it should be.
fn forward(
    device: &mut dyn Device,
    id: ProgramId,
    set: BufferSet,
    x: f32,
) -> Result<bf16, DeviceError> {
    device.write(id, set, X, row(x))?;
    device.run(id, set)?;
    Ok(value(&device.read(id, set, Y)?))
}

#[test]
fn a_host_that_makes_no_mistake_gets_each_layers_own_result_call_after_call() {
    let (mut device, id) = ready();
    for x in [2.0, 5.0] {
        for set in LAYERS {
            let y = forward(&mut device, id, set, x).unwrap();
            assert_eq!(y, bf16::from_f32(2.0 * x + set.0 as f32 + 1.0));
        }
    }
}

#[test]
fn rewriting_a_static_buffer_is_an_error_and_leaves_the_buffer_unchanged() {
    let (mut device, id) = ready();
    forward(&mut device, id, LAYERS[0], 2.0).unwrap();
    let error = device.write(id, LAYERS[0], BIAS, row(9.0)).unwrap_err();
    assert!(matches!(error, DeviceError::StaticRewritten { set: BufferSet(0), .. }), "{error}");
    assert_eq!(forward(&mut device, id, LAYERS[0], 2.0).unwrap(), bf16::from_f32(5.0));
}

#[test]
fn two_layers_that_share_a_buffer_set_are_refused_at_the_second_layers_weights() {
    let mut device = Emulator::default();
    let id = device.load(&layer()).unwrap();
    let key = LAYERS[0];
    device.write(id, key, BIAS, bias(LAYERS[0])).unwrap();
    let error = device.write(id, key, BIAS, bias(LAYERS[1])).unwrap_err();
    assert!(matches!(error, DeviceError::StaticRewritten { .. }), "{error}");
    assert!(error.to_string().contains("give each layer a buffer set of its own"), "{error}");
    // A host that keeps the key of the weights and runs another is refused at the run.
    device.write(id, LAYERS[1], X, row(2.0)).unwrap();
    let error = device.run(id, LAYERS[1]).unwrap_err();
    assert!(matches!(error, DeviceError::StaticUnwritten { set: BufferSet(1), .. }), "{error}");
}

#[test]
fn a_host_that_reads_an_intermediate_before_it_is_written_is_refused() {
    let (mut device, id) = ready();
    device.write(id, LAYERS[0], X, row(2.0)).unwrap();
    let error = device.read(id, LAYERS[0], SHIFTED).unwrap_err();
    assert!(matches!(error, DeviceError::NotRun { .. }), "{error}");
    assert!(error.to_string().contains("`shifted`"), "{error}");
}

#[test]
fn a_launch_that_reads_an_intermediate_before_it_is_written_is_not_loaded() {
    let mut program = layer();
    program.launches.swap(0, 1);
    let error = Emulator::default().load(&program).unwrap_err();
    let DeviceError::Program(error) = error else { panic!("another error: {error}") };
    assert!(matches!(*error, ProgramError::ReadBeforeWrite { launch: 0, .. }), "{error}");
    assert!(error.to_string().contains("`shifted`"), "{error}");
}

#[test]
fn an_output_that_no_launch_writes_is_not_loaded() {
    let mut program = layer();
    // The launch that would write it is forgotten.
    program.launches.pop();
    let error = Emulator::default().load(&program).unwrap_err();
    let DeviceError::Program(error) = error else { panic!("another error: {error}") };
    assert!(matches!(*error, ProgramError::OutputNeverWritten { .. }), "{error}");
    assert!(error.to_string().contains("`y`"), "{error}");
}

#[test]
fn a_host_that_forgets_to_run_does_not_get_the_output_of_the_previous_call() {
    let (mut device, id) = ready();
    assert_eq!(forward(&mut device, id, LAYERS[0], 2.0).unwrap(), bf16::from_f32(5.0));
    device.write(id, LAYERS[0], X, row(7.0)).unwrap();
    for (index, name) in [(Y, "`y`"), (SHIFTED, "`shifted`")] {
        let error = device.read(id, LAYERS[0], index).unwrap_err();
        assert!(matches!(error, DeviceError::StaleResult { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(name) && text.contains("`x` has been written since"), "{text}");
    }
    device.run(id, LAYERS[0]).unwrap();
    assert_eq!(value(&device.read(id, LAYERS[0], Y).unwrap()), bf16::from_f32(15.0));
}

#[test]
fn an_output_that_is_read_after_the_next_layer_ran_is_not_the_next_layers() {
    let (mut device, id) = ready();
    for set in LAYERS {
        device.write(id, set, X, row(2.0)).unwrap();
        device.run(id, set).unwrap();
    }
    let error = device.read(id, LAYERS[0], Y).unwrap_err();
    assert!(matches!(error, DeviceError::ResultOfOtherSet { last: BufferSet(1), .. }), "{error}");
}

#[test]
fn a_host_that_runs_again_without_its_inputs_does_not_run() {
    let (mut device, id) = ready();
    forward(&mut device, id, LAYERS[0], 2.0).unwrap();
    let error = device.run(id, LAYERS[0]).unwrap_err();
    assert!(matches!(error, DeviceError::StaleInput { .. }), "{error}");
}
