//! A Llama of four blocks with random weights, small enough to be committed: every
//! gate runs on it in seconds, with nothing to fetch.
#![forbid(unsafe_code)]

use npugate::model::PrecisionProfile;
use npugate_decoder::{DecoderAdapter, DecoderSpec, Options, TokenizerSpec, WeightsSpec};

/// The path of a file of the model, which is beside its goldens.
macro_rules! model_file {
    ($name:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/tiny-llama/model/", $name)
    };
}

/// The model.
pub const SPEC: DecoderSpec = DecoderSpec {
    name: "tiny-llama",
    config_json: include_str!(model_file!("config.json")),
    weights: WeightsSpec {
        file: "model.safetensors",
        bytes: 1_710_288,
        sha256: "cd607e7844d735dbe4585741a4aa6273837eb69e4266863d235bd655186d3caf",
        source: concat!("bundled:", model_file!("model.safetensors")),
        shards: &[],
    },
    tokenizer: TokenizerSpec::File(model_file!("tokenizer.json")),
    fixtures: concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/tiny-llama"),
    options: Options::new(256),
    profile: PrecisionProfile::Bfp16,
};

/// The adapter that `tests/gate.rs` gates.
pub fn adapter() -> DecoderAdapter {
    DecoderAdapter::new(SPEC)
}
