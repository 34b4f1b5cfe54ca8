//! Joining the results of the parts of a run: the parts are read, checked to belong to one
//! run, and put together.

mod error;
mod join;
mod partition;
mod shard;

pub use error::MergeError;
pub use join::{Joined, join};
pub use shard::Shard;

#[cfg(test)]
mod testing;
