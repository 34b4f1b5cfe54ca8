//! Flags that libtest has and that change nothing here.

use super::{Flag, positive, switch, value};
use crate::cli::typed::Benchmarks;

pub(super) const FLAGS: &[Flag] = &[
    value(
        "test-threads",
        "N",
        "A device runs one test at a time, whatever N is [env: RUST_TEST_THREADS=N]",
        // A zero is refused as libtest refuses it, then it is forgotten.
        |_, n| positive(n).map(drop),
    ),
    switch("test", "Tests run anyway", |typed| typed.benchmarks = Some(Benchmarks::WithTests)),
    switch("bench", "There are no benchmarks; without --test, no test runs either", |typed| {
        typed.benchmarks.get_or_insert(Benchmarks::Alone);
    }),
    switch("ensure-time", "Tests have no time limits here", |_| {}),
    switch("exclude-should-panic", "No test should panic", |_| {}),
    switch("force-run-in-process", "Tests run in this process anyway", |_| {}),
    value("", "unstable-options", "Nothing here is unstable", |_, option| match option {
        "unstable-options" => Ok(()),
        _ => Err("it is unstable-options".to_owned()),
    })
    .short('Z')
    .without_long_name(),
];
