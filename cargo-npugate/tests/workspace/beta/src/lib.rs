//! Empty: this package has only a gate.
