//! What a tool call would do to what is guarded.

use std::path::PathBuf;

use super::code;
use super::disarm;
use super::guarded::Guarded;
use super::mention;
use super::naming;
use super::script;
use crate::event::ToolView;
use crate::fact::Facts;
use crate::shell::Analysis;
use crate::shell::DoubtKind;
use crate::shell::Effect;
use crate::shell::Invocation;
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
///
/// `text` is the line as it was given.
pub(super) fn by_shell(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    text: &str,
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
        .or_else(|| by_assignment(guarded, analysis))
        .or_else(|| by_doubt(analysis, text))
}

/// A variable with a value that a shell runs when it is used in a sum, a prompt or an index.
fn by_assignment(guarded: &Guarded<'_>, analysis: &Analysis) -> Option<Attempt> {
    let here = Invocation {
        work_dir: Some(analysis.surroundings.work_dir.clone()),
        ..Invocation::default()
    };
    analysis.assignments.iter().find_map(|(name, value)| {
        let is_code = !value.dynamic
            && ["`", "$(", "()"]
                .iter()
                .any(|part| value.text.contains(part));
        let hit = is_code
            .then(|| mention::in_text(guarded, &here, &value.text))
            .flatten()?;
        Some(Attempt {
            by: name.clone(),
            what: format!("hold a command that may change `{}`", hit.display()),
            path: Some(hit),
        })
    })
}

/// A part that could not be understood, or not be followed to its end, in a line that names what is guarded.
fn by_doubt(analysis: &Analysis, text: &str) -> Option<Attempt> {
    let what = analysis.doubts.iter().find_map(|doubt| {
        if doubt.kind == DoubtKind::TooComplex {
            if let Some(named) = code::named(text).or_else(|| code::named(&doubt.text)) {
                return Some(format!(
                    "perhaps change `{named}`: it is too long or too deeply nested to be followed"
                ));
            }
            let disarms = mention::disarms(text) || mention::disarms(&doubt.text);
            return disarms.then(|| {
                "perhaps disarm the policy: it is too long or too deeply nested to be followed"
                    .to_owned()
            });
        }
        let named = code::changes_named(&doubt.text)?;
        Some(format!(
            "perhaps change `{named}`: it could not be understood"
        ))
    })?;
    Some(Attempt {
        by: "the command".to_owned(),
        what,
        path: None,
    })
}
