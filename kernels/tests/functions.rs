//! The functions that take the place of the hardware's: how they are named, read, and reach the
//! kernels that use them.

#![allow(clippy::unwrap_used)] // A test says no more than the error itself does.

mod support;

use half::bf16;
use npugate_kernels::{
    Bf16Table, EmulatorOptions, Exp2, FlashAttention, Functions, Gelu, LayerNorm, Mask, Op,
    Reciprocal, RmsNorm, Rounding, Rsqrt, SiluMul, Softmax, TableError, Tanh, Tensor,
    inputs::{self, Draw},
};
use support::launch_with;

fn table(f: impl Fn(f32) -> f32) -> Bf16Table {
    let entries: Vec<bf16> =
        (0..=u16::MAX).map(|i| bf16::from_f32(f(bf16::from_bits(i).to_f32()))).collect();
    Bf16Table::new(entries).unwrap()
}

fn run(functions: Functions, op: Op, inputs: &[Tensor]) -> Vec<f32> {
    let options = EmulatorOptions { functions, ..EmulatorOptions::default() };
    launch_with(options, op, Rounding::NearestEven, inputs).to_f32()
}

fn with_rsqrt(rsqrt: Rsqrt) -> Functions {
    Functions { rsqrt, ..Functions::HARDWARE }
}

fn with_tanh(tanh: Tanh) -> Functions {
    Functions { tanh, ..Functions::HARDWARE }
}

fn with_reciprocal(reciprocal: Reciprocal) -> Functions {
    Functions { reciprocal, ..Functions::HARDWARE }
}

#[test]
fn a_choice_is_written_as_it_is_read() {
    for name in ["hardware", "exact"] {
        assert_eq!(name.parse::<Exp2>().unwrap().to_string(), name);
        assert_eq!(name.parse::<Tanh>().unwrap().to_string(), name);
        assert_eq!(name.parse::<Reciprocal>().unwrap().to_string(), name);
        assert_eq!(name.parse::<Rsqrt>().unwrap().to_string(), name);
    }
    assert_eq!(Functions::default(), Functions::HARDWARE);
    for wrong in ["", "Exact", "table", "table:", "file:x"] {
        let error = wrong.parse::<Tanh>().unwrap_err().to_string();
        assert_eq!(error, "choose `hardware`, `exact` or `table:PATH`", "{wrong}");
    }
}

/// A file in the system's folder for temporary files, deleted when this is dropped.
struct File(std::path::PathBuf);

impl File {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("npugate-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_table_is_read_as_little_endian_words() {
    // Word i is i + 1, so bf16 of bits 0x3F7F becomes that of bits 0x3F80, which is 1.
    let words = (0..=u16::MAX).flat_map(|i| i.wrapping_add(1).to_le_bytes());
    let file = File::new("next.bin", &words.collect::<Vec<u8>>());
    let choice = format!("table:{}", file.0.display());
    let next: Tanh = choice.parse().unwrap();
    assert_eq!(next.eval(f32::from_bits(0x3F7F_0000)), bf16::ONE);
    assert_eq!(next.eval(f32::from_bits(0xBF7F_0000)), bf16::NEG_ONE);
    assert_eq!(next.to_string(), choice);
    assert_eq!(next.table().unwrap().path(), Some(file.0.as_path()));
    // Equal by values, wherever they come from.
    let same: Vec<bf16> = (0..=u16::MAX).map(|i| bf16::from_bits(i.wrapping_add(1))).collect();
    assert_eq!(next, Tanh::Table(Bf16Table::new(same).unwrap()));
    assert_ne!(next, Tanh::Table(table(|x| x)));
}

#[test]
fn a_table_that_cannot_be_used_says_what_is_wrong_where_and_what_to_do() {
    let file = File::new("short.bin", &vec![0; 131_070]);
    let error = format!("table:{}", file.0.display()).parse::<Exp2>().unwrap_err().to_string();
    assert!(error.starts_with(&format!("{} has 131070 bytes", file.0.display())), "{error}");
    assert!(error.contains("131,072") && error.contains("little-endian"), "{error}");
    let error = "table:no/such.bin".parse::<Rsqrt>().unwrap_err().to_string();
    let absolute = std::path::absolute("no/such.bin").unwrap();
    assert!(error.contains(&absolute.display().to_string()), "{error}");
    assert!(error.contains("give the path of a file of 131,072 bytes"), "{error}");
    let error = Bf16Table::new(vec![bf16::ONE; 3]).unwrap_err();
    assert!(matches!(error, TableError::Entries { found: 3 }), "{error}");
}

#[test]
fn exact_functions_are_correctly_rounded() {
    // By hand: 1/3 is 1.0101010|1.. 2^-2, 2^0.5 is 1.0110101|0.., tanh(0.5) is 0.46212 and lies
    // between 0.46094 and 0.46289.
    assert_eq!(Reciprocal::Exact.eval(3.0, Rounding::Floor).to_bits(), 0x3EAB);
    assert_eq!(Exp2::Exact.eval(0.5).to_bits(), 0x3FB5);
    assert_eq!(Tanh::Exact.eval(0.5).to_bits(), 0x3EED); // 0.46289
    assert_eq!(Rsqrt::Exact.eval(4.0).to_bits(), 0.5f32.to_bits());
    assert!(Exp2::Exact.eval(f32::NAN).is_nan() && Rsqrt::Exact.eval(f32::NAN).is_nan());
    assert!(Rsqrt::Hardware.eval(-1.0).is_nan() && Tanh::Exact.eval(f32::NAN).is_nan());
    assert!(Reciprocal::Exact.eval(f32::NAN, Rounding::Floor).is_nan());
}

#[test]
fn the_norms_take_their_reciprocal_root_from_a_table() {
    let half = || with_rsqrt(Rsqrt::Table(table(|_| 0.5)));
    let op = Op::RmsNorm(RmsNorm { rows: 3, cols: 32, eps: 1e-5 });
    let inputs = inputs::draw(&op, Draw::Registry { seed: 1 });
    let (x, w) = (inputs[0].to_f32(), inputs[1].to_f32());
    // A half of a bf16 is exact, so only the product with the weight is narrowed.
    let expected = |(i, x): (usize, &f32)| bf16::from_f32(x * 0.5 * w[i % 32]).to_f32();
    let expected: Vec<f32> = x.iter().enumerate().map(expected).collect();
    assert_eq!(run(half(), op, &inputs), expected);

    // The mean of each row is 0, the weight 1 and the bias 0.
    let op = Op::LayerNorm(LayerNorm { rows: 1, cols: 16, eps: 1e-5 });
    let x: Vec<f32> = (0..16).map(|i| if i % 2 == 0 { 3.0 } else { -3.0 }).collect();
    let bf16s = |shape: &[usize], values: &[f32]| {
        Tensor::bf16(shape, values.iter().map(|&v| bf16::from_f32(v)).collect::<Vec<_>>()).unwrap()
    };
    let wb = [[1.0; 16], [0.0; 16]].concat();
    let found = run(half(), op, &[bf16s(&[1, 16], &x), bf16s(&[32], &wb)]);
    assert_eq!(found, x.iter().map(|x| x * 0.5).collect::<Vec<_>>());
}

#[test]
fn the_activations_take_their_tanh_from_a_table() {
    for op in [Op::SiluMul(SiluMul { rows: 4, cols: 64 }), Op::Gelu(Gelu { rows: 4, cols: 64 })] {
        let inputs = inputs::draw(&op, Draw::Registry { seed: 1 });
        let tabled = run(with_tanh(Tanh::Table(table(f32::tanh))), op, &inputs);
        assert_eq!(tabled, run(with_tanh(Tanh::Exact), op, &inputs), "{op:?}");
        assert_ne!(tabled, run(Functions::HARDWARE, op, &inputs), "{op:?}");
        // With tanh = -1, the factor 1 + tanh is 0.
        let zeros = run(with_tanh(Tanh::Table(table(|_| -1.0))), op, &inputs);
        assert!(zeros.iter().all(|&x| x == 0.0), "{op:?}");
    }
}

#[test]
fn softmax_takes_its_exp2_and_its_reciprocal_from_tables() {
    let op = Op::Softmax(Softmax { rows: 2, cols: 64 });
    let x = Tensor::bf16([2, 64], vec![bf16::from_f32(1.5); 128]).unwrap();
    // Equal scores: every exponential is 1 and their sum is 64.
    let run = |functions| run(functions, op, std::slice::from_ref(&x));
    assert_eq!(run(with_reciprocal(Reciprocal::Exact)), [1.0 / 64.0; 128]);
    let identity = with_reciprocal(Reciprocal::Table(table(|x| x)));
    assert_eq!(run(identity), [64.0; 128]);
    let halves = Functions {
        exp2: Exp2::Table(table(|_| 0.5)),
        ..with_reciprocal(Reciprocal::Table(table(|x| x)))
    };
    assert_eq!(run(halves), [0.5 * 32.0; 128]);
}

#[test]
fn attention_takes_its_reciprocal_from_a_table() {
    let attention = FlashAttention {
        tokens: 256,
        heads: 1,
        kv_heads: 1,
        head_dim: 64,
        mask: Mask::Full,
        layout: npugate_kernels::AttentionLayout::SeqFirst,
    };
    let op = Op::FlashAttention(attention);
    // Equal scores and values of 1: the numerator and the denominator are both 256.
    let zeros = Tensor::bf16([256, 64], vec![bf16::ZERO; 256 * 64]).unwrap();
    let ones = Tensor::bf16([256, 64], vec![bf16::ONE; 256 * 64]).unwrap();
    let run = |functions| run(functions, op, &[zeros.clone(), zeros.clone(), ones.clone()]);
    assert_eq!(run(with_reciprocal(Reciprocal::Exact)), vec![1.0; 256 * 64]);
    let doubled = with_reciprocal(Reciprocal::Table(table(|x| 2.0 / x)));
    assert_eq!(run(doubled), vec![2.0; 256 * 64]);
}
