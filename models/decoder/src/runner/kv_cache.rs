//! The keys and values of all positions so far, on the host.

use super::{RunnerError, tensors};
use half::bf16;
use npugate::Kv;

/// Keys and values of every layer.
pub(super) struct KvCache {
    layers: Vec<LayerCache>,
    /// Positions that all layers hold. A layer may hold more after a call that
    /// failed half-way; those are overwritten.
    len: usize,
    capacity: usize,
}

/// Keys and values of one layer, `[positions, kv_heads * head_dim]` each.
#[derive(Clone, Default)]
pub(super) struct LayerCache {
    pub(super) keys: Vec<bf16>,
    pub(super) values: Vec<bf16>,
}

impl KvCache {
    pub(super) fn new(layers: usize, capacity: usize) -> Self {
        Self { layers: vec![LayerCache::default(); layers], len: 0, capacity }
    }

    /// Positions in the cache.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Positions that fit.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn layer(&self, layer: usize) -> &LayerCache {
        &self.layers[layer]
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.len = 0;
        for layer in &mut self.layers {
            layer.keys.clear();
            layer.values.clear();
        }
    }

    /// Puts the positions that follow the cache into one layer; they count once
    /// [`KvCache::advance`] says that all layers have them.
    pub(super) fn append(&mut self, layer: usize, keys: &[bf16], values: &[bf16], width: usize) {
        let LayerCache { keys: cached_keys, values: cached_values } = &mut self.layers[layer];
        for (cached, new) in [(cached_keys, keys), (cached_values, values)] {
            cached.truncate(self.len * width);
            cached.extend_from_slice(new);
        }
    }

    /// Counts positions that have been appended to every layer.
    pub(super) fn advance(&mut self, positions: usize) {
        self.len += positions;
    }
}

impl LayerCache {
    /// The first `positions` as the checks see them.
    pub(super) fn to_kv(&self, positions: usize, width: usize) -> Result<Kv, RunnerError> {
        Ok(Kv {
            keys: tensors::to_harness(&self.keys[..positions * width], width)?,
            values: tensors::to_harness(&self.values[..positions * width], width)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_a_call_that_failed_are_overwritten() {
        let mut cache = KvCache::new(2, 8);
        let row = |value: f32| [bf16::from_f32(value)];
        cache.append(0, &row(1.0), &row(1.0), 1);
        // The second layer failed: nothing has been counted.
        assert_eq!(cache.len(), 0);
        cache.append(0, &row(2.0), &row(3.0), 1);
        cache.append(1, &row(4.0), &row(5.0), 1);
        cache.advance(1);
        let kv = cache.layer(0).to_kv(cache.len(), 1).unwrap();
        assert_eq!((kv.keys.values(), kv.values.values()), (&[2.0][..], &[3.0][..]));
    }
}
