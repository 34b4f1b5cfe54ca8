//! Compares the dequantised tensors with gguf-py and numpy, bit for bit.

use npugate::{model::Model, schema::Sha256};
use npugate_decoder::weights::{self, LayerPart, TensorId};

/// What `dequantised_sha256.py` prints: digests of bf16 in Hugging Face's layout,
/// little-endian. gguf-py's dequantisation, rounded to bf16, equals the tensors
/// that transformers saves, for all tensors of the model.
const DIGESTS: [(TensorId, &str); 12] = [
    (TensorId::Embedding, "0c8d76d0178f771e989a41b5965b452b7ccc0ef6c36d3d73b77e643dbe23264b"),
    (TensorId::FinalNorm, "b1c3b88d13d30d192c39ca32dfc07aa9f333844fccae2e5b34d3f3572dd6c5f4"),
    (
        TensorId::Layer(0, LayerPart::Wq),
        "d0ff302d4d83d5be00ed3005dd0a57b703cbe9387bf474d3c66f42bd0b300f30",
    ),
    (
        TensorId::Layer(0, LayerPart::Wk),
        "b4b71b9a71396236fbc987d5a4ef128cc92a2c81c15f8dc8650bff0340b4dea0",
    ),
    (
        TensorId::Layer(0, LayerPart::Wv),
        "0137c731861e223606a6d0c241cdd81e7d05be3746652239448e2c46c83e6200",
    ),
    (
        TensorId::Layer(0, LayerPart::AttnNorm),
        "9ab0dc5d065cbff6198208b1f9bf5c48d306412ef92a649137b1b5bf82aada33",
    ),
    (
        TensorId::Layer(15, LayerPart::Wo),
        "fc4b0d44bc9f9ad4070aabf22fa2a3cde4ba2255e1593c6e7e0882b22de844d1",
    ),
    (
        TensorId::Layer(15, LayerPart::MlpNorm),
        "bc071f52ca9c48ccbccbdb3bd62c205079644e128c77c2c19aea7d10686db6f1",
    ),
    (
        TensorId::Layer(29, LayerPart::Wk),
        "1a30db632e75f91a7b7ecde24f8d48e078e38904ea3c4f102cdecffd4b60d21f",
    ),
    (
        TensorId::Layer(29, LayerPart::WGate),
        "9172fc73bfe54dc89c2af307f104cc49793810af0d22819b4bee5a798ac3203e",
    ),
    (
        TensorId::Layer(29, LayerPart::WUp),
        "ace01cb127b8bb5845229d2da737a0ed0a8b745798068e0542aa62af2cab8725",
    ),
    (
        TensorId::Layer(29, LayerPart::WDown),
        "b351a2d1c5c6084582b59bed0edd6728e821dcb1d77cd733a41d6e4358625f5b",
    ),
];

#[test]
fn tensors_are_bit_equal_to_those_of_transformers() {
    let adapter = smollm2_135m::adapter();
    let Some(path) = adapter.weights().path else { return skip() };
    assert_eq!(adapter.check_weights().unwrap(), 272);
    let source = weights::open(&path, adapter.decoder_config()).unwrap();
    for (tensor, digest) in DIGESTS {
        let values = source.read(tensor).unwrap();
        let bytes: Vec<u8> =
            values.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect();
        assert_eq!(Sha256::of(&bytes).to_string(), digest, "{tensor}");
    }
}

#[test]
fn text_is_encoded_as_transformers_does_and_decoded_back() {
    let adapter = smollm2_135m::adapter();
    if adapter.weights().path.is_none() {
        return skip();
    }
    // `AutoTokenizer.encode(text, add_special_tokens=False)`.
    for (text, ids) in [
        ("Why is the sky blue?", &[4898, 314, 260, 6376, 4461, 47][..]),
        ("<|im_start|>user\n", &[1, 4093, 198]),
    ] {
        assert_eq!(adapter.encode(text).unwrap(), ids);
        assert_eq!(adapter.decode(ids).unwrap(), text);
    }
    let text = "In 1846, naïve\tcafés — 日本 🦀\n\n  cost £12.50.";
    assert_eq!(adapter.decode(&adapter.encode(text).unwrap()).unwrap(), text);
}

/// Tests must not fetch anything. On CI, where `cargo npugate` has already run,
/// they must not pass without the weights either.
fn skip() {
    let why = "the weights are missing; run `cargo npugate fetch smollm2-135m`";
    assert!(std::env::var_os("CI").is_none(), "cannot run on CI: {why}");
    eprintln!("SKIPPED: {why}");
}
