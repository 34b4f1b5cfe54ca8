//! What a profile says about the tests that match an expression.

use super::origin::{Found, Origin};
use super::span::Span;
use crate::filter::{Expression, Facts};
use crate::waiver::Waiver;
use npugate_schema::FlakyResult;
use std::fmt;

/// Settings for some tests.
#[derive(Clone, PartialEq, Debug)]
pub struct Override {
    /// Selects the tests.
    pub filter: Expression,
    /// Where the override comes from.
    pub origin: Origin,
    /// How long a test may run before it is reported as slow.
    pub slow: Option<Found<Span>>,
    /// How long a test may run before it is terminated.
    pub timeout: Option<Found<Span>>,
    /// How long a test that is terminated has to end by itself before it is killed.
    pub grace: Option<Found<Span>>,
    /// How often a failing test is retried.
    pub retries: Option<Found<u32>>,
    /// How to count a test that fails and then passes on a retry.
    pub flaky: Option<Found<FlakyResult>>,
}

/// A limit that is waived for some tests.
#[derive(Clone, PartialEq, Debug)]
pub struct WaiverRule {
    /// Selects the tests.
    pub filter: Expression,
    /// Where the rule comes from.
    pub origin: Origin,
    /// What is waived.
    pub waiver: Waiver,
}

/// A rule that matches no test of a full run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unmatched {
    /// The rule, as the subject of a sentence.
    rule: String,
    /// Its expression.
    filter: String,
    /// Its place in the file.
    place: String,
    /// Why it matches no test, if its expression asks for what no test has.
    reason: Option<String>,
}

impl Override {
    /// A note on this rule, if it matches none of the tests of a full run.
    pub fn unmatched(&self, facts: &[Facts<'_>]) -> Option<Unmatched> {
        unmatched("an override".to_owned(), &self.filter, &self.origin, facts)
    }
}

impl WaiverRule {
    /// A note on this rule, if it matches none of the tests of a full run.
    pub fn unmatched(&self, facts: &[Facts<'_>]) -> Option<Unmatched> {
        unmatched(format!("a waiver of {}", self.waiver.metric), &self.filter, &self.origin, facts)
    }
}

fn unmatched(
    rule: String,
    filter: &Expression,
    origin: &Origin,
    facts: &[Facts<'_>],
) -> Option<Unmatched> {
    if facts.iter().any(|facts| filter.matches(facts)) {
        return None;
    }
    let reason = filter.check(facts.iter().copied()).err().map(|error| error.message);
    Some(Unmatched { rule, filter: filter.to_string(), place: origin.to_string(), reason })
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, filter, place, reason } = self;
        write!(f, "{rule} for `{filter}` matches no test ({place})")?;
        reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}
