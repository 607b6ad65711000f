//! What a tool call would do to what is guarded.

use std::path::PathBuf;

use super::code;
use super::disarm;
use super::guarded::Guarded;
use super::naming;
use super::script;
use crate::event::ToolView;
use crate::fact::Facts;
use crate::shell::Analysis;
use crate::shell::Effect;
use crate::shell::lexical;

/// What would be changed, and by what.
#[derive(Debug)]
pub(super) struct Attempt {
    /// The tool or command.
    pub(super) by: String,
    /// What it would do, as the end of "would …".
    pub(super) what: String,
    /// The file that it is about.
    pub(super) path: Option<PathBuf>,
}

/// Judges a tool that says which files it changes.
pub(super) fn by_tool(guarded: &Guarded<'_>, facts: &Facts, tool: &ToolView) -> Option<Attempt> {
    let name = facts.event().tool.as_ref().map_or("", |t| t.name.as_str());
    if !tool.changes_files(name) {
        return None;
    }
    tool.paths.iter().find_map(|path| {
        let path = lexical(path, guarded.root(), guarded.home());
        if let Some(what) = disarm::in_content(&path, tool.content.as_deref().into_iter()) {
            return Some(Attempt {
                by: name.to_owned(),
                what: what.to_owned(),
                path: Some(path),
            });
        }
        let hit = guarded.covers(&path)?;
        Some(Attempt {
            by: name.to_owned(),
            what: format!("change `{}`", hit.display()),
            path: Some(hit),
        })
    })
}

/// Judges what a command line would run.
pub(super) fn by_shell(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    depth: usize,
) -> Option<Attempt> {
    for effect in analysis.writes() {
        if effect.effect == Effect::Write
            && let Some(what) = disarm::in_content(&effect.path, analysis.texts())
        {
            return Some(Attempt {
                by: effect.program.clone(),
                what: what.to_owned(),
                path: Some(effect.path),
            });
        }
        if let Some(hit) = guarded.hit(&effect) {
            let verb = match effect.effect {
                Effect::Write => "write",
                Effect::Delete => "delete",
                Effect::Move => "move",
                Effect::Rights => "change the rights of",
                Effect::Restore => "replace",
            };
            return Some(Attempt {
                by: if effect.program.is_empty() {
                    "the command".to_owned()
                } else {
                    effect.program.clone()
                },
                what: format!("{verb} `{}`", hit.display()),
                path: Some(hit),
            });
        }
    }
    analysis
        .invocations
        .iter()
        .find_map(|invocation| {
            disarm::find(guarded, analysis, invocation)
                .or_else(|| code::find(guarded, analysis, invocation))
                .or_else(|| naming::find(guarded, analysis, invocation))
                .or_else(|| script::find(guarded, analysis, invocation, depth))
                .map(|(what, path)| Attempt {
                    by: invocation.display(),
                    what,
                    path,
                })
        })
        .or_else(|| by_doubt(analysis))
}

/// What a command would do, and the file that it is about.
pub(super) type Found = (String, Option<PathBuf>);

/// Makes the finding of a command that names no file.
pub(super) fn act(what: &str) -> Found {
    (what.to_owned(), None)
}

/// A part that could not be understood and names what is guarded.
fn by_doubt(analysis: &Analysis) -> Option<Attempt> {
    analysis.doubts.iter().find_map(|doubt| {
        let named = code::changes_named(&doubt.text)?;
        Some(Attempt {
            by: "the command".to_owned(),
            what: format!("perhaps change `{named}`: it could not be understood"),
            path: None,
        })
    })
}
