//! Daemon: takes connections on a socket, and lets each of their requests be judged, within bounds.

mod connection;
mod crew;
pub(crate) mod engines;
pub(crate) mod kept;
pub(crate) mod socket;
pub(crate) mod token;
pub(crate) mod unit;

use std::io;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ahp::host::Reply;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use serde_json::Value;
use tokio::sync::watch;
use tracing::{info, warn};

use self::crew::Crew;
use self::socket::Socket;
use crate::ask;
use crate::ask::Request;

/// The most connections at once.
const MOST_CONNECTIONS: usize = 256;

/// The most events that are judged at once.
const MOST_EVENTS: usize = 64;

/// The most bytes of events that are held at once.
const MOST_BYTES: usize = 64 << 20;

/// How long what is being judged may take once the daemon is told to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked whether there is reason to end.
const LOOK: Duration = Duration::from_secs(1);

/// Who judges what comes in on the connections.
pub(crate) trait Service: Send + Sync {
    /// Judges an event; `accept` is called before anything is judged or written, and says whether the caller heard it.
    ///
    /// Returns none where the caller is to judge it.
    fn hook(
        &self,
        request: Request,
        body: &[u8],
        accept: &mut dyn FnMut() -> bool,
    ) -> Option<Reply>;

    /// Records an answer to a signal; none where that is not done here.
    fn respond(&self, body: &[u8]) -> Option<Reply>;

    /// Says how it is; with the argument `log`, what of the project's log verifies too.
    fn status(&self, arguments: &[String]) -> Value;

    /// Gives back what nobody has used for long; called now and then.
    fn tidy(&self) {}
}

/// What is under way, against the bounds, and when somebody asked last.
#[derive(Debug)]
pub(crate) struct Load {
    connections: AtomicUsize,
    events: AtomicUsize,
    bytes: AtomicUsize,
    /// Callers of another door, who go by themselves once nothing more is taken.
    guests: AtomicUsize,
    closing: watch::Sender<bool>,
    last: Mutex<Instant>,
}

impl Load {
    pub(crate) fn new() -> Self {
        Self {
            connections: AtomicUsize::default(),
            events: AtomicUsize::default(),
            bytes: AtomicUsize::default(),
            guests: AtomicUsize::default(),
            closing: watch::Sender::new(false),
            last: Mutex::new(Instant::now()),
        }
    }

    /// Takes room for an event that is to be judged; none where too many are.
    pub(crate) fn event(&self) -> Option<Share<'_>> {
        Share::take(&self.events, 1, MOST_EVENTS, "events")
    }

    /// Takes room for the bytes of an event; none where too many are held.
    pub(crate) fn bytes(&self, size: usize) -> Option<Share<'_>> {
        Share::take(&self.bytes, size, MOST_BYTES, "bytes of events")
    }

    /// Notes a caller of another door, who is waited for where he is being answered when nothing more is taken.
    pub(crate) fn guest(&self) -> Option<Share<'_>> {
        Share::take(&self.guests, 1, MOST_CONNECTIONS, "callers over HTTP")
    }

    /// Comes back once nothing more is to be taken.
    pub(crate) async fn closes(&self) {
        // Its sender lives as long as this.
        self.closing
            .subscribe()
            .wait_for(|closes| *closes)
            .await
            .ok();
    }

    /// Notes that somebody asks.
    pub(crate) fn touch(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn is_idle(&self, idle: Duration) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.elapsed() >= idle && self.events.load(Ordering::Acquire) == 0
    }

    /// Lets nothing more be taken, and waits for what is being judged, but not for ever.
    fn settle(&self) {
        self.closing.send_replace(true);
        let begun = Instant::now();
        let left = || [&self.events, &self.guests].map(|count| count.load(Ordering::Acquire));
        while left() != [0, 0] && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A share of a bound, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share<'a> {
    of: &'a AtomicUsize,
    size: usize,
}

impl<'a> Share<'a> {
    /// Takes a share; none where the bound would be passed.
    fn take(of: &'a AtomicUsize, size: usize, most: usize, what: &str) -> Option<Self> {
        let taken = of.fetch_add(size, Ordering::AcqRel);
        // What was taken too much is given back by the drop.
        let share = Self { of, size };
        if taken + size > most {
            warn!("more than {most} {what} at once: one was not taken");
            return None;
        }
        Some(share)
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.of.fetch_sub(self.size, Ordering::AcqRel);
    }
}

/// When a daemon ends.
#[derive(Debug)]
pub(crate) struct Until {
    /// After so long without a request.
    pub(crate) idle: Option<Duration>,
    /// Once this program's file has been replaced.
    pub(crate) replaced: bool,
    /// Once something comes out of this, or its other end is closed.
    pub(crate) told: UnixStream,
}

/// Takes connections until there is reason to end; then takes the socket away, and waits for what is being judged.
///
/// # Errors
/// The socket cannot be listened to.
pub(crate) fn run(
    socket: Socket,
    service: &Arc<dyn Service>,
    mut until: Until,
    load: &Arc<Load>,
) -> io::Result<()> {
    socket.listener.set_nonblocking(true)?;
    until.told.set_nonblocking(true)?;
    let build = ask::build();
    let own = program();
    let crew = Crew::new(service, load, &build);
    let mut looked = Instant::now();
    let why = loop {
        let mut ready = [
            PollFd::new(&socket.listener, PollFlags::IN),
            PollFd::new(&until.told, PollFlags::IN),
        ];
        let look = Timespec::try_from(LOOK).ok();
        match rustix::event::poll(&mut ready, look.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if until.told.read(&mut [0]).is_ok() {
            break "told to";
        }
        match socket.listener.accept() {
            Ok((stream, _)) if ask::is_ours(&stream) => crew.take(stream),
            Ok(_) => warn!("another user's process was hung up on"),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                warn!("a connection cannot be taken: {error}");
                thread::sleep(Duration::from_millis(50));
            }
        }
        // However many ask.
        if looked.elapsed() < LOOK {
            continue;
        }
        looked = Instant::now();
        if until.idle.is_some_and(|idle| load.is_idle(idle)) {
            break "nobody asked";
        }
        if until.replaced && own.as_ref().is_some_and(Program::is_replaced) {
            break "its program was replaced";
        }
        service.tidy();
    };
    info!("ends: {why}");
    drop(socket);
    load.settle();
    Ok(())
}

/// The file of this program, as it was at the start.
#[derive(Debug)]
struct Program {
    path: PathBuf,
    /// Its device, its number there, and when it was last written.
    was: (u64, u64, i64, i64),
}

/// Looks at the file of this program; none where the system does not tell.
fn program() -> Option<Program> {
    let path = std::env::current_exe().ok()?;
    let was = file(&path)?;
    Some(Program { path, was })
}

fn file(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let meta = path.metadata().ok()?;
    Some((meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec()))
}

impl Program {
    /// Whether another file has taken its name; where there is none any more, there is no newer one either.
    fn is_replaced(&self) -> bool {
        file(&self.path).is_some_and(|now| now != self.was)
    }
}
