//! The keys and values of all positions so far, on the host.

use super::layer_cache::LayerCache;
use half::bf16;

/// Keys and values of every layer.
pub(super) struct KvCache {
    layers: Vec<LayerCache>,
    /// Positions that all layers hold. After a call that failed half-way, a layer
    /// may hold more; those are overwritten.
    len: usize,
    capacity: usize,
}

impl KvCache {
    /// Creates an empty cache of `layers` with rows of `width`.
    pub(super) fn new(layers: usize, width: usize, capacity: usize) -> Self {
        Self { layers: vec![LayerCache::new(width); layers], len: 0, capacity }
    }

    /// Returns the number of positions in the cache.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of positions that fit.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn layer(&self, layer: usize) -> &LayerCache {
        &self.layers[layer]
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends positions to one layer. They count once [`KvCache::advance`] says
    /// that all layers have them.
    pub(super) fn append(&mut self, layer: usize, keys: &[bf16], values: &[bf16]) {
        let layer = &mut self.layers[layer];
        layer.truncate(self.len);
        layer.append(keys, values);
    }

    /// Counts positions that have been appended to every layer.
    pub(super) fn advance(&mut self, positions: usize) {
        self.len += positions;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_a_call_that_failed_are_overwritten() {
        let mut cache = KvCache::new(2, 1, 8);
        let row = |value: f32| [bf16::from_f32(value)];
        cache.append(0, &row(1.0), &row(1.0));
        // The second layer failed: nothing has been counted.
        assert_eq!(cache.len(), 0);
        cache.append(0, &row(2.0), &row(3.0));
        cache.append(1, &row(4.0), &row(5.0));
        cache.advance(1);
        let kv = cache.layer(0).to_kv(cache.len()).unwrap();
        assert_eq!((kv.keys.values(), kv.values.values()), (&[2.0][..], &[3.0][..]));
    }
}
