//! The NPU of this machine: what is wrong with it, and what it is. Needs no workspace.

use crate::cli::MessageFormat;
use crate::config::Config;
use crate::doctor::{self, Detail, Machine, ModelBuffers, System};
use crate::error::Error;
use crate::shell::{self, Shell, Tone, Verbosity};
use crate::workspace::Workspace;
use npugate_schema::{ExitCode, Health};

/// Carries out every check and prints the findings to stdout.
///
/// # Errors
///
/// A model that was asked for and is not there.
pub fn examine(
    format: MessageFormat,
    config: &Config,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let models = models(config)?;
    let machine = Machine::look(System::new(config.environment.system_root.clone()), models);
    let examination = doctor::examine(&machine);
    match format {
        MessageFormat::Json => print_json(&examination)?,
        MessageFormat::Human => {
            let verbose = shell.verbosity() >= Verbosity::Verbose;
            let detail = if verbose { Detail::All } else { Detail::OfFaults };
            shell::print_data(doctor::text(&examination, detail, shell::stdout_width()))?;
        }
    }
    let problems = examination.count(Health::Problem);
    let tone = if problems > 0 { Tone::Bad } else { Tone::Good };
    shell.status(tone, "Examined", doctor::summary(&examination));
    Ok(if problems > 0 { ExitCode::DeviceUnavailable } else { ExitCode::Ok })
}

/// Prints a description of the NPU to stdout.
///
/// # Errors
///
/// stdout cannot be written.
pub fn describe(
    format: MessageFormat,
    config: &Config,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let system = System::new(config.environment.system_root.clone());
    let report = doctor::describe(&Machine::look(system, Vec::new()));
    match format {
        MessageFormat::Json => print_json(&report)?,
        MessageFormat::Human => {
            shell::print_data(report.npu.as_ref().map_or_else(String::new, doctor::device_text))?;
        }
    }
    if report.npu.is_none() {
        shell.error("there is no AMD NPU on the PCI bus: `cargo npugate doctor` says what to do");
        return Ok(ExitCode::DeviceUnavailable);
    }
    Ok(ExitCode::Ok)
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    let json = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    shell::print_data(format_args!("{json}\n"))?;
    Ok(())
}

/// The models of the workspace, if there is one: how much memory is needed depends on them.
fn models(config: &Config) -> Result<Vec<ModelBuffers>, Error> {
    let asked = !config.adapters.package.is_empty();
    let workspace = match Workspace::find(&config.cargo, &config.environment) {
        Ok(workspace) => workspace,
        Err(error) if asked => return Err(error.into()),
        Err(_) => return Ok(Vec::new()),
    };
    let adapters = match workspace.select(&config.adapters) {
        Ok(adapters) => adapters,
        Err(error) if asked => return Err(error.into()),
        Err(_) => return Ok(Vec::new()),
    };
    let goldens = adapters.into_iter().filter_map(|adapter| adapter.goldens);
    Ok(goldens.filter_map(|folder| ModelBuffers::read(folder.as_std_path())).collect())
}
