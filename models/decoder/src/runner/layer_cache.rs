//! Keys and values of one layer.

use super::{RunnerError, tensors};
use half::bf16;
use npugate::model::Kv;

/// Positions in a tile of keys. That many scores are computed side by side,
/// instead of one dot product after another.
pub(super) const TILE: usize = 16;

/// Keys and values of one layer, rows of `kv_heads * head_dim`.
///
/// Values are stored row by row. Keys are stored in tiles of [`TILE`] positions,
/// each `[kv_heads * head_dim, TILE]`, so that the keys of a head in a tile are
/// contiguous.
#[derive(Clone)]
pub(super) struct LayerCache {
    width: usize,
    positions: usize,
    key_tiles: Vec<bf16>,
    values: Vec<bf16>,
}

impl LayerCache {
    /// Creates an empty cache with rows of `width`.
    pub(super) fn new(width: usize) -> Self {
        Self { width, positions: 0, key_tiles: Vec::new(), values: Vec::new() }
    }

    /// Returns the number of positions in the cache.
    pub(super) fn positions(&self) -> usize {
        self.positions
    }

    /// Forgets the positions from `positions` on.
    pub(super) fn truncate(&mut self, positions: usize) {
        if positions < self.positions {
            self.positions = positions;
            // What remains in the last tile is overwritten by the next rows.
            self.key_tiles.truncate(positions.div_ceil(TILE) * TILE * self.width);
            self.values.truncate(positions * self.width);
        }
    }

    /// Appends rows.
    pub(super) fn append(&mut self, keys: &[bf16], values: &[bf16]) {
        self.values.extend_from_slice(values);
        for key in keys.chunks_exact(self.width) {
            let (tile, lane) = (self.positions / TILE, self.positions % TILE);
            let start = tile * TILE * self.width;
            if lane == 0 {
                self.key_tiles.resize(start + TILE * self.width, bf16::ZERO);
            }
            let columns = self.key_tiles[start..].chunks_exact_mut(TILE);
            columns.zip(key).for_each(|(column, value)| column[lane] = *value);
            self.positions += 1;
        }
    }

    /// Returns the columns `columns` of all keys, one tile `[columns, TILE]` at a
    /// time. Beyond the last position, the contents of a tile are arbitrary.
    pub(super) fn key_tiles(
        &self,
        columns: std::ops::Range<usize>,
    ) -> impl Iterator<Item = &[bf16]> {
        let (start, end) = (columns.start * TILE, columns.end * TILE);
        self.key_tiles.chunks_exact(TILE * self.width).map(move |tile| &tile[start..end])
    }

    /// Returns the columns `columns` of all values, row by row.
    pub(super) fn value_rows(
        &self,
        columns: std::ops::Range<usize>,
    ) -> impl Iterator<Item = &[bf16]> {
        self.values.chunks_exact(self.width).map(move |row| &row[columns.clone()])
    }

    /// Returns the first `positions` as tensors of the checks.
    pub(super) fn to_kv(&self, positions: usize) -> Result<Kv, RunnerError> {
        let width = self.width;
        let key = |pos: usize| {
            let tile = &self.key_tiles[pos / TILE * TILE * width..][..TILE * width];
            tile.iter().skip(pos % TILE).step_by(TILE).copied()
        };
        let keys: Vec<bf16> = (0..positions).flat_map(key).collect();
        let values = &self.values[..positions * width];
        Ok(Kv::new(tensors::to_harness(&keys, width)?, tensors::to_harness(values, width)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(positions: std::ops::Range<usize>) -> Vec<bf16> {
        positions.flat_map(|pos| [pos as f32, -(pos as f32)]).map(bf16::from_f32).collect()
    }

    #[test]
    fn rows_come_back_as_they_went_in_across_tiles() {
        let mut cache = LayerCache::new(2);
        cache.append(&rows(0..20), &rows(20..40));
        cache.append(&rows(20..21), &rows(40..41));
        let kv = cache.to_kv(21).unwrap();
        let expected = |rows: &[bf16]| tensors::to_harness(rows, 2).unwrap();
        assert_eq!((kv.keys, kv.values), (expected(&rows(0..21)), expected(&rows(20..41))));
    }

    #[test]
    fn forgotten_positions_are_overwritten() {
        let mut cache = LayerCache::new(2);
        cache.append(&rows(0..20), &rows(0..20));
        cache.truncate(17);
        cache.append(&rows(50..51), &rows(60..61));
        assert_eq!(cache.positions(), 18);
        let kv = cache.to_kv(18).unwrap();
        assert_eq!(kv.keys.values()[34..], [50.0, -50.0]);
        assert_eq!(kv.values.values()[32..], [16.0, -16.0, 60.0, -60.0]);
        cache.truncate(0);
        assert_eq!(cache.to_kv(0).unwrap().keys.shape(), [0, 2]);
    }
}
