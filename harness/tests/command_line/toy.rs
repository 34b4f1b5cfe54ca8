//! Toy adapters: kernels that add, right and wrong, and a model that counts.

use half::bf16;
use npugate::schema::{Access, ModelConfig, Sha256, WeightsFile, WeightsSource};
use npugate::{
    Adapter, Context, DType, DeviceSpec, Draw, Gates, Kernel, KernelId, RunError, SettingsError,
    Tensor, Tolerance,
    model::{Block, Kv, Model, PrecisionProfile, Prefill, Probe, Runner, Usage},
};
use std::process::ExitCode;

/// Runs the gate binary of a toy: `sound`, `faulty`, `sealed`, `model` or `own`.
pub fn main(name: &str) -> ExitCode {
    match name {
        "sound" => npugate::main(Toy(vec![Add::new(2, 8), Add::new(4, 16), Add::new(4, 160)])),
        "faulty" => npugate::main(Toy(vec![
            Add::new(2, 8),
            Add { fault: Fault::Nan, ..Add::new(3, 8) },
            Add { fault: Fault::Panic, ..Add::new(4, 8) },
            Add { fault: Fault::Abort, ..Add::new(5, 8) },
            Add::new(6, 8),
        ])),
        "sealed" => npugate::main(Sealed(Add { fault: Fault::Panic, ..Add::new(2, 8) })),
        "model" => npugate::main(Counter),
        "own" => npugate::main(crate::own::Checked),
        _ => panic!("no toy is named {name}"),
    }
}

/// An adapter with kernels and no model.
struct Toy(Vec<Add>);

impl Adapter for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn devices(&self) -> Vec<DeviceSpec> {
        let host = DeviceSpec::hardware("host").access(Access::Shared);
        vec![host, DeviceSpec::hardware("other")]
    }

    fn settings(&self) -> &[&str] {
        &["toolchain"]
    }

    fn gates(&self, _: &Context) -> Result<Gates, SettingsError> {
        let kernels = self.0.iter().map(|add| Box::new(*add) as Box<dyn Kernel>);
        Ok(Gates::new().configuration("adds on the host").kernels(kernels))
    }
}

/// Adds two bf16 tensors.
#[derive(Clone, Copy)]
struct Add {
    shape: [usize; 2],
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    Nan,
    Panic,
    Abort,
}

impl Add {
    fn new(rows: usize, width: usize) -> Self {
        Self { shape: [rows, width], fault: Fault::None }
    }

    fn sum(self, inputs: &[Tensor], dtype: DType, store: fn(f32) -> f32) -> Tensor {
        let pairs = inputs[0].values().iter().zip(inputs[1].values());
        Tensor::new(self.shape, dtype, pairs.map(|(a, b)| store(a + b)).collect()).unwrap()
    }
}

impl Kernel for Add {
    fn id(&self) -> KernelId {
        let shape = format!("{}x{}", self.shape[0], self.shape[1]);
        KernelId::new("add", shape)
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance { rtol: 0.01, atol: 0.001 }
    }

    fn inputs(&self, draw: Draw) -> Option<Vec<Tensor>> {
        let (Draw::Registry { seed } | Draw::Integers { seed }) = draw;
        let mut state = seed as u32;
        let mut input = || {
            // Bits 24 to 31 of a linear congruential generator, -1..1.
            let values = std::iter::repeat_with(|| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f32::from((state >> 24) as u8) / 128.0 - 1.0
            });
            let values = values.map(|value| match draw {
                Draw::Registry { .. } => value,
                Draw::Integers { .. } => value.round(),
            });
            let values = values.take(self.shape.iter().product()).collect();
            Tensor::new(self.shape, DType::Bf16, values).unwrap()
        };
        Some(vec![input(), input()])
    }

    fn reference(&self, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        Ok(self.sum(inputs, DType::F32, |sum| sum))
    }

    fn run(&self, _: &Context, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        let mut output = self.sum(inputs, DType::Bf16, |sum| bf16::from_f32(sum).to_f32());
        match self.fault {
            Fault::None => {}
            Fault::Nan => output.values_mut()[9] = f32::NAN,
            Fault::Panic => panic!("the device was opened"),
            Fault::Abort => std::process::abort(),
        }
        Ok(output)
    }
}

/// Panics as soon as a device or weights are touched.
struct Sealed(Add);

impl Adapter for Sealed {
    fn name(&self) -> &'static str {
        "sealed"
    }

    fn gates(&self, _: &Context) -> Result<Gates, SettingsError> {
        Ok(Gates::new().kernel(self.0))
    }

    fn model(&self) -> Option<&dyn Model> {
        Some(self)
    }
}

impl Model for Sealed {
    fn config(&self) -> ModelConfig {
        config("sealed")
    }

    fn profile(&self) -> PrecisionProfile {
        PrecisionProfile::Bf16
    }

    fn weights(&self) -> WeightsFile {
        weights()
    }

    fn check_weights(&self) -> Result<usize, RunError> {
        panic!("the weights were read")
    }

    fn encode(&self, _: &str) -> Result<Vec<u32>, RunError> {
        panic!("the tokenizer was read")
    }

    fn decode(&self, _: &[u32]) -> Result<String, RunError> {
        panic!("the tokenizer was read")
    }

    fn build_runner(&self, _: &Context) -> Result<Box<dyn Runner>, RunError> {
        panic!("the device was opened")
    }
}

/// A model over bytes that counts: after `a` comes `b`. It stops after `z`, and it
/// fails after `Z`. An é is two tokens that follow each other in turn.
pub struct Counter;

impl Adapter for Counter {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn model(&self) -> Option<&dyn Model> {
        Some(self)
    }
}

impl Model for Counter {
    fn config(&self) -> ModelConfig {
        config("counter")
    }

    fn profile(&self) -> PrecisionProfile {
        PrecisionProfile::Bf16
    }

    fn weights(&self) -> WeightsFile {
        weights()
    }

    fn check_weights(&self) -> Result<usize, RunError> {
        Ok(0)
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, RunError> {
        Ok(text.bytes().map(u32::from).collect())
    }

    fn decode(&self, tokens: &[u32]) -> Result<String, RunError> {
        let bytes: Vec<_> = tokens.iter().map(|token| *token as u8).collect();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn stop_tokens(&self) -> Vec<u32> {
        vec![u32::from(b'z') + 1]
    }

    fn build_runner(&self, context: &Context) -> Result<Box<dyn Runner>, RunError> {
        assert_eq!(context.device, "emu", "the default device");
        match std::env::var_os("TOY_NO_WEIGHTS") {
            None => Ok(Box::new(Counting { length: 0 })),
            Some(_) => Err(RunError::setup("the weights are missing")),
        }
    }
}

struct Counting {
    length: usize,
}

impl Counting {
    fn logits(token: u32) -> Vec<f32> {
        let [first, second] = *"é".as_bytes() else { unreachable!() };
        let next = match token as u8 {
            b'Z' => return vec![f32::NAN; 256],
            byte if byte == first => second,
            byte if byte == second => first,
            byte => byte + 1,
        };
        (0..=255).map(|byte: u8| if byte == next { 1.0 } else { 0.0 }).collect()
    }
}

impl Runner for Counting {
    fn max_prefill(&self) -> usize {
        64
    }

    fn prefill(&mut self, tokens: &[u32], _: Probe) -> Result<Prefill, RunError> {
        self.length = tokens.len();
        let logits = Self::logits(*tokens.last().unwrap());
        let logits = Tensor::new([1, 256], DType::F32, logits)?;
        Ok(Prefill::new(logits))
    }

    fn decode_step(&mut self, token: u32, pos: usize) -> Result<Vec<f32>, RunError> {
        assert_eq!(pos, self.length, "a position that does not follow the cache");
        self.length += 1;
        Ok(Self::logits(token))
    }

    fn block(&mut self, _: usize, _: &Tensor) -> Result<Block, RunError> {
        Err(RunError::fault("no blocks"))
    }

    fn kv(&mut self, _: usize) -> Result<Kv, RunError> {
        Err(RunError::fault("no cache"))
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }
}

fn config(architecture: &str) -> ModelConfig {
    ModelConfig {
        architecture: architecture.to_owned(),
        n_layers: 2,
        hidden_size: 8,
        intermediate_size: 8,
        n_heads: 1,
        n_kv_heads: 1,
        head_dim: 8,
        vocab_size: 256,
        rope_theta: 1e4,
        rms_norm_eps: 1e-5,
        tie_word_embeddings: true,
    }
}

fn weights() -> WeightsFile {
    WeightsFile {
        file: "none".to_owned(),
        bytes: 0,
        sha256: Sha256::of(b""),
        source: WeightsSource::Hf {
            repo: "nobody/nothing".to_owned(),
            revision: "main".to_owned(),
            file: "none".to_owned(),
        },
        path: None,
    }
}
