//! Bounded: a stream that must have given, and taken, all that is wanted by some moment: a peer that sends a byte now and then
//! gets no more time than one that is silent.

use std::io;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// By how much what the system was told may be off, so that it is not told anew at each read.
const SLACK: Duration = Duration::from_millis(5);

/// A stream, and until when it is waited for.
#[derive(Debug)]
pub(crate) struct Bounded<'a> {
    stream: &'a UnixStream,
    until: Instant,
    /// How long the system was told to wait for something to read, and for room to write.
    reads: Option<Duration>,
    writes: Option<Duration>,
}

impl<'a> Bounded<'a> {
    pub(crate) const fn new(stream: &'a UnixStream, until: Instant) -> Self {
        Self {
            stream,
            until,
            reads: None,
            writes: None,
        }
    }

    /// Lets it be waited for until another moment.
    pub(crate) const fn wait_until(&mut self, until: Instant) {
        self.until = until;
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        // Nought would mean no bound at all.
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(left)
    }
}

fn is_near(told: Option<Duration>, left: Duration) -> bool {
    told.is_some_and(|told| told.abs_diff(left) <= SLACK)
}

impl Read for Bounded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.left()?;
        if !is_near(self.reads, left) {
            self.stream.set_read_timeout(Some(left))?;
            self.reads = Some(left);
        }
        self.stream.read(into)
    }
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left()?;
        if !is_near(self.writes, left) {
            self.stream.set_write_timeout(Some(left))?;
            self.writes = Some(left);
        }
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_goes_on_gets_no_more_time_than_a_silent_one() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"xy").unwrap();
        let now = Instant::now();
        let mut bounded = Bounded::new(&ours, now + Duration::from_mins(1));
        assert_eq!(bounded.read(&mut [0]).unwrap(), 1);
        // What is there to be read comes too late all the same.
        bounded.wait_until(now);
        let late = io::ErrorKind::TimedOut;
        assert_eq!(bounded.read(&mut [0]).unwrap_err().kind(), late);
        assert_eq!(bounded.write(b"x").unwrap_err().kind(), late);
        bounded.wait_until(now + Duration::from_mins(1));
        assert_eq!(bounded.read(&mut [0]).unwrap(), 1);
        assert_eq!(bounded.write(b"x").unwrap(), 1);
    }
}
