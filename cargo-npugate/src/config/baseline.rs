//! What a run may do with baselines, and what it does by default with what nothing
//! refers to.

use super::{Effort, Selection, Test, Update};
use crate::cli::{BaselineUse, Unreferenced};
use crate::error::Error;

impl Test {
    /// Refuses to save a baseline where nothing may be written, and figures that no
    /// baseline can hold.
    pub(super) fn refuse_save(&self, update: Update) -> Result<(), Error> {
        match (self.baseline, self.selection.effort, update) {
            (BaselineUse::Save, Effort::Smoke, _) => Err(Error::SmokeBaseline),
            (BaselineUse::Save, _, Update::No) => Err(Error::SaveForbidden),
            _ => Ok(()),
        }
    }
}

/// A run of every test is the one that looks at everything.
pub(super) fn by_default(selection: &Selection) -> Unreferenced {
    if selection.lists_everything() { Unreferenced::Warn } else { Unreferenced::Ignore }
}
