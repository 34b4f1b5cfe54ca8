//! What each ioctl does.

use std::{thread, time::Duration};

use libc::c_int;

use crate::{
    client::Client,
    device::{self, Device},
    faults::{self, Faults},
    log, queries,
    uapi::{self, Errno, Ioctl},
    user::{self, Plain},
};

/// Answers an ioctl on one of our descriptors: `request` as the process passed it, with the address
/// of its argument.
///
/// # Errors
/// The errors of the driver, and those that the faults set.
pub fn answer(fd: c_int, request: u64, address: u64) -> Result<(), Errno> {
    let number = (request & 0xff) as u32;
    let ioctl = Ioctl::from_number(number).ok_or_else(|| {
        log::trace(format_args!("unknown ioctl {number:#x}"));
        Errno::NOTTY
    })?;
    let faults = faults::get().map_err(|_| Errno::INVAL)?;
    if let Some((which, errno)) = faults.fail
        && which == ioctl
    {
        log::trace(format_args!("{ioctl:?}: fails with {errno:?}, as requested"));
        return Err(errno);
    }
    let room = ((request >> 16) & 0x3fff) as usize;
    let wait = device::with(|device| {
        let call = Call { device, fd, faults, address, room };
        call.answer(ioctl)
    });
    log::trace(format_args!("{ioctl:?}: {wait:?}"));
    // The wait must not hold the device.
    match wait? {
        Wait::No => Ok(()),
        Wait::For(time) => {
            thread::sleep(time);
            Err(Errno::TIME)
        }
        Wait::Forever => loop {
            thread::sleep(Duration::from_hours(1));
        },
    }
}

/// How long the process has to wait for a command that does not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wait {
    No,
    For(Duration),
    Forever,
}

struct Call<'a> {
    device: &'a mut Device,
    fd: c_int,
    faults: &'a Faults,
    address: u64,
    /// The size of the argument in bytes, as the request says.
    room: usize,
}

impl Call<'_> {
    fn answer(self, ioctl: Ioctl) -> Result<Wait, Errno> {
        let faults = self.faults;
        match ioctl {
            Ioctl::Version => self.change(|_, arg| queries::version(arg))?,
            Ioctl::GemClose => {
                self.change(|client, arg: &mut uapi::Handle| client.close_buffer(arg.handle))?;
            }
            Ioctl::CreateHwctx => self.change(|client, arg| client.create_context(arg, faults))?,
            Ioctl::DestroyHwctx => {
                self.change(|client, arg: &mut uapi::Handle| client.contexts.remove(arg.handle))?;
            }
            Ioctl::ConfigHwctx => self.change(|client, arg| client.configure(arg))?,
            Ioctl::CreateBo => self.change(Client::create_buffer)?,
            Ioctl::GetBoInfo => self.change(|client, arg| client.buffer_info(arg))?,
            Ioctl::SyncBo => self.change(|client, arg: &mut uapi::SyncBo| {
                client.memory.buffers.get(arg.handle).map(drop).ok_or(Errno::NOENT)
            })?,
            Ioctl::ExecCmd => {
                let mut arg = user::read_prefix(self.address, self.room)?;
                let Device { clients, programs, commands, .. } = self.device;
                let client = clients.get_mut(&self.fd).ok_or(Errno::INVAL)?;
                client.execute(&mut arg, faults, programs, commands)?;
                user::write_prefix(self.address, &arg, self.room)?;
            }
            Ioctl::GetInfo => {
                let mode = self.device.power_mode;
                self.change(|client, arg| queries::info(arg, &client.contexts, mode))?;
            }
            Ioctl::SetState => {
                let arg = user::read_prefix(self.address, self.room)?;
                self.device.power_mode = queries::set_state(&arg)?;
            }
            Ioctl::GetArray => {
                self.change(|client, arg| queries::array(arg, &client.contexts))?;
            }
            Ioctl::SyncobjDestroy => {}
            Ioctl::WaitCmd => return self.wait_command(),
            Ioctl::SyncobjTimelineWait => return self.wait_timeline(),
        }
        Ok(Wait::No)
    }

    /// Reads the argument, lets `f` change it, and writes it back.
    fn change<T: Plain>(
        self,
        f: impl FnOnce(&mut Client, &mut T) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let mut arg = user::read_prefix(self.address, self.room)?;
        let client = self.device.clients.get_mut(&self.fd).ok_or(Errno::INVAL)?;
        f(client, &mut arg)?;
        user::write_prefix(self.address, &arg, self.room)
    }

    fn wait_command(self) -> Result<Wait, Errno> {
        let arg: uapi::WaitCmd = user::read_prefix(self.address, self.room)?;
        let client = self.device.clients.get_mut(&self.fd).ok_or(Errno::INVAL)?;
        let completed = client.contexts.get(arg.hwctx)?.completed;
        Ok(match arg.timeout {
            _ if completed >= arg.seq => Wait::No,
            0 => Wait::Forever,
            ms => Wait::For(Duration::from_millis(ms.into())),
        })
    }

    fn wait_timeline(self) -> Result<Wait, Errno> {
        let arg: uapi::TimelineWait = user::read_prefix(self.address, self.room)?;
        let client = self.device.clients.get_mut(&self.fd).ok_or(Errno::INVAL)?;
        let handles: Vec<u32> = user::read_all(arg.handles, arg.count as usize)?;
        let points: Vec<u64> = user::read_all(arg.points, arg.count as usize)?;
        for (handle, point) in handles.into_iter().zip(points) {
            let context = client.contexts.of_timeline(handle).ok_or(Errno::NOENT)?;
            if context.completed < point {
                let left = arg.deadline.saturating_sub(now());
                return Ok(match u64::try_from(left) {
                    _ if arg.deadline == i64::MAX => Wait::Forever,
                    Ok(left) => Wait::For(Duration::from_nanos(left)),
                    Err(_) => Wait::For(Duration::ZERO),
                });
            }
        }
        Ok(Wait::No)
    }
}

/// The time of the monotonic clock in nanoseconds, which deadlines use.
fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock always exists, and there is room for its answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec)
}
