//! Fields: a tool that puts a folder into a host, by what its input says.

use serde_json::Value;

use super::brought;
use super::filled::filled;
use super::found::Found;
use super::guarded::Guarded;
use crate::event::is_path_key;
use crate::shell::lexical;
use crate::words::{holds_any, words};

/// Parts of the names of fields that hold words and no path.
const WORDS: &[&str] = words!("fields-of-words");

/// How deep the input of a tool is looked through.
pub(super) const MAX_DEPTH: usize = 8;
/// The longest text that is taken for a path, in bytes.
const MAX_PATH: usize = 4096;

pub(super) fn holds_words(name: &str) -> bool {
    holds_any(&name.to_lowercase(), WORDS)
}

/// Whether a text is short enough for a path, and of one line.
pub(super) fn may_be_path(text: &str) -> bool {
    text.len() <= MAX_PATH && !text.contains('\n')
}

/// Parts of the names of fields from which something comes.
const SOURCES: &[&str] = words!("fields-of-sources");

/// Ends of the names of files that hold folders.
const ARCHIVES: &[&str] = words!("archive-endings");

/// Finds a tool that is given a place in which a host would load code, and something else that may be put there.
pub(super) fn brings(guarded: &Guarded<'_>, texts: &[(String, &str)]) -> Option<Found> {
    let at = |text: &str| lexical(text, guarded.root(), guarded.home());
    let places = texts.iter().enumerate();
    let mut places = places.filter(|(_, (name, _))| !comes_from(name));
    places.find_map(|(place, (_, text))| {
        let to = &at(text);
        guarded.filled(to)?;
        let others = texts.iter().enumerate().filter(|(n, _)| *n != place);
        let mut sources = others.filter(|(_, (name, text))| {
            let names_source = holds_any(name, SOURCES);
            names_source || text.contains(['/', '~', '.'])
        });
        sources.find_map(|(_, (_, text))| {
            let from = at(text);
            let is_archive = (ARCHIVES.iter()).any(|end| text.to_lowercase().ends_with(end));
            if is_archive || text.contains("://") {
                return filled(guarded, to);
            }
            brought::put(guarded, &from, to)
        })
    })
}

/// Whether a field says where something is taken from, and nothing else.
fn comes_from(name: &str) -> bool {
    ["source", "src", "from", "old"]
        .iter()
        .any(|part| name.contains(part))
}

pub(super) fn texts_of(input: &Value, depth: usize) -> impl Iterator<Item = (String, &str)> {
    let mut texts = Vec::new();
    collect("", input, depth, &mut texts);
    texts.into_iter()
}

fn collect<'a>(name: &str, value: &'a Value, depth: usize, into: &mut Vec<(String, &'a str)>) {
    match value {
        Value::String(text) if may_be_path(text) => {
            into.push((name.to_owned(), text));
        }
        Value::Array(items) if depth > 0 => {
            for item in items {
                collect(name, item, depth - 1, into);
            }
        }
        Value::Object(fields) if depth > 0 => {
            for (key, value) in fields {
                if is_path_key(key) {
                    into.push((name.to_owned(), key));
                }
                if !holds_words(key) {
                    collect(&key.to_lowercase(), value, depth - 1, into);
                }
            }
        }
        _ => {}
    }
}
