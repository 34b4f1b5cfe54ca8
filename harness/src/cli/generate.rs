//! `--generate`: text from the same functions that the gates call.

use super::error::CliError;
use super::events::Events;
use crate::metrics::argmax;
use crate::schema::Event;
use crate::{Context, Model, Probe, Runner};
use std::{
    io::Write,
    time::{Duration, Instant},
};

/// Generates text greedily and prints it as it comes. The figures go to the
/// events, or to standard error if nobody reads the events.
pub(super) fn generate(
    model: &dyn Model,
    context: &Context,
    prompt: &str,
    max_tokens: usize,
    out: &mut dyn Write,
    err: &mut dyn Write,
    mut events: Events,
) -> Result<(), CliError> {
    let prompt = model.encode(prompt)?;
    if prompt.is_empty() {
        return Err(CliError::EmptyPrompt);
    }
    let mut runner = model.build_runner(context)?;
    let before = runner.usage();
    let mut text = Text::new(model, out);
    let figures = decode(model, &mut *runner, &prompt, max_tokens, &mut text)?;
    let text = text.finish()?;
    let usage = runner.usage().since(before);
    let Figures { tokens, first, rest } = figures;
    // Without a token after the first there is no rate.
    let rate = if rest.is_zero() { 0.0 } else { (tokens - 1) as f64 / rest.as_secs_f64() };
    let first = first.as_secs_f64() * 1e3;
    if !events.are_read() {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        write!(out, "{gap}").map_err(CliError::stdout)?;
        // Figures that nobody can read are not a failure.
        let _ = writeln!(
            err,
            "{tokens} tokens after a prompt of {}: the first after {first:.1} ms, then {rate:.1} tokens/s",
            prompt.len()
        );
        let _ = writeln!(err, "{usage}");
    }
    out.flush().map_err(CliError::stdout)?;
    events.send(&Event::Generated {
        text,
        prompt_tokens: prompt.len(),
        tokens,
        time_to_first_token_ms: first,
        tokens_per_second: rate,
        usage,
    })
}

struct Figures {
    tokens: usize,
    /// From the prompt's tokens to the first new one.
    first: Duration,
    /// All later decode steps, without the time that printing takes.
    rest: Duration,
}

/// Generates until a stop token, which is not counted, or `max_tokens`.
fn decode(
    model: &dyn Model,
    runner: &mut dyn Runner,
    prompt: &[u32],
    max_tokens: usize,
    text: &mut Text<'_>,
) -> Result<Figures, CliError> {
    let stop = model.stop_tokens();
    let best = |logits: &[f32], position| argmax(logits).ok_or(CliError::NoNextToken(position));
    let start = Instant::now();
    let prefill = runner.prefill(prompt, Probe::default())?;
    let last = prefill.logits.rows().last().unwrap_or_default();
    let mut token = best(last, prompt.len())?;
    let (first, mut rest, mut tokens) = (start.elapsed(), Duration::ZERO, 0);
    while !stop.contains(&token) {
        text.push(token)?;
        tokens += 1;
        if tokens == max_tokens {
            break;
        }
        let position = prompt.len() + tokens - 1;
        let start = Instant::now();
        let logits = runner.decode_step(token, position)?;
        token = best(&logits, position + 1)?;
        rest += start.elapsed();
    }
    Ok(Figures { tokens, first, rest })
}

/// Text that grows token by token.
struct Text<'a> {
    model: &'a dyn Model,
    out: &'a mut dyn Write,
    tokens: Vec<u32>,
    printed: String,
}

impl<'a> Text<'a> {
    fn new(model: &'a dyn Model, out: &'a mut dyn Write) -> Self {
        Self { model, out, tokens: Vec::new(), printed: String::new() }
    }

    /// Adds a token and prints its text. A token may be part of a character:
    /// nothing is printed until the character is complete.
    fn push(&mut self, token: u32) -> Result<(), CliError> {
        self.tokens.push(token);
        let text = self.model.decode(&self.tokens)?;
        if text.ends_with(char::REPLACEMENT_CHARACTER) { Ok(()) } else { self.print(text) }
    }

    /// The whole text; an incomplete character is printed as it is.
    fn finish(mut self) -> Result<String, CliError> {
        let text = self.model.decode(&self.tokens)?;
        self.print(text)?;
        Ok(self.printed)
    }

    fn print(&mut self, text: String) -> Result<(), CliError> {
        let common = text.chars().zip(self.printed.chars()).take_while(|(a, b)| a == b);
        let common: usize = common.map(|(character, _)| character.len_utf8()).sum();
        let new = text.get(common..).unwrap_or_default();
        self.out.write_all(new.as_bytes()).map_err(CliError::stdout)?;
        self.out.flush().map_err(CliError::stdout)?;
        self.printed = text;
        Ok(())
    }
}
