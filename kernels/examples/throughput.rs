//! How fast the emulated NPU is on this machine:
//! `cargo run --release -p npugate-kernels --example throughput [auto|VECTOR_UNIT [FILTER]]`.

use std::{error::Error, time::Duration};

use npugate_kernels::{
    Access, Add, Arg, ArgIndex, AttentionLayout, BufferSet, Device, Emulator, EmulatorOptions,
    FlashAttention, Gelu, Gemm, GemmOutput, Gemv, Launch, LayerNorm, Mask, Op, Program, RmsNorm,
    Role, Rope, SiluMul, Softmax, Toolchain,
    inputs::{self, Draw},
};

/// Runs timed; the best is reported, since others may use the machine.
const RUNS: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let vector_unit = std::env::args().nth(1).filter(|name| name != "auto");
    let vector_unit = vector_unit.map(|name| name.parse()).transpose()?;
    let filter = std::env::args().nth(2).unwrap_or_default();
    let options = EmulatorOptions { vector_unit, ..EmulatorOptions::default() };
    let mut emulator = Emulator::new(options);
    println!("{:?}", emulator.info());
    let selected = |op: &Op| format!("{} {}", op.kernel(), op.shape_key()).contains(&filter);
    for op in ops().into_iter().filter(selected) {
        let time = best(&mut emulator, op)?;
        let seconds = time.as_secs_f64();
        let (amount, unit) = work(&op);
        let tier = op.tier().unwrap_or("");
        println!(
            "{:<16} {:<26} {tier:<5} {:>10.1} us {:>8.1} {unit}",
            op.kernel(),
            op.shape_key(),
            seconds * 1e6,
            amount / seconds / 1e9,
        );
    }
    Ok(())
}

fn ops() -> Vec<Op> {
    let gemm = |m, k, n, output| Op::Gemm(Gemm { m, k, n, output });
    let attention = |tokens, heads, kv_heads| {
        Op::FlashAttention(FlashAttention {
            tokens,
            heads,
            kv_heads,
            head_dim: 64,
            mask: Mask::Causal,
            layout: AttentionLayout::SeqFirst,
        })
    };
    vec![
        gemm(256, 576, 1536, GemmOutput::Drain),
        gemm(256, 576, 1536, GemmOutput::Direct),
        gemm(256, 576, 192, GemmOutput::Drain),
        gemm(256, 1536, 576, GemmOutput::FusedCast),
        gemm(128, 2048, 2048, GemmOutput::FusedCast),
        gemm(128, 2048, 2048, GemmOutput::Direct),
        gemm(2048, 2048, 2048, GemmOutput::FusedCast),
        gemm(2048, 2048, 2048, GemmOutput::Direct),
        Op::Gemv(Gemv { m: 192, k: 576 }),
        Op::Gemv(Gemv { m: 576, k: 576 }),
        Op::Gemv(Gemv { m: 1536, k: 576 }),
        Op::Gemv(Gemv { m: 16384, k: 576 }),
        Op::Gemv(Gemv { m: 16384, k: 2048 }),
        attention(256, 9, 3),
        attention(2048, 9, 3),
        Op::RmsNorm(RmsNorm { rows: 1, cols: 576, eps: 1e-5 }),
        Op::RmsNorm(RmsNorm { rows: 256, cols: 576, eps: 1e-5 }),
        Op::Rope(Rope { tokens: 256, heads: 9, head_dim: 64, rotary_dim: 64 }),
        Op::SiluMul(SiluMul { rows: 1, cols: 1536 }),
        Op::SiluMul(SiluMul { rows: 256, cols: 1536 }),
        Op::Add(Add { rows: 256, cols: 1536 }),
        Op::LayerNorm(LayerNorm { rows: 1024, cols: 768, eps: 1e-5 }),
        Op::Gelu(Gelu { rows: 1024, cols: 3072 }),
        Op::Softmax(Softmax { rows: 1024, cols: 1024 }),
    ]
}

/// Floating-point operations, or bytes moved where memory is the limit.
fn work(op: &Op) -> (f64, &'static str) {
    match *op {
        Op::Gemm(Gemm { m, k, n, .. }) => (2.0 * (m * k * n) as f64, "GFLOP/s"),
        Op::FlashAttention(FlashAttention { tokens, heads, head_dim, .. }) => {
            (2.0 * (tokens * tokens * heads * head_dim) as f64, "GFLOP/s (causal half)")
        }
        _ => {
            let bytes = op.operands().into_iter().map(|o| o.shape.iter().product::<usize>() * 2);
            (bytes.sum::<usize>() as f64, "GB/s")
        }
    }
}

/// Time of the fastest launch; right matrices and weights are static, as in a model.
fn best(emulator: &mut Emulator, op: Op) -> Result<Duration, Box<dyn Error>> {
    let is_static = |name: &str| match op {
        Op::Gemm(_) => name == "b",
        Op::Gemv(_) => name == "a",
        _ => false,
    };
    let args = op.operands().into_iter().map(|operand| Arg {
        name: operand.name.to_owned(),
        dtype: operand.dtype,
        shape: operand.shape,
        role: match operand.access {
            Access::Write => Role::Output,
            Access::Read if is_static(operand.name) => Role::Static,
            Access::Read => Role::Input,
        },
    });
    let args: Vec<Arg> = args.collect();
    let operands: Vec<ArgIndex> = (0..args.len()).map(ArgIndex).collect();
    let launch = Launch::new(op, operands, Toolchain::Npu2_2026_06.rounding(&op));
    let program = Program { name: op.shape_key(), args, launches: vec![launch] };
    let id = emulator.load(&program)?;
    let set = BufferSet(0);
    let tensors = inputs::draw(&op, Draw::Registry { seed: 42 });
    let mut best = Duration::MAX;
    for run in 0..RUNS {
        for (index, tensor) in tensors.iter().enumerate() {
            if run == 0 || program.args[index].role == Role::Input {
                emulator.write(id, set, ArgIndex(index), tensor.clone())?;
            }
        }
        best = best.min(emulator.run(id, set)?.run);
    }
    Ok(best)
}
