//! The keys that a table of the file may have: those of the structure that it is
//! read into, which are taken from the structure itself.

use super::file::{RawFile, RawOverride, RawProfile, RawWaiver};
use crate::text;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A key that its table cannot have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownKey {
    /// Its place in the file.
    pub at: Range<usize>,
    /// What is wrong, and what may have been meant.
    pub message: String,
}

/// Looks for a key that nothing reads.
///
/// # Errors
///
/// The first such key.
pub fn check(file: &DeTable<'_>) -> Result<(), UnknownKey> {
    known::<RawFile>(file, "the file")?;
    for profile in tables(file, "profile").flat_map(|profiles| profiles.values()) {
        let Some(profile) = profile.get_ref().as_table() else { continue };
        known::<RawProfile>(profile, "a profile")?;
        tables(profile, "overrides")
            .try_for_each(|one| known::<RawOverride>(one, "an override"))?;
        tables(profile, "waivers").try_for_each(|one| known::<RawWaiver>(one, "a waiver"))?;
    }
    Ok(())
}

/// The table under a key, or the tables of the array there.
fn tables<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> impl Iterator<Item = &'a DeTable<'i>> {
    let value = table.get(key).map(toml::Spanned::get_ref);
    let one = value.and_then(DeValue::as_table);
    let several = value.and_then(DeValue::as_array).into_iter().flat_map(|array| array.iter());
    one.into_iter().chain(several.filter_map(|value| value.get_ref().as_table()))
}

fn known<'de, T: Deserialize<'de>>(table: &DeTable<'_>, whose: &str) -> Result<(), UnknownKey> {
    let known = keys::<T>();
    let unknown = table.keys().find(|key| !known.contains(&&**key.get_ref()));
    let Some(key) = unknown else { return Ok(()) };
    let name: &str = key.get_ref();
    let hint = text::did_you_mean(name, known.iter().copied())
        .unwrap_or_else(|| format!("; it can have {}", known.join(", ")));
    Err(UnknownKey { at: key.span(), message: format!("{whose} has no key `{name}`{hint}") })
}

/// The keys of a structure.
fn keys<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &[&str] = &[];
    // This ends with an error as soon as the names are known.
    let _ = T::deserialize(Names(&mut names));
    names
}

/// Records the names of the fields that a structure asks for.
struct Names<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("not a structure"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes
        byte_buf option unit unit_struct newtype_struct seq tuple tuple_struct map
        enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structure_says_which_keys_it_reads() {
        assert_eq!(keys::<RawFile>(), ["profile"]);
        let waiver = ["filter", "metric", "limit", "reason", "expires"];
        assert_eq!(keys::<RawWaiver>(), waiver);
        assert!(keys::<RawProfile>().contains(&"lock-timeout"));
        assert_eq!(keys::<u64>(), [""; 0]);
    }
}
