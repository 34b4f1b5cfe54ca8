//! Evidence for an independent computation: the device's raw logits and what the token
//! gate concluded from them, in files that the recorder's `--check` reads.

use crate::schema::write_atomically;
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::{
    io,
    path::{self, Path, PathBuf},
};

/// What the token gate saw of one prompt.
pub(crate) struct Evidence<'a> {
    /// The adapter's name.
    pub model: &'a str,
    /// The prompt's name.
    pub prompt: &'a str,
    /// The gate's verdict.
    pub holds: bool,
    /// The first step at which the device's best token is not the reference's.
    pub divergence: Option<usize>,
    /// The device's best token at each step.
    pub tokens: Vec<u32>,
    /// Its best five at each step.
    pub top5: Vec<&'a [u32]>,
    /// Its logits, `[steps, vocab]`.
    pub logits: &'a [f32],
}

impl Evidence<'_> {
    /// Writes `S_pNN.json` and `S_pNN.y.safetensors`.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let stem = stem(self.prompt);
        let logits_file = format!("{stem}.y.safetensors");
        let steps = self.tokens.len();
        let shape = vec![steps, self.logits.len() / steps.max(1)];
        let bytes: Vec<u8> = self.logits.iter().flat_map(|logit| logit.to_le_bytes()).collect();
        let view = TensorView::new(Dtype::F32, shape, &bytes).map_err(io::Error::other)?;
        let tensors = serialize([("y.logits", view)], None).map_err(io::Error::other)?;
        write_atomically(&folder.join(&logits_file), &tensors)?;

        let json = serde_json::json!({
            "model": self.model,
            "prompt": self.prompt,
            "outcome": if self.holds { "passed" } else { "failed" },
            "divergence_step": self.divergence,
            "tokens": self.tokens,
            "top5": self.top5,
            "logits_file": logits_file,
        });
        let text = serde_json::to_string_pretty(&json)? + "\n";
        write_atomically(&folder.join(format!("{stem}.json")), text.as_bytes())
    }
}

/// The files of one prompt, with absolute paths.
pub(crate) fn files(folder: &Path, prompt: &str) -> Vec<PathBuf> {
    let stem = stem(prompt);
    let names = [format!("{stem}.json"), format!("{stem}.y.safetensors")];
    let folder = path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    names.into_iter().map(|name| folder.join(name)).collect()
}

fn stem(prompt: &str) -> String {
    prompt.replace("::", "_")
}
