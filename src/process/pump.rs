//! Pump: moves a program's input and outputs at once, so that no side waits for the other.

use std::io;
use std::io::{Read, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::process::Pid;

use super::group;

/// How often the end of a program is looked for where the system cannot announce it.
const TICK: Duration = Duration::from_millis(5);

/// The three pipes of a program, and the announcement of its end.
#[derive(Debug)]
pub(super) struct Pump<'a> {
    pid: Pid,
    ended: Option<OwnedFd>,
    stdin: Option<ChildStdin>,
    input: &'a [u8],
    /// The program's output.
    pub(super) stdout: Capture<ChildStdout>,
    /// The program's error output.
    pub(super) stderr: Capture<ChildStderr>,
    buffer: Vec<u8>,
}

/// One output, kept up to a bound.
#[derive(Debug)]
pub(super) struct Capture<R> {
    pipe: Option<R>,
    limit: usize,
    /// What was kept.
    pub(super) kept: Vec<u8>,
    /// How many bytes were not.
    pub(super) dropped: u64,
}

impl<'a> Pump<'a> {
    /// Takes over the pipes of a program that was just started.
    pub(super) fn new(
        child: &mut Child,
        pid: Pid,
        input: &'a [u8],
        limit: usize,
    ) -> io::Result<Self> {
        let stdin = child.stdin.take();
        if let Some(pipe) = &stdin {
            set_nonblocking(pipe)?;
        }
        Ok(Self {
            pid,
            ended: announcement_of_end(pid),
            stdin,
            input,
            stdout: Capture::new(child.stdout.take(), limit)?,
            stderr: Capture::new(child.stderr.take(), limit)?,
            buffer: vec![0; 64 << 10],
        })
    }

    /// Moves bytes until the program has ended; false: it had not at `until`.
    pub(super) fn until_end(&mut self, until: Option<Instant>) -> bool {
        loop {
            if group::has_ended(self.pid) {
                return true;
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return false;
            }
            self.step(until, true);
        }
    }

    /// Moves bytes until both outputs are at their end, at most until `until`.
    pub(super) fn until_closed(&mut self, until: Instant) {
        self.stdin = None;
        while (self.stdout.pipe.is_some() || self.stderr.pipe.is_some()) && Instant::now() < until {
            self.step(Some(until), false);
        }
    }

    /// Waits until something can be moved, the program ends or time is up, and moves what can be moved.
    fn step(&mut self, until: Option<Instant>, announce: bool) {
        let mut timeout = until.map(|until| until.saturating_duration_since(Instant::now()));
        if announce && self.ended.is_none() {
            timeout = Some(timeout.map_or(TICK, |timeout| timeout.min(TICK)));
        }
        let timeout = timeout.map(|timeout| {
            let seconds = i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX);
            Timespec {
                tv_sec: seconds,
                tv_nsec: timeout.subsec_nanos().into(),
            }
        });
        let mut waited_for = Vec::with_capacity(4);
        if let Some(pipe) = &self.stdin {
            waited_for.push(PollFd::new(pipe, PollFlags::OUT));
        }
        if let Some(pipe) = &self.stdout.pipe {
            waited_for.push(PollFd::new(pipe, PollFlags::IN));
        }
        if let Some(pipe) = &self.stderr.pipe {
            waited_for.push(PollFd::new(pipe, PollFlags::IN));
        }
        if let Some(ended) = self.ended.as_ref().filter(|_| announce) {
            waited_for.push(PollFd::new(ended, PollFlags::IN));
        }
        // An interrupted wait is a wait that ended early.
        rustix::event::poll(&mut waited_for, timeout.as_ref()).ok();
        self.feed();
        self.stdout.drain(&mut self.buffer);
        self.stderr.drain(&mut self.buffer);
    }

    fn feed(&mut self) {
        let Some(pipe) = &mut self.stdin else { return };
        if !self.input.is_empty() {
            match pipe.write(self.input) {
                Ok(n) => self.input = self.input.get(n..).unwrap_or_default(),
                Err(e) if is_not_now(&e) => {}
                // The program does not want to read it, which is its own affair.
                Err(_) => self.input = &[],
            }
        }
        if self.input.is_empty() {
            self.stdin = None;
        }
    }
}

impl<R: Read + AsFd> Capture<R> {
    fn new(pipe: Option<R>, limit: usize) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            set_nonblocking(pipe)?;
        }
        Ok(Self {
            pipe,
            limit,
            kept: Vec::new(),
            dropped: 0,
        })
    }

    /// Reads one buffer, if there is something to read.
    fn drain(&mut self, buffer: &mut [u8]) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(buffer) {
            Ok(0) => self.pipe = None,
            Ok(n) => {
                let read = buffer.get(..n).unwrap_or_default();
                let room = self.limit.saturating_sub(self.kept.len());
                let (kept, dropped) = read.split_at(room.min(read.len()));
                self.kept.extend_from_slice(kept);
                self.dropped += dropped.len() as u64;
            }
            Err(e) if is_not_now(&e) => {}
            Err(_) => self.pipe = None,
        }
    }
}

fn is_not_now(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn set_nonblocking(pipe: &impl AsFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(pipe)?;
    rustix::fs::fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?;
    Ok(())
}

#[cfg(target_os = "linux")]
fn announcement_of_end(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn announcement_of_end(_pid: Pid) -> Option<OwnedFd> {
    None
}
