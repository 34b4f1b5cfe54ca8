//! Pending changes as tables, a diff, and JSON.

use super::{Change, PendingFile};
use crate::report::table::{Align, Table};
use crate::text::number;
use npugate_schema::{Baseline, BaselineValue};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// A table of changes: old and new values, and the worst value that is allowed.
pub fn table<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Table {
    let left = ["test", "metric"].map(|name| (name, Align::Left));
    let right = ["old", "new", "allowed"].map(|name| (name, Align::Right));
    let columns = left.into_iter().chain(right).chain([("", Align::Left)]);
    let mut table = Table::new(columns);
    for change in changes {
        for (index, metric) in change.metrics.iter().enumerate() {
            let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
            table.row(vec![
                if index == 0 { change.test.clone() } else { String::new() },
                metric.metric.clone(),
                value(metric.old),
                value(metric.new),
                value(metric.allowed),
                metric.standing.to_owned(),
            ]);
        }
    }
    table
}

/// A line of a diff.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiffLine {
    /// Which side of the diff it is on.
    pub tag: ChangeTag,
    /// The line, with its sign.
    pub text: String,
}

/// The diff of two baselines' files, with a line of context on either side.
pub fn diff(old: &Baseline, new: &Baseline) -> Vec<DiffLine> {
    let text = |baseline: &Baseline| baseline.to_text().unwrap_or_default();
    let (old, new) = (text(old), text(new));
    let diff = TextDiff::from_lines(&old, &new);
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(1).iter().enumerate() {
        if index > 0 {
            lines.push(DiffLine { tag: ChangeTag::Equal, text: "   ...".to_owned() });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let line = change.value().trim_end_matches('\n');
            lines.push(DiffLine { tag: change.tag(), text: format!("{sign} {line}") });
        }
    }
    lines
}

/// Pending changes for people.
pub fn human(files: &[(PendingFile, Vec<Change>)]) -> String {
    let one = |(file, changes): &(PendingFile, Vec<Change>)| {
        format!("{}\n{}", title(file), table(changes))
    };
    files.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// The model, device and path of a pending file.
pub fn title(file: &PendingFile) -> String {
    let Baseline { model, device, .. } = &file.baseline;
    format!("{model} on {device}: {}", file.path.display())
}

/// Pending changes for programs.
#[derive(Serialize)]
pub struct Pending<'a> {
    model: &'a str,
    device: &'a str,
    baseline: String,
    changes: Vec<PendingChange<'a>>,
}

#[derive(Serialize)]
struct PendingChange<'a> {
    test: &'a str,
    metrics: Vec<PendingMetric<'a>>,
}

#[derive(Serialize)]
struct PendingMetric<'a> {
    metric: &'a str,
    old: Option<BaselineValue>,
    new: Option<BaselineValue>,
    allowed: Option<BaselineValue>,
    standing: &'a str,
}

impl<'a> Pending<'a> {
    /// The pending changes of one file.
    pub fn new(file: &'a PendingFile, changes: &'a [Change]) -> Self {
        let changes = changes.iter().map(|change| PendingChange {
            test: &change.test,
            metrics: change
                .metrics
                .iter()
                .map(|metric| PendingMetric {
                    metric: &metric.metric,
                    old: metric.old.map(BaselineValue),
                    new: metric.new.map(BaselineValue),
                    allowed: metric.allowed.map(BaselineValue),
                    standing: metric.standing,
                })
                .collect(),
        });
        Self {
            model: &file.baseline.model,
            device: &file.baseline.device,
            baseline: file.path.display().to_string(),
            changes: changes.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::pending::MetricChange;

    #[test]
    fn a_table_shows_the_worst_value_that_is_allowed() {
        let metric = |name: &str, old, allowed, standing| MetricChange {
            metric: name.into(),
            old,
            new: Some(0.9999),
            allowed,
            standing,
        };
        let change = Change {
            test: "block::layer00::cosine".into(),
            metrics: vec![
                metric("cosine", Some(0.999), Some(0.9985), "better"),
                metric("min", None, None, "new"),
            ],
        };
        assert_eq!(
            table([&change]).to_string(),
            "\
test                    metric    old     new  allowed
block::layer00::cosine  cosine  0.999  0.9999   0.9985  better
                        min         -  0.9999        -  new
"
        );
    }

    #[test]
    fn a_diff_shows_changes_with_a_line_of_context() {
        let mut old = Baseline::empty("tiny", "emu");
        for test in ["a", "b", "c", "d"] {
            let values = [("cosine".to_owned(), BaselineValue(0.5))].into();
            old.tests.insert(test.into(), values);
        }
        let mut new = old.clone();
        new.tests.get_mut("b").unwrap().insert("cosine".into(), BaselineValue(0.75));
        let lines: Vec<_> = diff(&old, &new).into_iter().map(|line| line.text).collect();
        assert_eq!(
            lines,
            ["      \"b\": {", "-       \"cosine\": 0.5", "+       \"cosine\": 0.75", "      },"]
        );
    }
}
