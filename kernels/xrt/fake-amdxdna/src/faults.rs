//! Faults that a test requests through environment variables, which are read once.
//!
//! | variable | effect |
//! |---|---|
//! | `FAKE_XDNA_STATE=N` | commands end in the ERT state N: 5 error, 6 abort, 8 timeout, 9 no response |
//! | `FAKE_XDNA_HANG=1` | commands never end |
//! | `FAKE_XDNA_AFTER=N` | the two above begin after N commands have succeeded |
//! | `FAKE_XDNA_FAIL=IOCTL:ERRNO` | every ioctl with that name (`EXEC_CMD`) or hexadecimal number (`46`) fails |
//! | `FAKE_XDNA_MAX_CTX=N` | more than N hardware contexts in this process are refused with `ENOENT` |
//! | `FAKE_XDNA_OPEN_ERRNO=N` | opening the device node fails with that errno |
//! | `FAKE_XDNA_MEMLOCK=BYTES` | more than this many bytes of buffers cannot be locked (`EAGAIN`) |
//! | `FAKE_XDNA_LOG=1` | each call is logged to standard error |
//!
//! If a value is not valid, the device refuses to open: a fault that is silently ignored would let
//! a test pass that tested nothing.

use std::{env, sync::OnceLock};

use crate::uapi::{CommandState, Errno, Ioctl};

/// The faults of this process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Faults {
    /// The state in which commands end instead of completing.
    pub state: Option<CommandState>,
    /// Commands never end.
    pub hang: bool,
    /// The number of commands that succeed before `state` and `hang` begin.
    pub after: u64,
    /// An ioctl that always fails, with its errno.
    pub fail: Option<(Ioctl, Errno)>,
    /// The maximum number of hardware contexts at a time.
    pub max_contexts: Option<usize>,
    /// The errno with which opening the device node fails.
    pub open: Option<Errno>,
    /// The maximum number of bytes that may be locked.
    pub memlock: Option<u64>,
    /// Calls are logged to standard error.
    pub log: bool,
}

/// The faults in the environment.
///
/// # Errors
/// What is wrong with the environment, as a sentence.
pub fn get() -> Result<&'static Faults, &'static str> {
    static FAULTS: OnceLock<Result<Faults, String>> = OnceLock::new();
    FAULTS
        .get_or_init(|| Faults::parse(|name| env::var(name).ok()))
        .as_ref()
        .map_err(String::as_str)
}

impl Faults {
    fn parse(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let number = |name: &str| match variable(name) {
            None => Ok(None),
            Some(text) => match text.parse::<u64>() {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(format!("{name}={text}: write a whole number")),
            },
        };
        let errno = |name: &str, value: u64| match i32::try_from(value) {
            Ok(value @ 1..=4095) => Ok(Errno(value)),
            _ => Err(format!("{name}: {value} is not an errno; write one from 1 to 4095")),
        };
        let state = match number("FAKE_XDNA_STATE")? {
            None => None,
            Some(value) => Some(CommandState::from_number(value).ok_or_else(|| {
                format!("FAKE_XDNA_STATE={value}: write 4, 5, 6, 8 or 9, the states in which a command ends")
            })?),
        };
        let fail = match variable("FAKE_XDNA_FAIL") {
            None => None,
            Some(text) => {
                let wrong = || {
                    format!("FAKE_XDNA_FAIL={text}: write an ioctl and an errno, as in EXEC_CMD:22")
                };
                let (ioctl, value) = text.split_once(':').ok_or_else(wrong)?;
                let value = value.parse().map_err(|_| wrong())?;
                Some((ioctl.parse().map_err(|()| wrong())?, errno("FAKE_XDNA_FAIL", value)?))
            }
        };
        let open = match number("FAKE_XDNA_OPEN_ERRNO")? {
            None => None,
            Some(value) => Some(errno("FAKE_XDNA_OPEN_ERRNO", value)?),
        };
        Ok(Self {
            state,
            hang: number("FAKE_XDNA_HANG")?.is_some_and(|value| value != 0),
            after: number("FAKE_XDNA_AFTER")?.unwrap_or(0),
            fail,
            max_contexts: number("FAKE_XDNA_MAX_CTX")?.map(|value| value as usize),
            open,
            memlock: number("FAKE_XDNA_MEMLOCK")?,
            log: number("FAKE_XDNA_LOG")?.is_some_and(|value| value != 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &'static str, value: &'static str) -> Result<Faults, String> {
        Faults::parse(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn an_ioctl_that_fails_is_given_by_name_or_number() {
        let expected = Some((Ioctl::ExecCmd, Errno(22)));
        assert_eq!(parse("FAKE_XDNA_FAIL", "EXEC_CMD:22").unwrap().fail, expected);
        assert_eq!(parse("FAKE_XDNA_FAIL", "46:22").unwrap().fail, expected);
    }

    #[test]
    fn values_that_are_not_valid_are_refused() {
        for (name, value) in [
            ("FAKE_XDNA_FAIL", "EXEC_CMD"),
            ("FAKE_XDNA_FAIL", "NOPE:22"),
            ("FAKE_XDNA_FAIL", "EXEC_CMD:0"),
            ("FAKE_XDNA_STATE", "7"),
            ("FAKE_XDNA_HANG", "yes"),
            ("FAKE_XDNA_OPEN_ERRNO", "-13"),
        ] {
            let error = parse(name, value).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn without_a_variable_there_is_no_fault() {
        assert_eq!(Faults::parse(|_| None).unwrap(), Faults::default());
    }
}
