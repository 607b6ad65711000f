//! What a tool call would do to what is guarded.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::fields::{MAX_DEPTH, holds_words, may_be_path, texts_of};
use super::found::{Attempt, Found, on};
use super::guarded::Guarded;
use super::judged::{Judged, Line};
use super::spelling::named;
use super::{clean, code, disarm, fields, front_matter, mention, naming, script, walk};
use crate::event::{ToolCall, ToolKind, ToolView, name_words};
use crate::fact::Facts;
use crate::shell::{Analysis, DoubtKind, Effect, Invocation, PathEffect, lexical};
use crate::words::{holds_any, words};

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
            .or_else(|| front_matter::in_content(&path, content(), |path| is_words(guarded, path)));
        let found = match what {
            Some(what) => (what.to_owned(), Some(path)),
            None => on("change {}", guarded.covers(&path)?),
        };
        Some(Attempt::of(name, found))
    });
    by_path.or_else(|| by_unknown(guarded, facts, tool))
}

/// Whether a path leads to a file of words for an agent, by a link too.
fn is_words(guarded: &Guarded<'_>, path: &Path) -> bool {
    let leads = |path: &Path| {
        let mut words = guarded.links(path).words.iter();
        front_matter::leads_to(guarded.roots(), path) || words.any(|file| file.starts_with(path))
    };
    leads(path) || guarded.followed(path).is_some_and(|path| leads(&path))
}

/// Judges a tool that is not known to only look, by every field that names a file, whatever it is called.
fn by_unknown(guarded: &Guarded<'_>, facts: &Facts, tool: &ToolView) -> Option<Attempt> {
    let call = facts.event().tool.as_ref()?;
    if tool.kind == ToolKind::Shell && !call.is_unknown() {
        return beside_command(guarded, call);
    }
    let input = call.unwrapped();
    // A tool that asks a database is given statements that may do more.
    if let Some(hit) = written_by_sql(guarded, &input) {
        return Some(Attempt::of(&call.name, on("write {}", hit)));
    }
    if tool.only_looks(&call.name) {
        return None;
    }
    let texts: Vec<_> = texts_of(&input, MAX_DEPTH).collect();
    let mut named = texts.iter().map(|(_, text)| *text);
    let mut words = name_words(&call.name).into_iter();
    if words.any(|word| TAKING_AWAY.contains(&word.as_str())) {
        let patterns = ["glob", "pattern"].into_iter();
        let patterns = patterns.filter_map(|key| input.get(key)?.as_str());
        let mut taken = named.clone().chain(patterns);
        if let Some(hit) = taken.find_map(|text| held_by(guarded, text)) {
            return Some(Attempt::of(&call.name, on("take away {}", hit)));
        }
    }
    let paths = tool.paths.iter();
    let mut paths = paths.map(|path| lexical(path, guarded.root(), guarded.home()));
    let hit = named
        .find_map(|text| named_by(guarded, text))
        .or_else(|| paths.find_map(|path| guarded.covers_word(&path)));
    let found = hit.map_or_else(|| fields::brings(guarded, &texts), |hit| Some(given(hit)));
    Some(Attempt::of(&call.name, found?))
}

/// Judges what a shell is given beside its command line: it may be the place where that line runs.
fn beside_command(guarded: &Guarded<'_>, call: &ToolCall) -> Option<Attempt> {
    let beside = call.beside_command();
    let mut places = beside.iter().filter(|given| !holds_words(&given.key));
    let hit = places.find_map(|place| named_by(guarded, &place.text))?;
    Some(Attempt::of(&call.name, given(hit)))
}

/// Words in the names of tools that take files away from where they are.
const TAKING_AWAY: &[&str] = words!("removing-tools");

/// Words of SQL by which a statement writes a file.
const WRITING_SQL: &[&str] = words!("file-writing-sql", lines);

/// Returns what is guarded and lies where a path, or a pattern of paths, leads to a folder or a file that is taken away.
fn held_by(guarded: &Guarded<'_>, text: &str) -> Option<PathBuf> {
    let may_be = may_be_path(text) && text.contains(['.', '/', '~', '*']) && !text.contains(' ');
    let path = || lexical(text, guarded.root(), guarded.home());
    let is_pattern = text.contains(['*', '?', '[']);
    may_be.then(|| guarded.hit(&walk::taken(path(), is_pattern)))?
}

/// Returns what is guarded and named in quotes by a statement that writes files.
fn written_by_sql(guarded: &Guarded<'_>, input: &Value) -> Option<PathBuf> {
    match input {
        Value::String(text) => {
            let lower = text.to_lowercase();
            let quoted = || text.split(['\'', '"']).skip(1).step_by(2);
            holds_any(&lower, WRITING_SQL)
                .then(|| quoted().find_map(|name| named_by(guarded, name)))?
        }
        Value::Array(items) => items.iter().find_map(|item| written_by_sql(guarded, item)),
        Value::Object(fields) => fields.iter().find_map(|(key, value)| {
            let key = key.to_lowercase();
            let is_statement = holds_any(&key, &["sql", "query", "queries", "statement"]);
            let is_told = is_statement || value.is_object() || value.is_array();
            is_told.then(|| written_by_sql(guarded, value))?
        }),
        _ => None,
    }
}

fn given(hit: PathBuf) -> Found {
    on("be given {} and is not known to only read it", hit)
}

/// Returns what is guarded and named by a text as a whole.
fn named_by(guarded: &Guarded<'_>, text: &str) -> Option<PathBuf> {
    let path = || lexical(text, guarded.root(), guarded.home());
    (may_be_path(text) && text.contains(['.', '/', '~'])).then(|| guarded.covers_word(&path()))?
}

/// Judges what a command line would run.
pub(super) fn by_shell(line: &Line<'_>, depth: usize) -> Option<Attempt> {
    let (guarded, analysis) = (line.guarded, line.analysis);
    // What a search deletes is told by its tests and the disk, where the search itself is judged.
    let is_of_search = |effect: &PathEffect| {
        effect.effect == Effect::Delete && walk::started_through(&effect.program).is_some()
    };
    let effects = analysis.writes().into_iter();
    for effect in effects.filter(|effect| !is_of_search(effect)) {
        let brought = || {
            disarm::in_content(&effect.path, analysis.texts()).or_else(|| {
                front_matter::in_line(guarded.roots(), analysis, &effect.path, |path| {
                    is_words(guarded, path)
                })
            })
        };
        if effect.effect == Effect::Write
            && let Some(what) = brought()
        {
            let found = (what.to_owned(), Some(effect.path));
            return Some(Attempt::of(effect.program, found));
        }
        let is_spared = || {
            effect.effect == Effect::Delete
                && effect.program == "git"
                && clean::spares(guarded, analysis)
        };
        if let Some(hit) = guarded.hit(&effect).filter(|_| !is_spared()) {
            let what = match effect.effect {
                Effect::Write => "write {}",
                Effect::Delete => "delete {}",
                Effect::Move => "move {}",
                Effect::Rights => "change the rights of {}",
                Effect::Restore => "replace {}",
            };
            let by = Some(effect.program).filter(|program| !program.is_empty());
            let by = by.unwrap_or_else(|| "the command".to_owned());
            return Some(Attempt::of(by, on(what, hit)));
        }
    }
    let mut programs = line.programs.iter();
    programs
        .find_map(|program| {
            disarm::find(program)
                .or_else(|| code::find(program))
                .or_else(|| naming::find(program))
                .or_else(|| script::find(program, depth, by_shell))
                .map(|found| Attempt::of(program.display(), found))
        })
        .or_else(|| {
            let hit = walk::by_code(guarded, analysis)?;
            Some(Attempt::of(
                "the code",
                on("change {}, which it finds", hit),
            ))
        })
        .or_else(|| by_assignment(guarded, analysis))
        .or_else(|| Some(Attempt::of("the command", by_doubt(analysis, line.text)?)))
}

/// A variable with a value that a shell runs when it is used in a sum, a prompt or an index.
fn by_assignment(guarded: &Guarded<'_>, analysis: &Analysis) -> Option<Attempt> {
    let here = Invocation {
        work_dir: Some(analysis.surroundings.work_dir.clone()),
        ..Invocation::default()
    };
    let here = Judged::new(guarded, analysis, &here);
    let is_code = |text: &str| holds_any(text, &["`", "$(", "()"]);
    analysis.assignments.iter().find_map(|(name, value)| {
        let may_run = !value.dynamic && is_code(&value.text);
        let hit = may_run.then(|| here.in_text(&value.text))??;
        Some(Attempt::of(
            name,
            on("hold a command that may change {}", hit),
        ))
    })
}

/// A part that could not be understood, or not be followed to its end, in a line that names what is guarded.
fn by_doubt(analysis: &Analysis, text: &str) -> Option<Found> {
    let perhaps = |named: &str, why: &str| (format!("perhaps change `{named}`: {why}"), None);
    let limit = "it is too long or too deeply nested to be followed";
    analysis.doubts.iter().find_map(|doubt| {
        if doubt.kind != DoubtKind::TooComplex {
            let named = code::changes_named(&doubt.text)?;
            return Some(perhaps(named, "it could not be understood"));
        }
        if let Some(named) = named(text).or_else(|| named(&doubt.text)) {
            return Some(perhaps(named, limit));
        }
        let disarms = mention::disarms(text) || mention::disarms(&doubt.text);
        disarms.then(|| (format!("perhaps disarm the policy: {limit}"), None))
    })
}
