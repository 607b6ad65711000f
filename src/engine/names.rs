//! Names that others choose: ids are kept short enough for records and keys, and no name makes a second line.

use std::borrow::Cow;
use std::sync::Arc;

use crate::event::Event;
use crate::fact::Facts;
use crate::secret::marks;
use crate::signal::{Signal, digest};
use crate::visible::on_one_line;

/// The longest id that is kept whole, in bytes.
const LONGEST: usize = 200;
/// How much is kept of a longer one, in bytes.
const KEPT: usize = 100;

/// Returns an event whose ids are short and stand on one line; nearly all are so as they come.
///
/// A host chooses the names of its sessions. They are keys of what is counted, and stand in every record and in many a
/// message. A longer one is known by its beginning and its digest, so that two of them are not taken for one.
pub(super) fn bounded(mut event: Arc<Event>) -> Arc<Event> {
    let is_plain = |id: &Option<String>| {
        let id = id.as_deref().unwrap_or_default();
        id.len() <= LONGEST && matches!(on_one_line(id), Cow::Borrowed(_))
    };
    let Event {
        session_id,
        root_session_id,
        issue_id,
        environment,
        host,
        ..
    } = &*event;
    if [session_id, root_session_id, issue_id, environment, host]
        .into_iter()
        .all(is_plain)
    {
        return event;
    }
    let changed = Arc::make_mut(&mut event);
    for id in [
        &mut changed.session_id,
        &mut changed.root_session_id,
        &mut changed.issue_id,
        &mut changed.environment,
        &mut changed.host,
    ]
    .into_iter()
    .flatten()
    {
        *id = short(id);
    }
    event
}

fn short(id: &str) -> String {
    let line = on_one_line(id);
    if line.len() <= LONGEST {
        return line.into_owned();
    }
    let kept = line
        .get(..line.floor_char_boundary(KEPT))
        .unwrap_or_default();
    let cut = marks::cut(line.len() - kept.len(), "bytes");
    format!("{kept}…{} {cut}", digest([id]))
}

/// Writes out the line feeds of the names that a signal says: a file may have any name but makes no second line.
pub(super) fn keep_on_lines(signal: &mut Signal, facts: &Facts) {
    let tool = facts.tool().filter(|tool| tool.command.is_none());
    let paths = tool.iter().flat_map(|tool| &tool.paths);
    let names = facts.event().tool.iter().map(|tool| &tool.name);
    let mut parts: Vec<String> = (signal.context.files.iter())
        .chain(paths)
        .chain(names)
        .flat_map(|path| path.split('/'))
        .filter(|part| part.contains(['\n', '\t']) && part.len() < LONGEST)
        .map(str::to_owned)
        .collect();
    if parts.is_empty() {
        return;
    }
    // A name may hold another.
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    for text in signal.payload.texts_mut() {
        for part in &parts {
            if text.contains(part.as_str()) {
                *text = text.replace(part.as_str(), &on_one_line(part));
            }
        }
    }
}
