//! libtest's unstable JSON, one line for each event, as IDEs read it. This project's
//! own events say more: they go to the file that `NPUGATE_EVENTS` names.

use super::{Ended, Finished, Printer, Times, complaint};
use crate::schema::Outcome;
use serde::Serialize;
use std::io::{self, Write};

pub(super) struct Json {
    pub times: Times,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Suite(Suite),
    Test(Test<'a>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Suite {
    Started {
        event: &'static str,
        test_count: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        shuffle_seed: Option<u64>,
    },
    Finished {
        event: &'static str,
        passed: u64,
        failed: u64,
        ignored: u64,
        measured: u64,
        filtered_out: u64,
        exec_time: f64,
    },
}

#[derive(Serialize)]
struct Test<'a> {
    event: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exec_time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

impl Printer for Json {
    fn begin(&mut self, out: &mut dyn Write, tests: usize, seed: Option<u64>) -> io::Result<()> {
        let (test_count, shuffle_seed) = (tests, seed);
        let started = Suite::Started { event: "started", test_count, shuffle_seed };
        print(out, &Line::Suite(started))
    }

    fn started(&mut self, out: &mut dyn Write, name: &str) -> io::Result<()> {
        print(out, &Line::Test(Test::new("started", name)))
    }

    fn ended(&mut self, out: &mut dyn Write, name: &str, ended: Ended<'_>) -> io::Result<()> {
        let test = match ended {
            Ended::Ignored { reason } => {
                Test { message: Some(reason), ..Test::new("ignored", name) }
            }
            Ended::Ran(record) => {
                let (event, stdout) = match &record.outcome {
                    Outcome::Ignored { .. } => ("ignored", None),
                    outcome if outcome.is_good() => ("ok", None),
                    _ => ("failed", Some(format!("Error: {}\n", complaint(record)))),
                };
                let exec_time = (self.times == Times::Shown).then_some(record.seconds);
                Test { exec_time, stdout, ..Test::new(event, name) }
            }
        };
        print(out, &Line::Test(test))
    }

    fn finish(&mut self, out: &mut dyn Write, finished: Finished<'_>) -> io::Result<()> {
        let conclusion = finished.conclusion;
        let finished = Suite::Finished {
            event: if conclusion.has_failed() { "failed" } else { "ok" },
            passed: conclusion.num_passed,
            failed: conclusion.num_failed,
            ignored: conclusion.num_ignored,
            measured: conclusion.num_measured,
            filtered_out: conclusion.num_filtered_out,
            exec_time: finished.seconds,
        };
        print(out, &Line::Suite(finished))
    }
}

impl<'a> Test<'a> {
    fn new(event: &'static str, name: &'a str) -> Self {
        Self { event, name, exec_time: None, stdout: None, message: None }
    }
}

fn print(out: &mut dyn Write, line: &Line<'_>) -> io::Result<()> {
    writeln!(out, "{}", serde_json::to_string(line)?)
}
