//! The output of a child, kept by test. The gate writes a mark to its standard error where a
//! test starts and ends. Both streams are one pipe, so the text between two marks is the
//! output of the test, whichever part of the process printed it.

use npugate_schema::{MARK, MARKS_VAR, Mark};
use std::{
    collections::VecDeque,
    io::{self, PipeReader, Read},
    process::Command,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

/// How long to wait for the output of a child that has ended: a process that it left behind
/// may hold the pipe open.
const DRAIN: Duration = Duration::from_millis(500);

/// How long to wait for the mark after a test's output. The test's event has come, so the
/// mark has been written and arrives soon.
const MARK_DELAY: Duration = Duration::from_millis(200);

/// How many bytes are kept of a test's output, and of a process's output outside tests.
const KEPT: usize = 64 * 1024;

/// What to do with the output of a gate binary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capture {
    /// Keep it, and show it if a test does not pass or the process dies.
    Keep,
    /// Pass it through as it comes.
    Show,
}

/// The output of a child.
#[derive(Debug)]
pub struct Output {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    text: Mutex<Text>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Text {
    /// Tests whose end was marked, in order.
    ended: VecDeque<(String, Vec<u8>)>,
    /// The test that is running.
    open: Option<(String, Vec<u8>)>,
    /// Everything outside tests.
    outside: Vec<u8>,
    /// The beginning of what may become a mark.
    partial: Vec<u8>,
    closed: bool,
}

impl Output {
    /// Lets a command print into a pipe, with marks, and reads the pipe on its own thread.
    ///
    /// # Errors
    ///
    /// No pipe can be created.
    pub fn capture(command: &mut Command) -> io::Result<Self> {
        let (pipe, stdout) = io::pipe()?;
        let stderr = stdout.try_clone()?;
        command.stdout(stdout).stderr(stderr).env(MARKS_VAR, "1");
        let shared = Arc::<Shared>::default();
        thread::spawn({
            let shared = Arc::clone(&shared);
            move || read(pipe, &shared)
        });
        Ok(Self { shared })
    }

    /// The output of a test that has ended. The output of earlier tests is dropped.
    pub fn of(&self, test: &str) -> String {
        let has_ended = |text: &mut Text| {
            let ended = text.ended.iter().any(|(name, _)| name == test);
            !ended && !text.closed
        };
        let mut text = self.wait(MARK_DELAY, has_ended);
        while let Some((name, bytes)) = text.ended.pop_front() {
            if name == test {
                return in_utf8(&bytes);
            }
        }
        String::new()
    }

    /// The output of the test in which the child ended, or else the child's last output. Call
    /// this after the child's end.
    pub fn last(&self) -> String {
        let mut text = self.wait(DRAIN, |text| !text.closed);
        let partial = std::mem::take(&mut text.partial);
        text.push(&partial);
        match &text.open {
            Some((_, bytes)) => in_utf8(bytes),
            None => in_utf8(&text.outside),
        }
    }

    fn wait(
        &self,
        limit: Duration,
        unready: impl FnMut(&mut Text) -> bool,
    ) -> MutexGuard<'_, Text> {
        let text = self.shared.text.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.shared.changed.wait_timeout_while(text, limit, unready);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn read(mut pipe: PipeReader, shared: &Shared) {
    let mut buffer = [0; 8192];
    loop {
        let n = pipe.read(&mut buffer);
        let mut text = shared.text.lock().unwrap_or_else(PoisonError::into_inner);
        match n {
            Ok(n @ 1..) => text.take_in(&buffer[..n]),
            _ => text.closed = true,
        }
        shared.changed.notify_all();
        if text.closed {
            return;
        }
    }
}

impl Text {
    /// Processes bytes that were read, and the marks in them.
    fn take_in(&mut self, bytes: &[u8]) {
        let mut bytes = [std::mem::take(&mut self.partial).as_slice(), bytes].concat();
        while let Some(at) = find(&bytes, MARK.as_bytes()) {
            let Some(end) = bytes[at..].iter().position(|&byte| byte == b'\n') else {
                self.partial = bytes.split_off(at);
                break;
            };
            self.push(&bytes[..at]);
            self.mark(&bytes[at..at + end]);
            bytes.drain(..=at + end);
        }
        if self.partial.is_empty() {
            // The beginning of a mark may be the end of what was read.
            let cut = (0..bytes.len())
                .rev()
                .take(MARK.len())
                .find(|&from| MARK.as_bytes().starts_with(&bytes[from..]));
            self.partial = bytes.split_off(cut.unwrap_or(bytes.len()));
        }
        self.push(&bytes);
    }

    fn mark(&mut self, line: &[u8]) {
        match Mark::parse(&String::from_utf8_lossy(line)) {
            Some(Mark::Begin(name)) => self.open = Some((name.to_owned(), Vec::new())),
            Some(Mark::End(name)) => {
                if let Some(open) = self.open.take().filter(|(open, _)| open == name) {
                    self.ended.push_back(open);
                }
            }
            None => self.push(line),
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let kept = self.open.as_mut().map_or(&mut self.outside, |(_, kept)| kept);
        kept.extend(bytes);
        // Cut only at twice the size, so that not every read moves all bytes.
        if kept.len() > 2 * KEPT {
            let excess = kept.len() - KEPT;
            kept.drain(..excess);
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn in_utf8(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
