//! What this machine reports in files, below a root folder, which tests replace. Nothing is
//! written, and nothing is run.

use std::{
    ffi::OsString,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The environment variable that names a tree to read instead of `/`. It is for tests: the
/// tree has `proc/self/environ` instead of this process's variables, and text files instead
/// of devices (see [`super::node`]).
pub const SYSTEM_ROOT_VAR: &str = "NPUGATE_SYSTEM_ROOT";

/// The kind of device nodes, which decides how they are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nodes {
    /// They are devices.
    Devices,
    /// They are text files of a test.
    Texts,
}

/// A machine, as its files describe it.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// This machine, or the tree that a test names.
    pub fn new(root: Option<PathBuf>) -> Self {
        Self { root: root.unwrap_or_else(|| PathBuf::from("/")) }
    }

    /// Whether device nodes are devices.
    pub fn nodes(&self) -> Nodes {
        if self.root == Path::new("/") { Nodes::Devices } else { Nodes::Texts }
    }

    /// The place of a path of the machine: absolute, or below the root.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The machine's path for a path below the root.
    pub fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        Path::new("/").join(below).display().to_string()
    }

    /// The text of a file without surrounding whitespace, if it can be read.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = fs::read(self.path(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// Whether there is a file of that name; a dangling link counts.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        fs::symlink_metadata(self.path(path)).is_ok()
    }

    /// The names in a folder, sorted; empty if there is no such folder.
    pub fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// The last part of a link's target.
    pub fn link_name(&self, path: impl AsRef<Path>) -> Option<String> {
        let target = fs::read_link(self.path(path)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// The target of a link, as written.
    pub fn link(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        fs::read_link(self.path(path)).ok()
    }

    /// A variable of this process's environment; an empty one counts as unset.
    pub fn variable(&self, name: &str) -> Option<String> {
        let value: Option<OsString> = match self.nodes() {
            Nodes::Devices => std::env::var_os(name),
            Nodes::Texts => {
                let text = fs::read(self.path("/proc/self/environ")).unwrap_or_default();
                let text = String::from_utf8_lossy(&text).into_owned();
                let mut pairs = text.split('\0').filter_map(|pair| pair.trim().split_once('='));
                pairs.find(|(key, _)| *key == name).map(|(_, value)| value.into())
            }
        };
        value.map(|value| value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
    }

    /// The messages that are left in the kernel's log.
    ///
    /// # Errors
    ///
    /// If there is no log, or only an administrator may read it.
    pub fn kernel_log(&self) -> io::Result<Vec<String>> {
        let mut options = fs::OpenOptions::new();
        options.read(true);
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // Without it, a read waits at the end of the log.
            options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        }
        let mut file = options.open(self.path("/dev/kmsg"))?;
        let mut text = Vec::new();
        // Each read returns one record of at most this size.
        let mut record = vec![0; 8192];
        loop {
            match file.read(&mut record) {
                Ok(0) => break,
                Ok(length) => text.extend_from_slice(&record[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The record was overwritten meanwhile: the next read returns a later one.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let text = String::from_utf8_lossy(&text);
        // `6,1234,5678,-;message`; lines of properties begin with a blank.
        let messages = text.lines().filter(|line| !line.starts_with(' '));
        Ok(messages
            .map(|line| line.split_once(';').map_or(line, |(_, message)| message).to_owned())
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::tree::Tree;

    #[test]
    fn a_machine_is_read_below_its_root() {
        let tree = Tree::new()
            .file("/proc/self/environ", "HOME=/home/me\0EMPTY=\0")
            .file("/sys/a/two", "2\n")
            .file("/sys/a/one", " 1\n")
            .link("/sys/a/driver", "../../../bus/pci/drivers/amdxdna");
        let system = tree.system();
        assert_eq!(system.variable("HOME").as_deref(), Some("/home/me"));
        assert_eq!((system.variable("EMPTY"), system.variable("PATH")), (None, None));
        assert_eq!(system.text("/sys/a/one").as_deref(), Some("1"));
        assert_eq!(system.text("/sys/a/three"), None);
        assert_eq!(system.names("/sys/a"), ["driver", "one", "two"]);
        assert_eq!(system.names("/sys/b"), [""; 0]);
        assert_eq!(system.link_name("/sys/a/driver").as_deref(), Some("amdxdna"));
        assert!(system.exists("/sys/a/driver") && !system.exists("/sys/b"));
    }

    #[test]
    fn the_kernels_log_is_its_messages() {
        let tree =
            Tree::new().file("/dev/kmsg", "6,1,0,-;one; two\n SUBSYSTEM=pci\n4,2,9,-;three\n");
        assert_eq!(tree.system().kernel_log().unwrap(), ["one; two", "three"]);
        assert!(Tree::new().system().kernel_log().is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn reading_a_real_log_does_not_wait_at_its_end() {
        match System::new(None).kernel_log() {
            Ok(messages) => assert!(!messages.is_empty()),
            Err(error) => eprintln!("SKIPPED: the kernel's log cannot be read here: {error}"),
        }
    }
}
