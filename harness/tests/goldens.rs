//! Goldens are read completely or not at all. The files under `tests/data/golden`
//! were written by `tests/data/make_golden.py` with numpy.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use npugate::goldens::{GoldenError, Goldens, LayerGolden};
use npugate::schema::{GoldenFile, Prompt, Sha256};
use npugate::{DType, Tensor};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

const TOKENS: &str = "base_p00.safetensors";
const LAYERS: &str = "base_p00.layers.safetensors";

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden")
}

/// A copy of the goldens that a test may damage.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(data()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

fn first_prompt(goldens: &Goldens) -> &Prompt {
    &goldens.manifest().prompts[0]
}

type Parts = (Dtype, Vec<usize>, Vec<u8>);

/// Loads a golden of the first prompt after `change` to its file's tensors.
/// The manifest is made to match, so that only the tensors are changed.
fn load(
    file: &str,
    change: impl FnOnce(&mut BTreeMap<String, Parts>),
) -> Result<Option<LayerGolden>, GoldenError> {
    let folder = copy();
    let path = folder.path().join(file);
    let bytes = fs::read(&path).unwrap();
    let mut tensors: BTreeMap<_, _> = SafeTensors::deserialize(&bytes)
        .unwrap()
        .iter()
        .map(|(name, view)| {
            let parts = (view.dtype(), view.shape().to_vec(), view.data().to_vec());
            (name.to_owned(), parts)
        })
        .collect();
    change(&mut tensors);
    let views = tensors.iter().map(|(name, (dtype, shape, bytes))| {
        (name, TensorView::new(*dtype, shape.clone(), bytes).unwrap())
    });
    let bytes = safetensors::serialize(views, None).unwrap();
    fs::write(&path, &bytes).unwrap();
    let goldens = Goldens::open(folder.path(), "toy").unwrap();
    let mut prompt = first_prompt(&goldens).clone();
    let entry =
        GoldenFile { file: file.to_owned(), bytes: bytes.len() as u64, sha256: Sha256::of(&bytes) };
    if file == TOKENS {
        prompt.tokens = entry;
        goldens.tokens(&prompt).map(|_| None)
    } else {
        prompt.layers = Some(entry);
        goldens.layers(&prompt).map(Some)
    }
}

/// The error of such a load, without the folder.
fn load_changed(file: &str, change: impl FnOnce(&mut BTreeMap<String, Parts>)) -> String {
    let error = load(file, change).unwrap_err().to_string();
    let (folder, rest) = error.split_once(file).unwrap();
    assert!(folder.starts_with("golden "), "{error}");
    format!("golden {file}{rest}")
}

fn set_i32(tensors: &mut BTreeMap<String, Parts>, name: &str, index: usize, value: i32) {
    let bytes = &mut tensors.get_mut(name).unwrap().2;
    bytes[4 * index..4 * index + 4].copy_from_slice(&value.to_le_bytes());
}

/// `base, base + 1, ...` as `make_golden.py` writes it.
fn ramp(shape: [usize; 2], dtype: DType, base: u16) -> Tensor {
    let values = (0..shape[0] * shape[1]).map(|index| f32::from(base) + index as f32).collect();
    Tensor::new(shape, dtype, values).unwrap()
}

#[test]
fn token_goldens_are_cut_at_their_offsets() {
    let goldens = Goldens::open(data(), "toy").unwrap();
    let golden = goldens.tokens(first_prompt(&goldens)).unwrap();
    assert_eq!(golden.prompt_ids, [3, 1]);
    assert_eq!(golden.tokens, [6, 0, 2]);
    assert_eq!(golden.top5, [[6, 0, 1, 2, 3], [0, 7, 1, 2, 3], [2, 1, 0, 6, 5]]);
    assert_eq!(golden.steps.len(), 3);
    let step = &golden.steps[1];
    assert_eq!(step.ids, [0, 1, 2, 3, 7]);
    assert_eq!(step.b, [1.25, 1.5, 1.75, 2.0, 2.25]);
    assert_eq!(step.r, [101.25, 101.5, 101.75, 102.0, 102.25]);
    assert_eq!((step.b_lse.to_string(), step.r_lse.to_string()), ("9.5".into(), "109.5".into()));
    let declared = step.declared.as_ref().unwrap();
    assert_eq!(declared.logits, [201.25, 201.5, 201.75, 202.0, 202.25]);
    assert_eq!(declared.lse.to_string(), "209.5");
    assert_eq!((step.index_of(7), step.index_of(6)), (Some(4), None));
}

#[test]
fn layer_goldens_have_every_tensor_in_its_place() {
    let goldens = Goldens::open(data(), "toy").unwrap();
    let golden = goldens.layers(first_prompt(&goldens)).unwrap();
    let (bf16, f32) = (DType::Bf16, DType::F32);
    assert_eq!(golden.embed, ramp([2, 4], bf16, 0));
    assert_eq!(golden.b_final, ramp([2, 4], bf16, 200));
    assert_eq!(golden.r_final, ramp([2, 4], f32, 1200));
    assert_eq!(golden.layers.len(), 2);
    let layer = &golden.layers[1];
    assert_eq!(layer.b.hidden, ramp([2, 4], bf16, 64));
    assert_eq!(layer.b.attn_ctx, ramp([2, 8], bf16, 80));
    assert_eq!(layer.b.attn_out, ramp([2, 4], bf16, 96));
    assert_eq!(layer.b.mlp_out, ramp([2, 4], bf16, 112));
    assert_eq!(layer.r_hidden, ramp([2, 4], f32, 1064));
    assert_eq!(layer.injected.attn_ctx, ramp([2, 8], f32, 1080));
    assert_eq!(layer.injected.attn_out, ramp([2, 4], f32, 1096));
    assert_eq!(layer.injected.mlp_out, ramp([2, 4], f32, 1112));
    let declared = layer.declared.as_ref().unwrap();
    assert_eq!(declared.attn_ctx, ramp([2, 8], bf16, 144));
    assert_eq!(declared.attn_out, ramp([2, 4], bf16, 160));
    assert_eq!(declared.mlp_out, ramp([2, 4], bf16, 176));
}

#[test]
fn whole_goldens_are_verified_file_by_file() {
    assert_eq!(Goldens::open(data(), "toy").unwrap().verify().unwrap(), 3);
}

#[test]
fn a_missing_golden_says_how_to_restore_it() {
    let folder = copy();
    let path = folder.path().join(TOKENS);
    fs::remove_file(&path).unwrap();
    let goldens = Goldens::open(folder.path(), "toy").unwrap();
    let expected = format!(
        "golden {} is missing; record it with `cargo npugate record toy` or restore it from version control",
        path.display()
    );
    assert_eq!(goldens.tokens(first_prompt(&goldens)).unwrap_err().to_string(), expected);
    assert_eq!(goldens.verify().unwrap_err().to_string(), expected);
}

#[test]
fn one_flipped_bit_is_noticed() {
    let folder = copy();
    let path = folder.path().join(LAYERS);
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let goldens = Goldens::open(folder.path(), "toy").unwrap();
    assert!(goldens.tokens(first_prompt(&goldens)).is_ok(), "the other file is whole");
    let error = goldens.layers(first_prompt(&goldens)).unwrap_err();
    assert!(matches!(error, GoldenError::Digest { .. }));
    assert!(error.to_string().contains("does not match its manifest (sha256 "));
    assert!(goldens.verify().is_err());
}

#[test]
fn a_cut_file_is_noticed_by_its_size() {
    let folder = copy();
    fs::write(folder.path().join(TOKENS), b"").unwrap();
    let goldens = Goldens::open(folder.path(), "toy").unwrap();
    let error = goldens.tokens(first_prompt(&goldens)).unwrap_err().to_string();
    assert!(error.contains("bytes expected, 0 found"), "{error}");
}

#[test]
fn the_manifest_must_be_there_and_of_this_model_and_version() {
    let folder = copy();
    let open = || Goldens::open(folder.path(), "toy").unwrap_err().to_string();
    let error = Goldens::open(folder.path(), "other").unwrap_err().to_string();
    assert!(error.contains("has the goldens of toy, not of other"), "{error}");
    let path = folder.path().join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("npugate-golden/1", "npugate-golden/9")).unwrap();
    assert!(
        open().contains("in the format npugate-golden/9, but this npugate reads npugate-golden/1")
    );
    fs::write(&path, "{").unwrap();
    assert!(open().contains("is not a golden manifest"));
    fs::remove_file(&path).unwrap();
    assert!(open().ends_with("record them with `cargo npugate record toy`"));
}

#[test]
fn a_prompt_without_layers_says_so() {
    let goldens = Goldens::open(data(), "toy").unwrap();
    let error = goldens.layers(&goldens.manifest().prompts[1]).unwrap_err().to_string();
    assert!(error.starts_with("prompt base::p01 has no per-layer goldens"), "{error}");
}

#[test]
fn every_tensor_is_needed() {
    for file in [TOKENS, LAYERS] {
        let bytes = fs::read(data().join(file)).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        for name in tensors.names() {
            let error = load_changed(file, |tensors| drop(tensors.remove(name)));
            let expected = format!("golden {file}: tensor {name} is missing");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}

#[test]
fn the_declared_arithmetic_is_recorded_for_every_layer_or_for_none() {
    let golden = load(LAYERS, |tensors| tensors.retain(|name, _| !name.starts_with("q.")));
    assert!(golden.unwrap().unwrap().layers.iter().all(|layer| layer.declared.is_none()));
}

#[test]
fn a_tensor_of_another_dtype_or_shape_is_refused() {
    let name = "b.layer.00.attn_ctx";
    let error = load_changed(LAYERS, |tensors| tensors.get_mut(name).unwrap().0 = Dtype::F16);
    assert!(error.contains("tensor b.layer.00.attn_ctx is F16, not BF16"), "{error}");
    let error = load_changed(LAYERS, |tensors| tensors.get_mut(name).unwrap().1 = vec![4, 4]);
    assert!(error.contains("has the shape [4, 4], not [2, 8]"), "{error}");
    let error = load_changed(TOKENS, |tensors| tensors.get_mut("b.topk.ids").unwrap().1 = vec![15]);
    assert!(error.contains("has the shape [15], not [3, 5]"), "{error}");
}

#[test]
fn a_golden_that_is_not_finite_is_refused() {
    let error = load_changed(LAYERS, |tensors| {
        let bytes = &mut tensors.get_mut("i.layer.01.mlp_out").unwrap().2;
        bytes[20..24].copy_from_slice(&f32::NAN.to_le_bytes());
    });
    assert!(
        error.contains(
            "i.layer.01.mlp_out has 1 of 8 values not finite, the first is NaN at row 1, column 1"
        ),
        "{error}"
    );
    let error = load_changed(TOKENS, |tensors| {
        let bytes = &mut tensors.get_mut("r.lse").unwrap().2;
        bytes[8..16].copy_from_slice(&f64::INFINITY.to_le_bytes());
    });
    assert!(error.contains("r.lse has inf at index 1"), "{error}");
}

#[test]
fn token_ids_must_be_tokens() {
    for id in [-1, 8] {
        let error = load_changed(TOKENS, |tensors| set_i32(tensors, "logits.ids", 4, id));
        let expected = format!("has {id} at index 4, which is not a token of a vocabulary of 8");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn offsets_must_ascend_from_zero_to_the_end() {
    let change = |index, value| {
        load_changed(TOKENS, |tensors| set_i32(tensors, "logits.offsets", index, value))
    };
    assert!(change(1, 10).contains("logits.offsets is not ascending at index 2"));
    assert!(change(0, 1).contains("goes from 1 to 16, not from 0 to 16"));
    assert!(change(0, -1).contains("goes from -1 to 16, not from 0 to 16"));
    assert!(change(3, 15).contains("goes from 0 to 15, not from 0 to 16"));
}

#[test]
fn stored_ids_must_ascend_within_a_step() {
    let error = load_changed(TOKENS, |tensors| set_i32(tensors, "logits.ids", 6, 0));
    assert!(error.contains("logits.ids is not ascending at index 6"), "{error}");
}

#[test]
fn records_of_the_same_thing_must_agree() {
    let change =
        |name, index, id| load_changed(TOKENS, |tensors| set_i32(tensors, name, index, id));
    assert!(change("prompt.ids", 1, 2).contains("disagrees with the manifest at index 1"));
    assert!(change("b.tokens", 2, 1).contains("disagrees with b.topk.ids at index 2"));
    assert!(change("b.topk.ids", 4, 5).contains("b.topk.ids disagrees with logits.ids at index 0"));
}

#[test]
fn a_file_that_is_not_safetensors_is_refused_even_with_the_right_digest() {
    let folder = copy();
    fs::write(folder.path().join(TOKENS), b"not safetensors").unwrap();
    let goldens = Goldens::open(folder.path(), "toy").unwrap();
    let mut prompt = first_prompt(&goldens).clone();
    prompt.tokens.bytes = 15;
    prompt.tokens.sha256 = Sha256::of(b"not safetensors");
    let error = goldens.tokens(&prompt).unwrap_err().to_string();
    assert!(error.contains("is not a safetensors file"), "{error}");
}

#[test]
fn a_manifest_cannot_name_a_file_outside_of_its_folder() {
    let goldens = Goldens::open(data(), "toy").unwrap();
    for name in ["../secret", "/etc/hostname", "sub/file", "..", ""] {
        let mut prompt = first_prompt(&goldens).clone();
        prompt.tokens.file = name.to_owned();
        let error = goldens.tokens(&prompt).unwrap_err().to_string();
        assert!(error.contains("is not a file in the same folder"), "{name}: {error}");
    }
}
