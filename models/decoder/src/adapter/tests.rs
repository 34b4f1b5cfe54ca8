use super::*;
use crate::{WeightsSpec, programs};
use npugate::{
    check::{Measured, Stop, Workbench},
    suite::Suite,
};

/// A spec whose files are not there: listing needs none.
const SPEC: DecoderSpec = DecoderSpec {
    name: "unread",
    config_json: r#"{"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 128,
        "intermediate_size": 256, "num_attention_heads": 2, "vocab_size": 64,
        "max_position_embeddings": 256, "rms_norm_eps": 1e-5}"#,
    weights: WeightsSpec {
        file: "none",
        bytes: 0,
        sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        source: "bundled:/nowhere/none",
        shards: &[],
    },
    tokenizer: TokenizerSpec::Gguf,
    fixtures: "/nowhere",
    options: Options::new(256),
    profile: PrecisionProfile::Bfp16,
};

#[test]
fn a_listing_builds_the_programs_once() {
    let adapter = DecoderAdapter::new(SPEC);
    let before = programs::built();
    let suite = Suite::new(Arc::new(adapter), Context::default()).unwrap();
    assert_eq!(programs::built() - before, 1);
    // All that is read off them is there.
    assert!(suite.description().configuration.starts_with("drain GEMM"));
    assert!(!suite.description().launches.is_empty());
    assert!(suite.plan().iter().any(|test| test.name.starts_with("kernel::gemm::")));
}

/// Measures nothing.
struct Own;

impl Check for Own {
    fn name(&self) -> String {
        "mine::nothing".to_owned()
    }

    fn explanation(&self) -> String {
        "Nothing is measured.".to_owned()
    }

    fn run(&self, _: &mut dyn Workbench) -> Result<Measured, Stop> {
        Ok(Measured::default())
    }
}

#[test]
fn a_decoder_takes_checks_of_its_own() {
    let adapter = DecoderAdapter::new(SPEC).with_check(Own);
    let suite = Suite::new(Arc::new(adapter), Context::default()).unwrap();
    assert_eq!(suite.plan().last().map(|test| test.name.as_str()), Some("mine::nothing"));
    assert_eq!(suite.description().checks[0].explanation, "Nothing is measured.");
}
