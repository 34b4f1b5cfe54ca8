//! The lock on the one NPU of a machine, shared with every program that follows
//! MLIR-AIR's convention: `flock` on a file that is never removed.

mod holder;

pub use holder::Holder;

use holder::unix_seconds;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Seek, Write},
    path::{Path, PathBuf},
    process, thread,
    time::{Duration, Instant},
};

/// The file that MLIR-AIR's language models lock for a whole run
/// (`flock -x -w 1800 /tmp/mlir-air-npu.lock`).
pub const DEVICE_LOCK: &str = "/tmp/mlir-air-npu.lock";

/// How long MLIR-AIR waits for it.
pub const DEVICE_LOCK_DEADLINE: Duration = Duration::from_mins(30);

/// The environment variable that names another file to lock.
pub const LOCK_VAR: &str = "NPUGATE_LOCK";

/// The environment variable that says that the caller holds the lock.
pub const LOCK_HELD_VAR: &str = "NPUGATE_LOCK_HELD";

/// The interval at which a lock that is held is tried again.
const RETRY: Duration = Duration::from_millis(100);

/// A lock on the device, held until this is dropped.
#[derive(Debug)]
pub struct DeviceLock {
    /// Closing it releases the lock. The file stays, since removing it would allow two
    /// processes to hold a lock each.
    _file: File,
}

/// Why the device could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The file cannot be opened or locked.
    #[error("the lock {} cannot be taken: {source}; name another file with --lock, or none with --no-lock", path.display())]
    Io {
        /// The lock's file.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// It was held until the deadline.
    #[error("the NPU was not free within {}: {holder} holds {}; wait for it, or end it", seconds(*.deadline), path.display())]
    Deadline {
        /// The lock's file.
        path: PathBuf,
        /// How long it was waited for.
        deadline: Duration,
        /// Who held it last.
        holder: Holder,
    },
    /// The caller stopped waiting.
    #[error("the wait for the NPU was abandoned")]
    Abandoned,
}

impl DeviceLock {
    /// Takes the lock, waiting for it until the deadline. `waiting` is called with the holder
    /// at once and about once a second; `wanted` says whether to keep waiting.
    ///
    /// # Errors
    ///
    /// A file that cannot be locked, the deadline, or a lock that is no longer wanted.
    pub fn acquire(
        path: &Path,
        deadline: Duration,
        mut waiting: impl FnMut(Holder),
        mut wanted: impl FnMut() -> bool,
    ) -> Result<Self, LockError> {
        let failed = |source| LockError::Io { path: path.to_owned(), source };
        let mut file = open(path).map_err(failed)?;
        let start = Instant::now();
        let mut told: Option<Instant> = None;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    // The note is for processes that wait. They can do without it.
                    let _ = note(&mut file);
                    return Ok(Self { _file: file });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            if start.elapsed() >= deadline {
                let holder = Holder::of(&mut file);
                return Err(LockError::Deadline { path: path.to_owned(), deadline, holder });
            }
            if !wanted() {
                return Err(LockError::Abandoned);
            }
            if told.is_none_or(|at| at.elapsed() >= Duration::from_secs(1)) {
                told = Some(Instant::now());
                waiting(Holder::of(&mut file));
            }
            thread::sleep(RETRY.min(deadline.saturating_sub(start.elapsed())));
        }
    }
}

/// Opens the file. Another user may have created it; reading is enough to lock it.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o666);
    options.open(path).or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => File::open(path),
        _ => Err(error),
    })
}

/// Writes which process holds the lock and since when, which [`Holder::of`] reads.
fn note(file: &mut File) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    writeln!(file, "{} {}", process::id(), unix_seconds())
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const LONG: Duration = Duration::from_secs(20);

    fn acquire(path: &Path, deadline: Duration) -> Result<DeviceLock, LockError> {
        DeviceLock::acquire(path, deadline, |_| {}, || true)
    }

    #[test]
    fn a_lock_that_is_held_names_its_holder_and_ends_at_the_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("npu.lock");
        let held = acquire(&path, LONG).unwrap();
        let mut heard = Vec::new();
        let deadline = Duration::from_millis(150);
        let error = DeviceLock::acquire(&path, deadline, |holder| heard.push(holder), || true);
        let error = error.unwrap_err().to_string();
        assert_eq!(heard.len(), 1);
        assert_eq!(heard[0].pid, Some(process::id()));
        assert!(heard[0].seconds.is_some_and(|seconds| seconds < 10), "{heard:?}");
        let start = format!("the NPU was not free within 0.15 s: pid {}, `", process::id());
        assert!(error.starts_with(&start), "{error}");
        drop(held);
        acquire(&path, deadline).unwrap();
        assert!(path.exists(), "the file is never removed");
    }

    #[test]
    fn the_lock_passes_on_when_it_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("npu.lock");
        let held = acquire(&path, LONG).unwrap();
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn({
            let path = path.clone();
            move || DeviceLock::acquire(&path, LONG, |_| sender.send(()).unwrap(), || true)
        });
        receiver.recv_timeout(LONG).unwrap();
        drop(held);
        other.join().unwrap().unwrap();
    }

    #[test]
    fn nobody_waits_for_a_lock_that_is_no_longer_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("npu.lock");
        let _held = acquire(&path, LONG).unwrap();
        let error = DeviceLock::acquire(&path, LONG, |_| {}, || false).unwrap_err();
        assert!(matches!(error, LockError::Abandoned));
    }

    #[test]
    fn flock_of_util_linux_is_seen_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("npu.lock");
        let mut command = process::Command::new("flock");
        let Ok(mut other) = command.arg("-x").arg(&path).args(["sleep", "20"]).spawn() else {
            eprintln!("SKIPPED: there is no flock on this machine");
            return;
        };
        let pid = loop {
            let mut holder = None;
            let seen = |seen: Holder| holder = Some(seen);
            let _ = DeviceLock::acquire(&path, Duration::from_millis(50), seen, || true);
            if let Some(Holder { pid: Some(pid), .. }) = holder {
                break pid;
            }
        };
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(pid, other.id());
    }

    #[test]
    fn a_missing_folder_is_reported() {
        let path = Path::new("/nowhere/npu.lock");
        let error = acquire(path, LONG).unwrap_err().to_string();
        assert!(error.starts_with("the lock /nowhere/npu.lock cannot be taken: "), "{error}");
    }
}
