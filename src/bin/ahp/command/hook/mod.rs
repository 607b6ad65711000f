//! ahp hook: what hosts call; one event on stdin, the host's own reply on stdout, exit code 0 or 2 whatever happens.

mod stand_in;

use std::ffi::OsString;
use std::io;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use std::time::Instant;

use ahp::config::Approved;
use ahp::config::Environment;
use ahp::config::Locations;
use ahp::engine::Evaluated;
use ahp::engine::Prepared;
use ahp::engine::block_on;
use ahp::event::Event;
use ahp::host;
use ahp::host::CANARY;
use ahp::host::Host;
use ahp::host::Input;
use ahp::host::MOST_BYTES;
use ahp::host::Queue;
use ahp::host::Reply;
use ahp::process::depth;
use ahp::signal::Signal;
use ahp::verdict::Decision;
use ahp::verdict::Verdict;
use rustix::buffer::spare_capacity;
use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::io::Errno;

use self::stand_in::Progress;
use self::stand_in::Trouble;
use self::stand_in::answer;
use self::stand_in::note;
use crate::project;

/// How many hooks may call `ahp hook` inside of one another: a hook may well start an agent that has hooks.
const MOST_DEPTH: u32 = 3;

/// How long `ahp` takes at most where neither the command line nor the host says more.
const PATIENCE: Duration = Duration::from_secs(24);

/// The size of the stack of the thread that evaluates: scripts and parsers go deep.
const STACK: usize = 16 << 20;

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// The host that calls: `ahp doctor` lists them; without it the payload tells
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// The host's event, for payloads that do not name it
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Answer within so many seconds, before the host gives up
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// What the host gives its hook as arguments; git does
    #[arg(last = true)]
    arguments: Vec<String>,
}

impl Args {
    /// Reads the arguments without clap, for hosts call this on every tool call and wait for it.
    ///
    /// Returns nothing where they ask for something that clap knows better: help, or an option that is none.
    pub(crate) fn read(words: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut words = words.map(|w| w.to_string_lossy().into_owned());
        let mut args = Self::default();
        while let Some(word) = words.next() {
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (word, None),
            };
            if name == "--" {
                args.arguments = words.collect();
                break;
            }
            let value = inline.or_else(|| words.next())?;
            match name.as_str() {
                "--host" => args.host = Some(value),
                "--event" => args.event = Some(value),
                "--timeout" => args.timeout = Some(value.parse().ok()?),
                _ => return None,
            }
        }
        Some(args)
    }
}

/// By when what has to be done.
#[derive(Clone, Copy, Debug)]
struct Deadlines {
    checks: Instant,
    answer: Instant,
}

/// Answers the host.
pub(crate) fn run(args: &Args) -> ExitCode {
    // Whatever a panic would print, a host would take for an answer; it goes to the journal.
    std::panic::set_hook(Box::new(|_| {}));
    let host = args.host.as_deref().and_then(Host::find);
    let patience = patience(args, host);
    let deadlines = Deadlines {
        // What has not judged by then has failed by timeout, as its own `on_error` says …
        checks: Instant::now()
            + patience.saturating_sub((patience / 10).min(Duration::from_secs(1))),
        // … and this is for the case that even that does not help.
        answer: Instant::now() + patience,
    };
    let reply = answer(args, host, |progress| {
        evaluate(args, host, progress, deadlines)
    });
    write(&reply);
    ExitCode::from(reply.exit_code())
}

fn patience(args: &Args, host: Option<&Host>) -> Duration {
    let asked = args.timeout.filter(|s| s.is_finite() && *s > 0.0);
    match (asked, host) {
        (Some(seconds), _) => Duration::from_secs_f64(seconds.min(3600.0)),
        (None, Some(host)) => host.timeout * 4 / 5,
        (None, None) => PATIENCE,
    }
}

fn evaluate(
    args: &Args,
    host: Option<&'static Host>,
    progress: &mut Progress,
    deadlines: Deadlines,
) -> Result<Reply, Trouble> {
    let environment = Environment::of_process();
    let here = Locations::find(&environment, None);
    progress.state_dir.clone_from(&here.state_dir);
    let mut bytes = Vec::new();
    let is_plain = host.is_some_and(|h| h.name == "git");
    if !(is_plain && args.event.as_deref() != Some("pre-push")) {
        bytes = read_event(deadlines.answer)?;
    }
    let decoded = host::decode(&Input {
        bytes: &bytes,
        host,
        event: args.event.as_deref(),
        arguments: &args.arguments,
        work_dir: &here.work_dir,
    });
    let mut decoded = decoded.map_err(|error| Trouble::Event(error.to_string()))?;
    if depth() > MOST_DEPTH {
        progress.decoded = Some(decoded);
        let why = format!("{MOST_DEPTH} hooks have called `ahp hook` inside of one another");
        return Err(Trouble::Event(why));
    }
    if let (Some(name), None) = (&args.host, host) {
        let near =
            Host::nearest(name).map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
        let note = format!(
            "unknown host `{name}`{near}: the payload told that it is {}",
            decoded.host.name
        );
        decoded.notes.push(note);
    }
    let decoded = progress.decoded.insert(decoded).clone();
    // `doctor` is not told of what it has sent itself.
    if decoded.session_id.as_deref() != Some(CANARY) {
        for text in &decoded.notes {
            note(progress, host, args, text);
        }
    }
    let mut verdicts = Vec::new();
    for event in &decoded.events {
        let locations = match &event.work_dir {
            Some(dir) if *dir != here.work_dir => Locations::find(&environment, Some(dir)),
            _ => here.clone(),
        };
        // Wherever the agent has gone meanwhile, the policy of the project that its host works in stays in force; that of
        // the place where it is can only add to it.
        let host_dir = environment.project_dir();
        let of_host = host_dir.map(|dir| Locations::find(&environment, Some(&dir)));
        if let Some(mut of_host) = of_host.filter(|l| l.project_root != locations.project_root) {
            of_host.work_dir.clone_from(&locations.work_dir);
            verdicts.extend(judge(event, of_host, progress, deadlines)?);
        }
        verdicts.extend(judge(event, locations, progress, deadlines)?);
    }
    let queue = here
        .state_dir
        .as_deref()
        .zip(decoded.session_id.as_deref())
        .map(|(dir, session)| Queue::new(dir, decoded.host.name, session));
    Ok(decoded.host.answer(&decoded, verdicts, queue.as_ref()))
}

/// Reads what the host sends, for as long as there is time to answer it.
fn read_event(deadline: Instant) -> Result<Vec<u8>, Trouble> {
    let unreadable = |error: io::Error| Trouble::Event(format!("stdin cannot be read: {error}"));
    let stdin = io::stdin();
    let mut bytes = Vec::with_capacity(8 << 10);
    while bytes.len() <= MOST_BYTES {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok();
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        match rustix::event::poll(&mut ready, left.as_ref()) {
            Ok(0) => {
                return Err(Trouble::Own(
                    "the host did not send its event in time".to_owned(),
                ));
            }
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(unreadable(error.into())),
        }
        bytes.reserve(1);
        match rustix::io::read(&stdin, spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(unreadable(error.into())),
        }
    }
    Ok(bytes)
}

/// Evaluates one event, with the issue events that its command line brings along.
fn judge(
    event: &Event,
    locations: Locations,
    progress: &mut Progress,
    deadlines: Deadlines,
) -> Result<Vec<Verdict>, Trouble> {
    let is_canary = event.session_id.as_deref() == Some(CANARY);
    if !is_canary && !locations.trust_all {
        Approved::keep_first(&locations);
    }
    let mut engine = project::engine(locations).only(event.trigger);
    if is_canary {
        engine = engine.without_log();
    }
    let engine = engine.build().map_err(|e| Trouble::Event(e.to_string()))?;
    let state = engine.state();
    progress.on_error = state.policy().settings().on_error;
    let prepared = engine.prepare(state, event.clone());
    progress.found = prepared.found();
    let evaluated = if prepared.only_computes() {
        block_on(prepared.evaluate(Some(deadlines.checks)))
    } else {
        on_thread(prepared, deadlines)?
    };
    let mut verdicts: Vec<Verdict> = evaluated.into_iter().map(|e| e.verdict).collect();
    if is_canary && let Some(first) = verdicts.first_mut() {
        let canary = Signal::block(
            "canary",
            "this event of `ahp doctor` is to be blocked, and was",
        );
        first.signals.insert(0, canary);
        first.decision = Decision::Block;
    }
    Ok(verdicts)
}

/// Evaluates on a thread of its own, so that a check that hangs does not keep the answer back.
fn on_thread(prepared: Prepared, deadlines: Deadlines) -> Result<Vec<Evaluated>, Trouble> {
    let (done, result) = mpsc::channel();
    let work = move || {
        done.send(block_on(prepared.evaluate(Some(deadlines.checks))))
            .ok();
    };
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(work)
        .map_err(|error| Trouble::Own(format!("no thread could be started: {error}")))?;
    let left = deadlines.answer.saturating_duration_since(Instant::now());
    result.recv_timeout(left).map_err(|error| {
        Trouble::Own(match error {
            RecvTimeoutError::Timeout => "the policy was not evaluated in time".to_owned(),
            RecvTimeoutError::Disconnected => {
                "ahp itself failed; please report it with the event".to_owned()
            }
        })
    })
}

/// Writes the whole reply, or as much as the host still reads.
fn write(reply: &Reply) {
    let mut stdout = io::stdout().lock();
    stdout.write_all(reply.stdout.as_bytes()).ok();
    stdout.flush().ok();
    let mut stderr = io::stderr().lock();
    stderr.write_all(reply.stderr.as_bytes()).ok();
    stderr.flush().ok();
}
