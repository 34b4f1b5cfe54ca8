//! A filter expression: what was written, and the tree that it means.

use super::error::FilterError;
use super::facts::Facts;
use super::parse;
use super::predicate::Predicate;
use std::{fmt, ops::Range, str::FromStr};

/// A filter expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expression {
    /// As it was written.
    pub(super) text: String,
    /// What it means.
    pub(super) tree: Tree,
}

/// What an expression means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree {
    /// Each of these holds; `all()` is none of them.
    All(Vec<Tree>),
    /// One of these holds; `none()` is none of them.
    Any(Vec<Tree>),
    /// This does not hold.
    Not(Box<Tree>),
    /// This question is answered with yes.
    Predicate(Predicate, Place),
}

/// Where something stands in an expression. That is no part of what it means:
/// two places are always equal.
#[derive(Clone, Debug)]
pub struct Place(pub Range<usize>);

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl Expression {
    /// Whether it holds for a test.
    pub fn matches(&self, facts: &Facts<'_>) -> bool {
        self.tree.matches(facts)
    }

    /// An error about a part of it.
    pub(super) fn error(&self, at: &Place, message: String) -> FilterError {
        FilterError { expression: self.text.clone(), at: at.0.clone(), message }
    }
}

impl Tree {
    fn matches(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.matches(facts)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(facts)),
            Self::Not(part) => !part.matches(facts),
            Self::Predicate(predicate, _) => predicate.matches(facts),
        }
    }

    /// Its questions, in the order in which they were written.
    pub fn predicates(&self) -> Vec<(&Predicate, &Place)> {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().flat_map(Self::predicates).collect()
            }
            Self::Not(part) => part.predicates(),
            Self::Predicate(predicate, at) => vec![(predicate, at)],
        }
    }

    /// As a part of another: in parentheses if it has parts of its own.
    fn nested(&self) -> String {
        match self {
            Self::All(parts) | Self::Any(parts) if !parts.is_empty() => format!("({self})"),
            _ => self.to_string(),
        }
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

impl fmt::Display for Tree {
    /// An expression that means this, with every sign and parenthesis written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |parts: &[Self], sign: &str| {
            parts.iter().map(Self::nested).collect::<Vec<_>>().join(sign)
        };
        match self {
            Self::All(parts) if parts.is_empty() => f.write_str("all()"),
            Self::Any(parts) if parts.is_empty() => f.write_str("none()"),
            Self::All(parts) => f.write_str(&joined(parts, " & ")),
            Self::Any(parts) => f.write_str(&joined(parts, " | ")),
            Self::Not(part) => write!(f, "!{}", part.nested()),
            Self::Predicate(predicate, _) => predicate.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::matcher::Matcher;
    use super::super::predicate::{Comparison, Field};
    use super::super::testing::examples;
    use super::*;

    /// The names of the examples that an expression leaves, shortened.
    fn left(text: &str) -> Vec<&'static str> {
        let expression: Expression = text.parse().unwrap();
        let short = ["gemm2048", "gemm64", "block", "norm"];
        let examples = examples();
        let matching = examples.iter().zip(short);
        matching.filter(|(one, _)| expression.matches(&one.facts())).map(|(_, name)| name).collect()
    }

    #[test]
    fn an_expression_leaves_the_tests_that_it_describes() {
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
    fn a_word_is_a_whole_value_unless_names_are_long() {
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

    #[test]
    fn a_tree_is_what_its_text_is_read_as() {
        let at = || Place(0..0);
        let text = |field, matcher| Tree::Predicate(Predicate::Text { field, matcher }, at());
        let number = |comparison, number| {
            Tree::Predicate(Predicate::Number { attribute: "m".into(), comparison, number }, at())
        };
        let model = || text(Field::Model, Matcher::Equal("a".into()));
        let odd = || text(Field::Test, Matcher::Contains(r" ((a\) ".into()));
        let regex = || text(Field::Kind, Matcher::regex(r"a/b\\/\d\)").unwrap());
        let glob = || text(Field::Attribute("op".into()), Matcher::glob("g?m*)").unwrap());
        let not = |tree| Tree::Not(Box::new(tree));
        let trees = [
            Tree::All(vec![]),
            Tree::Any(vec![]),
            not(not(Tree::Any(vec![]))),
            odd(),
            regex(),
            Tree::All(vec![model(), odd(), glob()]),
            Tree::Any(vec![Tree::All(vec![model(), not(odd())]), Tree::Any(vec![glob(), model()])]),
            Tree::All(vec![Tree::All(vec![model(), odd()]), not(Tree::Any(vec![glob(), odd()]))]),
            Tree::Any(Comparison::ALL.map(|comparison| number(comparison, u64::MAX)).into()),
            not(Tree::All(vec![number(Comparison::Less, 0), Tree::All(vec![])])),
        ];
        for tree in trees {
            assert_eq!(parse::tree(&tree.to_string()), Ok(tree.clone()), "{tree}");
        }
    }
}
