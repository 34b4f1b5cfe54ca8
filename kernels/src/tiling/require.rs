//! The parts that rules are made of, and the sizes of the fabric.

use super::rule::{Broken, Rule};

/// Columns of the fabric.
pub(crate) const COLUMNS: usize = 8;

/// Values of a bf16 vector.
pub(crate) const VECTOR: usize = 16;

/// Bytes of a compute tile's memory.
const L1_BYTES: usize = 65_536;

/// `holds`, or the rule that is broken.
pub(crate) fn require(
    rule: Rule,
    holds: bool,
    detail: impl FnOnce() -> String,
) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { rule, detail: detail() }) }
}

/// `value` is a multiple of `of`.
pub(crate) fn multiple(
    rule: Rule,
    (name, value): (&str, usize),
    (of_name, of): (&str, usize),
) -> Result<(), Broken> {
    require(rule, value.is_multiple_of(of), || {
        format!("{name} = {value} is not a multiple of {of_name} = {of}")
    })
}

/// `value` is at most `limit`.
pub(crate) fn at_most(
    rule: Rule,
    (name, value): (&str, usize),
    limit: usize,
) -> Result<(), Broken> {
    require(rule, value <= limit, || format!("{name} = {value} is more than {limit}"))
}

/// `bytes` of buffers are within a compute tile's memory.
pub(crate) fn fits_l1(bytes: usize) -> Result<(), Broken> {
    at_most(Rule::L1Capacity, ("bytes of buffers on a compute tile", bytes), L1_BYTES)
}

/// Refuses a configuration that is known to build and run but give garbage: one for which this
/// `mean_rel_l1` was measured.
pub(crate) fn not_corrupt(mean_rel_l1: Option<&str>) -> Result<(), Broken> {
    require(Rule::SilentCorruption, mean_rel_l1.is_none(), || {
        let figure = mean_rel_l1.unwrap_or_default();
        format!("it builds and runs, but its measured mean_rel_l1 is {figure}")
    })
}
