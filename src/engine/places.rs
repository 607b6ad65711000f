//! Places: where the engine keeps what it writes for a project.

use std::path::{Component, PathBuf};

use crate::config::{Config, Locations};
use crate::diagnostic::{Code, Diagnostic};
use crate::machine_key::ProjectKey;
use crate::signal_log::LogPlace;

/// Returns where the log lies: as the settings say, and with `.ahp/` standing for the project's own folder.
///
/// # Errors
/// A layer of the project names a place outside of the project.
pub fn log_place(locations: &Locations, config: &Config) -> Result<LogPlace, Box<Diagnostic>> {
    place_of_log(locations, config, project_key(locations))
}

pub(super) fn place_of_log(
    locations: &Locations,
    config: &Config,
    key: Option<ProjectKey>,
) -> Result<LogPlace, Box<Diagnostic>> {
    let named = &config.settings.log.path;
    let root = &locations.project_root;
    let path = match named.strip_prefix(".ahp") {
        Ok(inside) => project_dir(locations).join(inside),
        Err(_) => root.join(named),
    };
    let origin = config.setting_origin("log.path");
    if let Some(origin) = origin.filter(|origin| origin.layer.is_of_project()) {
        let leaves = named.components().any(|part| part == Component::ParentDir);
        let is_inside = path.starts_with(root) || named.starts_with(".ahp");
        if leaves || !is_inside {
            let message = "a project's layer may move the log only within the project";
            let fault = Diagnostic::error(Code::BadValue, message, origin.span);
            let help = "name a path relative to the project, such as `.ahp/signals.jsonl`";
            return Err(Box::new(fault.help(help)));
        }
    }
    // What is written below the project or the user's own directory is reached by no link.
    let user = locations.user_dir.as_ref();
    let base = [Some(root), user].into_iter().flatten();
    let base = base
        .filter(|base| path.starts_with(base))
        .max_by_key(|b| b.as_os_str().len());
    let base = base.cloned();
    Ok(LogPlace::new(path, base, key))
}

/// Returns the key of this machine for a project. Where it can neither be read nor made, nothing is known by it: what came with
/// a clone is not believed for want of it. None where a host program has made the locations of a project alone, without a machine
/// around it: it answers for what lies there.
pub(super) fn project_key(locations: &Locations) -> Option<ProjectKey> {
    let Some(state_dir) = locations.state_dir.as_deref() else {
        return locations.system_layer.is_some().then(ProjectKey::none);
    };
    let key = ProjectKey::of(state_dir, &locations.project_root)
        .inspect_err(|error| tracing::warn!(%error, "the key of this machine cannot be used"));
    Some(key.unwrap_or_else(|_| ProjectKey::none()))
}

/// Returns where the engine keeps what it writes for a project: its `.ahp/`; for a project without one, a folder of
/// its own in the user's directory, so that a user's policy leaves no trace in other people's repositories.
pub(super) fn project_dir(locations: &Locations) -> PathBuf {
    let own = locations.project_root.join(".ahp");
    if own.is_dir() {
        return own;
    }
    match &locations.user_dir {
        Some(user) => user.join("projects").join(locations.project_name()),
        None => own,
    }
}
