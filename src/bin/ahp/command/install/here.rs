//! What is here: this program, the hosts, and where both lie.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ahp::config::{Environment, Locations};
use ahp::host::Host;
use ahp::install::{ByName, InstallError, Installer, Places};
use ahp::place::Scope;
use ahp::process::{Program, find_program};

/// Finds where things lie on this machine.
pub(crate) fn places(environment: &Environment, locations: &Locations) -> Result<Places, String> {
    if locations.home.is_none() {
        return Err(InstallError::NoHome.to_string());
    }
    let program =
        std::env::current_exe().map_err(|e| format!("cannot tell where ahp lies: {e}"))?;
    let path = environment.get("PATH").map(AsRef::as_ref);
    let found = find_program("ahp", path);
    let really = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (program, by_name) = match found {
        None => (program, ByName::Nowhere),
        Some(found) if !found.is_absolute() => (program, ByName::Other(found)),
        // The path that it is found by survives an update.
        Some(found) if really(&found) == really(&program) => (found, ByName::This),
        Some(found) if is_launcher(&really(&found), &really(&program)) => (program, ByName::This),
        Some(found) => (program, ByName::Other(found)),
    };
    Ok(Places {
        roots: locations.roots(),
        program,
        by_name,
    })
}

/// Whether a program is the launcher of the npm package that brought another one.
fn is_launcher(launcher: &Path, program: &Path) -> bool {
    let has = |path: &Path, name: &str| path.iter().any(|part| part == name);
    let mut above = program.ancestors();
    has(program, "@ahp-hooks")
        && has(launcher, "ahp-hooks")
        && above.any(|dir| dir.ends_with("node_modules") && launcher.starts_with(dir))
}

pub(crate) fn is_here(host: &Host, environment: &Environment) -> bool {
    let path = environment.get("PATH").map(AsRef::as_ref);
    host.programs
        .iter()
        .any(|name| find_program(name, path).is_some())
}

/// Whether a host has nothing here that it could be wired in: git without a repository.
pub(crate) fn has_no_place(installer: &Installer, places: &Places) -> bool {
    let mut above = places.roots.project.ancestors();
    installer.host.name == "git" && !above.any(|dir| dir.join(".git").exists())
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
        return Err(InstallError::NoRepository(places.roots.project.clone()).to_string());
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
