//! The command line, the past and the time.

use chrono::{DateTime, Datelike as _, FixedOffset, Local, Timelike as _};
use rhai::{Array, Dynamic, Engine, EvalAltResult};

use crate::oracle::rhai::extra::commands;
use crate::oracle::rhai::guard;
use crate::oracle::rhai::limits::{Fallible, MAX_ITEMS, failure};
use crate::oracle::rhai::value::map;
use crate::shell;
use crate::signal_log::{Body, Record};

pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("parse_command", |text: &str| parse_command(text));
    engine.register_fn("history", history);
    engine.register_fn("clock", |time: &str| {
        Ok::<_, Box<EvalAltResult>>(face(&parse_time(time)?.with_timezone(&Local)))
    });
    engine.register_fn("clock", |time: &str, offset: &str| {
        let offset: FixedOffset = offset.parse().map_err(|_| {
            failure(format!(
                "`{offset}` is not an offset; expected one like `+02:00`"
            ))
        })?;
        Ok::<_, Box<EvalAltResult>>(face(&parse_time(time)?.with_timezone(&offset)))
    });
    engine.register_fn("hours_between", |earlier: &str, later: &str| {
        let between = parse_time(later)? - parse_time(earlier)?;
        Ok::<_, Box<EvalAltResult>>(between.as_seconds_f64() / 3600.0)
    });
}

fn parse_time(text: &str) -> Fallible<DateTime<FixedOffset>> {
    DateTime::parse_from_rfc3339(text).map_err(|_| {
        failure(format!(
            "`{text}` is not a time; expected one like `2026-02-09T10:00:00Z`"
        ))
    })
}

fn face<Z: chrono::TimeZone>(time: &DateTime<Z>) -> Dynamic {
    map([
        ("year", i64::from(time.year()).into()),
        ("month", i64::from(time.month()).into()),
        ("day", i64::from(time.day()).into()),
        ("hour", i64::from(time.hour()).into()),
        ("minute", i64::from(time.minute()).into()),
        (
            "weekday",
            i64::from(time.weekday().number_from_monday()).into(),
        ),
    ])
}

fn parse_command(text: &str) -> Dynamic {
    let surroundings =
        guard::facts().map_or_else(shell::Surroundings::default, |facts| shell::Surroundings {
            work_dir: facts.work_dir().to_owned(),
            home: facts.home().map(ToOwned::to_owned),
            project_root: facts.project_root().to_owned(),
        });
    commands(&shell::analyse(text, surroundings))
}

fn history() -> Array {
    let Some(facts) = guard::facts() else {
        return Array::new();
    };
    let Some(subject) = facts.event().subject() else {
        return Array::new();
    };
    let records = facts.history().records(subject);
    let old = records.len().saturating_sub(MAX_ITEMS / 16);
    records.iter().skip(old).map(record).collect()
}

fn record(record: &Record) -> Dynamic {
    let time = record
        .timestamp
        .to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
    match &record.body {
        Body::Evaluation(evaluation) => map([
            ("kind", "evaluation".into()),
            ("timestamp", time.into()),
            ("trigger", evaluation.hook.as_str().into()),
            ("decision", evaluation.decision.name().into()),
        ]),
        Body::Signal(record) => map([
            ("kind", "signal".into()),
            ("timestamp", time.into()),
            ("trigger", record.signal.context.hook.as_str().into()),
            ("binding", record.origin.binding.as_str().into()),
            ("source", record.signal.header.source.as_str().into()),
            ("type", record.signal.header.kind.as_str().into()),
            ("intensity", record.signal.intensity().name().into()),
            ("text", record.signal.payload.text().into()),
        ]),
        Body::Response(record) => map([
            ("kind", "response".into()),
            ("timestamp", time.into()),
            (
                "binding",
                record.binding.as_deref().map_or(Dynamic::UNIT, Into::into),
            ),
            ("action", record.response.action.name().into()),
            (
                "by",
                match record.response.by {
                    crate::signal::Actor::Agent => "agent".into(),
                    crate::signal::Actor::Human => "human".into(),
                },
            ),
        ]),
    }
}
