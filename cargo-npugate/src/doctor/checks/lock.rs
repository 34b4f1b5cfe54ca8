//! Nobody else holds the NPU, by the locks of npugate, MLIR-AIR and MLIR-AIE.

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;

/// The file that MLIR-AIR locks around each load and each dispatch.
const DISPATCH: &str = "/tmp/npu.lock";
/// The prefix of MLIR-AIE's locks: `mlir-aie-npu-npu2.3.lock` for a slot.
const SLOT: &str = "mlir-aie-npu-";

/// Checks who holds the locks, without taking one.
pub fn examine(machine: &Machine) -> Finding {
    let (path, holder) = machine.holder();
    match holder {
        Ok(Some(holder)) => {
            return Finding::warning(
                format!("{holder} holds {path}: a run waits until it is free"),
                "wait for it, or end it; `--lock-timeout` sets how long a run waits",
            );
        }
        Err(error) => {
            return Finding::unknown(
                format!("cannot read who holds {path}: {error}"),
                "run `lslocks` to list the locks that this user can see",
            )
            .with([path]);
        }
        Ok(None) => {}
    }
    let held: Vec<_> = others(machine)
        .into_iter()
        .filter_map(|path| Some((machine.holder_of(&path).ok().flatten()?, path)))
        .map(|(holder, path)| format!("{holder} holds {path}"))
        .collect();
    if held.is_empty() {
        return Finding::ok(format!("nobody holds {path}"));
    }
    Finding::warning(
        format!("nobody holds {path}, which npugate takes, but others hold the NPU by other locks"),
        "wait for them: two users at a time can hang the NPU until a power cycle",
    )
    .with(held)
}

/// The other files that are locked to hold the NPU.
fn others(machine: &Machine) -> Vec<String> {
    let runtime = machine.system.variable("XDG_RUNTIME_DIR");
    let slots = runtime.into_iter().chain(["/tmp".to_owned()]).flat_map(|folder| {
        let names = machine.system.names(&folder).into_iter();
        names.filter(|name| name.starts_with(SLOT)).map(move |name| format!("{folder}/{name}"))
    });
    std::iter::once(DISPATCH.to_owned()).chain(slots).collect()
}
