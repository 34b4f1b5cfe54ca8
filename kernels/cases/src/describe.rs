//! Every launch of programs as the record of tested kernels wants it.

use npugate::schema::LaunchDescription;
use npugate_kernels::{Functions, Program, Toolchain};
use serde_json::Value;

use crate::cases::id;

/// Every launch of `programs`, whether a test gates it or not, compiled by what [`arithmetic`]
/// names.
pub fn describe<'a>(
    programs: impl IntoIterator<Item = &'a Program>,
    arithmetic: &str,
) -> Vec<LaunchDescription> {
    let described = programs.into_iter().flat_map(|program| {
        let notes = program.tiling_notes();
        program.launches.iter().enumerate().map(move |(index, launch)| LaunchDescription {
            program: program.name.clone(),
            index,
            test: id(&launch.op).to_string(),
            op: json(&launch.op),
            tiling: launch.tiling.as_ref().map(json),
            toolchain: arithmetic.to_owned(),
            note: notes.iter().find(|note| note.launch == index).map(|note| note.text.to_owned()),
        })
    });
    described.collect()
}

/// The toolchain and the functions that replace the hardware's: a measurement with replaced
/// functions does not belong to any toolchain.
pub fn arithmetic(toolchain: Toolchain, functions: &Functions) -> String {
    let replaced = functions.replaced().map(|(name, choice)| format!(", {name} {choice}"));
    toolchain.to_string() + &replaced.collect::<String>()
}

/// This does not fail: plain data has no map whose keys JSON cannot represent.
fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
