//! What a script can answer, and how the answer is refined.

use rhai::{Array, Dynamic, Engine, Map};

use crate::oracle::rhai::limits::{Fallible, failure};
use crate::oracle::rhai::list::texts;
use crate::oracle::rhai::value::{self, map};
use crate::signal::{Intensity, Modification, Payload, Severity, Signal};

/// What a script gives back: no objection, or a signal.
#[derive(Clone, Debug)]
pub(in super::super) struct Answer {
    pub(in super::super) signal: Option<Signal>,
}

impl Answer {
    fn of(signal: Signal) -> Self {
        Self {
            signal: Some(signal),
        }
    }

    fn with(&self, change: impl FnOnce(Signal) -> Signal) -> Self {
        Self {
            signal: self.signal.clone().map(change),
        }
    }
}

/// The type of a signal whose script gave it none; replaced by the script's name.
pub(in super::super) const UNTYPED: &str = "";

pub(super) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<Answer>("Answer");
    engine.register_fn("accept", || Answer { signal: None });
    said(engine, "block", |reason| Signal::block(UNTYPED, reason));
    said(engine, "prompt", |message| Signal::prompt(UNTYPED, message));
    said(engine, "aid", |info| Signal::aid(UNTYPED, info));
    engine.register_fn("signal", |name: &str, text: &str| -> Fallible<_> {
        Ok(Answer::of(Signal::with(intensity(name)?, UNTYPED, text)))
    });
    engine.register_fn(
        "signal",
        |name: &str, text: &str, steps: Dynamic| -> Fallible<_> {
            let signal = Signal::with(intensity(name)?, UNTYPED, text);
            Ok(Answer::of(signal.steps(texts(&steps)?)))
        },
    );
    engine.register_fn("control", |list: Array| -> Fallible<_> {
        let modifications = list.iter().map(modification).collect::<Result<_, _>>()?;
        Ok(Answer::of(Signal::control(UNTYPED, modifications)))
    });
    engine.register_fn(
        "modify",
        |target: &str, original: Dynamic, updated: Dynamic, reason: &str| {
            map([
                ("target", target.into()),
                ("original", original),
                ("updated", updated),
                ("reason", reason.into()),
            ])
        },
    );
    register_parts(engine);
    register_setters(engine);
}

/// Registers an answer of a text, without steps and with them.
fn said(engine: &mut Engine, name: &str, signal: fn(&str) -> Signal) {
    engine.register_fn(name, move |text: &str| Answer::of(signal(text)));
    engine.register_fn(name, move |text: &str, steps: Dynamic| -> Fallible<_> {
        Ok(Answer::of(signal(text).steps(texts(&steps)?)))
    });
}

/// Functions by the names under which they are registered.
type Named<F> = &'static [(&'static str, F)];

/// Registers what is read of an answer.
fn register_parts(engine: &mut Engine) {
    let parts: Named<fn(&Signal) -> Dynamic> = &[
        ("type", |signal| signal.header.kind.as_str().into()),
        ("intensity", |signal| signal.intensity().name().into()),
        ("text", |signal| signal.payload.text().into()),
        ("files", |signal| strings(&signal.context.files)),
        ("steps", |signal| strings(signal.payload.steps())),
        ("asks", |signal| signal.asks().into()),
        ("severity", |signal| {
            match (&signal.payload, signal.severity) {
                (_, Some(severity)) => severity.name().into(),
                (Payload::Prompt(prompt), None) => prompt.severity.name().into(),
                _ => Dynamic::UNIT,
            }
        }),
    ];
    for &(name, part) in parts {
        engine.register_get(name, move |answer: &mut Answer| {
            answer.signal.as_ref().map_or(Dynamic::UNIT, part)
        });
    }
}

/// Registers what refines an answer; what an answer of this intensity does not have is left alone.
fn register_setters(engine: &mut Engine) {
    let lists: Named<fn(Signal, Vec<String>) -> Signal> = &[
        ("files", |signal, paths| signal.files(paths)),
        ("steps", |signal, steps| signal.steps(steps)),
        ("fingerprint", |signal, parts| signal.fingerprint(parts)),
        ("best_practices", |mut signal, list| {
            if let Payload::Aid(aid) = &mut signal.payload {
                aid.best_practices = list;
            }
            signal
        }),
    ];
    for &(name, set) in lists {
        let set = move |answer: &mut Answer, list: Dynamic| -> Fallible<_> {
            let list = texts(&list)?;
            Ok(answer.with(|signal| set(signal, list)))
        };
        engine.register_fn(name, set);
    }
    let changes: Named<fn(Signal) -> Signal> = &[
        ("must_be_answered", Signal::must_be_answered),
        ("unresolvable", Signal::unresolvable),
        ("irreversible", |mut signal| {
            if let Payload::Control(control) = &mut signal.payload {
                control.reversible = false;
            }
            signal
        }),
    ];
    for &(name, change) in changes {
        engine.register_fn(name, move |answer: &mut Answer| answer.with(change));
    }
    engine.register_fn("type", |answer: &mut Answer, kind: &str| {
        let kind = crate::config::kebab_case(kind);
        answer.with(|mut signal| {
            signal.header.kind = kind;
            signal
        })
    });
    engine.register_fn("because", |answer: &mut Answer, reason: &str| {
        answer.with(|signal| signal.reason(reason))
    });
    let severity = |answer: &mut Answer, level: &str| -> Fallible<_> {
        let wrong =
            || format!("`{level}` is not a severity; expected low, medium, high or critical");
        let mut levels = Severity::ALL.into_iter();
        let level = levels
            .find(|known| known.name() == level)
            .ok_or_else(|| failure(wrong()))?;
        Ok(answer.with(|signal| signal.severity(level)))
    };
    engine.register_fn("severity", severity);
    let about = |answer: &mut Answer, rule: &str, objects: Dynamic| -> Fallible<_> {
        let objects = texts(&objects)?;
        Ok(answer.with(|signal| signal.about_each(rule, objects)))
    };
    engine.register_fn("about", about);
}

fn strings(list: &[String]) -> Dynamic {
    Dynamic::from_array(list.iter().map(|item| item.as_str().into()).collect())
}

fn intensity(name: &str) -> Fallible<Intensity> {
    match Intensity::find(name) {
        Some(Intensity::Control) | None => Err(failure(format!(
            "`{name}` is not an intensity that a text alone can have; expected block, prompt or aid"
        ))),
        Some(intensity) => Ok(intensity),
    }
}

fn modification(value: &Dynamic) -> Fallible<Modification> {
    let wrong =
        || failure("a modification is made with `modify(target, original, updated, reason)`");
    let map = value.read_lock::<Map>().ok_or_else(wrong)?;
    let text = |key: &str| {
        map.get(key)
            .filter(|v| v.is_string())
            .map(ToString::to_string)
    };
    let json = |key: &str| map.get(key).map(value::to_json);
    Ok(Modification {
        target: text("target").ok_or_else(wrong)?,
        original: json("original").unwrap_or_default(),
        updated: json("updated").ok_or_else(wrong)?,
        reason: text("reason").unwrap_or_default(),
    })
}
