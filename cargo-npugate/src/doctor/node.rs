//! The NPU's device node: whether it can be opened.

use super::npu::Npu;
use super::system::{Nodes, System};
use npugate_xrt::{DriverInterface, PowerMode};
use std::{fs, io};

/// The result of opening the node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// There is no node.
    Missing,
    /// It could not be opened, with Linux's number of the error.
    Refused(i32),
    /// It was opened and closed again. The driver makes no context for that, so other
    /// programs on the NPU are not disturbed.
    Open(Answers),
}

/// The driver's answers through the node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answers {
    /// The version of the driver's interface.
    pub interface: Option<DriverInterface>,
    /// The power mode.
    pub power: Option<PowerMode>,
}

impl Node {
    /// Opens and closes the node.
    pub fn look(system: &System, npu: &Npu) -> Self {
        let path = system.path(npu.node());
        let opened = fs::OpenOptions::new().read(true).write(true).open(&path);
        match (opened, system.nodes()) {
            (Ok(node), Nodes::Devices) => Self::Open(Answers {
                interface: npugate_xrt::driver_interface(&node).ok(),
                power: npugate_xrt::power_mode(&node).ok(),
            }),
            (Ok(_), Nodes::Texts) => Self::scripted(&fs::read_to_string(path).unwrap_or_default()),
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            // 5 is EIO, for an error without a number.
            (Err(error), _) => Self::Refused(error.raw_os_error().unwrap_or(5)),
        }
    }

    /// Reads a file that a test wrote instead of a device: lines such as `errno 13`,
    /// `interface 0.6`, `power turbo`.
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
            power: value("power").and_then(|mode| mode.parse().ok()),
        })
    }

    /// The driver's answers, if the node could be opened.
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
            interface: Some(DriverInterface { major: 0, minor: 7 }),
            power: Some(PowerMode::Turbo),
        });
        assert_eq!(look(&Tree::strix_halo()), open);
        assert_eq!(look(&Tree::strix_halo().without(node)), Node::Missing);
        assert_eq!(look(&Tree::strix_halo().file(node, "errno 13\n")), Node::Refused(13));
        let silent = look(&Tree::strix_halo().file(node, ""));
        assert_eq!(silent, Node::Open(Answers::default()));
    }
}
