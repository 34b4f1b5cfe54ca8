//! Which launches are tested, and by what names.

use std::collections::{BTreeMap, btree_map::Entry};

use npugate::{Effort, Kernel, KernelId};
use npugate_kernels::{Launch, Op, Program};

use crate::case::{KernelCase, OpenDevice, single};

/// Two launches that compute different things but would be the same test.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error(
    "`{id}` would name two kernels, {0:?} rounding {1:?} and {2:?} rounding {3:?}; one of them would \
     go untested",
    first.op, first.rounding, second.op, second.rounding
)]
pub struct AmbiguousKernel {
    id: KernelId,
    first: Box<Launch>,
    second: Box<Launch>,
}

impl AmbiguousKernel {
    /// The name that both would have.
    pub fn id(&self) -> &KernelId {
        &self.id
    }

    /// The two launches, in the order in which they run first.
    pub fn launches(&self) -> [&Launch; 2] {
        [&self.first, &self.second]
    }

    /// Whether the launches compute the same and only round differently.
    pub fn differ_in_rounding(&self) -> bool {
        self.first.op == self.second.op
    }
}

/// One kernel test for each distinct launch, in the order in which they run first, with as much of
/// its shape as `effort` asks for. Each opens a device of its own when it runs, never before.
///
/// # Errors
///
/// If two launches differ only in something that no test name says: rounding, an epsilon, how an
/// accumulator is narrowed.
pub fn cases<'a>(
    launches: impl IntoIterator<Item = &'a Launch>,
    open: &OpenDevice,
    effort: Effort,
) -> Result<Vec<Box<dyn Kernel>>, AmbiguousKernel> {
    let mut seen = BTreeMap::new();
    let mut cases: Vec<Box<dyn Kernel>> = Vec::new();
    for launch in launches {
        match seen.entry(id(&launch.op)) {
            Entry::Vacant(entry) => {
                let id = entry.key().clone();
                let launch = entry.insert(launch);
                let launch = match effort {
                    Effort::Full => launch.clone(),
                    Effort::Smoke => smoke(launch),
                };
                cases.push(Box::new(KernelCase { id, launch, open: open.clone() }));
            }
            Entry::Occupied(entry) => {
                let first = *entry.get();
                if (first.op, first.rounding) != (launch.op, launch.rounding) {
                    let (first, second) = (Box::new(first.clone()), Box::new(launch.clone()));
                    return Err(AmbiguousKernel { id: entry.key().clone(), first, second });
                }
            }
        }
    }
    Ok(cases)
}

/// The programs that the kernel tests of `launches` load, one for each distinct launch: what a
/// deployment must hold beside the model's own.
pub fn programs<'a>(launches: impl IntoIterator<Item = &'a Launch>) -> Vec<Program> {
    let mut seen = BTreeMap::new();
    for launch in launches {
        seen.entry(id(&launch.op)).or_insert_with(|| single(launch));
    }
    seen.into_values().collect()
}

/// Names the test of a launch of `op`.
pub fn id(op: &Op) -> KernelId {
    let id = KernelId::new(op.kernel(), op.shape_key());
    match op.tier() {
        Some(tier) => id.tier(tier),
        None => id,
    }
}

/// The launch on few rows. A tiling that no longer fits is left to the build.
fn smoke(launch: &Launch) -> Launch {
    let op = launch.op.smoke();
    let tiling = launch.tiling.filter(|tiling| tiling.check(&op).is_ok());
    Launch { op, tiling, ..launch.clone() }
}
