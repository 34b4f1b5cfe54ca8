//! A whole model on a device behind XRT's interface, whose double computes with the emulated NPU:
//! every byte is the same as on the emulated NPU, every gate passes, and the dispatches are those
//! of the program list.
#![expect(clippy::unwrap_used, reason = "tests fail by panics")]

#[path = "../../kernels/xrt/tests/support/deployed.rs"]
mod deployed;

use npugate::{
    Adapter, Context,
    model::{LogitRows, Probe, Runner, Usage},
    schema::Outcome,
    suite::Suite,
};
use npugate_decoder::DecoderAdapter;
use npugate_kernels::Device;
use npugate_xrt::{Library, XrtDevice, XrtOptions, deployment::Deployment};
use npugate_xrt_mock::Mock;
use std::sync::Arc;
use tempfile::TempDir;

/// Layers of tiny-llama.
const LAYERS: u64 = 4;
/// The vocabulary of its LM head is one partition.
const LM_HEAD: u64 = 1;

fn context(settings: &str) -> Context {
    Context::default().with_settings(settings.parse().unwrap())
}

/// tiny-llama on the double, with a deployment of these settings.
fn on_the_double(context: &Context) -> (TempDir, DecoderAdapter) {
    let (folder, mock) = (tempfile::tempdir().unwrap(), Mock::load().unwrap());
    let adapter = tiny_llama::adapter();
    deployed::deploy(&mock, folder.path(), &adapter.loaded_programs(context).unwrap());
    let path = folder.path().to_owned();
    let adapter = adapter.with_device(Arc::new(move |_| {
        let library = Library::open_at(&npugate_xrt_mock::path().unwrap()).unwrap();
        let deployment = Deployment::open(&path).unwrap();
        let device = XrtDevice::open(&library, deployment, XrtOptions::default())?;
        assert_eq!(device.info().name, "xrt-fake");
        Ok(Box::new(device) as Box<dyn Device>)
    }));
    (folder, adapter)
}

/// What a call adds to a runner's dispatches.
fn dispatches<T>(runner: &mut dyn Runner, call: impl FnOnce(&mut dyn Runner) -> T) -> (T, u64) {
    let before = runner.usage().dispatches;
    let result = call(runner);
    (result, runner.usage().dispatches - before)
}

/// The counts that do not depend on the clock.
fn counted(usage: Usage) -> (u64, u64, u64) {
    (usage.dispatches, usage.bytes_written, usage.bytes_read)
}

/// Asserts that prefill, the cache, decode and a block give the same bits on both devices.
#[track_caller]
fn assert_same(settings: &str, per_layer: [u64; 2]) {
    let context = context(settings);
    let (_folder, adapter) = on_the_double(&context);
    let mut xrt = adapter.build_decoder(&context).unwrap();
    let mut emu = tiny_llama::adapter().build_decoder(&context).unwrap();
    let [prefill_per_layer, decode_per_layer] = per_layer;

    let prompt: Vec<u32> = (1..20).collect();
    let probe = Probe::logits(LogitRows::From(0)).with_hidden();
    let (found, count) = dispatches(&mut xrt, |runner| runner.prefill(&prompt, probe).unwrap());
    assert_eq!(found, emu.prefill(&prompt, probe).unwrap());
    assert_eq!(count, LAYERS * prefill_per_layer + prompt.len() as u64 * LM_HEAD);
    for layer in 0..LAYERS as usize {
        assert_eq!(xrt.kv(layer).unwrap(), emu.kv(layer).unwrap(), "layer {layer}");
    }
    for (position, token) in (prompt.len()..).zip([5, 77, 3]) {
        let (found, count) =
            dispatches(&mut xrt, |runner| runner.decode_step(token, position).unwrap());
        let expected = emu.decode_step(token, position).unwrap();
        assert!(found.iter().map(|x| x.to_bits()).eq(expected.iter().map(|x| x.to_bits())));
        assert_eq!(count, LAYERS * decode_per_layer + LM_HEAD);
    }
    let hidden = &found.hidden[1];
    assert_eq!(xrt.block(2, hidden).unwrap(), emu.block(2, hidden).unwrap());
    assert_eq!(counted(xrt.usage()), counted(emu.usage()));
}

#[test]
fn merged_programs_give_the_emulated_npus_bits_in_three_dispatches_a_layer() {
    // rms_qkv_rope, flash_attn, o_ffn; decode attends on the host.
    assert_same("", [3, 2]);
}

#[test]
fn attention_on_the_host_saves_a_dispatch_a_layer() {
    assert_same("attention=host", [2, 2]);
}

#[test]
fn every_gate_passes_on_the_double() {
    let context = Context::default();
    let (_folder, adapter) = on_the_double(&context);
    let suite = Suite::new(Arc::new(adapter), context).unwrap();
    let planned: Vec<_> = suite.plan().iter().filter(|test| test.ignore.is_none()).collect();
    assert!(planned.len() > 40, "only {} tests", planned.len());
    for test in planned {
        let record = suite.run(&test.name).unwrap();
        assert_eq!(record.outcome, Outcome::Passed, "{record:?}");
    }
    assert!(!suite.has_lost_its_device());
}

#[test]
fn a_run_that_hangs_fails_its_test_and_ends_the_process_in_order() {
    let context = Context::default();
    let (_folder, adapter) = on_the_double(&context);
    let suite = Suite::new(Arc::new(adapter), context).unwrap();
    let kernel = suite.plan().iter().find(|test| test.name.starts_with("kernel::add")).unwrap();
    let mock = Mock::load().unwrap();
    mock.fail(&["npg_run_wait=aie:8:ERT_CMD_STATE_TIMEOUT"]).unwrap();
    let record = suite.run(&kernel.name).unwrap();
    mock.fail(&[]).unwrap();
    assert_eq!(record.outcome, Outcome::Failed);
    assert!(record.verdict.contains("timed out by the driver"), "{}", record.verdict);
    assert!(suite.has_lost_its_device());
}

#[test]
fn a_program_that_was_not_compiled_cannot_be_judged() {
    let context = Context::default();
    let (folder, adapter) = on_the_double(&context);
    std::fs::write(folder.path().join("manifest.json"), r#"{"entries": {}}"#).unwrap();
    let suite = Suite::new(Arc::new(adapter), context).unwrap();
    let kernel = suite.plan().iter().find(|test| test.name.starts_with("kernel::add")).unwrap();
    let record = suite.run(&kernel.name).unwrap();
    assert!(matches!(record.outcome, Outcome::Invalid { .. }), "{record:?}");
    assert!(record.verdict.contains("compile it"), "{}", record.verdict);
    assert!(!suite.has_lost_its_device());
}

#[test]
fn a_model_names_both_devices_and_what_the_npu_lacks() {
    let adapter = tiny_llama::adapter();
    let devices: Vec<_> = adapter.devices().into_iter().map(|device| device.name).collect();
    assert_eq!(devices, ["emu", "xrt"]);
    let settings = "deployment=/tmp/compiled,deadline=5s".parse().unwrap();
    let xrt = Context::on("xrt").with_settings(settings);
    let configuration = adapter.gates(&xrt).unwrap().configuration;
    assert!(configuration.contains("deployment /tmp/compiled"), "{configuration}");
    // The place of compilation and the time limit do not affect what is computed.
    assert_eq!(adapter.distinct(&xrt.settings).unwrap().to_string(), "");
}
