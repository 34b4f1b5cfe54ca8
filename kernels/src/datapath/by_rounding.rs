//! Tasks that are compiled once for each rounding mode, so that the mode is not checked for every
//! element.

/// Makes a task of a type that has a `rounding` and does its work in `each(self, narrow)`.
///
/// A macro, not a generic wrapper, so that each kernel is compiled as if this were written in it.
macro_rules! task_by_rounding {
    ($task:ident) => {
        impl $crate::datapath::vector::Task for $task<'_> {
            type Output = ();

            #[inline(always)]
            fn run<S: $crate::datapath::vector::Simd>(self, _: S) {
                match self.rounding {
                    $crate::Rounding::NearestEven => self.each($crate::rounding::nearest_even),
                    $crate::Rounding::Floor => self.each($crate::rounding::floor),
                    $crate::Rounding::TowardZero => self.each($crate::rounding::toward_zero),
                }
            }
        }
    };
}

pub(crate) use task_by_rounding;
