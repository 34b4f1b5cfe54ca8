//! Whether a device can be used, by how many at a time, and what its figures are good for.

use serde::{Deserialize, Serialize};

/// Whether the device of a run is there. Asked without opening it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Availability {
    /// Nothing speaks against it.
    #[default]
    Available,
    /// It is not.
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
    /// Any number: it is computed.
    #[default]
    Shared,
    /// One, on the whole machine: it is hardware.
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
    /// They say nothing of a device: never written, never compared.
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
