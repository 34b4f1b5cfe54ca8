//! A filter expression: the text as written, and the tree that it means.

use super::error::FilterError;
use super::facts::Facts;
use super::parse;
use super::tree::{Place, Tree};
use std::{fmt, str::FromStr};

/// A filter expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expression {
    /// The text as written.
    pub(super) text: String,
    /// What it means.
    pub(super) tree: Tree,
}

impl Expression {
    /// Whether a test matches.
    pub fn matches(&self, facts: &Facts<'_>) -> bool {
        self.tree.matches(facts)
    }

    /// An error about a part of it.
    pub(super) fn error(&self, at: &Place, message: String) -> FilterError {
        FilterError { expression: self.text.clone(), at: at.0.clone(), message }
    }
}

impl FromStr for Expression {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let tree = parse::tree(text).map_err(|problem| FilterError {
            expression: text.to_owned(),
            at: problem.at,
            message: problem.message,
        })?;
        Ok(Self { text: text.to_owned(), tree })
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::examples;
    use super::*;

    /// The shortened names of the examples that match an expression.
    fn left(text: &str) -> Vec<&'static str> {
        let expression: Expression = text.parse().unwrap();
        let short = ["gemm2048", "gemm64", "block", "norm"];
        let examples = examples();
        let matching = examples.iter().zip(short);
        matching.filter(|(one, _)| expression.matches(&one.facts())).map(|(_, name)| name).collect()
    }

    #[test]
    fn an_expression_selects_the_tests_that_match_it() {
        assert_eq!(left("model(smollm2) & kind(kernel) & op(gemm) & m >= 256"), ["gemm2048"]);
        assert_eq!(left("kind(kernel) - op(gemm)"), ["norm"]);
        assert_eq!(left("layer < 4 | op(rms_norm)"), ["block", "norm"]);
        assert_eq!(left("not (kind(kernel) or layer = 3)"), [""; 0]);
        assert_eq!(left("!kind(kernel) and all()"), ["block"]);
        assert_eq!(left("none() | test(64x)"), ["gemm64", "norm"]);
        assert_eq!(left("test(=block::layer03::cosine)"), ["block"]);
        assert_eq!(left("test(/^kernel::.*x64$/)"), ["norm"]);
        assert_eq!(left("package(=adapter) & model(#*-llama)"), ["norm"]);
    }

    #[test]
    fn a_word_is_a_whole_value_except_for_long_names() {
        assert_eq!(left("op(gem)"), [""; 0]);
        assert_eq!(left("op(~gem)"), ["gemm2048", "gemm64"]);
        assert_eq!(left("model(llama)"), ["norm"]);
        assert_eq!(left("model(=llama)"), [""; 0]);
    }

    #[test]
    fn a_test_without_a_number_matches_no_comparison_with_it() {
        assert_eq!(left("m != 64"), ["gemm2048"]);
        assert_eq!(left("!(m = 64)"), ["gemm2048", "block", "norm"]);
    }

    #[test]
    fn and_binds_tighter_than_or() {
        assert_eq!(left("layer = 3 | op(gemm) & m = 64"), ["gemm64", "block"]);
        assert_eq!(left("(layer = 3 | op(gemm)) & m = 64"), ["gemm64"]);
    }
}
