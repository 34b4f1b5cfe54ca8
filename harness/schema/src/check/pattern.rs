//! The pattern of the names of a check's tests, from which they are made and by which they
//! are recognised.

/// The pattern of the names of a check's tests: a text with at most one part in braces,
/// which differs from test to test.
///
/// - `{layer}` is a layer's index, in two digits or more;
/// - `{one|another}` is one of these words;
/// - any other word in braces, such as `{prompt}`, stands for any text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern(&'static str);

/// The parts of a pattern.
struct Parts {
    before: &'static str,
    /// What is in the braces.
    part: &'static str,
    after: &'static str,
}

impl Pattern {
    pub(super) const fn new(pattern: &'static str) -> Self {
        Self(pattern)
    }

    /// The pattern as it is written: `block::layer{layer}::injected`.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// The name of the test with `part` in place of the braces; the pattern itself if it has
    /// no braces.
    pub fn test(self, part: &str) -> String {
        match self.parts() {
            Some(Parts { before, after, .. }) => format!("{before}{part}{after}"),
            None => self.0.to_owned(),
        }
    }

    /// The name of the test of a layer.
    pub fn layer(self, layer: usize) -> String {
        self.test(&format!("{layer:02}"))
    }

    /// Whether a test of this name belongs to the check.
    pub fn matches(self, test: &str) -> bool {
        let Some(Parts { before, part, after }) = self.parts() else { return test == self.0 };
        let found = test.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        found.is_some_and(|found| match part {
            "layer" => found.len() >= 2 && found.bytes().all(|byte| byte.is_ascii_digit()),
            words if words.contains('|') => words.split('|').any(|word| word == found),
            _ => !found.is_empty(),
        })
    }

    /// Whether a part of it stands for any text.
    pub(super) fn is_open(self) -> bool {
        self.parts().is_some_and(|parts| parts.part != "layer" && !parts.part.contains('|'))
    }

    fn parts(self) -> Option<Parts> {
        let (before, rest) = self.0.split_once('{')?;
        let (part, after) = rest.split_once('}')?;
        Some(Parts { before, part, after })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_and_recognised_by_the_same_pattern() {
        let layers = Pattern::new("block::layer{layer}::finite");
        assert_eq!(layers.layer(7), "block::layer07::finite");
        assert_eq!(layers.layer(107), "block::layer107::finite");
        assert!(layers.matches("block::layer07::finite"));
        assert!(!layers.matches("block::layer7::finite"));
        assert!(!layers.matches("block::layer::finite"));
        let words = Pattern::new("logits::{prefill|decode}");
        assert!(words.matches(&words.test("decode")));
        assert!(!words.matches("logits::decoded") && !words.matches("logits::prefill|decode"));
        let any = Pattern::new("tokens::{prompt}");
        assert!(any.matches(&any.test("base::p00")) && !any.matches("tokens::"));
        let one = Pattern::new("layers::drift");
        assert!(one.matches(&one.test("")) && !one.matches("layers::drift2"));
    }
}
