//! How long a test may take, as its check declares it.

use serde::{Deserialize, Serialize};

/// How long a test may take, in seconds. The command can override it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct TimeLimits {
    /// After this time the test is reported as slow.
    pub slow: u64,
    /// After this time its process is ended.
    pub timeout: u64,
}

impl Default for TimeLimits {
    /// The limits of a test that declares none.
    fn default() -> Self {
        Self { slow: 60, timeout: 1800 }
    }
}
