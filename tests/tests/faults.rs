//! Every gate is tested with a fault that it must catch: each fault is built into the
//! device, every default check runs, and `FAULTS.md` keeps the table of which check caught
//! which fault.
#![expect(clippy::unwrap_used, reason = "tests fail by panics")]

use npugate::schema::{Baseline, Outcome, Phase, Record, Standing};
use npugate::{Context, suite::Suite};
use npugate_documents::document;
use npugate_kernels::Device;
use npugate_tests::faulty::{Fault, FaultyDevice};
use std::{collections::BTreeMap, fmt::Write, sync::Arc};

/// Runs every default check of tiny-llama, except those of kernels, on a device with a
/// fault. Kernels are gated on their own inputs, which these faults do not affect.
fn records(fault: Fault) -> Vec<Record> {
    let suite = suite(fault).without_history();
    let planned = suite.plan().iter();
    planned
        .filter(|test| test.ignore.is_none() && test.phase != Phase::Kernel)
        .map(|test| suite.run(&test.name).unwrap())
        .collect()
}

/// The gates of tiny-llama on a device with a fault.
fn suite(fault: Fault) -> Suite {
    let adapter = tiny_llama::adapter().with_device(Arc::new(move |functions| {
        Ok(Box::new(FaultyDevice::new(fault, functions)) as Box<dyn Device>)
    }));
    Suite::new(Arc::new(adapter), Context::default()).unwrap()
}

fn failed(records: &[Record]) -> Vec<&Record> {
    records.iter().filter(|record| record.outcome != Outcome::Passed).collect()
}

fn names<'a>(records: &[&'a Record]) -> Vec<&'a str> {
    records.iter().map(|record| record.name.as_str()).collect()
}

#[test]
fn a_sound_device_passes_every_check() {
    let records = records(Fault::None);
    assert!(records.len() > 20, "only {} checks ran", records.len());
    let failed = failed(&records);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn each_fault_is_caught_by_the_check_that_names_it() {
    let expected = [
        (Fault::LayersSwapped, "block::layer01::injected"),
        (Fault::CausalMaskDropped, "block::layer00::injected"),
        (Fault::RopeTheta, "block::layer00::injected"),
        (Fault::KvHeadMapped, "block::layer00::injected"),
        (Fault::KvWriteOffset, "consistency::kv_cache"),
        (Fault::RowZeroed, "block::layer01::per_position"),
        (Fault::Nan, "block::layer01::finite"),
    ];
    for (fault, check) in expected {
        let records = records(fault);
        let failed = failed(&records);
        assert!(names(&failed).contains(&check), "{fault}: caught by {:?}", names(&failed));
        for record in failed {
            assert_eq!(record.outcome, Outcome::Failed, "{fault}: {record:?}");
        }
    }
}

#[test]
fn a_local_fault_is_found_in_its_own_layer_and_no_other_block() {
    for fault in [Fault::RowZeroed, Fault::Nan] {
        let records = records(fault);
        let failed = failed(&records);
        let blocks: Vec<_> =
            names(&failed).into_iter().filter(|name| name.starts_with("block::")).collect();
        assert!(!blocks.is_empty(), "{fault}");
        assert!(blocks.iter().all(|name| name.starts_with("block::layer01")), "{blocks:?}");
    }
}

#[test]
fn a_coarser_lm_head_is_reported_and_not_failed() {
    let coarse = records(Fault::LmHeadTruncated);
    assert!(failed(&coarse).is_empty(), "{:#?}", failed(&coarse));
    let worse = worse_than_sound(&coarse);
    assert!(worse.iter().any(|metric| metric.contains(" kl_mean ")), "{worse:?}");
    // Compared with the accepted baseline, this is a separate outcome.
    let record = suite(Fault::LmHeadTruncated).run("logits::decode").unwrap();
    assert_eq!(record.outcome, Outcome::Regressed, "{record:?}");
    let sound = suite(Fault::None).run("logits::decode").unwrap();
    assert_eq!(sound.outcome, Outcome::Passed, "{sound:?}");
}

/// The metrics that are worse than a sound device's by the regression rule.
fn worse_than_sound(records: &[Record]) -> Vec<String> {
    let mut baseline = Baseline::empty("tiny-llama", "emu");
    for record in self::records(Fault::None) {
        baseline.accept(&record);
    }
    let mut worse = Vec::new();
    for record in records {
        for finding in baseline.compare(record).findings {
            if finding.standing == Standing::Worse {
                let old = finding.old.unwrap_or(f64::NAN);
                let (name, metric, new) = (&record.name, &finding.metric, finding.new);
                worse.push(format!("`{name}` {metric} {old:.3} to {new:.3}"));
            }
        }
    }
    worse
}

#[test]
fn the_table_of_faults_is_current() {
    let document = document!("FAULTS.md");
    let table = table();
    let committed = document.committed(&table);
    // Numbers differ in the last digits between vector units, so only the words of the
    // table and the checks that it names are compared.
    let words = |text: &str| -> Vec<String> {
        let is_number =
            |word: &str| word.chars().any(|c| c.is_ascii_digit()) && !word.contains("::");
        text.split_whitespace().filter(|word| !is_number(word)).map(str::to_owned).collect()
    };
    assert_eq!(words(&committed), words(&table), "{}", document.out_of_date());
}

/// Which check caught which fault, with its number: the first one of each phase.
fn table() -> String {
    let mut text = String::from(
        "# Which check catches which fault\n\n\
         Each fault is built into the device that runs `tiny-llama`, and every default check except\n\
         the kernels' runs against it. For each phase, the table shows the first check that caught\n\
         the fault, with its verdict. The table is written by\n\
         `NPUGATE_UPDATE_DOCS=1 cargo test -p npugate-tests --test faults`.\n\n\
         | fault | checks that failed | first in each phase |\n|---|---|---|\n",
    );
    for fault in Fault::ALL {
        let records = records(fault);
        let failed = failed(&records);
        let mut first: BTreeMap<Phase, &Record> = BTreeMap::new();
        for record in &failed {
            let phase = Phase::of(&record.name);
            first.entry(phase).or_insert(record);
        }
        let catches: Vec<_> =
            first.values().map(|record| format!("`{}`: {}", record.name, record.verdict)).collect();
        let catches = match fault {
            Fault::None => "-".to_owned(),
            _ if catches.is_empty() => {
                format!(
                    "regressed, not failed; worse than the baseline: {}",
                    worse_than_sound(&records).join("; ")
                )
            }
            _ => catches.join("<br>"),
        };
        writeln!(text, "| {fault} | {} of {} | {catches} |", failed.len(), records.len()).unwrap();
    }
    text
}
