//! Scan: reads a line of the log by hand, several times as fast as a general JSON parser reads it.
//!
//! It knows the compact JSON that the writer makes: no spaces, plain texts where a text is wanted. Whatever is unusual it
//! leaves to the general parser; what nobody asks for (the event, the payload) it passes over without checking it.

use super::cursor::Cursor;
use super::line::Line;
use super::line::LineContext;
use super::line::LineHeader;
use super::line::LineReport;
use super::line::LineResponse;
use super::line::LineSignal;
use crate::signal::Actor;

/// Reads a line without its newline; none where it is unusual or no record.
pub(super) fn scan(line: &[u8]) -> Option<Line<'_>> {
    let mut cursor = Cursor::new(std::str::from_utf8(line).ok()?);
    // Read in place: a line is large, and there are millions of them.
    let mut found = Line::empty();
    let (mut has_seq, mut has_timestamp, mut has_kind) = (false, false, false);
    cursor.object(|cursor, key| {
        match key {
            "seq" => {
                found.seq = cursor.number()?;
                has_seq = true;
            }
            "timestamp" => {
                found.timestamp = cursor.string()?;
                has_timestamp = true;
            }
            "kind" => {
                found.kind = cursor.word()?;
                has_kind = true;
            }
            "hook" => cursor.optional(&mut found.hook, Cursor::text)?,
            "decision" => cursor.optional(&mut found.decision, Cursor::word)?,
            "host" => cursor.optional(&mut found.host, Cursor::text)?,
            "session_id" => cursor.optional(&mut found.session_id, Cursor::text)?,
            "issue_id" => cursor.optional(&mut found.issue_id, Cursor::text)?,
            "bindings" => {
                // Most events have a handful; a list that grows moves what it holds.
                found.bindings.reserve(8);
                cursor.array(|cursor| {
                    found.bindings.push(report(cursor)?);
                    Some(())
                })?;
            }
            "duration_us" => found.duration_us = cursor.number()?,
            "signal" => found.signal = Some(signal(cursor)?),
            "binding" => cursor.optional(&mut found.binding, Cursor::text)?,
            "source" => cursor.optional(&mut found.source, Cursor::text)?,
            "fingerprint" => cursor.optional(&mut found.fingerprint, Cursor::text)?,
            "response" => found.response = Some(response(cursor)?),
            "subject" => cursor.optional(&mut found.subject, Cursor::text)?,
            "refused" => cursor.optional(&mut found.refused, Cursor::text)?,
            // Rare: left to the general parser.
            "notice" => return None,
            _ => cursor.skip()?,
        }
        Some(())
    })?;
    (has_seq && has_timestamp && has_kind && cursor.is_at_end()).then_some(found)
}

fn report<'a>(cursor: &mut Cursor<'a>) -> Option<LineReport<'a>> {
    let (mut id, mut oracle, mut outcome, mut source) = (None, None, None, None);
    let (mut duration_us, mut error, mut waived) = (0, None, Vec::new());
    cursor.object(|cursor, key| {
        match key {
            "id" => id = Some(cursor.text()?),
            "oracle" => oracle = Some(cursor.text()?),
            "outcome" => outcome = Some(cursor.word()?),
            "source" => source = Some(cursor.text()?),
            "duration_us" => duration_us = cursor.number()?,
            "error" => cursor.optional(&mut error, Cursor::text)?,
            "waived" => cursor.array(|cursor| {
                waived.push(cursor.uuid()?);
                Some(())
            })?,
            _ => cursor.skip()?,
        }
        Some(())
    })?;
    Some(LineReport {
        id: id?,
        oracle: oracle?,
        outcome: outcome?,
        source: source?,
        duration_us,
        error,
        waived,
    })
}

fn signal<'a>(cursor: &mut Cursor<'a>) -> Option<LineSignal<'a>> {
    let (mut header, mut context) = (None, None);
    cursor.object(|cursor, key| {
        match key {
            "header" => header = Some(self::header(cursor)?),
            "context" => context = Some(self::context(cursor)?),
            _ => cursor.skip()?,
        }
        Some(())
    })?;
    Some(LineSignal {
        header: header?,
        context: context?,
    })
}

fn header<'a>(cursor: &mut Cursor<'a>) -> Option<LineHeader<'a>> {
    let (mut id, mut kind, mut source, mut intensity, mut correlation_id) =
        (None, None, None, None, None);
    cursor.object(|cursor, key| {
        match key {
            "id" => id = Some(cursor.uuid()?),
            "type" => kind = Some(cursor.text()?),
            "source" => source = Some(cursor.text()?),
            "intensity" => intensity = Some(cursor.word()?),
            "correlation_id" => cursor.optional(&mut correlation_id, Cursor::uuid)?,
            _ => cursor.skip()?,
        }
        Some(())
    })?;
    Some(LineHeader {
        id: id?,
        kind: kind?,
        source: source?,
        intensity: intensity?,
        correlation_id,
    })
}

fn context<'a>(cursor: &mut Cursor<'a>) -> Option<LineContext<'a>> {
    let (mut hook, mut issue_id) = (None, None);
    cursor.object(|cursor, key| {
        match key {
            "hook" => hook = Some(cursor.text()?),
            "issue_id" => cursor.optional(&mut issue_id, Cursor::text)?,
            _ => cursor.skip()?,
        }
        Some(())
    })?;
    Some(LineContext {
        hook: hook?,
        issue_id,
    })
}

fn response(cursor: &mut Cursor<'_>) -> Option<LineResponse> {
    let (mut signal_id, mut action, mut by, mut inferred) = (None, None, Actor::default(), false);
    cursor.object(|cursor, key| {
        match key {
            "signal_id" => signal_id = Some(cursor.uuid()?),
            "action" => action = Some(cursor.word()?),
            "by" => by = cursor.word()?,
            "inferred" => inferred = cursor.flag()?,
            _ => cursor.skip()?,
        }
        Some(())
    })?;
    Some(LineResponse {
        signal_id: signal_id?,
        action: action?,
        by,
        inferred,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVALUATION: &str = r#"{"seq":7,"timestamp":"2026-02-09T10:00:00.5Z","kind":"evaluation","hook":"pre-tool-use","decision":"block","host":"codex","session_id":"s1","issue_id":"FEAT-1","tool":"Bash","digest":"00","event":{"a":["}",{"b":"\\"}],"c":"say \"{[\" twice","d":-1.5e3,"e":null},"bindings":[{"id":"a","oracle":"o","outcome":"not-run","source":".ahp/hooks.yaml:4","duration_us":12,"error":null},{"id":"b","oracle":"o","outcome":"failed","source":"x","duration_us":3,"error":"timed out","waived":["01890a5d-ac96-774b-bcce-b302099a8057"]}],"skipped":2,"duration_us":15,"prev":"0","hash":"1"}"#;
    const SIGNAL: &str = r#"{"seq":8,"timestamp":"t","kind":"signal","signal":{"header":{"id":"01890a5d-ac96-774b-bcce-b302099a8057","type":"finding","timestamp":"t","source":"o","intensity":"prompt","correlation_id":"01890a5d-ac96-774b-bcce-b302099a8057"},"context":{"hook":"pre-tool-use","issue_id":null,"files":[]},"payload":{"message":"a\nb","suggestions":[]}},"binding":"a","source":"x:1","override":false,"fingerprint":"f","prev":"0","hash":"1"}"#;
    const RESPONSE: &str = r#"{"seq":9,"timestamp":"t","kind":"response","response":{"signal_id":"01890a5d-ac96-774b-bcce-b302099a8057","consumed_at":"t","action":"dismiss","details":{"note":"é"},"by":"human","inferred":true},"hook":"h","binding":"a","subject":"FEAT-1","refused":"no","prev":"0","hash":"1"}"#;

    #[test]
    fn a_line_is_read_as_the_general_parser_reads_it() {
        for line in [EVALUATION, SIGNAL, RESPONSE] {
            let found = scan(line.as_bytes()).unwrap();
            assert_eq!(found, serde_json::from_str(line).unwrap());
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_the_general_parser() {
        for (usual, unusual) in [
            ("\"pre-tool-use\"", "\"pre-tool-us\\u0065\""),
            (",\"tool\"", ", \"tool\""),
            ("\"skipped\"", "\"notice\":{\"torn_bytes\":3},\"skipped\""),
        ] {
            let line = EVALUATION.replace(usual, unusual);
            assert_eq!(scan(line.as_bytes()), None, "{unusual}");
            let read = Line::parse(line.as_bytes()).unwrap();
            assert_eq!(read.hook.as_deref(), Some("pre-tool-use"));
        }
    }

    #[test]
    fn a_line_that_is_cut_anywhere_or_is_something_else_is_no_record() {
        for line in [EVALUATION, SIGNAL, RESPONSE] {
            for cut in 0..line.len() {
                assert_eq!(scan(line.as_bytes().get(..cut).unwrap()), None, "{cut}");
            }
        }
        for line in [
            "{}",
            "[]",
            "null",
            "{\"seq\":1}",
            "{\"seq\":1,\"timestamp\":\"t\",\"kind\":\"x\"}",
        ] {
            assert_eq!(scan(line.as_bytes()), None, "{line}");
            assert!(Line::parse(line.as_bytes()).is_err(), "{line}");
        }
        let more = format!("{EVALUATION}x");
        assert!(Line::parse(more.as_bytes()).is_err());
    }
}
