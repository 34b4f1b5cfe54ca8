//! There are hardware contexts left: each process that computes has one or more.

use crate::doctor::finding::Finding;
use crate::doctor::generation::Generation;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;
use crate::doctor::process;

/// What the log says when there were none: `CREATE_HWCTX` then fails with 2, 22 or 28.
const EXHAUSTED: [&str; 3] = ["MGMT_ERT_NOAVAIL", "0x2000003", "create context failed"];

/// Counts the processes that have the node open.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let open = process::with_open(&machine.system, &npu.node());
    let log = machine.log_lines(&EXHAUSTED);
    let most = npu.generation.and_then(Generation::contexts);
    let of = most.map_or_else(String::new, |most| format!(" of {most}"));
    let seen = "processes of other users are seen by root alone";
    let count = u32::try_from(open.len()).unwrap_or(u32::MAX);
    let who =
        |n: u32| if n == 1 { "1 process has".to_owned() } else { format!("{n} processes have") };
    if most.is_some_and(|most| count >= most) {
        return Finding::problem(
            format!(
                "{} the NPU open, and it has {count}{of} contexts: no more can be made",
                who(count)
            ),
            "end one of them",
        )
        .with(open);
    }
    if !log.is_empty() {
        return Finding::warning(
            format!(
                "the driver was out of contexts or columns lately; {} the NPU open now",
                who(count)
            ),
            "end what uses the NPU; a context that takes all columns leaves none for others",
        )
        .with(open)
        .with(log);
    }
    if count == 0 {
        return Finding::ok(format!(
            "no process that can be seen has the NPU open{}",
            match most {
                Some(most) => format!("; it has {most} contexts"),
                None => String::new(),
            }
        ))
        .with([seen]);
    }
    Finding::warning(
        format!("{} the NPU open: a context more can clear what another left in the cores", who(count)),
        "let one program at a time use it: end the others, or let them take the same lock (see lock)",
    )
    .with(open)
    .with([seen])
}
