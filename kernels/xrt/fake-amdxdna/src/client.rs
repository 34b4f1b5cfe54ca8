//! One open of the device node: its memory and its contexts.

use npugate_xrt_fixtures::Key;

use crate::{
    buffers::{BufferKind, Place},
    command::{Engine, Progress},
    contexts::Contexts,
    faults::Faults,
    log,
    memory::Memory,
    programs::Programs,
    uapi::{
        BoInfo, CONFIG_CU, ConfigHwctx, CreateBo, CreateHwctx, CuConfig, Errno, ExecCmd,
        INVALID_ADDRESS, VaTable,
    },
    user,
};

/// A client of the driver.
pub struct Client {
    pub memory: Memory,
    pub contexts: Contexts,
}

impl Client {
    /// A client without buffers or contexts.
    ///
    /// # Errors
    /// If the system has no memory for it.
    pub fn new() -> Result<Self, Errno> {
        Ok(Self { memory: Memory::new()?, contexts: Contexts::default() })
    }

    /// `CREATE_HWCTX`.
    pub fn create_context(&mut self, arg: &mut CreateHwctx, faults: &Faults) -> Result<(), Errno> {
        let created = self.contexts.create(arg.num_tiles, faults.max_contexts)?;
        (arg.handle, arg.syncobj) = created;
        arg.umq_doorbell = u32::MAX;
        Ok(())
    }

    /// `CONFIG_HWCTX`: the PDIs of an xclbin.
    pub fn configure(&mut self, arg: &ConfigHwctx) -> Result<(), Errno> {
        let context = self.contexts.get(arg.handle)?;
        if arg.param != CONFIG_CU {
            return Err(Errno::OPNOTSUPP);
        }
        let count: u16 = user::read(arg.value)?;
        if count == 0 {
            return Err(Errno::INVAL);
        }
        let units: Vec<CuConfig> = user::read_all(arg.value + 8, count.into())?;
        context.units = units
            .iter()
            .map(|unit| match self.memory.buffers.get(unit.bo) {
                Some(buffer) if buffer.kind == BufferKind::Device => {
                    let pdi = self.memory.bytes_of(unit.bo).ok_or(Errno::INVAL)?;
                    Ok(Key::in_pdi(&pdi))
                }
                _ => Err(Errno::INVAL),
            })
            .collect::<Result<_, _>>()?;
        log::trace(format_args!("context {}: units {:?}", arg.handle, context.units));
        Ok(())
    }

    /// `CREATE_BO`.
    pub fn create_buffer(&mut self, arg: &mut CreateBo) -> Result<(), Errno> {
        let kind = BufferKind::from_number(arg.kind).ok_or(Errno::INVAL)?;
        let (mut size, mut user) = (arg.size, None);
        if arg.vaddr != 0 {
            let table: VaTable = user::read(arg.vaddr)?;
            // Imported and scattered buffers are not supported.
            if table.num_entries != 1 || table.vaddr == 0 {
                return Err(Errno::OPNOTSUPP);
            }
            (size, user) = (table.len, Some(table.vaddr));
        }
        arg.handle = self.memory.buffers.create(kind, size, user)?;
        log::trace(format_args!("buffer {}: {kind:?} of {size} bytes", arg.handle));
        Ok(())
    }

    /// `GET_BO_INFO`.
    pub fn buffer_info(&self, arg: &mut BoInfo) -> Result<(), Errno> {
        let buffers = &self.memory.buffers;
        let buffer = buffers.get(arg.handle).ok_or(Errno::NOENT)?;
        arg.xdna_addr = buffer.device_address(buffers.heap());
        (arg.vaddr, arg.map_offset) = match buffer.place {
            Place::User(address) => (address, INVALID_ADDRESS),
            Place::Window(_) if buffer.kind == BufferKind::Device => {
                (INVALID_ADDRESS, INVALID_ADDRESS)
            }
            Place::Window(offset) => (INVALID_ADDRESS, offset),
        };
        Ok(())
    }

    /// `GEM_CLOSE`.
    pub fn close_buffer(&mut self, handle: u32) -> Result<(), Errno> {
        let buffer = self.memory.buffers.remove(handle).ok_or(Errno::INVAL)?;
        if let (Place::Window(offset), true) = (buffer.place, buffer.kind != BufferKind::Device) {
            self.memory.window.discard(offset, buffer.size.next_multiple_of(4096));
        }
        Ok(())
    }

    /// `EXEC_CMD`.
    pub fn execute(
        &mut self,
        arg: &mut ExecCmd,
        faults: &Faults,
        programs: &mut Programs,
        count: &mut u64,
    ) -> Result<(), Errno> {
        let context = self.contexts.get(arg.hwctx)?;
        if arg.kind != 0 || arg.command_count != 1 {
            return Err(Errno::OPNOTSUPP);
        }
        let handle = u32::try_from(arg.commands).map_err(|_| Errno::INVAL)?;
        let buffers = &self.memory.buffers;
        if buffers.get(handle).is_none_or(|buffer| buffer.kind != BufferKind::Command) {
            return Err(Errno::INVAL);
        }
        if arg.arg_count > 0 {
            let handles: Vec<u32> = user::read_all(arg.args, arg.arg_count as usize)?;
            // XRT passes 0 for a buffer that it made itself.
            if handles.iter().any(|&handle| handle != 0 && buffers.get(handle).is_none()) {
                return Err(Errno::NOENT);
            }
        }
        let mut engine = Engine { memory: &self.memory, programs, context, faults, count };
        let progress = engine.submit(handle)?;
        context.submitted += 1;
        if progress == Progress::Ended {
            context.completed = context.submitted;
        }
        arg.seq = context.submitted;
        Ok(())
    }
}
