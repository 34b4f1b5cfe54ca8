//! Whether a device can be used, by how many processes at a time, and whether its figures
//! may be kept as a baseline.

use serde::{Deserialize, Serialize};

/// Whether the device of a run is available, determined without opening it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Availability {
    /// It is available, as far as is known.
    #[default]
    Available,
    /// It is not available.
    Missing {
        /// What is missing, and what to do about it.
        reason: String,
    },
}

/// How many processes may use a device at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Any number: the device is emulated.
    #[default]
    Shared,
    /// One on the whole machine: the device is hardware.
    Exclusive,
}

/// Whether the figures of a device may be kept as a baseline and compared with one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BaselineUse {
    /// They may.
    #[default]
    Allowed,
    /// They may not: they say nothing about a device, and are never written or compared.
    Refused {
        /// Why not.
        reason: String,
    },
}

impl BaselineUse {
    /// Why baselines are refused, if they are.
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Allowed => None,
            Self::Refused { reason } => Some(reason),
        }
    }
}
