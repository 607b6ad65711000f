//! Answer: one event as a host tells it, and the reply in the host's own form; wherever it is judged.

mod past;
mod stand_in;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use ahp::config::{Environment, Locations};
use ahp::engine::{Engine, Evaluated, Prepared, block_on};
use ahp::event::{Event, GitHook, ToolCall, Trigger};
use ahp::host;
use ahp::host::{CANARY, DecodeError, Decoded, HOSTS, Host, Input, Queue, Reply};
use ahp::process::too_deep;
use ahp::session::FirstProject;
use ahp::signal::Signal;
use ahp::verdict::{Decision, Verdict};

pub(crate) use self::past::Past;
pub(crate) use self::stand_in::{Progress, Trouble, reply};

use self::stand_in::note;

/// How long `ahp` takes at most where neither the command line nor the host says more.
const PATIENCE: Duration = Duration::from_secs(24);

/// The size of the stack of the thread that evaluates: scripts and parsers go deep.
pub(crate) const STACK: usize = 16 << 20;

/// The variable in which git tells its hooks the index of the commit that it is making.
pub(crate) const INDEX: &str = "GIT_INDEX_FILE";

/// What a host says on the command line of its hook.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) host: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) arguments: Vec<String>,
    pub(crate) timeout: Option<f64>,
    /// What the caller's environment says of the index of a commit.
    pub(crate) index: Option<PathBuf>,
}

impl Call {
    /// Returns the host that is named, where it is one.
    pub(crate) fn host(&self) -> Option<&'static Host> {
        self.host.as_deref().and_then(Host::find)
    }

    /// Whether the host gives its hook anything on stdin.
    pub(crate) fn has_input(&self) -> bool {
        let is_plain = self.host().is_some_and(|host| host.name == "git");
        !is_plain || self.event.as_deref() == Some("pre-push")
    }
}

/// By when what has to be done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadlines {
    pub(crate) checks: Instant,
    pub(crate) answer: Instant,
}

impl Deadlines {
    /// Returns the deadlines of a call that begins now.
    pub(crate) fn of(call: &Call) -> Self {
        let asked = call.timeout.filter(|s| s.is_finite() && *s > 0.0);
        let patience = match (asked, call.host()) {
            (Some(seconds), _) => Duration::from_secs_f64(seconds.min(3600.0)),
            (None, Some(host)) => host.timeout * 4 / 5,
            (None, None) => PATIENCE,
        };
        Self {
            // What has not judged by then has failed by timeout, as its own `on_error` says …
            checks: Instant::now()
                + patience.saturating_sub((patience / 10).min(Duration::from_secs(1))),
            // … and this is for the case that even that does not help.
            answer: Instant::now() + patience,
        }
    }
}

/// Who judges: a process for one event, one for many, or one outside a shield.
pub(crate) trait Judge {
    /// Finds the project around a directory; around that of the caller where none is given.
    fn locations(&self, dir: Option<&Path>) -> Locations;

    /// Whether the host tells in which project it works, or that is fixed.
    fn tells_project(&self, host: &Host) -> bool;

    /// Returns directories of the projects in which the host works, as far as they can be told and are others than `dir`.
    fn host_dirs(&self, host: &Host, dir: &Path) -> Vec<PathBuf>;

    /// Returns how many hooks stand above the caller.
    fn depth(&self) -> u32;

    /// Returns the engine of a project.
    fn engine(&self, locations: Locations, trigger: Trigger, past: Past) -> Result<Engine, String>;

    /// Says why nothing that has not happened yet may happen here; none where it may.
    fn lost(&self) -> Option<String> {
        None
    }

    /// Is told of what a host has sent, before anything of it is judged or written.
    ///
    /// # Errors
    /// It is to be judged elsewhere.
    fn take(&self, _decoded: &Decoded) -> Result<(), Trouble> {
        Ok(())
    }

    /// Blocks a change of the host's own settings after which it would no longer ask before a tool; its person may make any
    /// other change while the session runs.
    fn settings_changed(&self, decoded: &Decoded) -> Option<Verdict>;

    /// Is told what will be judged, before anything of it is judged or written.
    ///
    /// # Errors
    /// It is to be judged elsewhere.
    fn begin(&self, _event: &Upcoming<'_>) -> Result<(), Trouble> {
        Ok(())
    }
}

/// Returns directories of the projects in which a host works, but for `dir`: the one that it tells its hooks, or the one in which
/// it started this hook, where that has a policy; and those of the hosts inside of which it runs.
pub(crate) fn host_dirs(
    environment: &Environment,
    here: &Locations,
    host: &Host,
    dir: &Path,
) -> Vec<PathBuf> {
    let told = HOSTS.iter().filter_map(|of| environment.project_dir(of));
    let is_told = environment.project_dir(host).is_some();
    // Where both are one, it is not looked whether there is a policy.
    let started = Some(&here.work_dir).filter(|started| !is_told && *started != dir);
    let started = started.filter(|_| here.has_policy()).cloned();
    told.filter(|told| told != dir).chain(started).collect()
}

/// Returns what an event is judged by. Wherever the agent has gone meanwhile, the policies of the project that its host works in
/// and of the one in which the session began stay in force; that of the place where it is can only add to them. Says why one
/// cannot be told.
fn in_force(
    decoded: &Decoded,
    here: &Locations,
    place: Locations,
    judge: &dyn Judge,
) -> (Vec<Locations>, Option<String>) {
    let work_dir = place.work_dir.clone();
    let mut all = vec![place];
    let add = |all: &mut Vec<Locations>, dir: &Path| {
        let mut found = judge.locations(Some(dir));
        if all.iter().all(|l| l.project_root != found.project_root) {
            found.work_dir.clone_from(&work_dir);
            all.push(found);
        }
    };
    for dir in judge.host_dirs(decoded.host, &work_dir) {
        add(&mut all, &dir);
    }
    all.rotate_left(1);
    if judge.tells_project(decoded.host) {
        return (all, None);
    }
    // What the hosts tell inside of which this one runs is told with each event.
    let governed = || {
        let own = all.iter().filter(|l| l.project_root == here.project_root);
        let governed = own.chain(all.last()).find(|l| l.has_policy())?;
        Some(governed.project_root.clone())
    };
    match first_project(decoded, here.state_dir.as_deref(), governed) {
        Ok(first) => {
            if let Some(first) = first.filter(|f| all.iter().all(|l| l.project_root != *f)) {
                add(&mut all, &first);
            }
            (all, None)
        }
        Err(why) => (all, Some(why)),
    }
}

/// Returns the root of the project in which a session began, as it was noted. Where nothing is noted yet, `governed` is.
fn first_project(
    decoded: &Decoded,
    state_dir: Option<&Path>,
    governed: impl FnOnce() -> Option<PathBuf>,
) -> Result<Option<PathBuf>, String> {
    let session = decoded.session_id.as_deref().filter(|id| *id != CANARY);
    let (Some(dir), Some(session)) = (state_dir, session) else {
        return Ok(None);
    };
    let is_missing = |path: &Path| {
        let found = path.symlink_metadata();
        found.is_err_and(|error| {
            matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
        })
    };
    let first = FirstProject::new(dir, decoded.host.name, session);
    let noted = first.root().and_then(|root| {
        if root.is_none()
            && let Some(governed) = governed()
        {
            first.keep(&governed)?;
        }
        // One that is gone governs nothing.
        Ok(root.filter(|root| !is_missing(root)))
    });
    match noted {
        // Without a place for what must outlive a run there is nothing to go by.
        Err(_) if is_missing(dir) => Ok(None),
        noted => noted.map_err(|error| {
            let path = first.path().display();
            format!("`{path}` says in which project the session began, and cannot be used: {error}")
        }),
    }
}

/// What is about to be judged.
pub(crate) struct Upcoming<'a> {
    pub(crate) prepared: &'a Prepared,
    /// Whether nothing else of this call will be judged.
    pub(crate) is_all: bool,
}

/// Judges what a host sent, and returns what the host is to be answered.
pub(crate) fn evaluate(
    call: &Call,
    bytes: &[u8],
    judge: &dyn Judge,
    progress: &mut Progress,
    deadlines: Deadlines,
) -> Result<Reply, Trouble> {
    let host = call.host();
    let here = judge.locations(None);
    progress.happens_at(&here);
    let input = Input {
        bytes,
        host,
        event: call.event.as_deref(),
        arguments: &call.arguments,
        work_dir: &here.work_dir,
    };
    let decoded = host::decode(&input);
    let unknown = match (&call.host, host) {
        (Some(name), None) => Some(Host::unknown_name(name)),
        _ => None,
    };
    let mut decoded = decoded.map_err(|error| {
        unread(&input, &error, &here, judge, progress);
        let why = unknown.iter().map(|unknown| format!("{unknown}; "));
        Trouble::Event(why.chain([error.to_string()]).collect())
    })?;
    if let Some(why) = too_deep(judge.depth()) {
        progress.decoded = Some(Arc::new(decoded));
        return Err(Trouble::Depth(why));
    }
    if let Some(unknown) = unknown {
        let told = decoded.host.name;
        decoded
            .notes
            .push(format!("{unknown}: the payload told that it is {told}"));
    }
    // Git names the index to its own hooks about a commit; what stands in the environment of others is not about theirs.
    if let Some(index) = call.index.as_ref().filter(|_| decoded.host.name == "git") {
        let index = Arc::new(GitHook::Commit(here.work_dir.join(index)));
        for event in &mut decoded.events {
            event.git.get_or_insert_with(|| index.clone());
        }
    }
    let decoded = progress.decoded.insert(Arc::new(decoded)).clone();
    // `doctor` is not told of what it has sent itself.
    if decoded.session_id.as_deref() != Some(CANARY) {
        for text in &decoded.notes {
            note(progress, host, call, text);
        }
    }
    judge.take(&decoded)?;
    let lost = judge.lost();
    let mut verdicts = Vec::new();
    for event in &decoded.events {
        if let Some(why) = lost.as_ref().filter(|_| event.trigger.is_pre()) {
            verdicts.push(Verdict::of(event.trigger, vec![not_held(why)]));
            continue;
        }
        let locations = match &event.work_dir {
            Some(dir) if *dir != here.work_dir => judge.locations(Some(dir)),
            _ => here.clone(),
        };
        let (all, unknown) = in_force(&decoded, &here, locations, judge);
        if let Some(why) = unknown {
            note(progress, host, call, &why);
            verdicts.push(Verdict::of(event.trigger, vec![not_known(event, &why)]));
        }
        let asks = decoded.host_event.filter(|event| event.is_permission);
        let is_all = decoded.events.len() == 1 && all.len() == 1;
        for locations in all {
            verdicts.extend(if let Some(asks) = asks {
                past::asked_about(asks, event, &locations, judge, progress, deadlines)?
            } else {
                let past = (Past::Log, is_all);
                one(event, locations, past, judge, progress, deadlines)?
            });
        }
    }
    if decoded
        .host_event
        .is_some_and(|host_event| host_event.is_settings)
    {
        verdicts.extend(judge.settings_changed(&decoded));
    }
    let decisions = verdicts.iter().map(|verdict| verdict.decision);
    progress.decision = decisions.max();
    let queue = here
        .state_dir
        .as_deref()
        .zip(decoded.session_id.as_deref())
        .map(|(dir, session)| Queue::new(dir, decoded.host.name, session));
    let has_ended = decoded.host.ends_turn(&decoded, &verdicts);
    let reply = decoded.host.answer(&decoded, verdicts, queue.as_ref());
    if has_ended {
        after_stop(&decoded, &here, queue.as_ref(), judge, progress, deadlines);
    }
    Ok(reply)
}

/// Notes that what a tool gave back was not read, so that nobody takes it for nothing.
fn unread(
    input: &Input<'_>,
    error: &DecodeError,
    here: &Locations,
    judge: &dyn Judge,
    progress: &mut Progress,
) {
    let told = host::outline(input);
    let trigger = told.as_ref().and_then(|told| told.host_event?.trigger);
    let is_pre = trigger.is_some_and(Trigger::is_pre);
    // Of what was cut the rest may have told that it is a result.
    if !is_pre || matches!(error, DecodeError::TooLarge) {
        let session = told.as_ref().and_then(|told| told.session_id.as_deref());
        let engine = judge.engine(here.clone(), Trigger::PostToolUse, Past::Log);
        let lost = engine.and_then(|engine| {
            let lost = engine.lose_result(session);
            lost.map_err(|error| error.to_string())
        });
        if let Err(why) = lost {
            tracing::warn!(%why, "a result that cannot be read is not noted");
        }
    }
    // What is to be stopped is answered as the command line says.
    let told = told.filter(|_| trigger.is_some() && !is_pre);
    progress.decoded = told.map(Arc::new);
}

/// Judges what comes after a turn, where the host tells only that the agent wants to stop, and lets it.
///
/// The reply is about the stop: what is said here waits for the next event that can carry it, and what fails holds nobody.
fn after_stop(
    decoded: &Decoded,
    locations: &Locations,
    queue: Option<&Queue>,
    judge: &dyn Judge,
    progress: &mut Progress,
    deadlines: Deadlines,
) {
    for host_event in decoded.host.after_stop() {
        let mut verdicts = Vec::new();
        for event in &decoded.events {
            let mut event = event.clone();
            event.trigger = host_event.trigger.unwrap_or(event.trigger);
            let given = one(
                &event,
                locations.clone(),
                (Past::Log, false),
                judge,
                progress,
                deadlines,
            );
            match given {
                Ok(given) => verdicts.extend(given),
                Err(
                    Trouble::Event(why)
                    | Trouble::Depth(why)
                    | Trouble::Own(why)
                    | Trouble::NoJudge(why),
                ) => {
                    tracing::warn!(%why, "what comes after the turn was not judged");
                    return;
                }
                Err(Trouble::Elsewhere) => return,
            }
        }
        let decoded = Decoded {
            host_event: Some(host_event),
            ..Decoded::clone(decoded)
        };
        decoded.host.answer(&decoded, verdicts, queue);
    }
}

/// Evaluates one event, with the issue events that its command line brings along.
fn one(
    event: &Event,
    locations: Locations,
    (past, is_all): (Past, bool),
    judge: &dyn Judge,
    progress: &mut Progress,
    deadlines: Deadlines,
) -> Result<Vec<Verdict>, Trouble> {
    let is_canary = host::is_canary(event);
    let engine = judge
        .engine(locations, event.trigger, Past::of(event, past))
        .map_err(Trouble::Event)?;
    let state = engine.state();
    if !is_canary {
        engine.keep_first(&state);
    }
    progress.on_error = state.policy().settings().on_error;
    let mut judged = event.clone();
    judged.depth = judge.depth();
    let prepared = engine.prepare(state, judged);
    progress.found = prepared.found();
    judge.begin(&Upcoming {
        prepared: &prepared,
        is_all: is_all && !is_canary,
    })?;
    let is_long = event.tool.as_ref().is_some_and(ToolCall::is_long);
    let evaluated = if prepared.only_computes() && !is_long {
        block_on(prepared.evaluate(Some(deadlines.checks)))
    } else {
        on_thread(prepared, deadlines)?
    };
    let mut verdicts: Vec<Verdict> = evaluated.into_iter().map(|e| e.verdict).collect();
    // What the policy stops it has to stop itself; a call of nothing but the canary tells whether the wire holds.
    let host = event.host.as_deref().and_then(Host::find);
    let has_call = host.is_some_and(|host| host.shell_call(Path::new(""), "", "").is_some());
    // So does one that a real client asks about, in a session of its own.
    let is_of_client = event.session_id.as_deref() != Some(CANARY);
    let is_wire_test = !has_call
        || is_of_client
        || event.tool.as_ref().is_none_or(|call| {
            let input = call.input.to_string();
            input.contains(&format!("\"{CANARY}\""))
        });
    if is_canary
        && let Some(first) = verdicts.first_mut()
        && (is_wire_test || first.decision == Decision::Block)
    {
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

/// What is said where the project in which the session began cannot be told: what it may have against an event is not known.
fn not_known(event: &Event, why: &str) -> Signal {
    // Nobody counts how often an agent is kept from stopping.
    let signal = if event.trigger.is_pre() && event.trigger != Trigger::PreAgentTurnStop {
        Signal::block("first-project", why)
    } else {
        Signal::prompt("first-project", why)
    };
    signal.steps([
        "make the folder readable and writable for you alone",
        "or remove the file, and start a new session in the project",
    ])
}

/// What stands for every event of a shield that does not hold any more.
pub(crate) fn not_held(why: &str) -> Signal {
    Signal::block("shield", why).steps(["end this session", "start `ahp shield` again"])
}
