//! ahp doctor: what is wired here, and whether it would hold: a canary is sent through each host's own command line.

mod canary;
mod deep;
mod degraded;
mod fleet;
mod in_force;
mod mods;
mod plugin;
mod post;
mod problems;
mod show;
mod slow;

use std::path::Path;

use ahp::config::{Environment, Locations};
use ahp::engine::Engine;
use ahp::host::{self, Host, Journal, Note};
use ahp::install::{Installer, Needs, Places, Wire};
use ahp::place::Scope;
use ahp::session::Store;

use self::canary::Canary;
use self::deep::Deep;
use self::in_force::{of_log, of_policy, of_trust, unbound};
use crate::ask;
use crate::command::shield::Standing;
use crate::command::{install, shield};
use crate::exit_code::Exit;
use crate::output::{self, Format};
use crate::project;

/// How many odd calls of hosts are shown.
const NOTES: usize = 5;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this host
    host: Option<String>,
    /// Show the hosts that are not installed here, too
    #[arg(long)]
    all: bool,
    /// Start each installed client that has hooks once, with a simulated model, and test that it asks before a tool call
    #[arg(long)]
    deep: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, serde::Serialize)]
struct Findings {
    program: String,
    version: &'static str,
    project: String,
    policy: Policy,
    /// The signed policy in force, and who has had locked bindings only advise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bundle: Vec<String>,
    log: Log,
    trust: String,
    /// What the project has weakened and nobody has approved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    held: Vec<String>,
    /// Whether `ahp shield` can hold anything here; inside one, whether it still does.
    shield: Standing,
    /// The judge that listens, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    serve: Option<serde_json::Value>,
    hosts: Vec<HostFindings>,
    /// Files with command hooks that run under their own host alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unbound: Vec<String>,
    /// What was odd about the last calls of hosts.
    odd_calls: Vec<Note>,
    problems: Vec<String>,
}

#[derive(Debug, serde::Serialize)]
struct Policy {
    layers: Vec<String>,
    bindings: usize,
    /// How many HOOK.md hooks are in force.
    hooks: usize,
    /// Whether any binding before an event may block it or ask about it.
    stops: bool,
    /// What is there to stop commands, where none is stopped or asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    idle: Vec<String>,
    faults: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Debug, serde::Serialize)]
struct Log {
    path: String,
    records: Option<u64>,
    fault: Option<String>,
    /// Why nothing can be written there.
    refusal: Option<String>,
    free_bytes: Option<u64>,
}

#[derive(Debug, serde::Serialize)]
struct HostFindings {
    host: &'static str,
    title: &'static str,
    /// Whether its program is in the search path.
    installed: bool,
    /// Why it cannot be wired here.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_place: Option<&'static str>,
    wired: Vec<Wired>,
    /// Why settings files of it cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<String>,
    /// The scopes that wire the same event, so that it is judged and logged for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    twice: Vec<&'static str>,
    /// What keeps the hooks of ours from running, and in which file it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    switched_off: Option<String>,
    /// Code that it loads and that can skip every hook.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mods: Vec<String>,
    /// Variables that switch its hooks off or bring such code, and where they are set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variables: Vec<String>,
    /// Whether the client itself asked before a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    deep: Option<Deep>,
    /// What becomes of answers that it cannot carry, where the policy in force gives them.
    degraded: Vec<String>,
    blind_spots: &'static [&'static str],
}

#[derive(Debug, serde::Serialize)]
struct Wired {
    scope: &'static str,
    file: String,
    events: Vec<String>,
    /// Events that the policy in force needs and that are not wired.
    missing: Vec<&'static str>,
    command: Option<String>,
    /// Events at which the host does not heed what it is answered, or does not always ask.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weak: Vec<String>,
    canary: Canary,
    /// What makes each call slow, and what is faster.
    #[serde(skip_serializing_if = "Option::is_none")]
    slow: Option<String>,
    /// What is to be done where everything is refused; nothing where what is said of it tells that.
    #[serde(skip)]
    way_out: String,
    trusted: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let environment = Environment::of_process();
    let locations = Locations::find(&environment, None);
    let places = install::places(&environment, &locations)?;
    let engine = project::quiet_engine(locations.clone())?;
    let named = |name: &String| Host::find(name).ok_or_else(|| Host::unknown_name(name));
    let asked = args.host.as_ref().map(named).transpose()?;
    let needs = install::needs(&engine);
    let mut hosts = Vec::new();
    for installer in Installer::all() {
        let is_asked = asked.is_some_and(|host| host.name == installer.host.name);
        if asked.is_some() && !is_asked {
            continue;
        }
        let state_dir = locations.state_dir.as_deref();
        let mut found = of_host(
            &installer,
            &places,
            &needs,
            &environment,
            state_dir,
            &engine,
        );
        if args.deep && !found.wired.is_empty() && (is_asked || found.installed) {
            let path = environment.get("PATH").map(AsRef::as_ref);
            found.deep = Some(deep::send(installer.host, &places.roots.project, path));
        }
        let is_seen = !found.wired.is_empty() || !found.unreadable.is_empty();
        if is_asked || args.all || found.installed || is_seen {
            hosts.push(found);
        }
    }
    let mut findings = Findings {
        program: places.program.display().to_string(),
        version: env!("CARGO_PKG_VERSION"),
        project: places.roots.project.display().to_string(),
        policy: of_policy(&engine, &locations),
        bundle: Vec::new(),
        log: of_log(&engine, &locations),
        trust: of_trust(&engine, &locations),
        held: engine.state().held(),
        shield: shield::standing(&locations),
        serve: ask::socket_path(&environment)
            .filter(|socket| socket.exists())
            .and_then(|socket| ask::status(&socket).ok()),
        hosts,
        unbound: unbound(&engine, &locations),
        odd_calls: locations
            .state_dir
            .as_deref()
            .map(|dir| {
                let journal = Journal::new(dir).of_project(&locations.project_root);
                journal.last(NOTES)
            })
            .unwrap_or_default(),
        problems: Vec::new(),
    };
    findings.problems = problems::of(&findings);
    if args.deep && findings.hosts.iter().all(|host| host.deep.is_none()) {
        findings.problems.push(problems::NOT_DEEP.to_owned());
    }
    fleet::add_bundle(&engine, &mut findings);
    fleet::add_kept(&locations, &mut findings);
    if let Some(dir) = &locations.state_dir {
        let damaged = Store::new(dir, &locations.project_root).damaged();
        let told = damaged.into_iter();
        findings.problems.extend(
            told.map(|fault| format!("{fault}; `ahp session forget --all` begins all anew")),
        );
    }
    match args.format {
        Format::Json => output::json(&findings),
        Format::Human => show::show(&findings, asked.is_none()),
    }
    Ok(Exit::unless(!findings.problems.is_empty()))
}

fn of_host(
    installer: &Installer,
    places: &Places,
    needs: &Needs,
    environment: &Environment,
    state_dir: Option<&Path>,
    engine: &Engine,
) -> HostFindings {
    let host = installer.host;
    let mut wired = Vec::new();
    let mut unreadable = Vec::new();
    for scope in Scope::ALL {
        let Ok(file) = installer.file(places, scope) else {
            continue;
        };
        let git = install::git_hooks(installer, places, scope).unwrap_or_default();
        let wires = match installer.wires(places, scope, git.as_deref()) {
            Ok(wires) => wires,
            Err(why) => {
                unreadable.push(why.to_string());
                continue;
            }
        };
        if wires.is_empty() && !installer.has_shim(places, scope) {
            continue;
        }
        let events: Vec<String> = wires.iter().map(|w| w.event.clone()).collect();
        let there = |name: &str| events.iter().any(|e| e.eq_ignore_ascii_case(name));
        let canary_wire = canary::wire_for(host, &wires, &places.roots.project);
        wired.push(Wired {
            scope: scope.name(),
            file: git.unwrap_or(file).display().to_string(),
            missing: if installer.is_shim() {
                Vec::new()
            } else {
                needs
                    .host_events(host)
                    .into_iter()
                    .map(host::HostEvent::name)
                    .filter(|name| !there(name))
                    .collect()
            },
            canary: match (installer.is_shim(), canary_wire) {
                (true, _) => canary::try_shim(places, scope, installer, environment),
                (false, Some(wire)) => {
                    let project = &places.roots.project;
                    canary::send(host, wire, project, environment, state_dir, engine)
                }
                (false, None) => Canary::NotSent("no event before a tool is wired".to_owned()),
            },
            command: canary_wire.map(|w| w.command.clone()),
            slow: canary_wire
                .and_then(Wire::program)
                .and_then(|program| slow::told(&program, installer, environment)),
            weak: wires
                .iter()
                .filter_map(|w| Some(format!("{}: {}", w.event, w.weakness(host)?)))
                .collect(),
            way_out: match (scope, canary_wire.and_then(Wire::program)) {
                (Scope::Project, Some(name)) if !name.contains('/') => {
                    install::into_path(installer, places)
                }
                _ if installer.is_shim() => String::new(),
                _ => format!(
                    "`ahp install {} --{scope}` has this program called",
                    host.name
                ),
            },
            trusted: installer.is_trusted(places, scope),
            events,
        });
    }
    if let Some(of_plugin) = plugin::wired(installer, places, needs, environment, state_dir, engine)
    {
        wired.insert(0, of_plugin);
    }
    let twice = twice(&wired);
    let switched_off = installer.switched_off(places).unwrap_or_else(|why| {
        unreadable.push(why.to_string());
        None
    });
    unreadable.dedup();
    HostFindings {
        host: host.name,
        title: host.title,
        installed: install::is_here(host, environment),
        switched_off: switched_off.map(|(key, file)| install::switched_off(host, key, &file)),
        unreadable,
        no_place: install::has_no_place(installer, places)
            .then_some("this project is in no git repository; `git init` makes one"),
        wired,
        twice,
        mods: ahp::install::code_in(host, &places.roots)
            .into_iter()
            .map(|file| file.display().to_string())
            .collect(),
        variables: mods::disarming(installer, places, environment),
        deep: None,
        degraded: degraded::of(host, needs),
        blind_spots: host.blind_spots,
    }
}

/// Returns the scopes that wire an event which another one wires, too: the host runs the hooks of all.
fn twice(wired: &[Wired]) -> Vec<&'static str> {
    let shares = |one: &&Wired| {
        let mut others = wired.iter().filter(|other| other.scope != one.scope);
        let is_in = |event: &String, other: &Wired| {
            other
                .events
                .iter()
                .any(|known| known.eq_ignore_ascii_case(event))
        };
        others.any(|other| one.events.iter().any(|event| is_in(event, other)))
    };
    wired.iter().filter(shares).map(|one| one.scope).collect()
}
