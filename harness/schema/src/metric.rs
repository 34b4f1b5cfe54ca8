//! One measured number of a check, with its unit, its direction and its limit.

use crate::number;
use serde::{Deserialize, Serialize};

/// What a metric's number means, which determines how its error is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A cosine or another similarity whose perfect value is 1.
    Cosine,
    /// A signal-to-noise ratio in decibels, higher is better.
    Decibel,
    /// A relative error or a ratio of two like quantities.
    Ratio,
    /// How far a scale is from 1; for a correct output, noise around zero.
    ScaleError,
    /// A mean error in units of its spread: `1 / sqrt(n)` by chance.
    Bias,
    /// An absolute difference in the unit of the tensor itself.
    Absolute,
    /// A divergence in nats.
    Nats,
    /// A number of elements, positions or tests.
    Count,
    /// A duration in milliseconds: never compared with a baseline of another run.
    Milliseconds,
    /// A rate per second: never compared with a baseline of another run.
    PerSecond,
}

/// Which way a metric improves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Lower is better, and a limit is a maximum.
    Lower,
    /// Higher is better, and a limit is a minimum.
    Higher,
    /// Recorded for the reader; neither gated nor compared.
    Neutral,
}

/// One measured number of a check.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Metric {
    /// Name in the field's terms: `cosine`, `max_abs`, `sqnr`.
    pub name: String,
    /// The part of the test that it was measured on, such as `layer07` or `attn_out`; none
    /// for the whole test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<String>,
    /// The number.
    #[serde(with = "number")]
    #[cfg_attr(any(test, feature = "json-schema"), schemars(with = "crate::json_schema::Number"))]
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Which way it improves.
    pub direction: Direction,
    /// The binding limit, if this metric is gated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

impl Metric {
    /// A metric without a limit, which is recorded and compared with the baseline.
    pub fn new(name: impl Into<String>, value: f64, unit: Unit, direction: Direction) -> Self {
        Self { name: name.into(), slice: None, value, unit, direction, limit: None }
    }

    /// The same metric with a binding limit.
    #[must_use]
    pub fn limited(mut self, limit: f64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The same metric, measured on a named part of the test.
    #[must_use]
    pub fn on(mut self, slice: impl Into<String>) -> Self {
        self.slice = Some(slice.into());
        self
    }

    /// `slice.name`, or `name`: the key in baselines and JUnit properties.
    pub fn key(&self) -> String {
        match &self.slice {
            Some(slice) => format!("{slice}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Whether the value keeps its limit. NaN never does.
    pub fn within_limit(&self) -> bool {
        match (self.limit, self.direction) {
            (None, _) | (_, Direction::Neutral) => true,
            (Some(limit), Direction::Lower) => self.value <= limit,
            (Some(limit), Direction::Higher) => self.value >= limit,
        }
    }

    /// The error that this value stands for, zero being perfect: `1 - cosine`,
    /// the amplitude ratio of a decibel figure, otherwise the value itself.
    /// `None` for a metric with a neutral direction.
    pub fn error(&self) -> Option<f64> {
        error_of(self.value, self.unit, self.direction)
    }

    /// The share of the allowed error that is used up: 0 is perfect, 1 is at
    /// the limit, above 1 is beyond it. `None` without a limit.
    pub fn used(&self) -> Option<f64> {
        let limit = error_of(self.limit?, self.unit, self.direction)?;
        let error = self.error()?;
        if limit > 0.0 {
            Some(error / limit)
        } else if error <= limit {
            Some(0.0)
        } else {
            Some(f64::INFINITY)
        }
    }
}

fn error_of(value: f64, unit: Unit, direction: Direction) -> Option<f64> {
    match (direction, unit) {
        (Direction::Neutral, _) => None,
        (Direction::Higher, Unit::Decibel) => Some(10f64.powf(-value / 20.0)),
        // A rate has no perfect value; its error is the time per unit.
        (Direction::Higher, Unit::PerSecond) => Some(1.0 / value),
        (Direction::Higher, _) => Some(1.0 - value),
        (Direction::Lower, _) => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_never_keeps_a_limit() {
        for direction in [Direction::Lower, Direction::Higher] {
            let metric = Metric::new("x", f64::NAN, Unit::Ratio, direction).limited(1.0);
            assert!(!metric.within_limit());
        }
    }

    #[test]
    fn a_cosine_of_0_9992_uses_8_percent_of_the_error_that_0_99_allows() {
        let metric = Metric::new("cosine", 0.9992, Unit::Cosine, Direction::Higher).limited(0.99);
        assert!((metric.used().unwrap() - 0.08).abs() < 1e-9);
    }

    #[test]
    fn six_decibels_above_the_floor_use_half_of_the_allowed_error() {
        let metric = Metric::new("sqnr", 46.0206, Unit::Decibel, Direction::Higher).limited(40.0);
        assert!((metric.used().unwrap() - 0.5).abs() < 1e-5);
    }

    #[test]
    fn a_zero_limit_is_used_up_by_the_first_error() {
        let metric = |value| {
            Metric::new("mismatches", value, Unit::Count, Direction::Lower).limited(0.0).used()
        };
        assert_eq!(metric(0.0), Some(0.0));
        assert_eq!(metric(1.0), Some(f64::INFINITY));
    }

    #[test]
    fn values_that_are_not_finite_survive_json() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.1] {
            let metric = Metric::new("x", value, Unit::Ratio, Direction::Lower);
            let json = serde_json::to_string(&metric).unwrap();
            let back: Metric = serde_json::from_str(&json).unwrap();
            assert_eq!(back.value.to_string(), value.to_string(), "{json}");
        }
    }
}
