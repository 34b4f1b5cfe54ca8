//! The kernel tests of an adapter that is not a decoder: one layer of a vision encoder, whose
//! programs are written by hand.

#![allow(clippy::unwrap_used)] // A test says no more than the error itself does.

use std::sync::Arc;

use npugate::{Bias, Context, DType, Draw, Effort, Kernel};
use npugate_kernel_cases::{AmbiguousKernel, OpenDevice, arithmetic, cases, describe, programs};
use npugate_kernels::{
    Access, Add, Arg, ArgIndex, AttentionLayout, Emulator, Exp2, FlashAttention, Functions, Gelu,
    Gemm, GemmOutput, Launch, LayerNorm, Mask, Op, Program, Role, Rounding, Toolchain,
};

const PATCHES: usize = 256;
const WIDTH: usize = 128;
const WIDE: usize = 512;
const NORM: LayerNorm = LayerNorm { rows: PATCHES, cols: WIDTH, eps: 1e-6 };

fn gemm(k: usize, n: usize) -> Op {
    Op::Gemm(Gemm { m: PATCHES, k, n, output: GemmOutput::Drain })
}

fn attention() -> Op {
    Op::FlashAttention(FlashAttention {
        tokens: PATCHES,
        heads: 2,
        kv_heads: 2,
        head_dim: 64,
        mask: Mask::Full,
        layout: AttentionLayout::SeqFirst,
    })
}

/// `out = mlp(norm(x + attention(norm(x))))`, as two programs. An argument is named by what writes
/// it, and is an input or a weight if nothing does.
fn layer() -> Vec<Program> {
    let add = Op::Add(Add { rows: PATCHES, cols: WIDTH });
    let gelu = Op::Gelu(Gelu { rows: PATCHES, cols: WIDE });
    vec![
        program(
            "attention",
            &[
                (Op::LayerNorm(NORM), &["x", "wb", "normed"]),
                (gemm(WIDTH, WIDTH), &["normed", "wq", "q"]),
                (gemm(WIDTH, WIDTH), &["normed", "wk", "k"]),
                (gemm(WIDTH, WIDTH), &["normed", "wv", "v"]),
                (attention(), &["q", "k", "v", "o"]),
                (add, &["x", "o", "hidden"]),
            ],
        ),
        program(
            "mlp",
            &[
                (Op::LayerNorm(NORM), &["hidden", "wb", "normed"]),
                (gemm(WIDTH, WIDE), &["normed", "w1", "wide"]),
                (gelu, &["wide", "active"]),
                (gemm(WIDE, WIDTH), &["active", "w2", "out"]),
            ],
        ),
    ]
}

fn program(name: &str, launches: &[(Op, &[&str])]) -> Program {
    let mut program = Program { name: name.into(), args: Vec::new(), launches: Vec::new() };
    for (op, names) in launches {
        let operands = op.operands().into_iter().zip(*names);
        let args: Vec<ArgIndex> = operands
            .map(|(operand, name)| {
                program.arg(name).unwrap_or_else(|| {
                    let role = match operand.access {
                        Access::Write => Role::Output,
                        Access::Read if name.starts_with('w') => Role::Static,
                        Access::Read => Role::Input,
                    };
                    let (dtype, shape) = (operand.dtype, operand.shape);
                    program.args.push(Arg { name: (*name).to_owned(), dtype, shape, role });
                    ArgIndex(program.args.len() - 1)
                })
            })
            .collect();
        program.launches.push(Launch::new(*op, args, Rounding::NearestEven));
    }
    assert_eq!(program.check(), Ok(()));
    program
}

fn launches(programs: &[Program]) -> impl Iterator<Item = &Launch> {
    programs.iter().flat_map(|program| &program.launches)
}

fn open() -> OpenDevice {
    Arc::new(|| Ok(Box::new(Emulator::default())))
}

fn kernels(
    programs: &[Program],
    effort: Effort,
) -> Result<Vec<Box<dyn Kernel>>, Box<AmbiguousKernel>> {
    cases(launches(programs), &open(), effort).map_err(Box::new)
}

fn names(kernels: &[Box<dyn Kernel>]) -> Vec<String> {
    kernels.iter().map(|kernel| kernel.id().to_string()).collect()
}

/// The SQNR of a kernel on its device in decibels.
fn sqnr(kernel: &dyn Kernel) -> f64 {
    let inputs = kernel.inputs(Draw::Registry { seed: 1 }).unwrap();
    let found = kernel.run(&Context::default(), &inputs).unwrap();
    let reference = kernel.reference(&inputs).unwrap();
    assert_eq!(found.shape(), reference.shape());
    let square = |x: f32| f64::from(x) * f64::from(x);
    let pairs = found.values().iter().zip(reference.values());
    let (noise, signal) =
        pairs.fold((0.0, 0.0), |(n, s), (&y, &r)| (n + square(y - r), s + square(r)));
    10.0 * (signal / noise).log10()
}

#[test]
fn every_distinct_launch_is_one_kernel_in_the_order_in_which_they_run() {
    let names = names(&kernels(&layer(), Effort::Full).unwrap());
    assert_eq!(
        names,
        [
            "kernel::layer_norm::256x128",
            "kernel::gemm::256x128x128::high",
            "kernel::flash_attention::s256_d64_q2_kv2_full",
            "kernel::add::256x128",
            "kernel::gemm::256x128x512::high",
            "kernel::gelu::256x512",
            "kernel::gemm::256x512x128::high",
        ]
    );
    let mut programs: Vec<_> =
        programs(launches(&layer())).into_iter().map(|program| program.launches[0].op).collect();
    assert_eq!(programs.len(), names.len());
    programs.dedup();
    assert_eq!(programs.len(), names.len(), "a program for each, none twice");
}

#[test]
fn every_kernel_meets_its_own_limits_on_the_emulated_npu() {
    for kernel in kernels(&layer(), Effort::Full).unwrap() {
        let name = kernel.id().to_string();
        assert!(sqnr(kernel.as_ref()) > kernel.sqnr_floor().unwrap(), "{name}");
        let inputs = kernel.inputs(Draw::Registry { seed: 2 }).unwrap();
        let found = kernel.run(&Context::default(), &inputs).unwrap();
        assert_eq!(found.dtype(), kernel.output_dtype(), "{name}");
        let (reference, tolerance) = (kernel.reference(&inputs).unwrap(), kernel.tolerance());
        let mut pairs = found.values().iter().zip(reference.values());
        assert!(pairs.all(|(&y, &r)| tolerance.accepts(y, r)), "{name}");
    }
}

#[test]
fn a_kernel_describes_itself_to_the_checks() {
    let kernels = kernels(&layer(), Effort::Full).unwrap();
    let find = |op: &str| kernels.iter().find(|kernel| kernel.id().op == op).unwrap();
    let attention = find("flash_attention");
    assert_eq!((attention.head_dim(), attention.bias()), (Some(64), Bias::Declared));
    assert!(attention.inputs(Draw::Integers { seed: 1 }).is_none());
    let gemm = find("gemm");
    assert_eq!((gemm.head_dim(), gemm.bias()), (None, Bias::None));
    assert_eq!(gemm.output_dtype(), DType::Bf16);
    let inputs = gemm.inputs(Draw::Integers { seed: 1 }).unwrap();
    let found = gemm.run(&Context::default(), &inputs).unwrap();
    assert_eq!(found.values(), gemm.reference(&inputs).unwrap().values());
    let attributes = gemm.attributes();
    for (name, value) in [("m", 256), ("k", 128), ("n", 128)] {
        assert_eq!(attributes[name], npugate::schema::Attribute::Number(value), "{name}");
    }
}

#[test]
fn a_missing_input_is_an_error() {
    let kernels = kernels(&layer(), Effort::Full).unwrap();
    let inputs = kernels[0].inputs(Draw::Registry { seed: 1 }).unwrap();
    let error = kernels[0].run(&Context::default(), &inputs[..1]).unwrap_err().to_string();
    assert!(error.contains("reads 2 operands but 1 were given"), "{error}");
}

#[test]
fn launches_of_one_name_that_round_differently_are_refused() {
    let mut layer = layer();
    layer[1].launches[0].rounding = Rounding::Floor;
    let error = kernels(&layer, Effort::Full).err().unwrap();
    assert!(error.differ_in_rounding());
    assert_eq!(error.id().to_string(), "kernel::layer_norm::256x128");
    assert_eq!(
        error.to_string(),
        "`kernel::layer_norm::256x128` would name two kernels, LayerNorm(LayerNorm { rows: 256, \
         cols: 128, eps: 1e-6 }) rounding NearestEven and LayerNorm(LayerNorm { rows: 256, cols: \
         128, eps: 1e-6 }) rounding Floor; one of them would go untested"
    );
}

#[test]
fn launches_of_one_name_that_compute_something_else_are_refused() {
    let (mut other_eps, mut other_method) = (layer(), layer());
    other_eps[1].launches[0].op = Op::LayerNorm(LayerNorm { eps: 1e-5, ..NORM });
    if let Op::Gemm(gemm) = &mut other_method[0].launches[1].op {
        gemm.output = GemmOutput::FusedCast;
    }
    for layer in [other_eps, other_method] {
        let error = kernels(&layer, Effort::Full).err().unwrap();
        assert!(!error.differ_in_rounding(), "{error}");
        let [first, second] = error.launches();
        assert_ne!(first.op, second.op);
    }
}

#[test]
fn a_smoke_test_keeps_its_name_and_runs_fewer_rows() {
    let (full, smoke) =
        (kernels(&layer(), Effort::Full).unwrap(), kernels(&layer(), Effort::Smoke).unwrap());
    assert_eq!(names(&smoke), names(&full));
    let find = |name: &str| smoke.iter().find(|case| case.id().to_string() == name).unwrap();
    for (name, shape) in [
        ("kernel::layer_norm::256x128", [16, 128]),
        ("kernel::gemm::256x128x512::high", [128, 512]),
        ("kernel::gelu::256x512", [16, 512]),
    ] {
        let case = find(name);
        let inputs = case.inputs(Draw::Registry { seed: 1 }).unwrap();
        let found = case.run(&Context::default(), &inputs).unwrap();
        assert_eq!(found.shape(), shape, "{name}");
        assert_eq!(case.reference(&inputs).unwrap().shape(), shape, "{name}");
    }
}

/// The registry's tolerance of attention is wide enough for a core that floors; the SQNR floor is
/// not.
#[test]
fn attention_that_floors_is_below_its_sqnr_floor() {
    let above = |mask, rounding| {
        let mut layer = layer();
        let launch = &mut layer[0].launches[4];
        launch.rounding = rounding;
        if let Op::FlashAttention(attention) = &mut launch.op {
            attention.mask = mask;
        }
        let kernels = kernels(&layer, Effort::Full).unwrap();
        let case = kernels.iter().find(|case| case.id().op == "flash_attention").unwrap();
        sqnr(case.as_ref()) - case.sqnr_floor().unwrap()
    };
    for (mask, margin) in [(Mask::Causal, 1.0), (Mask::Full, 0.3)] {
        let nearest = above(mask, Rounding::NearestEven);
        assert!(nearest > margin, "{mask:?}, to nearest: {nearest:.1} dB above its floor");
        let floor = above(mask, Rounding::Floor);
        assert!(floor < -1.0, "{mask:?}, floor: {floor:.1} dB above its floor");
    }
}

#[test]
fn every_launch_of_every_program_is_described() {
    let layer = layer();
    let described = describe(&layer, &arithmetic(Toolchain::Rne, &Functions::HARDWARE));
    assert_eq!(described.len(), launches(&layer).count());
    let last = described.last().unwrap();
    assert_eq!((last.program.as_str(), last.index), ("mlp", 3));
    assert_eq!(last.test, "kernel::gemm::256x512x128::high");
    assert_eq!(last.toolchain, "rne");
    for (description, launch) in described.iter().zip(launches(&layer)) {
        let op: Op = serde_json::from_value(description.op.clone()).unwrap();
        assert_eq!(op, launch.op);
    }
    let exact = Functions { exp2: Exp2::Exact, ..Functions::HARDWARE };
    assert_eq!(arithmetic(Toolchain::Rne, &exact), "rne, exp2 exact");
}
