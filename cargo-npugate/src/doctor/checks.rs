//! The checks, a file each.

pub mod contexts;
pub mod elf;
pub mod firmware;
pub mod iommu;
pub mod lock;
pub mod memlock;
pub mod module;
pub mod node;
pub mod pci;
pub mod power;
pub mod reset;
pub mod versions;
pub mod wedged;
pub mod xrt;
