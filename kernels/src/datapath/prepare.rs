//! What a datapath is prepared from.

use std::{collections::BTreeMap, sync::Arc};

use half::bf16;

use super::functions::Functions;
use crate::rounding::Rounding;

/// What a datapath is prepared from: the launch's rounding mode and the emulated NPU's functions.
pub(crate) struct Prepare<'a> {
    /// The rounding mode of the launch's core.
    pub(crate) rounding: Rounding,
    /// The functions that the hardware approximates.
    pub(crate) functions: &'a Functions,
    /// The tables that were built for earlier launches.
    pub(crate) tables: &'a mut Tables,
}

/// Functions of bf16 by all of their 65,536 values, which take a millisecond or two each to
/// compute: built once for each emulated NPU.
#[derive(Default)]
pub(crate) struct Tables(BTreeMap<Key, Arc<[bf16]>>);

/// The name of a function, the rounding mode that its steps narrow in, if they do, and the bits of
/// its constant, if it has one.
type Key = (&'static str, Option<Rounding>, u16);

impl Prepare<'_> {
    /// The table of a function whose steps narrow in the launch's mode: entry `i` is its value at
    /// the bf16 of bits `i`.
    pub(crate) fn table(
        &mut self,
        name: &'static str,
        value: impl Fn(bf16) -> bf16,
    ) -> Arc<[bf16]> {
        self.tables.get((name, Some(self.rounding), 0), value)
    }

    /// The table of a function that has a constant and narrows nothing.
    pub(crate) fn table_of_constant(
        &mut self,
        name: &'static str,
        constant: bf16,
        value: impl Fn(bf16) -> bf16,
    ) -> Arc<[bf16]> {
        self.tables.get((name, None, constant.to_bits()), value)
    }
}

impl Tables {
    fn get(&mut self, key: Key, value: impl Fn(bf16) -> bf16) -> Arc<[bf16]> {
        let build = || (0..=u16::MAX).map(|bits| value(bf16::from_bits(bits))).collect();
        Arc::clone(self.0.entry(key).or_insert_with(build))
    }
}
