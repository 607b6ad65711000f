//! What the files with command hooks of a project say that no host will ever heed.

use std::path::Path;

use ahp::diagnostic::{Code, Diagnostic, Severity};
use ahp::engine::State;
use ahp::oracle::external::command::survey;
use ahp::trust::usual_hook_files;

use crate::project;

/// Warns of events in such files, bound or not, that no host has.
pub(super) fn lint(state: &State, root: &Path) -> Vec<Diagnostic> {
    let mut files = usual_hook_files(root);
    files.extend(project::bound_hook_files(state, root));
    files.sort_unstable();
    files.dedup();
    let mut warnings = Vec::new();
    for file in files {
        let Some(found) = survey(&file) else {
            continue;
        };
        let shown = file.strip_prefix(root).unwrap_or(&file).display();
        for (event, near) in found.unknown_events {
            let message =
                format!("`{shown}`: no host has the event `{event}`, so its hooks never run");
            let mut warning = Diagnostic::unplaced(Code::NeverFires, message);
            warning.severity = Severity::Warning;
            warnings.push(match near {
                Some(near) => warning.help(format!("did you mean `{near}`?")),
                None => warning,
            });
        }
    }
    warnings
}
