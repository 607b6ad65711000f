//! Scan: reads a line of the log by hand, several times as fast as a general JSON parser reads it.
//!
//! It knows the compact JSON that the writer makes: no spaces, plain texts where a text is wanted. Whatever is unusual it
//! leaves to the general parser, so that both give the same; what nobody asks for (the event, the payload) is passed over.

use super::cursor::Cursor;
use super::line::Kind;
use super::line::Line;
use super::line::LineContext;
use super::line::LineHeader;
use super::line::LineReport;
use super::line::LineResponse;
use super::line::LineSignal;
use crate::signal::Actor;

/// Reads the line that a text begins with; returns where it ends, or none where it is unusual or no record.
///
/// It is read into its place: a line is large, and there are millions of them.
pub(super) fn scan<'a>(text: &'a str, found: &mut Line<'a>) -> Option<usize> {
    let mut cursor = Cursor::new(text);
    found.clear();
    if cursor
        .try_to(|cursor| usual_evaluation(cursor, found))
        .is_none()
    {
        found.clear();
        any(&mut cursor, found)?;
    }
    cursor.line_end()
}

/// Reads an evaluation whose members stand in the order in which the writer puts them: most of a log are these.
#[inline]
fn usual_evaluation<'a>(cursor: &mut Cursor<'a>, found: &mut Line<'a>) -> Option<()> {
    cursor.take_all("{\"seq\":")?;
    found.seq = cursor.number()?;
    cursor.take_all(",\"timestamp\":")?;
    found.timestamp = cursor.string()?;
    cursor.take_all(",\"kind\":\"evaluation\",\"hook\":")?;
    found.kind = Kind::Evaluation;
    found.hook = Some(cursor.text()?);
    cursor.take_all(",\"decision\":")?;
    found.decision = Some(cursor.word()?);
    if cursor.has(",\"host\":") {
        found.host = Some(cursor.text()?);
    }
    if cursor.has(",\"session_id\":") {
        found.session_id = Some(cursor.text()?);
    }
    if cursor.has(",\"issue_id\":") {
        found.issue_id = Some(cursor.text()?);
    }
    if cursor.has(",\"tool\":") {
        cursor.skip()?;
    }
    cursor.take_all(",\"digest\":")?;
    cursor.skip()?;
    if cursor.has(",\"event\":") {
        cursor.skip()?;
    }
    cursor.take_all(",\"bindings\":")?;
    reports(cursor, &mut found.bindings)?;
    if cursor.has(",\"skipped\":") {
        cursor.skip()?;
    }
    cursor.take_all(",\"duration_us\":")?;
    found.duration_us = cursor.number()?;
    cursor.take_all(",\"prev\":")?;
    cursor.skip()?;
    cursor.take_all(",\"hash\":")?;
    cursor.skip()?;
    cursor.take_all("}")
}

/// Reads a record whose members stand in any order.
fn any<'a>(cursor: &mut Cursor<'a>, found: &mut Line<'a>) -> Option<()> {
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
                reports(cursor, &mut found.bindings)?;
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
    (has_seq && has_timestamp && has_kind).then_some(())
}

#[inline]
fn reports<'a>(cursor: &mut Cursor<'a>, found: &mut Vec<LineReport<'a>>) -> Option<()> {
    cursor.array(|cursor| {
        if let Some(report) = cursor.try_to(usual_report) {
            found.push(report);
        } else {
            found.push(report(cursor)?);
        }
        Some(())
    })
}

/// Reads the report of a binding that did not fail and was not held back: most of a log are these.
#[inline]
fn usual_report<'a>(cursor: &mut Cursor<'a>) -> Option<LineReport<'a>> {
    cursor.take_all("{\"id\":")?;
    let id = cursor.text()?;
    cursor.take_all(",\"oracle\":")?;
    let oracle = cursor.text()?;
    cursor.take_all(",\"outcome\":")?;
    let outcome = cursor.word()?;
    cursor.take_all(",\"source\":")?;
    let source = cursor.text()?;
    cursor.take_all(",\"duration_us\":")?;
    let duration_us = cursor.number()?;
    cursor.take_all(",\"error\":null}")?;
    Some(LineReport {
        id,
        oracle,
        outcome,
        source,
        duration_us,
        error: None,
        waived: Vec::new(),
    })
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

    fn scanned(line: &str) -> Option<Line<'_>> {
        let mut found = Line::empty();
        scan(line, &mut found).map(|end| {
            assert_eq!(end, line.len());
            found
        })
    }

    #[test]
    fn a_line_is_read_as_the_general_parser_reads_it() {
        for line in [EVALUATION, SIGNAL, RESPONSE] {
            assert_eq!(scanned(line).unwrap(), serde_json::from_str(line).unwrap());
        }
    }

    proptest::proptest! {
        /// What is read by hand is what the general parser reads, whatever has been done to a line.
        #[test]
        fn a_damaged_line_is_read_as_the_general_parser_reads_it(
            which in 0..3_usize,
            damage in proptest::collection::vec((0..4_u8, 0..1000_usize, 0..12_usize), 1..4),
        ) {
            const BYTES: &[u8; 12] = b"\"\\{}[],:0e\x01n";
            let mut line = [EVALUATION, SIGNAL, RESPONSE][which].as_bytes().to_vec();
            for (how, at, which) in damage {
                let at = at % line.len();
                match how {
                    0 => line[at] = BYTES[which],
                    1 => line.insert(at, BYTES[which]),
                    2 => drop(line.remove(at)),
                    _ => {
                        let again: Vec<u8> = line[at..].iter().take(which * 8).copied().collect();
                        line.splice(at..at, again);
                    }
                }
            }
            let mut found = Line::empty();
            if let Ok(text) = std::str::from_utf8(&line) && scan(text, &mut found) == Some(text.len()) {
                proptest::prop_assert_eq!(found, serde_json::from_str(text).unwrap(), "{}", text);
            }
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
            assert_eq!(scanned(&line), None, "{unusual}");
            let read = Line::parse(line.as_bytes()).unwrap();
            assert_eq!(read.hook.as_deref(), Some("pre-tool-use"));
        }
    }

    #[test]
    fn a_line_that_is_cut_anywhere_or_is_something_else_is_no_record() {
        for line in [EVALUATION, SIGNAL, RESPONSE] {
            for cut in line.char_indices().map(|(cut, _)| cut) {
                assert_eq!(scanned(line.get(..cut).unwrap()), None, "{cut}");
            }
        }
        for line in [
            "{}",
            "[]",
            "null",
            "{\"seq\":1}",
            "{\"seq\":1,\"timestamp\":\"t\",\"kind\":\"x\"}",
        ] {
            assert_eq!(scanned(line), None, "{line}");
            assert!(Line::parse(line.as_bytes()).is_err(), "{line}");
        }
        let more = format!("{EVALUATION}x");
        assert!(Line::parse(more.as_bytes()).is_err());
    }
}
