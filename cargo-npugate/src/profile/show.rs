//! A profile as TOML that can be read back, with a comment on where each value comes from.

use super::choice::{BaselineMode, MaxFail, Unreferenced};
use super::layer::Values;
use super::origin::{Found, Origin};
use super::resolved::{Profile, Settled};
use super::rule::{Override, WaiverRule};
use super::span::Span;
use crate::filter::Facts;
use crate::settings::TestSettings;
use npugate_schema::{FlakyResult, TimeLimits, format_duration};
use std::fmt::{Display, Write};
use std::time::Duration;
use toml::Value;

/// A key, its value or none if nothing sets it, and where it comes from.
struct Line {
    key: &'static str,
    value: Option<String>,
    comment: Option<String>,
    /// What the comment says if there is no value.
    unset: &'static str,
}

impl Line {
    fn new<T>(key: &'static str, found: Option<&Found<T>>, value: impl Fn(&T) -> String) -> Self {
        let comment = found.map(|found| found.origin.to_string());
        Self { key, value: found.map(|found| value(&found.value)), comment, unset: NOT_SET }
    }
}

impl Profile {
    /// The whole profile.
    pub fn show(&self) -> String {
        let mut text = String::new();
        let name = self.names.first().map_or("default", String::as_str);
        if let [_, parents @ ..] = self.names.as_slice()
            && !parents.is_empty()
        {
            push(&mut text, format_args!("# inherits {}", parents.join(", which inherits ")));
        }
        let profile = format!("profile.{}", key(name));
        push(&mut text, format_args!("[{profile}]"));
        lines(&mut text, &self.lines());
        for one in &self.overrides {
            push(&mut text, format_args!("\n[[{profile}.overrides]]"));
            lines(&mut text, &overriding(one));
        }
        for rule in &self.waivers {
            push(&mut text, format_args!("\n[[{profile}.waivers]]"));
            lines(&mut text, &waiver(rule));
        }
        text
    }

    fn lines(&self) -> Vec<Line> {
        let Values { lock, junit, results, .. } = &self.values;
        let Values { jobs, retries, flaky, slow, timeout, grace, lock_timeout, .. } = &self.values;
        let Values { max_fail, baseline, unreferenced, .. } = &self.values;
        let max_fail = match max_fail.as_deref() {
            Some(MaxFail::Never) => {
                Line::new("fail-fast", max_fail.as_ref(), |_| "false".to_owned())
            }
            _ => Line::new("max-fail", max_fail.as_ref(), |max| match max {
                MaxFail::After(n) => n.to_string(),
                MaxFail::Never => "0".to_owned(),
            }),
        };
        // Only the built-in settings are used here, not those that checks declare.
        let declared = TestSettings::from(TimeLimits::default());
        let grace = grace.clone().or_else(|| Span::new(declared.grace).map(Found::built_in));
        let path = |path: &std::path::PathBuf| string(&path.display());
        vec![
            Line::new("jobs", jobs.as_ref(), ToString::to_string),
            max_fail,
            Line::new(
                "retries",
                Some(&or(retries.as_ref(), declared.retries)),
                ToString::to_string,
            ),
            Line::new("flaky-result", Some(&or(flaky.as_ref(), declared.flaky)), |flaky| {
                result(*flaky)
            }),
            Line { unset: DECLARED, ..Line::new("slow", slow.as_ref(), string) },
            Line { unset: DECLARED, ..Line::new("timeout", timeout.as_ref(), string) },
            Line::new("grace", grace.as_ref(), string),
            Line::new("lock", lock.as_ref(), path),
            Line::new("lock-timeout", lock_timeout.as_ref(), string),
            Line::new("baseline", Some(&or(baseline.as_ref(), BaselineMode::default())), string),
            Line::new(
                "unreferenced",
                Some(&or(unreferenced.as_ref(), Unreferenced::default())),
                string,
            ),
            Line::new("junit", junit.as_ref(), path),
            Line::new("results", results.as_ref(), path),
        ]
    }
}

/// The comment on a setting that nothing sets.
const NOT_SET: &str = "is not set";
/// The comment on a limit that is left to the checks.
const DECLARED: &str = "is declared by each check";

fn or<T: Clone>(found: Option<&Found<T>>, built_in: T) -> Found<T> {
    found.cloned().unwrap_or_else(|| Found::built_in(built_in))
}

/// The settings of one test.
pub fn test(facts: &Facts<'_>, settled: &Settled<'_>) -> String {
    let span = |duration: &Duration| string(&format_duration(*duration));
    let mut text = String::new();
    push(&mut text, "[[test]]");
    push(&mut text, format_args!("model = {}", string(facts.model)));
    push(&mut text, format_args!("name = {}", string(&facts.test.name)));
    lines(
        &mut text,
        &[
            Line::new("slow", Some(&settled.slow), span),
            Line::new("timeout", Some(&settled.timeout), span),
            Line::new("grace", Some(&settled.grace), span),
            Line::new("retries", Some(&settled.retries), ToString::to_string),
            Line::new("flaky-result", Some(&settled.flaky), |flaky| result(*flaky)),
        ],
    );
    for rule in &settled.waivers {
        push(&mut text, "\n[[test.waivers]]");
        lines(&mut text, &waiver(rule));
    }
    text
}

fn overriding(one: &Override) -> Vec<Line> {
    let settings = [
        one.slow.as_ref().map(|slow| Line::new("slow", Some(slow), string)),
        one.timeout.as_ref().map(|timeout| Line::new("timeout", Some(timeout), string)),
        one.grace.as_ref().map(|grace| Line::new("grace", Some(grace), string)),
        one.retries
            .as_ref()
            .map(|retries| Line::new("retries", Some(retries), ToString::to_string)),
        one.flaky.as_ref().map(|flaky| Line::new("flaky-result", Some(flaky), |one| result(*one))),
    ];
    let filter = stated("filter", string(&one.filter), &one.origin);
    [filter].into_iter().chain(settings.into_iter().flatten()).collect()
}

fn waiver(rule: &WaiverRule) -> Vec<Line> {
    let WaiverRule { filter, origin, waiver } = rule;
    // All the lines come from one place.
    let line = |key, value| Line { key, value: Some(value), comment: None, unset: NOT_SET };
    vec![
        stated("filter", string(filter), origin),
        line("metric", string(&waiver.metric)),
        line("limit", Value::Float(waiver.limit).to_string()),
        line("reason", string(&waiver.reason)),
        line("expires", waiver.expires.to_string()),
    ]
}

fn stated(key: &'static str, value: String, origin: &Origin) -> Line {
    Line { key, value: Some(value), comment: Some(origin.to_string()), unset: NOT_SET }
}

/// Writes values with their comments in one column. The line of a value that is not set
/// is a comment.
fn lines(text: &mut String, lines: &[Line]) {
    /// Longer lines do not move the column.
    const WIDEST: usize = 40;
    let written: Vec<_> = lines
        .iter()
        .map(|Line { key, value, unset, .. }| match value {
            Some(value) => format!("{key} = {value}"),
            None => format!("# {key} {unset}"),
        })
        .collect();
    let commented = written.iter().zip(lines).filter(|(_, line)| line.comment.is_some());
    let widths = commented.map(|(written, _)| written.chars().count());
    let width = widths.filter(|&width| width <= WIDEST).max().unwrap_or(0);
    for (written, line) in written.iter().zip(lines) {
        match &line.comment {
            Some(comment) => push(text, format_args!("{written:width$}  # {comment}")),
            None => push(text, written),
        }
    }
}

fn push(text: &mut String, line: impl Display) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

/// A TOML string, on one line.
fn string<T: Display + ?Sized>(text: &T) -> String {
    // TOML's basic strings escape as JSON does.
    Value::String(text.to_string().replace('\n', " ")).to_string()
}

/// A TOML key, quoted if necessary.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { string(name) }
}

fn result(flaky: FlakyResult) -> String {
    string(match flaky {
        FlakyResult::Fail => "fail",
        FlakyResult::Pass => "pass",
    })
}
