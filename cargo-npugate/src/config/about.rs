//! Questions about this program.

use super::Action;
use crate::cli::AboutArgs;
use crate::version::Detail;

impl AboutArgs {
    /// The answer that is asked for, if any. Nothing else is then done.
    pub(super) fn action(&self, verbose: u8) -> Option<Action> {
        if self.version {
            let detail = if verbose > 0 { Detail::All } else { Detail::Line };
            return Some(Action::Version(detail));
        }
        self.explain.map(Action::Explain)
    }
}
