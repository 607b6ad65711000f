//! What a tool call would do to what is guarded.

use std::path::PathBuf;

use serde_json::Value;

use super::fields::{MAX_DEPTH, MAX_PATH, WORDS};
use super::guarded::Guarded;
use super::judged::Judged;
use super::spelling::named;
use super::{clean, code, disarm, fields, front_matter, mention, naming, script, walk};
use crate::event::{ToolCall, ToolKind, ToolView, is_path_key};
use crate::fact::Facts;
use crate::shell::{Analysis, DoubtKind, Effect, Invocation, PathEffect, lexical};

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

/// What judges a command line, or a script of one that starts it: its text, and how deep it lies in others.
pub(super) type Judge = fn(&Guarded<'_>, &Analysis, &str, usize) -> Option<Attempt>;

/// Judges a tool that says which files it changes.
pub(super) fn by_tool(guarded: &Guarded<'_>, facts: &Facts, tool: &ToolView) -> Option<Attempt> {
    let name = facts.event().tool.as_ref().map_or("", |t| t.name.as_str());
    if !tool.changes_files(name) {
        return by_unknown(guarded, facts, tool);
    }
    let by_path = tool.paths.iter().find_map(|path| {
        let path = lexical(path, guarded.root(), guarded.home());
        let content = || tool.content.as_deref().into_iter();
        let what = disarm::in_content(&path, content())
            .or_else(|| front_matter::in_content(guarded.roots(), &path, content()));
        if let Some(what) = what {
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
    });
    by_path.or_else(|| by_unknown(guarded, facts, tool))
}

/// Judges a tool that is not known to only look, by every field that names a file, whatever it is called.
fn by_unknown(guarded: &Guarded<'_>, facts: &Facts, tool: &ToolView) -> Option<Attempt> {
    let call = facts.event().tool.as_ref()?;
    if tool.kind == ToolKind::Shell && !call.is_unknown() {
        return beside_command(guarded, call);
    }
    if tool.only_looks(&call.name) {
        return None;
    }
    let input = call.unwrapped();
    let paths = tool.paths.iter();
    let mut paths = paths.map(|path| lexical(path, guarded.root(), guarded.home()));
    let hit = named_in(guarded, &input, MAX_DEPTH)
        .or_else(|| paths.find_map(|path| guarded.covers_word(&path)));
    let Some(hit) = hit else {
        let (what, path) = fields::brings(guarded, &input)?;
        return Some(Attempt {
            by: call.name.clone(),
            what,
            path,
        });
    };
    Some(given(call, hit))
}

/// Judges what a shell is given beside its command line: it may be the place where that line runs.
fn beside_command(guarded: &Guarded<'_>, call: &ToolCall) -> Option<Attempt> {
    let beside = call.beside_command();
    let mut places = beside.iter().filter(|given| {
        let key = given.key.to_lowercase();
        !WORDS.iter().any(|word| key.contains(word))
    });
    let hit = places.find_map(|place| named_by(guarded, &place.text))?;
    Some(given(call, hit))
}

fn given(call: &ToolCall, hit: PathBuf) -> Attempt {
    Attempt {
        by: call.name.clone(),
        what: format!(
            "be given `{}` and is not known to only read it",
            hit.display()
        ),
        path: Some(hit),
    }
}

fn named_in(guarded: &Guarded<'_>, value: &Value, depth: usize) -> Option<PathBuf> {
    match value {
        Value::String(text) => named_by(guarded, text),
        Value::Array(items) if depth > 0 => {
            (items.iter()).find_map(|item| named_in(guarded, item, depth - 1))
        }
        Value::Object(fields) if depth > 0 => fields.iter().find_map(|(name, value)| {
            let by_key = is_path_key(name).then(|| named_by(guarded, name)).flatten();
            let name = name.to_lowercase();
            let holds_words = WORDS.iter().any(|word| name.contains(word));
            by_key.or_else(|| {
                (!holds_words)
                    .then(|| named_in(guarded, value, depth - 1))
                    .flatten()
            })
        }),
        _ => None,
    }
}

/// Returns what is guarded and named by a text as a whole.
fn named_by(guarded: &Guarded<'_>, text: &str) -> Option<PathBuf> {
    let may_name = text.len() <= MAX_PATH && text.contains(['.', '/', '~']) && !text.contains('\n');
    may_name
        .then(|| guarded.covers_word(&lexical(text, guarded.root(), guarded.home())))
        .flatten()
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
    // What a search deletes is told by its tests and the disk, where the search itself is judged.
    let is_of_search = |effect: &PathEffect| {
        effect.effect == Effect::Delete && walk::started_through(&effect.program).is_some()
    };
    let effects = analysis.writes().into_iter();
    for effect in effects.filter(|effect| !is_of_search(effect)) {
        let brought = || {
            disarm::in_content(&effect.path, analysis.texts())
                .or_else(|| front_matter::in_line(guarded.roots(), analysis, &effect.path))
        };
        if effect.effect == Effect::Write
            && let Some(what) = brought()
        {
            return Some(Attempt {
                by: effect.program.clone(),
                what: what.to_owned(),
                path: Some(effect.path),
            });
        }
        let is_spared = || {
            effect.effect == Effect::Delete
                && effect.program == "git"
                && clean::spares(guarded, analysis)
        };
        if let Some(hit) = guarded.hit(&effect).filter(|_| !is_spared()) {
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
    let invocations = analysis.invocations.iter();
    invocations
        .map(|invocation| Judged::new(guarded, analysis, invocation))
        .find_map(|invocation| {
            disarm::find(&invocation)
                .or_else(|| code::find(&invocation))
                .or_else(|| naming::find(&invocation))
                .or_else(|| script::find(&invocation, depth, by_shell))
                .map(|(what, path)| Attempt {
                    by: invocation.display(),
                    what,
                    path,
                })
        })
        .or_else(|| by_walk(guarded, analysis))
        .or_else(|| by_assignment(guarded, analysis))
        .or_else(|| by_doubt(analysis, text))
}

/// Code that changes what it finds in a folder that holds what is guarded.
fn by_walk(guarded: &Guarded<'_>, analysis: &Analysis) -> Option<Attempt> {
    let hit = walk::by_code(guarded, analysis)?;
    Some(Attempt {
        by: "the code".to_owned(),
        what: format!("change `{}`, which it finds", hit.display()),
        path: Some(hit),
    })
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
            .then(|| Judged::new(guarded, analysis, &here).in_text(&value.text))
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
            if let Some(named) = named(text).or_else(|| named(&doubt.text)) {
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
