//! BFP16 operands, f32 accumulation, narrowed as the output method says.

use half::bf16;
use rayon::prelude::*;

use super::{Gemm, output::GemmOutput};
use crate::{
    datapath::{
        Datapath, Operands, Output, Scratch, Unwritten,
        pack::{Panels, pack_rows},
        tile::{LeftPair, RightPair, Tile},
        vector::{Simd, Task, VectorUnit},
    },
    rounding::Rounding,
};

/// A GEMM under a rounding mode.
pub(super) struct Product {
    pub(super) gemm: Gemm,
    pub(super) rounding: Rounding,
}

/// Room for both operands, quantised and packed.
#[derive(Default)]
struct Packed {
    left: Vec<LeftPair>,
    right: Panels,
}

impl Datapath for Product {
    fn packs(&self, position: usize) -> Option<Rounding> {
        (position == 1).then(|| block_rounding(&self.gemm, self.rounding))
    }

    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        scratch: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let &Self { gemm, rounding } = self;
        let (a, b) = (operands.at(0)?.bf16()?, operands.at(1)?);
        let Packed { left, right } = scratch.of();
        let block = block_rounding(&gemm, rounding);
        let panels = if let Some(panels) = b.panels(block) {
            panels
        } else {
            right.pack(unit, block, b.bf16()?, gemm.n);
            right
        };
        match out {
            Output::Bf16(c) => run(unit, gemm, rounding, (a, panels), left, c),
            Output::F32(c) => run(unit, gemm, rounding, (a, panels), left, c),
        }
        Ok(())
    }
}

/// Most rows of A that one task packs and multiplies: a panel of B is read once for all of them.
const TASK_ROWS: usize = 64;

/// The mode in which a GEMM's operands are converted to BFP16: the mode of the core that
/// multiplies. Under [`GemmOutput::FusedCast`] that is not the core of the launch, which only
/// casts, and it always rounds to nearest even.
fn block_rounding(gemm: &Gemm, rounding: Rounding) -> Rounding {
    match gemm.output {
        GemmOutput::FusedCast => Rounding::NearestEven,
        GemmOutput::F32External
        | GemmOutput::F32Direct
        | GemmOutput::Drain
        | GemmOutput::Direct => rounding,
    }
}

/// An element type of C.
trait Element: Copy + Send {
    /// Narrows or copies a row of a tile.
    fn store(sums: &[f32], rounding: Rounding, to: &mut [Self]);
}

impl Element for f32 {
    #[inline(always)]
    fn store(sums: &[f32], _: Rounding, to: &mut [Self]) {
        to.copy_from_slice(sums);
    }
}

impl Element for bf16 {
    #[inline(always)]
    fn store(sums: &[f32], rounding: Rounding, to: &mut [Self]) {
        rounding.narrow_slice(sums, to);
    }
}

/// `c[m, n] = a[m, k] b`, b packed in [`block_rounding`]; `packed` is room for A.
fn run<E: Element>(
    unit: VectorUnit,
    gemm: Gemm,
    rounding: Rounding,
    (a, b): (&[bf16], &Panels),
    packed: &mut Vec<LeftPair>,
    c: &mut [E],
) {
    // Tasks enough to balance, rows enough for each panel of B to be used several times.
    let tasks = 4 * rayon::current_num_threads();
    let rows = gemm.m.div_ceil(tasks).next_multiple_of(Tile::ROWS).min(TASK_ROWS);
    let pairs = rows * gemm.k / 2 / Tile::ROWS;
    packed.resize(gemm.m.div_ceil(rows) * pairs, LeftPair::default());
    let pieces = c.par_chunks_mut(rows * gemm.n).zip(a.par_chunks(rows * gemm.k));
    pieces.zip(packed.par_chunks_mut(pairs)).for_each(|((c, a), packed)| {
        unit.run(Rows { gemm, rounding, a, b, packed, c });
    });
}

/// Some rows of C.
struct Rows<'a, E> {
    gemm: Gemm,
    rounding: Rounding,
    a: &'a [bf16],
    b: &'a Panels,
    packed: &'a mut [LeftPair],
    c: &'a mut [E],
}

impl<E: Element> Task for Rows<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Gemm { k, n, .. } = self.gemm;
        let depth = k / 2;
        let block = block_rounding(&self.gemm, self.rounding);
        let tiles = self.a.len().div_ceil(Tile::ROWS * k);
        let packed = &mut self.packed[..tiles * depth];
        for (rows, pairs) in self.a.chunks(Tile::ROWS * k).zip(packed.chunks_exact_mut(depth)) {
            pack_rows(simd, block, rows, k, pairs);
        }
        for (panel, b) in self.b.iter().enumerate() {
            let first = panel * Tile::COLS;
            let cols = Tile::COLS.min(n - first);
            for (rows, a) in self.c.chunks_mut(Tile::ROWS * n).zip(packed.chunks_exact(depth)) {
                let tile = product(simd, self.gemm.output, self.rounding, a, b);
                for (row, sums) in rows.chunks_exact_mut(n).zip(&tile.0) {
                    E::store(&sums[..cols], self.rounding, &mut row[first..first + cols]);
                }
            }
        }
    }
}

#[inline(always)]
fn product<S: Simd>(
    simd: S,
    output: GemmOutput,
    rounding: Rounding,
    a: &[LeftPair],
    b: &[RightPair],
) -> Tile {
    let mut tile = Tile::ZERO;
    match output {
        GemmOutput::F32External
        | GemmOutput::F32Direct
        | GemmOutput::Drain
        | GemmOutput::FusedCast => {
            simd.multiply(a, b, &mut tile);
        }
        GemmOutput::Direct => {
            let pairs = Gemm::TILE_K_L1 / 2;
            for (a, b) in a.chunks(pairs).zip(b.chunks(pairs)) {
                simd.multiply(a, b, &mut tile);
                tile.round(rounding);
            }
        }
    }
    tile
}
