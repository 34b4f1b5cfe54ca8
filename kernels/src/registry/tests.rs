//! The published rows are all there, and a file that is not sound is refused by name.

use std::{collections::BTreeMap, fs, path::Path};

use super::*;
use crate::{DType, Gemm, GemmOutput, Gemv, Rope, Toolchain};

fn published() -> &'static Registry {
    Registry::published()
}

/// Counted and summed in Python over the published tables from which the files were made:
/// `sum(row["mean_rel_l1"])` by table.
#[test]
fn every_published_row_is_there_with_its_figure() {
    let expected = [
        ("gemm f32", 14, 0.130_8),
        ("gemm bf16", 97, 0.988_038_1),
        ("gemv", 37, 5.213_827_2e-6),
        ("rms_norm", 8, 0.034_2),
        ("layer_norm", 1, 0.004_4),
        ("flash_attention", 16, 0.678),
        ("add", 9, 0.017_1),
        ("silu_mul", 11, 0.11),
        ("rope", 13, 0.035_9),
        ("gelu", 5, 0.042),
    ];
    let mut found: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    for row in published().rows() {
        let page = row.method.map(|method| format!(" {}", method.dtype())).unwrap_or_default();
        let of_page = found.entry(format!("{}{page}", row.shape.kernel().name())).or_default();
        of_page.0 += 1;
        of_page.1 += row.figures.mean_rel_l1.unwrap().0;
    }
    assert_eq!(found.len(), expected.len());
    for (page, count, sum) in expected {
        let (found_count, found_sum) = found[page];
        assert_eq!(found_count, count, "{page}");
        assert!((found_sum / sum - 1.0).abs() < 1e-12, "{page}: {found_sum} is not {sum}");
    }
    assert_eq!(published().rows().len(), 211);
}

/// Checks one row of each kernel against the published tables.
#[test]
fn rows_have_the_published_tiling_and_speed() {
    for (name, tiling, speed) in [
        ("gemm::2048x8192x2048::f32-external", "64/256/32/128 8x4", 9797.0),
        ("gemm::64x12288x960::drain", "16/384/32/240 4x4", 2246.0),
        ("gemm::2048x3584x18944::direct", "64/32/32/64 8x4", 3346.0),
        ("gemv::2048x11008", "8/2/1", 27.6),
        ("rms_norm::256x960", "8", 6.7),
        ("layer_norm::1024x768", "8", 9.7),
        ("flash_attention::s512_d128_q28_kv4_full", "256/64/4/2/4/2", 928.0),
        ("add::245760", "1920 8x1", 13.2),
        ("silu_mul::22544384", "4096 8x1", 23.8),
        ("rope::49152_d128", "8x1", 56.6),
        ("gelu::3145728", "4096 8x2", 24.1),
    ] {
        let row = published().find(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(row.tiling.unwrap().to_string(), tiling, "{name}");
        assert_eq!(row.figures.speed(), Some(Figure(speed)), "{name}");
    }
}

/// Two shapes were measured by another script, only for their accuracy.
#[test]
fn only_rows_without_a_speed_have_a_correlation() {
    let accuracy_alone: Vec<String> = published()
        .rows()
        .iter()
        .filter(|row| row.figures.correlation.is_some())
        .map(|row| {
            assert!(row.figures.speed().is_none());
            row.name()
        })
        .collect();
    assert_eq!(accuracy_alone, ["gemm::256x64x256::drain", "gemm::256x256x64::drain"]);
}

#[test]
fn a_row_is_unique_by_name_on_one_device_and_toolchain() {
    let names: std::collections::HashSet<String> =
        published().rows().iter().map(Row::name).collect();
    assert_eq!(names.len(), 211);
}

#[test]
fn saving_what_was_loaded_changes_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let own = Registry::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("registry")).unwrap();
    own.save(folder.path()).unwrap();
    for (file, _) in published_files() {
        let saved = fs::read_to_string(folder.path().join(&file)).unwrap();
        npugate_documents::document!(format!("registry/{file}")).check(&saved);
    }
    assert_eq!(Registry::load(folder.path()).unwrap(), own);
    let silicon = own.rows().iter().filter(|row| row.measured.device.is_silicon());
    assert!(silicon.eq(published().rows()));
    assert!(!folder.path().join("softmax.json").exists(), "it has no rows");
}

#[test]
fn a_folder_without_rows_is_not_a_registry() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Registry::load(folder.path()), Err(RegistryError::Empty { .. })));
}

#[track_caller]
fn refused(from: &str, to: &str) -> String {
    let (file, text) = ("gemm.json", include_str!("../../registry/gemm.json"));
    assert!(text.contains(from), "{from}");
    let changed = text.replacen(from, to, 1);
    Registry::parse([(file, changed.as_str())]).unwrap_err().to_string()
}

#[test]
fn a_row_that_is_not_sound_is_refused_by_file_and_name() {
    let first = "gemm.json, row 1, `gemm::64x32x720::drain`";
    for (from, to, place, what) in [
        ("\"k\": 32, \"n\": 720", "\"k\": 0, \"n\": 720", "gemm.json, row 1", "k is zero"),
        ("\"tile_n\": 80", "\"tile_n\": 88", first, "n-divisible-by-tile-n-herd-n"),
        ("\"mean_rel_l1\": 0.00926, ", "", first, "mean_rel_l1"),
        ("0.00926", "-0.00926", first, "`mean_rel_l1` is -0.00926"),
        ("\"best_for\": \"high\"", "\"best_for\": \"low\"", first, "not the tier of its method"),
        ("\"method\": \"drain\", ", "", "gemm.json, row 1", "a GEMM has a `method`"),
        ("2026-06/2026-08", " ", first, "`measured.date` is empty"),
        ("\"gflops\"", "\"tflops\"", "gemm.json, row 1:", "unknown field `tflops`"),
        ("\"npu2\"", "\"npu9\"", "gemm.json, row 1:", "unknown variant `npu9`"),
        ("\"schema\": 1", "\"schema\": 2", "gemm.json:", "its schema is 2"),
        ("\"kernel\": \"gemm\"", "\"kernel\": \"gem\"", "gemm.json:", "`gem` is not a kernel"),
        ("\"kernel\": \"gemm\"", "\"kernel\": \"gemv\"", "gemm.json:", "belong in gemv.json"),
    ] {
        let message = refused(from, to);
        assert!(message.starts_with(place) && message.contains(what), "{to}: {message}");
    }
    // JSON has no NaN; a number too large for f64 is refused too.
    assert!(refused("0.00926", "NaN").starts_with("gemm.json: "));
    assert!(refused("0.00926", "1e999").starts_with("gemm.json: "));
}

#[test]
fn a_row_without_a_tiling_was_not_measured_on_silicon() {
    let tiling = "\"tiling\": {\"tile_m\": 16, \"tile_k_l2\": 32, \"tile_k_l1\": 32, \
                  \"tile_n\": 80, \"herd\": [4, 3]}, ";
    assert!(refused(tiling, "").contains("has no `tiling`"));
}

#[test]
fn rows_are_sorted_and_unique() {
    let (file, text) = ("gemm.json", include_str!("../../registry/gemm.json"));
    let mut lines: Vec<&str> = text.lines().collect();
    let parse = |lines: &[&str]| Registry::parse([(file, lines.join("\n").as_str())]);
    assert_eq!(lines[4].matches("64, \"k\": 32").count(), 1, "the first row");
    lines.swap(5, 6);
    let message = parse(&lines).unwrap_err().to_string();
    assert!(message.contains("row 3") && message.contains("belongs before"), "{message}");
    lines.swap(5, 6);
    lines.insert(5, lines[5]);
    let message = parse(&lines).unwrap_err().to_string();
    assert!(message.contains("appears twice"), "{message}");
}

fn emulated(row: &Row) -> Row {
    let mut row = row.clone();
    row.measured.device = Target::Emu;
    row.measured.toolchain = Toolchain::Rne;
    row.best_for = None;
    row
}

#[test]
fn a_row_of_the_emulator_stands_beside_the_one_of_silicon() {
    let mut registry = published().clone();
    let silicon = registry.find("rope::8_d64").unwrap().clone();
    let row = emulated(&silicon);
    assert_eq!(registry.insert(row.clone()).unwrap(), None);
    assert_eq!(registry.rows().len(), 212);
    assert_eq!(registry.find("rope::8_d64"), Some(&silicon));
    assert_eq!(registry.rows_of(&row.op().unwrap()).len(), 2);
    let mut better = row.clone();
    better.figures.mean_rel_l1 = Some(Figure(0.001));
    assert_eq!(registry.insert(better).unwrap(), Some(row));
    let folder = tempfile::tempdir().unwrap();
    registry.save(folder.path()).unwrap();
    assert_eq!(Registry::load(folder.path()).unwrap(), registry);
}

#[test]
fn a_second_best_is_refused_and_changes_nothing() {
    let mut registry = published().clone();
    let mut row = registry.find("gemm::2048x2048x2048::drain").unwrap().clone();
    row.best_for = Some(Tier::High);
    let message = registry.insert(row).unwrap_err().to_string();
    assert!(message.contains("`gemm::2048x2048x2048::"), "{message}");
    assert_eq!(&registry, published());
}

fn shape(name: &str) -> Shape {
    name.parse().unwrap()
}

/// `registry_lookup.gemm_config` gives the same for each shape, output type and precision.
#[test]
fn the_best_row_is_the_one_that_the_registry_published_as_best() {
    let best = |name, output, tier| published().best(&shape(name), output, tier).unwrap().name();
    for (output, tier, method) in [
        (DType::Bf16, Tier::High, "fused-cast"),
        (DType::Bf16, Tier::Low, "direct"),
        (DType::F32, Tier::High, "f32-external"),
    ] {
        let name = best("gemm::2048x2048x2048", output, tier);
        assert_eq!(name, format!("gemm::2048x2048x2048::{method}"));
    }
    assert_eq!(best("gemm::512x512x512", DType::Bf16, Tier::High), "gemm::512x512x512::drain");
    assert_eq!(best("rope::65536_d64", DType::Bf16, Tier::High), "rope::65536_d64");
}

/// The best of a tier is the fastest method that was measured for it.
#[test]
fn no_row_is_faster_than_the_best() {
    for row in published().rows() {
        let (Some(method), Some(tier)) = (row.method, row.tier()) else { continue };
        let Ok(best) = published().best(&row.shape, method.dtype(), tier) else {
            assert!(row.figures.speed().is_none(), "{}", row.name());
            continue;
        };
        assert!(best.figures.speed() >= row.figures.speed(), "{}", row.name());
    }
}

#[test]
fn an_unmeasured_shape_is_refused_with_the_nearest() {
    let unmeasured = published().best(&shape("gemm::2048x2048x640"), DType::Bf16, Tier::High);
    let message = unmeasured.unwrap_err().to_string();
    assert!(message.contains("gemm::2048x2048x640 was never measured"), "{message}");
    // 640 is 0.32 doublings from 512, 0.68 from 1024, 1.32 from 256.
    let nearest = "the nearest are gemm::2048x2048x512, gemm::2048x2048x1024, ";
    assert!(message.contains(nearest), "{message}");
    assert_eq!(message.matches("gemm::").count(), 4, "{message}");
}

#[test]
fn an_unmeasured_tier_is_refused_with_those_that_were() {
    let unmeasured = published().best(&shape("gemm::64x32x720"), DType::Bf16, Tier::Low);
    let message = unmeasured.unwrap_err().to_string();
    assert!(message.contains("for bf16 of tier low"), "{message}");
    assert!(message.ends_with("only for bf16 of tier high"), "{message}");
    let unmeasured = published().best_by_method(&shape("gemm::64x32x720"), GemmOutput::FusedCast);
    let message = unmeasured.unwrap_err().to_string();
    assert!(message.contains("with fused-cast") && message.ends_with("drain"), "{message}");
    // Measured only for its accuracy: no configuration is known to be the best.
    let unmeasured = published().best(&shape("gemm::256x64x256"), DType::Bf16, Tier::High);
    assert!(matches!(unmeasured, Err(Unmeasured::NoBest { .. })), "{unmeasured:?}");
}

#[test]
fn rows_of_the_emulator_do_not_answer_lookups() {
    let mut row = published().find("rope::8_d64").unwrap().clone();
    row = emulated(&row);
    row.shape = shape("rope::16_d64");
    let mut registry = published().clone();
    registry.insert(row).unwrap();
    let unmeasured = registry.best(&shape("rope::16_d64"), DType::Bf16, Tier::High);
    assert!(matches!(unmeasured, Err(Unmeasured::Shape { .. })), "{unmeasured:?}");
}

#[test]
fn an_op_finds_its_row_by_the_registrys_count_of_rows() {
    let rope = Op::Rope(Rope { tokens: 2048, heads: 32, head_dim: 64, rotary_dim: 64 });
    assert_eq!(published().measured(&rope).unwrap().name(), "rope::65536_d64");
    let gemm = |output| Op::Gemm(Gemm { m: 512, k: 512, n: 512, output });
    let name = |output| published().measured(&gemm(output)).unwrap().name();
    assert_eq!(name(GemmOutput::F32Direct), "gemm::512x512x512::f32-direct");
    assert_eq!(name(GemmOutput::Direct), "gemm::512x512x512::direct");
    assert_eq!(published().rows_of(&gemm(GemmOutput::Drain)).len(), 5);
    assert!(published().measured(&Op::Gemv(Gemv { m: 8, k: 64 })).is_err());
}

#[test]
fn filters_select_by_part_of_a_name() {
    let matching = |filters: &[&str]| published().matching(filters).len();
    assert_eq!(matching(&[]), 211);
    assert_eq!(matching(&["gelu::", "layer_norm"]), 6);
    assert_eq!(matching(&["::f32-external"]), 7);
    assert_eq!(matching(&["nothing"]), 0);
}
