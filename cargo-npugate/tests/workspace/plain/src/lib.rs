//! Not an adapter.
