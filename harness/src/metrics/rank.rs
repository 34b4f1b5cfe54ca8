//! The best tokens of a vector of logits. Ties go to the lowest id, as in torch's argmax.
//! The ranking of logits with a NaN among them is empty, so that no token is found in it.

use std::cmp::Ordering;

/// The id of the largest logit, the lowest id on ties; `None` for no logits or
/// with a NaN among them.
pub fn argmax(logits: &[f32]) -> Option<u32> {
    let mut best: Option<(usize, f32)> = None;
    for (id, &logit) in logits.iter().enumerate() {
        if logit.is_nan() {
            return None;
        }
        if best.is_none_or(|(_, value)| logit > value) {
            best = Some((id, logit));
        }
    }
    best.map(|(id, _)| id as u32)
}

/// The ids of the `k` largest logits by (logit descending, id ascending); all
/// of them if there are fewer, none if there is a NaN among them.
pub fn top_k(logits: &[f32], k: usize) -> Vec<u32> {
    let mut ids = rankable(logits);
    if k == 0 {
        return Vec::new();
    }
    if k < ids.len() {
        ids.select_nth_unstable_by(k - 1, |&a, &b| best_first(logits, a, b));
        ids.truncate(k);
    }
    ids.sort_unstable_by(|&a, &b| best_first(logits, a, b));
    ids
}

/// Every id whose logit reaches the `k`-th largest one, in the order of
/// [`top_k`]: more than `k` ids if there is a tie at rank `k`.
pub fn top_k_inclusive(logits: &[f32], k: usize) -> Vec<u32> {
    let ids = top_k(logits, k);
    let Some(&last) = ids.last() else { return ids };
    let least = logits[last as usize];
    let mut ids = rankable(logits);
    ids.retain(|&id| logits[id as usize] >= least);
    ids.sort_unstable_by(|&a, &b| best_first(logits, a, b));
    ids
}

/// All ids, or none if a logit is NaN.
fn rankable(logits: &[f32]) -> Vec<u32> {
    if logits.iter().any(|logit| logit.is_nan()) {
        return Vec::new();
    }
    (0..logits.len() as u32).collect()
}

fn best_first(logits: &[f32], a: u32, b: u32) -> Ordering {
    // Adding zero turns -0.0 into 0.0, since `total_cmp` distinguishes them.
    let value = |id: u32| logits[id as usize] + 0.0;
    value(b).total_cmp(&value(a)).then(a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f32 = f32::INFINITY;

    #[test]
    fn argmax_takes_the_lowest_id_on_ties() {
        assert_eq!(argmax(&[1.0, 3.0, 3.0, 2.0]), Some(1));
        assert_eq!(argmax(&[-0.0, 0.0]), Some(0));
        assert_eq!(argmax(&[-INF, -INF]), Some(0));
    }

    #[test]
    fn nan_ranks_nothing() {
        assert_eq!(argmax(&[1.0, f32::NAN]), None);
        assert_eq!(argmax(&[]), None);
        assert!(top_k(&[1.0, f32::NAN, 2.0], 2).is_empty());
        assert!(top_k_inclusive(&[1.0, f32::NAN, 2.0], 2).is_empty());
    }

    #[test]
    fn the_top_is_ordered_by_logit_then_by_id() {
        let logits = [2.0, 5.0, -1.0, 5.0, 2.0, 9.0];
        assert_eq!(top_k(&logits, 4), [5, 1, 3, 0]);
        assert_eq!(top_k(&logits, 0), [0; 0]);
        assert_eq!(top_k(&logits, 99), [5, 1, 3, 0, 4, 2]);
        assert_eq!(top_k(&[0.0, -0.0, 0.0], 2), [0, 1]);
    }

    #[test]
    fn a_tie_at_rank_k_is_inclusive() {
        let logits = [2.0, 5.0, -1.0, 5.0, 2.0, 9.0];
        assert_eq!(top_k_inclusive(&logits, 3), [5, 1, 3]);
        assert_eq!(top_k_inclusive(&logits, 4), [5, 1, 3, 0, 4]);
        assert_eq!(top_k_inclusive(&[0.0, -0.0, 1.0], 2), [2, 0, 1]);
        assert_eq!(top_k_inclusive(&logits, 0), [0; 0]);
    }

    #[test]
    fn selection_agrees_with_a_full_sort() {
        // A linear congruential generator, with many ties.
        let mut state = 1u32;
        let logits: Vec<f32> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from((state >> 26) as u8)
        })
        .take(1000)
        .collect();
        let mut sorted: Vec<u32> = (0..1000).collect();
        // A stable sort by the logit alone keeps the ids ascending.
        sorted.sort_by(|&a, &b| logits[b as usize].total_cmp(&logits[a as usize]));
        for k in [1, 5, 256, 999, 1000] {
            assert_eq!(top_k(&logits, k), sorted[..k]);
        }
    }
}
