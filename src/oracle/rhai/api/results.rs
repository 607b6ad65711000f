//! What a script can answer, and how the answer is refined.

use rhai::{Array, Dynamic, Engine, EvalAltResult, Map};

use super::{Function, Group};
use crate::oracle::rhai::limits::{Fallible, failure};
use crate::oracle::rhai::list::texts;
use crate::oracle::rhai::value;
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

pub(super) const GROUP: Group = Group {
    title: "Answers",
    doc: "`evaluate` returns one of these, or a list of them. An empty list is `accept()`.",
    functions: &[
        Function {
            signature: "accept()",
            doc: "No objection.",
            example: "accept().intensity == ()",
            register: |engine| {
                engine.register_fn("accept", || Answer { signal: None });
            },
        },
        Function {
            signature: "block(reason, steps = [])",
            doc: "The operation does not go on. `steps` say how to resolve it, in order.",
            example: r#"block("the tests fail", ["run `cargo test`", "fix what fails"]).steps.len() == 2"#,
            register: |engine| {
                engine.register_fn("block", |reason: &str| {
                    Answer::of(Signal::block(UNTYPED, reason))
                });
                engine.register_fn("block", |reason: &str, steps: Dynamic| {
                    Ok::<_, Box<EvalAltResult>>(Answer::of(
                        Signal::block(UNTYPED, reason).steps(texts(&steps)?),
                    ))
                });
            },
        },
        Function {
            signature: "control(modifications)",
            doc: "The operation goes on, changed: each modification is made with `modify`.",
            example: r#"control([modify("tool.input.command", "git push", "git push --dry-run", "only a rehearsal")]).intensity == "control""#,
            register: |engine| {
                engine.register_fn("control", |list: Array| {
                    let modifications = list.iter().map(modification).collect::<Result<_, _>>()?;
                    Ok::<_, Box<EvalAltResult>>(Answer::of(Signal::control(UNTYPED, modifications)))
                });
            },
        },
        Function {
            signature: "modify(target, original, updated, reason)",
            doc: "One change: `target` is a dotted path into the tool's input (`tool.input.command`), a JSON Pointer, or the name of a parameter of the operation. `tool.command` and `tool.content` are where the host has them; so are a `command`, `file_path` or `content` that it calls otherwise.",
            example: r#"modify("batch_size", 40, 20, "smaller batches").updated == 20"#,
            register: |engine| {
                engine.register_fn(
                    "modify",
                    |target: &str, original: Dynamic, updated: Dynamic, reason: &str| -> Map {
                        [
                            ("target".into(), target.into()),
                            ("original".into(), original),
                            ("updated".into(), updated),
                            ("reason".into(), reason.into()),
                        ]
                        .into()
                    },
                );
            },
        },
        Function {
            signature: "prompt(message, suggestions = [])",
            doc: "A warning that may be answered; the operation goes on.",
            example: r#"prompt("a large change", ["split it"]).severity == "medium""#,
            register: |engine| {
                engine.register_fn("prompt", |message: &str| {
                    Answer::of(Signal::prompt(UNTYPED, message))
                });
                engine.register_fn("prompt", |message: &str, suggestions: Dynamic| {
                    Ok::<_, Box<EvalAltResult>>(Answer::of(
                        Signal::prompt(UNTYPED, message).steps(texts(&suggestions)?),
                    ))
                });
            },
        },
        Function {
            signature: "aid(info, follow_ups = [])",
            doc: "Advice that changes nothing.",
            example: r#"aid("this file has an owner", ["ask her"]).intensity == "aid""#,
            register: |engine| {
                engine.register_fn("aid", |info: &str| Answer::of(Signal::aid(UNTYPED, info)));
                engine.register_fn("aid", |info: &str, follow_ups: Dynamic| {
                    Ok::<_, Box<EvalAltResult>>(Answer::of(
                        Signal::aid(UNTYPED, info).steps(texts(&follow_ups)?),
                    ))
                });
            },
        },
        Function {
            signature: "signal(intensity, text, steps = [])",
            doc: "A block, a prompt or an aid, as `intensity` says: for a script that lets its configuration decide.",
            example: r#"signal("block", "no", ["do this first"]).intensity == "block""#,
            register: |engine| {
                engine.register_fn("signal", |name: &str, text: &str| {
                    Ok::<_, Box<EvalAltResult>>(Answer::of(Signal::with(
                        intensity(name)?,
                        UNTYPED,
                        text,
                    )))
                });
                engine.register_fn("signal", |name: &str, text: &str, steps: Dynamic| {
                    Ok::<_, Box<EvalAltResult>>(Answer::of(
                        Signal::with(intensity(name)?, UNTYPED, text).steps(texts(&steps)?),
                    ))
                });
            },
        },
    ],
};

pub(super) const SETTERS: Group = Group {
    title: "Refining an answer",
    doc: "Each gives back the answer, so that they can be chained. What an answer of this intensity does not have is left alone.",
    functions: &[
        Function {
            signature: "answer.type(name)",
            doc: "The kind of finding, in kebab-case; else the script's name.",
            example: r#"block("no").type("missing-docs").type == "missing-docs""#,
            register: |engine| {
                engine.register_fn("type", |answer: &mut Answer, kind: &str| {
                    let kind = crate::config::kebab_case(kind);
                    answer.with(|mut signal| {
                        signal.header.kind = kind;
                        signal
                    })
                });
                engine.register_get("type", |answer: &mut Answer| {
                    part(answer, |signal| signal.header.kind.as_str().into())
                });
                engine.register_get("intensity", |answer: &mut Answer| {
                    part(answer, |signal| signal.intensity().name().into())
                });
                engine.register_get("text", |answer: &mut Answer| {
                    part(answer, |signal| signal.payload.text().into())
                });
            },
        },
        Function {
            signature: "answer.files(paths)",
            doc: "The files concerned.",
            example: r#"prompt("look").files(["src/main.rs"]).files.len() == 1"#,
            register: |engine| {
                engine.register_fn("files", |answer: &mut Answer, paths: Dynamic| {
                    let paths = texts(&paths)?;
                    Ok::<_, Box<EvalAltResult>>(answer.with(|signal| signal.files(paths)))
                });
                engine.register_get("files", |answer: &mut Answer| {
                    part(answer, |signal| strings(&signal.context.files))
                });
            },
        },
        Function {
            signature: "answer.steps(list)",
            doc: "The steps of a block, the suggestions of a prompt, the follow-ups of an aid.",
            example: r#"block("no").steps(["first this"]).steps[0] == "first this""#,
            register: |engine| {
                engine.register_fn("steps", |answer: &mut Answer, steps: Dynamic| {
                    let steps = texts(&steps)?;
                    Ok::<_, Box<EvalAltResult>>(answer.with(|signal| signal.steps(steps)))
                });
                engine.register_get("steps", |answer: &mut Answer| {
                    part(answer, |signal| strings(signal.payload.steps()))
                });
            },
        },
        Function {
            signature: "answer.severity(level)",
            doc: "How grave what was found is: low, medium, high or critical.",
            example: r#"prompt("careful").severity("high").severity == "high""#,
            register: |engine| {
                engine.register_fn("severity", |answer: &mut Answer, level: &str| {
                    let level = Severity::ALL
                        .into_iter()
                        .find(|severity| severity.name() == level)
                        .ok_or_else(|| {
                            failure(format!(
                                "`{level}` is not a severity; expected low, medium, high or critical"
                            ))
                        })?;
                    Ok::<_, Box<EvalAltResult>>(answer.with(|signal| signal.severity(level)))
                });
                engine.register_get("severity", |answer: &mut Answer| {
                    part(answer, |signal| match (&signal.payload, signal.severity) {
                        (_, Some(severity)) => severity.name().into(),
                        (Payload::Prompt(prompt), None) => prompt.severity.name().into(),
                        _ => Dynamic::UNIT,
                    })
                });
            },
        },
        Function {
            signature: "answer.must_be_answered()",
            doc: "Somebody must answer this prompt before the operation goes on.",
            example: r#"prompt("really?").must_be_answered().asks"#,
            register: |engine| {
                engine.register_fn("must_be_answered", |answer: &mut Answer| {
                    answer.with(Signal::must_be_answered)
                });
                engine.register_get("asks", |answer: &mut Answer| {
                    part(answer, |signal| signal.asks().into())
                });
            },
        },
        Function {
            signature: "answer.unresolvable()",
            doc: "The agent cannot resolve this block itself.",
            example: r#"block("ask the owner").unresolvable().intensity == "block""#,
            register: |engine| {
                engine.register_fn("unresolvable", |answer: &mut Answer| {
                    answer.with(Signal::unresolvable)
                });
            },
        },
        Function {
            signature: "answer.because(reason)",
            doc: "Why a control changes what it changes; the text of any other answer.",
            example: r#"control([]).because("safer").text == "safer""#,
            register: |engine| {
                engine.register_fn("because", |answer: &mut Answer, reason: &str| {
                    answer.with(|signal| signal.reason(reason))
                });
            },
        },
        Function {
            signature: "answer.irreversible()",
            doc: "The change that this control makes cannot be taken back.",
            example: r#"control([]).irreversible().intensity == "control""#,
            register: |engine| {
                engine.register_fn("irreversible", |answer: &mut Answer| {
                    answer.with(|mut signal| {
                        if let Payload::Control(control) = &mut signal.payload {
                            control.reversible = false;
                        }
                        signal
                    })
                });
            },
        },
        Function {
            signature: "answer.best_practices(list)",
            doc: "Practices that help here, for an aid.",
            example: r#"aid("hint").best_practices(["small commits"]).intensity == "aid""#,
            register: |engine| {
                engine.register_fn("best_practices", |answer: &mut Answer, list: Dynamic| {
                    let list = texts(&list)?;
                    Ok::<_, Box<EvalAltResult>>(answer.with(|mut signal| {
                        if let Payload::Aid(aid) = &mut signal.payload {
                            aid.best_practices = list;
                        }
                        signal
                    }))
                });
            },
        },
        Function {
            signature: "answer.about(rule, objects)",
            doc: "Which rule is broken, and by what: each object is a finding of its own, by which it is counted, escalates and is waived, however the answer is worded.",
            example: r#"prompt("2 files are too long").about("file-too-long", ["a.rs", "b.rs"]).intensity == "prompt""#,
            register: |engine| {
                engine.register_fn(
                    "about",
                    |answer: &mut Answer, rule: &str, objects: Dynamic| {
                        let objects = texts(&objects)?;
                        Ok::<_, Box<EvalAltResult>>(
                            answer.with(|signal| signal.about_each(rule, objects)),
                        )
                    },
                );
            },
        },
        Function {
            signature: "answer.fingerprint(parts)",
            doc: "What was found, where that is more than `about` says: an answer to a prompt then holds only for findings of the same fingerprint.",
            example: r#"prompt("3 files").fingerprint(["a.rs", "b.rs"]).intensity == "prompt""#,
            register: |engine| {
                engine.register_fn("fingerprint", |answer: &mut Answer, parts: Dynamic| {
                    let parts = texts(&parts)?;
                    Ok::<_, Box<EvalAltResult>>(answer.with(|signal| signal.fingerprint(parts)))
                });
            },
        },
    ],
};

fn part(answer: &Answer, of: fn(&Signal) -> Dynamic) -> Dynamic {
    answer.signal.as_ref().map_or(Dynamic::UNIT, of)
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

/// Makes answers known to the interpreter.
pub(super) fn register_type(engine: &mut Engine) {
    engine.register_type_with_name::<Answer>("Answer");
}
