//! The NPU's device node: whether it can be opened.

use super::npu::Npu;
use super::system::{Nodes, System};
use std::{fs, io};

/// What came of opening the node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// There is none.
    Missing,
    /// It could not be opened; the error's number, as Linux has it.
    Refused(i32),
    /// It was opened and closed again. The driver makes no context for that, so whoever
    /// computes on it is not disturbed.
    Open(Answers),
}

/// What the driver answers through the node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answers {
    /// The version of the driver's interface.
    pub interface: Option<Interface>,
    /// The power mode.
    pub power: Option<String>,
}

/// The version of the driver's interface. Those of the kernel's own tree: 0.1 has
/// `GET_ARRAY`, 0.6 preemption, which programs of the ELF flow need (the list is in
/// `amdxdna_pci_drv.c`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Interface {
    /// 0 in the kernel's tree and in drivers of 2026; 1 in those before.
    pub major: u32,
    /// What it can do.
    pub minor: u32,
}

impl std::fmt::Display for Interface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl std::str::FromStr for Interface {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Self { major: major.parse()?, minor: minor.parse()? })
    }
}

impl Node {
    /// Opens and closes it.
    pub fn look(system: &System, npu: &Npu) -> Self {
        let path = system.path(npu.node());
        let opened = fs::OpenOptions::new().read(true).write(true).open(&path);
        match (opened, system.nodes()) {
            (Ok(_), Nodes::Devices) => Self::Open(Answers::default()),
            (Ok(_), Nodes::Texts) => Self::scripted(&fs::read_to_string(path).unwrap_or_default()),
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            // 5 is EIO, of an error that has no number.
            (Err(error), _) => Self::Refused(error.raw_os_error().unwrap_or(5)),
        }
    }

    /// What a test wrote in place of a device: lines of `errno 13`, `interface 0.6`,
    /// `power turbo`.
    fn scripted(text: &str) -> Self {
        let value = |key: &str| {
            let pairs = text.lines().filter_map(|line| line.split_once(' '));
            pairs.into_iter().find(|(name, _)| *name == key).map(|(_, value)| value.trim())
        };
        if let Some(number) = value("errno").and_then(|number| number.parse().ok()) {
            return Self::Refused(number);
        }
        Self::Open(Answers {
            interface: value("interface").and_then(|version| version.parse().ok()),
            power: value("power").map(str::to_owned),
        })
    }

    /// What the driver answered, if it could be asked.
    pub fn answers(&self) -> Option<&Answers> {
        match self {
            Self::Open(answers) => Some(answers),
            Self::Missing | Self::Refused(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::tree::Tree;

    fn look(tree: &Tree) -> Node {
        let system = tree.system();
        Node::look(&system, &Npu::find(&system)[0])
    }

    #[test]
    fn a_node_is_missing_or_refused_or_open() {
        let node = "/dev/accel/accel0";
        let open = Node::Open(Answers {
            interface: Some(Interface { major: 0, minor: 7 }),
            power: Some("turbo".into()),
        });
        assert_eq!(look(&Tree::strix_halo()), open);
        assert_eq!(look(&Tree::strix_halo().without(node)), Node::Missing);
        assert_eq!(look(&Tree::strix_halo().file(node, "errno 13\n")), Node::Refused(13));
        let silent = look(&Tree::strix_halo().file(node, ""));
        assert_eq!(silent, Node::Open(Answers::default()));
    }

    #[test]
    fn interfaces_are_ordered_by_their_numbers() {
        let version = |text: &str| text.parse::<Interface>().unwrap();
        assert!(version("0.10") > version("0.6") && version("1.0") > version("0.10"));
        assert!("0.x".parse::<Interface>().is_err());
    }
}
