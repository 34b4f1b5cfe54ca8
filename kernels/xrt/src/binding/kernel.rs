//! A kernel of a context.
//!
//! The arguments of an ELF's kernel are its buffers. Those of an xclbin's kernel are an opcode, the
//! instructions, their number, and then the buffers. A [`Kernel`] sets the first three itself, so
//! buffers are numbered from 0 in both.

#![expect(unsafe_code, reason = "calls the shim")]

use std::sync::Arc;

use super::{
    Buffer, Context, Program, Run, abi::NpgKernel, buffer::BufferKind, handle::Handle,
    shim::c_string,
};
use crate::Error;

/// The arguments of an xclbin's kernel before its buffers: opcode, instructions, their number.
const LEADING: usize = 3;

/// The opcode that runs instructions from a buffer.
const OPCODE: u64 = 3;

/// A kernel of a context. Clones are the same kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    open: Arc<Open>,
}

/// Fields are dropped in this order: the kernel before the context.
#[derive(Debug)]
struct Open {
    handle: Handle<NpgKernel>,
    instructions: Option<(Buffer, u32)>,
    buffers: Option<usize>,
    name: String,
    context: Context,
}

impl Kernel {
    pub(super) fn open(context: &Context, name: &str) -> Result<Self, Error> {
        let c_name = c_string(name)?;
        let shim = context.handle().shim();
        let handle = Handle::make(shim, "kernel_open", |functions, out, error| {
            // SAFETY: the context lives, the name ends in a zero, and `out` and `error` are
            // valid for writes.
            unsafe {
                (functions.npg_kernel_open)(context.handle().get(), c_name.as_ptr(), out, error)
            }
        })?;
        let mut args = -1;
        shim.call("kernel_args", |functions, error| {
            // SAFETY: the handle lives, and the pointers are to locals of the declared types.
            unsafe { (functions.npg_kernel_args)(handle.get(), &raw mut args, error) }
        })?;
        let args = usize::try_from(args).ok();
        let (instructions, buffers) = match context.program() {
            Program::Elf(_) => (None, args),
            Program::Xclbin { instructions, .. } => {
                let group = group(&handle, 1)?;
                let len = instructions.bytes.len();
                let kind = BufferKind::Cacheable { group };
                let buffer = Buffer::new(context.device(), len, kind)?;
                buffer.write(0, &instructions.bytes)?;
                buffer.sync_to_device()?;
                let buffers = args.map(|args| args.saturating_sub(LEADING));
                (Some((buffer, instructions.count())), buffers)
            }
        };
        let name = name.to_owned();
        let context = context.clone();
        Ok(Self { open: Arc::new(Open { handle, instructions, buffers, name, context }) })
    }

    /// The name by which it was opened.
    pub fn name(&self) -> &str {
        &self.open.name
    }

    /// The context that it belongs to.
    pub fn context(&self) -> &Context {
        &self.open.context
    }

    /// The number of buffers that it takes, if XRT reports it: always for an xclbin, since 2.23 for
    /// an ELF.
    pub fn buffers(&self) -> Option<usize> {
        self.open.buffers
    }

    /// Allocates `bytes` bytes for the kernel's buffer at `index`. The buffer can be set in runs of
    /// any kernel of this context.
    ///
    /// # Errors
    /// If the kernel has no such buffer, or the memory cannot be allocated.
    pub fn buffer(&self, index: usize, bytes: usize) -> Result<Buffer, Error> {
        let arg = self.position(index)?;
        let kind = match self.open.instructions {
            Some(_) => BufferKind::HostOnly { group: group(&self.open.handle, arg)? },
            None => BufferKind::Ext,
        };
        Buffer::new(self.open.context.device(), bytes, kind)
    }

    /// Makes a run of this kernel, without buffers.
    ///
    /// # Errors
    /// If XRT fails.
    pub fn run(&self) -> Result<Run, Error> {
        let mut run = Run::new(self)?;
        if let Some((instructions, count)) = &self.open.instructions {
            run.set_scalar(0, &OPCODE.to_ne_bytes())?;
            run.set_argument(1, instructions)?;
            run.set_scalar(2, &count.to_ne_bytes())?;
        }
        Ok(run)
    }

    /// The index of the argument for the buffer at `index`.
    pub(super) fn position(&self, index: usize) -> Result<i32, Error> {
        if let Some(count) = self.buffers()
            && index >= count
        {
            return Err(Error::NoSuchArg { kernel: self.name().to_owned(), index, count });
        }
        let leading = if self.open.instructions.is_some() { LEADING } else { 0 };
        i32::try_from(leading.saturating_add(index)).map_err(|_| Error::NoSuchArg {
            kernel: self.name().to_owned(),
            index,
            count: 0,
        })
    }

    pub(super) fn handle(&self) -> &Handle<NpgKernel> {
        &self.open.handle
    }
}

/// The memory group of an argument.
fn group(handle: &Handle<NpgKernel>, arg: i32) -> Result<u32, Error> {
    let mut group = -1;
    handle.shim().call("kernel_group", |functions, error| {
        // SAFETY: the handle lives, and the pointers are to locals of the declared types.
        unsafe { (functions.npg_kernel_group)(handle.get(), arg, &raw mut group, error) }
    })?;
    u32::try_from(group)
        .map_err(|_| Error::Contract { message: format!("argument {arg} is in group {group}") })
}
