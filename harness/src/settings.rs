//! Settings of a run that the adapter understands: `--set attention=host`.

use std::{collections::BTreeMap, fmt, str::FromStr};

/// The settings of a run, as `key=value` pairs that the adapter reads. A run without
/// settings is the default run. [`Adapter::distinct`](crate::Adapter::distinct) removes
/// the settings that are the default anyway, so that the device class says what differs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings(BTreeMap<String, String>);

/// A setting that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Not of the form `key=value`.
    #[error("`{0}` is not a setting: write `key=value`, such as `toolchain=npu2-2026-06`")]
    Form(String),
    /// The adapter has no such setting.
    #[error("this adapter has no setting `{key}`; it has {known}")]
    UnknownKey {
        /// The key that was given.
        key: String,
        /// The keys that the adapter has.
        known: String,
    },
    /// The setting has no such value.
    #[error("setting `{key}` cannot be `{value}`: {reason}")]
    Value {
        /// The setting.
        key: String,
        /// The value that was given.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Settings {
    /// Adds a setting; a later value replaces an earlier one.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.0.insert(key.into(), value.into());
    }

    /// Removes a setting, as if it had not been given.
    pub fn remove(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// The value of a setting, parsed; `None` if it is not set.
    ///
    /// # Errors
    ///
    /// A value that does not parse.
    pub fn get<T: FromStr<Err: fmt::Display>>(
        &self,
        key: &str,
    ) -> Result<Option<T>, SettingsError> {
        let Some(value) = self.0.get(key) else { return Ok(None) };
        value.parse().map(Some).map_err(|reason: T::Err| SettingsError::Value {
            key: key.to_owned(),
            value: value.clone(),
            reason: reason.to_string(),
        })
    }

    /// Refuses a setting that the adapter does not know, so that a typo never silently
    /// runs the default.
    ///
    /// # Errors
    ///
    /// The first unknown key.
    pub fn expect_only(&self, known: &[&str]) -> Result<(), SettingsError> {
        match self.0.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(SettingsError::UnknownKey {
                key: key.clone(),
                known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
            }),
        }
    }

    /// The name of the device class, which is the device and what differs from the
    /// default run: `emu`, `emu+attention=host`.
    pub fn device_class(&self, device: &str) -> String {
        let pairs = self.0.iter().map(|(key, value)| format!("+{key}={value}"));
        pairs.fold(device.to_owned(), |class, pair| class + &pair)
    }
}

impl FromStr for Settings {
    type Err = SettingsError;

    /// Parses `key=value,key=value`.
    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                    settings.set(key, value);
                }
                _ => return Err(SettingsError::Form(pair.to_owned())),
            }
        }
        Ok(settings)
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<_> = self.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        f.write_str(&pairs.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_print_as_they_are_written_and_name_the_device_class() {
        let settings: Settings = "toolchain=rne, attention=host".parse().unwrap();
        assert_eq!(settings.to_string(), "attention=host,toolchain=rne");
        assert_eq!(settings.device_class("emu"), "emu+attention=host+toolchain=rne");
        assert_eq!(Settings::default().device_class("emu"), "emu");
    }

    #[test]
    fn a_typo_in_a_key_or_a_value_is_an_error() {
        assert!("attention".parse::<Settings>().is_err());
        let settings: Settings = "atention=host,seq=x".parse().unwrap();
        let error = settings.expect_only(&["attention", "seq"]).unwrap_err().to_string();
        assert_eq!(error, "this adapter has no setting `atention`; it has attention, seq");
        assert!(settings.get::<usize>("seq").is_err());
    }
}
