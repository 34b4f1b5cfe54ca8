//! What `--list --format json` prints.

use crate::{Attributes, TimeLimits};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the listing.
pub const LISTING_SCHEMA: &str = "npugate-listing/1";

/// The tests of one binary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Listing {
    /// [`LISTING_SCHEMA`].
    #[cfg_attr(any(test, feature = "json-schema"), schemars(extend("const" = LISTING_SCHEMA)))]
    pub schema: String,
    /// The adapter's name.
    pub model: String,
    /// The tests, in the order in which they run.
    pub tests: Vec<ListedTest>,
}

/// One listed test.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct ListedTest {
    /// Its stable name.
    pub name: String,
    /// Why it does not run by default, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored: Option<Ignore>,
    /// What is known about it besides its name.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
    /// How long it may take.
    #[serde(default)]
    pub limits: TimeLimits,
}

impl ListedTest {
    /// A test that runs by default, without attributes.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ignored: None,
            attributes: Attributes::new(),
            limits: TimeLimits::default(),
        }
    }

    /// The same, with the reason why it does not run by default, if there is one.
    #[must_use]
    pub fn ignored(mut self, ignored: Option<Ignore>) -> Self {
        self.ignored = ignored;
        self
    }
}

/// Why a test does not run by default.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ignore {
    /// It belongs to the long set; `--full` runs it.
    Full,
    /// It needs weights that are not on this machine.
    NoWeights {
        /// The command that gets them.
        command: String,
    },
}

impl fmt::Display for Ignore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("in the long set: run with --full"),
            Self::NoWeights { command } => write!(f, "no weights on this machine: run `{command}`"),
        }
    }
}
