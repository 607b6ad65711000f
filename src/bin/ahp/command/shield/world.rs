//! World: what a shield is made of here: the project, its policy, the plan, and the files that the shield needs.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use ahp::config::{Config, Environment, Locations, ShieldSettings};
use ahp::engine::log_place;
use ahp::host::Host;
use ahp::process::{Enclosed, Program};
use ahp::session::SESSIONS;
use ahp::shield::{
    INSIDE, Inside, Obstacle, Plan, Request, Traces, bubblewrap, filter_bytes, own_sockets,
    start_script, sweep,
};

use serde_json::Value;

use super::Args;
use super::signals::Signals;
use super::start::{NotMade, made};
use crate::ask::{self, Marker, PROTOCOL};
use crate::daemon::socket::{Socket, own_directory};
use crate::daemon::token::Token;
use crate::project;

/// The first version of Landlock that knows scopes.
const SCOPES: u32 = 6;

/// The name of the judge's socket.
const SOCKET: &str = "judge.sock";

/// What a shield is made of.
#[derive(Debug)]
pub(super) struct World {
    pub(super) plan: Plan,
    /// The project around, as it is while the shield lasts.
    pub(super) here: Locations,
    /// What stands in for what is missing; none where nothing is to be started.
    traces: Option<Traces>,
    /// Where what only this shield needs lies.
    cache: PathBuf,
    /// The project's name for files that are kept elsewhere.
    name: String,
    /// This program.
    pub(super) program: PathBuf,
}

impl World {
    /// Looks at the project around, and plans.
    pub(super) fn find(args: &Args, signals: &Signals) -> Result<Self, String> {
        let environment = Environment::of_process();
        let mut here = Locations::find(&environment, None);
        // The kernel knows a place by where it really lies.
        for path in [&mut here.project_root, &mut here.work_dir] {
            *path = path
                .canonicalize()
                .map_err(|error| format!("`{}`: {error}", path.display()))?;
        }
        let engine = project::quiet_engine(here.clone())?;
        let state = engine.state();
        let settings = state.policy().settings();
        let said = with_arguments(&settings.shield, args, &here.work_dir);
        let program = std::env::current_exe()
            .and_then(|path| path.canonicalize())
            .map_err(|error| format!("where is this program? {error}"))?;
        let host = args.command.first().and_then(|word| {
            let name = Path::new(word).file_name()?.to_str()?;
            Host::agent_of(name)
        });
        let log = log_place(&here, &Config::load(&here).config).map_err(|fault| fault.message)?;
        let missing = |what| format!("where {what} is kept is not known: set HOME");
        let state_dir = here.state_dir.clone().ok_or_else(|| missing("state"))?;
        let cache = here.cache_dir.as_ref().ok_or_else(|| missing("a cache"))?;
        if !args.dry_run {
            // Only what is there can be hidden: a token that is made later would be seen. The key of the log is there already.
            Token::of(&state_dir)?;
            for dir in own_sockets(&here.roots()) {
                // Where it cannot be made, nothing will listen there.
                own_directory(&dir).ok();
            }
            private(&cache.join("shield"))?;
            private(&state_dir.join(SESSIONS))?;
        }
        let name = here.project_name();
        // Before the plan: what it sees must still be there when it is mounted.
        let traces = if args.dry_run {
            None
        } else {
            let begun = Traces::begin(&state_dir, &name, &|| signals.stopped().is_some());
            Some(begun.map_err(|error| format!("what is held cannot be prepared: {error}"))?)
        };
        let plan = Plan::make(&Request {
            locations: &here,
            guards: state.guards(),
            log: &log,
            host,
            settings: &said,
            program: &program,
            environment: &environment,
            is_root: rustix::process::getuid().is_root(),
        })
        .map_err(|error| error.to_string())?;
        Ok(Self {
            // By the digest alone: the address of a socket takes no long path.
            cache: cache
                .join("shield")
                .join(name.rsplit('-').next().unwrap_or(&name)),
            plan,
            traces,
            name,
            program,
            here,
        })
    }

    /// Makes what the plan misses; it is taken away again with this world.
    pub(super) fn prepare(&self, signals: &Signals) -> Result<(), String> {
        let mut traces = self.traces.iter();
        traces
            .try_for_each(|traces| traces.make(&self.plan.missing, &|| signals.stopped().is_some()))
            .map_err(|error| format!("what is held cannot be prepared: {error}"))
    }

    /// Makes the files of one shield; what killed ones left is taken away first.
    pub(super) fn run_files(&self) -> Result<(RunFiles, Socket), String> {
        let cannot = |error: io::Error| format!("`{}`: {error}", self.cache.display());
        private(&self.cache)?;
        for dir in fs::read_dir(&self.cache).map_err(cannot)?.flatten() {
            let lock = File::open(dir.path().join("lock"));
            if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
                remove(&dir.path()).ok();
            }
        }
        for dir in &self.plan.private {
            private(dir)?;
        }
        let id = format!("{}-{:x}", self.name, std::process::id());
        let dir = self.cache.join(format!("{:x}", std::process::id()));
        own_directory(&dir)?;
        let lock = File::create(dir.join("lock")).map_err(cannot)?;
        lock.try_lock().map_err(|error| error.to_string())?;
        for name in ["folders", "in", "tmp", "tmp/.runtime", "var-tmp"] {
            private(&dir.join(name))?;
        }
        fs::write(dir.join("filter"), filter_bytes()).map_err(cannot)?;
        fs::write(dir.join("empty"), b"").map_err(cannot)?;
        let exclude = self.plan.exclude.as_ref().map(|(_, lines)| lines.as_str());
        fs::write(dir.join("exclude"), exclude.unwrap_or_default()).map_err(cannot)?;
        let marker = Marker {
            v: PROTOCOL,
            socket: Path::new(INSIDE).join(SOCKET),
            id: id.clone(),
        };
        let text = serde_json::to_vec(&marker).map_err(|error| error.to_string())?;
        fs::write(dir.join("in/shield.json"), text).map_err(cannot)?;
        let socket = Socket::listen(&dir.join("in").join(SOCKET), "XDG_CACHE_HOME")?;
        let run = RunFiles {
            dir: Removed(dir),
            id,
            _lock: lock,
        };
        Ok((run, socket))
    }
}

/// Makes a directory that nobody else enters.
fn private(dir: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| format!("`{}`: {error}", dir.display()))
}

/// Puts what the command line says beside what the person's layers say.
fn with_arguments(settings: &ShieldSettings, args: &Args, dir: &Path) -> ShieldSettings {
    let mut said = settings.clone();
    said.write
        .extend(args.write.iter().map(|path| dir.join(path)));
    let sockets = args.socket.iter().map(|path| {
        if path.as_os_str() == "ssh-agent" {
            path.clone()
        } else {
            dir.join(path)
        }
    });
    said.sockets.extend(sockets);
    said.network &= !args.no_network;
    said
}

/// What one shield needs on the disk, for as long as it lasts.
#[derive(Debug)]
pub(super) struct RunFiles {
    pub(super) id: String,
    dir: Removed,
    _lock: File,
}

/// A directory that is removed in the end.
#[derive(Debug)]
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        remove(&self.0).ok();
    }
}

/// Removes a directory with all that is in it; whoever ran inside may have closed parts of it.
fn remove(dir: &Path) -> io::Result<()> {
    let removed = fs::remove_dir_all(dir);
    if !matches!(&removed, Err(error) if error.kind() == io::ErrorKind::PermissionDenied) {
        return removed;
    }
    let mut waiting = vec![dir.to_owned()];
    while let Some(dir) = waiting.pop() {
        fs::set_permissions(&dir, Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&dir)?.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
    fs::remove_dir_all(dir)
}

impl RunFiles {
    /// Returns where the folders are made that programs of the judge are given.
    pub(super) fn folders(&self) -> PathBuf {
        self.dir.0.join("folders")
    }

    /// Returns how something is started in the shield: the agent, and each program of its judge.
    pub(super) fn starter(&self, bubblewrap: &Path, program: &Path) -> Starter {
        Starter {
            dir: self.dir.0.clone(),
            bubblewrap: bubblewrap.to_owned(),
            program: program.display().to_string(),
        }
    }
}

/// What is started in a shield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// The agent, which begins only when the judge says that all is covered.
    Agent,
    /// What it is tried out with, and the programs of the judge.
    Other,
}

/// How something is started in a shield.
#[derive(Clone, Debug)]
pub(super) struct Starter {
    dir: PathBuf,
    bubblewrap: PathBuf,
    program: String,
}

impl Starter {
    /// Returns the command line by which a command is started as a plan says.
    pub(super) fn argv(&self, plan: &Plan, enclosed: &Enclosed<'_>, first: First) -> Vec<String> {
        let mut arguments = plan.arguments(&Inside {
            shown: &self.dir.join("in"),
            empty: &self.dir.join("empty"),
            exclude: &self.dir.join("exclude"),
            tmp: &self.dir.join("tmp"),
            var_tmp: &self.dir.join("var-tmp"),
            folder: enclosed.folder,
        });
        if let Some(dir) = enclosed.dir {
            arguments.extend(["--chdir".to_owned(), dir.display().to_string()]);
        }
        arguments.extend(["--", &self.program, "shield-inner"].map(str::to_owned));
        if first == First::Agent {
            arguments.push("--agent".to_owned());
        }
        arguments.push("--".to_owned());
        arguments.extend_from_slice(enclosed.argv);
        start_script(&self.dir.join("filter"), &self.bubblewrap, arguments)
    }

    /// Tries out whether the kernel makes such a shield.
    pub(super) fn try_out(&self, plan: &Plan, dir: &Path) -> Result<(), String> {
        made(plan, |plan| {
            let argv = self.argv(plan, &alone(&["/bin/true".to_owned()]), First::Other);
            Obstacle::try_out(argv, dir).map_err(|why| NotMade::because(&why))
        })
    }
}

/// A command line as it is.
const fn alone(argv: &[String]) -> Enclosed<'_> {
    Enclosed {
        argv,
        dir: None,
        folder: None,
    }
}

/// What `ahp doctor` says of shields.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Standing {
    /// Whether one can be made here, or this is the inside of one that holds.
    pub(crate) holds: bool,
    pub(crate) said: String,
    /// What it would not hold, and what would not work in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) limits: Vec<String>,
}

impl Standing {
    const fn new(holds: bool, said: String) -> Self {
        let limits = Vec::new();
        Self {
            holds,
            said,
            limits,
        }
    }
}

/// Tries out whether a shield can be made here; what a killed one has left is taken away.
pub(crate) fn standing(locations: &Locations) -> Standing {
    if let Some(marker) = ask::shield() {
        let asked = Instant::now();
        let told = marker.and_then(|marker| Ok((ask::status(&marker.socket)?, marker)));
        return match told {
            Ok((status, marker)) => {
                let lost = status.get("lost").and_then(Value::as_str);
                let said = lost.map_or_else(
                    || {
                        let took = asked.elapsed().as_micros();
                        format!("inside {}, the judge answers in {took} µs", marker.id)
                    },
                    str::to_owned,
                );
                Standing::new(lost.is_none(), said)
            }
            Err(why) => Standing::new(false, format!("inside, and the judge {why}")),
        };
    }
    let swept = locations.state_dir.as_deref().is_some_and(sweep);
    let left = if swept {
        "; what a killed one left was taken away"
    } else {
        ""
    };
    // What is made for the trial is taken away again, whatever comes meanwhile.
    let signals = Signals::noted().map_err(|error| error.to_string());
    let tried = signals.and_then(|signals| {
        let tried = try_out(locations, &signals);
        signals.release();
        tried
    });
    match tried {
        Ok((abi, limits)) => {
            let open = if abi >= SCOPES {
                String::new()
            } else {
                format!(
                    ", but X11 and abstract sockets are reachable (Landlock ABI {abi} < {SCOPES})"
                )
            };
            Standing {
                limits,
                ..Standing::new(true, format!("full{open}{left}"))
            }
        }
        Err(why) => Standing::new(false, format!("not possible: {why}{left}")),
    }
}

/// Starts a shield of the project that asks the kernel for its version of Landlock, and returns it with the limits of the shield.
fn try_out(locations: &Locations, signals: &Signals) -> Result<(u32, Vec<String>), String> {
    if !cfg!(target_os = "linux") {
        return Err("Linux alone has what it is made of".to_owned());
    }
    let bubblewrap = bubblewrap().map_err(|obstacle| obstacle.to_string())?;
    let world = World::find(&Args::default(), signals)?;
    let (run, _socket) = world.run_files()?;
    world.prepare(signals)?;
    let starter = run.starter(&bubblewrap, &world.program);
    starter.try_out(&world.plan, &locations.work_dir)?;
    let told = [
        world.program.display().to_string(),
        "shield-inner".to_owned(),
    ];
    let finished = made(&world.plan, |plan| {
        let asked = Program::new(starter.argv(plan, &alone(&told), First::Other)).run();
        let asked = asked.map_err(|why| NotMade::because(&why))?;
        if asked.exit.is_success() {
            Ok(asked)
        } else {
            Err(NotMade::because(&asked.stderr_text().trim()))
        }
    })?;
    let abi = finished.stdout_text().trim().parse();
    let abi = abi.map_err(|_| "what starts inside does not answer".to_owned())?;
    Ok((abi, super::show::limits(&world.plan)))
}
