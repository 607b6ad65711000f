//! OTLP: records as the log records of OpenTelemetry, in the JSON form of the protocol (opentelemetry-proto 1.x: camel-case
//! names, 64-bit integers as texts, enumerations as numbers), one `ExportLogsServiceRequest` a batch.
//!
//! Attributes are `ahp.` and the name of the column, and those of the GenAI conventions that name a tool call (status:
//! development). The names that are proposed for guardrails are not agreed, so none of them is written.

use serde_json::{Value, json};

use crate::identity::Identity;
use crate::rows::Maker;
use crate::table::{Cell, Rows};

/// The number and the name of a severity (OTLP, SeverityNumber).
const ERROR: (u32, &str) = (17, "ERROR");
const WARN: (u32, &str) = (13, "WARN");
const INFO: (u32, &str) = (9, "INFO");

/// Columns that stand elsewhere in a log record or in its resource.
const ELSEWHERE: &[&str] = &[
    "log_id",
    "machine",
    "team",
    "repo",
    "environment",
    "ahp",
    "time",
    "time_ms",
    "tool",
    "text",
];

/// Returns one request with the signals, answers and stopped evaluations of a batch; with `all` every evaluation.
pub(crate) fn request(maker: &Maker<'_>, identity: &Identity, log_id: &str, all: bool) -> Value {
    let mut found: Vec<(i64, Value)> = Vec::new();
    let newest = Newest::of(maker);
    for rows in [&maker.evaluations, &maker.signals, &maker.answers] {
        for row in &rows.rows {
            let text = |name| rows.cell(row, name).as_text();
            let is_stopped = matches!(text("decision"), Some("block" | "ask"));
            if rows.table.name != "evaluations" || all || is_stopped {
                let seq = rows.cell(row, "seq").as_int().unwrap_or_default();
                found.push((seq, log_record(rows, row, newest)));
            }
        }
    }
    found.sort_by_key(|(seq, _)| *seq);
    let records: Vec<Value> = found.into_iter().map(|(_, record)| record).collect();
    whole(maker, identity, log_id, &records)
}

/// Returns a request that tells of records that were left out because their chain is broken.
pub(crate) fn broken(
    maker: &Maker<'_>,
    identity: &Identity,
    log_id: &str,
    at_ms: i64,
    told: &str,
) -> Value {
    let nanos = nanos(at_ms.saturating_mul(1000));
    let record = json!({
        "timeUnixNano": nanos, "observedTimeUnixNano": nanos,
        "severityNumber": ERROR.0, "severityText": ERROR.1, "eventName": "ahp.broken",
        "body": {"stringValue": told},
    });
    whole(maker, identity, log_id, &[record])
}

fn whole(maker: &Maker<'_>, identity: &Identity, log_id: &str, records: &[Value]) -> Value {
    let newest = Newest::of(maker);
    let mut resource = vec![
        text("service.name", "ahp"),
        text(
            "service.version",
            newest.ahp.unwrap_or(env!("CARGO_PKG_VERSION")),
        ),
        text("host.id", &identity.machine()),
        text("ahp.log.id", log_id),
    ];
    resource.extend(
        newest
            .environment
            .map(|name| text("deployment.environment.name", name)),
    );
    resource.extend(identity.team().map(|team| text("ahp.team", &team)));
    resource.extend(identity.repo().map(|repo| text("ahp.repo", &repo)));
    resource.extend(
        identity
            .repo()
            .filter(|_| identity.names())
            .map(|repo| text("vcs.repository.url.full", &repo)),
    );
    json!({"resourceLogs": [{
        "resource": {"attributes": resource},
        "scopeLogs": [{"scope": {"name": "ahp.signal_log", "version": "1"}, "logRecords": records}],
    }]})
}

/// What the resource of a batch says of its newest evaluation.
#[derive(Clone, Copy)]
struct Newest<'m> {
    environment: Option<&'m str>,
    ahp: Option<&'m str>,
}

impl<'m> Newest<'m> {
    fn of(maker: &'m Maker<'_>) -> Self {
        let row = maker.evaluations.rows.last();
        let cell = |name| row.and_then(|row| maker.evaluations.cell(row, name).as_text());
        Self {
            environment: cell("environment"),
            ahp: cell("ahp"),
        }
    }
}

fn log_record(rows: &Rows, row: &[Cell], newest: Newest<'_>) -> Value {
    let cell = |name| rows.cell(row, name).as_text();
    let (event, kind) = match rows.table.name {
        "evaluations" => ("ahp.evaluation", cell("decision")),
        "signals" => ("ahp.signal", cell("intensity")),
        _ => ("ahp.answer", cell("action")),
    };
    let (number, name) = match (event, kind) {
        ("ahp.signal", Some("block")) => ERROR,
        ("ahp.signal", Some("control" | "prompt")) => WARN,
        _ => INFO,
    };
    let body: Vec<&str> = [kind, cell("hook"), cell("tool").or(cell("binding"))]
        .into_iter()
        .flatten()
        .collect();
    let mut attributes: Vec<Value> = Vec::new();
    for (column, value) in rows.table.columns().zip(row) {
        if !ELSEWHERE.contains(&column.name) {
            attributes.extend(attribute(&format!("ahp.{}", column.name), value));
        }
    }
    // A batch may go over a change of these, of which its resource tells the last.
    for (name, of_resource) in [("environment", newest.environment), ("ahp", newest.ahp)] {
        let other = cell(name).filter(|own| of_resource != Some(*own));
        attributes.extend(other.map(|own| text(&format!("ahp.{name}"), own)));
    }
    if let Some(words) = cell("text") {
        attributes.push(text("ahp.text", words));
    }
    if let Some(tool) = cell("tool") {
        attributes.push(text("gen_ai.operation.name", "execute_tool"));
        attributes.push(text("gen_ai.tool.name", tool));
    }
    attributes.extend(cell("session").map(|session| text("gen_ai.conversation.id", session)));
    let time = nanos(rows.cell(row, "time").as_int().unwrap_or_default());
    json!({
        "timeUnixNano": time, "observedTimeUnixNano": time,
        "severityNumber": number, "severityText": name, "eventName": event,
        "body": {"stringValue": body.join(" ")}, "attributes": attributes,
    })
}

fn nanos(micros: i64) -> String {
    (i128::from(micros) * 1000).to_string()
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn attribute(key: &str, cell: &Cell) -> Option<Value> {
    let value = match cell {
        Cell::Null => return None,
        Cell::Text(text) => json!({"stringValue": &**text}),
        Cell::Int(n) => json!({"intValue": n.to_string()}),
        Cell::Bool(is) => json!({"boolValue": is}),
    };
    Some(json!({"key": key, "value": value}))
}
