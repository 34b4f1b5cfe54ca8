//! The logits gate: `kappa = KL(r, y) / KL(r, b)`, how much further the device
//! is from the truth than the bf16 reference is, over the vocabulary.

use super::forced::{Divergence, forced_tokens, steps_of};
use super::{DEFAULT_PROMPTS, Prompts};
use crate::metrics::{Distribution, argmax};
use crate::schema::{Direction, Metric, Unit};
use crate::session::Session;
use crate::verdict::{CheckResult, Measured, Stop, number};
use crate::{LogitRows, PrecisionProfile, Probe, limits};

/// Which of the device's two ways to logits is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Path {
    /// One prefill over the prompt and its continuation.
    Prefill,
    /// A prefill of the prompt, then decode steps.
    Decode,
}

/// KL divergences of a set of positions, device and reference side by side.
struct Divergences {
    device: Vec<f64>,
    reference: Vec<f64>,
    agreements: usize,
}

/// The ratio of the mean divergences and of their 95th percentiles.
pub(super) fn kappa(session: &mut Session, path: Path, prompts: Prompts) -> CheckResult {
    let profile = session.model()?.profile();
    let indices = prompt_indices(session, prompts)?;
    let divergences = match path {
        Path::Prefill => prefill(session, &indices)?,
        Path::Decode => decode(session, &indices)?,
    };
    let device = distribution(&divergences.device)?;
    let reference = distribution(&divergences.reference)?;
    if !(reference.mean > 0.0 && reference.p95 > 0.0) {
        return Err(Stop::Invalid(
            "the bf16 reference is no further from f32 than rounding: there is nothing to measure by"
                .to_owned(),
        ));
    }
    let allowed = limits::kappa(profile);
    let plain = limits::kappa(PrecisionProfile::Bf16);
    let positions = divergences.device.len();
    let mean = device.mean / reference.mean;
    let p95 = device.p95 / reference.p95;
    let ratio = |name: &str, value| Metric::new(name, value, Unit::Ratio, Direction::Lower);
    let note = format!(
        "kappa {} (limit {} for these kernels, {} for plain bf16): KL(r,y) {} against KL(r,b) {} over {positions} positions, p95 ratio {} (limit {})",
        number(mean, Unit::Ratio),
        allowed.mean,
        plain.mean,
        number(device.mean, Unit::Nats),
        number(reference.mean, Unit::Nats),
        number(p95, Unit::Ratio),
        allowed.p95,
    );
    Ok(Measured::of(vec![
        ratio("kappa_mean", mean).limited(allowed.mean),
        ratio("kappa_p95", p95).limited(allowed.p95),
        Metric::new("kl_mean", device.mean, Unit::Nats, Direction::Lower),
        Metric::new("kl_p95", device.p95, Unit::Nats, Direction::Lower),
        Metric::new("kl_reference_mean", reference.mean, Unit::Nats, Direction::Neutral),
        Metric::new(
            "top1_agreement",
            divergences.agreements as f64 / positions as f64,
            Unit::Ratio,
            Direction::Neutral,
        ),
    ])
    .noted(note))
}

fn decode(session: &mut Session, prompts: &[usize]) -> Result<Divergences, Stop> {
    let steps = steps_of(session, prompts)?;
    Ok(Divergences {
        device: steps.iter().map(|step| step.kl).collect(),
        reference: steps.iter().map(|step| step.kl_reference).collect(),
        agreements: steps.iter().filter(|step| step.token == step.expected).count(),
    })
}

fn prefill(session: &mut Session, prompts: &[usize]) -> Result<Divergences, Stop> {
    let mut all = Divergences { device: Vec::new(), reference: Vec::new(), agreements: 0 };
    for prompt in prompts {
        let golden = session.token_golden(*prompt)?;
        let first = golden.prompt_ids.len() - 1;
        let probe = Probe { hidden: false, logits: LogitRows::From(first) };
        let logits = session.runner()?.prefill(&forced_tokens(&golden), probe)?.logits;
        if logits.rows().len() != golden.steps.len() {
            return Err(Stop::Fail(format!(
                "prefill returned {} rows of logits, {} were asked for",
                logits.rows().len(),
                golden.steps.len()
            )));
        }
        for ((row, step), expected) in logits.rows().zip(&golden.steps).zip(&golden.tokens) {
            let kl = Divergence::of(step, row)?;
            all.device.push(kl.device);
            all.reference.push(kl.reference);
            all.agreements += usize::from(argmax(row) == Some(*expected));
        }
    }
    Ok(all)
}

fn distribution(values: &[f64]) -> Result<Distribution, Stop> {
    Distribution::of(values).ok_or_else(|| Stop::Invalid("no golden step was compared".to_owned()))
}

/// The manifest indices of a set of prompts: never none.
pub(super) fn prompt_indices(session: &mut Session, prompts: Prompts) -> Result<Vec<usize>, Stop> {
    let available = session.goldens()?.manifest().prompts.len();
    let count = match prompts {
        Prompts::Default => available.min(DEFAULT_PROMPTS),
        Prompts::All => available,
    };
    if count == 0 {
        return Err(Stop::Invalid("the manifest has no prompts".to_owned()));
    }
    Ok((0..count).collect())
}
