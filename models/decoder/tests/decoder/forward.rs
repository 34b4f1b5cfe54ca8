//! The decoder on the emulated NPU against a forward pass in plain f32 loops.

use crate::{
    model::{HIDDEN, Head, LAYERS, SEQ_LEN, TestModel, VOCAB, prompt, round, sqnr},
    plain::{Forward, Layer},
};
use npugate::{
    DType, Tensor,
    model::{Block, LogitRows, Probe, Runner},
};

/// The SQNR that a sub-block must reach, in decibels: a little less than the noise
/// of BFP16 products, and of the hardware's exp2 in attention, allows. A wrong
/// head, row or rotation gives less than 5 dB.
const SUB_BLOCK: f64 = 24.0;

/// The SQNR that must be left after all blocks, in decibels.
const LOGITS: f64 = 21.0;

const ALL: Probe = Probe::logits(LogitRows::From(0)).with_hidden();

fn hidden(values: &[f32]) -> Tensor {
    let values: Vec<f32> = values.iter().map(|value| round(*value)).collect();
    Tensor::new([values.len() / HIDDEN, HIDDEN], DType::Bf16, values).unwrap()
}

fn assert_near(name: &str, found: &Tensor, reference: &[f32], floor: f64) {
    let found = sqnr(found.values(), reference);
    assert!(found >= floor, "{name}: {found:.1} dB, expected at least {floor}");
}

#[test]
fn every_block_computes_what_plain_loops_do_on_the_same_input() {
    let model = TestModel::new(Head::Tied);
    let forward = Forward::new(&model.weights, &prompt(20));
    for settings in ["", "attention=host", "gemm=fused-cast", "gemm=direct", "fusion=leaf"] {
        let mut runner = model.runner(settings);
        for layer in 0..LAYERS {
            let before = layer.checked_sub(1).map(|before| &forward.layers[before].hidden);
            let input = hidden(before.unwrap_or(&forward.embedded));
            let expected = Layer::new(&model.weights, layer, input.values());
            let Block { hidden, attn_ctx, attn_out, mlp_out, .. } =
                runner.block(layer, &input).unwrap();
            for (part, found, expected) in [
                ("attn_ctx", attn_ctx, expected.attn_ctx),
                ("attn_out", attn_out, expected.attn_out),
                ("mlp_out", mlp_out, expected.mlp_out),
                ("hidden", hidden, expected.hidden),
            ] {
                let name = format!("[{settings}] layer {layer} {part}");
                assert_near(&name, &found, &expected, SUB_BLOCK);
            }
        }
    }
}

#[test]
fn prefill_returns_every_block_the_final_norm_and_the_logits_of_real_positions() {
    for head in [Head::Tied, Head::Untied] {
        let model = TestModel::new(head);
        let tokens = prompt(20);
        let forward = Forward::new(&model.weights, &tokens);
        let mut runner = model.runner("");
        let prefill = runner.prefill(&tokens, ALL).unwrap();
        assert_eq!(prefill.logits.shape(), [20, VOCAB]);
        assert_near("logits", &prefill.logits, &forward.logits, LOGITS);
        assert_near("final norm", &prefill.final_norm.unwrap(), &forward.final_norm, LOGITS);
        for (layer, (found, expected)) in prefill.hidden.iter().zip(&forward.layers).enumerate() {
            assert_near("hidden", found, &expected.hidden, LOGITS);
            let kv = runner.kv(layer).unwrap();
            assert_near("keys", &kv.keys, &expected.keys, LOGITS);
            assert_near("values", &kv.values, &expected.values, LOGITS);
        }
        assert_eq!(prefill.hidden.len(), LAYERS);
    }
}

#[test]
fn decode_continues_a_prefill_as_a_longer_prefill_would() {
    let model = TestModel::new(Head::Tied);
    let tokens = prompt(12);
    let mut runner = model.runner("");
    let whole = runner.prefill(&tokens, ALL).unwrap();
    let whole_kv: Vec<_> = (0..LAYERS).map(|layer| runner.kv(layer).unwrap()).collect();

    runner.prefill(&tokens[..5], Probe::default()).unwrap();
    for (pos, token) in tokens.iter().enumerate().skip(5) {
        let logits = runner.decode_step(*token, pos).unwrap();
        let expected = whole.logits.rows().nth(pos).unwrap();
        let found = sqnr(&logits, expected);
        assert!(found >= LOGITS, "logits after position {pos}: {found:.1} dB");
    }
    for (layer, expected) in whole_kv.iter().enumerate() {
        let kv = runner.kv(layer).unwrap();
        assert_near("keys", &kv.keys, expected.keys.values(), LOGITS);
        assert_near("values", &kv.values, expected.values.values(), LOGITS);
    }
}

#[test]
fn without_a_probe_prefill_returns_only_the_last_logits() {
    let model = TestModel::new(Head::Tied);
    let mut runner = model.runner("");
    let all = runner.prefill(&prompt(9), ALL).unwrap();
    let last = runner.prefill(&prompt(9), Probe::default()).unwrap();
    assert_eq!(last.logits.values(), all.logits.rows().nth(8).unwrap());
    assert!(last.hidden.is_empty() && last.final_norm.is_none());
}

#[test]
fn a_block_leaves_the_cache_alone_and_a_prefill_forgets_it() {
    let model = TestModel::new(Head::Tied);
    let mut runner = model.runner("");
    runner.prefill(&prompt(7), Probe::default()).unwrap();
    let before = runner.kv(0).unwrap();
    runner.block(0, &hidden(&[0.25; 3 * HIDDEN])).unwrap();
    assert_eq!(runner.kv(0).unwrap(), before);
    runner.prefill(&prompt(3), Probe::default()).unwrap();
    assert_eq!(runner.kv(0).unwrap().keys.shape(), [3, 128]);
}

#[test]
fn a_prompt_of_one_token_and_one_of_all_positions_run() {
    let model = TestModel::new(Head::Tied);
    let mut runner = model.runner("");
    for tokens in [1, SEQ_LEN] {
        let tokens = prompt(tokens);
        let forward = Forward::new(&model.weights, &tokens);
        let logits = runner.prefill(&tokens, Probe::default()).unwrap().logits;
        let expected = &forward.logits[(tokens.len() - 1) * VOCAB..];
        assert_near("logits", &logits, expected, LOGITS);
    }
}
