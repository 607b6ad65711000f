//! What the files with command hooks of a project say that no host will ever heed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ahp::config::Locations;
use ahp::diagnostic::{Code, Diagnostic, Severity};
use ahp::engine::State;
use ahp::oracle::external::command::survey;
use ahp::trust::usual_hook_files;

use crate::project;

/// Warns of what in such files no host heeds, of what only their own host does where a binding takes them, and of bindings whose
/// files are not there.
pub(super) fn lint(state: &State, locations: &Locations) -> Vec<Diagnostic> {
    let root = &locations.project_root;
    let mut warnings = Vec::new();
    let mut files: BTreeMap<PathBuf, bool> = BTreeMap::new();
    files.extend(usual_hook_files(root).into_iter().map(|file| (file, false)));
    for (named, found) in project::hook_bindings(state, locations) {
        if found.is_empty() {
            let name = named.as_str().unwrap_or_default();
            let message = format!("`{name}` means no file with command hooks, so none runs");
            let warning = Diagnostic::warning(Code::NeverFires, message, named.span);
            warnings.push(warning.help("put the file there, or remove the binding"));
        }
        files.extend(found.into_iter().map(|file| (file, true)));
    }
    for (file, is_bound) in files {
        let shown = file.strip_prefix(root).unwrap_or(&file).display();
        let warn = |message: &str, near: Option<String>| {
            let message = format!("`{shown}`: {message}");
            let mut warning = Diagnostic::unplaced(Code::NeverFires, message);
            warning.severity = Severity::Warning;
            match near {
                Some(near) => warning.help(format!("did you mean `{near}`?")),
                None => warning,
            }
        };
        let Some(found) = survey(&file) else {
            if is_bound {
                warnings.push(warn("it cannot be read as a file with command hooks", None));
            }
            continue;
        };
        let unheeded = found.unheeded.into_iter();
        warnings.extend(unheeded.map(|(message, near)| warn(&message, near)));
        let elsewhere = found.elsewhere.iter().filter(|_| is_bound);
        warnings.extend(elsewhere.map(|message| warn(message, None)));
    }
    warnings
}
