//! Running a command: its packet is followed, and its state is written where XRT looks for it.

use crate::{
    contexts::Context,
    faults::Faults,
    log,
    memory::Memory,
    packet::{Packet, PacketError},
    programs::Programs,
    transaction::{HEADER, Transaction, TransactionError, size},
    uapi::{CommandState, Errno},
};

/// The first register of a DPU kernel: run a transaction.
const RUN_TRANSACTION: u32 = 3;

/// The register of the first buffer; each buffer takes two registers.
const FIRST_BUFFER: usize = 5;

/// Whether a command has ended when its submission returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It has ended, in any state.
    Ended,
    /// It never ends.
    Hangs,
}

/// What a command runs on.
pub struct Engine<'a> {
    pub memory: &'a Memory,
    pub programs: &'a mut Programs,
    pub context: &'a Context,
    pub faults: &'a Faults,
    /// The number of commands before this one.
    pub count: &'a mut u64,
}

impl Engine<'_> {
    /// Runs the command in the buffer of `handle`.
    ///
    /// # Errors
    /// `ENOENT` if there is no such buffer, `EINVAL` if its content is not a packet, `EOPNOTSUPP`
    /// if the driver does not know the packet. A command that is refused has no state.
    pub fn submit(&mut self, handle: u32) -> Result<Progress, Errno> {
        let words = self.memory.words_of(handle).ok_or(Errno::NOENT)?;
        let packet = Packet::parse(&words).map_err(|error| match error {
            PacketError::Short => Errno::INVAL,
            PacketError::Opcode(opcode) => {
                log::trace(format_args!("packet of an unknown kind: {opcode}"));
                Errno::OPNOTSUPP
            }
        })?;
        log::trace(format_args!("packet of buffer {handle}: {packet:x?}"));
        let header = words.first().copied().unwrap_or(0);
        let Some(state) = self.run(&packet) else { return Ok(Progress::Hangs) };
        self.memory.write_word(handle, 0, header & !0xf | state as u32);
        Ok(Progress::Ended)
    }

    /// The state in which a command ends; `None` if it hangs.
    fn run(&mut self, packet: &Packet) -> Option<CommandState> {
        let faulty = *self.count >= self.faults.after;
        *self.count += 1;
        if faulty && self.faults.hang {
            return None;
        }
        if let (true, Some(state)) = (faulty, self.faults.state) {
            return Some(state);
        }
        match self.compute(packet) {
            Ok(()) => Some(CommandState::Completed),
            Err(why) => {
                log::complain(format_args!("a command ends in an error: {why}"));
                Some(CommandState::Error)
            }
        }
    }

    fn compute(&mut self, packet: &Packet) -> Result<(), String> {
        match packet {
            Packet::StartUnit { unit, registers } => {
                let key = *self.context.units.get(*unit).ok_or_else(|| {
                    format!(
                        "compute unit {unit} is not configured; the context has {} units",
                        self.context.units.len()
                    )
                })?;
                let args = self.check_registers(registers)?;
                self.programs.run(key, &args, self.memory)
            }
            Packet::StartCode { address, size } => {
                let code = self.memory.read(*address, *size as usize);
                let code = code.map_err(|bad| format!("control code: {bad}"))?;
                let transaction = Transaction::parse(&code).map_err(|error| match error {
                    TransactionError::Short => "control code is truncated".to_owned(),
                    TransactionError::Operation(number, at) => format!(
                        "control code has an operation that the fake does not know: {number:#x} at \
                         {at:#x}; run a fixture of this project"
                    ),
                })?;
                log::trace(format_args!("{transaction:x?}"));
                self.programs.run(transaction.key, &transaction.args, self.memory)
            }
        }
    }

    /// The addresses of the buffers in the registers of a DPU kernel, if its instructions are
    /// right.
    fn check_registers(&self, registers: &[u32]) -> Result<Vec<u64>, String> {
        let &[opcode, _, low, high, count, ..] = registers else {
            return Err(format!("a DPU kernel cannot have {} registers", registers.len()));
        };
        if opcode != RUN_TRANSACTION {
            return Err(format!("the first argument is {opcode}; pass {RUN_TRANSACTION}"));
        }
        let address = u64::from(high) << 32 | u64::from(low);
        let header =
            self.memory.read(address, HEADER).map_err(|bad| format!("instructions: {bad}"))?;
        let size = size(&header).unwrap_or(0);
        if size < HEADER || (count as usize != size && count as usize * 4 != size) {
            return Err(format!(
                "the instructions are {size} bytes by their header, but the run says {count}, which \
                 is neither the number of their bytes nor of their words"
            ));
        }
        self.memory.read(address, size).map_err(|bad| format!("instructions: {bad}"))?;
        let pairs = registers.get(FIRST_BUFFER..).unwrap_or(&[]).as_chunks::<2>().0.iter();
        let addresses = pairs.map(|&[low, high]| u64::from(high) << 32 | u64::from(low));
        Ok(addresses.take_while(|&address| address != 0).collect())
    }
}
