//! The logits gate: `kappa = KL(r, y) / KL(r, yardstick)`, how much further the
//! device is from the truth than the reference in the kernels' declared
//! arithmetic, over the vocabulary. The plain figure, `KL(r, y) / KL(r, b)`, is the
//! cost of the declared arithmetic; it is printed but not gated.

use super::forced::{forced_tokens, steps_of};
use super::prompts::Prompts;
use super::yardstick::{Divergence, LogitYardstick};
use crate::measured::{CheckResult, Measured, Stop};
use crate::metrics::{Distribution, argmax};
use crate::schema::{Direction, Metric, Unit};
use crate::session::Session;
use crate::{LogitRows, Probe, limits};

/// Which of the device's two ways to compute logits is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Path {
    /// One prefill over the prompt and its continuation.
    Prefill,
    /// A prefill of the prompt, then decode steps.
    Decode,
}

/// KL divergences at a set of positions, of the device and the references side by side.
#[derive(Default)]
struct Divergences {
    device: Vec<f64>,
    yardstick: Vec<f64>,
    bf16: Vec<f64>,
    agreements: usize,
}

/// Judges what prefill computes, over every prompt.
pub(super) fn prefill(session: &mut Session) -> CheckResult {
    kappa(session, Path::Prefill, Prompts::All)
}

/// Judges what decode computes, over the first prompts.
pub(super) fn decode(session: &mut Session) -> CheckResult {
    kappa(session, Path::Decode, Prompts::Default)
}

/// Judges what decode computes, over every prompt.
pub(super) fn decode_all(session: &mut Session) -> CheckResult {
    kappa(session, Path::Decode, Prompts::All)
}

/// The ratio of the mean divergences and of their 95th percentiles.
fn kappa(session: &mut Session, path: Path, prompts: Prompts) -> CheckResult {
    let profile = session.model()?.profile();
    let indices = prompts.indices(session)?;
    let divergences = match path {
        Path::Prefill => prefilled(session, &indices)?,
        Path::Decode => decoded(session, &indices)?,
    };
    let device = distribution(&divergences.device)?;
    let yardstick = distribution(&divergences.yardstick)?;
    let bf16 = distribution(&divergences.bf16)?;
    if !(yardstick.mean > 0.0 && yardstick.p95 > 0.0 && bf16.mean > 0.0) {
        return Err(Stop::Invalid(
            "the reference is no further from f32 than rounding, so there is nothing to compare with"
                .to_owned(),
        ));
    }
    let allowed = limits::kappa(profile);
    let positions = divergences.device.len();
    let mean = device.mean / yardstick.mean;
    let p95 = device.p95 / yardstick.p95;
    let plain = device.mean / bf16.mean;
    let ratio = |name: &str, value| Metric::new(name, value, Unit::Ratio, Direction::Lower);
    let note = format!(
        "kappa {} against the declared arithmetic (limit {}; {} against plain bf16), KL(r,y) {} over {positions} positions, p95 ratio {} (limit {})",
        Unit::Ratio.format(mean),
        allowed.mean,
        Unit::Ratio.format(plain),
        Unit::Nats.format(device.mean),
        Unit::Ratio.format(p95),
        allowed.p95,
    );
    Ok(Measured::of(vec![
        ratio("kappa_mean", mean).limited(allowed.mean),
        ratio("kappa_p95", p95).limited(allowed.p95),
        Metric::new("kl_mean", device.mean, Unit::Nats, Direction::Lower),
        Metric::new("kl_p95", device.p95, Unit::Nats, Direction::Lower),
        ratio("kappa_bf16", plain),
        Metric::new("kl_yardstick_mean", yardstick.mean, Unit::Nats, Direction::Neutral),
        Metric::new("kl_bf16_mean", bf16.mean, Unit::Nats, Direction::Neutral),
        Metric::new(
            "top1_agreement",
            divergences.agreements as f64 / positions as f64,
            Unit::Ratio,
            Direction::Neutral,
        ),
    ])
    .noted(note))
}

fn decoded(session: &mut Session, prompts: &[usize]) -> Result<Divergences, Stop> {
    let steps = steps_of(session, prompts)?;
    Ok(Divergences {
        device: steps.iter().map(|step| step.kl).collect(),
        yardstick: steps.iter().map(|step| step.kl_yardstick).collect(),
        bf16: steps.iter().map(|step| step.kl_bf16).collect(),
        agreements: steps.iter().filter(|step| step.token == step.expected).count(),
    })
}

fn prefilled(session: &mut Session, prompts: &[usize]) -> Result<Divergences, Stop> {
    let profile = session.model()?.profile();
    let mut all = Divergences::default();
    for prompt in prompts {
        let golden = session.token_golden(*prompt)?;
        let first = golden.prompt_ids.len() - 1;
        let probe = Probe { hidden: false, logits: LogitRows::From(first) };
        let logits = session.runner()?.prefill(&forced_tokens(&golden), probe)?.logits;
        if logits.rows().len() != golden.steps.len() {
            return Err(Stop::Fail(format!(
                "prefill returned {} rows of logits instead of {}",
                logits.rows().len(),
                golden.steps.len()
            )));
        }
        for ((row, step), expected) in logits.rows().zip(&golden.steps).zip(&golden.tokens) {
            let kl = Divergence::of(step, &LogitYardstick::of(step, profile)?, row)?;
            all.device.push(kl.device);
            all.yardstick.push(kl.yardstick);
            all.bf16.push(kl.bf16);
            all.agreements += usize::from(argmax(row) == Some(*expected));
        }
    }
    Ok(all)
}

fn distribution(values: &[f64]) -> Result<Distribution, Stop> {
    Distribution::of(values).ok_or_else(|| Stop::Invalid("no golden step was compared".to_owned()))
}
