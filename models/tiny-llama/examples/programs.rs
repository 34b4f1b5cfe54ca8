//! Writes every program that a run of this model loads as `NAME.json`, to build a deployment from:
//! `cargo run -p tiny-llama --example programs -- FOLDER [KEY=VALUE,..]`.

use npugate::Context;
use std::{error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("no folder given; name the folder to write the programs to")?;
    let settings = args.next().unwrap_or_default().parse()?;
    let context = Context::default().with_settings(settings);
    fs::create_dir_all(&folder)?;
    for program in tiny_llama::adapter().loaded_programs(&context)? {
        let path = Path::new(&folder).join(format!("{}.json", program.name));
        fs::write(path, serde_json::to_string(&program)?)?;
    }
    Ok(())
}
