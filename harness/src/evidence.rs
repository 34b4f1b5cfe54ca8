//! Evidence for an independent computation: the device's raw logits and what
//! the token gate made of them, in files that the recorder's `--check` reads.

use crate::checks::Forced;
use crate::schema::write_atomically;
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::{
    io,
    path::{self, Path, PathBuf},
};

/// Writes `S_pNN.json` and `S_pNN.y.safetensors` for one prompt.
pub(crate) fn write(
    folder: &Path,
    model: &str,
    prompt: &str,
    forced: &Forced,
    logits: &[f32],
) -> io::Result<()> {
    let stem = stem(prompt);
    let logits_file = format!("{stem}.y.safetensors");
    let steps = forced.steps.len();
    let shape = vec![steps, logits.len() / steps.max(1)];
    let bytes: Vec<u8> = logits.iter().flat_map(|logit| logit.to_le_bytes()).collect();
    let view = TensorView::new(Dtype::F32, shape, &bytes).map_err(io::Error::other)?;
    let tensors = serialize([("y.logits", view)], None).map_err(io::Error::other)?;
    write_atomically(&folder.join(&logits_file), &tensors)?;

    let tokens: Vec<_> = forced.steps.iter().map(|step| step.token).collect();
    let top5: Vec<_> = forced.steps.iter().map(|step| &step.top5).collect();
    let json = serde_json::json!({
        "model": model,
        "prompt": prompt,
        "outcome": if forced.token_set_holds() { "passed" } else { "failed" },
        "divergence_step": forced.divergence(),
        "tokens": tokens,
        "top5": top5,
        "logits_file": logits_file,
    });
    let text = serde_json::to_string_pretty(&json)? + "\n";
    write_atomically(&folder.join(format!("{stem}.json")), text.as_bytes())
}

/// The files of one prompt, with paths that hold wherever they are read.
pub(crate) fn files(folder: &Path, prompt: &str) -> Vec<PathBuf> {
    let stem = stem(prompt);
    let names = [format!("{stem}.json"), format!("{stem}.y.safetensors")];
    let folder = path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    names.into_iter().map(|name| folder.join(name)).collect()
}

fn stem(prompt: &str) -> String {
    prompt.replace("::", "_")
}
