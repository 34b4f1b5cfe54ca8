//! The LM head: one matrix-vector product for each partition of the
//! vocabulary.

use super::builder::Builder;
use crate::DecoderConfig;
use npugate_kernels::{Gemv, Op, Program, Role, Toolchain};

/// The most rows that an LM head has in one dispatch in the kernel registry.
const MAX_ROWS: usize = 16_384;

/// Rows of a matrix-vector product are split over eight columns of the array.
const ROW_MULTIPLE: usize = 8;

/// How the vocabulary is partitioned: all partitions have the same number of
/// rows, so that one program serves them all. Rows beyond the vocabulary are zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Partitions {
    pub(crate) count: usize,
    pub(crate) rows: usize,
}

/// Returns the fewest partitions of at most 16,384 rows, each as small as that
/// number of them allows.
pub(crate) fn partitions(vocab_size: usize) -> Partitions {
    let count = vocab_size.div_ceil(MAX_ROWS).max(1);
    let rows = vocab_size.div_ceil(count).next_multiple_of(ROW_MULTIPLE);
    Partitions { count, rows }
}

/// Builds the program from one row after the final norm, `final_norm`, to the
/// `logits` of one partition.
pub(super) fn lm_head(config: &DecoderConfig, toolchain: Toolchain) -> Program {
    let k = config.model.hidden_size;
    let m = partitions(config.model.vocab_size).rows;
    let mut builder = Builder::new("lm_head", toolchain);
    let weight = builder.arg(Role::Static, "lm_head_w", [m, k]);
    let x = builder.arg(Role::Input, "final_norm", [k]);
    builder.launch(Op::Gemv(Gemv { m, k }), &[weight, x], Role::Output, "logits", [m]);
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_cover_the_vocabulary_with_little_to_spare() {
        for (vocab, count, rows) in [
            (49_152, 3, 16_384),
            (512, 1, 512),
            (128_256, 8, 16_032),
            (151_936, 10, 15_200),
            (50_257, 4, 12_568),
            (7, 1, 8),
        ] {
            assert_eq!(partitions(vocab), Partitions { count, rows }, "{vocab}");
            assert!(count * rows >= vocab && rows <= MAX_ROWS);
        }
    }
}
