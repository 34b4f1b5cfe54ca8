//! Generating text with one model.

use super::prepare;
use crate::build::BuildError;
use crate::config::Config;
use crate::error::Error;
use crate::fetch::Network;
use crate::runner::generate;
use crate::shell::{self, Shell, Tone};
use crate::text;
use crate::workspace::Workspace;
use npugate_schema::{Event, ExitCode};

/// The exit codes of a gate that has already reported why it could not generate text.
const REPORTED: [(i32, ExitCode); 4] = [
    (ExitCode::Usage as i32, ExitCode::Usage),
    (ExitCode::Setup as i32, ExitCode::Setup),
    (ExitCode::WriteFailed as i32, ExitCode::WriteFailed),
    // It failed or panicked.
    (ExitCode::BuildFailed as i32, ExitCode::Setup),
];

/// Runs the model's gate binary, which prints the text as it comes.
///
/// # Errors
///
/// More than one model, or one that cannot generate.
pub fn run(
    prompt: &str,
    max_tokens: usize,
    network: Network,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let adapters = workspace.select(&config.adapters)?;
    let [adapter] = adapters.as_slice() else {
        let names = adapters.into_iter().map(|adapter| adapter.model);
        return Err(Error::WhichModel(names.collect()));
    };
    let gates = prepare::build_gates(std::slice::from_ref(adapter), config, workspace, shell)?;
    let Some(gate) = gates.first() else { return Err(BuildError::Failed.into()) };
    let description = prepare::describe(gate, network, config, shell)?;
    let model = &description.model;
    shell.share_terminal();
    let mut args = vec!["--generate".into(), prompt.into()];
    args.extend(["--max-tokens".into(), max_tokens.to_string().into()]);
    args.extend(config.device.to_args());
    let (status, generated) = generate(gate, args)?;
    let failed = |reason| Error::Generate { model: model.clone(), reason };
    if let Some((_, code)) = REPORTED.iter().find(|(reported, _)| status.code() == Some(*reported))
    {
        return Ok(*code);
    }
    if !status.success() {
        return Err(failed(format!("its gate ended with {}", text::exit_status(status))));
    }
    match generated {
        Some(Event::Generated {
            text: printed,
            prompt_tokens,
            tokens,
            time_to_first_token_ms,
            tokens_per_second,
            usage,
        }) => {
            if !printed.ends_with('\n') {
                shell::print_data("\n")?;
            }
            let device = &description.device;
            let (prompt, new) = (text::count(prompt_tokens, "token"), text::count(tokens, "token"));
            shell.status(
                Tone::Good,
                "Generated",
                format_args!(
                    "{new} after a prompt of {prompt} with {model} on {device}: first token after {time_to_first_token_ms:.0} ms, then {tokens_per_second:.1} tokens/s"
                ),
            );
            shell.status(Tone::Good, "Device", usage);
            Ok(ExitCode::Ok)
        }
        _ => Err(failed("its gate did not report what it generated".to_owned())),
    }
}
