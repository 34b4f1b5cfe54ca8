//! How much of a shape the kernel tests run.

/// How much of a shape the kernel tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Effort {
    /// The shapes that the programs launch.
    #[default]
    Full,
    /// The same kernels on few rows, for a quick look. Names stay the same, but the figures
    /// are those of another shape, so they are not compared with a baseline.
    Smoke,
}
