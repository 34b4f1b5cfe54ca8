//! What this process may do, and which other processes have the NPU open.

use super::system::System;
use std::path::Path;

/// The capability that lifts the limit of locked memory: `CAP_IPC_LOCK` of
/// `linux/capability.h`.
const CAP_IPC_LOCK: u64 = 1 << 14;

/// The limit of a process on locked memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memlock {
    /// No limit.
    Unlimited,
    /// This many bytes.
    Bytes(u64),
    /// The system does not report it.
    Unknown,
}

impl Memlock {
    /// The soft limit of this process.
    pub fn of(system: &System) -> Self {
        let status = system.text("/proc/self/status").unwrap_or_default();
        let capabilities = field(&status, "CapEff:")
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or(0);
        if capabilities & CAP_IPC_LOCK != 0 {
            return Self::Unlimited;
        }
        // `Max locked memory         8388608              8388608              bytes`
        let limits = system.text("/proc/self/limits").unwrap_or_default();
        let soft =
            field(&limits, "Max locked memory").and_then(|rest| rest.split_whitespace().next());
        match soft {
            Some("unlimited") => Self::Unlimited,
            Some(bytes) => bytes.parse().map_or(Self::Unknown, Self::Bytes),
            None => Self::Unknown,
        }
    }
}

/// The rest of the line that begins with this name.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

/// Where this program runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// On the machine itself, as far as this can be detected.
    Machine,
    /// In a container of this kind.
    Container(String),
    /// In a virtual machine.
    VirtualMachine,
}

impl Place {
    /// Looks for the marks that containers and hypervisors leave.
    pub fn of(system: &System) -> Self {
        if let Some(kind) = system.text("/run/systemd/container").filter(|kind| !kind.is_empty()) {
            return Self::Container(kind);
        }
        for (mark, kind) in [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")] {
            if system.exists(mark) {
                return Self::Container(kind.to_owned());
            }
        }
        let cpu = system.text("/proc/cpuinfo").unwrap_or_default();
        let flags = cpu.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
        if flags.split_whitespace().any(|flag| flag == "hypervisor") {
            return Self::VirtualMachine;
        }
        Self::Machine
    }
}

/// The processor's name.
pub fn processor(system: &System) -> Option<String> {
    let text = system.text("/proc/cpuinfo")?;
    let (_, name) = field(&text, "model name")?.split_once(':')?;
    Some(name.trim().to_owned())
}

/// The processes that have a file open, each by its id and name. Only an administrator sees
/// those of other users.
pub fn with_open(system: &System, path: &str) -> Vec<String> {
    let pids = system.names("/proc").into_iter().filter(|name| name.parse::<u32>().is_ok());
    let open = pids.filter(|pid| {
        let folder = format!("/proc/{pid}/fd");
        let files = system.names(&folder).into_iter();
        let mut links = files.filter_map(|fd| system.link(format!("{folder}/{fd}")));
        links.any(|to| to == Path::new(path))
    });
    open.map(|pid| match system.text(format!("/proc/{pid}/comm")) {
        Some(name) => format!("pid {pid}, `{name}`"),
        None => format!("pid {pid}"),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::tree::Tree;

    #[test]
    fn the_limit_is_the_soft_one() {
        let limit = |value: &str| {
            let line =
                format!("Max locked memory         {value:<20} 67108864             bytes\n");
            Memlock::of(&Tree::new().file("/proc/self/limits", &line).system())
        };
        assert_eq!(limit("8388608"), Memlock::Bytes(8 << 20));
        assert_eq!(limit("unlimited"), Memlock::Unlimited);
        assert_eq!(limit("many"), Memlock::Unknown);
        assert_eq!(Memlock::of(&Tree::new().system()), Memlock::Unknown);
    }

    #[test]
    fn a_process_that_may_lock_all_memory_has_no_limit() {
        let limits = "Max locked memory         0                    0                    bytes\n";
        let tree = |mask: &str| {
            Tree::new()
                .file("/proc/self/limits", limits)
                .file("/proc/self/status", &format!("Name:\tx\nCapEff:\t{mask}\n"))
        };
        assert_eq!(Memlock::of(&tree("0000000000004000").system()), Memlock::Unlimited);
        assert_eq!(Memlock::of(&tree("0000000000002000").system()), Memlock::Bytes(0));
    }

    #[test]
    fn containers_and_virtual_machines_leave_marks() {
        let place = |tree: &Tree| Place::of(&tree.system());
        assert_eq!(place(&Tree::new()), Place::Machine);
        assert_eq!(place(&Tree::new().file("/.dockerenv", "")), Place::Container("docker".into()));
        let guest = Tree::new().file("/proc/cpuinfo", "flags\t\t: fpu hypervisor avx2\n");
        assert_eq!(place(&guest), Place::VirtualMachine);
    }

    #[test]
    fn processes_that_have_the_node_open_are_named() {
        let tree = Tree::new()
            .file("/proc/41/comm", "llama\n")
            .link("/proc/41/fd/3", "/dev/accel/accel0")
            .file("/proc/42/comm", "sh\n")
            .link("/proc/42/fd/0", "/dev/null");
        assert_eq!(with_open(&tree.system(), "/dev/accel/accel0"), ["pid 41, `llama`"]);
        assert_eq!(with_open(&tree.system(), "/dev/accel/accel1"), [""; 0]);
    }
}
