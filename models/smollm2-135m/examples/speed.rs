//! Text and speed on the emulated NPU:
//!
//! ```sh
//! cargo run --release -p smollm2-135m --example speed -- "The capital of France is" attention=npu
//! ```
//!
//! prints greedy text, the time to set up, the time of a full prefill and the
//! tokens per second of decode. The second argument is the settings, if any.

use npugate::{Context, Model, Probe, Runner};
use std::{env, error::Error, time::Instant};

/// Tokens to generate.
const STEPS: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let prompt = arguments.next().unwrap_or_else(|| "The capital of France is".to_owned());
    let settings = arguments.next().unwrap_or_default().parse()?;
    let context = Context { device: "emu".to_owned(), settings, ..Context::default() };

    let adapter = smollm2_135m::adapter();
    let start = Instant::now();
    let mut runner = adapter.build_decoder(&context)?;
    println!("setup                {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);

    let full: Vec<u32> = (0..runner.max_prefill() as u32).map(|token| token + 1000).collect();
    for _ in 0..3 {
        let start = Instant::now();
        runner.prefill(&full, Probe::default())?;
        println!(
            "prefill of {:3}       {:8.1} ms",
            full.len(),
            start.elapsed().as_secs_f64() * 1e3
        );
    }
    decode(&mut runner, 1000, "after a full prefill")?;

    let mut tokens = adapter.encode(&prompt)?;
    let prefill = runner.prefill(&tokens, Probe::default())?;
    let start = tokens.len();
    tokens.push(argmax(prefill.logits.values()));
    while tokens.len() < start + STEPS && !adapter.stop_tokens().contains(&tokens[tokens.len() - 1])
    {
        let pos = tokens.len() - 1;
        let logits = runner.decode_step(tokens[pos], pos)?;
        tokens.push(argmax(&logits));
    }
    decode(&mut runner, tokens[tokens.len() - 1], "after the text below")?;
    println!("{}", adapter.decode(&tokens)?);
    Ok(())
}

/// Decodes on from the cache as it is, and says how fast.
fn decode(runner: &mut impl Runner, token: u32, when: &str) -> Result<(), Box<dyn Error>> {
    let pos = runner.kv(0)?.keys.shape()[0];
    let (before, start) = (device_seconds(runner), Instant::now());
    for step in 0..STEPS {
        runner.decode_step(token, pos + step)?;
    }
    let (device, seconds) = (device_seconds(runner) - before, start.elapsed().as_secs_f64());
    println!(
        "decode {when} {:8.1} tokens/s, {:.2} ms of {:.2} ms a token on the device",
        STEPS as f64 / seconds,
        device * 1e3 / STEPS as f64,
        seconds * 1e3 / STEPS as f64,
    );
    Ok(())
}

/// Time spent on the device so far.
fn device_seconds(runner: &impl Runner) -> f64 {
    let usage = runner.usage();
    (usage.write + usage.run + usage.read).as_secs_f64()
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
