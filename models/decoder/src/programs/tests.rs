use super::*;
use crate::{GemmMethod, Options};
use npugate_kernels::Role;

fn smollm2() -> DecoderConfig {
    DecoderConfig::from_json(
        r#"{"model_type": "llama", "num_hidden_layers": 30, "hidden_size": 576,
            "intermediate_size": 1536, "num_attention_heads": 9, "num_key_value_heads": 3,
            "vocab_size": 49152, "max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
            "rope_theta": 100000, "tie_word_embeddings": true}"#,
    )
    .unwrap()
}

fn keys(stage: &Stage) -> Vec<String> {
    let launches = stage.iter().flat_map(|program| &program.launches);
    launches.map(|launch| format!("{} {}", launch.op.kernel(), launch.op.shape_key())).collect()
}

#[test]
fn prefill_projects_rows_by_matrix_products_and_decode_one_row_by_matrix_vector_products() {
    let programs = Programs::new(&smollm2(), &Options::new(256)).unwrap();
    assert_eq!(
        keys(&programs.rms_qkv_rope),
        [
            "rms_norm 256x576",
            "gemm 256x576x576",
            "gemm 256x576x192",
            "gemm 256x576x192",
            "rope t256_h9_d64",
            "rope t256_h3_d64",
        ]
    );
    assert_eq!(
        keys(programs.flash_attn.as_ref().unwrap()),
        ["flash_attention s256_d64_q9_kv3_causal"]
    );
    assert_eq!(
        keys(&programs.decode_o_ffn),
        [
            "gemv 576x576",
            "add 1x576",
            "rms_norm 1x576",
            "gemv 1536x576",
            "gemv 1536x576",
            "silu_mul 1x1536",
            "gemv 576x1536",
            "add 1x576",
        ]
    );
    assert_eq!(keys(&programs.lm_head), ["gemv 16384x576"]);
}

#[test]
fn the_host_reads_back_only_what_it_or_the_next_stage_needs() {
    let programs = Programs::new(&smollm2(), &Options::new(256)).unwrap();
    let outputs = |stage: &Stage| -> Vec<String> {
        let args = stage.iter().flat_map(|program| &program.args);
        args.filter(|arg| arg.role == Role::Output).map(|arg| arg.name.clone()).collect()
    };
    assert_eq!(outputs(&programs.rms_qkv_rope), ["v", "q_rope", "k_rope"]);
    assert_eq!(outputs(&programs.o_ffn), ["out"]);
}

#[test]
fn leaf_programs_run_the_same_launches_one_by_one() {
    let merged = Programs::new(&smollm2(), &Options::new(256)).unwrap();
    let options = Options { fusion: Fusion::Leaf, ..Options::new(256) };
    let leaf = Programs::new(&smollm2(), &options).unwrap();
    assert_eq!(keys(&leaf.o_ffn), keys(&merged.o_ffn));
    assert!(leaf.all().all(|program| program.launches.len() == 1));
    assert_eq!(leaf.o_ffn[3].name, "o_ffn.gate");
    let names: std::collections::BTreeSet<_> = leaf.all().map(|program| &program.name).collect();
    assert_eq!(names.len(), leaf.all().count());
}

#[test]
fn options_choose_the_products_and_where_attention_runs() {
    let options =
        Options { gemm: GemmMethod::Direct, attention: Attention::Host, ..Options::new(96) };
    let programs = Programs::new(&smollm2(), &options).unwrap();
    assert!(programs.flash_attn.is_none());
    assert!(programs.launches().any(|launch| launch.op.tier() == Some("low")));
}

#[test]
fn a_sequence_length_without_an_attention_kernel_is_refused() {
    let error = Programs::new(&smollm2(), &Options::new(200)).unwrap_err().to_string();
    assert!(error.contains("tokens = 200 is not a multiple of 256"), "{error}");
}
