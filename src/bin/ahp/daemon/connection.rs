//! Connection: the requests of one caller, one after the other.

use std::io;
use std::io::{BufReader, Read, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use ahp::host::Reply;
use tracing::debug;

use super::{Load, Service};
use crate::ask::frame;
use crate::ask::{Done, First, Op, PROTOCOL, Request, State};

/// How long a caller may be silent between two requests.
const SILENT: Duration = Duration::from_mins(10);

/// How long the rest of a request may take once it has begun, and an answer to be read.
const SLOW: Duration = Duration::from_secs(5);

/// How many bytes are taken in at once: most events come whole so.
const AT_ONCE: usize = 16 << 10;

/// What comes from a caller.
struct Incoming<'a> {
    stream: &'a UnixStream,
    patience: Duration,
}

impl Incoming<'_> {
    /// Waits so long for what comes next; the system is told only where that changes something.
    fn wait_up_to(&mut self, patience: Duration) -> io::Result<()> {
        if self.patience != patience {
            self.stream.set_read_timeout(Some(patience))?;
            self.patience = patience;
        }
        Ok(())
    }
}

impl Read for Incoming<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.stream;
        stream.read(into)
    }
}

/// What goes to a caller.
///
/// An answer is held back while the next request has already come whole, and goes out with the first word about that one:
/// who asks many times before it reads is woken half as often.
struct Outgoing<'a> {
    stream: &'a UnixStream,
    held: Vec<u8>,
}

impl Outgoing<'_> {
    fn say(&mut self, state: State, why: &str) -> io::Result<()> {
        let first = First {
            v: PROTOCOL,
            state,
            why: (!why.is_empty()).then(|| why.to_owned()),
        };
        frame::write(&mut self.held, &first, b"")?;
        self.send()
    }

    fn send(&mut self) -> io::Result<()> {
        let mut stream = self.stream;
        let sent = stream.write_all(&self.held);
        self.held.clear();
        sent
    }
}

/// Whether the next request lies whole in what was taken in.
fn next_is_here(incoming: &BufReader<Incoming<'_>>) -> bool {
    let mut buffer = incoming.buffer();
    let announced = frame::lengths(&mut buffer).ok().flatten();
    announced.is_some_and(|(head, body)| buffer.len() >= head + body)
}

/// Serves a caller until it ends, is silent or slow, or sends what cannot be read.
pub(super) fn serve(stream: &UnixStream, service: &dyn Service, load: &Load, build: &str) {
    let incoming = Incoming {
        stream,
        patience: Duration::ZERO,
    };
    let mut incoming = BufReader::with_capacity(AT_ONCE, incoming);
    if let Err(error) = stream.set_write_timeout(Some(SLOW)) {
        debug!("a caller was hung up on: {error}");
        return;
    }
    let mut outgoing = Outgoing {
        stream,
        held: Vec::new(),
    };
    loop {
        match one(&mut outgoing, &mut incoming, service, load, build) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                // What it asked before still has its answer.
                outgoing.send().ok();
                debug!("a caller was hung up on: {error}");
                return;
            }
        }
    }
}

/// Answers one request; false where the caller has ended.
fn one(
    outgoing: &mut Outgoing<'_>,
    incoming: &mut BufReader<Incoming<'_>>,
    service: &dyn Service,
    load: &Load,
    build: &str,
) -> io::Result<bool> {
    incoming.get_mut().wait_up_to(SILENT)?;
    let Some(announced) = frame::lengths(incoming)? else {
        return Ok(false);
    };
    load.touch();
    let (head, body) = announced;
    if incoming.buffer().len() < head + body {
        incoming.get_mut().wait_up_to(SLOW)?;
    }
    let Some(_bytes) = load.bytes(head + body) else {
        outgoing.say(State::Busy, "too many bytes at once")?;
        return Ok(false);
    };
    let (request, body): (Request, _) = frame::rest(incoming, announced)?;
    if request.v != PROTOCOL || (!request.build.is_empty() && request.build != build) {
        outgoing.say(State::OtherBuild, build)?;
        return Ok(true);
    }
    let Some(_event) = load.event() else {
        outgoing.say(State::Busy, "too many events at once")?;
        return Ok(true);
    };
    let mut accept = || outgoing.say(State::Accepted, "").is_ok();
    let reply = match request.op {
        Op::Hook => service.hook(request, &body, &mut accept),
        Op::Respond => {
            let reply = service.respond(&body);
            reply.filter(|_| accept())
        }
        Op::Status => {
            let stdout = service.status(&request.arguments).to_string();
            accept().then_some(Reply {
                stdout,
                ..Reply::nothing()
            })
        }
    };
    load.touch();
    match reply {
        Some(reply) => {
            let done = Done {
                exit: reply.exit_code(),
                stdout: reply.stdout.len(),
            };
            let mut body = reply.stdout.into_bytes();
            body.extend(reply.stderr.into_bytes());
            frame::write(&mut outgoing.held, &done, &body)?;
            if !next_is_here(incoming) {
                outgoing.send()?;
            }
        }
        None => outgoing.say(State::Refused, "it is to be judged where it happens")?,
    }
    Ok(true)
}
