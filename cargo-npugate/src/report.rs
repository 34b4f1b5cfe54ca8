//! What is said of a run after it: the summary, the table by layer, the JUnit
//! report.

pub mod diagnosis;
pub mod junit;
pub mod summary;
pub mod table;
