use super::*;
use crate::{DecoderConfig, Options};
use npugate_kernels::{Emulator, Rounding};

fn programs() -> Programs {
    let config = DecoderConfig::from_json(
        r#"{"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 128,
            "intermediate_size": 256, "num_attention_heads": 2, "vocab_size": 64,
            "max_position_embeddings": 256, "rms_norm_eps": 1e-5}"#,
    );
    Programs::new(&config.unwrap(), &Options::new(256)).unwrap()
}

fn cases(programs: &Programs) -> Result<Vec<String>, AmbiguousKernel> {
    let open: OpenDevice = Arc::new(|| Ok(Box::new(Emulator::default())));
    let cases = kernel_cases(programs, &open, Effort::Full)?;
    Ok(cases.iter().map(|case| case.id().to_string()).collect())
}

#[test]
fn equal_launches_are_one_case() {
    let names = cases(&programs()).unwrap();
    assert_eq!(names.iter().filter(|name| *name == "kernel::rms_norm::256x128").count(), 1);
    assert!(names.len() < programs().launches().count());
}

#[test]
fn launches_of_one_name_that_round_differently_are_refused() {
    let mut programs = programs();
    programs.o_ffn[0].launches[2].rounding = Rounding::Floor;
    let error = cases(&programs).unwrap_err();
    assert!(error.differ_in_rounding());
    assert_eq!(
        error.to_string(),
        "`kernel::rms_norm::256x128` would name two kernels, RmsNorm(RmsNorm { rows: 256, cols: \
         128, eps: 1e-5 }) rounding NearestEven and RmsNorm(RmsNorm { rows: 256, cols: 128, eps: \
         1e-5 }) rounding Floor; one of them would go untested"
    );
}

#[test]
fn launches_of_one_name_that_compute_something_else_are_refused() {
    let mut other_eps = programs();
    if let Op::RmsNorm(norm) = &mut other_eps.o_ffn[0].launches[2].op {
        norm.eps = 1e-6;
    }
    let mut other_method = programs();
    if let Op::Gemm(gemm) = &mut other_method.o_ffn[0].launches[0].op {
        gemm.output = GemmOutput::FusedCast;
    }
    for programs in [other_eps, other_method] {
        let error = cases(&programs).unwrap_err();
        assert!(!error.differ_in_rounding(), "{error}");
    }
}

#[test]
fn a_smoke_test_keeps_its_name_and_runs_fewer_rows() {
    let programs = programs();
    let open: OpenDevice = Arc::new(|| Ok(Box::new(Emulator::default())));
    let full = kernel_cases(&programs, &open, Effort::Full).unwrap();
    let smoke = kernel_cases(&programs, &open, Effort::Smoke).unwrap();
    let names = |cases: &[Box<dyn Kernel>]| cases.iter().map(|case| case.id()).collect::<Vec<_>>();
    assert_eq!(names(&smoke), names(&full));
    let find = |name: &str| smoke.iter().find(|case| case.id().to_string() == name).unwrap();
    for (name, shape) in [
        ("kernel::rms_norm::256x128", [16, 128]),
        ("kernel::gemm::256x128x256::high", [128, 256]),
        ("kernel::silu_mul::256x256", [16, 256]),
    ] {
        let case = find(name);
        let inputs = case.inputs(Draw::Registry { seed: 1 }).unwrap();
        let found = case.run(&Context::default(), &inputs).unwrap();
        assert_eq!(found.shape(), shape, "{name}");
        assert_eq!(case.reference(&inputs).unwrap().shape(), shape, "{name}");
    }
}

/// The registry's tolerance of attention is wide enough for a core that floors;
/// the SQNR floor is not.
#[test]
fn attention_that_floors_is_below_its_sqnr_floor() {
    let above = |rounding| {
        let mut programs = programs();
        let attention = programs.flash_attn.as_mut().unwrap();
        attention[0].launches[0].rounding = rounding;
        let open: OpenDevice = Arc::new(|| Ok(Box::new(Emulator::default())));
        let cases = kernel_cases(&programs, &open, Effort::Full).unwrap();
        let case = cases.iter().find(|case| case.id().op == "flash_attention").unwrap();
        let inputs = case.inputs(Draw::Registry { seed: 1 }).unwrap();
        let context = Context::default();
        let (found, reference) =
            (case.run(&context, &inputs).unwrap(), case.reference(&inputs).unwrap());
        let pairs = found.values().iter().zip(reference.values());
        let square = |x: f32| f64::from(x) * f64::from(x);
        let (noise, signal) =
            pairs.fold((0.0, 0.0), |(n, s), (&y, &r)| (n + square(y - r), s + square(r)));
        10.0 * (signal / noise).log10() - case.sqnr_floor().unwrap()
    };
    let (nearest, floor) = (above(Rounding::NearestEven), above(Rounding::Floor));
    assert!(nearest > 1.0, "to nearest: {nearest:.1} dB above its floor");
    assert!(floor < -1.0, "floor: {floor:.1} dB above its floor");
}
