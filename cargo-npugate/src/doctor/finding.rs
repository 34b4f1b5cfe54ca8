//! The result of a check.

use npugate_schema::Health;

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// How well it is.
    pub health: Health,
    /// The finding, as a sentence.
    pub text: String,
    /// The facts behind the finding.
    pub evidence: Vec<String>,
    /// What to do.
    pub fix: Option<String>,
}

impl Finding {
    /// A finding that all is well.
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(Health::Ok, text, None)
    }

    /// The check does not apply here.
    pub fn not_applicable(text: impl Into<String>) -> Self {
        Self::new(Health::NotApplicable, text, None)
    }

    /// It works, but could be better.
    pub fn warning(text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(Health::Warning, text, Some(fix.into()))
    }

    /// It prevents the device from running.
    pub fn problem(text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(Health::Problem, text, Some(fix.into()))
    }

    /// It could not be determined; `fix` says how to do so.
    pub fn unknown(text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(Health::Unknown, text, Some(fix.into()))
    }

    /// Adds evidence.
    pub fn with(mut self, evidence: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.evidence.extend(evidence.into_iter().map(Into::into));
        self
    }

    fn new(health: Health, text: impl Into<String>, fix: Option<String>) -> Self {
        Self { health, text: text.into(), evidence: Vec::new(), fix }
    }
}
