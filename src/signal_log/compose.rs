//! Compose: records become lines, each numbered and chained to the one before.

use chrono::DateTime;
use chrono::Utc;

use super::Appended;
use super::LogError;
use super::Notice;
use super::frame;
use super::lock::Anchor;
use super::tail::Tail;
use super::writer::Request;

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
    let mut clock = Seconds::default();
    for request in requests {
        let now = clock.text(request.now);
        let mut appended = Appended {
            first_seq: last.seq + 1,
            notice,
            ..Appended::default()
        };
        for body in &request.bodies {
            let start = lines.len();
            last.seq += 1;
            write_head(&mut lines, last.seq, &now, body)?;
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
fn write_head(lines: &mut Vec<u8>, seq: u64, now: &str, body: &[u8]) -> serde_json::Result<()> {
    lines.extend_from_slice(b"{\"seq\":");
    serde_json::to_writer(&mut *lines, &seq)?;
    lines.extend_from_slice(b",\"timestamp\":\"");
    lines.extend_from_slice(now.as_bytes());
    lines.extend_from_slice(b"\",");
    let members = body.strip_prefix(b"{").and_then(|b| b.strip_suffix(b"}"));
    lines.extend_from_slice(members.unwrap_or_default());
    Ok(())
}

/// The last second that was written: most appends of one write happened in the same one.
#[derive(Debug, Default)]
struct Seconds(Option<(i64, String)>);

impl Seconds {
    /// Returns a time in RFC 3339, with as many digits behind the second as say all of it.
    fn text(&mut self, time: DateTime<Utc>) -> String {
        let second = time.timestamp();
        let mut text = match &self.0 {
            Some((last, text)) if *last == second => text.clone(),
            _ => {
                let text = time.format("%Y-%m-%dT%H:%M:%S").to_string();
                self.0 = Some((second, text.clone()));
                text
            }
        };
        let nanos = time.timestamp_subsec_nanos();
        let (fraction, digits) = match nanos {
            0 => (0, 0),
            n if n % 1_000_000 == 0 => (n / 1_000_000, 3),
            n if n % 1_000 == 0 => (n / 1_000, 6),
            n => (n, 9),
        };
        if digits > 0 {
            text.push('.');
            let mut unit = 10_u32.pow(digits - 1);
            while unit > 0 {
                text.push(char::from_digit(fraction / unit % 10, 10).unwrap_or('0'));
                unit /= 10;
            }
        }
        text.push('Z');
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn times_are_written_as_they_are_in_json(
            seconds in prop::collection::vec(-62_167_219_200_i64..253_402_300_800, 1..4),
            nanos in prop_oneof![Just(0), Just(7_000_000), Just(7_000), 0..1_000_000_000_u32],
        ) {
            let mut clock = Seconds::default();
            for second in seconds.iter().chain(&seconds) {
                for nanos in [nanos, 0] {
                    let time = DateTime::from_timestamp(*second, nanos).unwrap();
                    let json = serde_json::to_string(&time).unwrap();
                    prop_assert_eq!(format!("\"{}\"", clock.text(time)), json);
                }
            }
        }
    }
}
