//! What a filter expression is matched against.

use npugate_schema::{Attribute, ListedTest};

/// What is known about a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts<'a> {
    /// Its model.
    pub model: &'a str,
    /// Its adapter's package.
    pub package: &'a str,
    /// The test as its gate lists it.
    pub test: &'a ListedTest,
}

impl<'a> Facts<'a> {
    /// Its phase: the first segment of its name.
    pub fn kind(&self) -> &'a str {
        self.test.name.split("::").next().unwrap_or_default()
    }

    /// An attribute that is text.
    pub fn text(&self, attribute: &str) -> Option<&'a str> {
        match self.test.attributes.get(attribute)? {
            Attribute::Text(text) => Some(text),
            Attribute::Number(_) => None,
        }
    }

    /// An attribute that is a number.
    pub fn number(&self, attribute: &str) -> Option<u64> {
        match self.test.attributes.get(attribute)? {
            Attribute::Number(number) => Some(*number),
            Attribute::Text(_) => None,
        }
    }
}
