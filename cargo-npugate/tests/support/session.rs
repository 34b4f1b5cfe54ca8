//! A session as a user would type it, kept as a page of Markdown: what was typed,
//! what was printed, how it ended. The pages are documentation. A test that makes
//! one compares it with the page that is checked in. `SNAPSHOTS=overwrite` rewrites
//! the pages.

use super::Scene;
use snapbox::{Assert, Data, Redactions, assert::Action};
use std::{
    fmt::Write as _,
    io::{self, Read, Write as _},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
};

/// A session in progress.
pub struct Session {
    name: &'static str,
    scene: Scene,
    page: String,
}

/// A command that runs in the background.
pub struct Background {
    child: Child,
    output: io::PipeReader,
    printed: String,
}

impl Session {
    /// Begins a page with its file name, its title, and what the gates do in it.
    #[track_caller]
    pub fn new(name: &'static str, what: &str, gates: &str) -> Self {
        let scene = Scene::with_tests(gates);
        // Built before the page begins, so that no output of the compiler is on it.
        let built = scene.run("list --workspace");
        assert!(built.code == Some(0) || built.code == Some(4), "{built}");
        let mut page =
            format!("# {what}\n\nThe tests of this session, and what they do:\n\n```text\n");
        for line in gates.lines().map(str::trim).filter(|line| !line.is_empty()) {
            page += line;
            page.push('\n');
        }
        page += "```\n";
        Self { name, scene, page }
    }

    /// Returns the workspace of this session.
    pub fn scene(&mut self) -> &mut Scene {
        &mut self.scene
    }

    /// Adds a sentence between commands.
    pub fn say(&mut self, text: &str) -> &mut Self {
        let _ = write!(self.page, "\n{text}\n");
        self
    }

    /// Changes what the gates do.
    pub fn gates(&mut self, gates: &str) -> &mut Self {
        self.scene.set("FAKE_GATE", gates);
        self
    }

    /// Types a command line after `cargo npugate` and keeps what it prints.
    pub fn run(&mut self, line: &str) -> &mut Self {
        let command = self.command(line);
        let (status, printed) = finish(start(command));
        self.keep(line, &printed, status);
        self
    }

    /// Does the same on a terminal, with these answers to the command's questions.
    #[cfg(unix)]
    pub fn run_on_terminal(&mut self, line: &str, answers: &[&str]) -> &mut Self {
        let command = self.command(line);
        // `script` emulates a terminal and is on every Debian. The words of this line
        // have no spaces.
        let words: Vec<_> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let mut terminal = Command::new("script");
        terminal.args(["--quiet", "--return", "--command", &words.join(" "), "/dev/null"]);
        let variables = command.get_envs();
        for (name, value) in variables {
            match value {
                Some(value) => terminal.env(name, value),
                None => terminal.env_remove(name),
            };
        }
        terminal.current_dir(self.scene.path("")).stdin(Stdio::piped());
        let mut background = start(terminal);
        let mut typed = background.child.stdin.take().unwrap();
        for answer in answers {
            background.wait_for("the rest) ");
            writeln!(typed, "{answer}").unwrap();
        }
        let (status, printed) = finish(background);
        drop(typed);
        self.keep(line, &printed.replace('\r', ""), status);
        self
    }

    /// Starts a command in the background and waits until it has printed a text.
    pub fn start(&mut self, line: &str, until: &str) -> Background {
        let mut background = start(self.command(line));
        background.wait_for(until);
        let _ = write!(self.page, "\n```console\n$ cargo npugate {line} &\n```\n");
        background
    }

    /// Waits for a command in the background and keeps what it printed.
    pub fn wait(&mut self, line: &str, background: Background) -> &mut Self {
        let (status, printed) = finish(background);
        self.keep(line, &printed, status);
        self
    }

    /// Shows the contents of a file.
    pub fn show(&mut self, path: &str) -> &mut Self {
        let text = self.scene.read(path);
        let _ = write!(self.page, "\n```console\n$ cat {path}\n{}\n```\n", text.trim_end());
        self
    }

    /// Writes a file, as the user would.
    pub fn write(&mut self, path: &str, text: &str) -> &mut Self {
        let to = self.scene.path(path);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, text).unwrap();
        let _ = write!(self.page, "\n`{path}`:\n\n```toml\n{}\n```\n", text.trim_end());
        self
    }

    /// Compares the page with the one that is checked in.
    pub fn finish(&self) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/sessions")
            .join(self.name)
            .with_extension("md");
        let mut redactions = Redactions::new();
        let workspace = self.scene.path("").display().to_string();
        redactions.insert("[WORKSPACE]", workspace.trim_end_matches('/').to_owned()).unwrap();
        let assert = Assert::new().action_env("SNAPSHOTS").redact_with(redactions);
        let page = self.page.replace(workspace.trim_end_matches('/'), "[WORKSPACE]");
        if std::env::var_os("SNAPSHOTS").is_some_and(|action| action == "overwrite") {
            let _ = Action::Overwrite;
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &page).unwrap();
        }
        assert.eq(page, Data::read_from(&path, None));
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.scene.command(words(line));
        command.env("NO_COLOR", "1");
        command
    }

    fn keep(&mut self, line: &str, printed: &str, status: ExitStatus) {
        let _ =
            write!(self.page, "\n```console\n{}\n", format!("$ cargo npugate {line}").trim_end());
        for line in printed.lines().filter(|line| !is_of_cargo(line)) {
            let _ = writeln!(self.page, "{}", settled(line).trim_end());
        }
        if let Some(code) = status.code().filter(|code| *code != 0) {
            let _ = writeln!(self.page, "[exit code {code}]");
        }
        self.page += "```\n";
    }
}

impl Background {
    /// Waits until the command has printed a text.
    pub fn wait_for(&mut self, text: &str) {
        let mut byte = [0];
        let mut bytes = Vec::new();
        while !String::from_utf8_lossy(&bytes).contains(text) {
            assert_eq!(self.output.read(&mut byte).unwrap(), 1, "{text} in {bytes:?}");
            bytes.push(byte[0]);
        }
        self.printed += &String::from_utf8(bytes).unwrap();
    }

    /// Asks the command to end, as a CI system does to cancel a job.
    pub fn terminate(&self) {
        let status = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
    }
}

/// Splits a line into words; text in single quotes is one word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Starts a command whose two streams go to one pipe, in the order of a terminal.
fn start(mut command: Command) -> Background {
    let (output, stdout) = io::pipe().unwrap();
    command.stderr(stdout.try_clone().unwrap()).stdout(stdout);
    let child = command.spawn().unwrap();
    Background { child, output, printed: String::new() }
}

fn finish(mut background: Background) -> (ExitStatus, String) {
    let mut rest = String::new();
    background.output.read_to_string(&mut rest).unwrap();
    (background.child.wait().unwrap(), background.printed + &rest)
}

/// Returns whether cargo printed this line about the build: those differ each time.
fn is_of_cargo(line: &str) -> bool {
    let starts =
        ["   Compiling ", "    Finished ", "  Executable ", "    Blocking waiting for file lock"];
    starts.iter().any(|start| line.starts_with(start))
}

/// Returns a line without what differs from run to run: times, process ids, the
/// profile that these tests build with.
fn settled(line: &str) -> String {
    // The width of a column of times depends on the times.
    let line = match line.split_once(" time  tightest") {
        Some((start, _)) => format!("{}  time  tightest", start.trim_end()),
        None => line.replace(" --cargo-profile dev", ""),
    };
    let mut settled = String::new();
    let mut rest = line.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = &rest[..at];
        let number_end = rest[at..]
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .map_or(rest.len(), |length| at + length);
        let (number, after) = (&rest[at..number_end], &rest[number_end..]);
        // A time is a number with a unit that is not part of a longer word.
        let unit = ["ms", " ms", " s", "s"].into_iter().find(|unit| {
            after
                .strip_prefix(unit)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        // A quoted number is not a measured time.
        let word = before
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '`' | '"'));
        let pid = before.ends_with("pid ");
        if pid {
            settled += before;
            settled += "[PID]";
            rest = after;
        } else if let Some(unit) = unit.filter(|_| !word) {
            let start = before.trim_end_matches(' ');
            rest = &after[unit.len()..];
            if let (Some(start), Some(end)) = (start.strip_suffix('['), rest.strip_prefix(']')) {
                (settled, rest) = (settled + start + "[TIME]", end);
            } else {
                let space = if start.len() < before.len() { " " } else { "" };
                settled = settled + start + space + "[TIME]";
            }
        } else {
            settled += before;
            settled += number;
            rest = after;
        }
    }
    settled + rest
}
