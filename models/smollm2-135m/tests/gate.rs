//! Gate.
fn main() {}
