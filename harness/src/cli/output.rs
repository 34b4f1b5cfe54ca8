//! Writing to a reader that may leave: `gate --list | head -1`.

use std::io::{self, Write};

/// A writer that discards its input once its reader is gone. Rust ignores `SIGPIPE`,
/// so a closed pipe is an error of the next write, which must neither panic nor stop
/// the tests that are running: their exit code still counts.
pub(super) struct UntilClosed<W> {
    inner: W,
    pipe: Pipe,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pipe {
    Open,
    Closed,
}

impl<W: Write> UntilClosed<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, pipe: Pipe::Open }
    }

    fn unless_closed<T>(
        &mut self,
        done: T,
        write: impl FnOnce(&mut W) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.pipe == Pipe::Closed {
            return Ok(done);
        }
        match write(&mut self.inner) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.pipe = Pipe::Closed;
                Ok(done)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_closed(bytes.len(), |inner| inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed((), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails with an error of a kind after some bytes.
    struct Failing(usize, io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(self.1.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_not_an_error() {
        let mut output = UntilClosed::new(Failing(3, io::ErrorKind::BrokenPipe));
        assert!(output.write_all(b"first line\n").is_ok());
        assert!(output.write_all(b"second line\n").is_ok());
        assert!(output.flush().is_ok());
        assert_eq!(output.inner.0, 0);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut output = UntilClosed::new(Failing(3, io::ErrorKind::StorageFull));
        assert!(output.write_all(b"first line\n").is_err());
    }
}
