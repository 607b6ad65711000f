//! ahp uninstall: takes the wires of hosts out of their settings.

use ahp::config::{Environment, Locations};
use ahp::install::{Installer, Places};
use ahp::place::Scope;

use super::applied::{Applied, apply};
use super::told::{Done, failed, report, told};
use super::{ScopeArgs, chosen, git_hooks, places};
use crate::daemon::unit;
use crate::exit_code::Exit;
use crate::output::{self, Format};

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

pub(crate) fn remove(args: &RemoveArgs) -> Result<Exit, String> {
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
                            notes: sharing(&installer, &places, scope),
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

/// Says which hosts were wired by the same file.
fn sharing(installer: &Installer, places: &Places, scope: Scope) -> Vec<String> {
    let Ok(file) = installer.file(places, scope) else {
        return Vec::new();
    };
    let others = Installer::all().filter(|other| other.host.name != installer.host.name);
    let sharing = others.filter(|other| other.file(places, scope).is_ok_and(|own| own == file));
    sharing
        .map(|other| {
            format!(
                "{} reads the same file, and is unwired too",
                other.host.title
            )
        })
        .collect()
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
