//! Flags that say where tests run, and with what.

use super::{Flag, parse, switch, value};
use crate::Effort;

pub(super) const FLAGS: &[Flag] = &[
    value(
        "device",
        "NAME",
        "The device [default: the adapter's first] [env: NPUGATE_DEVICE=NAME]",
        |typed, name| parse(name).map(|name| typed.device = Some(name)),
    ),
    value(
        "set",
        "KEY=VALUE",
        "A setting of the adapter; may be given several times [env: NPUGATE_SETTINGS=KEY=VALUE,...]",
        |typed, pair| parse(pair).map(|pair| typed.settings.push(pair)),
    ),
    value("toolchain", "VERSION", "As --set toolchain=VERSION", |typed, version| {
        parse(&format!("toolchain={version}")).map(|pair| typed.settings.push(pair))
    }),
    switch("smoke", "Kernel tests on few rows, without a baseline: a quick look", |typed| {
        typed.effort = Effort::Smoke;
    }),
    value(
        "baseline",
        "compare|ignore",
        "Whether a pass that got worse than the baseline fails [default: compare] [env: NPUGATE_BASELINE]",
        |typed, baselines| parse(baselines).map(|baselines| typed.baselines = Some(baselines)),
    ),
    value(
        "fixtures",
        "FOLDER",
        "Goldens and baselines are in FOLDER/MODEL [default: the adapter's own] [env: NPUGATE_FIXTURES=FOLDER]",
        |typed, folder| parse(folder).map(|folder| typed.fixtures = Some(folder)),
    ),
    value(
        "evidence",
        "FOLDER",
        "Leave the device's logits and the token gate's verdicts in FOLDER, to be checked by others [env: NPUGATE_EVIDENCE=FOLDER]",
        |typed, folder| parse(folder).map(|folder| typed.evidence = Some(folder)),
    ),
];
