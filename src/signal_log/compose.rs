//! Compose: records become lines, each numbered and chained to the one before.

use chrono::{DateTime, Utc};

use super::lock::Anchor;
use super::tail::Tail;
use super::writer::Request;
use super::{Appended, LogError, Notice, frame};

/// The lines of some appends.
pub(super) struct Composed {
    pub(super) lines: Vec<u8>,
    /// The last of them, as the new anchor.
    pub(super) last: Anchor,
    /// What there is of each append.
    pub(super) appended: Vec<Appended>,
}

/// Makes the lines of some appends, which go on where the chain ends.
pub(super) fn compose(
    requests: &[&Request],
    tail: &Tail,
    mut notice: Option<Notice>,
) -> Result<Composed, LogError> {
    let bodies = requests.iter().flat_map(|request| &request.bodies);
    let mut lines = Vec::with_capacity(bodies.map(|b| b.len() + 256).sum());
    if tail.unterminated {
        lines.push(b'\n');
    }
    let mut last = Anchor {
        seq: tail.seq,
        hash: tail.hash.clone(),
    };
    let mut written = Vec::with_capacity(requests.len());
    for request in requests {
        let mut appended = Appended {
            first_seq: last.seq + 1,
            notice,
            ..Appended::default()
        };
        for body in &request.bodies {
            let start = lines.len();
            last.seq += 1;
            write_head(&mut lines, last.seq, request.now, body)?;
            if let Some(notice) = notice.take() {
                lines.extend_from_slice(b",\"notice\":");
                serde_json::to_writer(&mut lines, &notice)?;
            }
            last.hash = frame::close_line(&mut lines, start, &last.hash);
        }
        appended.last_seq = last.seq;
        written.push(appended);
    }
    Ok(Composed {
        lines,
        last,
        appended: written,
    })
}

/// Writes `{"seq":N,"timestamp":"…",` and the members of the body, the brace left open.
fn write_head(
    lines: &mut Vec<u8>,
    seq: u64,
    now: DateTime<Utc>,
    body: &[u8],
) -> serde_json::Result<()> {
    lines.extend_from_slice(b"{\"seq\":");
    serde_json::to_writer(&mut *lines, &seq)?;
    lines.extend_from_slice(b",\"timestamp\":");
    serde_json::to_writer(&mut *lines, &now)?;
    lines.push(b',');
    let members = body.strip_prefix(b"{").and_then(|b| b.strip_suffix(b"}"));
    lines.extend_from_slice(members.unwrap_or_default());
    Ok(())
}
