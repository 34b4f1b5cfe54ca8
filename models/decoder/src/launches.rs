//! Every launch of the programs as the record of tested kernels wants it.

use crate::{Programs, kernel_cases};
use npugate::schema::LaunchDescription;
use npugate_kernels::Toolchain;
use serde_json::Value;

/// Every launch of `programs`, whether a test gates it or not.
pub(crate) fn describe(programs: &Programs, toolchain: Toolchain) -> Vec<LaunchDescription> {
    let described = programs.all().flat_map(|program| {
        program.launches.iter().enumerate().map(move |(index, launch)| LaunchDescription {
            program: program.name.clone(),
            index,
            test: kernel_cases::id(&launch.op).to_string(),
            op: json(&launch.op),
            tiling: None,
            toolchain: toolchain.to_string(),
        })
    });
    described.collect()
}

/// Plain data has no map with keys that JSON cannot hold, so this does not fail.
fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecoderConfig, Options};
    use npugate_kernels::Op;

    #[test]
    fn every_launch_of_every_program_is_described() {
        let config = DecoderConfig::from_json(
            r#"{"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 128,
                "intermediate_size": 256, "num_attention_heads": 2, "vocab_size": 64,
                "max_position_embeddings": 256, "rms_norm_eps": 1e-5}"#,
        );
        let programs = Programs::new(&config.unwrap(), &Options::new(256)).unwrap();
        let described = describe(&programs, Toolchain::Rne);
        assert_eq!(described.len(), programs.launches().count());
        let head = described.last().unwrap();
        assert_eq!((head.program.as_str(), head.index), ("lm_head", 0));
        assert_eq!(head.test, "kernel::gemv::64x128");
        assert_eq!(head.toolchain, "rne");
        for (description, launch) in described.iter().zip(programs.launches()) {
            let op: Op = serde_json::from_value(description.op.clone()).unwrap();
            assert_eq!(op, launch.op);
        }
    }
}
