//! The findings as text.

use crate::shell::Tone;
use crate::text;
use anstyle::Style;
use npugate_schema::{Examination, Examined, Health, NpuReport};
use std::fmt::Write;

/// The width of the text if it does not go to a terminal.
const WIDTH: usize = 100;
/// The indent of text below a finding: to where the finding begins.
const INDENT: &str = "             ";
/// The indent of its second and later lines.
const HANGING: &str = "               ";

/// How much is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// Evidence and fixes of what is wrong.
    OfFaults,
    /// Evidence and sources of everything.
    All,
}

/// A block for each check: its health, what was found, and what to do. Checks that do not
/// apply for the same reason share a block.
pub fn text(examination: &Examination, detail: Detail, width: Option<usize>) -> String {
    let width = width.unwrap_or(WIDTH).clamp(60, WIDTH);
    let mut text = String::new();
    let mut rest = examination.checks.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let same = |other: &&Examined| {
            first.health == Health::NotApplicable
                && (other.health, &other.finding) == (first.health, &first.finding)
        };
        let alike = after.iter().take_while(same).count();
        let names: Vec<_> = rest[..=alike].iter().map(|examined| &*examined.check).collect();
        block(&mut text, first, &names.join(", "), detail, width);
        rest = &after[alike..];
    }
    text
}

fn block(text: &mut String, examined: &Examined, names: &str, detail: Detail, width: usize) {
    let (label, style) = label(examined.health);
    let finding = text::wrap(&format!("{names}: {}", examined.finding), width, INDENT, HANGING);
    // The label takes the place of the first line's indent.
    let finding = finding.get(INDENT.len()..).unwrap_or_default();
    let _ = write!(text, "{style}{label:>12}{style:#} {finding}");
    let faulty = !matches!(examined.health, Health::Ok | Health::NotApplicable);
    let mut item = |word: &str, what: &str| {
        *text += &text::wrap(&format!("{word}: {what}"), width, INDENT, HANGING);
    };
    if faulty || detail == Detail::All {
        for evidence in &examined.evidence {
            item("seen", evidence);
        }
    }
    if let Some(fix) = &examined.fix {
        item("fix", fix);
    }
    if detail == Detail::All {
        item("known from", &examined.sources.join(", "));
    }
}

fn label(health: Health) -> (&'static str, Style) {
    match health {
        Health::Ok => ("ok", Tone::Good.style()),
        Health::Warning => ("warning", Tone::Odd.style()),
        Health::Problem => ("problem", Tone::Bad.style()),
        Health::Unknown => ("unknown", Tone::Info.style()),
        Health::NotApplicable => ("n/a", Style::new()),
    }
}

/// The number of checks by health, in one line, and where to begin.
pub fn summary(examination: &Examination) -> String {
    let mut counts = Vec::new();
    let count = |health| examination.count(health);
    for (health, word) in [(Health::Problem, "problem"), (Health::Warning, "warning")] {
        if count(health) > 0 {
            counts.push(text::count(count(health), word));
        }
    }
    for (health, words) in [
        (Health::Ok, "ok"),
        (Health::Unknown, "unknown"),
        (Health::NotApplicable, "not applicable"),
    ] {
        if count(health) > 0 {
            counts.push(format!("{} {words}", count(health)));
        }
    }
    let mut line =
        format!("{}: {}", text::count(examination.checks.len(), "check"), counts.join(", "));
    let is_problem = |examined: &&Examined| examined.health == Health::Problem;
    if let Some(first) = examination.checks.iter().find(is_problem)
        && count(Health::Problem) > 1
    {
        let _ = write!(line, "; begin with {}, since the others may follow from it", first.check);
    }
    line
}

/// A line for each fact of an NPU.
pub fn device_text(npu: &NpuReport) -> String {
    let unknown = || "unknown: run `xrt-smi examine` to see it".to_owned();
    let or_unknown = |value: &Option<String>| value.clone().unwrap_or_else(unknown);
    let number = |value: Option<u32>| value.map_or_else(unknown, |n| n.to_string());
    let driver = match (&npu.driver, &npu.driver_version, &npu.driver_interface) {
        (None, _, _) => "none: run `cargo npugate doctor` to see why".to_owned(),
        (Some(driver), version, interface) => {
            let version = version.as_ref().map(|version| format!(" {version}"));
            let interface = interface.as_ref().map(|of| format!(", interface {of}"));
            format!("{driver}{}{}", version.unwrap_or_default(), interface.unwrap_or_default())
        }
    };
    let xrt = npu.xrt.clone().unwrap_or_else(|| "not found".to_owned());
    let node = npu.node.clone().unwrap_or_else(|| "none".to_owned());
    let lock =
        npu.holder.as_ref().map_or_else(|| "free".to_owned(), |who| format!("held by {who}"));
    let facts = [
        ("name", or_unknown(&npu.name)),
        ("address", format!("{} ({} revision {})", npu.address, npu.pci_id, npu.revision)),
        ("generation", or_unknown(&npu.generation)),
        ("architecture", or_unknown(&npu.architecture)),
        ("columns", number(npu.columns)),
        ("contexts", number(npu.contexts)),
        ("node", node),
        ("firmware", or_unknown(&npu.firmware)),
        ("driver", driver),
        ("kernel", or_unknown(&npu.kernel)),
        ("XRT", xrt),
        ("power mode", or_unknown(&npu.power_mode)),
        ("lock", lock),
    ];
    let mut text = String::new();
    for (name, value) in facts {
        let _ = writeln!(text, "{name:<12}  {value}");
    }
    text
}
