//! What is here: this program, the hosts, and where both lie.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ahp::config::{Environment, Locations};
use ahp::host::Host;
use ahp::install::{Installer, Places};
use ahp::place::Scope;
use ahp::process::{Program, find_program};

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

/// Whether a host's program is to be found here.
pub(crate) fn is_here(host: &Host, environment: &Environment) -> bool {
    let path = environment.get("PATH").map(AsRef::as_ref);
    host.programs
        .iter()
        .any(|name| find_program(name, path).is_some())
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
