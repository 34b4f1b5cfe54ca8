//! Prefill and decode on the emulated NPU, with its default options, against Hugging Face
//! transformers in bf16 on the same threads:
//!
//! ```sh
//! cargo bench -p smollm2-135m
//! ```
//!
//! The two take turns, and the best of several rounds counts: other programs slow both down,
//! nothing makes them faster. `PYTHON` names the Python that has torch, transformers and gguf.

mod transformers;

use npugate::{Context, Probe, RunError, Runner, schema};
use std::{error::Error, path::PathBuf, thread, time::Instant};
use transformers::Transformers;

/// Tokens of a prefill, as many as the programs are built for.
const PREFILL: usize = 512;
/// Tokens in the cache before the first step of decode.
const PROMPT: usize = 16;
/// Steps of decode.
const STEPS: usize = 64;
/// Turns of each contestant.
const ROUNDS: usize = 8;

/// What is measured, with the ratio to transformers that is required.
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
    let context = Context { device: "emu".to_owned(), settings, ..Context::default() };
    let mut runner = smollm2_135m::adapter().build_decoder(&context)?;

    let mut best = [[f64::INFINITY; 2]; WORK.len()];
    for _ in 0..ROUNDS {
        for ((work, _), [own, other]) in WORK.into_iter().zip(&mut best) {
            *own = own.min(run(&mut runner, work)?);
            if let Some(transformers) = &mut transformers {
                *other = other.min(transformers.run(work.name())?);
            }
        }
    }
    report(threads, &best);
    Ok(())
}

fn weights() -> Option<PathBuf> {
    let spec = smollm2_135m::SPEC;
    let candidates = schema::weights_candidates(spec.name, spec.weights.file);
    candidates.into_iter().find(|path| path.is_file())
}

/// Seconds that the emulated NPU takes.
fn run(runner: &mut impl Runner, work: Work) -> Result<f64, RunError> {
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
                logits = runner.decode_step(argmax(&logits), PROMPT + step)?;
            }
            Ok(start.elapsed().as_secs_f64())
        }
    }
}

/// The most likely token; the lowest of equals.
fn argmax(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (token, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = token;
        }
    }
    best as u32
}

fn report(threads: usize, best: &[[f64; 2]; WORK.len()]) {
    println!(
        "{}, tokens/s, {threads} threads, best of {ROUNDS} rounds in turn; decode behind {PROMPT} \
         tokens",
        smollm2_135m::SPEC.name
    );
    println!(
        "{:<14}{:>14}{:>14}{:>8}{:>10}",
        "", "emulated NPU", "transformers", "ratio", "required"
    );
    for ((work, required), [own, other]) in WORK.into_iter().zip(best) {
        let what = format!("{} {}", work.name(), work.tokens());
        let rate = |seconds: &f64| work.tokens() as f64 / seconds;
        let (rate, ratio) = match other.is_finite() {
            true => (format!("{:.1}", rate(other)), other / own),
            false => ("skipped".to_owned(), f64::NAN),
        };
        let verdict = match ratio {
            ratio if ratio >= required => "met",
            ratio if ratio < required => "MISSED",
            _ => "",
        };
        let own = work.tokens() as f64 / own;
        println!("{what:<14}{own:>14.1}{rate:>14}{ratio:>8.2}{required:>9.1}x {verdict}");
    }
}
