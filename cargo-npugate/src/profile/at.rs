//! A value of the file and its place.

use serde::{Deserialize, Deserializer};
use std::ops::Range;

/// A value of the file and the range of bytes that it occupies.
#[derive(Clone, PartialEq, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// The range of bytes.
    pub at: Range<usize>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = toml::Spanned::<T>::deserialize(deserializer)?;
        Ok(Self { at: spanned.span(), value: spanned.into_inner() })
    }
}

#[cfg(test)]
impl<T: schemars::JsonSchema> schemars::JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}
