//! What the tests share: one launch as a program, and the registry's metrics.

#![allow(dead_code)] // Each test binary uses a part of it.

use npugate_kernels::{
    ArgIndex, BufferSet, Device, Emulator, EmulatorOptions, Op, Program, Rounding, Tensor,
    Toolchain,
};

/// Runs one launch on an emulated NPU of its own.
pub fn launch_with(
    options: EmulatorOptions,
    op: Op,
    rounding: Rounding,
    inputs: &[Tensor],
) -> Tensor {
    let mut emulator = Emulator::new(options);
    let program = Program::single(op, rounding);
    let id = emulator.load(&program).unwrap();
    for (index, tensor) in inputs.iter().enumerate() {
        emulator.write(id, BufferSet(0), ArgIndex(index), tensor.clone()).unwrap();
    }
    emulator.run(id, BufferSet(0)).unwrap();
    emulator.read(id, BufferSet(0), ArgIndex(inputs.len())).unwrap()
}

/// Runs one launch under the rounding mode that `toolchain` leaves on its core.
pub fn launch(toolchain: Toolchain, op: Op, inputs: &[Tensor]) -> Tensor {
    launch_with(EmulatorOptions::default(), op, toolchain.rounding(&op), inputs)
}

/// The registry's `mean_rel_L1`: `mean |y - r| / mean |r|`.
pub fn mean_rel_l1(found: &[f32], reference: &[f32]) -> f64 {
    assert_eq!(found.len(), reference.len());
    let sum = |values: &mut dyn Iterator<Item = f64>| -> f64 { values.sum() };
    let errors = found.iter().zip(reference).map(|(&y, &r)| (f64::from(y) - f64::from(r)).abs());
    sum(&mut errors.into_iter()) / sum(&mut reference.iter().map(|&r| f64::from(r).abs()))
}

/// The reference as a bf16 output is compared with it: narrowed to nearest even.
pub fn narrowed(reference: &[f32]) -> Vec<f32> {
    reference.iter().map(|&r| Rounding::NearestEven.narrow(r).to_f32()).collect()
}
