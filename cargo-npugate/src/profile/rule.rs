//! What a profile says of the tests that an expression describes.

use super::origin::{Found, Origin};
use super::span::Span;
use crate::filter::Expression;
use crate::waiver::Waiver;
use npugate_schema::FlakyResult;

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
