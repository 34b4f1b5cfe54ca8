use rayon::prelude::*;
use std::hint::black_box;

/// Two buffers that do not fit in any cache, processed by as many threads as the kernels use.
pub struct Memory {
    from: Vec<u64>,
    to: Vec<u64>,
}

/// The number of words in a buffer: 256 MiB.
const WORDS: usize = 1 << 25;

impl Memory {
    /// Buffers whose pages are all mapped.
    pub fn new() -> Self {
        Self { from: vec![1; WORDS], to: vec![2; WORDS] }
    }

    /// The bytes that a read moves, and half of those that a copy moves, which reads and writes.
    pub const BYTES: f64 = (WORDS * 8) as f64;

    /// Copies one buffer to the other.
    pub fn copy(&mut self) {
        let each = WORDS.div_ceil(rayon::current_num_threads());
        let parts = self.to.par_chunks_mut(each).zip(self.from.par_chunks(each));
        parts.for_each(|(to, from)| to.copy_from_slice(from));
        black_box(&mut self.to);
    }

    /// Reads one buffer.
    pub fn read(&self) {
        let each = WORDS.div_ceil(rayon::current_num_threads());
        let sum = self
            .from
            .par_chunks(each)
            .map(|part| part.iter().fold(0u64, |sum, word| sum.wrapping_add(*word)));
        black_box(sum.reduce(|| 0, u64::wrapping_add));
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}
