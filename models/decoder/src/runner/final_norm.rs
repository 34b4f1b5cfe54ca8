//! The norm before the LM head, on the host.

use super::tensors::widen;
use half::bf16;

/// RMSNorm in f32, rounded to bf16 once.
pub(super) struct FinalNorm {
    weight: Vec<f32>,
    eps: f32,
}

impl FinalNorm {
    pub(super) fn new(weight: &[bf16], eps: f64) -> Self {
        Self { weight: weight.iter().map(|value| widen(*value)).collect(), eps: eps as f32 }
    }

    /// Normalises one row of the residual stream, `[hidden]`.
    pub(super) fn row(&self, x: &[bf16]) -> Vec<bf16> {
        let squares: f32 = x.iter().map(|value| widen(*value).powi(2)).sum();
        let scale = 1.0 / (squares / x.len() as f32 + self.eps).sqrt();
        let normed = x.iter().zip(&self.weight).map(|(x, w)| widen(*x) * scale * w);
        normed.map(bf16::from_f32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_divided_by_its_root_mean_square_and_scaled() {
        let weight = [1.0, 2.0, 1.0, 1.0].map(bf16::from_f32);
        let x = [3.0, -3.0, 3.0, -3.0].map(bf16::from_f32);
        let y: Vec<f32> =
            FinalNorm::new(&weight, 0.0).row(&x).iter().map(|value| value.to_f32()).collect();
        assert_eq!(y, [1.0, -2.0, 1.0, -1.0]);
    }
}
