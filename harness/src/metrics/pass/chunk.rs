//! A few elements at a time, in f64. Every function is a plain loop of fixed length,
//! which compilers turn into vector instructions.

use crate::metrics::sums::{LANES, Lanes};

/// Elements that are widened and multiplied out at a time: their intermediate
/// values stay in the first-level cache.
pub(super) const CHUNK: usize = 64;

/// Values of a chunk.
pub(super) type Chunk = [f64; CHUNK];

/// Converts at most a chunk of values to f64, each changed first, and fills the rest with
/// zeros, which add nothing to any sum.
pub(super) fn widened(values: &[f32], change: impl Fn(f32) -> f32) -> Chunk {
    if let Ok(values) = <&[f32; CHUNK]>::try_from(values) {
        return values.map(|value| f64::from(change(value)));
    }
    let mut chunk = [0.0; CHUNK];
    for (wide, &value) in chunk.iter_mut().zip(values) {
        *wide = f64::from(change(value));
    }
    chunk
}

/// A chunk with the value of a function at each place.
pub(super) fn each(of: impl Fn(usize) -> f64) -> Chunk {
    let mut values = [0.0; CHUNK];
    for (place, value) in values.iter_mut().enumerate() {
        *value = of(place);
    }
    values
}

/// Adds a chunk to a sum in lanes.
pub(super) fn add(sum: &mut Lanes, values: &Chunk) {
    fold(sum, values, |sum, value| sum + value);
}

/// Raises a maximum in lanes to a chunk's values.
pub(super) fn raise(largest: &mut Lanes, values: &Chunk) {
    fold(largest, values, larger);
}

fn fold(lanes: &mut Lanes, values: &Chunk, of: impl Fn(f64, f64) -> f64) {
    let mut folded = *lanes;
    for values in values.as_chunks::<LANES>().0 {
        for (lane, value) in folded.iter_mut().zip(values) {
            *lane = of(*lane, *value);
        }
    }
    *lanes = folded;
}

/// Adds each of the first values to a sum of its own.
pub(super) fn add_each(sums: &mut [f64], values: &Chunk) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

/// The larger of two values, in one instruction. It loses NaN, but the sums keep it.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
