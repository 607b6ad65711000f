//! ahp install, ahp uninstall: wires hosts to `ahp` in their own settings, and takes the wires out again.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use ahp::config::Environment;
use ahp::config::Locations;
use ahp::engine::Engine;
use ahp::engine::State;
use ahp::hook_md::FrontMatter;
use ahp::hook_md::Hooks;
use ahp::host::Host;
use ahp::install::Change;
use ahp::install::Installer;
use ahp::install::Needs;
use ahp::install::Patience;
use ahp::install::Places;
use ahp::install::Scope;
use ahp::process::Program;
use ahp::process::find_program;

use crate::exit_code::Exit;
use crate::output;
use crate::output::Format;
use crate::project;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The host: `claude-code`, `codex`, `git`, `monoco`, …; `ahp doctor` lists them
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
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// How the result is written
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
    /// Every host
    #[arg(long, conflicts_with = "host")]
    all: bool,
    /// How the result is written
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
}

impl ScopeArgs {
    const fn asked(self) -> Option<Scope> {
        match self {
            Self { user: true, .. } => Some(Scope::User),
            Self { project: true, .. } => Some(Scope::Project),
            Self { local: true, .. } => Some(Scope::Local),
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
    let engine = project::engine(locations)
        .without_log()
        .build()
        .map_err(|e| e.to_string())?;
    let needs = if args.all_events {
        Needs::All
    } else {
        needs(&engine)
    };
    let patience = patience(&engine);
    let mut all = Vec::new();
    for installer in chosen(args.host.as_deref(), args.all, &environment)? {
        let scope = args
            .scope
            .asked()
            .unwrap_or_else(|| installer.default_scope(&places));
        if args.all && installer.file(&places, scope).is_err() {
            continue;
        }
        let git = git_hooks(installer, &places, scope)?;
        let changes = installer
            .install(&places, scope, &needs, patience, git.as_deref())
            .map_err(|e| e.to_string())?;
        if !args.dry_run {
            apply(&changes)?;
        }
        all.push(Done {
            host: installer.host,
            scope: scope.name(),
            changed: changes.iter().map(|c| c.path().to_owned()).collect(),
            notes: notes(installer, scope, &places),
        });
        if args.dry_run && args.format == Format::Human {
            show(&changes);
        }
    }
    if args.all && all.is_empty() {
        return Err(
            "none of the hosts is installed here; name one to wire it all the same".to_owned(),
        );
    }
    let verb = if args.dry_run { "would wire" } else { "wired" };
    report(args.format, verb, "is wired already", &all);
    Ok(Exit::Success)
}

pub(crate) fn remove(args: &RemoveArgs) -> Exit {
    uninstall(args).unwrap_or_else(output::failure)
}

fn uninstall(args: &RemoveArgs) -> Result<Exit, String> {
    let environment = Environment::of_process();
    let places = places(&environment, &Locations::find(&environment, None))?;
    let mut all = Vec::new();
    let installers = match &args.host {
        Some(_) => chosen(args.host.as_deref(), false, &environment)?,
        None => Installer::all().iter().collect(),
    };
    for installer in installers {
        // Without a scope the wires go from everywhere: who takes a gate away wants it gone.
        let scopes = match args.scope.asked() {
            Some(scope) => vec![scope],
            None => Scope::ALL.to_vec(),
        };
        for scope in scopes {
            if installer.file(&places, scope).is_err() && args.scope.asked().is_none() {
                continue;
            }
            let git = git_hooks(installer, &places, scope).unwrap_or_default();
            if installer.host == "git" && git.is_none() && args.all {
                continue;
            }
            let changes = installer
                .uninstall(&places, scope, git.as_deref())
                .map_err(|e| e.to_string())?;
            apply(&changes)?;
            if !changes.is_empty() {
                all.push(Done {
                    host: installer.host,
                    scope: scope.name(),
                    changed: changes.iter().map(|c| c.path().to_owned()).collect(),
                    notes: Vec::new(),
                });
            }
        }
    }
    if all.is_empty() && args.format == Format::Human {
        output::line("nothing of ahp was wired there");
    } else {
        report(args.format, "unwired", "was not wired", &all);
    }
    Ok(Exit::Success)
}

/// Finds where things lie on this machine.
pub(crate) fn places(environment: &Environment, locations: &Locations) -> Result<Places, String> {
    let home = locations
        .home
        .clone()
        .ok_or("`HOME` is not set: there is no telling where the hosts keep their settings")?;
    let program =
        std::env::current_exe().map_err(|e| format!("cannot tell where ahp lies: {e}"))?;
    let directory = |name: &str| {
        environment
            .get(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    Ok(Places {
        config_home: directory("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
        ahp_home: locations
            .user_dir
            .clone()
            .unwrap_or_else(|| home.join(".ahp")),
        project: locations.project_root.clone(),
        codex_home: directory("CODEX_HOME"),
        copilot_home: directory("COPILOT_HOME"),
        program: stable(&program, environment),
        home,
    })
}

/// Returns the name of this program that survives an update: the one in the search path, if it leads here.
fn stable(program: &Path, environment: &Environment) -> PathBuf {
    environment
        .get("PATH")
        .and_then(|path| find_program("ahp", Some(path.as_ref())))
        .filter(|found| {
            found.canonicalize().ok() == program.canonicalize().ok() && found.is_absolute()
        })
        .unwrap_or_else(|| program.to_owned())
}

/// Returns what the policy in force needs to be told.
pub(crate) fn needs(engine: &Engine) -> Needs {
    let state = engine.state();
    // Of a broken policy nobody knows what it needs.
    if !state.faults().is_empty() {
        return Needs::All;
    }
    Needs::Triggers(state.policy().triggers().collect())
}

/// Returns how long hosts must wait for the policy in force.
pub(crate) fn patience(engine: &Engine) -> Patience {
    let state = engine.state();
    let default = state.policy().settings().timeout;
    let longest = state
        .policy()
        .specs()
        .values()
        .flatten()
        .filter(|binding| binding.is_written() && binding.enabled && !binding.is_async)
        .map(|binding| binding.timeout.unwrap_or(default))
        .chain(hook_fronts(&state).map(|front| front.timeout))
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
) -> Result<Vec<&'static Installer>, String> {
    if let Some(name) = name {
        return match Installer::find(name) {
            Some(installer) => Ok(vec![installer]),
            None if Host::find(name).is_some() => Err(format!(
                "`{name}` has no settings to write: let it call `ahp hook --host {name}`"
            )),
            None => {
                let names = Installer::all().iter().map(|i| i.host);
                let near = ahp::diagnostic::nearest(name, names)
                    .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                Err(format!("unknown host `{name}`{near}"))
            }
        };
    }
    debug_assert!(all, "clap asks for one of the two");
    Ok(Installer::all()
        .iter()
        .filter(|i| Host::find(i.host).is_some_and(|host| is_here(host, environment)))
        .collect())
}

/// Finds the directory of git's hooks: of this repository, wherever `core.hooksPath` has put it.
pub(crate) fn git_hooks(
    installer: &Installer,
    places: &Places,
    scope: Scope,
) -> Result<Option<PathBuf>, String> {
    if installer.host != "git" || scope != Scope::Project {
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
        .dir(&places.project)
        .deadline(Some(Instant::now() + Duration::from_secs(10)))
        .run()
        .map_err(|e| e.to_string())?;
    if !finished.exit.is_success() {
        return Err(format!(
            "`{}` is in no git repository",
            places.project.display()
        ));
    }
    let dir = PathBuf::from(finished.stdout_text().trim());
    // A directory that all of a person's repositories share is not one project's to change.
    let shared =
        !dir.starts_with(&places.project) && !dir.components().any(|c| c.as_os_str() == ".git");
    if shared {
        return Err(format!(
            "git takes its hooks from `{}`, outside this project (core.hooksPath): call `ahp hook --host git --event \
             pre-commit` from the hooks there",
            dir.display()
        ));
    }
    Ok(Some(dir))
}

fn apply(changes: &[Change]) -> Result<(), String> {
    for change in changes {
        change
            .apply()
            .map_err(|e| format!("cannot write `{}`: {e}", change.path().display()))?;
    }
    Ok(())
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
    match (installer.host, scope) {
        ("codex", Scope::Project) => notes.push(format!(
            "Codex reads it only where the project is trusted: [projects.\"{}\"] trust_level = \"trusted\"",
            places.project.display()
        )),
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
    if let Ok(Some(file)) = installer.switched_off(places) {
        notes.push(format!(
            "it runs no hook at all: `disableAllHooks` stands in {}; take it out there",
            file.display()
        ));
    }
    notes
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
