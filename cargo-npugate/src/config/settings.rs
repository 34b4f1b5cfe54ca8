//! How tests are run, as typed; this overrides their checks and the profile.

use crate::cli::RunArgs;
use crate::profile::Span;
use crate::settings::TestSettings;
use npugate_schema::FlakyResult;

/// How tests are run, as far as it was typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TypedSettings {
    /// How long a test may run before it is reported as slow.
    pub slow: Option<Span>,
    /// How long a test may run before it is terminated.
    pub timeout: Option<Span>,
    /// How often a failing test is retried.
    pub retries: Option<u32>,
    /// How to count a test that fails and then passes on a retry.
    pub flaky: Option<FlakyResult>,
}

impl TypedSettings {
    /// Overrides settings with what was typed.
    pub fn apply(self, settings: TestSettings) -> TestSettings {
        TestSettings {
            slow: self.slow.map_or(settings.slow, Span::duration),
            timeout: self.timeout.map_or(settings.timeout, Span::duration),
            retries: self.retries.unwrap_or(settings.retries),
            flaky: self.flaky.unwrap_or(settings.flaky),
            ..settings
        }
    }
}

impl From<&RunArgs> for TypedSettings {
    fn from(args: &RunArgs) -> Self {
        let RunArgs { slow, timeout, retries, flaky_result, .. } = args;
        Self { slow: *slow, timeout: *timeout, retries: *retries, flaky: *flaky_result }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npugate_schema::TimeLimits;
    use std::time::Duration;

    #[test]
    fn what_was_typed_overrides_other_settings() {
        let settings = TestSettings::from(TimeLimits { slow: 60, timeout: 600 });
        assert_eq!(TypedSettings::default().apply(settings), settings);
        let typed = TypedSettings {
            timeout: "5s".parse().ok(),
            retries: Some(2),
            flaky: Some(FlakyResult::Pass),
            ..TypedSettings::default()
        };
        let expected = TestSettings {
            slow: Duration::from_mins(1),
            timeout: Duration::from_secs(5),
            retries: 2,
            flaky: FlakyResult::Pass,
            ..settings
        };
        assert_eq!(typed.apply(settings), expected);
    }
}
