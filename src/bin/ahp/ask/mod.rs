//! Ask: a judge that listens on a socket is asked, inside a shield the one outside it.

pub(crate) mod bounded;
pub(crate) mod frame;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use ahp::config::Environment;
use ahp::event::Event;
use ahp::host::Reply;
use ahp::process::{DEPTH, depth};
use ahp::shield::{INSIDE, MARKER};
use ahp::signal::Signal;
use ahp::verdict::Verdict;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::bounded::Bounded;
use crate::answer::{Call, Deadlines, INDEX};
use crate::debug;

/// The version of the protocol.
pub(crate) const PROTOCOL: u32 = 1;

/// How long a judge may take to say that it judges.
const ACCEPTED_WITHIN: Duration = Duration::from_millis(250);

/// The same inside a shield, where nobody else can judge.
const ACCEPTED_INSIDE: Duration = Duration::from_secs(10);

/// What a question about the log is called, and its answer.
pub(crate) const LOG: &str = "log";

/// What the question is called whether an agent may begin, and its answer.
pub(crate) const BEGIN: &str = "begin";

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Op {
    /// To judge the event in the body.
    Hook,
    /// How the judge is.
    Status,
    /// To record the answer in the body; only inside a shield.
    Respond,
}

/// The head of a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) v: u32,
    pub(crate) build: String,
    pub(crate) op: Op,
    #[serde(default)]
    pub(crate) host: Option<String>,
    #[serde(default)]
    pub(crate) event: Option<String>,
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    pub(crate) cwd: PathBuf,
    #[serde(default)]
    pub(crate) timeout_ms: Option<u64>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

impl Request {
    /// Returns what the caller's host said on its command line.
    pub(crate) fn call(&self) -> Call {
        let left = self.timeout_ms.map(Duration::from_millis);
        Call {
            host: self.host.clone(),
            event: self.event.clone(),
            arguments: self.arguments.clone(),
            timeout: left.map(|left| left.as_secs_f64()),
            index: self.env.get(INDEX).map(PathBuf::from),
        }
    }
}

/// What a judge says before it judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    /// It judges.
    Accepted,
    /// It has too much to do.
    Busy,
    /// It is of another build than the caller.
    OtherBuild,
    /// It does not judge this: the caller is to do so.
    Refused,
}

/// The head of the first answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct First {
    pub(crate) v: u32,
    pub(crate) state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

/// The head of the second answer; its body is what stdout gets, then what stderr gets.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) exit: u8,
    pub(crate) stdout: usize,
}

/// What lies at [`MARKER`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Marker {
    pub(crate) v: u32,
    pub(crate) socket: PathBuf,
    pub(crate) id: String,
}

/// What became of asking.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The reply.
    Answer(Reply),
    /// Nobody judges it: the caller does.
    Nobody,
    /// It was taken, and was not answered in time.
    TooLate,
    /// This is the inside of a shield, and its judge does not answer.
    Shielded(String),
}

/// Why nothing was judged, as what the judge does in place of it.
#[derive(Debug, thiserror::Error)]
enum Silence {
    #[error("does not answer ({0})")]
    Not(String),
    #[error("is of another version ({0}; this is {own})", own = build())]
    OtherBuild(String),
    #[error("does not judge this ({0})")]
    Refused(String),
    #[error("does not answer in time")]
    TooLate,
}

/// Says what a program of this very build would say.
pub(crate) fn build() -> String {
    let changed = fs::metadata("/proc/self/exe")
        .or_else(|_| fs::metadata(std::env::current_exe()?))
        .and_then(|meta| meta.modified());
    let changed = changed
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_nanos());
    format!("{}+{changed:x}", env!("CARGO_PKG_VERSION"))
}

/// Returns where the judge of a person listens.
pub(crate) fn socket_path(environment: &Environment) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = environment.get(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    if let Some(dir) = environment.runtime_dir() {
        return Some(dir.join("ahp/serve.sock"));
    }
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Some(state?.join("ahp/run/serve.sock"))
}

/// Reads whether this is the inside of a shield; an error where it is, and says no more.
pub(crate) fn shield() -> Option<Result<Marker, String>> {
    let text = match fs::read(MARKER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        text => text,
    };
    let marker = text.and_then(|text| Ok(serde_json::from_slice(&text)?));
    Some(marker.map_err(|error| format!("`{MARKER}` cannot be read: {error}")))
}

/// Asks whoever listens to judge an event.
pub(crate) fn judge(
    environment: &Environment,
    call: &Call,
    bytes: &[u8],
    deadline: Instant,
) -> Asked {
    let mut request = Request {
        v: PROTOCOL,
        build: String::new(),
        op: Op::Hook,
        host: call.host.clone(),
        event: call.event.clone(),
        arguments: call.arguments.clone(),
        cwd: environment.current_dir().to_owned(),
        timeout_ms: u64::try_from(
            deadline
                .saturating_duration_since(Instant::now())
                .as_millis(),
        )
        .ok(),
        env: BTreeMap::new(),
    };
    if let Some(marker) = shield() {
        let asked = marker.and_then(|marker| {
            // What a shield's judge is told of the environment it does not believe, but for this.
            request.env.insert(DEPTH.to_owned(), depth().to_string());
            let index = call.index.as_ref().and_then(|index| index.to_str());
            request
                .env
                .extend(index.map(|index| (INDEX.to_owned(), index.to_owned())));
            ask(
                &marker.socket,
                &mut request,
                bytes,
                ACCEPTED_INSIDE,
                deadline,
            )
            .map_err(|silence| silence.to_string())
        });
        return match asked {
            Ok(reply) => Asked::Answer(reply),
            Err(why) => Asked::Shielded(format!(
                "the judge outside the shield {why}; start `ahp shield` again"
            )),
        };
    }
    // A hook's own hooks are judged where their programs run, and what they do is told where somebody looks.
    let is_here = depth() > 0 || debug::is_on();
    let Some(path) = socket_path(environment).filter(|_| !is_here) else {
        return Asked::Nobody;
    };
    if !path.exists() || environment.get("AHP_SERVE") == Some("off") {
        return Asked::Nobody;
    }
    for (name, value) in environment.variables() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
            return Asked::Nobody;
        };
        request.env.insert(name.to_owned(), value.to_owned());
    }
    match ask(&path, &mut request, bytes, ACCEPTED_WITHIN, deadline) {
        Ok(reply) => Asked::Answer(reply),
        Err(Silence::TooLate) => Asked::TooLate,
        Err(_) => Asked::Nobody,
    }
}

/// Has the judge outside the shield judge and log an event that a command of ours is about to let happen; none outside a shield.
pub(crate) fn verdict(event: &Event) -> Option<Verdict> {
    let _marker = shield()?;
    let call = Call {
        host: Some("native".to_owned()),
        ..Call::default()
    };
    let deadline = Deadlines::of(&call).answer;
    let asked = serde_json::to_vec(event).map_err(|error| error.to_string());
    let asked = asked.map(|bytes| judge(&Environment::of_process(), &call, &bytes, deadline));
    let why = match asked {
        Ok(Asked::Answer(reply)) => match serde_json::from_str(&reply.stdout) {
            Ok(verdict) => return Some(verdict),
            Err(error) => error.to_string(),
        },
        Ok(Asked::Nobody | Asked::TooLate) => "the judge does not answer".to_owned(),
        Ok(Asked::Shielded(why)) | Err(why) => why,
    };
    let mut verdict = Verdict::of(event.trigger, Vec::new());
    if event.trigger.is_pre() {
        let signal = Signal::block("ahp", why).unresolvable();
        verdict = Verdict::of(event.trigger, vec![signal]);
    } else {
        verdict.warnings.push(why);
    }
    Some(verdict)
}

/// Asks the judge outside the shield to record an answer; none outside a shield.
pub(crate) fn respond(answer: &Value) -> Option<Result<Reply, String>> {
    let marker = shield()?;
    let body = answer.to_string();
    Some(marker.and_then(|marker| {
        let deadline = Instant::now() + ACCEPTED_INSIDE;
        let mut request = plain(Op::Respond);
        ask(
            &marker.socket,
            &mut request,
            body.as_bytes(),
            ACCEPTED_INSIDE,
            deadline,
        )
        .map_err(|silence| format!("the judge outside the shield {silence}"))
    }))
}

/// Asks a judge how it is; an error where it does not say, as what it does in place of it.
pub(crate) fn status(socket: &Path) -> Result<Value, String> {
    told(socket, plain(Op::Status))
}

/// Asks the judge outside the shield what the chain of its log comes to; none outside a shield.
pub(crate) fn log<T: DeserializeOwned>() -> Option<Result<T, String>> {
    let marker = shield()?;
    Some(marker.and_then(|marker| {
        let mut request = plain(Op::Status);
        request.arguments.push(LOG.to_owned());
        let told = told(&marker.socket, request);
        let mut told = told.map_err(|why| format!("the judge outside the shield {why}"))?;
        let log = told.get_mut(LOG).map(Value::take).unwrap_or_default();
        serde_json::from_value(log).unwrap_or_else(|error| Err(error.to_string()))
    }))
}

/// Asks the judge outside whether the agent may begin in a shield that has just been mounted.
pub(crate) fn begin() -> Result<bool, String> {
    let marker = shield().ok_or("this is not the inside of a shield")??;
    let mut request = plain(Op::Status);
    request.arguments.push(BEGIN.to_owned());
    let told = told_within(&marker.socket, request, ACCEPTED_INSIDE)
        .map_err(|silence| format!("the judge outside the shield {silence}"))?;
    Ok(told.get(BEGIN) == Some(&Value::Bool(true)))
}

fn told(socket: &Path, request: Request) -> Result<Value, String> {
    told_within(socket, request, ACCEPTED_WITHIN)
}

fn told_within(socket: &Path, mut request: Request, accepted: Duration) -> Result<Value, String> {
    let deadline = Instant::now() + ACCEPTED_INSIDE;
    let reply = ask(socket, &mut request, b"", accepted, deadline);
    match reply {
        Ok(reply) => serde_json::from_str(&reply.stdout).map_err(|error| error.to_string()),
        Err(silence) => Err(silence.to_string()),
    }
}

fn plain(op: Op) -> Request {
    Request {
        v: PROTOCOL,
        build: String::new(),
        op,
        host: None,
        event: None,
        arguments: Vec::new(),
        cwd: PathBuf::new(),
        timeout_ms: None,
        env: BTreeMap::new(),
    }
}

fn ask(
    socket: &Path,
    request: &mut Request,
    body: &[u8],
    accepted: Duration,
    deadline: Instant,
) -> Result<Reply, Silence> {
    let not = |error: io::Error| Silence::Not(error.to_string());
    request.build = build();
    let connected = connect(socket).map_err(not)?;
    let mut stream = Bounded::new(&connected, deadline.min(Instant::now() + accepted));
    frame::write(&mut stream, request, body).map_err(not)?;
    let (first, _): (First, _) = read(&mut stream).map_err(not)?;
    if first.state != State::Accepted {
        let why = first.why.unwrap_or_default();
        return Err(match first.state {
            State::OtherBuild => Silence::OtherBuild(why),
            _ => Silence::Refused(why),
        });
    }
    stream.wait_until(deadline);
    let (done, mut stdout): (Done, _) = read(&mut stream).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Silence::TooLate,
        _ => not(error),
    })?;
    if done.stdout > stdout.len() || !matches!(done.exit, 0 | 2) {
        return Err(Silence::Not("the answer is malformed".to_owned()));
    }
    let stderr = stdout.split_off(done.stdout);
    let text = |bytes| String::from_utf8(bytes).map_err(|e| Silence::Not(e.to_string()));
    Ok(Reply {
        stdout: text(stdout)?,
        stderr: text(stderr)?,
        blocks: done.exit == 2,
    })
}

fn read<H: DeserializeOwned>(stream: &mut Bounded<'_>) -> io::Result<(H, Vec<u8>)> {
    let announced = frame::lengths(stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    frame::rest(stream, announced)
}

/// Connects to a judge of the same person; does not wait where it takes nobody in.
fn connect(path: &Path) -> io::Result<UnixStream> {
    let stream = start(path)?;
    // Who is outside of a shield cannot be told by its process; what leads there cannot be made inside.
    if path.starts_with(INSIDE) || is_ours(&stream) {
        return Ok(stream);
    }
    Err(io::Error::other("it is another user's"))
}

#[cfg(target_os = "linux")]
fn start(path: &Path) -> io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
    let address = SocketAddrUnix::new(path)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let kind = SocketType::STREAM;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)?;
    rustix::net::connect(&socket, &address)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(not(target_os = "linux"))]
fn start(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(path)
}

/// Whether the other end is a process of the same user. Where the system does not tell, the directory of the socket, which
/// nobody else can enter, does.
pub(crate) fn is_ours(stream: &UnixStream) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::net::sockopt::socket_peercred(stream)
        .is_ok_and(|peer| peer.uid == rustix::process::getuid());
    #[cfg(not(target_os = "linux"))]
    stream.peer_addr().is_ok()
}
