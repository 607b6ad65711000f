//! ahp install, ahp uninstall: wires hosts to `ahp` in their own settings, and takes the wires out again.

use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ahp::config::{Environment, Locations};
use ahp::engine::{Engine, State};
use ahp::hook_md::{FrontMatter, Hooks};
use ahp::host::{HOSTS, Host, TOKEN};
use ahp::install::{Change, Installer, Needs, Patience, Places};
use ahp::oracle::external::command::survey;
use ahp::place::Scope;
use ahp::process::{Program, find_program};

use crate::daemon::token::Token;
use crate::daemon::unit;
use crate::exit_code::Exit;
use crate::output;
use crate::output::Format;
use crate::project;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The host: `claude-code`, `codex`, `git`, `monoco`, …; `ahp doctor --all` lists them; `serve` for the service of `ahp serve`
    #[arg(required_unless_present = "all")]
    host: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Every host that is installed here
    #[arg(long, conflicts_with = "host")]
    all: bool,
    /// Subscribe to every event, not only to those that the policy in force needs
    #[arg(long)]
    all_events: bool,
    /// Send events to `ahp serve --http` instead of starting a program; only `claude-code`, which can block what gets no
    /// answer
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true, conflicts_with = "all",
        default_missing_value = "127.0.0.1:8371")]
    http: Option<SocketAddr>,
    /// With `--system`: run only the hooks of the machine, none of users and projects
    #[arg(long, requires = "system", conflicts_with = "all")]
    only: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// With `serve`: enable the service now
    #[arg(long)]
    start: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    /// The host
    #[arg(required_unless_present = "all")]
    host: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Every host, and where no scope is named, all scopes but the machine's
    #[arg(long, conflicts_with = "host")]
    all: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, clap::Args)]
#[group(multiple = false)]
struct ScopeArgs {
    /// Your own settings, for every project
    #[arg(long)]
    user: bool,
    /// The project's settings, for everybody who works on it (the default, where the host has them)
    #[arg(long)]
    project: bool,
    /// The project's settings for you alone, which are not committed
    #[arg(long)]
    local: bool,
    /// The settings of this machine, for everybody who works on it: its administrator alone can write them
    #[arg(long)]
    system: bool,
}

impl ScopeArgs {
    const fn asked(self) -> Option<Scope> {
        match self {
            Self { user: true, .. } => Some(Scope::User),
            Self { project: true, .. } => Some(Scope::Project),
            Self { local: true, .. } => Some(Scope::Local),
            Self { system: true, .. } => Some(Scope::System),
            _ => None,
        }
    }
}

/// What was done for one host.
#[derive(Debug, serde::Serialize)]
struct Done {
    host: &'static str,
    scope: &'static str,
    changed: Vec<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Exit {
    install(args).unwrap_or_else(output::failure)
}

fn install(args: &Args) -> Result<Exit, String> {
    let environment = Environment::of_process();
    let locations = Locations::find(&environment, None);
    let places = places(&environment, &locations)?;
    if args.host.as_deref() == Some(unit::NAME) {
        return unit::install(&environment, &places.program, args.start, args.dry_run);
    }
    if args.start {
        return Err("`--start` is for `ahp install serve` alone".to_owned());
    }
    let state_dir = locations.state_dir.clone();
    let engine = project::engine(locations.clone())
        .without_log()
        .build()
        .map_err(|e| e.to_string())?;
    let needs = if args.all_events {
        Needs::All
    } else {
        needs(&engine)
    };
    let patience = patience(&engine, &locations);
    let mut all = Vec::new();
    let mut failures = Vec::new();
    for mut installer in chosen(args.host.as_deref(), args.all, &environment)? {
        if let Some(judge) = args.http {
            installer = installer.over_http(judge).map_err(|e| e.to_string())?;
        }
        let scope = args
            .scope
            .asked()
            .unwrap_or_else(|| installer.default_scope());
        if args.all && installer.file(&places, scope).is_err() {
            continue;
        }
        let wire = || {
            if scope == Scope::System && installer.file(&places, scope).is_ok() {
                only_root_changes(&places.program)?;
            }
            let git = git_hooks(&installer, &places, scope)?;
            let wirer = if args.only {
                installer.only().map_err(|e| e.to_string())?
            } else {
                installer
            };
            wirer
                .install(&places, scope, &needs, patience, git.as_deref())
                .map_err(|e| e.to_string())
        };
        let changes = match wire() {
            Ok(changes) => changes,
            Err(error) => {
                failures.push(failed(&installer, scope, &error));
                continue;
            }
        };
        let done = if args.dry_run {
            Applied::all(&changes)
        } else {
            apply(&changes)
        };
        if let Some(error) = &done.error {
            failures.push(failed(&installer, scope, error));
        }
        if done.is_nothing() {
            continue;
        }
        let mut notes = notes(&installer, scope, &places);
        if let Some(judge) = args.http {
            let dir = state_dir.as_deref();
            let dir = dir.ok_or("where the token is kept is not known: set HOME")?;
            notes.extend(over_http(judge, dir, args.dry_run)?);
        }
        all.push(Done {
            host: installer.host.name,
            scope: scope.name(),
            changed: done.changed,
            notes,
        });
        if args.dry_run && args.format == Format::Human {
            show(&changes);
        }
    }
    if args.all && all.is_empty() && failures.is_empty() {
        return Err(
            "none of the hosts is installed here; name one to wire it all the same".to_owned(),
        );
    }
    let verb = if args.dry_run { "would wire" } else { "wired" };
    report(args.format, verb, "is wired already", &all);
    Ok(told(&failures))
}

pub(crate) fn remove(args: &RemoveArgs) -> Exit {
    uninstall(args).unwrap_or_else(output::failure)
}

fn uninstall(args: &RemoveArgs) -> Result<Exit, String> {
    let environment = Environment::of_process();
    let places = places(&environment, &Locations::find(&environment, None))?;
    if args.host.as_deref() == Some(unit::NAME) {
        return unit::remove(&environment, &places.program);
    }
    let installers = match &args.host {
        Some(_) => chosen(args.host.as_deref(), false, &environment)?,
        None => Installer::all().collect(),
    };
    let mut all = Vec::new();
    let mut failures = Vec::new();
    let mut left = Vec::new();
    for installer in installers {
        let scopes = match args.scope.asked() {
            Some(scope) => vec![scope],
            None if args.all => PERSONAL.to_vec(),
            None => vec![installer.default_scope()],
        };
        for &scope in &scopes {
            if args.all && installer.file(&places, scope).is_err() {
                continue;
            }
            match unwire(&installer, &places, scope, args.all) {
                Ok(done) => {
                    if let Some(error) = &done.error {
                        failures.push(failed(&installer, scope, error));
                    }
                    if !done.changed.is_empty() {
                        all.push(Done {
                            host: installer.host.name,
                            scope: scope.name(),
                            changed: done.changed,
                            notes: Vec::new(),
                        });
                    }
                }
                Err(error) => failures.push(failed(&installer, scope, &error)),
            }
        }
        if args.host.is_some() {
            let others = PERSONAL.into_iter().filter(|scope| !scopes.contains(scope));
            left.extend(others.filter_map(|scope| still_wired(&installer, &places, scope)));
        }
    }
    if args.format == Format::Json || !all.is_empty() {
        report(args.format, "unwired", "was not wired", &all);
    } else if failures.is_empty() {
        output::line("nothing of ahp was wired there");
    }
    if args.format == Format::Human {
        left.iter().for_each(output::line);
    }
    Ok(told(&failures))
}

/// The scopes that are a person's own to change.
const PERSONAL: [Scope; 3] = [Scope::User, Scope::Project, Scope::Local];

/// Takes the wires of a host out of a scope; with all hosts, git is none where there is no repository.
fn unwire(
    installer: &Installer,
    places: &Places,
    scope: Scope,
    all: bool,
) -> Result<Applied, String> {
    let git = match git_hooks(installer, places, scope) {
        Err(_) if all => return Ok(Applied::default()),
        git => git?,
    };
    let changes = installer.uninstall(places, scope, git.as_deref());
    Ok(apply(&changes.map_err(|e| e.to_string())?))
}

/// Says that a host is wired in another scope too, and what takes that away.
fn still_wired(installer: &Installer, places: &Places, scope: Scope) -> Option<String> {
    installer.file(places, scope).ok()?;
    let git = git_hooks(installer, places, scope).ok()?;
    let changes = installer.uninstall(places, scope, git.as_deref()).ok()?;
    let name = installer.host.name;
    (!changes.is_empty()).then(|| {
        format!("{name} ({scope}) is still wired: `ahp uninstall {name} --{scope}` takes it out")
    })
}

/// Says what could not be done for a host.
fn failed(installer: &Installer, scope: Scope, error: &str) -> String {
    format!("{} ({scope}): {error}", installer.host.name)
}

/// Tells what could not be done, after what was.
fn told(failures: &[String]) -> Exit {
    for failure in failures {
        output::error(format!("ahp: {failure}"));
    }
    if failures.is_empty() {
        Exit::Success
    } else {
        Exit::Failure
    }
}

/// Finds where things lie on this machine.
pub(crate) fn places(environment: &Environment, locations: &Locations) -> Result<Places, String> {
    if locations.home.is_none() {
        return Err(
            "`HOME` is not set: there is no telling where the hosts keep their settings".to_owned(),
        );
    }
    let program =
        std::env::current_exe().map_err(|e| format!("cannot tell where ahp lies: {e}"))?;
    let in_path = in_path(&program, environment);
    Ok(Places {
        roots: locations.roots(),
        is_in_path: in_path.is_some(),
        program: in_path.unwrap_or(program),
    })
}

/// Returns the path by which the search path leads to this program, if it does: that one survives an update.
fn in_path(program: &Path, environment: &Environment) -> Option<PathBuf> {
    let found = find_program("ahp", Some(environment.get("PATH")?.as_ref()))?;
    let is_this = found.canonicalize().ok() == program.canonicalize().ok();
    (is_this && found.is_absolute()).then_some(found)
}

/// Returns what the policy in force needs to be told.
pub(crate) fn needs(engine: &Engine) -> Needs {
    let state = engine.state();
    // Of a broken policy nobody knows what it needs.
    if !state.faults().is_empty() {
        return Needs::All;
    }
    let policy = state.policy();
    let elicited = HOSTS.iter().flat_map(|host| host.events);
    let elicited = elicited.filter_map(|event| event.elicits);
    Needs::Policy {
        triggers: policy.wanted(),
        tasks: policy.wanted_for_tasks(),
        asks_again: policy.wants_to_be_asked_again(state.lookup()),
        elicited: elicited
            .filter(|tool| policy.wants_elicited(tool, state.lookup()))
            .collect(),
    }
}

/// Returns how long hosts must wait for the policy in force.
pub(crate) fn patience(engine: &Engine, locations: &Locations) -> Patience {
    let state = engine.state();
    let default = state.policy().settings().timeout;
    let files = project::bound_hook_files(&state, locations);
    let asked_by_files = files.iter().filter_map(|file| survey(file)?.longest);
    let longest = state
        .policy()
        .specs()
        .values()
        .flatten()
        .filter(|binding| binding.is_written() && binding.enabled && !binding.is_async)
        .map(|binding| binding.timeout.unwrap_or(default))
        .chain(hook_fronts(&state).map(|front| front.timeout))
        .chain(asked_by_files)
        .max();
    Patience::for_bindings(longest.unwrap_or_default())
}

/// Returns what each HOOK.md hook says of itself.
fn hook_fronts(state: &State) -> impl Iterator<Item = &FrontMatter> {
    let hooks = state.hooks().map(Hooks::all).unwrap_or_default();
    hooks.iter().map(|hook| &hook.front)
}

/// Whether a host's program is to be found here.
pub(crate) fn is_here(host: &Host, environment: &Environment) -> bool {
    let path = environment.get("PATH").map(AsRef::as_ref);
    host.programs
        .iter()
        .any(|name| find_program(name, path).is_some())
}

fn chosen(
    name: Option<&str>,
    all: bool,
    environment: &Environment,
) -> Result<Vec<Installer>, String> {
    if let Some(name) = name {
        return match Installer::find(name) {
            Some(installer) => Ok(vec![installer]),
            None if Host::find(name).is_some() => Err(format!(
                "`{name}` has no settings to write: let it call `ahp hook --host {name}`"
            )),
            None => Err(Host::unknown_name(name)),
        };
    }
    debug_assert!(all, "clap asks for one of the two");
    Ok(Installer::all()
        .filter(|installer| is_here(installer.host, environment))
        .collect())
}

/// Finds the directory of git's hooks: of this repository, wherever `core.hooksPath` has put it.
pub(crate) fn git_hooks(
    installer: &Installer,
    places: &Places,
    scope: Scope,
) -> Result<Option<PathBuf>, String> {
    if installer.host.name != "git" || scope != Scope::Project {
        return Ok(None);
    }
    let argv = [
        "git",
        "rev-parse",
        "--path-format=absolute",
        "--git-path",
        "hooks",
    ];
    let finished = Program::new(argv.map(str::to_owned).to_vec())
        .dir(&places.roots.project)
        .deadline(Some(Instant::now() + Duration::from_secs(10)))
        .run()
        .map_err(|e| e.to_string())?;
    if !finished.exit.is_success() {
        return Err(format!(
            "`{}` is in no git repository",
            places.roots.project.display()
        ));
    }
    let dir = PathBuf::from(finished.stdout_text().trim());
    // A directory that all of a person's repositories share is not one project's to change.
    let shared = !dir.starts_with(&places.roots.project)
        && !dir.components().any(|c| c.as_os_str() == ".git");
    if shared {
        return Err(format!(
            "git takes its hooks from `{}`, outside this project (core.hooksPath): call `ahp hook --host git --event \
             pre-commit` from the hooks there",
            dir.display()
        ));
    }
    Ok(Some(dir))
}

/// Refuses a program that others than the administrator may replace: it would judge everybody who works on this machine.
fn only_root_changes(program: &Path) -> Result<(), String> {
    for path in program.ancestors() {
        let meta = std::fs::metadata(path)
            .map_err(|error| format!("cannot tell who may change `{}`: {error}", path.display()))?;
        // A directory such as `/tmp`, in which nobody moves what is another's, is still anybody's to write to.
        if meta.uid() != 0 || meta.mode() & 0o022 != 0 {
            return Err(format!(
                "others than root may change `{}`: --system wires a program that lies where only root writes, such as \
                 /usr/local/bin/ahp",
                path.display()
            ));
        }
    }
    Ok(())
}

/// The files that were changed, and why those after them were not.
#[derive(Debug, Default)]
struct Applied {
    changed: Vec<PathBuf>,
    error: Option<String>,
}

impl Applied {
    fn all(changes: &[Change]) -> Self {
        Self {
            changed: files(changes),
            error: None,
        }
    }

    /// Whether the first change failed already.
    const fn is_nothing(&self) -> bool {
        self.changed.is_empty() && self.error.is_some()
    }
}

fn apply(changes: &[Change]) -> Applied {
    let mut applied = Applied::default();
    for change in changes {
        let path = change.path();
        match change.apply() {
            Ok(()) if applied.changed.iter().any(|file| file == path) => {}
            Ok(()) => applied.changed.push(path.to_owned()),
            Err(error) => {
                applied.error = Some(format!("cannot write `{}`: {error}", path.display()));
                break;
            }
        }
    }
    applied
}

/// Returns the files that are changed, each once, in the order in which that happens.
fn files(changes: &[Change]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for change in changes {
        if files.iter().all(|file| file != change.path()) {
            files.push(change.path().to_owned());
        }
    }
    files
}

fn show(changes: &[Change]) {
    for change in changes {
        match change {
            Change::Write { path, text, .. } => {
                output::line(format!("--- {}\n{text}", path.display()));
            }
            Change::Remove { path } => output::line(format!("--- {} goes away", path.display())),
            Change::Move { from, to } => {
                output::line(format!("--- {} becomes {}", from.display(), to.display()));
            }
        }
    }
}

/// Says what the person still has to do or to know.
fn notes(installer: &Installer, scope: Scope, places: &Places) -> Vec<String> {
    let mut notes = Vec::new();
    match (installer.host.name, scope) {
        ("codex", Scope::Project) => notes.push(format!(
            "Codex reads it only where the project is trusted: [projects.\"{}\"] trust_level = \"trusted\"",
            places.roots.project.display()
        )),
        ("codex", Scope::System) => notes.push("Codex needs no trust for them, and nobody can switch them off".to_owned()),
        ("vscode", Scope::System) => notes.push(
            "VS Code has no hooks of the machine: each person wires her own by `ahp install vscode --user`, at log-in say"
                .to_owned(),
        ),
        ("claude-code", Scope::System) => notes.push(
            "where an organisation's settings come from Claude's servers, they win and this file is not read".to_owned(),
        ),
        ("codex", _) => notes.push("Codex was told to trust these hooks".to_owned()),
        ("copilot" | "vscode", Scope::Project) => {
            notes.push("Copilot CLI and VS Code share this file; Copilot reads it in trusted folders alone".to_owned());
        }
        ("monoco", _) => {
            if let Ok(file) = installer.file(places, scope)
                && let Some(dir) = file.parent()
            {
                notes.push(format!("put it first in the search path: export PATH=\"{}:$PATH\"", dir.display()));
            }
        }
        _ => {}
    }
    if let Ok(Some((key, file))) = installer.switched_off(places) {
        notes.push(format!("it {}", switched_off(installer.host, key, &file)));
    }
    notes
}

/// Says what has to run, and what a host that posts has to know; its token is made where there is none.
fn over_http(judge: SocketAddr, state_dir: &Path, dry_run: bool) -> Result<[String; 2], String> {
    if !dry_run {
        Token::of(state_dir)?;
    }
    Ok([
        format!(
            "it is answered while `ahp serve --http {judge}` runs, and refused everything while it does not"
        ),
        format!(
            "start it with the token, where it is in no shield: export {TOKEN}=\"$(cat {})\"",
            Token::path(state_dir).display()
        ),
    ])
}

/// Says what a setting does that keeps the hooks of ours from running.
pub(crate) fn switched_off(host: &Host, key: &str, file: &Path) -> String {
    let file = file.display();
    let is_machines = host.settings.and_then(|settings| settings.machine);
    let is_only = is_machines.is_some_and(|machine| machine.only == Some(key));
    if is_only {
        format!(
            "runs only the hooks that the machine's administrator has given it: `{key}` stands in {file}; `ahp install {} --system` puts ours there",
            host.name
        )
    } else if key == "disableAllHooks" {
        format!("runs no hook at all: `{key}` stands in {file}; take it out there")
    } else {
        format!("runs no hook at all: `{key}` is false in {file}; set it to true there")
    }
}

fn report(format: Format, verb: &str, same: &str, all: &[Done]) {
    match format {
        Format::Json => output::json(&all),
        Format::Human => {
            for done in all {
                if done.changed.is_empty() {
                    output::line(format!("{} ({}) {same}", done.host, done.scope));
                } else {
                    let files: Vec<String> = done
                        .changed
                        .iter()
                        .map(|f| f.display().to_string())
                        .collect();
                    output::line(format!(
                        "{verb} {} ({}): {}",
                        done.host,
                        done.scope,
                        files.join(", ")
                    ));
                }
                for note in &done.notes {
                    output::line(format!("  {note}"));
                }
            }
        }
    }
}
