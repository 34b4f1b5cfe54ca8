//! Joining what the parts of a run left behind into one run: the parts are read,
//! checked to be parts of one run, and put together.

mod error;
mod join;
mod partition;
mod shard;

pub use error::MergeError;
pub use join::{Joined, join};
pub use shard::Shard;

#[cfg(test)]
mod testing;
