//! The built-in checks: one file for each kind. Each check is a function from a
//! [`Session`] to what it measured, and a row in the [`table`](table::BUILT_IN).
//!
//! [`Session`]: crate::session::Session

mod block;
mod consistency;
#[cfg(test)]
mod explained;
mod forced;
mod integrity;
mod kernel;
mod layers;
mod logits;
pub(crate) mod own;
pub(crate) mod prompts;
pub(crate) mod table;
mod tokens;
mod yardstick;
