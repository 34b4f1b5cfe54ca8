//! The kernels and the comparator beside their peers on this machine, in one run:
//! `cargo bench -p npugate-bench`. `NPUGATE_PYTHON` names the interpreter for the Python peers.
//!
//! A missed ratio is printed, but is not an error, since it depends on the machine. The required
//! ratios are for an x86-64 with AVX-512 BF16, which torch uses too.

use half::bf16;
use npugate::metrics::{Axis, judge};
use npugate::{DType, Tensor, Tolerance};
use npugate_bench::{BenchError, Contest, Contestant, Memory, Npu, Python, Ratio, Required};
use npugate_kernels::{
    AttentionLayout, FlashAttention, Gemm, GemmOutput, Gemv, Mask, Op,
    inputs::{self, Draw},
};
use std::cell::RefCell;
use std::process::ExitCode;

const OURS: &str = "emulated NPU";
const CANDLE: &str = "candle f32";
const TORCH: &str = "torch bf16";
const COPY: &str = "copy (read + written)";
const READ: &str = "read";
const COMPARATOR: &str = "comparator";
const NUMPY: &str = "numpy";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), BenchError> {
    let python = RefCell::new(Python::start()?);
    println!("{} threads\n", rayon::current_num_threads());
    let mut ratios = gemm(&python, LARGE)?;
    ratios.extend(gemm(&python, SMALL)?);
    ratios.extend(gemv()?);
    attention()?;
    ratios.extend(comparator(&python)?);
    println!("\n{:<58} {:>7} {:>9}", "ratio", "is", "required");
    for ratio in ratios {
        println!("{ratio}");
    }
    println!(
        "\nA GEMV only reads, and one core's reads alone can be slower than its reads and writes \
         together: its share of the machine's read rate is given too."
    );
    Ok(())
}

#[derive(Clone, Copy)]
struct GemmCase {
    name: &'static str,
    gemm: Gemm,
    request: &'static str,
    work: fn(&str) -> f64,
    rounds: usize,
    required: (Required, Required),
}

const LARGE: GemmCase = GemmCase {
    name: "gemm 2048x2048x2048 drain",
    gemm: Gemm { m: 2048, k: 2048, n: 2048, output: GemmOutput::Drain },
    request: "gemm 2048 2048 2048",
    work: |_| 2.0 * 2048.0 * 2048.0 * 2048.0 / 1e9,
    rounds: 15,
    required: (Required::AtLeast(2.0), Required::AtLeast(1.0)),
};

const SMALL: GemmCase = GemmCase {
    name: "gemm 256x576x1536 drain",
    gemm: Gemm { m: 256, k: 576, n: 1536, output: GemmOutput::Drain },
    request: "gemm 256 576 1536",
    work: |_| 2.0 * 256.0 * 576.0 * 1536.0 / 1e9,
    rounds: 100,
    required: (Required::Nothing, Required::Nothing),
};

/// Weights are static and packed before the clock starts; candle and torch get their operands in
/// the layout that they use.
fn gemm(python: &RefCell<Option<Python>>, case: GemmCase) -> Result<Vec<Ratio>, BenchError> {
    let GemmCase { name, gemm, request, work, rounds, required } = case;
    let mut npu = Npu::new(Op::Gemm(gemm))?;
    println!("vector unit: {}", npu.vector_unit());
    let device = candle_core::Device::Cpu;
    let a = candle_core::Tensor::randn(0f32, 1f32, (gemm.m, gemm.k), &device)?;
    let b = candle_core::Tensor::randn(0f32, 1f32, (gemm.k, gemm.n), &device)?;
    let mut contestants = vec![
        Contestant::new(OURS, move || npu.run()),
        Contestant::timed(CANDLE, move || Ok(a.matmul(&b).map(drop)?)),
    ];
    contestants.extend(peer(python, "torch", TORCH, request));
    let rates = Contest { name, work, unit: "GFLOP/s", rounds, contestants }.run()?;
    Ok(vec![
        Ratio::of(name, &rates, CANDLE, required.0),
        Ratio::of(name, &rates, TORCH, required.1),
    ])
}

/// A peer in Python, if its module is installed.
fn peer<'a>(
    python: &'a RefCell<Option<Python>>,
    module: &str,
    name: &'static str,
    request: &'static str,
) -> Option<Contestant<'a>> {
    let found = python.borrow().as_ref().is_some_and(|python| python.has(module));
    found.then(|| {
        Contestant::new(name, move || match python.borrow_mut().as_mut() {
            Some(python) => python.time(request),
            None => Err(BenchError::Answer { request: request.to_owned(), answer: String::new() }),
        })
    })
}

/// The bytes per second that a GEMV reads, against the bytes per second that a copy by the same
/// threads reads and writes, in buffers that do not fit in any cache. The weights of 1536x576 do.
fn gemv() -> Result<Vec<Ratio>, BenchError> {
    const NAME: &str = "gemv 49152x576";
    let mut large = Npu::new(Op::Gemv(Gemv { m: 49152, k: 576 }))?;
    let memory = RefCell::new(Memory::new());
    let contestants = vec![
        Contestant::new(OURS, move || large.run()),
        Contestant::timed(COPY, || {
            memory.borrow_mut().copy();
            Ok(())
        }),
        Contestant::timed(READ, || {
            memory.borrow().read();
            Ok(())
        }),
    ];
    let work = |name: &str| match name {
        COPY => 2.0 * Memory::BYTES / 1e9,
        READ => Memory::BYTES / 1e9,
        _ => 49152.0 * 576.0 * 2.0 / 1e9,
    };
    let rates = Contest { name: NAME, work, unit: "GB/s", rounds: 30, contestants }.run()?;
    let mut small = Npu::new(Op::Gemv(Gemv { m: 1536, k: 576 }))?;
    let cached = Contest {
        name: "gemv 1536x576 (cached)",
        work: |_| 1536.0 * 576.0 * 2.0 / 1e9,
        unit: "GB/s",
        rounds: 200,
        contestants: vec![Contestant::new(OURS, move || small.run())],
    }
    .run()?;
    let mut with_copy = cached;
    with_copy.extend(rates.iter().filter(|(name, _)| *name == COPY));
    Ok(vec![
        Ratio::of(NAME, &rates, COPY, Required::AtLeast(0.7)),
        Ratio::of(NAME, &rates, READ, Required::Nothing),
        Ratio::of("gemv 1536x576 (cached)", &with_copy, COPY, Required::Nothing),
    ])
}

fn attention() -> Result<(), BenchError> {
    let mut npu = Npu::new(Op::FlashAttention(FlashAttention {
        tokens: 2048,
        heads: 9,
        kv_heads: 3,
        head_dim: 64,
        mask: Mask::Causal,
        layout: AttentionLayout::SeqFirst,
    }))?;
    Contest {
        name: "flash_attention 2048 tokens, 9/3 heads of 64, causal",
        // Two products, of which only the causal half is computed.
        work: |_| 2.0 * 2048.0 * 2048.0 * 9.0 * 64.0 / 1e9,
        unit: "GFLOP/s",
        rounds: 15,
        contestants: vec![Contestant::new(OURS, move || npu.run())],
    }
    .run()
    .map(drop)
}

/// All figures of one pair of 2048x2048: of the whole, and of each row, column and head.
fn comparator(python: &RefCell<Option<Python>>) -> Result<Vec<Ratio>, BenchError> {
    const NAME: &str = "comparator 2048x2048";
    const SIDE: usize = 2048;
    // A reference, and a device that differs by rounding and a little more.
    let drawn = inputs::draw(
        &Op::Gemm(Gemm { m: SIDE, k: SIDE, n: SIDE, output: GemmOutput::Drain }),
        Draw::Registry { seed: 42 },
    );
    let widened = |tensor: &npugate_kernels::Tensor| match tensor.data() {
        npugate_kernels::TensorData::Bf16(values) => {
            values.iter().map(|value| value.to_f32()).collect::<Vec<f32>>()
        }
        npugate_kernels::TensorData::F32(values) => values.to_vec(),
    };
    let (r, noise) = (widened(&drawn[0]), widened(&drawn[1]));
    let device = r.iter().zip(&noise).map(|(r, n)| bf16::from_f32(r + 1e-3 * n).to_f32());
    let y = Tensor::new([SIDE, SIDE], DType::Bf16, device.collect())?;
    let r = Tensor::new([SIDE, SIDE], DType::F32, r)?;
    let tolerance = Tolerance { rtol: 1.6e-2, atol: 1.5e-3 };
    let axes = [Axis::Row, Axis::Column, Axis::Head { head_dim: 64 }];
    let mut contestants = vec![Contestant::timed(COMPARATOR, || {
        std::hint::black_box(judge(&y, &r, tolerance, &axes)?);
        Ok(())
    })];
    contestants.extend(peer(python, "numpy", NUMPY, "compare 2048 2048"));
    let work = |_: &str| (SIDE * SIDE) as f64 / 1e9;
    let rates =
        Contest { name: NAME, work, unit: "G elements/s", rounds: 20, contestants }.run()?;
    Ok(vec![Ratio::of(NAME, &rates, NUMPY, Required::AtLeast(10.0))])
}
