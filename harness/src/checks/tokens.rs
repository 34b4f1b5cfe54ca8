//! The token gates: MLIR-AIR's top-5 set at the first divergence, and the flips that
//! the reference's own noise cannot explain.

use super::forced::{Flip, Forced, Step, steps_of};
use super::prompts::Prompts;
use crate::measured::{CheckResult, Measured, Stop};
use crate::metrics::Distribution;
use crate::schema::{Direction, Metric, Unit};
use crate::session::Session;
use crate::{evidence, limits};

/// Checks that at the first divergence, each side's token is in the other's top 5.
pub(super) fn token_set(session: &mut Session, prompt: usize) -> CheckResult {
    let forced = session.shared::<Forced>(prompt)?;
    let steps = &forced.steps;
    let equal = steps.iter().filter(|step| step.token == step.expected).count();
    let outside = usize::from(!forced.token_set_holds());
    let kl: Vec<_> = steps.iter().map(|step| step.kl).collect();
    let kl = Distribution::of(&kl)
        .ok_or_else(|| Stop::Invalid("the golden continuation is empty".to_owned()))?
        .mean;
    let note = match forced.divergence() {
        None => format!("all {} greedy tokens are equal", steps.len()),
        Some(index) => divergence(&steps[index], index, steps.len()),
    };
    let name = session.prompt(prompt)?.name;
    let evidence = session.context.evidence.as_ref();
    let measured = Measured::of(vec![
        Metric::new("outside_top5", outside as f64, Unit::Count, Direction::Lower).limited(0.0),
        Metric::new("equal_tokens", equal as f64, Unit::Count, Direction::Neutral),
        Metric::new("kl_mean", kl, Unit::Nats, Direction::Lower),
    ])
    .noted(note);
    let files = evidence.map_or_else(Vec::new, |folder| evidence::files(folder, &name));
    Ok(files.into_iter().fold(measured, Measured::attached))
}

/// Judges the flips of the first prompts.
pub(super) fn flips(session: &mut Session) -> CheckResult {
    beyond_noise(session, Prompts::Default)
}

/// Judges the flips of every prompt.
pub(super) fn flips_all(session: &mut Session) -> CheckResult {
    beyond_noise(session, Prompts::All)
}

/// Checks that wherever the device's best token is not the reference's, the reference's
/// own noise explains it, and the token is never far down the reference's ranking.
fn beyond_noise(session: &mut Session, prompts: Prompts) -> CheckResult {
    let profile = session.model()?.profile();
    let indices = prompts.indices(session)?;
    let steps = steps_of(session, &indices)?;
    let flips: Vec<_> = steps.iter().filter_map(|step| step.flip).collect();
    let garbage = flips.iter().filter(|flip| **flip == Flip::Garbage).count();
    let beyond: Vec<f64> = flips
        .iter()
        .filter_map(|flip| match flip {
            Flip::BeyondNoise(multiple) => Some(*multiple),
            Flip::Benign | Flip::Garbage => None,
        })
        .collect();
    let allowed = (limits::flips_beyond_noise(profile) * steps.len() as f64).floor();
    let note = format!(
        "{} of {} best tokens differ: {} by more than {} times the reference's noise ({allowed} allowed), {garbage} outside its top {}",
        flips.len(),
        steps.len(),
        beyond.len(),
        limits::FLIP_NOISE,
        limits::GARBAGE_RANK,
    );
    let count =
        |name: &str, value: usize| Metric::new(name, value as f64, Unit::Count, Direction::Lower);
    Ok(Measured::of(vec![
        count("garbage", garbage).limited(0.0),
        count("beyond_noise", beyond.len()).limited(allowed),
        Metric::new("flips", flips.len() as f64, Unit::Count, Direction::Neutral),
        Metric::new(
            "worst_noise_multiple",
            beyond.iter().copied().fold(0.0, f64::max),
            Unit::Ratio,
            Direction::Neutral,
        ),
    ])
    .noted(note))
}

/// Describes the first divergence, in full if the gate fails.
fn divergence(step: &Step, index: usize, steps: usize) -> String {
    let Step { token, top5, expected, expected_top5, .. } = step;
    let sides =
        [("device", token, "reference", expected_top5), ("reference", expected, "device", top5)];
    let outside: Vec<_> = sides
        .into_iter()
        .filter(|(_, id, _, top)| !top.contains(id))
        .map(|(side, id, other, top)| {
            format!("the {side}'s {id} is not in the {other}'s top 5 {top:?}")
        })
        .collect();
    let verdict = if outside.is_empty() {
        format!("each side's token is in the other's top 5 (device {token}, reference {expected})")
    } else {
        outside.join("; ")
    };
    format!("first divergence at step {index} of {steps}: {verdict}")
}
