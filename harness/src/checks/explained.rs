//! Tests that what `--explain` says about the checks agrees with their limits.

use super::prompts::DEFAULT_PROMPTS;
use crate::PrecisionProfile::{Bf16, Bf16Acc, Bfp16};
use crate::limits;
use crate::schema::CheckId;

/// The limits that the explanation of each check quotes.
fn quoted() -> Vec<(CheckId, Vec<f64>)> {
    let injected = [Bf16, Bf16Acc, Bfp16].map(limits::injected);
    let kappa = [Bf16, Bf16Acc, Bfp16].map(limits::kappa);
    let kv = [Bf16, Bf16Acc, Bfp16].map(limits::kv_cache);
    vec![
        (
            CheckId::Kernel,
            vec![
                limits::SLOPE,
                limits::SLICE_SLOPE,
                limits::BIAS,
                limits::BIAS_LENGTH as f64,
                limits::SLICE_MARGIN_DB,
                limits::SLICE_LENGTH as f64,
            ],
        ),
        (CheckId::BlockCosine, vec![limits::BLOCK_COSINE]),
        (CheckId::BlockPerPosition, [64, 128, 256].map(limits::block_position_cosine).to_vec()),
        (
            CheckId::BlockInjected,
            injected
                .into_iter()
                .flat_map(|limit| [limit.median, limit.p95, limit.head_median])
                .chain([limits::SLOPE])
                .collect(),
        ),
        (CheckId::LayersDrift, vec![crate::schema::CLIFF]),
        (CheckId::Tokens, vec![limits::TOP_K as f64]),
        (
            CheckId::TokensFlips,
            vec![
                limits::GARBAGE_RANK as f64,
                limits::FLIP_NOISE,
                limits::flips_beyond_noise(Bf16Acc),
                limits::flips_beyond_noise(Bfp16),
            ],
        ),
        (CheckId::Logits, kappa.into_iter().flat_map(|limit| [limit.mean, limit.p95]).collect()),
        (
            CheckId::KvCache,
            kv.into_iter().flat_map(|limit| [limit.first_layer, limit.worst_median]).collect(),
        ),
    ]
}

/// Whether a text has a number that is not part of another number.
fn quotes(text: &str, number: f64) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let mut words = text.split(|c| !is_part(c)).map(|word| word.trim_matches('.'));
    words.any(|word| word == number.to_string())
}

#[test]
fn every_limit_is_quoted() {
    for (check, limits) in quoted() {
        let explanation = check.explanation();
        let section = explanation.sections.iter().find(|s| s.title == "The limit, and why");
        let text = section.map(|section| section.text).unwrap_or_default();
        for limit in limits {
            assert!(quotes(text, limit), "{limit} is not in the limits of {check}: {text}");
        }
    }
}

#[test]
fn a_number_within_another_is_not_a_quote() {
    assert!(quotes("at most 2, or 0.04.", 2.0) && quotes("at most 2, or 0.04.", 0.04));
    assert!(!quotes("at most 20, or 0.042, or 1.2", 2.0));
    assert!(!quotes("at most 20, or 0.042", 0.04));
}

#[test]
fn the_default_number_of_prompts_is_stated() {
    assert_eq!(DEFAULT_PROMPTS, 2);
    let source = CheckId::Tokens.explanation().sections[2].text.replace('\n', " ");
    assert!(source.contains("By default two prompts run"), "{source}");
}
