//! `--generate`, with a model that counts.

use crate::gate::{run, run_with};
use npugate::schema::Event;

crate::trials! {
    text_goes_to_stdout_and_figures_to_stderr,
    generation_stops_at_a_stop_token,
    a_character_is_printed_when_it_is_complete,
    with_events_the_figures_go_there,
    logits_without_numbers_end_the_run,
    missing_weights_are_a_setup_error,
    an_empty_prompt_is_a_usage_error,
}

fn text_goes_to_stdout_and_figures_to_stderr() {
    let ran = run("model", &["--generate", "12a", "--max-tokens", "5"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "bcdef\n"));
    assert!(ran.err.starts_with("5 tokens after a prompt of 3: the first after "), "{}", ran.err);
    // The toy adds on the host.
    assert!(ran.err.contains(" tokens/s\n0 dispatches, 0.0 MB written in "), "{}", ran.err);
}

fn generation_stops_at_a_stop_token() {
    assert_eq!(run("model", &["--generate", "w"]).out, "xyz\n");
    let ran = run("model", &["--generate", "z"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    assert!(ran.err.starts_with("0 tokens after a prompt of 1"), "{}", ran.err);
}

fn a_character_is_printed_when_it_is_complete() {
    // "é" is two tokens. After the first one the character is incomplete.
    let generate = |count| run("model", &["--generate", "é", "--max-tokens", count]).out;
    assert_eq!(generate("4"), "éé\n");
    assert_eq!(generate("3"), "é\u{fffd}\n");
}

fn with_events_the_figures_go_there() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let variables = [("NPUGATE_EVENTS", file.path().to_str().unwrap())];
    let ran = run_with("model", &["--generate", "a", "--max-tokens", "2"], &variables);
    // The reader of the events ends the line and prints the figures.
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("bc", ""));
    let text = std::fs::read_to_string(file.path()).unwrap();
    let Event::Generated {
        text,
        prompt_tokens,
        tokens,
        time_to_first_token_ms,
        tokens_per_second,
        ..
    } = serde_json::from_str(&text).unwrap()
    else {
        panic!("{text}")
    };
    assert_eq!((text.as_str(), prompt_tokens, tokens), ("bc", 1, 2));
    assert!(time_to_first_token_ms > 0.0 && tokens_per_second > 0.0);
}

fn logits_without_numbers_end_the_run() {
    let ran = run("model", &["--generate", "X"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(101), "YZ"));
    assert!(ran.err.contains("the logits after 3 tokens are not all numbers"), "{}", ran.err);
}

fn missing_weights_are_a_setup_error() {
    let ran = run_with("model", &["--generate", "a"], &[("TOY_NO_WEIGHTS", "1")]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(96), "error: the weights are missing\n"));
}

fn an_empty_prompt_is_a_usage_error() {
    assert_eq!(run("model", &["--generate", ""]).code, Some(2));
    assert_eq!(run("model", &["--generate", "a", "--max-tokens", "0"]).code, Some(2));
}
