//! Whole machines.
