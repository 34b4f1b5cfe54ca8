//! The NPU for a PCI id and revision, from the device tables of amdxdna (`npu1_regs.c`,
//! `npu4_regs.c` and similar).

/// AMD's vendor id.
pub const AMD: u16 = 0x1022;

/// A generation of NPUs: a program for one generation computes nothing on another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generation {
    /// AIE2: Phoenix, Hawk Point.
    Npu1,
    /// AIE2P: Strix, Strix Halo, Krackan.
    Npu2,
    /// AIE4: its successors.
    Aie4,
}

impl Generation {
    /// Its name in MLIR-AIR and MLIR-AIE.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Npu1 => "npu1",
            Self::Npu2 => "npu2",
            Self::Aie4 => "AIE4",
        }
    }

    /// The architecture of its cores, by XRT's name.
    pub const fn architecture(self) -> &'static str {
        match self {
            Self::Npu1 => "aie2",
            Self::Npu2 => "aie2p",
            Self::Aie4 => "aie4",
        }
    }

    /// The number of columns that a program can use, if it is known: Phoenix has five, of
    /// which one has no shim.
    pub const fn columns(self) -> Option<u32> {
        match self {
            Self::Npu1 => Some(4),
            Self::Npu2 => Some(8),
            Self::Aie4 => None,
        }
    }

    /// The maximum number of hardware contexts at a time, if it is known.
    pub const fn contexts(self) -> Option<u32> {
        match self {
            Self::Npu1 => Some(6),
            Self::Npu2 => Some(16),
            Self::Aie4 => None,
        }
    }
}

/// What is known about a PCI device from AMD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// An NPU: its generation, and its marketing name.
    Npu(Generation, &'static str),
    /// An NPU whose revision is not in the table.
    UnknownRevision,
    /// Not an NPU.
    Other,
}

/// Looks up a device.
pub const fn known(device: u16, revision: u8) -> Known {
    match (device, revision) {
        (0x1502, 0x00) => Known::Npu(Generation::Npu1, "Phoenix"),
        (0x17f0, 0x10) => Known::Npu(Generation::Npu2, "Strix"),
        (0x17f0, 0x11) => Known::Npu(Generation::Npu2, "Strix Halo"),
        (0x17f0, 0x20) => Known::Npu(Generation::Npu2, "Krackan"),
        (0x1502 | 0x17f0, _) => Known::UnknownRevision,
        (0x17f1..=0x17f3 | 0x1b0a..=0x1b0c, _) => Known::Npu(Generation::Aie4, "AIE4"),
        _ => Known::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_are_those_of_the_drivers_tables() {
        assert_eq!(known(0x1502, 0x00), Known::Npu(Generation::Npu1, "Phoenix"));
        assert_eq!(known(0x17f0, 0x11), Known::Npu(Generation::Npu2, "Strix Halo"));
        assert_eq!(known(0x17f0, 0x12), Known::UnknownRevision);
        assert_eq!(known(0x17f2, 0x00), Known::Npu(Generation::Aie4, "AIE4"));
        // A USB controller of the same vendor.
        assert_eq!(known(0x15b9, 0x00), Known::Other);
    }
}
