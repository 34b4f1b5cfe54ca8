//! The other contestant: a Python process that does the same work.

use std::{
    env,
    error::Error,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A Python process with the model loaded. Dropping this value ends the process.
pub struct Transformers {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Transformers {
    /// Loads the model from the same weights.
    pub fn start(weights: &Path, numbers: [usize; 4]) -> Result<Self, Box<dyn Error>> {
        let python = env::var("NPUGATE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut child = Command::new(&python)
            .args(["-c", include_str!("transformers.py")])
            .arg(weights)
            .args(numbers.map(|number| number.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("`{python}` cannot be started: {error}"))?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are pipes")
        };
        let mut started = Self { child, requests, answers: BufReader::new(answers) };
        match started.answer()?.as_str() {
            "ready" => Ok(started),
            // It has printed the reason.
            _ => Err(format!("`{python}` did not load the model").into()),
        }
    }

    /// Returns the seconds that a piece of work takes.
    pub fn run(&mut self, work: &str) -> Result<f64, Box<dyn Error>> {
        writeln!(self.requests, "{work}")?;
        Ok(self.answer()?.parse()?)
    }

    fn answer(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Transformers {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
