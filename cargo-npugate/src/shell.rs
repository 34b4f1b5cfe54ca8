//! Status lines on stderr in cargo's style: a verb, right-aligned in twelve columns,
//! then a message. On a terminal there is a live area below them, which is rewritten as
//! tests run.

mod area;

pub use area::{Area, Colors, Line};

use crate::cli::WhenColor;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use indicatif::ProgressDrawTarget;
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
    /// A line for each test, and the commands that are run.
    Commands,
}

/// The meaning of a status line's verb, shown as its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// Done, or as it should be.
    Good,
    /// Failed, or not as it should be.
    Bad,
    /// Neither.
    Odd,
    /// Under way.
    Info,
}

impl Tone {
    /// The colour that cargo uses for it.
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

/// Where status lines go.
pub struct Shell {
    out: Box<dyn Write>,
    verbosity: Verbosity,
    /// The live area, on a terminal and unless quiet.
    area: Option<Area>,
    /// The live line, if one is shown.
    live: Option<Line>,
}

impl Shell {
    /// A shell that prints to stderr.
    pub fn stderr(verbosity: Verbosity) -> Self {
        let stderr = io::stderr();
        let choice = AutoStream::choice(&stderr);
        let colors = if choice == ColorChoice::Never { Colors::Off } else { Colors::On };
        let live = stderr.is_terminal() && verbosity > Verbosity::Quiet;
        let area = live.then(|| Area::new(ProgressDrawTarget::stderr(), colors));
        Self { out: Box::new(AutoStream::new(stderr, choice)), verbosity, area, live: None }
    }

    /// A shell that prints into a buffer.
    #[cfg(test)]
    pub fn buffer(buffer: impl Write + 'static, verbosity: Verbosity) -> Self {
        Self { out: Box::new(buffer), verbosity, area: None, live: None }
    }

    /// The same shell with a live area.
    #[cfg(test)]
    pub fn with_area(mut self, area: Area) -> Self {
        self.area = Some(area);
        self
    }

    /// How much is printed.
    pub fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// The live area, if there is one.
    pub fn area(&self) -> Option<&Area> {
        self.area.as_ref()
    }

    /// Removes the live area for good, because something else writes to the terminal.
    pub fn share_terminal(&mut self) {
        self.live = None;
        self.area = None;
    }

    /// Prints a status line, unless quiet.
    pub fn status(&mut self, tone: Tone, verb: &str, message: impl fmt::Display) {
        if self.verbosity > Verbosity::Quiet {
            self.status_always(tone, verb, message);
        }
    }

    /// Prints a status line, even if quiet.
    pub fn status_always(&mut self, tone: Tone, verb: &str, message: impl fmt::Display) {
        let style = tone.style();
        self.line(format_args!("{style}{verb:>12}{style:#} {message}"));
    }

    /// Prints lines below a status line, indented to its message.
    pub fn detail(&mut self, text: &str) {
        for line in text.lines() {
            self.line(format_args!("{:13}{line}", ""));
        }
    }

    /// Prints a command that is about to run, if asked for.
    pub fn command(&mut self, command: &std::process::Command) {
        if self.verbosity >= Verbosity::Commands {
            self.executing(&crate::text::command(command));
        }
    }

    /// Prints a command line that is about to run, if asked for.
    pub fn executing(&mut self, line: &str) {
        if self.verbosity >= Verbosity::Commands {
            self.status(Tone::Good, "Executing", format_args!("`{line}`"));
        }
    }

    /// Prints a problem that does not stop the command.
    pub fn warn(&mut self, message: impl fmt::Display) {
        let style = Tone::Odd.style();
        self.line(format_args!("{style}warning{style:#}: {message}"));
    }

    /// Prints a problem that makes the command fail.
    pub fn error(&mut self, message: impl fmt::Display) {
        let style = Tone::Bad.style();
        self.line(format_args!("{style}error{style:#}: {message}"));
    }

    /// Prints a line.
    pub fn line(&mut self, text: impl fmt::Display) {
        self.write(&format!("{text}\n"));
    }

    /// Prints a question, without a line end.
    pub fn ask(&mut self, text: impl fmt::Display) {
        self.write(&text.to_string());
    }

    /// Replaces the live line, if there can be one, until something is printed.
    pub fn live(&mut self, verb: &str, message: &str) {
        if let Some(area) = &self.area {
            self.live.get_or_insert_with(|| area.line()).show(verb, message);
        }
    }

    /// Prints in one piece, because others may write to the same terminal.
    fn write(&mut self, text: &str) {
        self.live = None;
        let out = &mut self.out;
        // If stderr is closed, there is nowhere left to report that.
        let mut print = || {
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        };
        match &self.area {
            Some(area) => area.suspend(print),
            None => print(),
        }
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

/// Writes data to stdout. A reader that closes the pipe (`| head`) is not an error.
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

        /// The bytes so far, colours and all.
        pub fn colored(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).unwrap()
        }

        /// The text so far, without colours.
        pub fn text(&self) -> String {
            anstream::adapter::strip_str(&self.colored()).to_string()
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
    fn quiet_keeps_failures() {
        let printed = Printed::default();
        let mut shell = printed.shell(Verbosity::Quiet);
        shell.status(Tone::Good, "Running", "tiny on emu");
        shell.status_always(Tone::Bad, "FAIL", "tiny kernel::gemm");
        assert_eq!(printed.text(), "        FAIL tiny kernel::gemm\n");
    }

    #[test]
    fn the_live_line_disappears_when_something_is_printed() {
        let terminal = indicatif::InMemoryTerm::new(4, 40);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let printed = Printed::default();
        let shell = printed.shell(Verbosity::Normal);
        let mut shell = shell.with_area(Area::new(target, Colors::Off));
        shell.live("Measured", "1/2: a");
        shell.live("Measured", "2/2: b");
        assert_eq!(terminal.contents(), "    Measured 2/2: b");
        shell.line("done");
        assert_eq!((terminal.contents().as_str(), printed.text().as_str()), ("", "done\n"));
        shell.share_terminal();
        shell.live("Measured", "nothing");
        assert_eq!(terminal.contents(), "");
    }

    #[test]
    fn a_status_line_has_cargo_s_colours() {
        let printed = Printed::default();
        printed.shell(Verbosity::Normal).status(Tone::Bad, "FAIL", "tiny");
        assert_eq!(printed.colored(), "\u{1b}[1m\u{1b}[91m        FAIL\u{1b}[0m tiny\n");
    }
}
