//! A run told to programs while it goes on: JSON lines on stdout, and in a file.

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

/// Everything that a run is told to.
#[derive(Default)]
pub struct Streams(Vec<Box<dyn Stream>>);

/// What a run is told to, with a beginning and an end.
trait Stream: Consumer {
    /// The run is over: whatever has not been told is told now.
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
    /// Opens what was asked for, and tells that the run begins.
    ///
    /// # Errors
    ///
    /// The file cannot be created. What fails to be written later is told at the
    /// end: it is no reason to end a run.
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

    /// Tells that the run is over.
    ///
    /// # Errors
    ///
    /// What could not be written at any time, except to a pipe that was closed.
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
