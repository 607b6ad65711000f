//! Outside: the judge of one shield: one project, the environment in which the shield was started, and programs that run in a
//! shield of the same plan.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ahp::config::{Environment, Locations};
use ahp::engine::{Engine, EngineBuilder};
use ahp::event::Trigger;
use ahp::host::{Decoded, Host, Reply};
use ahp::process::DEPTH;
use ahp::signal::{Action, Actor};
use ahp::signal_log::Answer;
use ahp::verdict::Verdict;
use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::start::Gate;
use super::world::World;
use crate::answer::{self, Deadlines, Judge, Past};
use crate::ask::{self, Request};
use crate::command::hook::settings_changed;
use crate::daemon::Service;
use crate::daemon::engines::Engines;
use crate::log_file;
use crate::output;

#[derive(Debug)]
pub(super) struct Outside {
    id: String,
    here: Locations,
    engines: Engines,
    kept: Vec<Kept>,
    gate: Arc<Gate>,
}

/// What a path leads to: a device, and a number on it.
type Inode = (u64, u64);

fn inode(path: &Path) -> Option<Inode> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// How a place is opened that is only to be kept.
#[cfg(target_os = "linux")]
const ONLY_KEPT: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ONLY_KEPT: OFlags = OFlags::NONBLOCK;

/// A place that is held or hidden, as it was at the start.
#[derive(Debug)]
struct Kept {
    path: PathBuf,
    at: Option<Inode>,
    /// The number of what is removed is given out again at once, unless it is still open.
    _open: Option<OwnedFd>,
}

impl Kept {
    fn new(path: &Path) -> Self {
        let flags = ONLY_KEPT | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Self {
            path: path.to_owned(),
            _open: rustix::fs::open(path, flags, Mode::empty()).ok(),
            at: inode(path),
        }
    }
}

/// Begins an engine: what is to go on while the agent does is done on a thread of this process, whose programs are held.
fn engine(locations: Locations) -> EngineBuilder {
    Engine::builder().locations(locations)
}

impl Outside {
    /// Notes what is held and hidden, as it is at the start.
    pub(super) fn new(world: &World, id: String, gate: Arc<Gate>) -> Self {
        let kept = world.plan.kept();
        Self {
            id,
            here: world.here.clone(),
            engines: Engines::new(engine),
            kept: kept.map(Kept::new).collect(),
            gate,
        }
    }

    /// Says what is not held or hidden any more: a mount goes away with the thing that it was made on.
    fn lost(&self) -> Option<String> {
        let gone = self.kept.iter().find(|kept| inode(&kept.path) != kept.at);
        let told = gone.map(|Kept { path, .. }| {
            format!(
                "`{}` was replaced from outside and is no longer held or hidden; start `ahp shield` again",
                path.display()
            )
        });
        told.or_else(|| match self.gate.plan().mounted_since() {
            Ok(mounted) => mounted.map(|path| {
                format!(
                    "something was mounted at `{}` from outside, and can be written; unmount it, or start `ahp shield` again",
                    path.display()
                )
            }),
            Err(error) => Some(format!("what is mounted now cannot be told: {error}")),
        })
    }

    fn record(&self, body: &[u8]) -> Result<String, String> {
        #[derive(Deserialize)]
        struct Told {
            signal: String,
            action: Action,
            #[serde(default)]
            details: Map<String, Value>,
        }
        let told: Told = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let answer = Answer {
            action: told.action,
            details: told.details,
            // Whoever asks from inside is the agent.
            by: Actor::Agent,
        };
        let responses = log_file::answer(&self.here, &told.signal, answer)?;
        serde_json::to_string(&responses).map_err(|error| error.to_string())
    }
}

/// One request.
struct Event<'a> {
    outside: &'a Outside,
    work_dir: PathBuf,
    depth: u32,
}

impl Judge for Event<'_> {
    fn locations(&self, dir: Option<&Path>) -> Locations {
        Locations {
            work_dir: dir.unwrap_or(&self.work_dir).to_owned(),
            ..self.outside.here.clone()
        }
    }

    fn tells_project(&self, _: &Host) -> bool {
        true
    }

    fn host_dirs(&self, _: &Host, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    fn engine(&self, locations: Locations, _: Trigger, past: Past) -> Result<Engine, String> {
        self.outside.engines.logged(locations, past)
    }

    fn lost(&self) -> Option<String> {
        self.outside.lost()
    }

    fn settings_changed(&self, decoded: &Decoded) -> Option<Verdict> {
        settings_changed(
            &Environment::of_process(),
            &self.outside.here,
            decoded,
            None,
        )
    }
}

impl Service for Outside {
    fn hook(
        &self,
        request: Request,
        body: &[u8],
        accept: &mut dyn FnMut() -> bool,
    ) -> Option<Reply> {
        if !accept() {
            return None;
        }
        let call = request.call();
        let event = Event {
            outside: self,
            work_dir: self.here.project_root.join(request.cwd),
            // It can only be told deeper than it is, and is then blocked.
            depth: request
                .env
                .get(DEPTH)
                .and_then(|depth| depth.parse().ok())
                .unwrap_or(0),
        };
        let deadlines = Deadlines::of(&call);
        Some(answer::reply(&call, |progress| {
            answer::evaluate(&call, body, &event, progress, deadlines)
        }))
    }

    fn respond(&self, body: &[u8]) -> Option<Reply> {
        Some(match self.record(body) {
            Ok(stdout) => Reply {
                stdout,
                ..Reply::nothing()
            },
            Err(stderr) => Reply {
                stderr,
                ..Reply::nothing()
            },
        })
    }

    fn status(&self, arguments: &[String]) -> Value {
        let mut told =
            json!({"shield": self.id, "lost": self.lost(), "engines": self.engines.status()});
        let is_asked = |name: &str| arguments.iter().any(|word| word == name);
        if is_asked(ask::BEGIN) {
            output::put(&mut told, ask::BEGIN, self.gate.begin());
        }
        // The key that tells is hidden inside.
        if is_asked(ask::LOG) {
            let log = serde_json::to_value(log_file::check(&self.here));
            let log = log.unwrap_or_else(|error| json!({"Err": error.to_string()}));
            output::put(&mut told, ask::LOG, log);
        }
        told
    }
}
