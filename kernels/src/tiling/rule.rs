//! The rules as data: the name and the explanation of each.

use std::fmt;

/// Writes each rule down once: variant, name, explanation.
macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $rule:ident = $name:literal: $text:literal;)+) => {
        /// A rule that a tiling must keep.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[doc = $doc])+ $rule,)+
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Self] = &[$(Self::$rule),+];

            /// The stable name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)+
                }
            }

            /// What it requires, why, and the source.
            pub const fn explain(self) -> &'static str {
                match self {
                    $(Self::$rule => $text,)+
                }
            }
        }
    };
}

rules! {
    /// The tiling belongs to the op's kernel.
    TilingOfKernel = "tiling-of-kernel":
        "The tiling belongs to the op's kernel: each kernel is cut along its own dimensions.";
    /// No extent is zero.
    TileNotZero = "tile-not-zero":
        "Every extent of a tiling and of its herd is at least 1.";
    /// GEMM: M is a whole number of herds.
    MDivisible = "m-divisible-by-tile-m-herd-m":
        "M is a multiple of tile_m * herd_m: a GEMM's launch works on whole herds. Asserted by \
         mlir-air's builders.";
    /// GEMM: K is a whole number of L2 tiles.
    KDivisible = "k-divisible-by-tile-k-l2":
        "K is a multiple of tile_k_l2, the extent brought to L2 at a time. Asserted by mlir-air's \
         builders.";
    /// GEMM: an L2 tile is a whole number of L1 tiles.
    KL2Divisible = "tile-k-l2-divisible-by-tile-k-l1":
        "tile_k_l2 is a multiple of tile_k_l1, the extent brought to L1 at a time. Asserted by \
         mlir-air's builders.";
    /// GEMM: N is a whole number of herds.
    NDivisible = "n-divisible-by-tile-n-herd-n":
        "N is a multiple of tile_n * herd_n. The builders of 2026-08 assert it; earlier ones do \
         not, and then the remaining columns are silently wrong.";
    /// GEMM of `mm.o`: 16 rows and columns at a time.
    MmTile = "mm-tile-multiple-of-16":
        "tile_m and tile_n are multiples of 16: the hand-written mm.o (external, drain, \
         fused-cast) works on 2 by 2 blocks of 8 by 8.";
    /// GEMM: BFP16 blocks along K.
    TileKBlocks = "tile-k-l1-multiple-of-8":
        "tile_k_l1 is a multiple of 8: BFP16 blocks hold 8 values along K.";
    /// GEMM of the compiler: 8 rows and columns at a time.
    DirectTile = "direct-tile-multiple-of-8":
        "tile_m and tile_n are multiples of 8: the compiler's own code (the direct methods) works \
         on blocks of 8 by 8.";
    /// GEMM that re-rounds: after each 32 of K.
    DirectTileK = "direct-tile-k-l1-is-32":
        "tile_k_l1 is 32 for the bf16 direct method, which rounds C to bf16 after each tile_k_l1 \
         of K. No other extent was measured or is emulated.";
    /// GEMM of `mm.o` in an ELF of several launches: one iteration along M.
    ExternalInFusedElf = "external-in-fused-elf":
        "In an ELF of several launches an external (mm.o, f32 output) GEMM has M = tile_m * \
         herd_m, that is, one iteration along M; with more, the output is silently wrong. Reported \
         by mlir-air's kernel registry.";
    /// The herd is within the fabric.
    HerdFitsFabric = "herd-fits-fabric":
        "The herd is within the fabric's 8 columns and 4 rows: at most 8 by 4 for a GEMM, 8 for a \
         GEMV, a norm or a softmax, and heads_per_unroll * q_tiles at most 8 for attention.";
    /// What a compute tile holds is within L1.
    L1Capacity = "l1-capacity":
        "What a compute tile must hold is within the 65,536 bytes of L1. GEMM: the f32 accumulator \
         (bf16 for the bf16 direct method), A and B twice (ping-pong), and for drain a bf16 \
         buffer, which is why drain stops at tile_m = 32 with tile_n = 128. GEMV: m_input rows of \
         A, and x. Element-wise: each stream twice. Norms and softmax: each operand once, the \
         least possible.";
    /// What the memory tiles hold is within L2.
    L2Capacity = "l2-capacity":
        "A GEMV's panels of A and y, herd_m * tile_m * (K + 1) bf16 values, are within the \
         524,288 bytes of a memory tile. Asserted by mlir-air's builder; some notes say 256 KB.";
    /// A DMA's stride is within its field.
    DmaStride = "dma-stride":
        "tile_k_l2 * N is at most 2^21: B's stride between L2 tiles is a 20-bit number of 4-byte \
         words. Some notes say about 2^20 elements, but rows at exactly 2^21 were measured \
         (2048x4096x4096 with tile_k_l2 = 512), and none beyond.";
    /// GEMV: M is a whole number of herds.
    GemvRowsDivisible = "gemv-rows-divisible":
        "M is a multiple of tile_m * herd_m. Asserted by mlir-air's builder.";
    /// GEMV: a tile is a whole number of calls.
    GemvInputDivisible = "gemv-tile-m-divisible-by-m-input":
        "tile_m is a multiple of m_input, the rows of one call. Asserted by mlir-air's builder.";
    /// GEMV: K is a whole number of vectors.
    GemvKLanes = "gemv-k-multiple-of-64":
        "K is a multiple of 64, the accumulator lanes of mv.o.";
    /// GEMV: outputs are whole words.
    GemvTileEven = "gemv-tile-m-even":
        "tile_m is even: a DMA moves whole 4-byte words, and y is bf16.";
    /// GEMV: iterations are within a buffer descriptor's repeat count.
    GemvRepeatLimit = "gemv-repeat-limit":
        "The iterations M / (tile_m * herd_m) are at most 256, or a multiple of 256 up to 768: a \
         buffer descriptor repeats at most 256 times, and more are pushed as whole descriptors. \
         The registry says at most 255, yet it has measured 256 (16384x2048) and 768 (49152x2048); \
         1187 (151936x1024) is known not to build, so a vocabulary is partitioned. What holds in \
         between is inferred.";
    /// Rows are shared equally.
    RowsDivisible = "rows-divisible-by-herd":
        "The number of rows is a multiple of the number of tiles in the herd: each tile takes an \
         equal share.";
    /// A row is a whole number of vectors.
    RowVectors = "row-multiple-of-16":
        "A row (head_dim and rotary_dim for RoPE) is a multiple of 16 values, the size of a bf16 \
         vector in the compiler's own code.";
    /// Element-wise: N is a whole number of herds of tiles.
    NDivisibleByTiles = "n-divisible-by-tile-herd":
        "The number of elements is a multiple of tile_n * herd_x * herd_y.";
    /// Element-wise: a tile has a size that was seen to work.
    TileRange = "tile-range":
        "tile_n is at most 4096 for a kernel with two inputs (add, silu_mul), and 512 to 6144 for \
         one with a single input (gelu): the sizes that the registry reports to work.";
    /// A tile is a whole number of vectors.
    TileVectors = "tile-multiple-of-16":
        "tile_n is a multiple of 16, the size of a bf16 vector: there is no scalar tanh.";
    /// The herd has a DMA channel for each stream.
    DmaChannels = "dma-channels":
        "A kernel with 3 streams to memory (add, silu_mul, rope) uses at most 8 tiles, one with 2 \
         (gelu) at most 16: each stream needs a shim DMA channel.";
    /// The tiling can be placed on the fabric.
    Placement = "placement":
        "silu_mul of 16,777,216 elements can be placed only with a tile_n of 256, 512 or 4096 and \
         a herd_x of 1 or 8. Reported by mlir-air's kernel registry.";
    /// Attention: queries are a whole number of launches.
    LqDivisible = "lq-divisible-by-lqp":
        "The number of queries is a multiple of lqp, the queries of one launch, and lqp is a \
         multiple of q_tiles.";
    /// Attention: keys are a whole number of chunks for each stage.
    LkDivisible = "lk-divisible-by-lkp-stages":
        "The number of keys is a multiple of lkp * stages: each stage of the cascade has an equal \
         share of whole chunks.";
    /// Attention: a head is a whole number of chunks.
    DkDivisible = "dk-divisible-by-lkp":
        "head_dim is a multiple of lkp: scores are summed over pieces of it.";
    /// Attention: the value dimension splits into whole vectors.
    DvDivisible = "dv-divisible-by-dv-tile":
        "head_dim is a multiple of dv_chunks, and each piece is a multiple of 8 values.";
    /// Attention: query heads are a whole number of groups.
    HeadsDivisible = "heads-divisible-by-heads-per-unroll":
        "The number of query heads is a multiple of heads_per_unroll.";
    /// Attention: a query tile is as large as a chunk of keys.
    QTileIsLkp = "q-tile-is-lkp":
        "lqp / q_tiles = lkp: the causal mask is asserted to consist of square blocks; without a \
         mask, other sizes hang or overflow L1.";
    /// Attention: the window is a whole number of chunks.
    WindowDivisible = "window-multiple-of-lkp":
        "A sliding window is a multiple of lkp: only whole chunks are skipped.";
    /// Attention: heads side by side have DMA channels.
    HeadsPerUnroll = "heads-per-unroll-has-dma-channels":
        "heads_per_unroll is at most 2: more heads run out of shim DMA channels.";
    /// Attention: a cascade is as long as a column.
    FourStages = "four-stages":
        "stages = 4: a cascade runs down the 4 compute tiles of a column. With fewer stages, \
         routing fails for long sequences; they are not emulated either.";
    /// Attention, seq-first: the value dimension is in one piece.
    SeqFirstOneChunk = "seq-first-one-dv-chunk":
        "dv_chunks = 1 for the seq-first layout. Asserted by its builder.";
    /// The tiling is not known to give garbage.
    SilentCorruption = "silent-corruption":
        "The tiling is not one of those known to build and run but give garbage: they were found \
         by the SmolVLA sweeps in mlir-air's kernel registry.";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a kernel reports about a tiling that breaks one of its rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Broken {
    /// The rule.
    pub(crate) rule: Rule,
    /// The numbers that break it.
    pub(crate) detail: String,
}

/// A tiling that breaks a [`Rule`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{op} with tiling {tiling} breaks `{rule}`: {detail}")]
pub struct Illegal {
    /// The rule.
    pub rule: Rule,
    /// Kernel and shape.
    pub op: String,
    /// The tiling.
    pub tiling: String,
    /// The numbers that break it.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_unique_and_explanations_are_sentences() {
        let mut names = std::collections::HashSet::new();
        for rule in Rule::ALL.iter().copied() {
            let name = rule.name();
            assert!(names.insert(name), "{name}");
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            );
            assert!(rule.explain().ends_with('.') && rule.explain().len() > 40, "{name}");
        }
    }
}
