//! Status lines on stderr in cargo's style: a verb right-aligned in twelve
//! columns, then what it is about. On a terminal there is one live line below
//! them, rewritten as tests go by.

use crate::cli::WhenColor;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use std::{
    fmt,
    io::{self, IsTerminal, Write},
};
use terminal_size::Width;

/// How much is printed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Verbosity {
    /// Failures and the summary.
    Quiet,
    /// A line for each phase.
    #[default]
    Normal,
    /// A line for each test.
    Verbose,
    /// The commands that are run, too.
    Commands,
}

/// What a status line's verb says, as a colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// Done, or as it should be.
    Good,
    /// Wrong.
    Bad,
    /// Neither.
    Odd,
    /// Under way.
    Info,
}

impl Tone {
    /// The colour that cargo gives it.
    pub fn style(self) -> Style {
        let color = match self {
            Self::Good => AnsiColor::BrightGreen,
            Self::Bad => AnsiColor::BrightRed,
            Self::Odd => AnsiColor::BrightYellow,
            Self::Info => AnsiColor::BrightCyan,
        };
        color.on_default().bold()
    }
}

/// Where status goes.
pub struct Shell {
    out: Box<dyn Write>,
    verbosity: Verbosity,
    live: Live,
    /// What the live line says, so that it is rewritten only when that changes.
    last_live: (String, String),
}

/// The live line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Live {
    /// Not on a terminal.
    Off,
    /// Nothing shown at present.
    Blank { width: usize },
    /// Something shown, without a line end.
    Shown { width: usize },
}

impl Shell {
    /// Status on stderr.
    pub fn stderr(verbosity: Verbosity) -> Self {
        let stderr = io::stderr();
        let live = if stderr.is_terminal() && verbosity == Verbosity::Normal {
            let width = match terminal_size::terminal_size_of(&stderr) {
                Some((Width(width @ 1..), _)) => usize::from(width),
                _ => 80,
            };
            Live::Blank { width }
        } else {
            Live::Off
        };
        let choice = AutoStream::choice(&stderr);
        Self {
            out: Box::new(AutoStream::new(stderr, choice)),
            verbosity,
            live,
            last_live: Default::default(),
        }
    }

    /// Status into a buffer.
    #[cfg(test)]
    pub fn buffer(buffer: impl Write + 'static, verbosity: Verbosity) -> Self {
        let out = Box::new(buffer);
        Self { out, verbosity, live: Live::Off, last_live: Default::default() }
    }

    /// How much is printed.
    pub fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// No live line from here on: something else writes to the terminal.
    pub fn share_terminal(&mut self) {
        self.clear_live();
        self.live = Live::Off;
    }

    /// A status line, unless quiet.
    pub fn status(&mut self, tone: Tone, verb: &str, message: impl fmt::Display) {
        if self.verbosity > Verbosity::Quiet {
            self.status_always(tone, verb, message);
        }
    }

    /// A status line, even if quiet.
    pub fn status_always(&mut self, tone: Tone, verb: &str, message: impl fmt::Display) {
        let style = tone.style();
        self.line(format_args!("{style}{verb:>12}{style:#} {message}"));
    }

    /// Lines below a status line, indented to its message.
    pub fn detail(&mut self, text: &str) {
        for line in text.lines() {
            self.line(format_args!("{:13}{line}", ""));
        }
    }

    /// The commands that are run, if asked for.
    pub fn command(&mut self, command: &std::process::Command) {
        if self.verbosity >= Verbosity::Commands {
            self.executing(&crate::text::command(command));
        }
    }

    /// A command line that is run, if asked for.
    pub fn executing(&mut self, line: &str) {
        if self.verbosity >= Verbosity::Commands {
            self.status(Tone::Good, "Executing", format_args!("`{line}`"));
        }
    }

    /// Something wrong that does not stop the command.
    pub fn warn(&mut self, message: impl fmt::Display) {
        let style = Tone::Odd.style();
        self.line(format_args!("{style}warning{style:#}: {message}"));
    }

    /// Something that ends the command with an exit code of its own.
    pub fn error(&mut self, message: impl fmt::Display) {
        let style = Tone::Bad.style();
        self.line(format_args!("{style}error{style:#}: {message}"));
    }

    /// A line of its own.
    pub fn line(&mut self, text: impl fmt::Display) {
        self.clear_live();
        // Nobody is left to be told if stderr is closed.
        let _ = writeln!(self.out, "{text}");
    }

    /// A question, with no line end.
    pub fn ask(&mut self, text: impl fmt::Display) {
        self.clear_live();
        let _ = write!(self.out, "{text}");
        let _ = self.out.flush();
    }

    /// Replaces the live line, if there is one.
    pub fn live(&mut self, verb: &str, message: &str) {
        let same = self.last_live.0 == verb && self.last_live.1 == message;
        if self.live == Live::Off || (same && matches!(self.live, Live::Shown { .. })) {
            return;
        }
        self.clear_live();
        self.last_live = (verb.to_owned(), message.to_owned());
        if let Live::Blank { width } = self.live {
            // One column less: a full line would wrap on some terminals.
            let room = width.saturating_sub(14);
            let message: String = message.chars().take(room).collect();
            let style = Tone::Info.style();
            let _ = write!(self.out, "{style}{verb:>12}{style:#} {message}");
            let _ = self.out.flush();
            self.live = Live::Shown { width };
        }
    }

    fn clear_live(&mut self) {
        if let Live::Shown { width } = self.live {
            // Carriage return, erase to the end of the line. Written past the
            // colour filter, which would strip it: there is a terminal.
            let _ = self.out.flush();
            let _ = io::stderr().write_all(b"\r\x1b[K");
            self.live = Live::Blank { width };
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.clear_live();
    }
}

/// Sets colours for stdout and stderr.
pub fn set_color(when: WhenColor) {
    let choice = match when {
        // The environment and the terminal decide, stream by stream.
        WhenColor::Auto => ColorChoice::Auto,
        WhenColor::Always => ColorChoice::Always,
        WhenColor::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// The columns of stdout, if it is a terminal.
pub fn stdout_width() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(&stdout).map(|(Width(width), _)| usize::from(width))
}

/// Writes data to stdout. A reader that has seen enough (`| head`) is no error.
pub fn print_data(text: impl fmt::Display) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
pub mod testing {
    //! A shell whose output a test can read.

    use super::{Shell, Verbosity};
    use std::{
        cell::RefCell,
        io::{self, Write},
        rc::Rc,
    };

    /// What a shell printed.
    #[derive(Clone, Default)]
    pub struct Printed(Rc<RefCell<Vec<u8>>>);

    impl Printed {
        /// A shell that prints into this.
        pub fn shell(&self, verbosity: Verbosity) -> Shell {
            Shell::buffer(self.clone(), verbosity)
        }

        /// The text so far, without colours.
        pub fn text(&self) -> String {
            let text = String::from_utf8(self.0.borrow().clone()).unwrap();
            anstream::adapter::strip_str(&text).to_string()
        }
    }

    impl Write for Printed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::Printed;

    #[test]
    fn verbs_end_in_column_twelve() {
        let printed = Printed::default();
        let mut shell = printed.shell(Verbosity::Normal);
        shell.status(Tone::Good, "Running", "tiny on emu");
        shell.detail("a\nb");
        shell.warn("odd");
        assert_eq!(
            printed.text(),
            "     Running tiny on emu\n             a\n             b\nwarning: odd\n"
        );
    }

    #[test]
    fn quiet_leaves_failures() {
        let printed = Printed::default();
        let mut shell = printed.shell(Verbosity::Quiet);
        shell.status(Tone::Good, "Running", "tiny on emu");
        shell.status_always(Tone::Bad, "FAIL", "tiny kernel::gemm");
        assert_eq!(printed.text(), "        FAIL tiny kernel::gemm\n");
    }
}
