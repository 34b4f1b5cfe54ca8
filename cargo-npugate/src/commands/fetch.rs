//! Fetching weights.

use super::prepare;
use crate::cli::AdapterArgs;
use crate::config::Config;
use crate::error::Error;
use crate::fetch::{self, Network};
use crate::shell::{Shell, Tone};
use crate::workspace::Workspace;
use npugate_schema::ExitCode;

/// Fetches the weights of these models, or of all adapters if none are given.
///
/// # Errors
///
/// A name that no adapter has, or weights that cannot be fetched. Those of the
/// other models are fetched all the same.
pub fn run(
    models: &[String],
    network: Network,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let mut args = config.adapters.clone();
    args.package.extend(models.iter().cloned());
    let everything = args.package.is_empty();
    let adapters = workspace.select(&AdapterArgs { workspace: everything, ..args })?;
    let mut failed = None;
    for gate in prepare::build_gates(&adapters, config, workspace, shell)? {
        let description = gate.describe(&config.device)?;
        let model = description.model.clone();
        let result = match &description.weights {
            Some(weights) => {
                let environment = &config.environment;
                fetch::fetch(&description, weights, network, environment, shell)
                    .map_err(|source| Error::Fetch { model: model.clone(), source })
            }
            None if everything => {
                shell.status(Tone::Good, "Fresh", format_args!("{model}: has no weights"));
                continue;
            }
            None => Err(Error::NoWeights(model.clone())),
        };
        match result {
            Ok(fetched) => fetch::tell(&model, &fetched, shell),
            Err(error) => {
                // The last error is the command's own; the others are reported now.
                if let Some(earlier) = failed.replace(error) {
                    shell.error(earlier);
                }
            }
        }
    }
    failed.map_or(Ok(ExitCode::Ok), Err)
}
