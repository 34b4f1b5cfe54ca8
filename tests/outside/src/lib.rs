//! `y = a * x + y` in bf16, as a user's own kernel might compute it.

// All that a crate needs to gate its own kernels: the names that `npugate`'s documentation
// promises.
use npugate::{
    Adapter, Context, Draw, Gates, Kernel, KernelId, RunError, SettingsError, Tensor, Tolerance,
};

mod linear;

/// The adapter: two kernels, and a check of its own.
pub struct AxpyAdapter;

impl Adapter for AxpyAdapter {
    fn name(&self) -> &str {
        "axpy-npu"
    }

    fn gates(&self, _: &Context) -> Result<Gates, SettingsError> {
        let kernels = Gates::new().kernel(Axpy { n: 1024 }).kernel(Axpy { n: 4096 });
        Ok(kernels.check(linear::Linear))
    }
}

struct Axpy {
    n: usize,
}

impl Kernel for Axpy {
    fn id(&self) -> KernelId {
        KernelId::new("axpy", self.n.to_string())
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance { rtol: 1.6e-2, atol: 1e-3 }
    }

    fn inputs(&self, draw: Draw) -> Option<Vec<Tensor>> {
        // Signed values that bf16 holds exactly: multiples of 1/8 up to 8.
        let value = |i: usize, seed: u64| match draw {
            Draw::Registry { .. } => ((i as u64 * 37 + seed * 11) % 129) as f32 / 8.0 - 8.0,
            Draw::Integers { .. } => ((i as u64 + seed) % 3) as f32 - 1.0,
        };
        let tensor = |seed| {
            let values = (0..self.n).map(|i| value(i, seed)).collect();
            Tensor::bf16([self.n], values).ok()
        };
        Some(vec![tensor(1)?, tensor(2)?])
    }

    fn reference(&self, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        let pairs = inputs[0].values().iter().zip(inputs[1].values());
        Ok(Tensor::f32([self.n], pairs.map(|(x, y)| 2.0 * x + y).collect())?)
    }

    fn run(&self, _: &Context, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        // The "device": a sum that is truncated to bf16, with faults on demand.
        let fault = std::env::var("AXPY_FAULT").unwrap_or_default();
        if fault == "abort" && self.n == 4096 {
            std::process::abort();
        }
        let cut = |value: f32| f32::from_bits(value.to_bits() & 0xFFFF_0000);
        let pairs = inputs[0].values().iter().zip(inputs[1].values());
        let mut values: Vec<f32> = pairs.map(|(x, y)| cut(2.0 * x + y)).collect();
        match fault.as_str() {
            "nan" => values[7] = f32::NAN,
            "zero" => values[512..].fill(0.0),
            _ => {}
        }
        Ok(Tensor::bf16([self.n], values)?)
    }
}
