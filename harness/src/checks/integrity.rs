//! The checks before anything is compared: the files are what they claim to be, and
//! both sides use the same model and the same tokens.

use crate::measured::{CheckResult, Measured, Stop};
use crate::schema::{Direction, Metric, ModelConfig, Unit};
use crate::session::Session;
use serde_json::Value;

/// Checks that every golden file is present and has its recorded digest.
pub(super) fn goldens(session: &mut Session) -> CheckResult {
    let goldens = session.goldens()?;
    let files = goldens.verify()?;
    let manifest = goldens.manifest();
    if manifest.prompts.is_empty() {
        return Err(Stop::Invalid("the manifest has no prompts".to_owned()));
    }
    let reference = &manifest.reference;
    Ok(Measured::default().noted(format!(
        "{files} files unchanged since {}, recorded from {} by transformers {}",
        reference.date, reference.model_id, reference.transformers
    )))
}

/// Checks that every tensor of the weights is present with its shape, and that the file
/// is the one that the goldens were recorded from.
pub(super) fn weights(session: &mut Session) -> CheckResult {
    let tensors = session.model()?.check_weights()?;
    if tensors == 0 {
        return Err(Stop::Invalid("the weight file has no tensors".to_owned()));
    }
    let weights = session.model()?.weights();
    let goldens = session.goldens()?;
    let recorded = &goldens.manifest().reference.weights;
    if !recorded.iter().any(|file| file.sha256 == weights.sha256) {
        return Err(Stop::Invalid(format!(
            "the goldens were not recorded from {} with sha256 {}; record them again with `cargo npugate record {}`",
            weights.file,
            weights.sha256,
            session.adapter.name()
        )));
    }
    Ok(Measured::default()
        .noted(format!("{tensors} tensors, in the file that the goldens were recorded from")))
}

/// Checks that the adapter's configuration is the reference's, field by field.
pub(super) fn config(session: &mut Session) -> CheckResult {
    let ours = fields(&session.model()?.config())?;
    let theirs = fields(&session.goldens()?.manifest().config)?;
    let differences: Vec<_> = theirs
        .iter()
        .filter(|(key, value)| !ours.get(*key).is_some_and(|ours| same(ours, value)))
        .map(|(key, value)| {
            let ours = ours.get(key).map_or("nothing".to_owned(), ToString::to_string);
            format!("{key} is {ours}, but the reference has {value}")
        })
        .collect();
    if differences.is_empty() {
        Ok(Measured::default().noted(format!("{} fields are the reference's", theirs.len())))
    } else {
        Err(Stop::Fail(differences.join("; ")))
    }
}

/// Whether two values are the same. Numbers are compared in f32, since model formats
/// store `1e-5` as the nearest f32.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours.as_f64(), theirs.as_f64()) {
        (Some(ours), Some(theirs)) => (ours as f32).to_bits() == (theirs as f32).to_bits(),
        _ => ours == theirs,
    }
}

fn fields(config: &ModelConfig) -> Result<serde_json::Map<String, Value>, Stop> {
    match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) | Err(_) => Err(Stop::Invalid("the configuration is not an object".to_owned())),
    }
}

/// Checks that the adapter's tokenizer gives the reference's ids for every prompt.
pub(super) fn tokenizer(session: &mut Session) -> CheckResult {
    let goldens = session.goldens()?;
    let prompts = &goldens.manifest().prompts;
    let model = session.model()?;
    let mut different = Vec::new();
    let mut tokens = 0;
    for prompt in prompts {
        let ids = model.encode(&prompt.text)?;
        tokens += prompt.ids.len();
        if ids != prompt.ids {
            different.push(format!(
                "{} is {ids:?}, but the reference has {:?}",
                prompt.name, prompt.ids
            ));
        }
    }
    let count =
        Metric::new("prompts_different", different.len() as f64, Unit::Count, Direction::Lower);
    let note = different.into_iter().next().unwrap_or_else(|| {
        format!("{tokens} tokens of {} prompts are the reference's", prompts.len())
    });
    if tokens == 0 {
        return Err(Stop::Invalid("the manifest has no tokens to compare".to_owned()));
    }
    Ok(Measured::of(vec![count.limited(0.0)]).noted(note))
}
