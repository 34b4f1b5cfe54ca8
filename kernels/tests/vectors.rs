//! The arithmetic equals that of `vectors/make_vectors.py` bit for bit: an implementation in numpy,
//! written from the description of the datapaths.

#![allow(clippy::unwrap_used)] // A test says no more than the error itself does.

mod support;

use std::collections::BTreeSet;

use half::bf16;
use npugate_kernels::{
    Access, EmulatorOptions, Exp2, Gemm, GemmOutput, Kernel, Op, Reciprocal, Rounding, Tanh,
    Tensor, TensorData, VectorUnit,
};
use serde_json::Value;
use support::launch_with;

const MODES: [(&str, Rounding); 3] = [
    ("nearest-even", Rounding::NearestEven),
    ("floor", Rounding::Floor),
    ("toward-zero", Rounding::TowardZero),
];

fn file(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Words of `digits` hexadecimal digits.
fn words(value: &Value, digits: usize) -> Vec<u32> {
    let text = value.as_str().unwrap();
    let word = |at: usize| u32::from_str_radix(&text[at..at + digits], 16).unwrap();
    (0..text.len()).step_by(digits).map(word).collect()
}

fn bf16s(value: &Value) -> Vec<bf16> {
    words(value, 4).into_iter().map(|word| bf16::from_bits(word as u16)).collect()
}

fn f32s(value: &Value) -> Vec<f32> {
    words(value, 8).into_iter().map(f32::from_bits).collect()
}

/// The generator of `make_vectors.py`.
fn draw(seed: u64, len: usize, scale: f64) -> Vec<bf16> {
    let value = |i: u64| {
        let mut z = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(seed);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let total: i32 = z.to_le_bytes().into_iter().map(i32::from).sum();
        bf16::from_f32((f64::from(total - 1020) * (scale / 256.0)) as f32)
    };
    (0..len as u64).map(value).collect()
}

#[test]
fn narrowing_equals_numpy_in_every_mode() {
    let file = file("rounding");
    let inputs = f32s(&file["input"]);
    for (name, rounding) in MODES {
        let expected = bf16s(&file[name]);
        let mut slice = vec![bf16::ZERO; inputs.len()];
        rounding.narrow_slice(&inputs, &mut slice);
        for ((&x, expected), in_slice) in inputs.iter().zip(expected).zip(slice) {
            let found = rounding.narrow(x);
            assert_eq!(found.to_bits(), expected.to_bits(), "{:#010x} {name}", x.to_bits());
            assert_eq!(in_slice.to_bits(), expected.to_bits(), "{:#010x} {name}", x.to_bits());
        }
    }
}

#[test]
fn nan_stays_nan_even_if_its_payload_is_in_the_half_that_is_dropped() {
    for (_, rounding) in MODES {
        for bits in [0x7F80_0001, 0xFF80_0001, 0x7FFF_FFFF, 0x7FC0_0000] {
            assert!(rounding.narrow(f32::from_bits(bits)).is_nan(), "{bits:#x} {rounding:?}");
        }
    }
}

/// Blocks are seen through a product with the identity, which BFP16 represents exactly.
#[test]
fn bfp16_blocks_equal_numpy_in_every_mode_on_either_side_of_a_product() {
    let file = file("bfp16");
    let values = bf16s(&file["input"]);
    let blocks = values.len() / 8;
    let identity: Vec<bf16> =
        (0..64).map(|i| if i % 9 == 0 { bf16::ONE } else { bf16::ZERO }).collect();
    let identity = Tensor::bf16([8, 8], identity).unwrap();
    let left = Tensor::bf16([blocks, 8], values.clone()).unwrap();
    let columns: Vec<bf16> =
        (0..values.len()).map(|i| values[i % blocks * 8 + i / blocks]).collect();
    let right = Tensor::bf16([8, blocks], columns).unwrap();
    for (name, rounding) in MODES {
        let expected = bf16s(&file[name]);
        let product = |m, n, inputs: &[Tensor]| {
            let op = Op::Gemm(Gemm { m, k: 8, n, output: GemmOutput::F32External });
            launch_with(EmulatorOptions::default(), op, rounding, inputs).to_f32()
        };
        let rows = product(blocks, 8, &[left.clone(), identity.clone()]);
        let cols = product(8, blocks, &[identity.clone(), right.clone()]);
        // By value: a mantissa has one zero.
        let same = |a: f32, b: bf16| a.partial_cmp(&b.to_f32()) == Some(std::cmp::Ordering::Equal);
        for (i, &expected) in expected.iter().enumerate() {
            let (left, right) = (rows[i], cols[i % 8 * blocks + i / 8]);
            let name = format!("block {}, value {}, {name}, {expected}", i / 8, i % 8);
            assert!(same(left, expected), "left, {name}: {left}");
            assert!(same(right, expected), "right, {name}: {right}");
        }
    }
}

#[test]
fn the_hardware_exp2_equals_numpy() {
    let file = file("exp2");
    for (x, expected) in f32s(&file["input"]).into_iter().zip(bf16s(&file["output"])) {
        assert_eq!(Exp2::Hardware.eval(x).to_bits(), expected.to_bits(), "exp2({x})");
    }
}

#[test]
fn the_surrogate_tanh_equals_numpy() {
    let file = file("tanh");
    for (x, expected) in bf16s(&file["input"]).into_iter().zip(bf16s(&file["output"])) {
        assert_eq!(Tanh::Hardware.eval(x.to_f32()).to_bits(), expected.to_bits(), "tanh({x})");
    }
}

#[test]
fn the_reciprocal_equals_numpy_in_every_mode() {
    let file = file("reciprocal");
    for (name, rounding) in MODES {
        for (v, expected) in bf16s(&file["input"]).into_iter().zip(bf16s(&file[name])) {
            let found = Reciprocal::Hardware.eval(v.to_f32(), rounding);
            assert_eq!(found.to_bits(), expected.to_bits(), "1 / {v}, {name}");
        }
    }
}

#[test]
fn every_kernel_equals_numpy_in_every_mode_on_every_vector_unit() {
    let cases = file("kernels");
    let cases = cases.as_array().unwrap();
    let mut seen = BTreeSet::new();
    for case in cases {
        let op: Op = serde_json::from_value(case["op"].clone()).unwrap();
        let rounding: Rounding = serde_json::from_value(case["rounding"].clone()).unwrap();
        seen.insert((op.kind(), rounding));
        let scales = case["scales"].as_array().unwrap();
        let reads = op.operands().into_iter().filter(|operand| operand.access == Access::Read);
        let inputs: Vec<Tensor> = reads
            .zip(scales)
            .enumerate()
            .map(|(i, (operand, scale))| {
                let seed = case["seed"].as_u64().unwrap() + i as u64;
                let len = operand.shape.iter().product();
                Tensor::bf16(operand.shape, draw(seed, len, scale.as_f64().unwrap())).unwrap()
            })
            .collect();
        for unit in VectorUnit::available() {
            let options = EmulatorOptions { vector_unit: Some(unit), ..EmulatorOptions::default() };
            let output = launch_with(options, op, rounding, &inputs);
            let name = format!("{op:?} {rounding:?} {unit}");
            let width = if let [_, .., last] = output.shape() { *last } else { 1 };
            let step = case["rows_step"].as_u64().unwrap() as usize;
            let (found, digits): (Vec<u32>, usize) = match output.data() {
                TensorData::Bf16(v) => (v.iter().map(|x| u32::from(x.to_bits())).collect(), 4),
                TensorData::F32(v) => (v.iter().map(|x| x.to_bits()).collect(), 8),
            };
            let found: Vec<u32> = found.chunks(width).step_by(step).flatten().copied().collect();
            let expected = words(&case["output"], digits);
            assert_eq!(found.len(), expected.len(), "{name}");
            let wrong = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
            assert_eq!(wrong, 0, "{name}: of {} elements", expected.len());
        }
    }
    for kernel in Kernel::ALL {
        for (name, rounding) in MODES {
            assert!(seen.contains(&(kernel, rounding)), "no vector of {kernel} in mode {name}");
        }
    }
}
