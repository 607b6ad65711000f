//! Workers: threads with deep stacks on which scripts run.
//!
//! A script can nest values as deep as its operations allow, and dropping such a value recurses. On a stack that holds
//! the deepest that a script can build, that is not a danger; only the pages that are touched cost memory.

use std::io;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// The size of a worker's stack in bytes.
const STACK: usize = 512 << 20;

/// How many workers wait for more when they are done.
const MAX_IDLE: usize = 8;

/// What a worker does; gives back what is to be done once it is free again.
type Job = Box<dyn FnOnce() -> Done + Send>;

struct Done {
    deliver: Box<dyn FnOnce()>,
    keep: bool,
}

static IDLE: Mutex<Vec<mpsc::Sender<Job>>> = Mutex::new(Vec::new());

/// What a worker will have found out: awaited inside a tokio runtime, waited for elsewhere.
pub(super) enum Awaited<T> {
    InRuntime(oneshot::Receiver<T>),
    Elsewhere(mpsc::Receiver<T>),
}

/// Why nothing came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// It is not done yet; the worker goes on, and nobody hears what it finds.
    Late,
    /// The worker has ended.
    Gone,
}

impl<T> Awaited<T> {
    /// Waits for the result until a time.
    pub(super) async fn until(self, time: Option<Instant>) -> Result<T, Lost> {
        match (self, time) {
            (Self::InRuntime(receiver), Some(time)) => {
                match tokio::time::timeout_at(time.into(), receiver).await {
                    Ok(result) => result.map_err(|_| Lost::Gone),
                    Err(_) => Err(Lost::Late),
                }
            }
            (Self::InRuntime(receiver), None) => receiver.await.map_err(|_| Lost::Gone),
            (Self::Elsewhere(receiver), Some(time)) => {
                let left = time.saturating_duration_since(Instant::now());
                receiver.recv_timeout(left).map_err(|error| match error {
                    mpsc::RecvTimeoutError::Timeout => Lost::Late,
                    mpsc::RecvTimeoutError::Disconnected => Lost::Gone,
                })
            }
            (Self::Elsewhere(receiver), None) => receiver.recv().map_err(|_| Lost::Gone),
        }
    }
}

/// Runs `work` on a worker; `is_clean` says of its result whether the worker may serve again.
pub(super) fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    is_clean: impl FnOnce(&T) -> bool + Send + 'static,
) -> io::Result<Awaited<T>> {
    if Handle::try_current().is_ok() {
        let (sender, receiver) = oneshot::channel();
        // Where nobody waits any more, the binding's time is over.
        send(work, is_clean, move |result| drop(sender.send(result)))?;
        Ok(Awaited::InRuntime(receiver))
    } else {
        let (sender, receiver) = mpsc::channel();
        send(work, is_clean, move |result| drop(sender.send(result)))?;
        Ok(Awaited::Elsewhere(receiver))
    }
}

fn send<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    is_clean: impl FnOnce(&T) -> bool + Send + 'static,
    deliver: impl FnOnce(T) + Send + 'static,
) -> io::Result<()> {
    let mut job: Job = Box::new(move || {
        let result = work();
        let keep = is_clean(&result);
        Done {
            keep,
            deliver: Box::new(move || deliver(result)),
        }
    });
    loop {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let worker = match idle {
            Some(worker) => worker,
            None => start()?,
        };
        match worker.send(job) {
            Ok(()) => return Ok(()),
            Err(mpsc::SendError(back)) => job = back,
        }
    }
}

fn start() -> io::Result<mpsc::Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    let own = sender.clone();
    thread::Builder::new()
        .name("ahp-script".to_owned())
        .stack_size(STACK)
        .spawn(move || {
            while let Ok(job) = jobs.recv() {
                let done = job();
                // Free first, then answer: who runs one script after the other needs one worker.
                let stays = done.keep && {
                    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
                    let room = idle.len() < MAX_IDLE;
                    if room {
                        idle.push(own.clone());
                    }
                    room
                };
                (done.deliver)();
                if !stays {
                    return;
                }
            }
        })?;
    Ok(sender)
}
