//! The programs that run now, so that none is left behind when this process ends before them.

use std::collections::BTreeSet;
use std::io;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

use super::{ProcessError, group};

static RUNNING: Mutex<Programs> = Mutex::new(Programs {
    pids: BTreeSet::new(),
    closed: false,
    prepare: None,
});

struct Programs {
    pids: BTreeSet<i32>,
    closed: bool,
    /// What is done once, before the first program of a policy.
    prepare: Option<fn()>,
}

impl Programs {
    fn end(&mut self) -> impl Iterator<Item = Pid> {
        self.closed = true;
        let pids = self.pids.iter().filter_map(|pid| Pid::from_raw(*pid));
        pids.inspect(|pid| group::terminate(*pid))
    }
}

/// Has something done once, before the first program of a policy is started: most events start none, and need not wait for it.
pub fn before_programs(prepare: fn()) {
    lock().prepare = Some(prepare);
}

/// Does what [`before_programs`] was given.
pub(super) fn prepare() {
    let prepare = lock().prepare.take();
    if let Some(prepare) = prepare {
        prepare();
    }
}

/// A program that is waited for.
#[derive(Debug)]
pub(super) struct Running(Pid);

impl Running {
    /// Starts a program, unless this process is about to end.
    pub(super) fn start(
        start: impl FnOnce() -> Result<Child, ProcessError>,
        failed: impl FnOnce(io::Error) -> ProcessError,
    ) -> Result<(Child, Self), ProcessError> {
        // Held while it starts: there is no moment at which it runs and is not known.
        let mut programs = lock();
        if programs.closed {
            return Err(failed(io::Error::other("this process is ending")));
        }
        let child = start()?;
        let pid = Pid::from_child(&child);
        programs.pids.insert(pid.as_raw_nonzero().get());
        Ok((child, Self(pid)))
    }

    /// Returns the number of its process, which is that of its group.
    pub(super) const fn pid(&self) -> Pid {
        self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock().pids.remove(&self.0.as_raw_nonzero().get());
    }
}

/// Ends every program that is still waited for, and lets none be started: the last thing that a process does.
///
/// What all oracles of an event ask of git, no single one's deadline ends: the verdict may be there before git has
/// answered.
pub fn end_all() {
    lock().end().for_each(drop);
}

/// Does the same, and kills two seconds later what is still there: for a process that a signal ends.
pub fn kill_all() {
    let mut programs = lock();
    let killers: Vec<_> = programs.end().filter_map(group::killer).collect();
    // They outlive this process.
    drop(killers);
}

fn lock() -> MutexGuard<'static, Programs> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
