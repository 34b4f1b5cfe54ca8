//! Filter expressions: `model(smollm2) & kind(kernel) & op(gemm) & m >= 256`
//! says which tests by what is known of them, where a part of a name would not
//! do. The same language stands behind `-E` and in the configuration file.

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
