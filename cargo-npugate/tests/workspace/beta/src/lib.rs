//! Empty: the gate is all there is.
