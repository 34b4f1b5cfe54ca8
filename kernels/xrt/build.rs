//! Compiles and links the shim for the feature `link-xrt`; nothing without it.

fn main() {}
