//! The numbers that checks judge by.
//!
//! Every accumulation is in f64, so that the order of a sum does not show.
//! Nothing here can turn a NaN into a pass: a comparison of values that are not
//! finite is an error, a rank or a distribution of them is empty, and lengths
//! that differ are errors, never cut to the shorter one.

mod compare;
mod cosine;
mod distribution;
mod divergence;
mod error;
mod rank;
mod relative;
mod slices;

pub use compare::{ErrorMetrics, compare};
pub use cosine::{cosine, per_position_cosine};
pub use distribution::Distribution;
pub use divergence::{DivergenceError, kl, kl_compact, kl_compact_to, log_sum_exp};
pub use error::{CompareError, NonFinite, Side, expect_dtype, find_non_finite};
pub use rank::{argmax, top_k, top_k_inclusive};
pub use relative::{BF16_NOISE, relative_errors, relative_errors_by_head};
pub use slices::{Axis, Slice, SliceFigures, figures_by_slice, worst_slope, worst_sqnr};
