//! Enough memory can be locked: the driver's library locks every buffer in memory, first
//! of all a heap of 64 MiB for each context.

use crate::doctor::buffers::ModelBuffers;
use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;
use crate::doctor::process::{Memlock, Place};
use crate::text;

/// The heap of a context, in bytes: `mmap` of it fails if the limit is lower.
const HEAP: u64 = 64 << 20;

/// Compares the limit with the heap and the weights of the workspace's models.
pub fn examine(machine: &Machine, _: &Npu) -> Finding {
    let limit = match machine.memlock {
        Memlock::Unlimited => return Finding::ok("there is no limit on locked memory"),
        Memlock::Unknown => {
            return Finding::unknown(
                "cannot read the limit on locked memory",
                "run `ulimit -l`, which should print `unlimited`; a number is in KiB",
            );
        }
        Memlock::Bytes(limit) => limit,
    };
    let may = format!("only {} of memory can be locked", mib(limit));
    let largest = machine.models.iter().max_by_key(|model| model.bytes);
    let evidence = largest.map(|ModelBuffers { model, bytes }| {
        format!("the weights of {model} in bf16 take {}", text::bytes(*bytes))
    });
    let finding = if limit < HEAP {
        Finding::problem(
            format!(
                "{may}, and the driver's heap alone takes 64 MiB: the first context fails with EAGAIN (11)"
            ),
            fix(&machine.place),
        )
    } else if let Some(model) = largest.filter(|model| limit < HEAP.saturating_add(model.bytes)) {
        let needed = mib(HEAP.saturating_add(model.bytes));
        Finding::problem(
            format!("{may}, and {} needs at least {needed}", model.model),
            fix(&machine.place),
        )
    } else {
        Finding::warning(
            format!("{may}: enough for the driver's heap, but not for every model"),
            fix(&machine.place),
        )
    };
    finding
        .with([format!("RLIMIT_MEMLOCK is {limit} bytes (`ulimit -l` {})", limit >> 10)])
        .with(evidence)
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

fn fix(place: &Place) -> String {
    match place {
        Place::Container(kind) => format!("start the container with `{kind} run --ulimit memlock=-1`"),
        Place::VirtualMachine | Place::Machine => "add `* - memlock unlimited` to /etc/security/limits.d/99-npu.conf and, if systemd starts the session, `[Service]` and `LimitMEMLOCK=infinity` to /etc/systemd/system/user@.service.d/memlock.conf; then log in again".to_owned(),
    }
}
