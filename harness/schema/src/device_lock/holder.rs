//! Who holds the lock on a file, as far as the system reports it. This is read from the
//! system's table of locks, without locking or changing anything.

use serde::{Deserialize, Serialize};
use std::{
    fmt,
    fs::{self, File},
    io::{self, Read, Seek},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// Where Linux reports processes and locks.
const PROC: &str = "/proc";

/// The process that holds the device.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Holder {
    /// Its process id, if the system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Its command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// For how many seconds it has held the device, if it is an npugate process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

impl Holder {
    /// The current holder of a file's lock, if there is one. Locks nothing and creates no
    /// file; `proc` is the folder where the system reports processes, `/proc`. A holder
    /// outside of this container may show only as "another process", or not at all.
    ///
    /// # Errors
    ///
    /// A file or a table of locks that cannot be read.
    pub fn look(path: &Path, proc: &Path) -> io::Result<Option<Self>> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let inode = inode(&file)?;
        let table = fs::read_to_string(proc.join("locks"))?;
        Ok(pid_in(&table, inode).map(|pid| Self::about(pid.known(), &mut file, proc)))
    }

    /// The holder of the lock of a file that could not be locked.
    pub(super) fn of(file: &mut File) -> Self {
        let proc = Path::new(PROC);
        let table = fs::read_to_string(proc.join("locks")).unwrap_or_default();
        let pid = inode(file).ok().and_then(|inode| pid_in(&table, inode));
        Self::about(pid.and_then(Pid::known), file, proc)
    }

    fn about(pid: Option<u32>, file: &mut File, proc: &Path) -> Self {
        let command = pid.and_then(|pid| command_line(pid, proc));
        let seconds = pid.and_then(|pid| {
            let mut text = String::new();
            file.rewind().ok()?;
            file.read_to_string(&mut text).ok()?;
            let (noted, since) = text.trim().split_once(' ')?;
            // The note may be from an earlier holder.
            (noted.parse() == Ok(pid)).then(|| unix_seconds().checked_sub(since.parse().ok()?))?
        });
        Self { pid, command, seconds }
    }
}

/// Seconds since 1970.
pub(super) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(unix)]
fn inode(file: &File) -> io::Result<u64> {
    Ok(std::os::unix::fs::MetadataExt::ino(&file.metadata()?))
}

#[cfg(not(unix))]
fn inode(_: &File) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What the table says about a lock's holder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pid {
    /// Its number.
    Known(u32),
    /// A process outside of this container, which has no number here.
    Outside,
}

impl Pid {
    fn known(self) -> Option<u32> {
        match self {
            Self::Known(pid) => Some(pid),
            Self::Outside => None,
        }
    }
}

/// The process that `/proc/locks` names for a file: lines such as
/// `3: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF`, with `->` for those that wait.
fn pid_in(locks: &str, inode: u64) -> Option<Pid> {
    let inode = inode.to_string();
    let holders = locks.lines().filter_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, place, ..] = words.as_slice() else { return None };
        let same = place.rsplit(':').next() == Some(&*inode);
        same.then(|| pid.parse().ok().filter(|pid| *pid > 0).map_or(Pid::Outside, Pid::Known))
    });
    let mut holder = None;
    for pid in holders {
        // A holder with a number says more.
        if !matches!(holder, Some(Pid::Known(_))) {
            holder = Some(pid);
        }
    }
    holder
}

fn command_line(pid: u32, proc: &Path) -> Option<String> {
    let bytes = fs::read(proc.join(pid.to_string()).join("cmdline")).ok()?;
    let mut words: Vec<_> = bytes
        .split(|&byte| byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    // The folder of the program is left out: it does not help those who wait.
    if let Some(program) = words.first_mut()
        && let Some(name) = Path::new(&*program).file_name()
    {
        *program = name.to_string_lossy().into_owned();
    }
    let line = words.join(" ");
    let line = if line.chars().count() > 60 {
        line.chars().take(59).chain(['…']).collect()
    } else {
        line
    };
    (!line.is_empty()).then_some(line)
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(pid) = self.pid else { return f.write_str("another process") };
        write!(f, "pid {pid}")?;
        if let Some(command) = &self.command {
            write!(f, ", `{command}`")?;
        }
        self.seconds.map_or(Ok(()), |seconds| write!(f, ", {seconds} s"))
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::DeviceLock;
    use std::{process, time::Duration};

    #[test]
    fn waiting_processes_in_the_table_are_not_holders() {
        let table = "1: -> FLOCK  ADVISORY  WRITE 7 fe:00:131 0 EOF\n\
                     1: POSIX  ADVISORY  WRITE 8 fe:00:131 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 0 fe:00:131 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 9 fe:00:131 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE -1 fe:00:132 0 EOF\n";
        assert_eq!(pid_in(table, 131), Some(Pid::Known(9)));
        assert_eq!(pid_in(table, 132), Some(Pid::Outside));
        assert_eq!(pid_in(table, 13), None);
    }

    #[test]
    fn a_look_at_a_lock_names_its_holder_and_leaves_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("npu.lock");
        let look = || Holder::look(&path, Path::new(PROC)).unwrap();
        assert_eq!(look(), None);
        assert!(!path.exists(), "a look made the file");
        let held = DeviceLock::acquire(&path, Duration::from_secs(9), |_| {}, || true).unwrap();
        let note = fs::read_to_string(&path).unwrap();
        let holder = look().unwrap();
        assert_eq!(holder.pid, Some(process::id()));
        assert!(holder.command.is_some() && holder.seconds.is_some(), "{holder:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), note);
        drop(held);
        assert_eq!(look(), None);
    }

    #[test]
    fn a_look_without_a_table_of_locks_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("npu.lock");
        fs::write(&path, "").unwrap();
        let error = Holder::look(&path, &folder.path().join("proc")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
