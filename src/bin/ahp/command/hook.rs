//! ahp hook: what hosts call; one event on stdin, the host's own reply on stdout, exit code 0 or 2 whatever happens.

use std::ffi::OsString;
use std::io::Read as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use std::time::Instant;

use ahp::config::OnError;
use ahp::engine::Clock as _;
use ahp::engine::SystemClock;
use ahp::engine::block_on;
use ahp::event::Event;
use ahp::event::Trigger;
use ahp::host;
use ahp::host::CANARY;
use ahp::host::Decoded;
use ahp::host::Host;
use ahp::host::Input;
use ahp::host::Journal;
use ahp::host::MOST_BYTES;
use ahp::host::Moment;
use ahp::host::Queue;
use ahp::host::Reply;
use ahp::signal::Signal;
use ahp::verdict::Decision;
use ahp::verdict::Verdict;

use crate::project;

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

/// What is known so far, for an answer that has to be given before the work is done.
#[derive(Debug, Default)]
struct Progress {
    decoded: Option<Decoded>,
    on_error: Option<OnError>,
    state_dir: Option<PathBuf>,
}

/// By when what has to be done.
#[derive(Clone, Copy, Debug)]
struct Deadlines {
    checks: Instant,
    answer: Instant,
}

type Shared = Arc<Mutex<Progress>>;

/// Answers the host.
pub(crate) fn run(args: &Args) -> ExitCode {
    // Whatever a panic would print, a host would take for an answer; it goes to the journal.
    std::panic::set_hook(Box::new(|_| {}));
    let host = args.host.as_deref().and_then(Host::find);
    let progress = Shared::default();
    let patience = patience(args, host);
    let deadlines = Deadlines {
        // What has not judged by then has failed by timeout, as its own `on_error` says …
        checks: Instant::now()
            + patience.saturating_sub((patience / 10).min(Duration::from_secs(1))),
        // … and this is for the case that even that does not help.
        answer: Instant::now() + patience,
    };
    let reply = answer(args, host, &progress, deadlines);
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

/// Works in a thread of its own, so that neither a panic nor a check that hangs keeps the answer back.
fn answer(
    args: &Args,
    host: Option<&'static Host>,
    progress: &Shared,
    deadlines: Deadlines,
) -> Reply {
    let (done, result) = mpsc::channel();
    let work = {
        let (args, progress) = (args.clone(), Arc::clone(progress));
        move || {
            done.send(evaluate(&args, host, &progress, deadlines.checks))
                .ok();
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    let trouble = match thread {
        Err(error) => format!("no thread could be started: {error}"),
        Ok(_) => {
            match result.recv_timeout(deadlines.answer.saturating_duration_since(Instant::now())) {
                Ok(reply) => return reply,
                Err(RecvTimeoutError::Timeout) => "the policy was not evaluated in time".to_owned(),
                Err(RecvTimeoutError::Disconnected) => {
                    "ahp itself failed; please report it with the event".to_owned()
                }
            }
        }
    };
    let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
    note(&progress, host, args, &trouble);
    fallback(args, host, &progress, &trouble)
}

fn evaluate(
    args: &Args,
    host: Option<&'static Host>,
    progress: &Shared,
    deadline: Instant,
) -> Reply {
    let update = |change: &dyn Fn(&mut Progress)| {
        change(&mut progress.lock().unwrap_or_else(PoisonError::into_inner));
    };
    let here = project::locations(None);
    update(&|p| p.state_dir.clone_from(&here.state_dir));
    let mut bytes = Vec::new();
    let is_plain = host.is_some_and(|h| h.name == "git");
    if !(is_plain && args.event.as_deref() != Some("pre-push")) {
        let limit = MOST_BYTES as u64 + 1;
        let read = std::io::stdin().lock().take(limit).read_to_end(&mut bytes);
        if let Err(error) = read {
            return refuse(
                args,
                host,
                progress,
                &format!("stdin cannot be read: {error}"),
            );
        }
    }
    let decoded = host::decode(&Input {
        bytes: &bytes,
        host,
        event: args.event.as_deref(),
        arguments: &args.arguments,
        work_dir: &here.work_dir,
    });
    let mut decoded = match decoded {
        Ok(decoded) => decoded,
        Err(error) => return refuse(args, host, progress, &error.to_string()),
    };
    if let (Some(name), None) = (&args.host, host) {
        let near =
            Host::nearest(name).map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
        let note = format!(
            "unknown host `{name}`{near}: the payload told that it is {}",
            decoded.host.name
        );
        decoded.notes.push(note);
    }
    update(&|p| p.decoded = Some(decoded.clone()));
    {
        let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        for text in &decoded.notes {
            note(&progress, host, args, text);
        }
    }
    let mut verdicts = Vec::new();
    for event in &decoded.events {
        match judge(event, progress, deadline) {
            Ok(of_event) => verdicts.extend(of_event),
            Err(error) => return refuse(args, host, progress, &error),
        }
    }
    let queue = here
        .state_dir
        .as_deref()
        .zip(decoded.session_id.as_deref())
        .map(|(dir, session)| Queue::new(dir, decoded.host.name, session));
    decoded.host.answer(&decoded, verdicts, queue.as_ref())
}

/// Evaluates one event, with the issue events that its command line brings along.
fn judge(event: &Event, progress: &Shared, deadline: Instant) -> Result<Vec<Verdict>, String> {
    let is_canary = event.session_id.as_deref() == Some(CANARY);
    let locations = project::locations(event.work_dir.as_deref());
    let mut engine = project::engine(locations).only(event.trigger);
    if is_canary {
        engine = engine.without_log();
    }
    let engine = engine.build().map_err(|e| e.to_string())?;
    let on_error = engine.state().policy().settings().on_error;
    progress
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .on_error = Some(on_error);
    let evaluated = block_on(engine.evaluate_all(event.clone(), Some(deadline)));
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

/// Answers input that tells no event that can be judged: what cannot be seen through does not pass.
fn refuse(args: &Args, host: Option<&'static Host>, progress: &Shared, why: &str) -> Reply {
    let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
    note(&progress, host, args, why);
    let decoded = stand_in(args, host, &progress);
    let trigger = decoded.moment.and_then(|m| m.trigger);
    if !trigger.unwrap_or(Trigger::PreToolUse).is_pre() {
        return decoded.host.no_opinion(&decoded.event);
    }
    let signal = Signal::block("bad-event", format!("ahp cannot judge this: {why}")).steps([
        "check the hook's command line in the host's settings: `ahp doctor` does",
        "or take it out with `ahp uninstall`",
    ]);
    say(&decoded, signal)
}

/// Answers in place of an evaluation that has not ended, as `on_error` says.
fn fallback(args: &Args, host: Option<&'static Host>, progress: &Progress, why: &str) -> Reply {
    let decoded = stand_in(args, host, progress);
    match progress.on_error.unwrap_or(OnError::Prompt) {
        OnError::Allow => decoded.host.no_opinion(&decoded.event),
        OnError::Prompt => say(&decoded, Signal::prompt("oracle-error", why)),
        OnError::Block => say(
            &decoded,
            Signal::block("oracle-error", why).steps(["try again", "look at `ahp doctor`"]),
        ),
    }
}

/// Returns what was decoded, or else what the command line alone tells: at worst, that it is about a tool.
fn stand_in(args: &Args, host: Option<&'static Host>, progress: &Progress) -> Decoded {
    if let Some(decoded) = &progress.decoded {
        return decoded.clone();
    }
    let host = host.unwrap_or_else(Host::unknown);
    let named = args.event.as_deref().and_then(|e| host.moment(e));
    let moment = named.or_else(|| host.moments_of(Trigger::PreToolUse).next());
    Decoded {
        host,
        event: moment.map(Moment::name).unwrap_or_default().to_owned(),
        moment,
        session_id: None,
        events: Vec::new(),
        notes: Vec::new(),
    }
}

fn say(decoded: &Decoded, signal: Signal) -> Reply {
    let trigger = decoded.moment.and_then(|m| m.trigger);
    let signals = vec![signal];
    let verdict = Verdict {
        decision: Decision::of(&signals),
        signals,
        ..Verdict::none(trigger.unwrap_or(Trigger::PreToolUse))
    };
    decoded.host.answer(decoded, vec![verdict], None)
}

/// Writes down what was odd, for `ahp doctor`.
fn note(progress: &Progress, host: Option<&Host>, args: &Args, text: &str) {
    if let Some(dir) = &progress.state_dir {
        let host = progress
            .decoded
            .as_ref()
            .map(|d| d.host.name)
            .or(host.map(|h| h.name));
        let event = progress
            .decoded
            .as_ref()
            .map(|d| d.event.as_str())
            .or(args.event.as_deref());
        Journal::new(dir).add(SystemClock.now(), host, event, text);
    }
}

/// Writes the whole reply, or as much as the host still reads.
fn write(reply: &Reply) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(reply.stdout.as_bytes()).ok();
    stdout.flush().ok();
    let mut stderr = std::io::stderr().lock();
    stderr.write_all(reply.stderr.as_bytes()).ok();
    stderr.flush().ok();
}
