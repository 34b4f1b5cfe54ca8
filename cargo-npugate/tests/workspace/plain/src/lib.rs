//! No adapter.
