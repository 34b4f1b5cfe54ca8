//! Which prompts of the manifest a check covers.

use crate::measured::Stop;
use crate::session::Session;

/// The token gate's default number of prompts, as in MLIR-AIR's CI.
pub(crate) const DEFAULT_PROMPTS: usize = 2;

/// Which prompts of the manifest a check covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prompts {
    /// The first [`DEFAULT_PROMPTS`].
    Default,
    /// Every prompt.
    All,
}

impl Prompts {
    /// Their indices in the manifest, at least one.
    pub fn indices(self, session: &mut Session) -> Result<Vec<usize>, Stop> {
        let available = session.goldens()?.manifest().prompts.len();
        let count = match self {
            Self::Default => available.min(DEFAULT_PROMPTS),
            Self::All => available,
        };
        if count == 0 {
            return Err(Stop::Invalid("the manifest has no prompts".to_owned()));
        }
        Ok((0..count).collect())
    }
}
