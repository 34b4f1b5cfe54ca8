//! The clock of one child: which test is slow, and when its time is up.

use crate::settings::TestSettings;
use npugate_schema::Event;
use std::time::{Duration, Instant};

/// How long a child may take to end after its last test.
const ENDING: Duration = Duration::from_secs(30);

/// The clock of one child.
#[derive(Debug)]
pub struct Watch<F> {
    settings_of: F,
    /// The settings for the time before the first test and between tests.
    idle: TestSettings,
    since: Instant,
    doing: Doing,
}

#[derive(Debug)]
enum Doing {
    /// It is not running a test.
    Idle,
    Test {
        name: String,
        settings: TestSettings,
        slow: Slow,
    },
    /// All tests have run.
    Ending,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slow {
    NotYet,
    Told,
}

/// What the clock reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Alarm {
    /// A test takes longer than it should.
    Slow { name: String, elapsed: Duration },
    /// A test, or the time between tests, took too long: the child must end within the grace
    /// period.
    TimedOut { after: Duration, grace: Duration },
}

impl<F: Fn(&str) -> TestSettings> Watch<F> {
    /// A child starts at `now`.
    pub fn new(settings_of: F, idle: TestSettings, now: Instant) -> Self {
        Self { settings_of, idle, since: now, doing: Doing::Idle }
    }

    /// An event has come.
    pub fn event(&mut self, event: &Event, now: Instant) {
        self.doing = match event {
            Event::TestStarted { name } => Doing::Test {
                name: name.clone(),
                settings: (self.settings_of)(name),
                slow: Slow::NotYet,
            },
            Event::RunFinished { .. } => Doing::Ending,
            Event::RunStarted { .. } | Event::TestFinished { .. } => Doing::Idle,
            _ => return,
        };
        self.since = now;
    }

    /// What there is to report at `now`. A slow test is reported once.
    pub fn look(&mut self, now: Instant) -> Option<Alarm> {
        let elapsed = now.duration_since(self.since);
        let (timeout, grace) = match &self.doing {
            Doing::Idle => (self.idle.timeout, self.idle.grace),
            Doing::Test { settings, .. } => (settings.timeout, settings.grace),
            Doing::Ending => (ENDING, self.idle.grace),
        };
        if elapsed >= timeout {
            return Some(Alarm::TimedOut { after: timeout, grace });
        }
        match &mut self.doing {
            Doing::Test { name, settings, slow } if *slow == Slow::NotYet => {
                if elapsed < settings.slow {
                    return None;
                }
                *slow = Slow::Told;
                Some(Alarm::Slow { name: name.clone(), elapsed })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npugate_schema::{Summary, TimeLimits};

    fn after(seconds: u64, start: Instant) -> Instant {
        start + Duration::from_secs(seconds)
    }

    fn watch(start: Instant) -> Watch<impl Fn(&str) -> TestSettings> {
        let of = |name: &str| {
            let timeout = if name == "long" { 100 } else { 10 };
            TestSettings::from(TimeLimits { slow: 5, timeout })
        };
        Watch::new(of, TestSettings::from(TimeLimits { slow: 5, timeout: 60 }), start)
    }

    fn begin(name: &str) -> Event {
        Event::TestStarted { name: name.into() }
    }

    #[test]
    fn a_slow_test_is_reported_once_and_timed_out_at_its_own_limit() {
        let start = Instant::now();
        let mut watch = watch(start);
        watch.event(&begin("a"), after(1, start));
        assert_eq!(watch.look(after(5, start)), None);
        let elapsed = Duration::from_secs(5);
        assert_eq!(watch.look(after(6, start)), Some(Alarm::Slow { name: "a".into(), elapsed }));
        assert_eq!(watch.look(after(7, start)), None);
        let timed_out = |seconds| {
            let after = Duration::from_secs(seconds);
            Some(Alarm::TimedOut { after, grace: TestSettings::GRACE })
        };
        assert_eq!(watch.look(after(11, start)), timed_out(10));
        watch.event(&begin("long"), after(12, start));
        assert!(matches!(watch.look(after(111, start)), Some(Alarm::Slow { .. })));
        assert_eq!(watch.look(after(112, start)), timed_out(100));
    }

    #[test]
    fn a_child_that_hangs_outside_tests_is_timed_out_too() {
        let start = Instant::now();
        let mut watch = watch(start);
        assert_eq!(watch.look(after(59, start)), None);
        assert!(matches!(watch.look(after(60, start)), Some(Alarm::TimedOut { .. })));
        let summary = Summary::default();
        watch.event(&Event::RunFinished { summary, seconds: 1.0 }, after(61, start));
        assert_eq!(watch.look(after(90, start)), None);
        assert!(matches!(watch.look(after(91, start)), Some(Alarm::TimedOut { .. })));
    }
}
