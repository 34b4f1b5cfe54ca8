//! Times prefill and decode on the emulated NPU, with its default options, against Hugging Face
//! transformers in bf16 with the same number of threads:
//!
//! ```sh
//! cargo bench -p smollm2-135m
//! ```
//!
//! The two take turns, and the best of several rounds counts, since other programs can only slow
//! them down. `NPUGATE_PYTHON` names a Python that has torch, transformers and gguf.

mod transformers;

use npugate::{
    Context,
    metrics::argmax,
    model::{Probe, Runner},
    schema,
};
use std::{error::Error, path::PathBuf, thread, time::Instant};
use transformers::Transformers;

/// Tokens of a prefill: the number that the programs are built for.
const PREFILL: usize = 512;
/// Tokens in the cache before the first step of decode.
const PROMPT: usize = 16;
/// Steps of decode.
const STEPS: usize = 64;
/// Turns of each contestant.
const ROUNDS: usize = 8;

/// What is measured, and the required ratio to transformers.
const WORK: [(Work, f64); 2] = [(Work::Prefill, 1.0), (Work::Decode, 3.0)];

#[derive(Clone, Copy)]
enum Work {
    Prefill,
    Decode,
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
        }
    }

    fn tokens(self) -> usize {
        match self {
            Self::Prefill => PREFILL,
            Self::Decode => STEPS,
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(weights) = weights() else {
        let name = smollm2_135m::SPEC.name;
        println!("SKIPPED: the weights are missing; run `cargo npugate fetch {name}`");
        return Ok(());
    };
    let threads = thread::available_parallelism()?.get();
    let mut transformers = match Transformers::start(&weights, [threads, PREFILL, PROMPT, STEPS]) {
        Ok(transformers) => Some(transformers),
        Err(error) => {
            println!("SKIPPED: comparison with transformers ({error})");
            None
        }
    };
    let settings = format!("seq_len={PREFILL}").parse()?;
    let context = Context::on("emu").with_settings(settings);
    let mut runner = smollm2_135m::adapter().build_decoder(&context)?;

    let mut best = [Best::default(); WORK.len()];
    for _ in 0..ROUNDS {
        for ((work, _), best) in WORK.into_iter().zip(&mut best) {
            lower(&mut best.own, run(&mut runner, work)?);
            if let Some(transformers) = &mut transformers {
                lower(&mut best.transformers, transformers.run(work.name())?);
            }
        }
    }
    report(threads, &best);
    Ok(())
}

/// The seconds of the best round; `None` before the first one, or if there is no contestant.
#[derive(Clone, Copy, Default)]
struct Best {
    own: Option<f64>,
    transformers: Option<f64>,
}

fn lower(best: &mut Option<f64>, seconds: f64) {
    *best = Some(best.map_or(seconds, |best| best.min(seconds)));
}

fn weights() -> Option<PathBuf> {
    let spec = smollm2_135m::SPEC;
    let candidates = schema::weights_candidates(spec.name, spec.weights.file);
    candidates.into_iter().find(|path| path.is_file())
}

/// Returns the seconds that the emulated NPU takes.
fn run(runner: &mut impl Runner, work: Work) -> Result<f64, Box<dyn Error>> {
    let tokens = |count: usize| -> Vec<u32> { (1000..).take(count).collect() };
    match work {
        Work::Prefill => {
            let tokens = tokens(PREFILL);
            let start = Instant::now();
            runner.prefill(&tokens, Probe::default())?;
            Ok(start.elapsed().as_secs_f64())
        }
        Work::Decode => {
            let mut logits =
                runner.prefill(&tokens(PROMPT), Probe::default())?.logits.values().to_vec();
            let start = Instant::now();
            for step in 0..STEPS {
                let token = argmax(&logits).ok_or("no logit is a number")?;
                logits = runner.decode_step(token, PROMPT + step)?;
            }
            Ok(start.elapsed().as_secs_f64())
        }
    }
}

fn report(threads: usize, best: &[Best; WORK.len()]) {
    println!(
        "{}, tokens/s, {threads} threads, best of {ROUNDS} rounds in turn; decode after {PROMPT} \
         tokens",
        smollm2_135m::SPEC.name
    );
    println!(
        "{:<14}{:>14}{:>14}{:>8}{:>10}",
        "", "emulated NPU", "transformers", "ratio", "required"
    );
    for ((work, required), best) in WORK.into_iter().zip(best) {
        let rate = |seconds: Option<f64>| seconds.map(|seconds| work.tokens() as f64 / seconds);
        let (own, other) = (rate(best.own), rate(best.transformers));
        let ratio = own.zip(other).map(|(own, other)| own / other);
        let verdict = ratio.map_or("", |ratio| if ratio >= required { "met" } else { "MISSED" });
        let (own, other, ratio) = (cell(own), cell(other), cell(ratio));
        let what = format!("{} {}", work.name(), work.tokens());
        println!("{what:<14}{own:>14}{other:>14}{ratio:>8}{required:>9}x {verdict}");
    }
}

fn cell(number: Option<f64>) -> String {
    number.map_or_else(|| "skipped".to_owned(), |number| format!("{number:.2}"))
}
