//! Words and numbers for people.

pub use npugate_schema::format_number as number;
use std::{ffi::OsStr, fmt, process::ExitStatus, time::Duration};

/// `1 test`, `2 tests`.
pub fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// `0.012s`, `3.4s`, `2m05s`.
pub fn duration(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{seconds:.3}s")
    } else if seconds < 60.0 {
        format!("{seconds:.1}s")
    } else {
        let whole = Duration::from_secs_f64(seconds.min(1e9)).as_secs();
        format!("{}m{:02}s", whole / 60, whole % 60)
    }
}

/// A size in decimal units, as is usual for downloads: `98.4 MB`.
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..1_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.2} GB", n as f64 / 1e9),
    }
}

/// A share of the allowed error: `41 %`, `< 1 %`.
pub fn share(used: f64) -> String {
    let percent = used * 100.0;
    if !percent.is_finite() {
        "beyond 100 %".to_owned()
    } else if percent > 0.0 && percent < 1.0 {
        "< 1 %".to_owned()
    } else {
        format!("{percent:.0} %")
    }
}

/// `signal 11 (SIGSEGV)` or `exit status 3`.
pub fn exit_status(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal_name(signal) {
            Some(name) => format!("signal {signal} ({name})"),
            None => format!("signal {signal}"),
        };
    }
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "an unknown exit status".to_owned(),
    }
}

#[cfg(unix)]
fn signal_name(signal: i32) -> Option<&'static str> {
    // Signals that programs die of and that have the same number on Linux and macOS.
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return None,
    })
}

/// The last line that is not empty.
pub fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty())
}

/// At most `most` lines of the end of a text, without empty lines around them.
pub fn last_lines(text: &str, most: usize) -> Vec<&str> {
    let lines: Vec<_> = text.trim_start_matches(['\n', '\r']).trim_end().lines().collect();
    lines[lines.len().saturating_sub(most)..].to_vec()
}

/// Lines of another program's output, marked as such.
pub fn quoted(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| ["| ", line, "\n"]).collect()
}

/// An error message without its `error: ` prefix.
pub fn without_error_prefix(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("error: ").or_else(|| text.strip_prefix("Error: ")).unwrap_or(text)
}

/// The first `length` characters, and `...` if there are more.
pub fn ellipsis(text: &str, length: usize) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(length).collect();
    if characters.next().is_some() { start + "..." } else { start }
}

/// A line that fits into `width` columns, cut with `...` if necessary.
pub fn fit(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    ellipsis(line, width.saturating_sub(3))
}

/// `; did you mean ...?` with the nearest known word, if one is near.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<_> = known.into_iter().collect();
    let close = similar::get_close_matches(word, &known, 1, 0.6);
    close.first().map(|close| format!("; did you mean `{close}`?"))
}

/// Known words, with those that are similar to a word first.
pub fn nearest_first<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let known: Vec<_> = known.into_iter().collect();
    let mut nearest = similar::get_close_matches(word, &known, known.len(), 0.3);
    let others: Vec<_> = known.into_iter().filter(|one| !nearest.contains(one)).collect();
    nearest.extend(others);
    nearest
}

/// `a, b or c`.
pub fn one_of<T: fmt::Display>(words: impl IntoIterator<Item = T>) -> String {
    let mut words: Vec<_> = words.into_iter().map(|word| word.to_string()).collect();
    match (words.pop(), words.as_slice()) {
        (None, _) => String::new(),
        (Some(last), []) => last,
        (Some(last), others) => format!("{} or {last}", others.join(", ")),
    }
}

/// A paragraph in lines of `width` columns, with one prefix for the first line and one for
/// the others. A word that is too long has its own line.
pub fn wrap(paragraph: &str, width: usize, first: &str, others: &str) -> String {
    let (mut text, mut line) = (String::new(), first.to_owned());
    let mut is_empty = true;
    for word in paragraph.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            text += &line;
            text.push('\n');
            others.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    text + &line + "\n"
}

/// A word that a shell can read back, quoted if necessary.
pub fn shell_word(word: &str) -> impl fmt::Display + '_ {
    struct Word<'a>(&'a str);
    impl fmt::Display for Word<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@".contains(c);
            if !self.0.is_empty() && self.0.chars().all(plain) {
                f.write_str(self.0)
            } else {
                write!(f, "'{}'", self.0.replace('\'', r"'\''"))
            }
        }
    }
    Word(word)
}

/// The line of a command, without quotes around words that contain spaces.
pub fn command(command: &std::process::Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_read_well() {
        assert_eq!([0.012, 3.42, 125.2].map(duration), ["0.012s", "3.4s", "2m05s"]);
        assert_eq!(
            [12, 9_800, 98_400_000, 2_350_000_000].map(bytes),
            ["12 B", "9.8 kB", "98.4 MB", "2.35 GB"]
        );
        assert_eq!(
            [0.0, 0.004, 0.41, f64::INFINITY].map(share),
            ["0 %", "< 1 %", "41 %", "beyond 100 %"]
        );
        assert_eq!((count(1, "test"), count(2, "test")), ("1 test".into(), "2 tests".into()));
    }

    #[test]
    fn the_end_of_an_output_has_no_empty_lines_around_it() {
        assert_eq!(last_lines("\na\n\nb\nc\n\n", 3), ["", "b", "c"]);
        assert_eq!(last_lines("\n \n", 3), [""; 0]);
        assert_eq!(quoted(&["a", ""]), "| a\n| \n");
    }

    #[test]
    fn words_are_quoted_for_the_shell_when_needed() {
        assert_eq!(shell_word("kernel::gemm::1x2").to_string(), "kernel::gemm::1x2");
        assert_eq!(shell_word("it's").to_string(), r"'it'\''s'");
        assert_eq!(shell_word("").to_string(), "''");
    }

    #[test]
    fn a_similar_word_is_suggested_and_others_are_not() {
        let known = ["model", "package"];
        assert_eq!(did_you_mean("mdel", known).as_deref(), Some("; did you mean `model`?"));
        assert_eq!(did_you_mean("xyz", known), None);
        assert_eq!(nearest_first("softmx", ["gemm", "softmax"]), ["softmax", "gemm"]);
        assert_eq!([one_of(["a"]), one_of(["a", "b", "c"])], ["a", "a, b or c"]);
    }

    #[test]
    fn long_text_is_cut_with_an_ellipsis() {
        assert_eq!(ellipsis("abcdef", 3), "abc...");
        assert_eq!(ellipsis("abc", 3), "abc");
        assert_eq!([fit("abcdef", 5), fit("abcde", 5)], ["ab...", "abcde"]);
    }

    #[test]
    fn paragraphs_are_wrapped_at_words() {
        assert_eq!(wrap("- one two three", 9, "", "  "), "- one two\n  three\n");
        assert_eq!(wrap("a verylongword b", 6, "", ""), "a\nverylongword\nb\n");
        assert_eq!(wrap("", 10, "  ", ""), "  \n");
    }
}
