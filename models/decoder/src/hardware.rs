//! The NPU among the devices of a decoder: where it is found, what it is opened with.

use crate::Options;
use npugate::{DeviceSpec, Settings, SettingsError, schema::Access};
use npugate_kernels::{Device, DeviceError};
use npugate_xrt::{
    Library, RunDeadline, XrtDevice, XrtOptions,
    deployment::{DEPLOYMENT_VAR, Deployment},
    presence::{self, Nature},
};
use std::{env, path::PathBuf};

/// The device's name, as in `--device`.
pub(crate) const XRT: &str = "xrt";

/// What a run on an NPU needs to be told. It changes nothing of what is computed, so runs that
/// differ in it have one name and one baseline.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hardware {
    /// The folder with the compiled programs; by default the one that `NPUGATE_DEPLOYMENT` names.
    pub deployment: Option<PathBuf>,
    /// How long a run may take; by default what `NPUGATE_RUN_DEADLINE` says, or 30 s.
    pub deadline: Option<RunDeadline>,
}

impl Hardware {
    /// The keys of its settings.
    pub const KEYS: [&str; 2] = ["deployment", "deadline"];

    /// Nothing told.
    pub const DEFAULT: Self = Self { deployment: None, deadline: None };

    /// These with what `settings` change.
    ///
    /// # Errors
    ///
    /// A value that does not parse.
    pub(crate) fn with(self, settings: &Settings) -> Result<Self, SettingsError> {
        Ok(Self {
            deployment: settings.get("deployment")?.or(self.deployment),
            deadline: settings.get("deadline")?.or(self.deadline),
        })
    }

    /// The folder with the compiled programs, if one is named.
    fn folder(&self) -> Option<PathBuf> {
        let named = || env::var_os(DEPLOYMENT_VAR).filter(|folder| !folder.is_empty());
        let folder = self.deployment.clone().or_else(|| named().map(PathBuf::from))?;
        Some(std::path::absolute(&folder).unwrap_or(folder))
    }
}

/// The NPU as a device of a decoder. Looks at the driver's list and for the shim, and opens
/// nothing.
pub(crate) fn spec() -> DeviceSpec {
    let nature = nature();
    let npu = DeviceSpec::hardware(XRT).kept_as(nature.device_name());
    let npu = match nature {
        Nature::Hardware => npu,
        // It is computed, so it can be shared.
        Nature::Fake => npu.access(Access::Shared).without_baselines(
            "the device is a double of the driver, its figures say nothing of an NPU",
        ),
    };
    match presence::look() {
        Ok(_) => npu,
        Err(absent) => npu.missing(absent.to_string()),
    }
}

/// What the device that the driver has is; a machine without one is taken at its word.
fn nature() -> Nature {
    presence::device_name().map_or(Nature::Hardware, |name| Nature::of_name(&name))
}

/// What a run on the NPU says of itself, after what it computes: the device, XRT, the deployment.
///
/// # Errors
///
/// Settings that the silicon does not have; no deployment for an NPU that is there.
pub(crate) fn describe(options: &Options) -> Result<String, SettingsError> {
    if let Some((key, value)) = options.functions.replaced().next() {
        let reason = "the NPU has its functions in silicon; leave it out, or use `--device emu`";
        return Err(SettingsError::Value { key: key.to_owned(), value, reason: reason.to_owned() });
    }
    let folder = options.hardware.folder();
    let deployment = |folder: PathBuf| format!("deployment {}", folder.display());
    let Ok(present) = presence::look() else {
        let named = folder.map_or_else(|| "no deployment named".to_owned(), deployment);
        return Ok(format!("no NPU, {named}"));
    };
    let Some(folder) = folder else {
        return Err(SettingsError::Value {
            key: "deployment".to_owned(),
            value: String::new(),
            reason: no_deployment(),
        });
    };
    let xrt = present.xrt.map(|version| format!(", XRT {version}")).unwrap_or_default();
    Ok(format!("{} at {}{xrt}, {}", present.name, present.bdf, deployment(folder)))
}

fn no_deployment() -> String {
    format!(
        "name the folder with the compiled programs: `--set deployment=DIR`, or {DEPLOYMENT_VAR}"
    )
}

/// Opens the NPU with the deployment of a run.
///
/// # Errors
///
/// XRT, the device or the deployment is missing or of no use; a device that is not what the driver
/// lists.
pub(crate) fn open(options: &Options) -> Result<Box<dyn Device>, DeviceError> {
    let unprepared = |message: String, source| DeviceError::Unprepared {
        device: XRT.to_owned(),
        message,
        source,
    };
    let folder = options.hardware.folder().ok_or_else(|| unprepared(no_deployment(), None))?;
    let deployment = Deployment::open(&folder)
        .map_err(|error| unprepared(error.to_string(), Some(Box::new(error))))?;
    let deadline = match options.hardware.deadline {
        Some(deadline) => deadline,
        None => RunDeadline::from_env()
            .map_err(|error| unprepared(error.to_string(), Some(Box::new(error))))?,
    };
    let library =
        Library::open().map_err(|error| unprepared(error.to_string(), Some(Box::new(error))))?;
    let xrt = XrtOptions { deadline, ..XrtOptions::default() };
    let device = XrtDevice::open(&library, deployment, xrt)?;
    if device.nature() != nature() {
        // Its figures would be kept under the wrong name.
        let message = format!(
            "XRT opened {}, and the driver lists {}; load the shim of the XRT that is installed",
            device.info().description,
            presence::device_name().unwrap_or_else(|| "no device".to_owned())
        );
        return Err(unprepared(message, None));
    }
    Ok(Box::new(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_the_silicon_does_not_have_is_refused_by_name() {
        let settings: Settings = "tanh=exact,deployment=here".parse().unwrap();
        let error = describe(&Options::new(256).with(&settings).unwrap()).unwrap_err().to_string();
        assert!(error.contains("`tanh` cannot be `exact`: the NPU has"), "{error}");
    }

    #[test]
    fn hardware_settings_are_read_and_checked() {
        let read = |settings: &str| Hardware::DEFAULT.with(&settings.parse().unwrap());
        let hardware = read("deployment=/a/b,deadline=500ms").unwrap();
        assert_eq!(hardware.folder(), Some("/a/b".into()));
        assert_eq!(hardware.deadline, Some("500ms".parse().unwrap()));
        let error = read("deadline=soon").unwrap_err().to_string();
        assert!(error.contains("`deadline` cannot be `soon`"), "{error}");
    }
}
