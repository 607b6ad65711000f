//! The lines that a change adds.

use rhai::{Array, Dynamic, Engine};

use crate::oracle::added;
use crate::oracle::rhai::guard;
use crate::oracle::rhai::limits::{Fallible, MAX_ITEMS, failure};
use crate::oracle::rhai::value::map;

pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("added_lines", added_lines);
}

/// Longer changes are read by nobody, and no list may be longer than the interpreter allows: three values a line.
const MAX_LINES: usize = MAX_ITEMS / 4;

fn added_lines() -> Fallible<Array> {
    let Some(context) = guard::context() else {
        return Ok(Array::new());
    };
    let added = if context.facts.tool().is_some() {
        added::by_tool(&context)
    } else {
        added::by_change(&context).map_err(|error| failure(error.to_string()))?
    };
    let mut lines = Array::new();
    for file in &added {
        // What a command line holds is not a line of a file.
        let Some(path) = &file.path else { continue };
        for (n, text) in file.text.lines().enumerate() {
            if lines.len() == MAX_LINES || guard::is_over() {
                return Ok(lines);
            }
            let line = file.lines.get(n).map_or_else(
                || i64::try_from(n + 1).unwrap_or(i64::MAX),
                |line| i64::from(*line),
            );
            lines.push(map([
                ("path", path.as_str().into()),
                ("line", line.into()),
                ("text", shortened(text)),
            ]));
        }
    }
    Ok(lines)
}

/// A line longer than this is not a line that somebody wrote.
const MAX_LINE: usize = 400;

fn shortened(text: &str) -> Dynamic {
    text.chars().take(MAX_LINE).collect::<String>().into()
}
