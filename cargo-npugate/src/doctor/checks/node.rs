//! The NPU's device node can be opened.

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::node::Node;
use crate::doctor::npu::Npu;
use crate::doctor::process::Place;

/// Linux's numbers of errors.
const EPERM: i32 = 1;
const EACCES: i32 = 13;

/// Checks the result of opening it.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let path = npu.node();
    match &machine.node {
        Some(Node::Open(_)) => Finding::ok(format!("{path} can be opened")),
        Some(Node::Refused(EPERM | EACCES)) => refused(machine, &path),
        Some(Node::Refused(errno)) => Finding::problem(
            format!("{path} cannot be opened: error {errno}"),
            "check the IOMMU, the usual cause (see iommu); otherwise reload the module (`sudo modprobe -r amdxdna && sudo modprobe amdxdna`)",
        )
        .with(machine.log_lines(&["failed", "error"])),
        Some(Node::Missing) | None => missing(machine, &path),
    }
}

fn refused(machine: &Machine, path: &str) -> Finding {
    let fix = match &machine.place {
        Place::Container(kind) => format!(
            "start the container with the device and its group: `{kind} run --device {path} --group-add \"$(stat -c %g {path})\"`"
        ),
        _ => "join the node's group and log in again: `sudo usermod -aG render \"$USER\"`; if it has another group, add a udev rule that gives it to `render` (`SUBSYSTEM==\"accel\", GROUP=\"render\", MODE=\"0660\"`)".to_owned(),
    };
    Finding::problem(format!("this user has no permission to open {path}"), fix)
        .with([format!("opening {path} for reading and writing: permission denied")])
        .with(owner(machine, path))
}

/// Who may open it, and who this process runs as.
fn owner(machine: &Machine, path: &str) -> Vec<String> {
    let mut lines = Vec::new();
    #[cfg(unix)]
    if let Ok(metadata) = std::fs::metadata(machine.system.path(path)) {
        use std::os::unix::fs::MetadataExt;
        let mode = metadata.mode() & 0o777;
        lines.push(format!(
            "{path}: mode {mode:04o}, user {}, group {}",
            metadata.uid(),
            metadata.gid()
        ));
    }
    let status = machine.system.text("/proc/self/status").unwrap_or_default();
    for (field, name) in [("Uid:", "user"), ("Groups:", "groups")] {
        let value = status.lines().find_map(|line| line.strip_prefix(field));
        let words: Vec<_> = value.unwrap_or_default().split_whitespace().collect();
        // The second of the four user ids is the effective one.
        let words = if field == "Uid:" { words.get(1..2).unwrap_or_default() } else { &words };
        if !words.is_empty() {
            lines.push(format!("this process: {name} {}", words.join(" ")));
        }
    }
    lines
}

fn missing(machine: &Machine, path: &str) -> Finding {
    let text = format!("there is no {path}");
    match &machine.place {
        Place::Container(kind) => Finding::problem(
            format!("{text} in this container ({kind}), although the host's driver has the NPU"),
            format!("start the container with it: `{kind} run --device {path} --ulimit memlock=-1`"),
        ),
        Place::VirtualMachine | Place::Machine => Finding::problem(
            text,
            "reload the module, which makes it (`sudo modprobe -r amdxdna && sudo modprobe amdxdna`), and run `sudo dmesg | grep amdxdna`",
        ),
    }
    .with(machine.log_lines(&["failed", "error"]))
}
