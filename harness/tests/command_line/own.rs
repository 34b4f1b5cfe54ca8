//! An adapter's own checks, in a gate binary next to the built-in ones.

use crate::gate::{Ran, names, run, run_with};
use crate::toy::Counter;
use npugate::check::{Check, Measured, Set, Stop, Workbench};
use npugate::model::{LogitRows, Model, Probe};
use npugate::schema::{
    Attributes, CheckDescription, Description, Direction, Event, Listing, Metric, Outcome, Phase,
    TimeLimits, Unit,
};
use npugate::{Adapter, Context, Gates, SettingsError};

crate::trials! {
    they_stand_last_in_their_phase_and_in_the_listing,
    they_work_with_the_model_on_the_device,
    a_phase_of_their_own_can_be_asked_for,
    nan_and_a_check_that_measured_nothing_do_not_pass,
    a_panic_fails_the_check_alone,
    they_are_compared_with_their_baseline,
    an_invalid_name_is_refused_before_anything_runs,
    they_are_explained_in_the_description,
}

/// The counting model, with two checks of its own; `OWN_NAME` renames one of them, and
/// `OWN_FAULT` breaks it.
pub struct Checked;

impl Adapter for Checked {
    fn name(&self) -> &'static str {
        "own"
    }

    fn gates(&self, _: &Context) -> Result<Gates, SettingsError> {
        Ok(Gates::new().check(Speed).check(Counted))
    }

    fn model(&self) -> Option<&dyn Model> {
        Some(&Counter)
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// A step of decode on the device.
struct Speed;

impl Check for Speed {
    fn name(&self) -> String {
        match variable("OWN_NAME") {
            name if name.is_empty() => "speed::decode".to_owned(),
            name => name,
        }
    }

    fn explanation(&self) -> String {
        "Decode appends one token.".to_owned()
    }

    fn limits(&self) -> TimeLimits {
        TimeLimits { slow: 7, timeout: 70 }
    }

    fn attributes(&self) -> Attributes {
        [("tokens".to_owned(), npugate::schema::Attribute::Number(1))].into()
    }

    fn run(&self, bench: &mut dyn Workbench) -> Result<Measured, Stop> {
        let runner = bench.runner()?;
        let prompt = [u32::from(b'a')];
        runner.prefill(&prompt, Probe::logits(LogitRows::Last))?;
        let logits = runner.decode_step(u32::from(b'b'), prompt.len())?;
        let best = npugate::metrics::argmax(&logits).map_or(f64::NAN, f64::from);
        let best = Metric::new("best", best, Unit::Count, Direction::Lower).limited(99.0);
        let free = |value| Metric::new("rate", value, Unit::PerSecond, Direction::Higher);
        match variable("OWN_FAULT").as_str() {
            "nan" => Ok(Measured::of([best, free(f64::NAN)])),
            "nothing" => Ok(Measured::of([free(1.0)]).noted("all is well")),
            "panic" => panic!("it fell over"),
            _ => Ok(Measured::of([best, free(2000.0)])),
        }
    }
}

/// A check in an existing phase that runs with `--full` only.
struct Counted;

impl Check for Counted {
    fn name(&self) -> String {
        "layers::counted".to_owned()
    }

    fn explanation(&self) -> String {
        "The model has two layers.".to_owned()
    }

    fn set(&self) -> Set {
        Set::Full
    }

    fn run(&self, bench: &mut dyn Workbench) -> Result<Measured, Stop> {
        let layers = bench.model()?.config().n_layers as f64;
        let metric = Metric::new("layers", layers, Unit::Count, Direction::Higher);
        Ok(Measured::of([metric.limited(2.0)]))
    }
}

/// The checks need weights, which the counting model does not have.
const RUN: [&str; 2] = ["--require-weights", "--exact"];

fn speed(variables: &[(&str, &str)]) -> Ran {
    run_with("own", &[&RUN[..], &["speed::decode"]].concat(), variables)
}

fn they_stand_last_in_their_phase_and_in_the_listing() {
    let all = names("own", &[]);
    let at = |name: &str| all.iter().position(|test| test == name).unwrap();
    assert_eq!(at("layers::counted"), at("layers::drift") + 1);
    assert_eq!(at("speed::decode"), all.len() - 1);
    let ran = run("own", &["--list", "--format", "json", "speed::decode"]);
    let listing: Listing = serde_json::from_str(&ran.out).unwrap();
    let [test] = &listing.tests[..] else { panic!("{}", ran.out) };
    assert_eq!(test.limits, TimeLimits { slow: 7, timeout: 70 });
    assert!(test.attributes.contains_key("tokens"), "{test:?}");
    assert!(test.ignored.is_some(), "it needs the weights");
}

fn they_work_with_the_model_on_the_device() {
    let events = tempfile::NamedTempFile::new().unwrap();
    let ran = speed(&[("NPUGATE_EVENTS", events.path().to_str().unwrap())]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let events = std::fs::read_to_string(events.path()).unwrap();
    let record = events.lines().find_map(|line| match serde_json::from_str(line).unwrap() {
        Event::TestFinished { record } => Some(record),
        _ => None,
    });
    let record = record.unwrap();
    assert_eq!(record.outcome, Outcome::Passed);
    // After `b` comes `c`, which is 99.
    assert!(record.verdict.starts_with("best 99 <= 99"), "{}", record.verdict);
    assert_eq!(record.metrics.len(), 2);
    let full = run("own", &["--full", "--require-weights", "--exact", "layers::counted"]);
    assert_eq!(full.code, Some(0), "{}{}", full.out, full.err);
}

fn a_phase_of_their_own_can_be_asked_for() {
    assert_eq!(names("own", &["--phase", "own"]), ["speed::decode"]);
    assert_eq!(Phase::of("speed::decode"), Phase::Own);
    let layers = names("own", &["--phase", "layers"]);
    assert_eq!(layers, ["layers::finite", "layers::drift", "layers::counted"]);
}

fn nan_and_a_check_that_measured_nothing_do_not_pass() {
    let ran = speed(&[("OWN_FAULT", "nan")]);
    assert_eq!(ran.code, Some(101));
    assert!(ran.err.contains("speed::decode: rate is NaN"), "{}", ran.err);
    let ran = speed(&[("OWN_FAULT", "nothing")]);
    assert_eq!(ran.code, Some(101));
    assert!(
        ran.err.contains("invalid: the check measured nothing that has a limit"),
        "{}",
        ran.err
    );
}

fn a_panic_fails_the_check_alone() {
    let names = ["--require-weights", "speed::decode", "layers::counted", "--full"];
    let ran = run_with("own", &names, &[("OWN_FAULT", "panic")]);
    assert_eq!(ran.code, Some(101));
    assert!(ran.err.contains("speed::decode: panicked: it fell over"), "{}", ran.err);
    assert!(ran.out.contains("1 passed; 1 failed"), "{}", ran.out);
}

fn they_are_compared_with_their_baseline() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("own/baseline")).unwrap();
    let baseline = |best: f64| {
        let text = format!(
            r#"{{"schema":"npugate-baseline/1","model":"own","device":"emu","tests":{{"speed::decode":{{"best":{best:.1}}}}}}}"#
        );
        std::fs::write(folder.path().join("own/baseline/emu.json"), text).unwrap();
        speed(&[("NPUGATE_FIXTURES", folder.path().to_str().unwrap())])
    };
    let same = baseline(99.0);
    assert_eq!(same.code, Some(0), "{}", same.err);
    let worse = baseline(9.0);
    assert_eq!(worse.code, Some(101));
    assert!(worse.err.contains("regressed: best 99 is worse than the accepted 9"), "{}", worse.err);
}

fn an_invalid_name_is_refused_before_anything_runs() {
    for (name, message) in [
        ("speed", "the tests of own: the check `speed` is not named `PHASE::NAME`"),
        ("speed::a b", "the check `speed::a b` is not named `PHASE::NAME`"),
        (
            "block::layer01::finite",
            "`block::layer01::finite` is the name of a test of the built-in check block::finite",
        ),
        ("kernel::mine", "`kernel::mine` is the name of a test of the built-in check kernel"),
        ("layers::counted", "two tests are named `layers::counted`; rename one of them"),
    ] {
        for args in [&["--list"][..], &[]] {
            let ran = run_with("own", args, &[("OWN_NAME", name)]);
            assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{name}");
            assert!(ran.err.contains(message), "{}", ran.err);
        }
    }
}

fn they_are_explained_in_the_description() {
    let ran = run("own", &["--describe"]);
    let description: Description = serde_json::from_str(&ran.out).unwrap();
    let described = |name: &str, explanation: &str| CheckDescription {
        name: name.to_owned(),
        explanation: explanation.to_owned(),
    };
    assert_eq!(
        description.checks,
        [
            described("speed::decode", "Decode appends one token."),
            described("layers::counted", "The model has two layers."),
        ]
    );
}
