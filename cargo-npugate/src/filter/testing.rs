//! A few tests to match expressions against.

use super::facts::Facts;
use npugate_schema::{Attribute, ListedTest};

/// A model's test with attributes.
pub struct Example {
    model: &'static str,
    test: ListedTest,
}

impl Example {
    /// A test of a model; its package is `MODEL-adapter`.
    pub fn new(
        model: &'static str,
        name: &str,
        attributes: impl IntoIterator<Item = (&'static str, Attribute)>,
    ) -> Self {
        let mut test = ListedTest::new(name);
        test.attributes.extend(attributes.into_iter().map(|(key, value)| (key.into(), value)));
        Self { model, test }
    }

    /// What is known about it.
    pub fn facts(&self) -> Facts<'_> {
        Facts { model: self.model, package: "adapter", test: &self.test }
    }
}

/// Two kernels and a block of one model, and a kernel of another.
pub fn examples() -> Vec<Example> {
    let gemm = |m: u64| [("op", "gemm".into()), ("tier", "high".into()), ("m", m.into())];
    vec![
        Example::new("smollm2-135m", "kernel::gemm::2048x576x1536::high", gemm(2048)),
        Example::new("smollm2-135m", "kernel::gemm::64x576x1536::high", gemm(64)),
        Example::new("smollm2-135m", "block::layer03::cosine", [("layer", 3.into())]),
        Example::new("tiny-llama", "kernel::rms_norm::64x64", [("op", "rms_norm".into())]),
    ]
}
