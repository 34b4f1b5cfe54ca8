//! One condition on a test: `op(gemm)`, `m >= 256`.

use super::facts::Facts;
use super::matcher::Matcher;
use std::fmt;

/// One condition on a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Predicate {
    /// Text that must match.
    Text { field: Field, matcher: Matcher },
    /// A number that must compare in this way. A test without the number does not match,
    /// whatever the comparison.
    Number { attribute: String, comparison: Comparison, number: u64 },
}

/// Text that is known about a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Field {
    /// Its model.
    Model,
    /// Its adapter's package.
    Package,
    /// Its phase.
    Kind,
    /// Its name.
    Test,
    /// One of its attributes.
    Attribute(String),
}

/// How two numbers compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Predicate {
    /// Whether a test matches.
    pub fn matches(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::Text { field, matcher } => {
                field.of(facts).is_some_and(|text| matcher.matches(text))
            }
            Self::Number { attribute, comparison, number } => {
                facts.number(attribute).is_some_and(|value| comparison.holds(value, *number))
            }
        }
    }
}

impl Field {
    /// The fields that every test has.
    pub const ALWAYS: [Self; 4] = [Self::Model, Self::Package, Self::Kind, Self::Test];

    /// The field with this name.
    pub fn named(name: &str) -> Self {
        let known = Self::ALWAYS.into_iter().find(|field| field.name() == name);
        known.unwrap_or_else(|| Self::Attribute(name.to_owned()))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Model => "model",
            Self::Package => "package",
            Self::Kind => "kind",
            Self::Test => "test",
            Self::Attribute(name) => name,
        }
    }

    /// How it is matched if the expression does not say: long names by a part, anything
    /// else as a whole.
    pub fn default_matcher(&self, text: String) -> Matcher {
        match self {
            Self::Model | Self::Package | Self::Test => Matcher::Contains(text),
            Self::Kind | Self::Attribute(_) => Matcher::Equal(text),
        }
    }

    /// The text of a test, if the test has the field.
    pub fn of<'a>(&self, facts: &Facts<'a>) -> Option<&'a str> {
        match self {
            Self::Model => Some(facts.model),
            Self::Package => Some(facts.package),
            Self::Kind => Some(facts.kind()),
            Self::Test => Some(&facts.test.name),
            Self::Attribute(name) => facts.text(name),
        }
    }
}

impl Comparison {
    /// All comparisons, each before any whose sign is the start of its own.
    pub const ALL: [Self; 6] =
        [Self::AtLeast, Self::AtMost, Self::Unequal, Self::Greater, Self::Less, Self::Equal];

    /// Its sign.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    fn holds(self, value: u64, number: u64) -> bool {
        match self {
            Self::Equal => value == number,
            Self::Unequal => value != number,
            Self::Less => value < number,
            Self::AtMost => value <= number,
            Self::Greater => value > number,
            Self::AtLeast => value >= number,
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { field, matcher } => write!(f, "{}({matcher})", field.name()),
            Self::Number { attribute, comparison, number } => {
                write!(f, "{attribute} {} {number}", comparison.as_str())
            }
        }
    }
}
