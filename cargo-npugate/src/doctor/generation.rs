//! Which NPU a PCI id and revision are. From the device tables of amdxdna
//! (`npu1_regs.c`, `npu4_regs.c` and their neighbours).

/// AMD's vendor id.
pub const AMD: u16 = 0x1022;

/// A generation of NPUs: what is built for one computes nothing on another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generation {
    /// AIE2: Phoenix, Hawk Point.
    Npu1,
    /// AIE2P: Strix, Strix Halo, Krackan.
    Npu2,
    /// AIE4: what comes after.
    Aie4,
}

impl Generation {
    /// As MLIR-AIR and MLIR-AIE call it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Npu1 => "npu1",
            Self::Npu2 => "npu2",
            Self::Aie4 => "AIE4",
        }
    }

    /// The architecture of its cores, as XRT calls it.
    pub const fn architecture(self) -> &'static str {
        match self {
            Self::Npu1 => "aie2",
            Self::Npu2 => "aie2p",
            Self::Aie4 => "aie4",
        }
    }

    /// Columns that a program can use, where it is known: Phoenix has five, and one of
    /// them has no shim.
    pub const fn columns(self) -> Option<u32> {
        match self {
            Self::Npu1 => Some(4),
            Self::Npu2 => Some(8),
            Self::Aie4 => None,
        }
    }

    /// Hardware contexts that there can be at a time, where it is known.
    pub const fn contexts(self) -> Option<u32> {
        match self {
            Self::Npu1 => Some(6),
            Self::Npu2 => Some(16),
            Self::Aie4 => None,
        }
    }
}

/// What is known of a PCI device of AMD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// An NPU: its generation, and what people call it.
    Npu(Generation, &'static str),
    /// An NPU of a revision that is not in the table.
    UnknownRevision,
    /// None.
    Other,
}

/// Looks a device up.
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
    fn generations_are_those_of_the_driver_s_tables() {
        assert_eq!(known(0x1502, 0x00), Known::Npu(Generation::Npu1, "Phoenix"));
        assert_eq!(known(0x17f0, 0x11), Known::Npu(Generation::Npu2, "Strix Halo"));
        assert_eq!(known(0x17f0, 0x12), Known::UnknownRevision);
        assert_eq!(known(0x17f2, 0x00), Known::Npu(Generation::Aie4, "AIE4"));
        // A USB controller of the same vendor.
        assert_eq!(known(0x15b9, 0x00), Known::Other);
    }
}
