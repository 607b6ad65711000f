//! Connection: the requests of one caller, one after the other.

use std::io;
use std::io::{BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use ahp::host::Reply;
use tracing::debug;

use super::{Load, Service};
use crate::ask::bounded::Bounded;
use crate::ask::frame;
use crate::ask::{Done, First, Op, PROTOCOL, Request, State};

/// How long a caller may be silent between two requests.
const SILENT: Duration = Duration::from_mins(10);

/// How long the rest of a request may take once it has begun, and an answer to be read.
const SLOW: Duration = Duration::from_secs(5);

/// How many bytes are taken in at once: most events come whole so.
const AT_ONCE: usize = 16 << 10;

/// What goes to a caller.
///
/// An answer is held back while the next request has already come whole, and goes out with the first word about that one:
/// who asks many times before it reads is woken half as often.
struct Outgoing<'a> {
    stream: Bounded<'a>,
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
        self.stream.wait_until(Instant::now() + SLOW);
        let sent = self.stream.write_all(&self.held);
        self.held.clear();
        sent
    }
}

/// Whether the next request lies whole in what was taken in.
fn next_is_here(incoming: &BufReader<Bounded<'_>>) -> bool {
    let mut buffer = incoming.buffer();
    let announced = frame::lengths(&mut buffer).ok().flatten();
    announced.is_some_and(|(head, body)| buffer.len() >= head + body)
}

/// Serves a caller until it ends, is silent or slow, or sends what cannot be read.
pub(super) fn serve(stream: &UnixStream, service: &dyn Service, load: &Load, build: &str) {
    let bounded = || Bounded::new(stream, Instant::now() + SILENT);
    let mut incoming = BufReader::with_capacity(AT_ONCE, bounded());
    let mut outgoing = Outgoing {
        stream: bounded(),
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
    incoming: &mut BufReader<Bounded<'_>>,
    service: &dyn Service,
    load: &Load,
    build: &str,
) -> io::Result<bool> {
    incoming.get_mut().wait_until(Instant::now() + SILENT);
    let Some(announced) = frame::lengths(incoming)? else {
        return Ok(false);
    };
    load.touch();
    let (head, body) = announced;
    if incoming.buffer().len() < head + body {
        incoming.get_mut().wait_until(Instant::now() + SLOW);
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
