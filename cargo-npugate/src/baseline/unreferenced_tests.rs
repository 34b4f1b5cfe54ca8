use super::*;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A model whose goldens are in a folder.
fn model(name: &str, fixtures: PathBuf) -> Description {
    Description { fixtures: Some(fixtures), ..Description::new(name, "emu") }
}

/// A copy of the manifest of tiny-llama, with the files that it names, all empty.
fn copied() -> (tempfile::TempDir, Description) {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = real(folder.path()).join("tiny-llama");
    fs::create_dir_all(fixtures.join("baseline")).unwrap();
    let source = Path::new(REPOSITORY).join("fixtures/tiny-llama");
    fs::copy(source.join("manifest.json"), fixtures.join("manifest.json")).unwrap();
    fs::copy(source.join("baseline/emu.json"), fixtures.join("baseline/emu.json")).unwrap();
    for prompt in manifest(&fixtures).unwrap().prompts {
        for golden in std::iter::once(prompt.tokens).chain(prompt.layers) {
            fs::write(fixtures.join(golden.file), "").unwrap();
        }
    }
    (folder, model("tiny-llama", fixtures))
}

fn found(model: &Description) -> Vec<(String, String)> {
    let fixtures = model.fixtures.clone().unwrap();
    let parent = fixtures.parent().unwrap();
    let leftovers = find([model], &Claims::default());
    let name = |path: &Path| path.strip_prefix(parent).unwrap().to_string_lossy().into_owned();
    leftovers.into_iter().map(|one| (name(&one.path), one.why.to_string())).collect()
}

#[test]
fn the_fixtures_of_this_repository_have_no_leftovers() {
    let fixtures = Path::new(REPOSITORY).join("fixtures");
    let models = ["tiny-llama", "smollm2-135m"].map(|name| model(name, fixtures.join(name)));
    assert_eq!(find(&models, &Claims::default()), []);
}

#[test]
fn a_model_that_no_adapter_has_is_unreferenced_unless_it_is_claimed() {
    let fixtures = Path::new(REPOSITORY).join("fixtures");
    let models = [model("tiny-llama", fixtures.join("tiny-llama"))];
    let other = real(&fixtures.join("smollm2-135m"));
    let why = Why::Model { model: "smollm2-135m".to_owned() };
    let leftovers = find(&models, &Claims::default());
    assert_eq!(leftovers, [Leftover { path: other.clone(), why }]);
    let by_name = Claims { names: ["smollm2-135m".to_owned()].into(), folders: Vec::new() };
    assert_eq!(find(&models, &by_name), []);
    let by_folder = Claims { names: BTreeSet::new(), folders: vec![other] };
    assert_eq!(find(&models, &by_folder), []);
}

#[test]
fn a_golden_that_no_manifest_names_is_unreferenced() {
    let (_folder, model) = copied();
    let fixtures = model.fixtures.clone().unwrap();
    assert_eq!(found(&model), []);
    for name in ["base_p99.safetensors", "corpus.txt", ".npugate-x", "README.md"] {
        fs::write(fixtures.join(name), "").unwrap();
    }
    assert_eq!(
        found(&model),
        [
            ("tiny-llama/.npugate-x".into(), "it was left by a write that was cut short".into()),
            (
                "tiny-llama/base_p99.safetensors".to_owned(),
                "the manifest of tiny-llama does not name it".to_owned()
            ),
        ]
    );
    // The same file is referenced if it is the model's own weights.
    let mut bundled = model;
    bundled.weights = Some(npugate_schema::WeightsFile {
        file: "base_p99.safetensors".to_owned(),
        bytes: 0,
        sha256: npugate_schema::Sha256::of(b""),
        source: WeightsSource::Bundled { path: fixtures.join("base_p99.safetensors") },
        path: None,
    });
    fs::remove_file(fixtures.join(".npugate-x")).unwrap();
    assert_eq!(found(&bundled), []);
}

#[test]
fn a_file_that_is_not_a_baseline_of_its_model_is_unreferenced() {
    let (_folder, model) = copied();
    let baselines = model.fixtures.clone().unwrap().join("baseline");
    fs::copy(baselines.join("emu.json"), baselines.join("xrt.json")).unwrap();
    fs::write(baselines.join("emu.json.new"), "{").unwrap();
    let text = fs::read_to_string(baselines.join("emu.json")).unwrap();
    let other = text.replacen("\"tiny-llama\"", "\"large-llama\"", 1);
    fs::write(baselines.join("emu+a=b.json"), other.replacen("\"emu\"", "\"emu+a=b\"", 1)).unwrap();
    fs::write(baselines.join("notes.txt"), "mine").unwrap();
    let found = found(&model);
    let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
    let expected = ["emu+a=b.json", "emu.json.new", "xrt.json"];
    assert_eq!(names, expected.map(|name| format!("tiny-llama/baseline/{name}")));
    assert_eq!(
        found[0].1,
        "it is the baseline of large-llama on emu+a=b, which does not match its path"
    );
    assert!(found[1].1.starts_with("it is not a baseline: EOF"), "{}", found[1].1);
    assert!(found[2].1.starts_with("it is the baseline of tiny-llama on emu,"), "{}", found[2].1);
}

#[test]
fn without_a_manifest_no_golden_is_unreferenced() {
    let (_folder, model) = copied();
    let fixtures = model.fixtures.clone().unwrap();
    fs::write(fixtures.join("manifest.json"), "{").unwrap();
    fs::write(fixtures.join("base_p99.safetensors"), "").unwrap();
    assert_eq!(found(&model), []);
}
