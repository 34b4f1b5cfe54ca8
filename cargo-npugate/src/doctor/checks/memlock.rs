//! Enough memory may be locked: the driver's library maps every buffer locked, first of
//! all a heap of 64 MiB for each context.

use crate::doctor::buffers::ModelBuffers;
use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;
use crate::doctor::process::{Memlock, Place};
use crate::text;

/// The heap of a context, in bytes: what mmap fails at where the limit is less.
const HEAP: u64 = 64 << 20;

/// Compares the limit with the heap and the weights of the workspace's models.
pub fn examine(machine: &Machine, _: &Npu) -> Finding {
    let limit = match machine.memlock {
        Memlock::Unlimited => return Finding::ok("memory may be locked without a limit"),
        Memlock::Unknown => {
            return Finding::unknown(
                "how much memory may be locked cannot be read",
                "`ulimit -l` says it in KiB; it should be `unlimited`",
            );
        }
        Memlock::Bytes(limit) => limit,
    };
    let may = format!("only {} of memory may be locked", mib(limit));
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
            format!("{may}, and {} needs {needed} and more", model.model),
            fix(&machine.place),
        )
    } else {
        Finding::warning(
            format!("{may}: enough for the driver's heap, not for every model"),
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
        Place::VirtualMachine | Place::Machine => "put `* - memlock unlimited` into /etc/security/limits.d/99-npu.conf and, where systemd starts the session, `[Service]` and `LimitMEMLOCK=infinity` into /etc/systemd/system/user@.service.d/memlock.conf; then log in again".to_owned(),
    }
}
