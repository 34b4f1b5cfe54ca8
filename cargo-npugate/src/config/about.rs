//! What is asked about this program.

use super::Action;
use crate::cli::AboutArgs;
use crate::version::Detail;

impl AboutArgs {
    /// What is asked about, if anything is. Nothing else is then done.
    pub(super) fn action(&self, verbose: u8) -> Option<Action> {
        if self.version {
            let detail = if verbose > 0 { Detail::All } else { Detail::Line };
            return Some(Action::Version(detail));
        }
        self.explain.map(Action::Explain)
    }
}
