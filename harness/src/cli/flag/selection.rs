//! Flags that choose tests.

use super::{Flag, parse, switch, value};
use crate::cli::typed::{Ignored, Matching, OnFailure, Shuffle, TestSet, WeightsNeed};

pub(super) const FLAGS: &[Flag] = &[
    value(
        "skip",
        "TEXT",
        "Leave out tests whose names contain TEXT; may be given several times",
        |typed, text| parse(text).map(|text| typed.skip.push(text)),
    ),
    switch("exact", "Filters are whole names; a name that no test has is an error", |typed| {
        typed.matching = Matching::Exact;
    }),
    value(
        "phase",
        "NAME",
        "Only the tests of a phase; may be given several times",
        |typed, name| parse(name).map(|phase| typed.phases.push(phase)),
    ),
    switch("full", "The long set too [env: NPUGATE_FULL=1]", |typed| typed.set = TestSet::Full),
    switch(
        "require-weights",
        "Run the tests whose weights are missing, so that they fail [env: NPUGATE_REQUIRE_WEIGHTS=1]",
        |typed| typed.weights = WeightsNeed::Required,
    ),
    switch("ignored", "Run only the tests that are off by default", |typed| {
        typed.ignored.push(Ignored::Only);
    }),
    switch("include-ignored", "Run the tests that are off by default too", |typed| {
        typed.ignored.push(Ignored::Include);
    }),
    switch("fail-fast", "Stop after the first failure", |typed| {
        typed.on_failure = OnFailure::Stop;
    }),
    switch("shuffle", "Run in random order [env: RUST_TEST_SHUFFLE=1]", |typed| {
        typed.shuffle.get_or_insert(Shuffle::Random);
    }),
    value(
        "shuffle-seed",
        "SEED",
        "Run in the order that SEED gives [env: RUST_TEST_SHUFFLE_SEED=SEED]",
        |typed, seed| parse(seed).map(|seed| typed.shuffle = Some(Shuffle::Seeded(seed))),
    ),
];
