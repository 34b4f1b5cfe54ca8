//! What a check found.

use npugate_schema::Health;

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// How it is.
    pub health: Health,
    /// In a sentence.
    pub text: String,
    /// What that was seen in.
    pub evidence: Vec<String>,
    /// What to do.
    pub fix: Option<String>,
}

impl Finding {
    /// All is well.
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(Health::Ok, text, None)
    }

    /// It does not matter here.
    pub fn not_applicable(text: impl Into<String>) -> Self {
        Self::new(Health::NotApplicable, text, None)
    }

    /// It could be better.
    pub fn warning(text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(Health::Warning, text, Some(fix.into()))
    }

    /// It keeps the device from running.
    pub fn problem(text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(Health::Problem, text, Some(fix.into()))
    }

    /// It could not be found out, and how it could be.
    pub fn unknown(text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(Health::Unknown, text, Some(fix.into()))
    }

    /// The same with a piece of evidence, if there is any.
    pub fn with(mut self, evidence: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.evidence.extend(evidence.into_iter().map(Into::into));
        self
    }

    fn new(health: Health, text: impl Into<String>, fix: Option<String>) -> Self {
        Self { health, text: text.into(), evidence: Vec::new(), fix }
    }
}
