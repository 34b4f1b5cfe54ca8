//! What an adapter gates in one context.

use crate::Kernel;
use crate::check::Check;
use crate::schema::LaunchDescription;
use std::{fmt, sync::Arc};

/// What an adapter gates in one context. An adapter builds its programs once and derives
/// all of this from them.
///
/// ```
/// # use npugate::{Gates, Kernel};
/// # fn gates(first: impl Kernel + 'static, second: impl Kernel + 'static) -> Gates {
/// Gates::new().kernel(first).kernel(second)
/// # }
/// ```
#[derive(Default)]
#[non_exhaustive]
pub struct Gates {
    /// What runs where, in one line for the summary: `drain GEMM, NPU attention`.
    pub configuration: String,
    /// Every kernel at every shape that the adapter's programs launch.
    pub kernels: Vec<Box<dyn Kernel>>,
    /// Every launch of every program, with the test that gates it, for the record of
    /// tested kernels. It is listed from the programs, not from [`kernels`](Self::kernels),
    /// so that a launch that no test gates shows up.
    pub launches: Vec<LaunchDescription>,
    /// The adapter's own checks.
    pub checks: Vec<Arc<dyn Check>>,
}

impl Gates {
    /// No kernels and no checks besides those that every model has.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with a line that says what runs where.
    #[must_use]
    pub fn configuration(mut self, line: impl Into<String>) -> Self {
        self.configuration = line.into();
        self
    }

    /// The same, with one more kernel.
    #[must_use]
    pub fn kernel(mut self, kernel: impl Kernel + 'static) -> Self {
        self.kernels.push(Box::new(kernel));
        self
    }

    /// The same, with more kernels.
    #[must_use]
    pub fn kernels(mut self, kernels: impl IntoIterator<Item = Box<dyn Kernel>>) -> Self {
        self.kernels.extend(kernels);
        self
    }

    /// The same, with the launches of the programs.
    #[must_use]
    pub fn launches(mut self, launches: impl IntoIterator<Item = LaunchDescription>) -> Self {
        self.launches.extend(launches);
        self
    }

    /// The same, with one of the adapter's own checks.
    #[must_use]
    pub fn check(self, check: impl Check + 'static) -> Self {
        self.checks([Arc::new(check) as Arc<dyn Check>])
    }

    /// The same, with some of the adapter's own checks.
    #[must_use]
    pub fn checks(mut self, checks: impl IntoIterator<Item = Arc<dyn Check>>) -> Self {
        self.checks.extend(checks);
        self
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels: Vec<_> = self.kernels.iter().map(|kernel| kernel.id()).collect();
        let checks: Vec<_> = self.checks.iter().map(|check| check.name()).collect();
        f.debug_struct("Gates")
            .field("configuration", &self.configuration)
            .field("kernels", &kernels)
            .field("launches", &self.launches)
            .field("checks", &checks)
            .finish()
    }
}
