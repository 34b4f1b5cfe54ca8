//! One child process: started, followed, waited for.

use super::events::{BadLine, EventReader};
use crate::config::Capture;
use crate::error::Error;
use crate::interrupt::Interrupt;
use fs_err as fs;
use npugate_schema::Event;
use std::{
    io::{self, PipeReader, Read},
    path::Path,
    process::{Child, Command, ExitStatus},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How often the events of a running child are read.
const POLL: Duration = Duration::from_millis(20);

/// How long the output of a child that has ended is waited for: a process that
/// it left behind may hold the pipe open.
const DRAIN: Duration = Duration::from_millis(500);

/// How much of a child's output is kept.
const KEPT: usize = 64 * 1024;

/// How a child ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// The end of what it printed, stdout and stderr in order.
    pub output: String,
    /// Whether its last event was cut off.
    pub cut_off: bool,
    /// Whether it ended because the user wanted it to.
    pub interrupted: bool,
}

/// Runs a child to its end. `on_event` is called for each event as it comes,
/// and with `None` about fifty times a second.
///
/// # Errors
///
/// The child cannot be started, or its events cannot be read.
pub fn follow(
    mut command: Command,
    events: &Path,
    capture: Capture,
    interrupt: &Interrupt,
    mut on_event: impl FnMut(Option<Result<Event, BadLine>>),
) -> Result<Ended, Error> {
    let output = match capture {
        Capture::Keep => Some(Output::capture(&mut command).map_err(Error::Events)?),
        Capture::Show => None,
    };
    let mut child = spawn(&mut command)?;
    // The parent's ends of the pipe would keep it open.
    drop(command);
    let mut reader = EventReader::new(fs::File::open(events).map_err(Error::Events)?);
    let status = loop {
        // Asked before reading, so that the last events of a child that has
        // ended are read after its end.
        let status = child.0.try_wait().map_err(Error::Events)?;
        for event in reader.poll().map_err(Error::Events)? {
            on_event(Some(event));
        }
        on_event(None);
        match status {
            Some(status) => break status,
            // A terminal has told the child too, other senders have not.
            None if interrupt.has_come() => child.0.kill().map_err(Error::Events)?,
            None => thread::sleep(POLL),
        }
    };
    let interrupted = interrupt.has_come() && !status.success();
    let output = output.map(Output::finish).unwrap_or_default();
    Ok(Ended { status, output, cut_off: reader.is_cut_off(), interrupted })
}

/// A child that does not outlive its parent's interest in it.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // Without effect on a child that has been waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spawn(command: &mut Command) -> Result<Guard, Error> {
    command
        .spawn()
        .map(Guard)
        .map_err(|source| Error::Start { program: command.get_program().to_owned(), source })
}

/// What a child prints, both streams through one pipe so that they stay in
/// order.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Output {
    fn capture(command: &mut Command) -> io::Result<Self> {
        let (pipe, stdout) = io::pipe()?;
        let stderr = stdout.try_clone()?;
        command.stdout(stdout).stderr(stderr);
        let kept = Arc::default();
        let reader = thread::spawn({
            let kept = Arc::clone(&kept);
            move || read(pipe, &kept)
        });
        Ok(Self { kept, reader })
    }

    fn finish(self) -> String {
        let deadline = Instant::now() + DRAIN;
        while !self.reader.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

fn read(mut pipe: PipeReader, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 8192];
    while let Ok(n @ 1..) = pipe.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&buffer[..n]);
        // Cut at twice the size, so that not every read moves the whole.
        if kept.len() > 2 * KEPT {
            let excess = kept.len() - KEPT;
            kept.drain(..excess);
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn run(script: &str) -> (Ended, Vec<Result<Event, BadLine>>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events");
        std::fs::write(&path, "").unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("EVENTS", &path);
        let mut events = Vec::new();
        let interrupt = Interrupt::default();
        let collect = |event: Option<_>| events.extend(event);
        let ended = follow(command, &path, Capture::Keep, &interrupt, collect).unwrap();
        (ended, events)
    }

    #[test]
    fn events_written_just_before_the_end_are_not_lost() {
        let line = r#"{"event":"test_started","name":"a"}"#;
        let (ended, events) = run(&format!("echo '{line}' >> $EVENTS; exit 3"));
        assert_eq!(events, [Ok(Event::TestStarted { name: "a".into() })]);
        assert_eq!(crate::text::exit_status(ended.status), "exit status 3");
        assert!(!ended.cut_off);
    }

    #[test]
    fn both_streams_are_kept_in_order_and_a_signal_is_named() {
        let (ended, _) =
            run("echo one; echo two >&2; echo three; printf '{' >> $EVENTS; kill -6 $$");
        assert_eq!(ended.output, "one\ntwo\nthree\n");
        assert_eq!(crate::text::exit_status(ended.status), "signal 6 (SIGABRT)");
        assert!(ended.cut_off);
    }

    #[test]
    fn a_process_left_behind_does_not_hold_the_command_up() {
        let start = Instant::now();
        let (ended, _) = run("sleep 5 & echo done");
        assert_eq!(ended.output, "done\n");
        assert!(start.elapsed() < Duration::from_secs(4));
    }

    #[test]
    fn endless_output_is_kept_at_its_end() {
        let (ended, _) = run("yes | head -c 1000000; echo last");
        assert!(ended.output.len() <= 2 * KEPT + 8192);
        assert!(ended.output.ends_with("last\n"));
    }
}
