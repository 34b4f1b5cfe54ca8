//! The adapter as the harness sees it: kernels, devices, settings.

use crate::model::{Head, TestModel, context, prompt, sqnr};
use npugate::{
    Adapter, Draw,
    model::{Model, Probe, Runner},
};
use npugate_kernels::{
    ArgIndex, BufferSet, Counters, Device, DeviceError, DeviceInfo, Dispatch, Emulator, Program,
    ProgramId, Tensor,
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Seed of the inputs.
const SEED: u64 = 1;

#[test]
fn every_distinct_launch_is_one_kernel_test() {
    let model = TestModel::new(Head::Tied);
    let names: Vec<String> = model
        .adapter
        .gates(&context(""))
        .unwrap()
        .kernels
        .iter()
        .map(|kernel| kernel.id().to_string())
        .collect();
    assert_eq!(
        names,
        [
            "kernel::rms_norm::256x128",
            "kernel::gemm::256x128x256::high",
            "kernel::gemm::256x128x128::high",
            "kernel::rope::t256_h4_d64",
            "kernel::rope::t256_h2_d64",
            "kernel::flash_attention::s256_d64_q4_kv2_causal",
            "kernel::gemm::256x256x128::high",
            "kernel::add::256x128",
            "kernel::silu_mul::256x256",
            "kernel::rms_norm::1x128",
            "kernel::gemv::256x128",
            "kernel::gemv::128x128",
            "kernel::rope::t1_h4_d64",
            "kernel::rope::t1_h2_d64",
            "kernel::gemv::128x256",
            "kernel::add::1x128",
            "kernel::silu_mul::1x256",
            "kernel::gemv::304x128",
        ]
    );
}

#[test]
fn every_kernel_meets_its_tolerance_and_its_floor_under_every_setting() {
    let model = TestModel::new(Head::Tied);
    for settings in ["", "gemm=direct", "gemm=fused-cast,toolchain=npu2-2026-06"] {
        let context = context(settings);
        for kernel in model.adapter.gates(&context).unwrap().kernels {
            let name = format!("[{settings}] {}", kernel.id());
            let inputs = kernel.inputs(Draw::Registry { seed: SEED }).unwrap();
            let output = kernel.run(&context, &inputs).unwrap();
            let reference = kernel.reference(&inputs).unwrap();
            assert_eq!(output.shape(), reference.shape(), "{name}");
            let tolerance = kernel.tolerance();
            let outside = output
                .values()
                .iter()
                .zip(reference.values())
                .filter(|(y, r)| !tolerance.accepts(**y, **r))
                .count();
            assert_eq!(outside, 0, "{name}");
            let found = sqnr(output.values(), reference.values());
            let floor = kernel.sqnr_floor().unwrap();
            assert!(found >= floor, "{name}: {found:.1} dB, the floor is {floor:.1}");
        }
    }
}

#[test]
fn kernels_without_functions_are_exact_on_integers() {
    let model = TestModel::new(Head::Tied);
    let context = context("");
    let mut exact = 0;
    for kernel in model.adapter.gates(&context).unwrap().kernels {
        let Some(inputs) = kernel.inputs(Draw::Integers { seed: SEED }) else { continue };
        let found = kernel.run(&context, &inputs).unwrap();
        assert_eq!(found.values(), kernel.reference(&inputs).unwrap().values(), "{}", kernel.id());
        exact += 1;
    }
    // All but the norms, the activations and attention.
    assert_eq!(exact, 18 - 5);
}

#[test]
fn a_kernel_refuses_inputs_that_are_not_its_own() {
    let model = TestModel::new(Head::Tied);
    let context = context("");
    let kernel = &model.adapter.gates(&context).unwrap().kernels[1];
    let mut inputs = kernel.inputs(Draw::Registry { seed: SEED }).unwrap();
    inputs.swap(0, 1);
    assert!(kernel.run(&context, &inputs).is_err() && kernel.reference(&inputs).is_err());
    inputs.truncate(1);
    assert_eq!(
        kernel.run(&context, &inputs).unwrap_err().to_string(),
        "kernel `gemm_256x128x256_high` reads 2 operands but 1 were given"
    );
}

#[test]
fn tests_are_listed_without_a_device_or_weights() {
    let opened = Arc::new(AtomicUsize::new(0));
    let count = opened.clone();
    let model = TestModel::new(Head::Tied);
    let path = model.adapter.weights().path.unwrap();
    let adapter = model.adapter.with_device(Arc::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Emulator::default()))
    }));
    std::fs::remove_file(path).unwrap();
    adapter.gates(&context("")).unwrap();
    let _ = (adapter.config(), adapter.profile(), adapter.weights(), adapter.stop_tokens());
    assert_eq!(opened.load(Ordering::Relaxed), 0);
}

/// An emulator whose `fail_at`th dispatch fails.
struct Failing {
    device: Emulator,
    fail_at: u64,
}

impl Device for Failing {
    fn info(&self) -> DeviceInfo {
        self.device.info()
    }

    fn load(&mut self, program: &Program) -> Result<ProgramId, DeviceError> {
        self.device.load(program)
    }

    fn write(
        &mut self,
        program: ProgramId,
        set: BufferSet,
        arg: ArgIndex,
        tensor: Tensor,
    ) -> Result<(), DeviceError> {
        self.device.write(program, set, arg, tensor)
    }

    fn run(&mut self, program: ProgramId, set: BufferSet) -> Result<Dispatch, DeviceError> {
        let dispatch = self.device.run(program, set)?;
        if self.device.counters().dispatches == self.fail_at {
            let (device, message) = ("failing".to_owned(), "it fell over".to_owned());
            return Err(DeviceError::Backend { device, message, source: None });
        }
        Ok(dispatch)
    }

    fn read(
        &mut self,
        program: ProgramId,
        set: BufferSet,
        arg: ArgIndex,
    ) -> Result<Tensor, DeviceError> {
        self.device.read(program, set, arg)
    }

    fn counters(&self) -> Counters {
        self.device.counters()
    }
}

#[test]
fn a_device_that_fails_in_the_middle_of_a_token_leaves_the_cache_as_it_was() {
    let model = TestModel::new(Head::Tied);
    // Prefill takes 7 dispatches; the 10th is the first of layer 1 in decode.
    let failing = || Failing { device: Emulator::default(), fail_at: 10 };
    let adapter = model.adapter.with_device(Arc::new(move |_| Ok(Box::new(failing()))));
    let mut runner = adapter.build_decoder(&context("")).unwrap();
    runner.prefill(&prompt(6), Probe::default()).unwrap();
    let before = runner.kv(0).unwrap();
    let error = runner.decode_step(9, 6).unwrap_err().to_string();
    assert_eq!(error, "device `failing`: it fell over");
    assert_eq!(runner.kv(0).unwrap(), before);
    runner.decode_step(9, 6).unwrap();
    assert_eq!(runner.kv(1).unwrap().keys.shape(), [7, 128]);
}
