//! A bf16 online softmax between two BFP16 products, in four cascade stages.
//!
//! Each stage owns a contiguous quarter of the keys and walks it in chunks of 64; the stages are
//! merged last to first. Scores, probabilities, the running maximum, the rescaling factor, the
//! denominator and the output are bf16 between steps. The hardware's `exp2` dominates the error.

use std::ops::Range;

use half::bf16;
use rayon::prelude::*;

use super::{
    FlashAttention,
    layout::{AttentionLayout, Strides},
    online_softmax::{Accumulator, CHUNK, MAX_HEAD_DIM},
};
use crate::{
    datapath::{
        Datapath, Operands, Output, Scratch, Unwritten,
        exponential::{Exponential, SoftmaxFunctions},
        pack::{pack_columns, pack_rows},
        tile::{LeftPair, RightPair, Tile},
        vector::{Simd, Task, VectorUnit},
    },
    rounding::Rounding,
};

/// Cascade stages.
const STAGES: usize = 4;
/// Queries of a task: enough to be worth scheduling, few enough to balance a causal mask.
const TASK_ROWS: usize = 2 * Tile::ROWS;
/// Elements of `head_dim` over which scores are summed before they are narrowed.
const SLICE: usize = 64;

/// `o = attention(q, k, v)` under a rounding mode.
pub(super) struct Cascade {
    pub(super) op: FlashAttention,
    pub(super) rounding: Rounding,
    pub(super) functions: SoftmaxFunctions,
}

impl Datapath for Cascade {
    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        scratch: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let [q, k, v] = operands.bf16()?;
        let packed = self.pack(unit, k, v, scratch.of());
        self.attend(unit, q, packed, out.bf16());
        Ok(())
    }
}

impl Cascade {
    /// Quantises the keys and values into `packed`.
    fn pack<'a>(
        &self,
        unit: VectorUnit,
        k: &[bf16],
        v: &[bf16],
        packed: &'a mut Vec<RightPair>,
    ) -> &'a [RightPair] {
        let &Self { op, rounding, .. } = self;
        let chunks = op.tokens / CHUNK;
        // A chunk of one head: keys as 2 panels of head_dim / 2 pairs, values as head_dim / 32
        // panels of 32.
        let chunk_pairs = 2 * op.head_dim;
        packed.resize(op.kv_heads * chunks * chunk_pairs, RightPair::ZERO);
        packed.par_chunks_mut(chunk_pairs).enumerate().for_each(|(i, pairs)| {
            let (head, chunk) = (i / chunks, i % chunks);
            unit.run(PackChunk { op, rounding, k, v, head, chunk, pairs });
        });
        packed
    }

    /// All queries, some at a time.
    fn attend(&self, unit: VectorUnit, q: &[bf16], packed: &[RightPair], o: &mut [bf16]) {
        let &Self { op, rounding, ref functions } = self;
        let queries = Queries { op, rounding, functions, packed };
        let d = op.head_dim;
        match op.layout {
            AttentionLayout::SeqFirst => {
                let piece = TASK_ROWS * op.heads * d;
                let pieces = o.par_chunks_mut(piece).zip(q.par_chunks(piece)).enumerate();
                pieces.for_each(|(i, (o, q))| {
                    unit.run(queries.some(0..op.heads, i * TASK_ROWS, q, o));
                });
            }
            AttentionLayout::HeadsFirst => {
                let piece = TASK_ROWS * d;
                let per_head = op.tokens / TASK_ROWS;
                let pieces = o.par_chunks_mut(piece).zip(q.par_chunks(piece)).enumerate();
                pieces.for_each(|(i, (o, q))| {
                    let head = i / per_head;
                    unit.run(queries.some(head..head + 1, i % per_head * TASK_ROWS, q, o));
                });
            }
        }
    }
}

struct PackChunk<'a> {
    op: FlashAttention,
    rounding: Rounding,
    k: &'a [bf16],
    v: &'a [bf16],
    head: usize,
    chunk: usize,
    pairs: &'a mut [RightPair],
}

impl Task for PackChunk<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let FlashAttention { tokens, kv_heads, head_dim: d, layout, .. } = self.op;
        let Strides { token: width, head } = layout.strides(tokens, kv_heads, d);
        let at = self.chunk * CHUNK * width + self.head * head;
        let (keys, values) = self.pairs.split_at_mut(d);
        let mut group = [LeftPair::default(); MAX_HEAD_DIM / 2];
        let group = &mut group[..d / 2];
        for (panel, pairs) in keys.chunks_exact_mut(d / 2).enumerate() {
            // The keys are columns of the right matrix but rows in memory.
            for first in (0..Tile::COLS).step_by(Tile::ROWS) {
                let at = at + (panel * Tile::COLS + first) * width;
                pack_rows(simd, self.rounding, &self.k[at..], width, group);
                for (pair, group) in pairs.iter_mut().zip(group.iter()) {
                    pair.0[first..first + Tile::ROWS].copy_from_slice(&group.0);
                }
            }
        }
        for (panel, pairs) in values.chunks_exact_mut(CHUNK / 2).enumerate() {
            let at = at + panel * Tile::COLS;
            pack_columns(self.rounding, &self.v[at..], width, Tile::COLS, pairs);
        }
    }
}

/// What all tasks of a launch share.
#[derive(Clone, Copy)]
struct Queries<'a> {
    op: FlashAttention,
    rounding: Rounding,
    functions: &'a SoftmaxFunctions,
    packed: &'a [RightPair],
}

impl<'a> Queries<'a> {
    /// The queries from `first` on of `heads`, which are all that `q` and `o` hold.
    fn some(
        self,
        heads: Range<usize>,
        first: usize,
        q: &'a [bf16],
        o: &'a mut [bf16],
    ) -> SomeQueries<'a> {
        SomeQueries { all: self, heads, first, q, o }
    }
}

/// Some queries of some heads, token by token.
struct SomeQueries<'a> {
    all: Queries<'a>,
    heads: Range<usize>,
    first: usize,
    q: &'a [bf16],
    o: &'a mut [bf16],
}

impl Task for SomeQueries<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Queries { op, rounding, functions, packed } = self.all;
        let SoftmaxFunctions { exp, reciprocal } = functions;
        let FlashAttention { tokens, heads, kv_heads, head_dim: d, .. } = op;
        let width = self.heads.len() * d;
        let kv_pairs = tokens / CHUNK * 2 * d;
        let mut pairs = [LeftPair::default(); MAX_HEAD_DIM / 2];
        let pairs = &mut pairs[..d / 2];
        let blocks = self.q.chunks(Tile::ROWS * width).zip(self.o.chunks_mut(Tile::ROWS * width));
        for (block, (q, o)) in blocks.enumerate() {
            for (index, head) in self.heads.clone().enumerate() {
                pack_rows(simd, rounding, &q[index * d..], width, pairs);
                let kv_head = head / (heads / kv_heads);
                let rows = Rows {
                    op,
                    rounding,
                    exp,
                    q: pairs,
                    packed: &packed[kv_head * kv_pairs..][..kv_pairs],
                    first: self.first + block * Tile::ROWS,
                };
                let result = rows.cascade(simd);
                for (row, o) in o.chunks_exact_mut(width).enumerate() {
                    result.finish(row, reciprocal, rounding, &mut o[index * d..][..d]);
                }
            }
        }
    }
}

/// [`Tile::ROWS`] queries of one head, from `first` on.
struct Rows<'a> {
    op: FlashAttention,
    rounding: Rounding,
    exp: &'a Exponential,
    q: &'a [LeftPair],
    packed: &'a [RightPair],
    first: usize,
}

impl Rows<'_> {
    #[inline(always)]
    fn cascade<S: Simd>(&self, simd: S) -> Accumulator {
        let chunks = self.op.tokens / CHUNK / STAGES;
        let mut merged = Accumulator::new(self.op.head_dim);
        for stage in (0..STAGES).rev() {
            let mut sums = Accumulator::new(self.op.head_dim);
            for chunk in stage * chunks..(stage + 1) * chunks {
                self.chunk(simd, chunk, &mut sums);
            }
            if stage == STAGES - 1 {
                merged = sums;
            } else {
                merged.merge(&sums, self.exp, self.rounding);
            }
        }
        merged
    }

    #[inline(always)]
    fn chunk<S: Simd>(&self, simd: S, chunk: usize, sums: &mut Accumulator) {
        let first_key = chunk * CHUNK;
        let visible = |row: usize| {
            let keys = self.op.mask.keys(self.first + row, self.op.tokens);
            let end = keys.end.saturating_sub(first_key).min(CHUNK);
            keys.start.saturating_sub(first_key).min(end)..end
        };
        // A chunk that is masked for all rows changes nothing. Its scores are -inf, so the maximum
        // m stays; every probability is exp(-inf - m) = exp(lowest) = 0 and every factor exp(m - m)
        // = exp(0) = 1, as `skips_masked` has checked; O 1 + 0 and l 1 + 0 are then exact in every
        // rounding mode.
        if (0..Tile::ROWS).all(|row| visible(row).is_empty()) && self.exp.skips_masked() {
            return;
        }
        let d = self.op.head_dim;
        let (keys, values) = self.packed[chunk * 2 * d..][..2 * d].split_at(d);
        let mut scores = [Tile::ZERO; CHUNK / Tile::COLS];
        for (panel, keys) in scores.iter_mut().zip(keys.chunks_exact(d / 2)) {
            // Partial sums over slices of head_dim pass through bf16.
            for (q, keys) in self.q.chunks_exact(SLICE / 2).zip(keys.chunks_exact(SLICE / 2)) {
                simd.multiply(q, keys, panel);
                panel.round(self.rounding);
            }
        }
        let probabilities = sums.update(simd, &scores, visible, self.exp, self.rounding);
        for (o, values) in sums.o_mut().iter_mut().zip(values.chunks_exact(CHUNK / 2)) {
            simd.multiply(&probabilities, values, o);
            o.round(self.rounding);
        }
    }
}
