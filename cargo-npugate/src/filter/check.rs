//! Checking that every part of an expression has a meaning for the tests at hand: a
//! mistyped name or value is an error, never an empty selection.

use super::error::FilterError;
use super::expression::Expression;
use super::facts::Facts;
use super::predicate::{Field, Predicate};
use super::tree::Place;
use crate::text;
use npugate_schema::Attribute;
use std::collections::{BTreeMap, BTreeSet};

/// The number of values that an error names.
const NAMED: usize = 8;

/// Whether the attributes with a name are text or numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
}

impl Expression {
    /// Checks that each predicate asks for something that these tests have, and that at
    /// least one of the tests matches it.
    ///
    /// # Errors
    ///
    /// The first predicate that asks for what no test has.
    pub fn check<'a>(&self, facts: impl IntoIterator<Item = Facts<'a>>) -> Result<(), FilterError> {
        let facts: Vec<_> = facts.into_iter().collect();
        let known = attributes(&facts);
        let predicates = self.tree.predicates();
        predicates
            .into_iter()
            .try_for_each(|(predicate, at)| self.answer(predicate, at, &known, &facts))
    }

    fn answer(
        &self,
        predicate: &Predicate,
        at: &Place,
        known: &BTreeMap<&str, Kind>,
        facts: &[Facts<'_>],
    ) -> Result<(), FilterError> {
        let (name, kind) = match predicate {
            Predicate::Text { field: Field::Attribute(name), .. } => (name.as_str(), Kind::Text),
            Predicate::Text { field, .. } => (field.name(), Kind::Text),
            Predicate::Number { attribute, .. } => (attribute.as_str(), Kind::Number),
        };
        let name_at = Place(at.0.start..at.0.start + name.len());
        match known.get(name) {
            None => return Err(self.error(&name_at, unknown(name, known))),
            Some(Kind::Text) if kind == Kind::Number => {
                let message = format!("`{name}` is text: write `{name}(TEXT)`");
                return Err(self.error(&name_at, message));
            }
            Some(Kind::Number) if kind == Kind::Text => {
                let message = format!("`{name}` is a number: write `{name} = 256`");
                return Err(self.error(&name_at, message));
            }
            Some(_) => {}
        }
        if facts.iter().any(|facts| predicate.matches(facts)) {
            return Ok(());
        }
        Err(self.error(
            at,
            format!("no test here has `{}`{}", &self.text[at.0.clone()], instead(predicate, facts)),
        ))
    }
}

/// The names that can be asked for.
fn attributes<'a>(facts: &[Facts<'a>]) -> BTreeMap<&'a str, Kind> {
    let always = ["model", "package", "kind", "test"].map(|name| (name, Kind::Text));
    let attributes = facts.iter().flat_map(|facts| &facts.test.attributes).map(|(name, value)| {
        let kind = match value {
            Attribute::Text(_) => Kind::Text,
            Attribute::Number(_) => Kind::Number,
        };
        (name.as_str(), kind)
    });
    attributes.chain(always).collect()
}

fn unknown(name: &str, known: &BTreeMap<&str, Kind>) -> String {
    let names = known.keys().copied();
    let hint = text::did_you_mean(name, names.clone())
        .unwrap_or_else(|| format!("; use {}", text::one_of(names)));
    format!("no test here has `{name}`{hint}")
}

/// What exists instead of what was asked for, the nearest first.
fn instead(predicate: &Predicate, facts: &[Facts<'_>]) -> String {
    match predicate {
        Predicate::Text { field: Field::Test, matcher } => {
            let names = facts.iter().map(|facts| facts.test.name.as_str());
            let words: BTreeSet<_> =
                names.flat_map(|name| name.split("::").chain([name])).collect();
            text::did_you_mean(matcher.pattern(), words)
                .unwrap_or_else(|| "; `cargo npugate list` lists all tests".to_owned())
        }
        Predicate::Text { field, matcher } => {
            let values: BTreeSet<_> = facts.iter().filter_map(|facts| field.of(facts)).collect();
            let nearest = text::nearest_first(matcher.pattern(), values);
            format!("; {} is {}", field.name(), named(nearest))
        }
        Predicate::Number { attribute, .. } => {
            let values: BTreeSet<_> =
                facts.iter().filter_map(|facts| facts.number(attribute)).collect();
            match (values.first(), values.last()) {
                (Some(first), Some(last)) if values.len() > NAMED => {
                    format!("; {attribute} is from {first} to {last}")
                }
                _ => format!("; {attribute} is {}", text::one_of(values)),
            }
        }
    }
}

fn named(values: Vec<&str>) -> String {
    match values.len().checked_sub(NAMED) {
        Some(more @ 1..) => format!("{} and {more} more", values[..NAMED].join(", ")),
        _ => text::one_of(values),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::examples;
    use super::*;

    fn check(text: &str) -> Result<(), String> {
        let examples = examples();
        let expression: Expression = text.parse().unwrap();
        expression.check(examples.iter().map(|one| one.facts())).map_err(|error| error.to_string())
    }

    #[test]
    fn what_some_test_has_is_not_an_error() {
        for text in ["op(gemm) & m >= 256", "kind(block) | layer = 3", "!model(tiny)", "none()"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn an_attribute_that_no_test_has_is_an_error() {
        assert_eq!(
            check("kind(kernel) & mm >= 4").unwrap_err(),
            "no test here has `mm`; did you mean `m`?\n    kind(kernel) & mm >= 4\n                   ^^"
        );
        assert_eq!(
            check("mdel(x)").unwrap_err(),
            "no test here has `mdel`; did you mean `model`?\n    mdel(x)\n    ^^^^"
        );
        let error = check("xyz = 1").unwrap_err();
        let names = "kind, layer, m, model, op, package, test or tier";
        assert!(error.contains(&format!("; use {names}\n")), "{error}");
    }

    #[test]
    fn a_value_that_no_test_has_is_an_error_with_the_nearest_first() {
        assert_eq!(
            check("op(gem)").unwrap_err(),
            "no test here has `op(gem)`; op is gemm or rms_norm\n    op(gem)\n    ^^^^^^^"
        );
        assert!(check("op(rmsnorm)").unwrap_err().contains("; op is rms_norm or gemm\n"));
        assert!(check("kind(perf)").unwrap_err().contains("; kind is "));
        assert!(check("m > 2048").unwrap_err().contains("`m > 2048`; m is 64 or 2048\n"));
        assert!(check("test(gemmm)").unwrap_err().contains("; did you mean `gemm`?\n"));
        assert!(check("none() | model(qwen)").unwrap_err().contains("; model is "));
    }

    #[test]
    fn text_is_not_compared_and_a_number_is_not_matched() {
        assert!(check("m(64)").unwrap_err().starts_with("`m` is a number: write `m = 256`\n"));
        assert!(check("op = 1").unwrap_err().starts_with("`op` is text: write `op(TEXT)`\n"));
    }

    #[test]
    fn the_nearest_of_many_values_are_named() {
        let values = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        assert_eq!(named(values.to_vec()), "a, b, c, d, e, f, g, h and 2 more");
        assert_eq!(named(values[..8].to_vec()), "a, b, c, d, e, f, g or h");
    }
}
