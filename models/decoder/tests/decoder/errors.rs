//! Calls that the runner refuses, each with a sentence.

use crate::model::{HIDDEN, Head, MAX_POSITIONS, TestModel, VOCAB, prompt};
use npugate::{
    DType, RunError, Tensor,
    model::{LogitRows, Probe, Runner},
};

#[track_caller]
fn assert_refused<T>(result: Result<T, RunError>, sentence: &str) {
    let Err(error) = result else { panic!("not refused: {sentence}") };
    assert_eq!(error.to_string(), sentence);
    assert!(!error.is_setup(), "a wrong call is the caller's fault: {sentence}");
}

#[test]
fn prompts_that_prefill_cannot_run() {
    let model = TestModel::new(Head::Tied);
    let mut runner = model.runner("");
    let probe = Probe::default();
    assert_refused(runner.prefill(&[], probe), "the prompt is empty; give it at least one token");
    assert_refused(
        runner.prefill(&prompt(257), probe),
        "the prompt has 257 tokens, but prefill is compiled for 256; shorten it or set a larger \
         `seq_len` (the model has 260 positions)",
    );
    assert_refused(
        runner.prefill(&prompt(MAX_POSITIONS + 1), probe),
        "the prompt has 261 tokens, but the model has 260 positions; shorten it",
    );
    assert_refused(
        runner.prefill(&[1, VOCAB as u32], probe),
        "token 300 is outside the vocabulary of 300",
    );
    assert_refused(
        runner.prefill(&prompt(4), Probe::logits(LogitRows::From(4))),
        "logits are requested from position 4 on, but the prompt has 4 positions",
    );
}

#[test]
fn tokens_that_decode_cannot_append() {
    let model = TestModel::new(Head::Tied);
    let mut runner = model.runner("");
    let step = |runner: &mut dyn Runner, token, pos| runner.decode_step(token, pos);
    runner.prefill(&prompt(3), Probe::default()).unwrap();
    assert_refused(
        step(&mut runner, 1, 4),
        "a token at position 4 cannot follow a KV cache of 3 positions; the next position is 3",
    );
    assert_refused(step(&mut runner, 300, 3), "token 300 is outside the vocabulary of 300");
    // A refused token leaves the cache as it was.
    step(&mut runner, 299, 3).unwrap();

    runner.prefill(&prompt(256), Probe::default()).unwrap();
    for pos in 256..MAX_POSITIONS {
        step(&mut runner, 5, pos).unwrap();
    }
    assert_refused(
        step(&mut runner, 5, MAX_POSITIONS),
        "the KV cache is full: the model has 260 positions",
    );
}

#[test]
fn a_layer_or_a_block_input_that_does_not_exist() {
    let model = TestModel::new(Head::Tied);
    let mut runner = model.runner("");
    let input = |shape: [usize; 2]| {
        Tensor::new(shape, DType::Bf16, vec![0.5; shape[0] * shape[1]]).unwrap()
    };
    assert_refused(
        runner.block(2, &input([4, HIDDEN])),
        "there is no layer 2; the model has 2 layers, counted from 0",
    );
    assert_refused(runner.kv(9), "there is no layer 9; the model has 2 layers, counted from 0");
    assert_refused(
        runner.block(0, &input([4, 64])),
        "a block's input has shape [4, 64]; it must be [positions, 128] with 1 to 256 positions",
    );
    for positions in [0, 257] {
        assert!(runner.block(0, &input([positions, HIDDEN])).is_err());
    }
}
