//! Reading a gate binary's events while it still writes them.

use npugate_schema::Event;
use std::io::{self, Read};

/// A line that is not an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLine {
    /// The line, cut short.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Follows a stream of JSON lines that grows.
#[derive(Debug)]
pub struct EventReader<R> {
    source: R,
    /// The beginning of a line whose end has not been written yet.
    partial: Vec<u8>,
}

impl<R: Read> EventReader<R> {
    /// Follows `source`, which may grow after its end was reached.
    pub fn new(source: R) -> Self {
        Self { source, partial: Vec::new() }
    }

    /// The events that have been completed since the last call.
    ///
    /// # Errors
    ///
    /// Any failure to read.
    pub fn poll(&mut self) -> io::Result<Vec<Result<Event, BadLine>>> {
        self.source.read_to_end(&mut self.partial)?;
        let Some(end) = self.partial.iter().rposition(|&byte| byte == b'\n') else {
            return Ok(Vec::new());
        };
        let rest = self.partial.split_off(end + 1);
        let complete = std::mem::replace(&mut self.partial, rest);
        Ok(complete
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .map(parse)
            .collect())
    }

    /// Whether the stream stopped in the middle of a line.
    pub fn is_cut_off(&self) -> bool {
        !self.partial.trim_ascii().is_empty()
    }
}

fn parse(line: &[u8]) -> Result<Event, BadLine> {
    serde_json::from_slice(line).map_err(|error| BadLine {
        text: crate::text::ellipsis(&String::from_utf8_lossy(line), 60),
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::RefCell, collections::VecDeque, rc::Rc};

    /// A file that another process appends to: each read goes to its current end.
    #[derive(Clone, Default)]
    struct Growing(Rc<RefCell<VecDeque<u8>>>);

    impl Growing {
        fn append(&self, text: &str) {
            self.0.borrow_mut().extend(text.bytes());
        }
    }

    impl Read for Growing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.borrow_mut().read(buffer)
        }
    }

    fn started(name: &str) -> String {
        serde_json::to_string(&Event::TestStarted { name: name.into() }).unwrap() + "\n"
    }

    #[test]
    fn a_line_counts_once_it_is_complete() {
        let file = Growing::default();
        let mut reader = EventReader::new(file.clone());
        let line = started("kernel::gemm");
        let (first, second) = line.split_at(9);
        file.append(first);
        assert_eq!(reader.poll().unwrap(), []);
        assert!(reader.is_cut_off());
        file.append(second);
        file.append(&started("b")[..4]);
        let event = Event::TestStarted { name: "kernel::gemm".into() };
        assert_eq!(reader.poll().unwrap(), [Ok(event)]);
        assert_eq!(reader.poll().unwrap(), []);
    }

    #[test]
    fn a_character_cut_in_two_is_put_together() {
        let bytes = started("größe").into_bytes();
        let file = Growing::default();
        let mut reader = EventReader::new(file.clone());
        for byte in &bytes {
            file.0.borrow_mut().push_back(*byte);
            let events = reader.poll().unwrap();
            assert_eq!(events.len(), usize::from(*byte == b'\n'));
        }
        assert!(!reader.is_cut_off());
    }

    #[test]
    fn garbage_is_reported_and_the_next_line_still_counts() {
        let file = Growing::default();
        let mut reader = EventReader::new(file.clone());
        file.append("Segmentation fault\n\n");
        file.append(&started("a"));
        let events = reader.poll().unwrap();
        assert_eq!(events.len(), 2);
        assert_eq!(events[0].as_ref().unwrap_err().text, "Segmentation fault");
        assert_eq!(events[1], Ok(Event::TestStarted { name: "a".into() }));
    }
}
