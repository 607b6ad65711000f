//! Reading: what would show, copy or pass on the files of ours that no agent may even read.

use std::path::PathBuf;

use serde_json::Value;

use super::fields::{MAX_DEPTH, texts_of};
use super::found::{Attempt, on};
use super::guarded::Guarded;
use super::judged::Line;
use super::reader::{Reading, TAKING};
use super::script;
use super::unread::{Hit, Unread, spelled};
use crate::event::{ToolKind, ToolView};
use crate::fact::Facts;
use crate::shell::{DoubtKind, lexical};
use crate::words::{holds_any, words};

/// Words in the names of tools that tell of files no more than their names and what they are like.
const LISTING: &[&str] = words!("listing-tools");

/// Judges a tool that says which files it is given.
pub(super) fn by_tool(guarded: &Guarded<'_>, facts: &Facts, tool: &ToolView) -> Option<Attempt> {
    let call = facts.event().tool.as_ref()?;
    let is_shell = tool.kind == ToolKind::Shell && !call.is_unknown();
    if is_shell || tool.kind == ToolKind::Agent {
        return None;
    }
    let unread = Unread::of(guarded);
    let name = call.name.to_lowercase();
    let takes = holds_any(&name, TAKING);
    let lists = holds_any(&name, LISTING) && !takes;
    let searches = tool.kind == ToolKind::Search && !lists;
    let work_dir = facts.event().work_dir.as_deref();
    let root = guarded.root();
    let at = |path: &str| {
        let named = [Some(root), work_dir.filter(|dir| *dir != root)];
        let mut paths = named.into_iter().flatten();
        paths.find_map(|dir| {
            let is_pattern = path.contains(['*', '?', '[']);
            let path = lexical(path, dir, guarded.home());
            if is_pattern {
                return unread.met(&path);
            }
            unread.at(&path)
        })
    };
    let counts = |hit: Hit| match hit {
        Hit::File(path) => Some(path),
        Hit::Own(path) => (!lists).then_some(path),
        Hit::Above(path) => (searches || (takes && !lists)).then_some(path),
    };
    let mut texts: Vec<&str> = tool.paths.iter().map(String::as_str).collect();
    let input = call.unwrapped();
    texts.extend(texts_of(&input, MAX_DEPTH).map(|(_, text)| text));
    let found = texts.into_iter().find_map(|text| counts(at(text)?));
    let found = found.or_else(|| in_code(&input, MAX_DEPTH).and_then(counts));
    Some(attempt(call.name.clone(), found?))
}

/// Returns what the fields of a tool name that hold code.
fn in_code(input: &Value, depth: usize) -> Option<Hit> {
    let fields = input.as_object().filter(|_| depth > 0)?;
    fields.iter().find_map(|(name, value)| match value {
        Value::String(code) if matches!(name.as_str(), "code" | "script" | "source_code") => {
            spelled(code)
        }
        _ => in_code(value, depth - 1),
    })
}

fn attempt(by: String, path: PathBuf) -> Attempt {
    Attempt::of(by, on("read {}", path))
}

/// Judges what the programs of a command line would read.
pub(super) fn by_shell(line: &Line<'_>, depth: usize) -> Option<Attempt> {
    let unread = Unread::of(line.guarded);
    let mut programs = line.programs.iter().filter(|program| !program.remote);
    programs
        .find_map(|program| {
            let reading = Reading {
                unread: &unread,
                invocation: program,
            };
            if let Some(hit) = reading.find() {
                return Some(attempt(program.display(), hit.path()));
            }
            let found = script::find(program, depth, by_shell)?;
            Some(Attempt::of(program.display(), found))
        })
        .or_else(|| {
            let mut doubts = line.analysis.doubts.iter();
            let hit = doubts.find_map(|doubt| {
                let is_cut = doubt.kind == DoubtKind::TooComplex;
                spelled(&doubt.text).or_else(|| spelled(line.text).filter(|_| is_cut))
            })?;
            Some(attempt("the command".to_owned(), hit.path()))
        })
}
