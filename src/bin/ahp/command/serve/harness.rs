//! The Agent Hooks Protocol 0.1 (working draft `0.1.0-draft.1`): `hooks/intercept` and `hooks/observe`.

use ahp::host::Queue;
use serde::Deserialize;
use serde_json::{Value, json};

use super::event::HarnessEvent;
use super::judge::Judge;
use super::rpc::Error;

/// The version that is spoken.
const VERSION: &str = "0.1";

/// The one type of events that can be intercepted.
const INTERCEPTED: &str = "tool.before";

/// The name under which words wait for a later answer.
const QUEUE: &str = "agent-hooks-protocol";

#[derive(Deserialize)]
struct Params {
    event: HarnessEvent,
    #[serde(default)]
    capabilities: Capabilities,
}

#[derive(Default, Deserialize)]
struct Capabilities {
    #[serde(default)]
    effects: Vec<String>,
}

fn read(params: Value) -> Result<Params, Error> {
    // Another version may have other fields, so it is told first.
    let version = params.get("protocolVersion").unwrap_or(&Value::Null);
    if version != VERSION {
        return Err(Error::unsupported_version(version, VERSION));
    }
    serde_json::from_value(params).map_err(|why| Error::bad_params(why.to_string()))
}

/// Judges what is about to happen: one `deny` with its reason, or no effect.
pub(super) fn intercept(judge: &Judge, id: Option<&Value>, params: Value) -> Result<Value, Error> {
    let Params {
        event,
        capabilities,
    } = read(params)?;
    if id.and_then(Value::as_str) != Some(&event.id) {
        return Err(Error::not_a_request(
            "`id` must be the same text as `event.id`",
        ));
    }
    if event.kind != INTERCEPTED {
        return Err(Error::not_interceptable(&event.kind));
    }
    let can_deny = capabilities.effects.iter().any(|effect| effect == "deny");
    match deny(judge, event)? {
        None => Ok(json!({ "protocolVersion": VERSION, "effects": [] })),
        Some(reason) if can_deny => Ok(json!({
            "protocolVersion": VERSION,
            "effects": [{ "type": "deny", "reason": reason }],
        })),
        Some(reason) => Err(Error::cannot_deny(&reason)),
    }
}

/// Takes note of what has happened; there is no answer.
pub(super) fn observe(judge: &Judge, id: Option<&Value>, params: Value) -> Result<Value, Error> {
    if id.is_some() {
        let why = "`hooks/observe` is a notification: leave out `id`";
        return Err(Error::not_a_request(why));
    }
    deny(judge, read(params)?.event)?;
    Ok(Value::Null)
}

/// Returns why an event is denied; none where it is not.
fn deny(judge: &Judge, event: HarnessEvent) -> Result<Option<String>, Error> {
    let key = (event.source.clone(), event.id.clone());
    let queue = judge
        .state_dir()
        .map(|dir| Queue::new(dir, QUEUE, event.session_id()));
    let event = event.into_event().map_err(Error::bad_params)?;
    Ok(judge.known.answer(key, || {
        let judged = judge.evaluate(event);
        let mut message = judged.message();
        let updated = judged.modified_input();
        if judged.decision() < ahp::verdict::Decision::Ask && updated.is_none() {
            // The protocol has no word for advice: it goes out with the next denial.
            if let Some(queue) = queue.filter(|_| !message.is_empty()) {
                queue.add(&message).ok();
            }
            return None;
        }
        if let Some(updated) = updated {
            message.push_str(&format!("\nThe input that would be let through: {updated}"));
        }
        if let Some(queue) = queue {
            for words in queue.waiting() {
                message.push_str(&format!("\n\n{words}"));
            }
            queue.clear();
        }
        Some(message)
    }))
}
