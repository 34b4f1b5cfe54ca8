//! Checks that a file holds all of the model's tensors and no others.

use super::{WeightSource, WeightsError, tensors};
use crate::DecoderConfig;
use std::{collections::BTreeSet, path::Path};

/// The number of names that an error lists; the rest are only counted.
const LISTED: usize = 5;

/// Checks the names and shapes of a file's tensors.
///
/// # Errors
///
/// Fails if a tensor is missing, extra or of a wrong shape.
pub(super) fn complete(
    path: &Path,
    source: &dyn WeightSource,
    config: &DecoderConfig,
) -> Result<(), WeightsError> {
    let found = source.contents();
    let expected: Vec<_> =
        tensors(config).map(|tensor| (source.name(tensor), tensor.shape(config))).collect();
    let missing: Vec<&str> = expected
        .iter()
        .map(|(name, _)| &**name)
        .filter(|name| !found.contains_key(*name))
        .collect();
    if !missing.is_empty() {
        let (count, names) = (missing.len(), list(&missing));
        return Err(WeightsError::Missing { path: path.to_owned(), count, names });
    }
    let known: BTreeSet<&str> = expected.iter().map(|(name, _)| &**name).collect();
    let extra: Vec<&str> =
        found.keys().map(String::as_str).filter(|name| !known.contains(name)).collect();
    if !extra.is_empty() {
        let (count, names) = (extra.len(), list(&extra));
        return Err(WeightsError::Extra { path: path.to_owned(), count, names });
    }
    match expected.into_iter().find(|(name, shape)| found[name] != *shape) {
        None => Ok(()),
        Some((tensor, expected)) => Err(WeightsError::WrongShape {
            path: path.to_owned(),
            found: found[&tensor].clone(),
            tensor,
            expected,
        }),
    }
}

/// `a, b, c, d, e and 3 more`.
fn list(names: &[&str]) -> String {
    let first = names[..names.len().min(LISTED)].join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
