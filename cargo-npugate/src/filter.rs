//! Filter expressions: `model(smollm2) & kind(kernel) & op(gemm) & m >= 256` selects
//! tests by what is known about them, where a part of a name is not enough. `-E` and the
//! configuration file use the same language.

mod check;
mod error;
mod expression;
mod facts;
mod matcher;
mod parse;
mod predicate;
mod tree;

pub use error::FilterError;
pub use expression::Expression;
pub use facts::Facts;

#[cfg(test)]
pub mod testing;
