//! The live area of a terminal: lines below everything else that is printed, which are
//! rewritten in place and removed at the end.

use super::Tone;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The width of a bar, in columns.
const BAR: usize = 24;

/// The live area of a terminal.
#[derive(Clone, Debug)]
pub struct Area {
    lines: MultiProgress,
    colors: Colors,
}

/// Whether the terminal shows colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colors {
    /// It does.
    On,
    /// It does not.
    Off,
}

impl Area {
    /// An area that is drawn on this target.
    pub fn new(target: ProgressDrawTarget, colors: Colors) -> Self {
        Self { lines: MultiProgress::with_draw_target(target), colors }
    }

    /// Adds a line at the end of the area.
    pub fn line(&self) -> Line {
        self.add(ProgressBar::no_length(), "{prefix} {wide_msg}")
    }

    /// Adds a line with a bar at the end of the area.
    pub fn bar(&self) -> Line {
        self.add(ProgressBar::new(0), &format!("{{prefix}} [{{bar:{BAR}}}] {{wide_msg}}"))
    }

    /// Hides the area while something else is printed.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.lines.suspend(print);
    }

    fn add(&self, bar: ProgressBar, template: &str) -> Line {
        // The templates are those of this file, which are all valid.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        let bar = self.lines.add(bar);
        Line { area: self.clone(), bar }
    }
}

/// A line of the area, which is removed when this is dropped.
#[derive(Debug)]
pub struct Line {
    area: Area,
    bar: ProgressBar,
}

impl Line {
    /// Shows a verb and a message, cut to the terminal's width.
    pub fn show(&self, verb: &str, message: impl Into<String>) {
        let style = Tone::Info.style();
        let prefix = match self.area.colors {
            Colors::On => format!("{style}{verb:>12}{style:#}"),
            Colors::Off => format!("{verb:>12}"),
        };
        if self.bar.prefix() != prefix {
            self.bar.set_prefix(prefix);
        }
        self.bar.set_message(message.into());
    }

    /// Sets how much of the bar is filled.
    pub fn fill(&self, done: usize, of: usize) {
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        self.area.lines.remove(&self.bar);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::InMemoryTerm;

    fn area(width: u16, colors: Colors) -> (InMemoryTerm, Area) {
        let terminal = InMemoryTerm::new(10, width);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        (terminal, Area::new(target, colors))
    }

    #[test]
    fn lines_are_rewritten_in_place_and_removed_when_they_are_dropped() {
        let (terminal, area) = area(60, Colors::Off);
        let (bar, line) = (area.bar(), area.line());
        bar.fill(1, 2);
        bar.show("Running", "1/2");
        line.show("kernel", "tiny kernel::a");
        line.show("kernel", "tiny kernel::b");
        assert_eq!(
            terminal.contents(),
            "     Running [============>           ] 1/2\n      kernel tiny kernel::b"
        );
        drop(bar);
        assert_eq!(terminal.contents(), "      kernel tiny kernel::b");
        drop(line);
        assert_eq!(terminal.contents(), "");
    }

    #[test]
    fn a_line_never_wraps() {
        let (terminal, area) = area(20, Colors::Off);
        let line = area.line();
        line.show("kernel", "abcdefghijklmnop");
        assert_eq!(terminal.contents(), "      kernel abcdefg");
    }

    #[test]
    fn a_verb_is_coloured_if_colours_are_on() {
        for (colors, styled) in [(Colors::On, true), (Colors::Off, false)] {
            let (terminal, area) = area(40, colors);
            let line = area.line();
            line.show("kernel", "a");
            let bytes = String::from_utf8(terminal.contents_formatted()).unwrap();
            assert_eq!(bytes.contains("\u{1b}[96"), styled, "{bytes:?}");
            assert_eq!(terminal.contents(), "      kernel a");
        }
    }
}
