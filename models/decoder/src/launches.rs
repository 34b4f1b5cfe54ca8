//! Every launch of the programs as the record of tested kernels wants it.

use crate::{Options, Programs, kernel_cases};
use npugate::schema::LaunchDescription;
use serde_json::Value;

/// Every launch of `programs`, whether a test gates it or not.
pub(crate) fn describe(programs: &Programs, options: &Options) -> Vec<LaunchDescription> {
    let arithmetic = arithmetic(options);
    let toolchain = arithmetic.as_str();
    let described = programs.all().flat_map(|program| {
        let notes = program.tiling_notes();
        program.launches.iter().enumerate().map(move |(index, launch)| LaunchDescription {
            program: program.name.clone(),
            index,
            test: kernel_cases::id(&launch.op).to_string(),
            op: json(&launch.op),
            tiling: launch.tiling.as_ref().map(json),
            toolchain: toolchain.to_owned(),
            note: notes.iter().find(|note| note.launch == index).map(|note| note.text.to_owned()),
        })
    });
    described.collect()
}

/// The toolchain, and what was put in place of the hardware's functions: what is
/// measured with those is no toolchain's.
fn arithmetic(options: &Options) -> String {
    let replaced = options.functions.replaced();
    let replaced = replaced.map(|(name, choice)| format!(", {name} {choice}"));
    options.toolchain.to_string() + &replaced.collect::<String>()
}

/// Plain data has no map with keys that JSON cannot hold, so this does not fail.
fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DecoderConfig;
    use npugate_kernels::Op;

    #[test]
    fn every_launch_of_every_program_is_described() {
        let config = DecoderConfig::from_json(
            r#"{"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 128,
                "intermediate_size": 256, "num_attention_heads": 2, "vocab_size": 64,
                "max_position_embeddings": 256, "rms_norm_eps": 1e-5}"#,
        );
        let options = Options::new(256);
        let programs = Programs::new(&config.unwrap(), &options).unwrap();
        let described = describe(&programs, &options);
        assert_eq!(described.len(), programs.launches().count());
        let head = described.last().unwrap();
        assert_eq!((head.program.as_str(), head.index), ("lm_head", 0));
        assert_eq!(head.test, "kernel::gemv::64x128");
        assert_eq!(head.toolchain, "rne");
        for (description, launch) in described.iter().zip(programs.launches()) {
            let op: Op = serde_json::from_value(description.op.clone()).unwrap();
            assert_eq!(op, launch.op);
        }
        let options = options.with(&"exp2=exact".parse().unwrap()).unwrap();
        assert_eq!(describe(&programs, &options)[0].toolchain, "rne, exp2 exact");
    }
}
