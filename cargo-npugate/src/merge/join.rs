//! Putting the parts of a run together.

use super::shard::{End, ShardModel};
use super::{MergeError, Shard, partition};
use crate::report::{Reruns, Run, summary};
use crate::runner::{ModelResult, NoVerdict};
use crate::selection::Effort;
use npugate_schema::{Description, ExitCode, NotRun, Outcome, Phase, PlannedModel, Record};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A whole run.
#[derive(Clone, Debug)]
pub struct Joined {
    /// Its models.
    pub results: Vec<ModelResult>,
    /// What reports say about the run beyond its results.
    pub run: Run,
    /// The exit code that one run would have had.
    pub code: u8,
    /// The files of the parts that were cut short.
    pub cut_short: Vec<PathBuf>,
}

/// Puts the parts of a run together.
///
/// # Errors
///
/// They are not the parts of one run.
pub fn join(shards: &[Shard]) -> Result<Joined, MergeError> {
    check_effort(shards)?;
    partition::check(shards)?;
    let results = results(shards)?;
    let all = shards.iter().flat_map(|shard| &shard.models);
    let reruns = all.flat_map(|model| {
        let name = &model.planned.model;
        model.reruns.iter().map(move |(test, line)| ((name.clone(), test.clone()), line.clone()))
    });
    let cut_short: Vec<_> =
        shards.iter().filter(|shard| shard.end.is_none()).map(|shard| shard.path.clone()).collect();
    let run = Run {
        reruns: Reruns::Recorded(reruns.collect()),
        effort: shards.first().map_or(Effort::Full, |shard| shard.effort),
        seconds: shards.iter().filter_map(|shard| shard.end).map(|end| end.seconds).sum(),
        ..Run::default()
    };
    Ok(Joined { code: code(shards, &results)?, results, run, cut_short })
}

fn check_effort(shards: &[Shard]) -> Result<(), MergeError> {
    let find = |effort| shards.iter().find(|shard| shard.effort == effort);
    match (find(Effort::Smoke), find(Effort::Full)) {
        (Some(smoke), Some(full)) => {
            Err(MergeError::Effort { smoke: smoke.path.clone(), full: full.path.clone() })
        }
        _ => Ok(()),
    }
}

/// The exit code that one run would have had.
fn code(shards: &[Shard], results: &[ModelResult]) -> Result<u8, MergeError> {
    const INTERRUPTED: u8 = ExitCode::Interrupted as u8;
    if shards.iter().any(|shard| shard.end.is_none_or(|end| end.code == INTERRUPTED)) {
        return Ok(INTERRUPTED);
    }
    let code = summary::exit_code(results);
    if code == ExitCode::TestsFailed {
        return Ok(code as u8);
    }
    // An exit code that the tests of a part do not explain, such as that of a baseline that
    // could not be read, decides for the whole.
    for shard in shards {
        let own = summary::exit_code(&self::results(std::slice::from_ref(shard))?) as u8;
        if let Some(End { code, .. }) = shard.end.filter(|end| end.code != own) {
            return Ok(code);
        }
    }
    Ok(code as u8)
}

/// The models of all parts, in the order in which they first appear.
fn results(shards: &[Shard]) -> Result<Vec<ModelResult>, MergeError> {
    let mut models = Vec::<Vec<(&Shard, &ShardModel)>>::new();
    for shard in shards {
        for model in &shard.models {
            let name = &model.planned.model;
            match models.iter_mut().find(|parts| parts[0].1.planned.model == *name) {
                Some(parts) => parts.push((shard, model)),
                None => models.push(vec![(shard, model)]),
            }
        }
    }
    models.iter().map(|parts| result(parts)).collect()
}

/// One model of all parts that have it.
fn result(parts: &[(&Shard, &ShardModel)]) -> Result<ModelResult, MergeError> {
    let (first_shard, first) = parts[0];
    for (shard, model) in parts {
        if !is_same(&first.planned, &model.planned) {
            return Err(MergeError::OtherModel {
                model: first.planned.model.clone(),
                first: describe(&first.planned),
                first_path: first_shard.path.clone(),
                second: describe(&model.planned),
                second_path: shard.path.clone(),
            });
        }
    }
    let PlannedModel { model, device, configuration, package, .. } = &first.planned;
    let configuration = configuration.clone();
    let description = Description { configuration, ..Description::new(model, device) };
    let mut result = ModelResult::new(description, package);
    let mut records = BTreeMap::<&str, (&Shard, &Record)>::new();
    let mut order = Vec::<&str>::new();
    for (shard, part) in parts {
        for record in part.records.values() {
            match records.get(record.name.as_str()) {
                Some((other, known)) if is_verdict(known) => {
                    if is_verdict(record) {
                        return Err(MergeError::Twice {
                            model: model.clone(),
                            test: record.name.clone(),
                            first: other.path.clone(),
                            second: shard.path.clone(),
                        });
                    }
                }
                _ => {
                    records.insert(&record.name, (shard, record));
                }
            }
        }
        let names = part.planned.planned.iter().chain(part.records.keys());
        order.extend(names.map(String::as_str));
        result.earlier.extend(part.earlier.clone());
        result.outputs.extend(part.outputs.clone());
        result.troubles.extend(part.troubles.clone());
        result.blocked = result.blocked.or_else(|| part.blocked.clone());
        let took = || part.records.values().map(|record| record.seconds).sum();
        result.seconds += part.seconds.unwrap_or_else(took);
    }
    if parts.len() > 1 {
        // Each part has the order of the listing, which is that of the phases.
        order.sort_by_key(|name| Phase::of(name));
    }
    let mut seen = std::collections::BTreeSet::new();
    order.retain(|name| seen.insert(*name));
    let record = |name: &&str| match records.get(name) {
        Some((_, record)) => (*record).clone(),
        // The test's run was cut short.
        None => NoVerdict::Interrupted.record(*name),
    };
    result.records = order.iter().map(record).collect();
    Ok(result)
}

fn is_same(a: &PlannedModel, b: &PlannedModel) -> bool {
    let key = |model: &PlannedModel| {
        (model.package.clone(), model.device.clone(), model.configuration.clone())
    };
    key(a) == key(b)
}

fn describe(model: &PlannedModel) -> String {
    let PlannedModel { package, device, configuration, .. } = model;
    if configuration.is_empty() {
        format!("`{package}` on `{device}`")
    } else {
        format!("`{package}` on `{device}` ({configuration})")
    }
}

/// Whether a test ran to a verdict. A test that is off, or that did not run because the run
/// ended, has a record too.
fn is_verdict(record: &Record) -> bool {
    !matches!(record.outcome, Outcome::Ignored { .. })
        && !record.not_run.is_some_and(NotRun::run_ended)
}

#[cfg(test)]
#[path = "join_tests.rs"]
mod tests;
