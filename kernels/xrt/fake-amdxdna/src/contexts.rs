//! Hardware contexts: their configuration, and the progress of their commands.

use std::collections::BTreeMap;

use npugate_xrt_fixtures::Key;

use crate::uapi::Errno;

/// The number of contexts of an NPU2.
const POOL: usize = 16;

/// One hardware context.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Context {
    /// The handle of its timeline.
    pub syncobj: u32,
    /// The number of tiles that were requested.
    pub tiles: u32,
    /// The key of each compute unit's PDI.
    pub units: Vec<Option<Key>>,
    /// The number of the last command that was submitted.
    pub submitted: u64,
    /// The number of the last command that has ended.
    pub completed: u64,
}

/// The contexts of a client.
#[derive(Debug, Default)]
pub struct Contexts {
    live: BTreeMap<u32, Context>,
    last: u32,
}

impl Contexts {
    /// Makes a context, and returns its handle and that of its timeline.
    ///
    /// # Errors
    /// `ENOENT` if there are already `limit` contexts, or as many as the hardware has.
    pub fn create(&mut self, tiles: u32, limit: Option<usize>) -> Result<(u32, u32), Errno> {
        if self.live.len() >= limit.unwrap_or(POOL) {
            return Err(Errno::NOENT);
        }
        self.last += 1;
        // It differs from the context's handle, so that mixing them up is noticed.
        let syncobj = 0x1000 + self.last;
        self.live.insert(self.last, Context { syncobj, tiles, ..Context::default() });
        Ok((self.last, syncobj))
    }

    /// Ends a context.
    ///
    /// # Errors
    /// `EINVAL` if there is no such context.
    pub fn remove(&mut self, handle: u32) -> Result<(), Errno> {
        self.live.remove(&handle).map(drop).ok_or(Errno::INVAL)
    }

    /// The context with this handle.
    ///
    /// # Errors
    /// `EINVAL` if there is no such context.
    pub fn get(&mut self, handle: u32) -> Result<&mut Context, Errno> {
        self.live.get_mut(&handle).ok_or(Errno::INVAL)
    }

    /// The context with this timeline.
    pub fn of_timeline(&self, syncobj: u32) -> Option<&Context> {
        self.live.values().find(|context| context.syncobj == syncobj)
    }

    /// All contexts with their handles.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &Context)> {
        self.live.iter().map(|(&handle, context)| (handle, context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_is_as_large_as_the_hardwares_or_as_a_test_says() {
        let mut contexts = Contexts::default();
        for _ in 0..POOL {
            contexts.create(32, None).unwrap();
        }
        assert_eq!(contexts.create(32, None), Err(Errno::NOENT));
        contexts.remove(1).unwrap();
        assert_eq!(contexts.create(32, Some(3)), Err(Errno::NOENT));
        assert!(contexts.create(32, None).is_ok());
        assert_eq!(contexts.remove(1), Err(Errno::INVAL));
    }
}
