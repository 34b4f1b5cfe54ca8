//! Makes a deployment of a model's programs that the real XRT runs on the double of its kernel driver:
//!
//! `cargo run -p npugate-decoder --example xrt_fixtures -- FOLDER CONFIG.json SEQ_LEN [SETTING=VALUE..]`
//!
//! Whatever a gate runs is there: each program of the model, and each distinct launch by itself.

use std::{collections::BTreeMap, error::Error, fs, path::Path};

use npugate_decoder::{DecoderConfig, Options, Programs};
use npugate_kernels::Program;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, config, seq_len, settings @ ..] = args.as_slice() else {
        return Err("name a folder, a model's config.json, and how long a prompt may be".into());
    };
    let config = DecoderConfig::from_json(&fs::read_to_string(config)?)?;
    let options =
        settings.iter().try_fold(Options::new(seq_len.parse()?), |options, setting| {
            Ok::<_, Box<dyn Error>>(options.with(&setting.parse()?)?)
        })?;
    let programs = Programs::new(&config, &options)?;
    let mut deployed: BTreeMap<String, Program> = BTreeMap::new();
    for launch in programs.launches() {
        let mut program = Program::single(launch.op, launch.rounding);
        for single in &mut program.launches {
            single.tiling = launch.tiling;
        }
        deployed.entry(program.name.clone()).or_insert(program);
    }
    deployed.extend(programs.all().map(|program| (program.name.clone(), program.clone())));
    npugate_xrt_fixtures::deploy(Path::new(folder), deployed.values())?;
    println!("{} programs in {folder}", deployed.len());
    Ok(())
}
