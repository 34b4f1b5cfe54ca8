//! What the settings change, and what they must not.

use crate::model::{Head, TestModel, context, prompt, sqnr};
use npugate::{LogitRows, Prefill, Probe, Runner};

fn prefill(model: &TestModel, settings: &str) -> Prefill {
    let probe = Probe { hidden: true, logits: LogitRows::From(0) };
    model.runner(settings).prefill(&prompt(40), probe).unwrap()
}

#[test]
fn fusion_changes_how_often_the_device_is_called_and_no_result() {
    let model = TestModel::new(Head::Tied);
    let (mut merged, mut leaf) = (model.runner(""), model.runner("fusion=leaf"));
    for runner in [&mut merged, &mut leaf] {
        runner.prefill(&prompt(40), Probe::default()).unwrap();
    }
    // Three programs a layer, or fifteen launches, and the LM head.
    assert_eq!(merged.usage().dispatches, 3 * 2 + 1);
    assert_eq!(leaf.usage().dispatches, 15 * 2 + 1);
    assert_eq!(merged.decode_step(7, 40).unwrap(), leaf.decode_step(7, 40).unwrap());
    assert_eq!(prefill(&model, ""), prefill(&model, "fusion=leaf"));
}

#[test]
fn attention_on_the_host_agrees_with_the_kernel_within_the_kernels_noise() {
    let model = TestModel::new(Head::Tied);
    let (npu, host) = (prefill(&model, ""), prefill(&model, "attention=host"));
    let found = sqnr(npu.logits.values(), host.logits.values());
    assert!((18.0..60.0).contains(&found), "{found:.1} dB");
}

#[test]
fn attention_on_the_host_needs_no_multiple_of_256() {
    let model = TestModel::new(Head::Tied);
    let mut runner = model.runner("attention=host,seq_len=40");
    assert_eq!(runner.max_prefill(), 40);
    let probe = Probe { hidden: true, logits: LogitRows::From(0) };
    assert_eq!(runner.prefill(&prompt(40), probe).unwrap(), prefill(&model, "attention=host"));
}

#[test]
fn rounding_of_the_published_toolchain_is_further_from_rne_than_nothing() {
    let model = TestModel::new(Head::Tied);
    let (rne, floor) = (prefill(&model, ""), prefill(&model, "toolchain=npu2-2026-06"));
    let found = sqnr(floor.logits.values(), rne.logits.values());
    assert!((10.0..40.0).contains(&found), "{found:.1} dB");
}

#[test]
fn the_configuration_is_one_line_and_a_wrong_length_is_refused_before_a_device_is_opened() {
    use npugate::Adapter;
    let model = TestModel::new(Head::Tied);
    assert_eq!(
        model.adapter.configuration(&context("fusion=leaf")).unwrap(),
        "drain GEMM, NPU attention, leaf, seq 256, rounding rne"
    );
    let error = model.adapter.configuration(&context("seq_len=100")).unwrap_err().to_string();
    assert!(error.starts_with("setting `seq_len` cannot be `100`: "), "{error}");
    assert!(model.adapter.kernels(&context("seq_len=100")).is_err());
}
