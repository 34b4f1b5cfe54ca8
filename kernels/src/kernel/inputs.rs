//! What a reference is given, and the integers that a product is exact on.

/// Terms of a dot product of {-1, 0, 1} whose partial sums are all exact in bf16 (8 significant
/// bits).
pub const EXACT_K: usize = 256;

/// The values of the operands that a kernel reads, in argument order.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a>(pub(crate) &'a [Vec<f32>]);

impl<'a> Inputs<'a> {
    /// All of them.
    pub(crate) fn all<const N: usize>(self) -> [&'a [f32]; N] {
        let Ok(all) = <&[Vec<f32>; N]>::try_from(self.0) else {
            unreachable!("`reference::run` compares the number of inputs with the kernel's")
        };
        all.each_ref().map(Vec::as_slice)
    }
}
