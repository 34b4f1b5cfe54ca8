use super::*;
use npugate_schema::{ExitCode, Ignore};

fn candidates() -> Vec<Candidates> {
    let one = |package: &str, model: &str, names: &[&str]| Candidates {
        package: package.into(),
        model: model.into(),
        tests: names.iter().map(|name| ListedTest::new(*name)).collect(),
        gone: vec!["kernel::old".into()],
    };
    let mut all = vec![
        one("alpha", "alpha", &["kernel::gemm", "kernel::softmax", "tokens::p00"]),
        one("beta", "beta-7b", &["kernel::gemm", "tokens::p00"]),
    ];
    all[0].tests[0].attributes.insert("m".into(), 256.into());
    all
}

fn selection(expressions: &[&str]) -> Selection {
    let expressions = expressions.iter().map(|text| text.parse().unwrap()).collect();
    Selection { expressions, ..Selection::default() }
}

/// `MODEL TEST` of each test that is left.
fn left(candidates: &[Candidates]) -> Vec<String> {
    let facts = candidates.iter().flat_map(Candidates::facts);
    facts.map(|facts| format!("{} {}", facts.model, facts.test.name)).collect()
}

#[test]
fn one_of_several_expressions_is_enough() {
    let mut all = candidates();
    choose(&mut all, &selection(&["m >= 256", "model(beta) & kind(tokens)"])).unwrap();
    assert_eq!(left(&all), ["alpha kernel::gemm", "beta-7b tokens::p00"]);
}

#[test]
fn an_expression_that_asks_for_what_no_test_has_is_an_error() {
    let error = choose(&mut candidates(), &selection(&["kind(kernel)", "mm >= 256"])).unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::BadFilter);
    assert!(error.to_string().contains("did you mean `m`?"), "{error}");
    // Filters that leave nothing are another error.
    assert!(choose(&mut [], &selection(&["mm >= 256"])).is_ok());
}

#[test]
fn an_exact_name_is_looked_for_in_the_whole_run_and_not_in_a_shard() {
    let exact = |name: &str, partition: &str| Selection {
        filters: vec![name.into()],
        matching: Matching::Exact,
        partition: partition.parse().ok(),
        ..Selection::default()
    };
    let error = choose(&mut candidates(), &exact("kernel::gem", "")).unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::NoTests);
    let mut all = candidates();
    choose(&mut all, &exact("kernel::softmax", "slice:1/2")).unwrap();
    assert_eq!(left(&all).len(), 3);
}

#[test]
fn shards_share_the_tests_of_the_whole_run_and_those_that_are_gone() {
    for kind in ["hash", "slice"] {
        let mut seen = Vec::new();
        for number in 1..=3 {
            let partition = format!("{kind}:{number}/3").parse().ok();
            let mut all = candidates();
            let chosen = choose(&mut all, &Selection { partition, ..Selection::default() });
            if chosen.is_ok() {
                seen.extend(left(&all));
                let gone = all.iter().flat_map(|one| one.gone.iter().map(|_| one.model.clone()));
                seen.extend(gone);
            }
        }
        let mut expected = left(&candidates());
        expected.extend(["alpha".to_owned(), "beta-7b".to_owned()]);
        seen.sort_unstable();
        expected.sort_unstable();
        assert_eq!(seen, expected, "{kind}");
    }
}

#[test]
fn slices_go_on_from_one_model_to_the_next() {
    let mut all = candidates();
    let partition = "slice:1/2".parse().ok();
    choose(&mut all, &Selection { partition, ..Selection::default() }).unwrap();
    assert_eq!(left(&all), ["alpha kernel::gemm", "alpha tokens::p00", "beta-7b tokens::p00"]);
}

#[test]
fn each_slice_has_its_share_of_the_tests_that_run() {
    let mut all = candidates();
    all.truncate(1);
    all[0].tests[1].ignored = Some(Ignore::Full);
    let partition = "slice:2/2".parse().ok();
    choose(&mut all, &Selection { partition, ..Selection::default() }).unwrap();
    assert_eq!(left(&all), ["alpha tokens::p00"]);
}

#[test]
fn an_expression_comes_before_the_shards() {
    let mut all = candidates();
    let partition = "slice:2/2".parse().ok();
    choose(&mut all, &Selection { partition, ..selection(&["kind(kernel)"]) }).unwrap();
    assert_eq!(left(&all), ["alpha kernel::softmax"]);
}

#[test]
fn a_shard_without_tests_is_an_error() {
    let mut all = candidates();
    for one in &mut all {
        one.gone.clear();
    }
    let partition = "slice:6/6".parse().ok();
    let error = choose(&mut all, &Selection { partition, ..Selection::default() }).unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::NoTests);
    assert_eq!(
        error.to_string(),
        "slice:6/6 has none of the 5 tests of this run: use fewer shards"
    );
}

#[test]
fn a_rerun_takes_failed_tests_and_returns_those_that_no_longer_exist() {
    let rerun = Selection { rerun: Rerun::Failed, ..Selection::default() };
    let failed: FailedTests = [
        FailedTest::new("alpha", "alpha", "kernel::softmax"),
        FailedTest::new("alpha", "alpha", "kernel::conv"),
        FailedTest::new("offside", "offside", "kernel::gemm"),
    ]
    .into();
    let mut all = candidates();
    let vanished = take_failed(&mut all, &rerun, &failed).unwrap();
    assert_eq!(left(&all), ["alpha kernel::softmax"]);
    assert_eq!(vanished, [FailedTest::new("alpha", "alpha", "kernel::conv")].into());
    // A filter may be the reason why a test is not listed.
    let filtered = Selection { filters: vec!["kernel".into()], ..rerun.clone() };
    assert!(take_failed(&mut candidates(), &filtered, &failed).unwrap().is_empty());
    let error = take_failed(&mut candidates(), &rerun, &FailedTests::new()).unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::NoTests);
    let mut all = candidates();
    take_failed(&mut all, &Selection::default(), &FailedTests::new()).unwrap();
    assert_eq!(all, candidates(), "no rerun was requested");
}

#[test]
fn tests_that_are_chosen_from_the_listing_are_run_by_name() {
    let partition = "hash:1/2".parse().ok();
    for narrow in [
        selection(&["all()"]),
        Selection { partition, ..Selection::default() },
        Selection { rerun: Rerun::Failed, ..Selection::default() },
    ] {
        assert_eq!(to_run(&narrow).matching, Matching::Exact);
    }
    let filtered = Selection { filters: vec!["a".into()], ..Selection::default() };
    assert_eq!(to_run(&filtered), filtered);
}

fn no_match_for(filters: &[&str], expressions: &[&str]) -> String {
    let filters = filters.iter().map(ToString::to_string).collect();
    no_match(&Selection { filters, ..selection(expressions) })
}

#[test]
fn a_mistyped_command_is_recognised() {
    assert_eq!(
        no_match_for(&["reviw"], &[]),
        "no test matches `reviw`; did you mean the command `cargo npugate review`?"
    );
    assert_eq!(
        no_match_for(&["conv2d", "lst"], &[]),
        "no test matches `conv2d` or `lst`; `cargo npugate list` lists all tests"
    );
    assert!(no_match_for(&["conv2d"], &[]).contains("lists all tests"));
}

#[test]
fn the_message_names_the_filters_and_expressions() {
    assert_eq!(
        no_match_for(&["gemm"], &["m = 4", "m = 8"]),
        "no test matches `gemm` and `m = 4` or `m = 8`; `cargo npugate list` lists all tests"
    );
}
