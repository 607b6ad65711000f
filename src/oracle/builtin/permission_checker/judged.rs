//! What the rules judge of one call: the lines that it runs, and what its tool does itself, said as what would run.

use std::borrow::Cow;
use std::path::Path;

use super::reading;
use crate::danger::said;
use crate::fact::Facts;
use crate::shell::{Analysis, Surroundings, lexical};

/// One thing of a call that the rules judge.
#[derive(Debug)]
pub struct Judged<'a> {
    /// How it is told where its own words do not: `read .env`.
    pub shown: Option<String>,
    /// What would run.
    pub analysis: Cow<'a, Analysis>,
    pub(super) form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A command line.
    Line,
    /// What a tool reads or sends: the first of it that a rule names stands for the rest.
    Reading,
    /// A statement for a database, or a file that is written.
    Writing,
}

/// Returns all that is judged of the call of an event.
pub fn judged(facts: &Facts) -> Vec<Judged<'_>> {
    let (Some(tool), Some(call)) = (facts.tool(), &facts.event().tool) else {
        return Vec::new();
    };
    let line = |analysis| Judged {
        shown: None,
        analysis: Cow::Borrowed(analysis),
        form: Form::Line,
    };
    let own = facts.shell().map(AsRef::as_ref);
    let guesses = facts.may_run().map(|(_, guess)| guess);
    let mut all: Vec<Judged<'_>> = own.into_iter().chain(guesses).map(line).collect();
    let deed = |shown, program: &str, arguments: &[&str], surroundings, form| Judged {
        shown,
        analysis: Cow::Owned(said(program, arguments, surroundings)),
        form,
    };
    let nowhere = Surroundings::default;
    for statement in reading::statements(call) {
        all.push(deed(None, "sql", &[&statement], nowhere(), Form::Writing));
    }
    let (root, home) = (facts.project_root(), facts.home());
    let is_outward = reading::is_outward(call, tool);
    for one in reading::of(call, tool, facts.work_dir(), home) {
        let arguments: Vec<&str> = one.arguments.iter().map(String::as_str).collect();
        let surroundings = if is_outward {
            nowhere()
        } else {
            Surroundings {
                work_dir: facts.work_dir().to_owned(),
                home: home.map(Path::to_owned),
                project_root: root.to_owned(),
            }
        };
        let shown = Some(one.shown);
        all.push(deed(
            shown,
            &one.program,
            &arguments,
            surroundings,
            Form::Reading,
        ));
    }
    if tool.changes_files(&call.name) {
        // A file outside of the project is judged as one that a shell writes.
        let paths = tool.paths.iter().map(|path| lexical(path, root, home));
        for path in paths.filter(|path| !path.starts_with(root) || home == Some(root)) {
            let shown = Some(format!("{} {}", tool.kind.name(), path.display()));
            let path = path.to_string_lossy();
            all.push(deed(shown, "put-file", &[&path], nowhere(), Form::Writing));
        }
    }
    all
}

/// Whether an entry of `allow_commands` means what a tool does, in the words that a message has for it: `read .env`. `from` is
/// the folder that a path in these words begins in; one in an entry begins in the root of the project.
pub fn allows_deed(entry: &str, shown: &str, from: &Path, facts: &Facts) -> bool {
    let entry = entry.strip_prefix('=').unwrap_or(entry).trim();
    let meant = |text: &str, from: &Path| {
        let (word, path) = text.split_once(' ').filter(|_| !text.contains("://"))?;
        Some((word.to_owned(), lexical(path, from, facts.home())))
    };
    match meant(entry, facts.project_root()) {
        None => entry == shown,
        of_entry => of_entry == meant(shown, from),
    }
}
