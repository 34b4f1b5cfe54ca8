//! What the shim reports about a call that failed, before its meaning is known.

use std::fmt;

/// A failed call: which call, how it failed, and XRT's own message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The function of the shim that failed, without the prefix `npg_`.
    pub call: &'static str,
    /// How it failed.
    pub failure: Failure,
    /// XRT's message, trimmed.
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
    /// A command ended in a state other than completed.
    Command {
        /// The `ert_cmd_state`.
        state: i32,
    },
    /// The host's wait ended before the command did.
    HostTimeout {
        /// The `ert_cmd_state` at that time.
        state: i32,
    },
    /// Another C++ exception.
    Exception,
    /// The shim refused the arguments.
    Argument,
    /// The XRT that the shim was built against does not support the call.
    Unsupported,
}

impl Failure {
    /// The failure for the shim's kind and code. An unknown kind is an exception.
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

    /// The errno, if the operating system reported the error.
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
        // After a failure of the array, the text includes lines about its registers.
        let text: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let text = if text.is_empty() { "no message".to_owned() } else { text.join(", ") };
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
        // XRT 2.25's message for a timeout of the device, shortened.
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
        assert_eq!(report.to_string(), "run_wait: no message, state 8");
    }
}
