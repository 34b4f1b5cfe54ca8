//! What is reported about a run: the summary and the tests that did not pass, the table
//! by layer, the JUnit report, messages for programs, annotations.

pub mod diagnosis;
pub mod failures;
pub mod github;
pub mod junit;
mod rerun;
mod streams;
pub mod summary;
pub mod table;
#[cfg(test)]
pub mod testing;
pub mod words;

pub use rerun::Reruns;
pub use streams::Streams;

use crate::config::{Config, Test};
use crate::selection::Effort;

/// What reports say about a run beyond its results.
#[derive(Clone, Debug)]
pub struct Run {
    /// How to run its tests again.
    pub reruns: Reruns,
    /// How much of each shape the kernel tests covered.
    pub effort: Effort,
    /// The part of the tests that ran, such as `hash:2/4`; `None` if all did.
    pub partition: Option<String>,
    /// Wall-clock seconds, once it is over.
    pub seconds: f64,
}

impl Run {
    /// A run on this machine.
    pub fn of(config: &Config, test: &Test) -> Self {
        Self {
            reruns: Reruns::of(config, test),
            effort: test.selection.effort,
            partition: test.selection.partition.map(|partition| partition.to_string()),
            ..Self::default()
        }
    }
}

impl Default for Run {
    /// A complete run about which nothing is known.
    fn default() -> Self {
        let reruns = Reruns::With(String::new());
        Self { reruns, effort: Effort::Full, partition: None, seconds: 0.0 }
    }
}
