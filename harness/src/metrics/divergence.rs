//! Kullback-Leibler divergence between the token distributions of two vectors
//! of logits, in nats, in f64 and in log space.

/// A divergence below zero by more than this is not rounding.
const NEGATIVE: f64 = -1e-6;

/// The resolution of `1 - sum of probabilities` in f64: a tail below it is
/// rounding.
const TAIL: f64 = 1e-15;

/// Why two distributions cannot be compared.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DivergenceError {
    /// Unequal numbers of logits.
    #[error("the distributions have {p} and {q} logits, so they cannot be compared")]
    Length {
        /// Of the first one.
        p: usize,
        /// Of the second one.
        q: usize,
    },
    /// No logits at all.
    #[error("there are no logits to compare")]
    Empty,
    /// A token outside of the vocabulary.
    #[error("token {id} is outside of the vocabulary of {vocab} entries")]
    Vocabulary {
        /// The token.
        id: u32,
        /// Entries of the vocabulary.
        vocab: usize,
    },
    /// NaN, or an infinite logit that leaves no distribution.
    #[error("the logits are not finite, so they are not a distribution")]
    NonFinite,
    /// The stored logits have a total probability above 1.
    #[error(
        "the stored logits have a total probability of {0}: they do not belong to their log-sum-exp"
    )]
    Mass(f64),
    /// No pair of distributions has such a divergence.
    #[error(
        "the divergence is {0} nats, below zero: this is an error in npugate, please report it"
    )]
    Negative(f64),
}

/// `log(sum(exp(logits)))`, without overflow. NaN if a logit is NaN or plus
/// infinity, minus infinity if there are no logits.
pub fn log_sum_exp(logits: &[f32]) -> f64 {
    // `f32::max` would drop a NaN here, but the sum below keeps it.
    let max = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    if max == f64::NEG_INFINITY {
        let nan = logits.iter().any(|logit| logit.is_nan());
        return if nan { f64::NAN } else { max };
    }
    let sum: f64 = logits.iter().map(|&logit| (f64::from(logit) - max).exp()).sum();
    max + sum.ln()
}

/// `KL(p || q) = sum p (log p - log q)` over the whole vocabulary, with
/// p = softmax(`p`) and q = softmax(`q`). The truth comes first:
/// `kl(r, y)` is the cost of using y in place of r.
///
/// # Errors
///
/// Lengths that differ, no logits, logits that are not finite (minus infinity
/// is a probability of zero).
pub fn kl(p: &[f32], q: &[f32]) -> Result<f64, DivergenceError> {
    if p.len() != q.len() {
        return Err(DivergenceError::Length { p: p.len(), q: q.len() });
    }
    if p.is_empty() {
        return Err(DivergenceError::Empty);
    }
    let (p_lse, q_lse) = (log_sum_exp(p), log_sum_exp(q));
    // The lengths are equal, so `zip` drops nothing.
    let terms = p.iter().zip(q).map(|(&p, &q)| term(log(p, p_lse), log(q, q_lse)));
    checked(terms.sum())
}

/// A lower bound of `KL(p || q)` from the logits of some tokens and the log-sum-exp of
/// each side's whole vocabulary. The tokens are taken one by one, all others as one bucket
/// (by the log-sum inequality, merging outcomes never adds divergence). `ids` names the
/// tokens; the logits of both sides are in their order.
///
/// # Errors
///
/// Lengths that differ, no logits, logits that are not finite or do not belong
/// to their log-sum-exp.
pub fn kl_compact(
    ids: &[u32],
    p_logits: &[f32],
    p_lse: f64,
    q_logits: &[f32],
    q_lse: f64,
) -> Result<f64, DivergenceError> {
    for (p, q) in [(ids.len(), p_logits.len()), (p_logits.len(), q_logits.len())] {
        if p != q {
            return Err(DivergenceError::Length { p, q });
        }
    }
    if ids.is_empty() {
        return Err(DivergenceError::Empty);
    }
    let (mut sum, mut p_mass, mut q_mass) = (0.0, 0.0, 0.0);
    // The lengths are equal, so `zip` drops nothing.
    for (&p, &q) in p_logits.iter().zip(q_logits) {
        let (p, q) = (log(p, p_lse), log(q, q_lse));
        sum += term(p, q);
        p_mass += p.exp();
        q_mass += q.exp();
    }
    let (p_tail, q_tail) = (tail(p_mass)?, tail(q_mass)?);
    if p_tail > TAIL {
        // A larger q makes the bound smaller, so it is still a lower bound.
        sum += term(p_tail.ln(), q_tail.max(TAIL).ln());
    }
    checked(sum)
}

/// [`kl_compact`] against the logits of the whole vocabulary, such as a
/// device's.
///
/// # Errors
///
/// Those of [`kl_compact`], and a token outside of the vocabulary.
pub fn kl_compact_to(
    ids: &[u32],
    p_logits: &[f32],
    p_lse: f64,
    q: &[f32],
) -> Result<f64, DivergenceError> {
    let outside = |id| DivergenceError::Vocabulary { id, vocab: q.len() };
    let q_logits: Result<Vec<_>, _> =
        ids.iter().map(|&id| q.get(id as usize).copied().ok_or_else(|| outside(id))).collect();
    kl_compact(ids, p_logits, p_lse, &q_logits?, log_sum_exp(q))
}

fn log(logit: f32, lse: f64) -> f64 {
    f64::from(logit) - lse
}

/// `p (log p - log q)` from the logarithms; 0 where p is 0.
fn term(p: f64, q: f64) -> f64 {
    let mass = p.exp();
    if mass == 0.0 { 0.0 } else { mass * (p - q) }
}

/// The probability that is left besides `mass`.
fn tail(mass: f64) -> Result<f64, DivergenceError> {
    // The stored logits are f32, while their log-sum-exp may have been computed from wider
    // ones: a thousandth of a permille is rounding.
    match 1.0 - mass {
        tail if tail >= NEGATIVE => Ok(tail.max(0.0)),
        tail if tail.is_nan() => Err(DivergenceError::NonFinite),
        _ => Err(DivergenceError::Mass(mass)),
    }
}

/// Checks a divergence. NaN and a negative value are errors, unless the value is so small
/// that it is rounding. If q is zero where p is not, the divergence is rightly infinite.
fn checked(kl: f64) -> Result<f64, DivergenceError> {
    if kl.is_nan() {
        Err(DivergenceError::NonFinite)
    } else if kl < NEGATIVE {
        Err(DivergenceError::Negative(kl))
    } else {
        Ok(kl.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    const P: [f32; 6] = [2.0, 1.0, 0.5, -1.0, 3.5, -2.0];
    const Q: [f32; 6] = [1.5, 1.25, 0.5, -1.5, 3.0, -0.5];

    #[test]
    fn log_sum_exp_neither_overflows_nor_underflows() {
        // numpy, f64: m + log(sum(exp(x - m))).
        assert_relative_eq!(log_sum_exp(&P), 3.814_955_251_380_875_5);
        assert_relative_eq!(log_sum_exp(&[1000.0, 1000.0]), 1000.0 + 2f64.ln());
        assert_relative_eq!(log_sum_exp(&[-1000.0, -1000.0]), -1000.0 + 2f64.ln());
        assert_relative_eq!(log_sum_exp(&[f32::NEG_INFINITY; 2]), f64::NEG_INFINITY);
        assert_relative_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
    }

    #[test]
    fn log_sum_exp_keeps_nan() {
        assert!(log_sum_exp(&[1.0, f32::NAN]).is_nan());
        assert!(log_sum_exp(&[f32::NAN, f32::NAN]).is_nan());
        assert!(log_sum_exp(&[1.0, f32::INFINITY]).is_nan());
    }

    #[test]
    fn the_divergence_is_the_one_of_numpy() {
        assert_relative_eq!(kl(&P, &Q).unwrap(), 0.034_885_846_327_140_12, max_relative = 1e-12);
        assert_relative_eq!(kl(&Q, &P).unwrap(), 0.048_499_669_335_755_92, max_relative = 1e-12);
    }

    #[test]
    fn a_distribution_does_not_diverge_from_itself_and_shifts_do_not_matter() {
        assert_eq!(kl(&P, &P), Ok(0.0));
        let shifted: Vec<f32> = P.iter().map(|logit| logit + 16.0).collect();
        assert!(kl(&P, &shifted).unwrap() < 1e-12);
    }

    #[test]
    fn a_token_that_q_rules_out_makes_the_divergence_infinite() {
        let (half, one) = ([0.0, 0.0], [0.0, f32::NEG_INFINITY]);
        assert_eq!(kl(&half, &one), Ok(f64::INFINITY));
        // By hand: 1 * log(1 / 0.5).
        assert_relative_eq!(kl(&one, &half).unwrap(), 2f64.ln());
    }

    #[test]
    fn the_compact_divergence_is_a_lower_bound_and_exact_with_every_token() {
        let (p_lse, q_lse) = (log_sum_exp(&P), log_sum_exp(&Q));
        let all: Vec<u32> = (0..6).collect();
        let exact = kl_compact(&all, &P, p_lse, &Q, q_lse).unwrap();
        assert_relative_eq!(exact, 0.034_885_846_327_140_12, max_relative = 1e-12);
        let ids = [0, 1, 4];
        let pick = |logits: &[f32; 6]| ids.map(|id: u32| logits[id as usize]);
        let bound = kl_compact(&ids, &pick(&P), p_lse, &pick(&Q), q_lse).unwrap();
        assert_relative_eq!(bound, 0.028_607_636_037_803_55, max_relative = 1e-12);
        assert!(bound < exact);
        assert_eq!(kl_compact_to(&ids, &pick(&P), p_lse, &Q), Ok(bound));
    }

    #[test]
    fn the_mass_that_q_moves_out_of_sight_is_seen() {
        // p is all on token 0, q on token 1, which is not stored. By hand:
        // log(1 / q0) with q0 = exp(-20) / (1 + exp(-20)).
        let (p, q) = ([0.0, -800.0], [0.0, 20.0]);
        let found = kl_compact_to(&[0], &p[..1], log_sum_exp(&p), &q).unwrap();
        assert_relative_eq!(found, 20.0, max_relative = 1e-9);
    }

    #[test]
    fn nan_unequal_lengths_and_unknown_tokens_are_errors() {
        assert_eq!(kl(&[1.0, f32::NAN], &[1.0, 2.0]), Err(DivergenceError::NonFinite));
        assert_eq!(kl(&[1.0, 2.0], &[1.0, f32::NAN]), Err(DivergenceError::NonFinite));
        assert_eq!(kl(&[1.0], &[1.0, 2.0]), Err(DivergenceError::Length { p: 1, q: 2 }));
        assert_eq!(kl(&[], &[]), Err(DivergenceError::Empty));
        assert_eq!(
            kl_compact(&[0], &[1.0], 1.0, &[], 1.0).unwrap_err().to_string(),
            "the distributions have 1 and 0 logits, so they cannot be compared"
        );
        assert_eq!(
            kl_compact_to(&[7], &[1.0], 1.0, &P),
            Err(DivergenceError::Vocabulary { id: 7, vocab: 6 })
        );
    }

    #[test]
    fn logits_of_another_log_sum_exp_are_refused() {
        let error = kl_compact(&[0], &[2.0], 1.0, &[0.0], 1.0).unwrap_err();
        assert!(matches!(error, DivergenceError::Mass(mass) if mass > 2.7));
    }
}
