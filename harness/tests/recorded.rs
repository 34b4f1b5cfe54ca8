//! The goldens that this repository's recorder wrote, as the harness reads them.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use approx::assert_relative_eq;
use npugate::goldens::Goldens;
use npugate::metrics::{Distribution, kl_compact};
use std::{fs, path::Path};

/// The goldens of this repository's models.
fn recorded() -> Vec<Goldens> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let folders = fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path());
    let goldens: Vec<_> = folders
        .filter(|folder| folder.join("manifest.json").exists())
        .map(|folder| Goldens::open(&folder, folder.file_name().unwrap().to_str().unwrap()))
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(!goldens.is_empty(), "no goldens found");
    goldens
}

/// The goldens in this repository are complete, to the last tensor.
#[test]
fn the_goldens_of_this_repository_are_whole() {
    for goldens in recorded() {
        goldens.verify().unwrap();
        for prompt in &goldens.manifest().prompts {
            goldens.tokens(prompt).unwrap();
            if prompt.layers.is_some() {
                goldens.layers(prompt).unwrap();
            }
        }
    }
}

/// The recorder computed KL(r, b) with numpy over the whole vocabulary. The goldens give a
/// lower bound of it, or its exact value if the vocabulary is small enough to be stored.
#[test]
fn the_divergence_of_the_references_is_the_one_that_the_recorder_measured() {
    for goldens in recorded() {
        let manifest = goldens.manifest();
        let mut found = Vec::new();
        let mut stored = usize::MAX;
        for prompt in &manifest.prompts {
            for step in goldens.tokens(prompt).unwrap().steps {
                stored = stored.min(step.ids.len());
                found
                    .push(kl_compact(&step.ids, &step.r, step.r_lse, &step.b, step.b_lse).unwrap());
            }
        }
        let (noise, found) = (manifest.noise, Distribution::of(&found).unwrap());
        let pairs = [(found.mean, noise.kl_rb_mean), (found.p95, noise.kl_rb_p95)];
        for (found, recorded) in pairs {
            if stored == manifest.config.vocab_size {
                assert_relative_eq!(found, recorded, max_relative = 1e-9);
            } else {
                assert!((0.5..=1.0).contains(&(found / recorded)), "{found} of {recorded}");
            }
        }
    }
}
