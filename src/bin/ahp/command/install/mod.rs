//! ahp install: wires hosts to `ahp` in their own settings.

mod applied;
mod here;
mod needs;
mod remove;
mod told;

pub(crate) use self::here::{git_hooks, has_no_place, is_here, places};
pub(crate) use self::needs::{needs, patience, surely};
pub(crate) use self::remove::{RemoveArgs, remove};
pub(crate) use self::told::{by_path, into_path, switched_off};

use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use ahp::config::{Environment, Locations};
use ahp::host::{Host, TOKEN};
use ahp::install::{ByName, Installer, KeptHooks, Needs};
use ahp::place::Scope;

use self::applied::{Applied, apply};
use self::told::{Done, failed, notes, report, show, told};
use crate::daemon::token::Token;
use crate::daemon::unit;
use crate::exit_code::Exit;
use crate::output::{self, Format};
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
    /// Let everything pass on machines without `ahp`, instead of refusing it; only for the settings of a project
    #[arg(long, conflicts_with_all = ["all", "http"])]
    optional: bool,
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

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let environment = Environment::of_process();
    project::tell_home(&environment);
    let locations = Locations::find(&environment, None);
    let places = places(&environment, &locations)?;
    if args.host.as_deref() == Some(unit::NAME) {
        return unit::install(&environment, &places.program, args.start, args.dry_run);
    }
    if args.start {
        return Err("`--start` is for `ahp install serve` alone".to_owned());
    }
    let state_dir = locations.state_dir.clone();
    let has_policy =
        locations.has_policy() || locations.layers().iter().any(|(_, file)| file.exists());
    let engine = project::quiet_engine(locations.clone())?;
    let needs = if args.all_events {
        Needs::All
    } else {
        needs(&engine)
    };
    let patience = patience(&engine, &locations);
    let mut all = Vec::new();
    let mut failures = Vec::new();
    let chosen = chosen(args.host.as_deref(), args.all, &environment)?;
    let has_agent = chosen.iter().any(|installer| installer.host.name != "git");
    for mut installer in chosen {
        if let Some(judge) = args.http {
            installer = installer.over_http(judge).map_err(|e| e.to_string())?;
        }
        if args.optional {
            installer = installer.optional().map_err(|e| e.to_string())?;
        }
        let scope = args
            .scope
            .asked()
            .unwrap_or_else(|| installer.default_scope());
        if args.all
            && (installer.file(&places, scope).is_err() || has_no_place(&installer, &places))
        {
            continue;
        }
        // Hooks in the settings beside it would judge each event twice.
        if let Some(file) = installer.plugin(&places)
            && scope != Scope::System
        {
            all.push(Done {
                host: installer.host.name,
                scope: scope.name(),
                changed: Vec::new(),
                notes: vec![format!("the plugin of `ahp` is on in {}", file.display())],
            });
            continue;
        }
        let wire = || {
            if scope == Scope::System && installer.file(&places, scope).is_ok() {
                only_root_changes(&places.program)?;
            }
            if scope == Scope::Project
                && installer.host.name != "git"
                && places.by_name == ByName::Nowhere
            {
                return Err(format!(
                    "the hooks of a project call `ahp` by its name, which is not in the search path here: {}",
                    into_path(&installer, &places)
                ));
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
        if !args.dry_run
            && done.error.is_none()
            && let Some(dir) = &state_dir
            && let Some(hooks) = KeptHooks::of(&installer, &places, dir)
        {
            hooks.keep();
        }
        let mut notes = notes(&installer, scope, &places);
        if args.optional {
            notes.push(
                "optional: where `ahp` is not in the search path, everything passes unjudged"
                    .to_owned(),
            );
        }
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
    if args.format == Format::Human && args.all && !has_agent {
        output::line("no agent is installed here: `ahp install HOST` wires one all the same");
    }
    if args.format == Format::Human && !all.is_empty() && !has_policy {
        output::line("no policy is in force but self-protection: `ahp init` writes one");
    }
    Ok(told(&failures))
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
                "`{name}` has no settings file that `ahp` can write: a program that embeds an agent takes an adapter of the package \
                 `ahp-hooks` (PyPI, npm); elsewhere add the command `ahp hook --host {name}` to its hooks by hand, in the file that \
                 its own documentation names"
            )),
            None => Err(Host::unknown_name(name)),
        };
    }
    debug_assert!(all, "clap asks for one of the two");
    Ok(Installer::all()
        .filter(|installer| is_here(installer.host, environment))
        .collect())
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
