//! One teacher-forced pass of the device over a golden continuation, which the token
//! gate, the flips and the decode logits all look at.
//!
//! Up to the first divergence the pass is exactly what free generation would do;
//! after it, teacher forcing keeps every later position comparable.

use super::yardstick::{Divergence, LogitYardstick};
use crate::evidence::Evidence;
use crate::goldens::{CompactLogits, TokenGolden};
use crate::limits::{FLIP_NOISE, GARBAGE_RANK, TOP_K};
use crate::measured::Stop;
use crate::metrics::{argmax, top_k_inclusive};
use crate::session::{Session, Shared};
use crate::{LogitRows, PrecisionProfile, Probe};

/// What the device did at each step of a golden continuation.
#[derive(Clone, Debug)]
pub(super) struct Forced {
    pub steps: Vec<Step>,
}

/// One step: the device's logits against both references.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Step {
    /// The device's best token, lowest id on ties.
    pub token: u32,
    /// The device's top 5, ties at rank 5 included, best first.
    pub top5: Vec<u32>,
    /// The token of b.
    pub expected: u32,
    /// b's top 5, ties at rank 5 included.
    pub expected_top5: Vec<u32>,
    /// KL(r, y) in nats.
    pub kl: f64,
    /// KL(r, yardstick) in nats.
    pub kl_yardstick: f64,
    /// KL(r, b) in nats.
    pub kl_bf16: f64,
    /// How far the difference is from noise, if the device's best token is not b's.
    pub flip: Option<Flip>,
}

/// How the references see a token that the device preferred.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Flip {
    /// Within the yardstick's own noise around r.
    Benign,
    /// Beyond it, by this multiple of the noise.
    BeyondNoise(f64),
    /// Not among the reference's best tokens at all.
    Garbage,
}

impl Shared for Forced {
    /// Runs the device over a prompt and its golden continuation.
    fn compute(session: &mut Session, prompt: usize) -> Result<Self, Stop> {
        let golden = session.token_golden(prompt)?;
        let profile = session.model()?.profile();
        let runner = session.runner()?;
        let probe = Probe { hidden: false, logits: LogitRows::Last };
        let mut logits = runner.prefill(&golden.prompt_ids, probe)?.logits.values().to_vec();
        let mut rows = Vec::new();
        let mut steps = Vec::new();
        for (index, expected) in golden.steps.iter().enumerate() {
            if index > 0 {
                let position = golden.prompt_ids.len() + index - 1;
                logits = runner.decode_step(golden.tokens[index - 1], position)?;
            }
            steps.push(step(index, &logits, golden.tokens[index], expected, profile)?);
            rows.extend_from_slice(&logits);
        }
        let forced = Self { steps };
        if let Some(folder) = session.context.evidence.clone() {
            let name = session.prompt(prompt)?.name;
            let evidence = Evidence {
                model: session.adapter.name(),
                prompt: &name,
                holds: forced.token_set_holds(),
                divergence: forced.divergence(),
                tokens: forced.steps.iter().map(|step| step.token).collect(),
                top5: forced.steps.iter().map(|step| &*step.top5).collect(),
                logits: &rows,
            };
            evidence.write(&folder).map_err(|error| {
                Stop::Invalid(format!("the evidence of {name} cannot be written: {error}"))
            })?;
        }
        Ok(forced)
    }
}

impl Forced {
    /// The first step at which the device's best token is not b's.
    pub fn divergence(&self) -> Option<usize> {
        self.steps.iter().position(|step| step.token != step.expected)
    }

    /// The verdict of the top-5 token set gate: at the first divergence, each
    /// side's token is in the other's top 5.
    pub fn token_set_holds(&self) -> bool {
        self.divergence().is_none_or(|index| {
            let step = &self.steps[index];
            step.expected_top5.contains(&step.token) && step.top5.contains(&step.expected)
        })
    }
}

fn step(
    index: usize,
    logits: &[f32],
    expected: u32,
    golden: &CompactLogits,
    profile: PrecisionProfile,
) -> Result<Step, Stop> {
    let yardstick = LogitYardstick::of(golden, profile)?;
    let token = argmax(logits).ok_or_else(|| {
        Stop::Fail(format!("the logits of step {index} are empty or not all finite"))
    })?;
    let divergences = Divergence::of(golden, &yardstick, logits)?;
    Ok(Step {
        token,
        top5: top_k_inclusive(logits, TOP_K),
        expected,
        expected_top5: ids_of(golden, &top_k_inclusive(&golden.b, TOP_K)),
        kl: divergences.device,
        kl_yardstick: divergences.yardstick,
        kl_bf16: divergences.bf16,
        flip: (token != expected).then(|| flip(token, expected, golden, &yardstick)),
    })
}

/// Judges a flip by the references alone: compares the gap that b sees between the two
/// tokens with the yardstick's own distance from r among the best tokens.
fn flip(token: u32, expected: u32, golden: &CompactLogits, yardstick: &LogitYardstick<'_>) -> Flip {
    let at = |id: u32| golden.ids.binary_search(&id).ok();
    let (Some(token), Some(expected)) = (at(token), at(expected)) else { return Flip::Garbage };
    let better = golden.b.iter().filter(|logit| **logit > golden.b[token]).count();
    if better >= GARBAGE_RANK {
        return Flip::Garbage;
    }
    let best = [&golden.b, &golden.r].map(|logits| top_k_inclusive(logits, TOP_K));
    let noise = best
        .iter()
        .flatten()
        .map(|index| (yardstick.logits[*index as usize] - golden.r[*index as usize]).abs())
        .fold(0.0, f32::max);
    let gap = f64::from(golden.b[expected] - golden.b[token]);
    let noise = f64::from(noise);
    if gap <= bf16_ulp(golden.b[expected]).max(FLIP_NOISE * noise) {
        Flip::Benign
    } else {
        Flip::BeyondNoise(gap / noise)
    }
}

/// The distance between neighbouring bf16 values of a magnitude: bf16 has eight
/// significant bits.
fn bf16_ulp(value: f32) -> f64 {
    if value == 0.0 { 0.0 } else { 2f64.powi(f64::from(value.abs()).log2().floor() as i32 - 7) }
}

/// Turns indices into the compact logits into token ids. The order stays the same,
/// since compact ids ascend.
fn ids_of(golden: &CompactLogits, indices: &[u32]) -> Vec<u32> {
    indices.iter().map(|index| golden.ids[*index as usize]).collect()
}

/// Every step of every prompt of a set.
pub(super) fn steps_of(session: &mut Session, prompts: &[usize]) -> Result<Vec<Step>, Stop> {
    let mut steps = Vec::new();
    for prompt in prompts {
        steps.extend_from_slice(&session.shared::<Forced>(*prompt)?.steps);
    }
    if steps.is_empty() {
        return Err(Stop::Invalid("no golden step was compared".to_owned()));
    }
    Ok(steps)
}

/// The prompt followed by its golden continuation without the last token: the tokens
/// whose positions predict every golden step.
pub(super) fn forced_tokens(golden: &TokenGolden) -> Vec<u32> {
    let continuation = golden.tokens.iter().take(golden.tokens.len().saturating_sub(1));
    golden.prompt_ids.iter().chain(continuation).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden() -> CompactLogits {
        // b and r differ by at most 0.25 among the best five.
        CompactLogits {
            ids: vec![3, 5, 8, 13, 21, 34],
            b: vec![16.0, 15.5, 14.0, 13.0, 12.0, 1.0],
            r: vec![15.75, 15.5, 14.0, 13.0, 12.0, 1.0],
            b_lse: 16.7,
            r_lse: 16.6,
            declared: None,
        }
    }

    fn flip(token: u32) -> Flip {
        let golden = golden();
        let yardstick = LogitYardstick::of(&golden, PrecisionProfile::Bf16).unwrap();
        super::flip(token, 3, &golden, &yardstick)
    }

    #[test]
    fn a_flip_within_three_times_the_references_noise_is_benign() {
        // The gap is 0.5, the noise 0.25: twice the noise.
        assert_eq!(flip(5), Flip::Benign);
    }

    #[test]
    fn a_flip_beyond_it_is_not() {
        // The gap is 2, the noise 0.25: eight times the noise.
        assert_eq!(flip(8), Flip::BeyondNoise(8.0));
    }

    #[test]
    fn a_token_that_the_reference_does_not_list_is_garbage() {
        assert_eq!(flip(4), Flip::Garbage);
    }

    #[test]
    fn one_ulp_of_bf16_at_16_is_an_eighth() {
        assert!((bf16_ulp(16.0) - 0.125).abs() < 1e-12);
        assert!((bf16_ulp(-15.9) - 0.0625).abs() < 1e-12);
    }

    fn step(token: u32, expected: u32, top5: &[u32], expected_top5: &[u32]) -> Step {
        Step {
            token,
            top5: top5.to_vec(),
            expected,
            expected_top5: expected_top5.to_vec(),
            kl: 0.0,
            kl_yardstick: 0.0,
            kl_bf16: 0.0,
            flip: None,
        }
    }

    #[test]
    fn the_token_set_gate_looks_at_the_first_divergence_from_both_sides() {
        let same = step(1, 1, &[1, 2], &[1, 2]);
        let mutual = step(2, 1, &[2, 1], &[1, 2]);
        let one_sided = step(9, 1, &[9, 1], &[1, 2]);
        let forced = |steps: &[&Step]| Forced { steps: steps.iter().copied().cloned().collect() };
        assert!(forced(&[&same, &same]).token_set_holds());
        assert!(forced(&[&same, &mutual]).token_set_holds());
        assert!(!forced(&[&same, &one_sided]).token_set_holds());
        assert!(forced(&[&mutual, &one_sided]).token_set_holds(), "the first one decides");
        assert_eq!(forced(&[&same, &mutual]).divergence(), Some(1));
    }
}
