//! A device that an adapter can run on.

use crate::schema::{Access, Availability, BaselineUse};

/// A device that an adapter can run on: what it is called, where its results are kept and
/// how it may be used.
///
/// ```
/// # use npugate::DeviceSpec;
/// # let (missing, reason) = (true, "no driver for the NPU; run `cargo npugate doctor`");
/// let mut npu = DeviceSpec::hardware("xrt");
/// if missing {
///     npu = npu.missing(reason);
/// }
/// let devices = [DeviceSpec::emulated(), npu];
/// # assert_eq!(devices[1].name, "xrt");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DeviceSpec {
    /// Its name, as in `--device`.
    pub name: String,
    /// The name under which its results are kept. The same as [`name`](Self::name), unless
    /// this is a double of the device with that name.
    pub class: String,
    /// Whether it is there.
    pub availability: Availability,
    /// How many processes may use it at a time. Only an emulated device can be shared: two
    /// processes on one NPU disturb each other's results, and concurrent use can wedge it
    /// until the power is cut.
    pub access: Access,
    /// Whether its figures may be kept as a baseline. The figures of a double say nothing
    /// about the device that it stands in for.
    pub baselines: BaselineUse,
}

impl DeviceSpec {
    /// The emulated NPU, `emu`: always there, and any number of processes may use it.
    pub fn emulated() -> Self {
        Self::hardware("emu").access(Access::Shared)
    }

    /// A device that is available, and that one process uses at a time.
    pub fn hardware(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            class: name.clone(),
            name,
            availability: Availability::Available,
            access: Access::Exclusive,
            baselines: BaselineUse::Allowed,
        }
    }

    /// The same, with a number of processes that may use it at a time.
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// The same, missing for a reason that says what to do about it.
    #[must_use]
    pub fn missing(mut self, reason: impl Into<String>) -> Self {
        self.availability = Availability::Missing { reason: reason.into() };
        self
    }

    /// The same, with its results kept under another name.
    #[must_use]
    pub fn kept_as(mut self, class: impl Into<String>) -> Self {
        self.class = class.into();
        self
    }

    /// The same, without baselines, for a reason.
    #[must_use]
    pub fn without_baselines(mut self, reason: impl Into<String>) -> Self {
        self.baselines = BaselineUse::Refused { reason: reason.into() };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_emulated_is_shared_and_what_is_not_is_exclusive() {
        let emulated = DeviceSpec::emulated();
        assert_eq!((emulated.name.as_str(), emulated.access), ("emu", Access::Shared));
        assert_eq!(DeviceSpec::hardware("xrt").access, Access::Exclusive);
    }

    #[test]
    fn a_double_keeps_its_results_under_a_name_of_its_own_and_out_of_baselines() {
        let double = DeviceSpec::hardware("xrt").kept_as("xrt-fake").without_baselines("a double");
        assert_eq!((double.name.as_str(), double.class.as_str()), ("xrt", "xrt-fake"));
        assert_eq!(double.baselines.refusal(), Some("a double"));
    }
}
