//! There are free hardware contexts: each process that computes uses at least one.

use crate::doctor::finding::Finding;
use crate::doctor::generation::Generation;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;
use crate::doctor::process;

/// What the log says when none were free: `CREATE_HWCTX` then fails with 2, 22 or 28.
const EXHAUSTED: [&str; 3] = ["MGMT_ERT_NOAVAIL", "0x2000003", "create context failed"];

/// Counts the processes that have the node open.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let open = process::with_open(&machine.system, &npu.node());
    let log = machine.log_lines(&EXHAUSTED);
    let most = npu.generation.and_then(Generation::contexts);
    let of = most.map_or_else(String::new, |most| format!(" of {most}"));
    let seen = "only root can see processes of other users";
    let count = u32::try_from(open.len()).unwrap_or(u32::MAX);
    let who =
        |n: u32| if n == 1 { "1 process has".to_owned() } else { format!("{n} processes have") };
    if most.is_some_and(|most| count >= most) {
        return Finding::problem(
            format!(
                "{} the NPU open, which uses {count}{of} contexts: no more can be made",
                who(count)
            ),
            "end one of these processes",
        )
        .with(open);
    }
    if !log.is_empty() {
        return Finding::warning(
            format!(
                "the driver ran out of contexts or columns recently; {} the NPU open now",
                who(count)
            ),
            "end the processes that use the NPU; a context that takes all columns leaves none for others",
        )
        .with(open)
        .with(log);
    }
    if count == 0 {
        return Finding::ok(format!(
            "no visible process has the NPU open{}",
            match most {
                Some(most) => format!("; it has {most} contexts"),
                None => String::new(),
            }
        ))
        .with([seen]);
    }
    Finding::warning(
        format!("{} the NPU open: opening another context can clear what an earlier one left in the cores", who(count)),
        "run one program at a time: end the others, or make them take the same lock (see lock)",
    )
    .with(open)
    .with([seen])
}
