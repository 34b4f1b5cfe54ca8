use crate::BenchError;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The script that runs in Python.
const SCRIPT: &str = include_str!("peers.py");

/// A Python process that runs a peer's work once for each request, and answers with the time in
/// seconds. The interpreter is the one that `NPUGATE_PYTHON` names, or `python3`.
pub struct Python {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    modules: Vec<String>,
}

impl Python {
    /// Starts the process; `None` without an interpreter.
    ///
    /// # Errors
    ///
    /// If the interpreter starts, but does not answer.
    pub fn start() -> Result<Option<Self>, BenchError> {
        let name = std::env::var("NPUGATE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut command = Command::new(&name);
        let threads = rayon::current_num_threads().to_string();
        command.args(["-c", SCRIPT, &threads]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                println!("no python peers: `{name}` does not start ({error}); set NPUGATE_PYTHON");
                return Ok(None);
            }
        };
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Ok(None);
        };
        let mut python =
            Self { child, requests, answers: BufReader::new(answers), modules: Vec::new() };
        let hello = python.answer()?;
        python.modules = hello.split_whitespace().map(str::to_owned).collect();
        for (module, what) in [("torch", "torch bf16"), ("numpy", "numpy")] {
            if !python.has(module) {
                println!(
                    "skipped: {what}, since `{name}` has no {module}; set NPUGATE_PYTHON to one that has"
                );
            }
        }
        Ok(Some(python))
    }

    /// Whether the interpreter has a module.
    pub fn has(&self, module: &str) -> bool {
        self.modules.iter().any(|found| found == module)
    }

    /// Runs a peer once: `gemm M K N`, `compare ROWS COLS`.
    ///
    /// # Errors
    ///
    /// If the pipe is closed, or the answer is not a number.
    pub fn time(&mut self, request: &str) -> Result<Duration, BenchError> {
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        let answer = self.answer()?;
        let seconds = answer.trim().parse().ok().map(Duration::try_from_secs_f64);
        match seconds {
            Some(Ok(time)) => Ok(time),
            Some(Err(_)) | None => Err(BenchError::Answer { request: request.to_owned(), answer }),
        }
    }

    fn answer(&mut self) -> Result<String, BenchError> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line)
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
