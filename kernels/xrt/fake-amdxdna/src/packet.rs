//! The packets of commands, as `ert.h` lays them out.

/// What a packet asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Packet {
    /// `ERT_START_CU`: a compute unit of an xclbin, with its registers.
    StartUnit {
        /// Index of the compute unit.
        unit: usize,
        /// The kernel's arguments.
        registers: Vec<u32>,
    },
    /// `ERT_START_NPU` and similar: control code into which XRT has patched the buffers' addresses.
    StartCode {
        /// Address of the control code.
        address: u64,
        /// Its size in bytes.
        size: u32,
    },
}

/// Why words are not a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketError {
    /// They are fewer than the header says, or than the kind of packet needs.
    Short,
    /// The driver does not know the kind of packet.
    Opcode(u32),
}

impl Packet {
    /// Reads a packet from the words of its buffer.
    ///
    /// # Errors
    /// If it is too short or of an unknown kind.
    pub fn parse(words: &[u32]) -> Result<Self, PacketError> {
        let (&header, rest) = words.split_first().ok_or(PacketError::Short)?;
        let (opcode, count) = ((header >> 23) & 0x1f, (header >> 12) & 0x7ff);
        let masks = 1 + ((header >> 10) & 3) as usize;
        let payload = rest.get(..count as usize).ok_or(PacketError::Short)?;
        let word = |index: usize| payload.get(index).copied().ok_or(PacketError::Short);
        let code = |size: usize| {
            let (low, high) = (u64::from(word(masks)?), u64::from(word(masks + 1)?));
            Ok(Self::StartCode { address: high << 32 | low, size: word(masks + size)? })
        };
        match opcode {
            0 => {
                let unit = (0..masks).find_map(|index| {
                    let mask = payload.get(index).copied().unwrap_or(0);
                    (mask != 0).then(|| index * 32 + mask.trailing_zeros() as usize)
                });
                let registers = payload.get(masks..).ok_or(PacketError::Short)?.to_vec();
                Ok(Self::StartUnit { unit: unit.ok_or(PacketError::Short)?, registers })
            }
            20 => code(2),
            21 | 22 => code(6),
            opcode => Err(PacketError::Opcode(opcode)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn header(opcode: u32, count: u32) -> u32 {
        opcode << 23 | count << 12 | 1
    }

    #[test]
    fn a_unit_is_the_lowest_bit_of_its_mask() {
        let packet = Packet::parse(&[header(0, 3), 0b100, 7, 8, 99]);
        assert_eq!(packet, Ok(Packet::StartUnit { unit: 2, registers: vec![7, 8] }));
    }

    #[test]
    fn control_code_is_found_in_both_layouts() {
        let plain = Packet::parse(&[header(20, 5), 1, 0x10, 0x7f, 96, 0]);
        assert_eq!(plain, Ok(Packet::StartCode { address: 0x7f_0000_0010, size: 96 }));
        let elf = Packet::parse(&[header(22, 11), 1, 0x10, 0x7f, 0, 0, 0, 0, 96, 0, 0, 0]);
        assert_eq!(elf, plain);
    }

    #[test]
    fn packets_that_are_too_short_or_unknown_are_refused() {
        assert_eq!(Packet::parse(&[]), Err(PacketError::Short));
        assert_eq!(Packet::parse(&[header(0, 5), 1]), Err(PacketError::Short));
        assert_eq!(Packet::parse(&[header(0, 1), 0]), Err(PacketError::Short));
        assert_eq!(Packet::parse(&[header(22, 3), 1, 0, 0]), Err(PacketError::Short));
        assert_eq!(Packet::parse(&[header(4, 0)]), Err(PacketError::Opcode(4)));
    }
}
