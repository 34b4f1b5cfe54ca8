//! What a profile says of the tests that an expression describes.

use super::origin::{Found, Origin};
use super::span::Span;
use crate::filter::{Expression, Facts};
use crate::waiver::Waiver;
use npugate_schema::FlakyResult;
use std::fmt;

/// Settings of some tests.
#[derive(Clone, PartialEq, Debug)]
pub struct Override {
    /// The tests.
    pub filter: Expression,
    /// Where it stands.
    pub origin: Origin,
    /// After this long a test is named as slow.
    pub slow: Option<Found<Span>>,
    /// After this long a test is ended.
    pub timeout: Option<Found<Span>>,
    /// How long a test that is ended has to end by itself.
    pub grace: Option<Found<Span>>,
    /// How often a test that does not pass is run again.
    pub retries: Option<Found<u32>>,
    /// What a test counts as that failed and then passed.
    pub flaky: Option<Found<FlakyResult>>,
}

/// A limit that is waived for some tests.
#[derive(Clone, PartialEq, Debug)]
pub struct WaiverRule {
    /// The tests.
    pub filter: Expression,
    /// Where it stands.
    pub origin: Origin,
    /// What is waived.
    pub waiver: Waiver,
}

/// A rule that is for no test of a full run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unmatched {
    /// The rule, for a sentence.
    rule: String,
    /// Its tests.
    filter: String,
    /// Where it stands.
    place: String,
    /// Why it is for none, if its filter asks for what no test has.
    reason: Option<String>,
}

impl Override {
    /// This, if it is for none of the tests of a full run.
    pub fn unmatched(&self, facts: &[Facts<'_>]) -> Option<Unmatched> {
        unmatched("an override".to_owned(), &self.filter, &self.origin, facts)
    }
}

impl WaiverRule {
    /// This, if it is for none of the tests of a full run.
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
        write!(f, "no test is left of {rule} for `{filter}` ({place})")?;
        reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}
