//! A matrix with one row per token, partitioned as the LM head is.

use crate::programs::partitions;
use half::bf16;
use npugate_kernels::{Tensor, TensorError};
use std::sync::Arc;

/// `[vocab, hidden]` in partitions. A device that keeps what it is given shares them, so tied
/// weights are in memory only once.
pub(super) struct Vocabulary {
    /// `[rows, hidden]` each; rows beyond the vocabulary are zero.
    parts: Vec<Arc<[bf16]>>,
    /// Rows of a partition.
    rows: usize,
    width: usize,
}

impl Vocabulary {
    /// Partitions a matrix of `vocab_size` rows.
    pub(super) fn new(values: &[bf16], vocab_size: usize, width: usize) -> Self {
        let rows = partitions(vocab_size).rows;
        let padded = |part: &[bf16]| {
            let mut part = part.to_vec();
            part.resize(rows * width, bf16::ZERO);
            part.into()
        };
        Self { parts: values.chunks(rows * width).map(padded).collect(), rows, width }
    }

    /// Returns the row of a token of the vocabulary, `[hidden]`.
    pub(super) fn row(&self, token: u32) -> &[bf16] {
        let token = token as usize;
        &self.parts[token / self.rows][token % self.rows * self.width..][..self.width]
    }

    /// Returns the partitions.
    pub(super) fn tensors(&self) -> impl Iterator<Item = Result<Tensor, TensorError>> {
        self.parts.iter().map(|part| Tensor::bf16([self.rows, self.width], Arc::clone(part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_in_every_partition_and_the_last_one_is_padded() {
        // Two partitions of 8,200 rows.
        let (vocab_size, width) = (16_395, 2);
        let values: Vec<bf16> =
            (0..vocab_size * width).map(|index| bf16::from_bits(index as u16)).collect();
        let vocabulary = Vocabulary::new(&values, vocab_size, width);
        for token in [0, 1, 8_199, 8_200, 16_394] {
            assert_eq!(vocabulary.row(token as u32), &values[token * width..][..width], "{token}");
        }
        let parts: Vec<Tensor> = vocabulary.tensors().map(Result::unwrap).collect();
        assert_eq!(parts.len(), 2);
        let last = parts[1].as_bf16().unwrap();
        assert_eq!(last[(vocab_size - 8_200) * width..], [bf16::ZERO; 10]);
        assert_eq!(last.as_ptr(), vocabulary.row(8_200).as_ptr());
    }
}
