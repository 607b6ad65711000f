//! What is said of what was done, and what a person still has to do.

use std::path::{Path, PathBuf};

use ahp::host::Host;
use ahp::install::{ByName, Change, Installer, Places};
use ahp::place::Scope;

use crate::exit_code::Exit;
use crate::output::{self, Format};

/// What was done for one host.
#[derive(Debug, serde::Serialize)]
pub(super) struct Done {
    pub(super) host: &'static str,
    pub(super) scope: &'static str,
    pub(super) changed: Vec<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

/// Says what could not be done for a host.
pub(super) fn failed(installer: &Installer, scope: Scope, error: &str) -> String {
    format!("{} ({scope}): {error}", installer.host.name)
}

/// Tells what could not be done, after what was.
pub(super) fn told(failures: &[String]) -> Exit {
    for failure in failures {
        output::error(format!("ahp: {failure}"));
    }
    Exit::unless(!failures.is_empty())
}

pub(super) fn show(changes: &[Change]) {
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
pub(super) fn notes(installer: &Installer, scope: Scope, places: &Places) -> Vec<String> {
    let mut notes = Vec::new();
    match (installer.host.name, scope) {
        ("codex", Scope::Project) => notes.push(format!(
            "Codex reads it only where the project is trusted: [projects.\"{}\"] trust_level = \"trusted\"",
            places.roots.project.display()
        )),
        ("codex", Scope::System) => notes.push("Codex needs no trust for them, and nobody can switch them off".to_owned()),
        ("vscode", Scope::System) => notes.push(
            "VS Code has no hooks of the machine: each person needs `ahp install vscode --user`, for example at login"
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
    if scope == Scope::Project && installer.host.name != "git" {
        notes.extend(by_name(installer, places));
    }
    if let Ok(Some((key, file))) = installer.switched_off(places) {
        notes.push(format!("it {}", switched_off(installer.host, key, &file)));
    }
    notes
}

/// Says where a project's hooks, which call `ahp` by its name, lead here, where that is not to this program.
fn by_name(installer: &Installer, places: &Places) -> Option<String> {
    let ByName::Other(other) = &places.by_name else {
        return None;
    };
    Some(format!(
        "these hooks call `ahp` by its name, and that is `{}` here; {}",
        other.display(),
        by_path(installer)
    ))
}

/// Says how a host comes to find `ahp`, which shared settings call by its name.
pub(crate) fn into_path(installer: &Installer, places: &Places) -> String {
    let dir = places.program.parent().unwrap_or(&places.program);
    format!(
        "export PATH=\"{}:$PATH\" where {} is started, or {}",
        dir.display(),
        installer.host.title,
        by_path(installer)
    )
}

/// Says how a person's own settings call this very program.
pub(crate) fn by_path(installer: &Installer) -> String {
    let own = [Scope::Local, Scope::User];
    let own = own
        .into_iter()
        .find(|scope| installer.host.file(*scope).is_some());
    let (name, own) = (installer.host.name, own.unwrap_or(Scope::User));
    format!("`ahp install {name} --{own}` calls this program by its path, for you alone")
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

pub(super) fn report(format: Format, verb: &str, same: &str, all: &[Done]) {
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
