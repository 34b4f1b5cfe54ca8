//! How tests are run whatever their checks and the profile say: what was typed.

use crate::cli::RunArgs;
use crate::profile::Span;
use crate::settings::TestSettings;
use npugate_schema::FlakyResult;

/// What was typed of how tests are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TypedSettings {
    /// After this long a test is named as slow.
    pub slow: Option<Span>,
    /// After this long a test is ended.
    pub timeout: Option<Span>,
    /// How often a test that does not pass is run again.
    pub retries: Option<u32>,
    /// What a test counts as that failed and then passed.
    pub flaky: Option<FlakyResult>,
}

impl TypedSettings {
    /// Puts what was typed over what holds otherwise.
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
    fn what_was_typed_goes_over_what_holds_otherwise() {
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
