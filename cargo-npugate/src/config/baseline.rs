//! What a run does with baselines and with what nothing refers to: as typed, or else as
//! the profile says.

use super::{Test, UsageError};
use crate::environment::Update;
use crate::profile::{BaselineMode, Profile, Unreferenced};
use crate::selection::{Effort, History, Selection};

impl Test {
    /// What the run does with baselines.
    ///
    /// # Errors
    ///
    /// It is asked to save a baseline where nothing may be written, or to save the
    /// figures of a smoke run.
    pub fn baseline(&self, profile: &Profile, update: Update) -> Result<BaselineMode, UsageError> {
        let mode = self.baseline.or(profile.values.baseline.as_deref().copied());
        match (mode.unwrap_or_default(), self.selection.effort, update) {
            (BaselineMode::Save, Effort::Smoke, _) => Err(UsageError::SmokeBaseline),
            (BaselineMode::Save, _, Update::No) => Err(UsageError::SaveForbidden),
            (mode, _, _) => Ok(mode),
        }
    }

    /// What to do about what nothing refers to. By default only a run of every test
    /// looks for it.
    pub fn unreferenced(&self, profile: &Profile) -> Unreferenced {
        let mode = self.unreferenced.or(profile.values.unreferenced.as_deref().copied());
        mode.unwrap_or(if self.selection.lists_everything() {
            Unreferenced::Warn
        } else {
            Unreferenced::Ignore
        })
    }

    /// The selected tests, and what the run's use of baselines requires of the gates.
    pub fn selection(&self, baseline: BaselineMode) -> Selection {
        let history = match baseline {
            BaselineMode::Compare => History::Compare,
            BaselineMode::Save | BaselineMode::Ignore => History::Ignore,
        };
        Selection { history, ..self.selection.clone() }
    }
}
