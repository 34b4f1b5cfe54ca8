//! One child process: starting it, following its events, limiting its time, waiting for it.

use super::RunError;
use super::events::{BadLine, EventReader};
use super::group::{Force, Group};
use super::output::{Capture, Output};
use super::stop::{Brake, Stop};
use super::tracker::Cause;
use super::watch::{Alarm, Watch};
use crate::settings::TestSettings;
use fs_err as fs;
use npugate_schema::Event;
use std::{
    path::Path,
    process::{Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

/// How often the events of a running child are read. Its tests do not wait for that, but the
/// end of a process does.
const POLL: Duration = Duration::from_millis(4);

/// How long a child has to end when the run ends.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// What a child reports while it runs.
#[derive(Debug)]
pub enum Told<'a> {
    /// An event, and the output of the child.
    Event(Event, Option<&'a Output>),
    /// A line in its events that is not an event.
    Bad(BadLine),
    /// A test takes longer than it should.
    Slow { name: String, elapsed: Duration },
}

/// How a child ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// The output of the test in which it ended, or else its last output, with stdout and
    /// stderr in order.
    pub output: String,
    /// Whether its last event was cut off.
    pub cut_off: bool,
    /// Whether it ended itself or took too long.
    pub cause: Cause,
    /// Why the run ended, if the child ended for that reason.
    pub stopped: Option<Stop>,
}

/// A child to follow.
pub struct Followed<'a, F> {
    /// The command to start.
    pub command: Command,
    /// The file to which it appends its events.
    pub events: &'a Path,
    /// What to do with its output.
    pub capture: Capture,
    /// What ends it early.
    pub brake: &'a Brake,
    /// How long each of its tests may take.
    pub settings_of: F,
    /// How long it may take outside tests.
    pub idle: TestSettings,
}

/// Why a child is asked to end, and when it is killed instead.
struct Ending {
    kill_at: Instant,
    cause: Cause,
    stopped: Option<Stop>,
}

/// Runs a child to its end. `tell` is called with what it reports, as it happens.
///
/// # Errors
///
/// The child cannot be started, or its events cannot be read.
pub fn follow<F: Fn(&str) -> TestSettings>(
    followed: Followed<'_, F>,
    mut tell: impl FnMut(Told<'_>),
) -> Result<Ended, RunError> {
    let Followed { mut command, events, capture, brake, settings_of, idle } = followed;
    let output = match capture {
        Capture::Keep => Some(Output::capture(&mut command).map_err(RunError::Events)?),
        Capture::Show => None,
    };
    let mut group = Group::spawn(&mut command)?;
    // The parent's ends of the pipe would keep it open.
    drop(command);
    let mut reader = EventReader::new(fs::File::open(events).map_err(RunError::Events)?);
    let mut watch = Watch::new(settings_of, idle, Instant::now());
    let mut ending: Option<Ending> = None;
    let status = loop {
        // Checked before reading, so that the last events of a child that has ended are read
        // after its end.
        let status = group.try_wait().map_err(RunError::Events)?;
        for event in reader.poll().map_err(RunError::Events)? {
            match event {
                Ok(event) => {
                    watch.event(&event, Instant::now());
                    tell(Told::Event(event, output.as_ref()));
                }
                Err(line) => tell(Told::Bad(line)),
            }
        }
        if let Some(status) = status {
            break status;
        }
        let now = Instant::now();
        match &ending {
            Some(Ending { kill_at, .. }) if now >= *kill_at || brake.is_urgent() => {
                group.end(Force::Kill);
            }
            Some(_) => {}
            None => {
                ending = next_ending(&mut watch, brake, now, &mut tell);
                if ending.is_some() {
                    group.end(Force::Ask);
                }
            }
        }
        thread::sleep(POLL);
    };
    let output = output.map(|output| output.last()).unwrap_or_default();
    let (cause, stopped) = match ending {
        Some(Ending { cause, stopped, .. }) => (cause, stopped.filter(|_| !status.success())),
        None => (Cause::Itself, None),
    };
    Ok(Ended { status, output, cut_off: reader.is_cut_off(), cause, stopped })
}

/// Whether the child has to end now, because the run ends or its time is up.
fn next_ending<F: Fn(&str) -> TestSettings>(
    watch: &mut Watch<F>,
    brake: &Brake,
    now: Instant,
    tell: &mut impl FnMut(Told<'_>),
) -> Option<Ending> {
    if let Some(stop) = brake.stop() {
        let kill_at = now + STOP_GRACE;
        return Some(Ending { kill_at, cause: Cause::Itself, stopped: Some(stop) });
    }
    match watch.look(now)? {
        Alarm::Slow { name, elapsed } => {
            tell(Told::Slow { name, elapsed });
            None
        }
        Alarm::TimedOut { after, grace } => {
            Some(Ending { kill_at: now + grace, cause: Cause::TimedOut(after), stopped: None })
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupt;
    use npugate_schema::{Mark, TimeLimits};

    struct Ran {
        ended: Ended,
        events: Vec<Event>,
        outputs: Vec<String>,
        seconds: f64,
    }

    fn settings(milliseconds: u64) -> TestSettings {
        TestSettings {
            timeout: Duration::from_millis(milliseconds),
            grace: Duration::from_millis(200),
            ..TimeLimits::default().into()
        }
    }

    fn run_within(script: &str, milliseconds: u64) -> Ran {
        run_until(script, milliseconds, 0)
    }

    /// Runs a script, with this number of signals once it has started a test.
    fn run_until(script: &str, milliseconds: u64, signals: usize) -> Ran {
        let interrupt = Interrupt::default();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events");
        std::fs::write(&path, "").unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("EVENTS", &path);
        let (mut events, mut outputs) = (Vec::new(), Vec::new());
        let start = Instant::now();
        let followed = Followed {
            command,
            events: &path,
            capture: Capture::Keep,
            brake: &Brake::new(interrupt.clone(), None),
            settings_of: |_: &str| settings(milliseconds),
            idle: settings(milliseconds),
        };
        let ended = follow(followed, |told| {
            if let Told::Event(event, output) = told {
                interrupt.raise(signals);
                if let Event::TestFinished { record } = &event {
                    outputs.push(output.unwrap().of(&record.name));
                }
                events.push(event);
            }
        });
        let ended = ended.unwrap();
        Ran { ended, events, outputs, seconds: start.elapsed().as_secs_f64() }
    }

    fn run(script: &str) -> Ran {
        run_within(script, 60_000)
    }

    const START_A: &str = r#"echo '{"event":"test_started","name":"a"}' >> $EVENTS;"#;

    #[test]
    fn events_written_just_before_the_end_are_not_lost() {
        let Ran { ended, events, .. } = run(&format!("{START_A} exit 3"));
        assert_eq!(events, [Event::TestStarted { name: "a".into() }]);
        assert_eq!(crate::text::exit_status(ended.status), "exit status 3");
        assert!(!ended.cut_off);
    }

    #[test]
    fn both_streams_are_kept_in_order_and_a_signal_is_named() {
        let script = "echo one; echo two >&2; echo three; printf '{' >> $EVENTS; kill -6 $$";
        let Ran { ended, .. } = run(script);
        assert_eq!(ended.output, "one\ntwo\nthree\n");
        assert_eq!(crate::text::exit_status(ended.status), "signal 6 (SIGABRT)");
        assert!(ended.cut_off);
    }

    #[test]
    fn the_output_of_a_test_is_the_text_between_its_marks() {
        let (begin, end) = (Mark::Begin("a").to_string(), Mark::End("a").to_string());
        let record = npugate_schema::Record::new("a", npugate_schema::Outcome::Failed, "");
        let finished = serde_json::to_string(&Event::TestFinished { record }).unwrap();
        let script = format!(
            "echo before; echo '{begin}' >&2; echo in; printf 'no end of line'; echo '{end}' >&2;
             echo '{finished}' >> $EVENTS; echo after; echo '{}' >&2; echo last words",
            Mark::Begin("b")
        );
        let Ran { ended, outputs, .. } = run(&script);
        assert_eq!(outputs, ["in\nno end of line"]);
        assert_eq!(ended.output, "last words\n");
    }

    #[test]
    fn a_process_left_behind_does_not_hold_the_command_up() {
        let Ran { ended, seconds, .. } = run("sleep 5 & echo done");
        assert_eq!(ended.output, "done\n");
        assert!(seconds < 4.0);
    }

    #[test]
    fn only_the_end_of_endless_output_is_kept() {
        let Ran { ended, .. } = run("yes | head -c 1000000; echo last");
        assert!(ended.output.len() <= 2 * 64 * 1024 + 8192);
        assert!(ended.output.ends_with("last\n"));
    }

    #[test]
    fn a_hang_is_ended_with_everything_that_the_child_started() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        // The child ignores the request to end, and so does the process that it starts.
        let script = format!(
            "trap '' TERM; {START_A} sh -c 'trap \"\" TERM; echo $$ > {}; sleep 30' & sleep 30",
            pid.display()
        );
        let Ran { ended, seconds, .. } = run_within(&script, 300);
        assert_eq!(ended.cause, Cause::TimedOut(Duration::from_millis(300)));
        assert_eq!(crate::text::exit_status(ended.status), "signal 9 (SIGKILL)");
        assert!((0.5..5.0).contains(&seconds), "{seconds}");
        let pid = std::fs::read_to_string(pid).unwrap();
        let alive = || Path::new("/proc").join(pid.trim()).join("cwd").read_link().is_ok();
        let deadline = Instant::now() + Duration::from_secs(2);
        while alive() && Instant::now() < deadline {
            thread::sleep(POLL);
        }
        assert!(!cfg!(target_os = "linux") || !alive(), "process {pid} is still there");
    }

    #[test]
    fn one_signal_asks_a_child_to_end_and_a_second_one_kills_it() {
        let deaf = format!("trap '' TERM; {START_A} sleep 30");
        let stopped = |signals| {
            let Ran { ended, seconds, .. } = run_until(&deaf, 60_000, signals);
            assert_eq!(ended.stopped, Some(Stop::Interrupted));
            seconds
        };
        let (asked, killed) = (stopped(1), stopped(2));
        assert!(asked >= STOP_GRACE.as_secs_f64(), "{asked}");
        assert!(killed < STOP_GRACE.as_secs_f64(), "{killed}");
    }

    #[test]
    fn a_child_that_handles_the_signal_may_clean_up() {
        let script = format!("trap 'echo cleaned; exit 7' TERM; {START_A} sleep 30 & wait");
        let Ran { ended, .. } = run_within(&script, 300);
        assert_eq!(crate::text::exit_status(ended.status), "exit status 7");
        assert_eq!(ended.output, "cleaned\n");
        assert_eq!(ended.cause, Cause::TimedOut(Duration::from_millis(300)));
    }
}
