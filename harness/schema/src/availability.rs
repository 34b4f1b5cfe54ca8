//! Whether a device can be used, and by how many at a time.

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
