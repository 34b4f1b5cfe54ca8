//! Faults: what a call of the mock does wrong.

use std::{cell::RefCell, env, str::FromStr};

/// The environment variable that sets the faults of a whole process, one on each line.
pub const FAIL_VAR: &str = "NPUGATE_MOCK_FAIL";

/// What a call does wrong, written as `FUNCTION=KIND:...`:
///
/// - `npg_device_open=system:13:Open /dev/accel/accel0 failed`: fail with an errno and a message.
/// - `npg_run_wait=command:8:Command failed`, or `aie`: end the run in this state.
/// - `npg_elf_open=exception:TEXT`, or `argument`, or `unsupported`: fail with a message.
/// - `npg_run_wait=hang`: never end; `late`: miss one deadline, then end successfully.
/// - `npg_abi=value:3`: return another number; also for `npg_version` (of the headers) and
///   `npg_device_count`.
/// - `npg_device_text=text:NAME`: return another name for the device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The function that fails.
    pub function: String,
    /// What it does.
    pub(crate) effect: Effect,
}

/// What a function does instead of its work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Fails with this `npg_error`.
    Fail { kind: i32, code: i32, text: String },
    /// Never ends.
    Hang,
    /// Ends after one deadline.
    Late,
    /// Returns this number.
    Value(u32),
    /// Returns this text.
    Text(String),
}

/// Text that is not a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidFault(pub String);

thread_local! {
    /// The faults of this thread.
    static FAULTS: RefCell<Vec<Fault>> = const { RefCell::new(Vec::new()) };
}

impl FromStr for Fault {
    type Err = InvalidFault;

    fn from_str(text: &str) -> Result<Self, InvalidFault> {
        parse(text).ok_or_else(|| InvalidFault(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Fault> {
    let (function, effect) = text.split_once('=')?;
    let (kind, rest) = effect.split_once(':').unwrap_or((effect, ""));
    // `npg_error_kind`.
    let with_code = |kind| {
        let (code, text) = rest.split_once(':')?;
        Some(Effect::Fail { kind, code: code.parse().ok()?, text: text.to_owned() })
    };
    let without_code = |kind| Some(Effect::Fail { kind, code: 0, text: rest.to_owned() });
    let effect = match kind {
        "system" => with_code(1),
        "command" => with_code(2),
        "aie" => with_code(3),
        "exception" => without_code(4),
        "argument" => without_code(7),
        "unsupported" => without_code(8),
        "hang" => Some(Effect::Hang),
        "late" => Some(Effect::Late),
        "value" => Some(Effect::Value(rest.parse().ok()?)),
        "text" => Some(Effect::Text(rest.to_owned())),
        _ => None,
    }?;
    Some(Fault { function: function.to_owned(), effect })
}

/// Replaces the faults of this thread with those in `text`, one on each line. Other lines are
/// ignored.
pub(crate) fn set(text: &str) {
    let faults = text.lines().filter_map(parse).collect();
    FAULTS.with(|place| *place.borrow_mut() = faults);
}

/// What `function` does wrong in this thread.
pub(crate) fn effect(function: &str) -> Option<Effect> {
    let find = |faults: &[Fault]| {
        faults.iter().find(|fault| fault.function == function).map(|fault| fault.effect.clone())
    };
    FAULTS.with(|faults| find(&faults.borrow())).or_else(|| {
        let text = env::var(FAIL_VAR).ok()?;
        find(&text.lines().filter_map(parse).collect::<Vec<_>>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_its_function_and_what_it_does() {
        let fault: Fault = "npg_device_open=system:13:Open: no".parse().unwrap();
        assert_eq!(fault.function, "npg_device_open");
        assert_eq!(fault.effect, Effect::Fail { kind: 1, code: 13, text: "Open: no".to_owned() });
        assert_eq!("npg_run_wait=hang".parse::<Fault>().unwrap().effect, Effect::Hang);
        for text in ["", "npg_abi", "npg_abi=value:x", "npg_run_wait=command:text", "f=other"] {
            assert_eq!(text.parse::<Fault>(), Err(InvalidFault(text.to_owned())));
        }
    }

    #[test]
    fn faults_apply_to_the_thread_that_set_them() {
        set("npg_run_wait=hang\nnonsense");
        assert_eq!(effect("npg_run_wait"), Some(Effect::Hang));
        assert_eq!(effect("npg_run_start"), None);
        std::thread::spawn(|| assert_eq!(effect("npg_run_wait"), None)).join().unwrap();
        set("");
        assert_eq!(effect("npg_run_wait"), None);
    }
}
