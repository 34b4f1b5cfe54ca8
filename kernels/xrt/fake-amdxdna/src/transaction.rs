//! AIE2P control code, as far as our fixtures use it: which program it stands for, and where its
//! arguments are.

use npugate_xrt_fixtures::Key;

use crate::memory::words;

/// The size in bytes of a transaction's header.
pub const HEADER: usize = 16;

/// The offset that is added to a host address in a buffer descriptor.
const DDR_OFFSET: u64 = 0x8000_0000;

/// The offsets of the buffer descriptors in a shim tile.
const DESCRIPTORS: std::ops::Range<u32> = 0x1_d000..0x1_d200;

/// The meaning of control code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Transaction {
    /// The program that it stands for.
    pub key: Option<Key>,
    /// The arguments' addresses, in the order of their descriptors.
    pub args: Vec<u64>,
}

/// Why control code cannot be followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransactionError {
    /// It ends within an operation, or before the size in its header.
    Short,
    /// An operation that the fake does not know, and its place.
    Operation(u32, usize),
}

impl Transaction {
    /// Follows control code.
    ///
    /// # Errors
    /// If it is truncated, or has an operation that the fake does not know.
    pub fn parse(code: &[u8]) -> Result<Self, TransactionError> {
        let size = size(code).ok_or(TransactionError::Short)?;
        let all = words(code.get(..size).ok_or(TransactionError::Short)?);
        let operations = all.get(2).copied().ok_or(TransactionError::Short)?;
        let mut transaction = Self::default();
        let mut at = HEADER / 4;
        for _ in 0..operations {
            let rest = all.get(at..).ok_or(TransactionError::Short)?;
            let word = |index: usize| rest.get(index).copied().ok_or(TransactionError::Short);
            let bytes = match word(0)? & 0xff {
                0 => word(5)?,
                1 => word(3)?,
                3 | 4 => word(6)?,
                0x80..=0xff => word(1)?,
                other => return Err(TransactionError::Operation(other, at * 4)),
            };
            let operation = rest.get(..(bytes / 4) as usize).ok_or(TransactionError::Short)?;
            if operation.is_empty() {
                return Err(TransactionError::Short);
            }
            if let [1, _, address, _, data @ ..] = operation {
                transaction.block_write(*address, data);
            }
            at += operation.len();
        }
        Ok(transaction)
    }

    fn block_write(&mut self, address: u32, data: &[u32]) {
        self.key = self.key.or(Key::in_write(address, data));
        // A shim tile is row 0 of any column: bits 20 to 24 are the row.
        if let [_, low, high, ..] = data
            && DESCRIPTORS.contains(&(address & 0x1ff_ffff))
        {
            let address = u64::from(high & 0xffff) << 32 | u64::from(*low);
            self.args.push(address.wrapping_sub(DDR_OFFSET));
        }
    }
}

/// The size in bytes that the header of control code gives.
pub fn size(code: &[u8]) -> Option<usize> {
    words(code.get(..HEADER)?).get(3).map(|&size| size as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(operations: &[&[u32]]) -> Vec<u8> {
        let body = operations.concat();
        let size = HEADER as u32 + body.len() as u32 * 4;
        let header = [0x0604_0100, 0x108, operations.len() as u32, size];
        header.into_iter().chain(body).flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn arguments_and_key_are_recovered() {
        let descriptor = [1, 0, 0x0201_d020, 28, 1024, 0x9000_0000, 0x0001_7fff];
        let sync = [0x80, 16, 0, 0x1_0100];
        let sum = Key::of(b"a program");
        let key = [1, 0, 0x4e50_4700, 20, u32::from_le_bytes(sum.bytes())];
        let transaction = Transaction::parse(&code(&[&key, &descriptor, &sync])).unwrap();
        assert_eq!(transaction.key, Some(sum));
        assert_eq!(transaction.args, [0x7fff_1000_0000]);
    }

    #[test]
    fn a_block_write_elsewhere_is_not_an_argument() {
        let core = [1, 0, 0x0021_d020, 28, 1024, 0x9000_0000, 0x7fff];
        assert_eq!(Transaction::parse(&code(&[&core])), Ok(Transaction::default()));
    }

    #[test]
    fn truncated_or_unknown_control_code_is_refused() {
        let sync: &[u32] = &[0x80, 16, 0, 0x1_0100];
        let whole = code(&[sync]);
        assert!(Transaction::parse(&whole).is_ok());
        assert_eq!(Transaction::parse(&whole[..28]), Err(TransactionError::Short));
        assert_eq!(Transaction::parse(&code(&[&[0x80, 0]])), Err(TransactionError::Short));
        assert_eq!(Transaction::parse(&code(&[&[9, 0]])), Err(TransactionError::Operation(9, 16)));
        assert_eq!(Transaction::parse(&[]), Err(TransactionError::Short));
    }
}
