//! Methods: what a client may ask, each with its parameters and its result.

use std::panic::AssertUnwindSafe;

use ahp::event::{Event, Trigger};
use ahp::signal::{Action, Actor};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::judge::{Judge, Judged, not_judged};
use super::line::Line;
use super::rpc::{Error, Request};
use super::told::Told;
use super::{harness, rpc};

/// The version of the methods `ahp/…`, which grows with every change that an older client would misread.
const PROTOCOL: u32 = 1;

/// A method: takes the request's id and parameters.
type Method = fn(&Judge, Option<&Value>, Value) -> Result<Value, Error>;

/// Every method.
const METHODS: &[(&str, Method)] = &[
    ("ahp/hello", hello),
    ("ahp/evaluate", evaluate),
    ("ahp/hook", hook),
    ("ahp/respond", respond),
    ("hooks/intercept", harness::intercept),
    ("hooks/observe", harness::observe),
];

/// How the methods of the Agent Hooks Protocol begin, which alone are answered over HTTP.
pub(super) const OF_HARNESSES: &str = "hooks/";

/// Answers a line by one of the methods that begin with `prefix`; nothing for a notification.
pub(super) fn answer(judge: &Judge, line: &Line, prefix: &str) -> Option<Value> {
    let request = match line {
        Line::TooLong(head) => {
            let error = Error::not_a_request("the line is longer than 32 MiB");
            return Some(error.response(Told::of(head).id.as_ref()));
        }
        Line::Whole(line) => Request::read(line),
    };
    let Request { id, method, params } = match request {
        Ok(request) => request,
        Err(refused) => {
            let (error, id) = *refused;
            let stopped = id.as_ref().and_then(|id| {
                let Line::Whole(line) = line else { return None };
                Some((id, unread(judge, line, prefix, &error)?))
            });
            return Some(match stopped {
                Some((id, Ok(result))) => rpc::result(id, &result),
                Some((id, Err(error))) => error.response(Some(id)),
                None => error.response(id.as_ref()),
            });
        }
    };
    let known = METHODS.iter().filter(|(name, _)| name.starts_with(prefix));
    let Some((_, run)) = known.clone().find(|(name, _)| *name == method) else {
        let known: Vec<&str> = known.map(|(name, _)| *name).collect();
        return id.map(|id| Error::unknown_method(&method, &known).response(Some(&id)));
    };
    // What judges holds its own panics; this keeps one elsewhere from taking a thread of the pool away.
    let run = AssertUnwindSafe(|| run(judge, id.as_ref(), params));
    let result = std::panic::catch_unwind(run).unwrap_or_else(|_| Err(Error::failed()));
    let id = id?;
    Some(match result {
        Ok(result) => rpc::result(&id, &result),
        Err(error) => error.response(Some(&id)),
    })
}

/// Stops what is JSON and holds more than is read here: too deep, a number too large, a key twice. Nobody has judged it, and a
/// client may pass over an error.
fn unread(judge: &Judge, line: &[u8], prefix: &str, error: &Error) -> Option<Result<Value, Error>> {
    #[derive(Deserialize)]
    struct Asked<T> {
        params: T,
    }
    #[derive(Deserialize)]
    struct Evaluate {
        event: Head,
    }
    #[derive(Deserialize)]
    struct Head {
        trigger: Trigger,
    }
    #[derive(Deserialize)]
    struct Hook<'a> {
        host: String,
        #[serde(default)]
        event: Option<String>,
        #[serde(borrow)]
        payload: &'a RawValue,
    }
    let method = Told::of(line).method.filter(|_| error.is_unread())?;
    members::<IgnoredAny>(line)?;
    match method.as_str() {
        _ if !method.starts_with(prefix) => None,
        "ahp/evaluate" => {
            let asked = members::<Asked<Evaluate>>(line);
            let trigger = asked.map_or(Trigger::PreToolUse, |asked| asked.params.event.trigger);
            Some(Ok(said(&not_judged(trigger, error.message()))))
        }
        "ahp/hook" => {
            let Hook {
                host,
                event,
                payload,
            } = members::<Asked<Hook<'_>>>(line)?.params;
            Some(hooked(judge, &host, event.as_deref(), payload.get()))
        }
        _ => None,
    }
}

/// Reads some members of a line, if it is JSON as a whole; what else it holds is passed over and may be deeper, larger or said
/// twice.
fn members<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Option<T> {
    serde_json::from_slice(line).ok()
}

/// Answers that there is too much to do.
pub(super) fn busy(why: &str) -> Vec<u8> {
    Error::busy(why).response(None).to_string().into_bytes()
}

fn read<T: for<'de> Deserialize<'de>>(params: Value) -> Result<T, Error> {
    serde_json::from_value(params).map_err(|why| Error::bad_params(why.to_string()))
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of the methods")]
fn hello(judge: &Judge, _: Option<&Value>, _: Value) -> Result<Value, Error> {
    let (project, faults) = judge.project();
    Ok(json!({
        "protocol": PROTOCOL,
        "ahp": env!("CARGO_PKG_VERSION"),
        "project": project,
        "faults": faults,
    }))
}

fn evaluate(judge: &Judge, _: Option<&Value>, params: Value) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Params {
        event: Event,
    }
    let Params { event } = read(params)?;
    Ok(evaluated(judge, event))
}

/// Judges an event in AHP's own form, and says what it came to.
pub(super) fn evaluated(judge: &Judge, event: Event) -> Value {
    said(&judge.evaluate(event))
}

/// Says what an event came to.
fn said(judged: &Judged) -> Value {
    let verdicts: Vec<Value> = judged
        .verdicts
        .iter()
        .map(|(issue_id, verdict)| {
            json!({ "trigger": verdict.trigger, "issue_id": issue_id, "verdict": verdict })
        })
        .collect();
    json!({
        "decision": judged.decision(),
        "modified_input": judged.modified_input(),
        "message": judged.message(),
        "verdicts": verdicts,
    })
}

fn hook(judge: &Judge, _: Option<&Value>, params: Value) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Params {
        host: String,
        #[serde(default)]
        event: Option<String>,
        payload: Map<String, Value>,
    }
    let params: Params = read(params)?;
    let payload = Value::Object(params.payload).to_string();
    hooked(judge, &params.host, params.event.as_deref(), &payload)
}

/// Judges what a host gives its hook, and says it in the host's own words.
fn hooked(judge: &Judge, host: &str, event: Option<&str>, payload: &str) -> Result<Value, Error> {
    let answered = judge.hook(host, event, None, payload.as_bytes());
    let (decision, reply) = answered.map_err(Error::bad_params)?;
    let object = match reply.object() {
        Value::Null => json!({}),
        object => object,
    };
    let told = json!({
        "decision": decision,
        "reply": object,
        "exit_code": reply.exit_code(),
        "stderr": reply.stderr,
    });
    if reply.blocks && reply.stdout.is_empty() {
        return Err(Error::by_exit_code(&reply.stderr, told));
    }
    Ok(told)
}

fn respond(judge: &Judge, _: Option<&Value>, params: Value) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Params {
        signal: String,
        action: Action,
        #[serde(default)]
        details: Map<String, Value>,
        #[serde(default)]
        by: Actor,
    }
    let params: Params = read(params)?;
    judge
        .respond(&params.signal, params.action, params.details, params.by)
        .map_err(Error::bad_params)?;
    Ok(json!({ "recorded": true }))
}
