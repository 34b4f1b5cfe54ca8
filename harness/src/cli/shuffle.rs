//! A random order that a seed reproduces.

use std::hash::{BuildHasher, RandomState};

/// A seed that differs from run to run and is short enough to type.
pub(super) fn random_seed() -> u64 {
    // std's hash maps are seeded by the operating system's randomness.
    RandomState::new().hash_one(0) % 1_000_000_000
}

/// Shuffles in place (Fisher and Yates); the same seed gives the same order on
/// every machine.
pub(super) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..items.len()).rev() {
        let other = (next(&mut state) % (last as u64 + 1)) as usize;
        items.swap(last, other);
    }
}

/// The next number of `SplitMix64`, from Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        // Outputs for seed 1234567 of the reference code in C.
        let mut state = 1_234_567;
        assert_eq!(next(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(next(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_seed_reproduces_its_order_and_loses_nothing() {
        let order = |seed| {
            let mut items: Vec<_> = (0..100).collect();
            shuffle(&mut items, seed);
            items
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_and_one_thing_can_be_shuffled() {
        shuffle::<u8>(&mut [], 1);
        shuffle(&mut [0], 1);
    }
}
