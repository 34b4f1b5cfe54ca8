//! The figures by which checks judge.
//!
//! Every accumulation is in f64, in an order that depends only on the shape, so that a
//! figure is the same on every machine. Nothing here can turn a NaN into a pass: comparing
//! values that are not finite is an error, a ranking of them is empty, a distribution of
//! them is NaN, and lengths that differ are errors, never cut to the shorter one.

mod checked;
mod compare;
mod cosine;
mod distribution;
mod divergence;
mod error;
mod pass;
mod rank;
mod region;
mod relative;
mod slices;
mod sums;

pub use compare::{ErrorMetrics, Judgement, compare, judge};
pub use cosine::{cosine, per_position_cosine};
pub use distribution::Distribution;
pub use divergence::{DivergenceError, kl, kl_compact, kl_compact_to, log_sum_exp};
pub use error::{CompareError, NonFinite, Side, expect_dtype, find_non_finite};
pub use rank::{argmax, top_k, top_k_inclusive};
pub use region::{Region, Span};
pub use relative::{BF16_NOISE, relative_errors, relative_errors_by_head};
pub use slices::{Axis, Slice, SliceFigures, figures_by_slice, worst_slope, worst_sqnr};
