//! What is known about a test besides its name, for filter expressions.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{collections::BTreeMap, fmt};

/// What is known about a test: `op` = gemm, `m` = 256.
pub type Attributes = BTreeMap<String, Attribute>;

/// One value. In JSON a string or a whole number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Attribute {
    /// A word: an operation, a precision tier.
    Text(String),
    /// A size or an index: a dimension, a layer.
    Number(u64),
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl Serialize for Attribute {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_u64(*number),
        }
    }
}

impl<'de> Deserialize<'de> for Attribute {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Attribute;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a whole number")
            }

            fn visit_str<E>(self, text: &str) -> Result<Attribute, E> {
                Ok(text.into())
            }

            fn visit_u64<E>(self, number: u64) -> Result<Attribute, E> {
                Ok(number.into())
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_strings_and_whole_numbers_in_json() {
        let text = r#"{"m":256,"op":"gemm"}"#;
        let attributes: Attributes = serde_json::from_str(text).unwrap();
        assert_eq!(attributes["m"], Attribute::Number(256));
        assert_eq!(attributes["op"], Attribute::Text("gemm".into()));
        assert_eq!(serde_json::to_string(&attributes).unwrap(), text);
        let error = serde_json::from_str::<Attributes>(r#"{"m":-1}"#).unwrap_err().to_string();
        assert!(error.contains("a string or a whole number"), "{error}");
    }
}
