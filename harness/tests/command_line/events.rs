//! The event stream that `cargo npugate` follows.

use crate::gate::{Ran, run_with};
use npugate::schema::{EVENT_SCHEMA, Event, Outcome};

crate::trials! {
    a_run_is_reported_from_start_to_finish,
    ignored_tests_are_counted_and_not_reported_one_by_one,
    a_test_that_kills_the_process_is_the_last_one_reported,
    listing_reports_nothing,
}

fn reported(toy: &str, args: &[&str]) -> (Ran, Vec<Event>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let ran = run_with(toy, args, &[("NPUGATE_EVENTS", file.path().to_str().unwrap())]);
    let text = std::fs::read_to_string(file.path()).unwrap();
    (ran, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn a_run_is_reported_from_start_to_finish() {
    let (ran, events) = reported("faulty", &["2x8", "3x8", "6x8", "--toolchain", "x"]);
    assert_eq!(ran.code, Some(101));
    let Event::RunStarted { schema, model, device, configuration, planned } = &events[0] else {
        panic!("{:?}", events[0])
    };
    assert_eq!((schema.as_str(), model.as_str(), *planned), (EVENT_SCHEMA, "toy", 3));
    assert_eq!((device.as_str(), configuration.as_str()), ("host+toolchain=x", "adds on the host"));
    let names = ["kernel::add::2x8", "kernel::add::3x8", "kernel::add::6x8"];
    for (index, name) in names.into_iter().enumerate() {
        let started = Event::TestStarted { name: name.to_owned() };
        assert_eq!(events[1 + 2 * index], started);
        let Event::TestFinished { record } = &events[2 + 2 * index] else {
            panic!("{:?}", events[2 + 2 * index])
        };
        assert_eq!(record.name, name);
        assert_eq!(record.outcome == Outcome::Passed, name != "kernel::add::3x8");
    }
    let Event::RunFinished { summary, .. } = &events[7] else { panic!("{:?}", events[7]) };
    assert_eq!((summary.passed, summary.failed, events.len()), (2, 1, 8));
}

fn ignored_tests_are_counted_and_not_reported_one_by_one() {
    let (_, events) = reported("sealed", &["block::layer00"]);
    let [Event::RunStarted { planned, .. }, Event::RunFinished { summary, .. }] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((*planned, summary.ran()), (0, 0));
    assert!(summary.ignored > 0);
}

fn a_test_that_kills_the_process_is_the_last_one_reported() {
    let (ran, events) = reported("faulty", &["2x8", "5x8", "6x8"]);
    assert_ne!(ran.code, Some(0));
    let last = Event::TestStarted { name: "kernel::add::5x8".to_owned() };
    assert_eq!(events.last(), Some(&last));
    assert_eq!(events.len(), 4);
}

fn listing_reports_nothing() {
    assert_eq!(reported("sound", &["--list"]).1, []);
    assert_eq!(reported("sound", &["--describe"]).1, []);
}
