//! What must hold for every kernel, at its samples.

use std::{collections::BTreeSet, fmt};

use crate::{
    Access, Add, AttentionLayout, EmulatorOptions, FlashAttention, Gelu, Gemm, GemmOutput, Gemv,
    Kernel, LayerNorm, Mask, Op, RmsNorm, Rope, Rounding, SiluMul, Tensor, Tiling, VectorUnit,
    inputs::{self, Draw},
    kernel::KernelSpec,
    op::with_kernel,
    reference,
    registry::{Registry, Shape, Tolerance, published, tolerance},
    testing::{ROUNDINGS, launch_with},
};

fn samples(kernel: Kernel) -> Vec<Op> {
    with_kernel!(kernel, Spec => Spec::samples().into_iter().map(Op::from).collect())
}

fn all_samples() -> impl Iterator<Item = Op> {
    Kernel::ALL.into_iter().flat_map(samples)
}

/// The name of an op in the message of a failed test.
fn name(op: &Op) -> impl fmt::Debug {
    (op.kernel(), op.shape_key(), op.tier())
}

fn bits(tensor: &Tensor) -> Vec<u32> {
    tensor.to_f32().into_iter().map(f32::to_bits).collect()
}

#[test]
fn every_kernel_is_found_by_its_name() {
    for kernel in Kernel::ALL {
        assert_eq!(kernel.to_string().parse(), Ok(kernel));
        assert!(!samples(kernel).is_empty(), "{kernel} has no samples");
    }
    let names: BTreeSet<&str> = Kernel::ALL.map(Kernel::name).into();
    assert_eq!(names.len(), Kernel::ALL.len());
    let error = "gem".parse::<Kernel>().unwrap_err().to_string();
    assert!(error.starts_with("`gem` is not a kernel; the kernels are gemm, gemv, "), "{error}");
    assert!(error.ends_with(" and softmax"), "{error}");
}

#[test]
fn every_sample_is_legal_and_reads_before_it_writes() {
    for op in all_samples() {
        assert_eq!(op.check(), Ok(()), "{:?}", name(&op));
        let operands = op.operands();
        let (written, read) = operands.split_last().unwrap();
        assert_eq!(written.access, Access::Write, "{:?}", name(&op));
        assert!(read.iter().all(|operand| operand.access == Access::Read), "{:?}", name(&op));
    }
}

#[test]
fn every_op_is_written_as_its_kernel_and_read_again() {
    for op in all_samples() {
        let text = serde_json::to_string(&op).unwrap();
        assert!(text.starts_with(&format!("{{\"{:?}\":{{", op.kind())), "{text}");
        assert_eq!(serde_json::from_str::<Op>(&text).unwrap(), op);
    }
}

#[test]
fn every_shape_goes_to_the_registry_and_back() {
    for op in all_samples() {
        let shape = Shape::of(&op);
        assert_eq!(shape.to_string().parse(), Ok(shape), "{:?}", name(&op));
        assert_eq!(shape.kernel(), op.kind());
    }
}

#[test]
fn every_kernel_has_the_published_tolerance() {
    let gemm = |output| Op::Gemm(Gemm { m: 64, k: 2048, n: 64, output });
    let attention = FlashAttention {
        tokens: 256,
        heads: 1,
        kv_heads: 1,
        head_dim: 64,
        mask: Mask::Full,
        layout: AttentionLayout::SeqFirst,
    };
    // Those of mlir-air's kernel registry at e972f294 (2026-08-22), typed again.
    for (op, atol) in [
        (gemm(GemmOutput::F32External), 1.5e-3),
        (gemm(GemmOutput::F32Direct), 1.5e-3),
        (gemm(GemmOutput::Drain), 1.5e-3),
        (gemm(GemmOutput::FusedCast), 1.5e-3),
        (gemm(GemmOutput::Direct), 4e-3),
        (Op::Gemv(Gemv { m: 64, k: 64 }), 1e-3),
        (Op::RmsNorm(RmsNorm { rows: 1, cols: 64, eps: 1e-5 }), 5e-2),
        (Op::Rope(Rope { tokens: 1, heads: 1, head_dim: 64, rotary_dim: 64 }), 5e-2),
        (Op::FlashAttention(attention), 1e-1),
        (Op::SiluMul(SiluMul { rows: 1, cols: 64 }), 8e-2),
        (Op::Add(Add { rows: 1, cols: 64 }), 5e-2),
        (Op::LayerNorm(LayerNorm { rows: 1, cols: 64, eps: 1e-5 }), 6e-2),
        (Op::Gelu(Gelu { rows: 1, cols: 64 }), 5e-2),
    ] {
        assert_eq!(published(&op), Tolerance { rtol: 1.6e-2, atol }, "{}", op.kernel());
        assert_eq!(tolerance(&op), published(&op), "{}", op.kernel());
    }
}

#[test]
fn every_tolerance_and_floor_is_a_limit() {
    for op in all_samples() {
        let tolerance = tolerance(&op);
        assert!(tolerance.rtol > 0.0 && tolerance.atol > 0.0, "{:?}", name(&op));
        assert!((20.0..60.0).contains(&op.sqnr_floor()), "{:?}", name(&op));
    }
}

#[test]
fn a_smoke_test_has_fewer_rows_and_is_as_legal() {
    for op in all_samples() {
        let smoke = op.smoke();
        assert_eq!(smoke.check(), Ok(()), "{:?}", name(&op));
        assert_eq!(smoke.smoke(), smoke, "{:?}", name(&op));
        assert_eq!((smoke.kind(), smoke.method()), (op.kind(), op.method()));
    }
    for row in Registry::published().rows() {
        let op = row.op().unwrap().smoke();
        assert_eq!(op.check(), Ok(()), "{}", row.name());
        assert!(Tiling::propose(&op).is_some(), "{} as {}", row.name(), op.shape_key());
    }
}

#[test]
fn rows_shrink_and_everything_else_stays() {
    let gemm = Gemm { m: 2048, k: 1536, n: 576, output: GemmOutput::Direct };
    assert_eq!(Op::Gemm(gemm).smoke(), Op::Gemm(Gemm { m: 128, ..gemm }));
    let gemv = Gemv { m: 49152, k: 576 };
    assert_eq!(Op::Gemv(gemv).smoke(), Op::Gemv(Gemv { m: 512, k: 576 }));
    let attention = FlashAttention {
        tokens: 2048,
        heads: 14,
        kv_heads: 2,
        head_dim: 64,
        mask: Mask::SlidingWindow(512),
        layout: AttentionLayout::HeadsFirst,
    };
    let fewer = FlashAttention { tokens: 256, ..attention };
    assert_eq!(Op::FlashAttention(attention).smoke(), Op::FlashAttention(fewer));
    let rope = Rope { tokens: 2048, heads: 9, head_dim: 128, rotary_dim: 96 };
    assert_eq!(Op::Rope(rope).smoke(), Op::Rope(Rope { tokens: 16, ..rope }));
    let norm = RmsNorm { rows: 2048, cols: 576, eps: 1e-6 };
    assert_eq!(Op::RmsNorm(norm).smoke(), Op::RmsNorm(RmsNorm { rows: 16, ..norm }));
}

#[test]
fn what_is_small_stays_as_it_is() {
    for op in [
        Op::Gemm(Gemm { m: 64, k: 720, n: 32, output: GemmOutput::Drain }),
        Op::Gemv(Gemv { m: 128, k: 896 }),
        Op::Add(Add { rows: 1, cols: 245_760 }),
        Op::SiluMul(SiluMul { rows: 16, cols: 1536 }),
    ] {
        assert_eq!(op.smoke(), op);
    }
}

#[test]
fn all_vector_units_give_the_same_bits() {
    let units = VectorUnit::available();
    for op in all_samples() {
        let inputs = inputs::draw(&op, Draw::Registry { seed: 7 });
        for rounding in ROUNDINGS {
            let run = |unit: VectorUnit| {
                let options =
                    EmulatorOptions { vector_unit: Some(unit), ..EmulatorOptions::default() };
                bits(&launch_with(options, op, rounding, &inputs))
            };
            let scalar = run("scalar".parse().unwrap());
            for &unit in &units {
                let name = (name(&op), rounding, unit.name());
                assert!(run(unit) == scalar, "{name:?} differs from scalar");
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let with_threads = |threads: usize, op: Op, inputs: &[Tensor]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            bits(&launch_with(EmulatorOptions::default(), op, Rounding::NearestEven, inputs))
        })
    };
    for op in all_samples() {
        let inputs = inputs::draw(&op, Draw::Registry { seed: 7 });
        let one = with_threads(1, op, &inputs);
        for threads in [2, 3] {
            assert!(with_threads(threads, op, &inputs) == one, "{:?}, {threads}", name(&op));
        }
    }
}

#[test]
fn integers_come_out_exact_in_every_mode_wherever_they_must() {
    let exact: Vec<Op> = all_samples().filter(inputs::exact_integers).collect();
    assert!(!exact.is_empty());
    for op in exact {
        let inputs = inputs::draw(&op, Draw::Integers { seed: 1 });
        let reference = reference::run(&op, &inputs).unwrap();
        assert!(reference.iter().any(|&r| r != 0.0));
        for rounding in ROUNDINGS {
            let output = launch_with(EmulatorOptions::default(), op, rounding, &inputs).to_f32();
            assert_eq!(output, reference, "{:?} {rounding:?}", name(&op));
        }
    }
}
