//! Reports of a running test run for programs: JSON lines on stdout, and in a file.

mod libtest;
mod messages;
mod sink;

use super::Run;
use crate::cli::RunFormat;
use crate::files::FileError;
use crate::runner::{Consumer, ModelPlan, ModelResult, Update};
use libtest::Libtest;
use messages::Messages;
use npugate_schema::ExitCode;
use sink::Sink;
use std::{path::Path, sync::Arc};

/// All the streams that a run is reported to.
#[derive(Default)]
pub struct Streams(Vec<Box<dyn Stream>>);

/// A consumer of a run's reports, with a beginning and an end.
trait Stream: Consumer {
    /// Ends the stream: whatever has not been written yet is written now.
    fn finish(&mut self, end: &End<'_>);

    /// Where it writes.
    fn sink(&mut self) -> &mut Sink;
}

/// The end of a run.
#[derive(Clone, Copy, Debug)]
struct End<'a> {
    results: &'a [ModelResult],
    code: ExitCode,
    seconds: f64,
}

impl Streams {
    /// Opens the requested streams, and reports the start of the run.
    ///
    /// # Errors
    ///
    /// The file cannot be created. A later failure to write is reported at the end,
    /// because it is not a reason to stop a run.
    pub fn open(
        format: RunFormat,
        results: Option<&Path>,
        plans: &[Arc<ModelPlan>],
        run: &Run,
    ) -> Result<Self, FileError> {
        let mut streams = Vec::<Box<dyn Stream>>::new();
        match format {
            RunFormat::Human => {}
            RunFormat::Json => streams.push(Box::new(Messages::start(Sink::stdout(), plans, run))),
            RunFormat::LibtestJson => streams.push(Box::new(Libtest::new(Sink::stdout()))),
        }
        if let Some(path) = results {
            let sink = Sink::create(path)?;
            streams.push(Box::new(Messages::start(sink, plans, run)));
        }
        Ok(Self(streams))
    }

    /// Reports the end of the run.
    ///
    /// # Errors
    ///
    /// Any earlier failure to write, except to a closed pipe.
    pub fn finish(
        mut self,
        results: &[ModelResult],
        code: ExitCode,
        seconds: f64,
    ) -> Result<(), FileError> {
        for stream in &mut self.0 {
            stream.finish(&End { results, code, seconds });
        }
        self.0.iter_mut().try_for_each(|stream| stream.sink().check())
    }
}

impl Consumer for Streams {
    fn consume(&mut self, update: &Update) {
        for stream in &mut self.0 {
            stream.consume(update);
        }
    }
}
