//! What the settings change, and what they must not.

use crate::model::{Head, TestModel, context, prompt, spec, sqnr};
use npugate::{
    Adapter,
    model::{LogitRows, Model, Prefill, Probe, Runner},
    suite::Suite,
};
use npugate_decoder::{DecoderAdapter, DecoderSpec, Options};
use std::sync::Arc;

fn prefill(model: &TestModel, settings: &str) -> Prefill {
    let probe = Probe::logits(LogitRows::From(0)).with_hidden();
    model.runner(settings).prefill(&prompt(40), probe).unwrap()
}

#[test]
fn fusion_changes_the_number_of_dispatches_and_no_result() {
    let model = TestModel::new(Head::Tied);
    let (mut merged, mut leaf) = (model.runner(""), model.runner("fusion=leaf"));
    for runner in [&mut merged, &mut leaf] {
        runner.prefill(&prompt(40), Probe::default()).unwrap();
    }
    // Three programs or fifteen launches per layer, and the LM head.
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
fn attention_on_the_host_does_not_need_a_multiple_of_256() {
    let model = TestModel::new(Head::Tied);
    let mut runner = model.runner("attention=host,seq_len=40");
    assert_eq!(runner.max_prefill(), 40);
    let probe = Probe::logits(LogitRows::From(0)).with_hidden();
    assert_eq!(runner.prefill(&prompt(40), probe).unwrap(), prefill(&model, "attention=host"));
}

#[test]
fn rounding_of_the_published_toolchain_changes_the_logits_a_little() {
    let model = TestModel::new(Head::Tied);
    let (rne, floor) = (prefill(&model, ""), prefill(&model, "toolchain=npu2-2026-06"));
    let found = sqnr(floor.logits.values(), rne.logits.values());
    assert!((10.0..40.0).contains(&found), "{found:.1} dB");
}

#[test]
fn the_configuration_is_one_line_and_a_wrong_length_is_refused_before_a_device_is_opened() {
    let model = TestModel::new(Head::Tied);
    assert_eq!(
        model.adapter.gates(&context("fusion=leaf")).unwrap().configuration,
        "drain GEMM, NPU attention, leaf, seq 256, rounding rne"
    );
    let error = model.adapter.gates(&context("seq_len=100")).unwrap_err().to_string();
    assert!(error.starts_with("setting `seq_len` cannot be `100`: "), "{error}");
}

#[test]
fn a_default_that_is_spelled_out_is_not_a_distinct_setting() {
    let model = TestModel::new(Head::Tied);
    let distinct = |settings: &str| {
        model.adapter.distinct(&settings.parse().unwrap()).map(|settings| settings.to_string())
    };
    assert_eq!(distinct("toolchain=rne").unwrap(), "");
    let defaults = "toolchain=rne,attention=npu,gemm=drain,fusion=merged,seq_len=256";
    assert_eq!(distinct(defaults).unwrap(), "");
    for changed in ["toolchain=npu2-2026-06", "attention=host", "gemm=direct", "fusion=leaf"] {
        assert_eq!(distinct(changed).unwrap(), changed);
        assert_eq!(distinct(&format!("{defaults},{changed}")).unwrap(), changed);
    }
    assert_eq!(distinct("attention=host,seq_len=40").unwrap(), "attention=host,seq_len=40");
    assert!(distinct("seqlen=256").is_err() && distinct("seq_len=512").is_err());
}

#[test]
fn a_function_setting_changes_what_uses_the_function_and_the_line() {
    let model = TestModel::new(Head::Tied);
    let hardware = prefill(&model, "");
    // Attention uses exp2 and the reciprocal, the MLP uses tanh. The norms use the reciprocal root,
    // which is so nearly exact that only a table shows a difference.
    for setting in ["exp2=exact", "tanh=exact", "reciprocal=exact"] {
        let found = prefill(&model, setting);
        assert!(sqnr(found.logits.values(), hardware.logits.values()).is_finite(), "{setting}");
        let line = model.adapter.gates(&context(setting)).unwrap().configuration;
        assert!(line.ends_with(&format!("rounding rne, {}", setting.replace('=', " "))), "{line}");
    }
    assert_eq!(prefill(&model, "exp2=hardware"), hardware);
    let missing = model.adapter.gates(&context("tanh=table:no/such.bin")).unwrap_err();
    assert!(missing.to_string().contains("no/such.bin cannot be read"), "{missing}");
}

/// The values of a table, not its path, are part of the run's name, so that runs with different
/// values have different baselines.
#[test]
fn runs_with_different_tables_have_different_names() {
    let model = TestModel::new(Head::Tied);
    let folder = tempfile::tempdir().unwrap();
    let table = |name: &str, value: u8| {
        let path = folder.path().join(name);
        std::fs::write(&path, vec![value; 131_072]).unwrap();
        format!("rsqrt=table:{}", path.display())
    };
    let (ones, copy, twos) = (table("a.bin", 1), table("b.bin", 1), table("c.bin", 2));
    let distinct = |settings: &str| {
        model.adapter.distinct(&settings.parse().unwrap()).map(|settings| settings.to_string())
    };
    // `head -c 131072 /dev/zero | tr '\0' '\1' | sha256sum`
    assert_eq!(distinct(&ones).unwrap(), "rsqrt=table-4017b7a27f5d");
    assert_eq!(distinct(&copy).unwrap(), distinct(&ones).unwrap());
    assert_eq!(distinct(&twos).unwrap(), "rsqrt=table-964e0165a369");
    assert_eq!(distinct("rsqrt=hardware").unwrap(), "");
    assert_eq!(distinct("rsqrt=exact,exp2=exact").unwrap(), "exp2=exact,rsqrt=exact");

    // The run itself reads the table from its path.
    let suite = Suite::new(Arc::new(model.adapter), context(&twos)).unwrap();
    assert_eq!(suite.description().device, "emu+rsqrt=table-964e0165a369");
    assert!(suite.description().configuration.ends_with(&twos.replace('=', " ")));
}

#[test]
fn more_positions_than_the_model_has_are_refused_whatever_their_number() {
    let model = TestModel::new(Head::Tied);
    for seq_len in ["261", "512", "1000000000000", "18446744073709551360"] {
        let context = context(&format!("seq_len={seq_len}"));
        let sentence = format!(
            "setting `seq_len` cannot be `{seq_len}`: the model has 260 positions \
             (max_position_embeddings); programs for {seq_len} cannot be used"
        );
        assert_eq!(model.adapter.gates(&context).unwrap_err().to_string(), sentence);
        let Err(error) = model.adapter.build_decoder(&context) else { panic!("not refused") };
        assert_eq!(error.to_string(), sentence);
    }
    assert!(model.adapter.gates(&context("attention=host,seq_len=260")).is_ok());
}

#[test]
fn a_spec_for_more_positions_than_the_model_has_is_refused() {
    let model = TestModel::new(Head::Tied);
    let path = model.adapter.weights().path.unwrap();
    let spec = DecoderSpec { options: Options::new(512), ..spec(Head::Tied, &path, &[]) };
    let error = DecoderAdapter::try_new(spec).err().unwrap().to_string();
    assert!(error.starts_with("the model has 260 positions"), "{error}");
}
