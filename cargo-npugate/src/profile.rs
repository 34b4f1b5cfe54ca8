//! `.config/npugate.toml`: profiles of settings that inherit, settings for the
//! tests that match an expression, and limits that are waived for a time.
//!
//! The file is read as it was written (`file`), with the place of every value
//! (`at`). Each profile of the file becomes a layer (`layer`), and a resolved
//! profile combines the layers that it inherits (`resolved`).

mod at;
mod choice;
mod error;
mod file;
mod keys;
mod layer;
mod load;
mod origin;
mod resolved;
mod rule;
#[cfg(test)]
mod schema;
mod show;
mod span;

pub use choice::{BaselineMode, MaxFail, Unreferenced};
pub use error::ConfigError;
pub use load::Profiles;
pub use resolved::Profile;
pub use show::test as show_test;
pub use span::Span;
