use crate::BenchError;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

/// The pause between two contestants, so that the threads of the first have stopped spinning.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs the work once, and returns how long that took.
type Run<'a> = Box<dyn FnMut() -> Result<Duration, BenchError> + 'a>;

/// One way to do the work.
pub struct Contestant<'a> {
    name: &'static str,
    run: Run<'a>,
}

impl<'a> Contestant<'a> {
    /// A contestant that times itself.
    pub fn new(name: &'static str, run: impl FnMut() -> Result<Duration, BenchError> + 'a) -> Self {
        Self { name, run: Box::new(run) }
    }

    /// A contestant that is timed from outside.
    pub fn timed(name: &'static str, mut run: impl FnMut() -> Result<(), BenchError> + 'a) -> Self {
        Self::new(name, move || {
            let start = Instant::now();
            run()?;
            Ok(start.elapsed())
        })
    }
}

/// The same work, done by several contestants.
pub struct Contest<'a> {
    /// The name of the work.
    pub name: &'static str,
    /// The work of one run by a contestant, in units of 10^9, such as floating-point operations or
    /// bytes.
    pub work: fn(&str) -> f64,
    /// The unit of work per second.
    pub unit: &'static str,
    /// The number of turns for each contestant.
    pub rounds: usize,
    /// The contestants, of which the first is this project's.
    pub contestants: Vec<Contestant<'a>>,
}

/// The rate of each contestant, by name.
pub type Rates = Vec<(&'static str, f64)>;

impl Contest<'_> {
    /// Lets the contestants take turns, and prints the best rate of each: on a machine with other
    /// load, the fastest run was disturbed least. The first turn does not count.
    ///
    /// # Errors
    ///
    /// If a contestant fails.
    pub fn run(mut self) -> Result<Rates, BenchError> {
        let mut best = vec![Duration::MAX; self.contestants.len()];
        for round in 0..=self.rounds {
            for (best, contestant) in best.iter_mut().zip(&mut self.contestants) {
                thread::sleep(PAUSE);
                let time = (contestant.run)()?;
                if round > 0 {
                    *best = time.min(*best);
                }
            }
        }
        println!("{}, best of {} turns", self.name, self.rounds);
        let rates = self.contestants.iter().zip(&best).map(|(contestant, best)| {
            let name = contestant.name;
            let rate = (self.work)(name) / best.as_secs_f64();
            println!(
                "  {name:<28} {:>10.3} ms {rate:>9.2} {}",
                best.as_secs_f64() * 1e3,
                self.unit
            );
            (name, rate)
        });
        Ok(rates.collect())
    }
}

/// What is required of a ratio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Required {
    /// It is at least this.
    AtLeast(f64),
    /// Nothing: it is for information.
    Nothing,
}

/// One rate divided by another.
#[derive(Clone, PartialEq, Debug)]
pub struct Ratio {
    /// What is divided by what.
    pub name: String,
    /// The quotient; `None` where the peer is missing on this machine.
    pub value: Option<f64>,
    /// What it must be.
    pub required: Required,
}

impl Ratio {
    /// The rate of a contest's first contestant, divided by another's.
    pub fn of(contest: &str, rates: &Rates, peer: &'static str, required: Required) -> Self {
        let rate = |wanted: &str| rates.iter().find(|(name, _)| *name == wanted).map(|(_, r)| *r);
        let first = rates.first().map(|(_, rate)| *rate);
        let value = first.zip(rate(peer)).map(|(first, peer)| first / peer);
        Self { name: format!("{contest} / {peer}"), value, required }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        let required = match self.required {
            Required::AtLeast(least) => format!(">= {least:.2}"),
            Required::Nothing => "-".to_owned(),
        };
        // NaN never meets a requirement.
        let verdict = match (self.required, self.value) {
            (Required::Nothing, _) => "",
            (Required::AtLeast(_), None) => "not measured: the peer is missing",
            (Required::AtLeast(least), Some(value)) if value >= least => "met",
            (Required::AtLeast(_), Some(_)) => "MISSED",
        };
        write!(f, "{:<58} {value:>7} {required:>9}  {verdict}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(value: Option<f64>) -> String {
        Ratio { name: "a / b".into(), value, required: Required::AtLeast(2.0) }.to_string()
    }

    #[test]
    fn a_ratio_is_met_missed_or_not_measured() {
        assert!(verdict(Some(2.0)).ends_with("2.00   >= 2.00  met"));
        assert!(verdict(Some(1.99)).ends_with("MISSED"));
        assert!(verdict(Some(f64::NAN)).ends_with("MISSED"));
        assert!(verdict(None).ends_with("not measured: the peer is missing"));
    }

    #[test]
    fn the_best_turn_counts_and_the_first_one_does_not() {
        let mut times = [1, 30, 20, 40].map(Duration::from_millis).into_iter();
        let contest = Contest {
            name: "made",
            work: |_| 1.0,
            unit: "1/s",
            rounds: 3,
            contestants: vec![
                Contestant::new("ours", move || Ok(times.next().unwrap())),
                Contestant::new("theirs", || Ok(Duration::from_millis(40))),
            ],
        };
        let rates = contest.run().unwrap();
        let ratio = Ratio::of("made", &rates, "theirs", Required::Nothing);
        assert!((ratio.value.unwrap() - 2.0).abs() < 1e-9, "{ratio}");
        assert_eq!(Ratio::of("made", &rates, "nobody", Required::Nothing).value, None);
    }
}
