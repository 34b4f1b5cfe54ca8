//! What the shim says of a call that failed, before it is known what that means.

use std::fmt;

/// A failed call: which, how, and XRT's own words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The function of the shim that failed, without its `npg_`.
    pub call: &'static str,
    /// What kind of failure it was.
    pub failure: Failure,
    /// XRT's text, trimmed.
    pub text: String,
}

/// How a call failed: `npg_error_kind` with its code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Failure {
    /// An operating system's error.
    System {
        /// Its errno.
        errno: i32,
    },
    /// A command ended in another state than completed.
    Command {
        /// The `ert_cmd_state`.
        state: i32,
    },
    /// The host's wait ended before the command.
    HostTimeout {
        /// The `ert_cmd_state` at that time.
        state: i32,
    },
    /// Another C++ exception.
    Exception,
    /// The shim refused the arguments.
    Argument,
    /// The XRT that the shim was built against cannot do it.
    Unsupported,
}

impl Failure {
    /// Of the shim's kind and code. A kind that this does not know is an exception.
    pub const fn new(kind: i32, code: i32) -> Self {
        match kind {
            1 => Self::System { errno: code },
            2 | 3 => Self::Command { state: code },
            6 => Self::HostTimeout { state: code },
            7 => Self::Argument,
            8 => Self::Unsupported,
            _ => Self::Exception,
        }
    }

    /// The errno of an operating system's error.
    pub const fn errno(self) -> Option<i32> {
        match self {
            Self::System { errno } => Some(errno),
            _ => None,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, failure, text } = self;
        // A failure of the array comes with lines of its registers.
        let text: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let text = if text.is_empty() { "no text".to_owned() } else { text.join(", ") };
        match failure {
            Failure::System { errno } => write!(f, "{call}: {text}, errno {errno}"),
            Failure::Command { state } | Failure::HostTimeout { state } => {
                write!(f, "{call}: {text}, state {state}")
            }
            Failure::Exception | Failure::Argument | Failure::Unsupported => {
                write!(f, "{call}: {text}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_line() {
        // What XRT 2.25 says of a device's timeout, shortened.
        let text = "Command failed to complete successfully (ERT_CMD_STATE_TIMEOUT)\n\
                    txn_op_idx = 0x40000000\nctx_pc = 0x00000000";
        let failure = Failure::Command { state: 8 };
        let report = Report { call: "run_wait", failure, text: text.to_owned() };
        assert_eq!(
            report.to_string(),
            "run_wait: Command failed to complete successfully (ERT_CMD_STATE_TIMEOUT), \
             txn_op_idx = 0x40000000, ctx_pc = 0x00000000, state 8"
        );
        let report = Report { text: String::new(), ..report };
        assert_eq!(report.to_string(), "run_wait: no text, state 8");
    }
}
