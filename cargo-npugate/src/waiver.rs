//! A limit that is loosened for a test, with a written reason and for a limited time. It
//! turns a failure into *waived*, but nothing else: a crash, a test that cannot judge and a
//! test that got worse than its baseline keep their outcome.

use crate::text::{self, number};
use jiff::civil::Date;
use npugate_schema::{Direction, Metric, Outcome, Record};
use std::fmt;

/// A limit that is loosened for a test, with a written reason and for a limited time.
#[derive(Clone, PartialEq, Debug)]
pub struct Waiver {
    /// The metric's key.
    pub metric: String,
    /// The limit that replaces the gate's own.
    pub limit: f64,
    /// Why the failure is waived.
    pub reason: String,
    /// The last day on which the waiver applies.
    pub expires: Date,
}

/// What the user should know about a waiver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WaiverNote {
    /// The test passed without the waiver.
    Needless { test: String, metric: String },
    /// The test does not measure the metric.
    NoSuchMetric { test: String, metric: String, hint: String },
}

impl Waiver {
    /// Whether it applies on a day.
    fn holds(&self, today: Date) -> bool {
        today <= self.expires
    }

    /// Whether a value that breaks the gate's limit is within this one. Written so that NaN
    /// never is.
    fn covers(&self, metric: &Metric) -> bool {
        match metric.direction {
            Direction::Lower => metric.value <= self.limit,
            Direction::Higher => metric.value >= self.limit,
            Direction::Neutral => false,
        }
    }
}

/// Applies the waivers of a test to its record: a failure becomes waived if all its broken
/// metrics are within waivers that apply. Returns notes on waivers that have no use.
pub fn apply(record: &mut Record, waivers: &[Waiver], today: Date) -> Vec<WaiverNote> {
    match record.outcome {
        Outcome::Failed => {
            waive(record, waivers, today);
            Vec::new()
        }
        Outcome::Passed => waivers.iter().map(|waiver| needless(record, waiver)).collect(),
        _ => Vec::new(),
    }
}

fn waive(record: &mut Record, waivers: &[Waiver], today: Date) {
    let broken: Vec<_> = record.metrics.iter().filter(|metric| !metric.within_limit()).collect();
    let of = |metric: &Metric| {
        let key = metric.key();
        waivers.iter().filter(move |waiver| waiver.metric == key)
    };
    let holding =
        |metric: &Metric| of(metric).find(|waiver| waiver.holds(today) && waiver.covers(metric));
    let held: Option<Vec<_>> =
        broken.iter().map(|metric| Some((*metric, holding(metric)?))).collect();
    match held.as_deref() {
        // A failure without a broken metric is not the failure of a limit.
        Some([]) => {}
        Some(held) => {
            let verdicts = held.iter().map(|(metric, waiver)| waived(metric, waiver));
            let verdict = verdicts.collect::<Vec<_>>().join("; ");
            let mut reasons: Vec<_> = held.iter().map(|(_, waiver)| &*waiver.reason).collect();
            reasons.dedup();
            record.outcome = Outcome::Waived { reason: reasons.join("; ") };
            record.verdict = verdict;
        }
        None => {
            let unheld = broken.iter().filter(|metric| holding(metric).is_none());
            let whys: Vec<_> = unheld
                .flat_map(|metric| of(metric).map(|waiver| why_not(metric, waiver, today)))
                .collect();
            for why in whys {
                record.verdict += "; ";
                record.verdict += &why;
            }
        }
    }
}

/// `R_p95 4.31 > 3, waived up to 4.5 until 2027-01-31`.
fn waived(metric: &Metric, waiver: &Waiver) -> String {
    let (sign, to) = match metric.direction {
        Direction::Higher => ("<", "down to"),
        Direction::Lower | Direction::Neutral => (">", "up to"),
    };
    let limit = metric.limit.map_or_else(String::new, |limit| format!(" {sign} {}", number(limit)));
    let (key, value) = (metric.key(), number(metric.value));
    format!("{key} {value}{limit}, waived {to} {} until {}", number(waiver.limit), waiver.expires)
}

/// Why a waiver does not apply to a metric.
fn why_not(metric: &Metric, waiver: &Waiver, today: Date) -> String {
    let Waiver { metric: key, limit, expires, .. } = waiver;
    if waiver.holds(today) {
        let (value, limit) = (number(metric.value), number(*limit));
        return format!("the waiver of {key} allows {limit}, not {value}");
    }
    // The day after the last one.
    let since = expires.tomorrow().unwrap_or(*expires);
    format!("the waiver of {key} has been expired since {since}")
}

fn needless(record: &Record, waiver: &Waiver) -> WaiverNote {
    let (test, metric) = (record.name.clone(), waiver.metric.clone());
    let keys: Vec<_> = record.metrics.iter().map(Metric::key).collect();
    if keys.contains(&metric) {
        return WaiverNote::Needless { test, metric };
    }
    let hint = text::did_you_mean(&metric, keys.iter().map(String::as_str)).unwrap_or_default();
    WaiverNote::NoSuchMetric { test, metric, hint }
}

impl fmt::Display for WaiverNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Needless { test, metric } => {
                write!(f, "{test} passes without its waiver of {metric}: remove the waiver")
            }
            Self::NoSuchMetric { test, metric, hint } => {
                write!(f, "{test} has a waiver of {metric}, which it does not measure{hint}")
            }
        }
    }
}

#[cfg(test)]
#[path = "waiver_tests.rs"]
mod tests;
