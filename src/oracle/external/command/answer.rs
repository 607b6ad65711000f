//! What a command hook answered, as signals.

use serde_json::{Map, Value};

use super::Dialect;
use super::file::Handler;
use crate::event::{Trigger, parse_json};
use crate::oracle::OracleError;
use crate::oracle::external::{for_log, is_text, shortened};
use crate::process::{Exit, Finished};
use crate::signal::{Manner, Modification, Signal};

/// Reads what a command has answered; `shown` names it, and `changes` tells what an input changes that it gives.
pub(super) fn read(
    handler: &Handler,
    shown: &str,
    changes: &dyn Fn(&Map<String, Value>) -> Vec<Modification>,
    finished: &Finished,
) -> Result<Vec<Signal>, OracleError> {
    let stdout = finished.stdout_text();
    let stdout = stdout.trim();
    let stderr = finished.stderr_text();
    let answer = object(stdout);
    // Claude Code takes JSON at every exit code, the others only at 0.
    let heard = match finished.exit {
        Exit::Code(0) => true,
        Exit::Code(_) => handler.dialect == Dialect::Claude,
        Exit::Signal(_) | Exit::TimedOut => false,
    };
    let mut signals = match &answer {
        Some(answer) if heard => answered(handler, shown, changes, answer),
        _ => Vec::new(),
    };
    let said = || match stderr.trim() {
        "" => format!("blocked by {shown}"),
        text => shortened(text),
    };
    match finished.exit {
        Exit::Code(0) => match answer {
            Some(_) => Ok(signals),
            None if takes_text(handler.trigger) && !stdout.is_empty() => Ok(vec![
                Signal::aid("hook-context", shortened(stdout))
                    .fingerprint(["hook-context", stdout]),
            ]),
            None if !is_text(stdout) => Err(OracleError::failed(format!(
                "{shown} wrote an answer that cannot be read: {}",
                stdout.lines().next().unwrap_or_default()
            ))),
            // No host takes the output of a formatter for an answer.
            None => Ok(signals),
        },
        Exit::Code(2) => {
            let blocks = |signal: &Signal| signal.intensity() == crate::signal::Intensity::Block;
            let ends = |signal: &Signal| signal.manner == Some(Manner::EndsRun);
            let is_over = handler.trigger.is_stop() && signals.iter().any(ends);
            if !is_over && !signals.iter().any(blocks) {
                signals.insert(0, block(handler, shown, &said()));
            }
            Ok(signals)
        }
        Exit::Code(_) if answer.is_some() && heard => Ok(signals),
        Exit::Code(code)
            if handler.dialect == Dialect::Copilot && handler.trigger == Trigger::PreToolUse =>
        {
            let reason = format!("{shown} failed with exit code {code}: {}", stderr.trim());
            Ok(vec![block(handler, shown, &reason)])
        }
        Exit::Code(code) => Err(OracleError::failed(format!(
            "{shown} ended with exit code {code}: {}",
            stderr
                .trim()
                .lines()
                .next_back()
                .unwrap_or("it says nothing")
        ))),
        Exit::Signal(signal) => Err(OracleError::failed(format!(
            "{shown} was ended by signal {signal}"
        ))),
        Exit::TimedOut => Err(OracleError::TimedOut(format!(
            "{shown} did not end within its timeout"
        ))),
    }
}

/// Returns what a command said that nobody waits for: it decides nothing, and the log tells of it.
pub(super) fn noted(shown: &str, finished: &Finished) -> Vec<Signal> {
    let ended = match finished.exit {
        Exit::Code(0) => String::new(),
        Exit::Code(code) => format!("{shown} ended with exit code {code}"),
        Exit::Signal(signal) => format!("{shown} was ended by signal {signal}"),
        Exit::TimedOut => format!("{shown} did not end within its timeout"),
    };
    let (stdout, stderr) = (finished.stdout_text(), finished.stderr_text());
    for_log("hook-log", shown, [&ended, &stdout, &stderr])
}

/// Returns the JSON object on stdout; behind lines that only tell of progress, the last one.
fn object(stdout: &str) -> Option<Map<String, Value>> {
    if !stdout.starts_with('{') {
        return None;
    }
    let read = |text: &str| match parse_json(text.as_bytes()) {
        Ok(Value::Object(map)) => Some(map),
        _ => None,
    };
    read(stdout).or_else(|| {
        let lines = stdout
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let objects: Option<Vec<Map<String, Value>>> = lines.map(read).collect();
        let is_progress =
            |map: &Map<String, Value>| map.get("type").and_then(Value::as_str) == Some("progress");
        Some(
            objects?
                .into_iter()
                .rfind(|map| !is_progress(map))
                .unwrap_or_default(),
        )
    })
}

/// Whether text on stdout is context for the agent.
const fn takes_text(trigger: Trigger) -> bool {
    matches!(trigger, Trigger::PreSession | Trigger::PreAgentTurn)
}

fn answered(
    handler: &Handler,
    shown: &str,
    changes: &dyn Fn(&Map<String, Value>) -> Vec<Modification>,
    answer: &Map<String, Value>,
) -> Vec<Signal> {
    let nested = answer.get("hookSpecificOutput").and_then(Value::as_object);
    let find = |key: &str| {
        nested
            .and_then(|nested| nested.get(key))
            .or_else(|| answer.get(key))
    };
    let text = |key: &str| {
        find(key)
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let or_default =
        |text: Option<&str>| text.map_or_else(|| format!("blocked by {shown}"), shortened);
    let mut signals = Vec::new();
    let ends_run = answer.get("continue") == Some(&Value::Bool(false));
    if ends_run {
        let reason = or_default(text("stopReason"));
        // A block of a stop makes the agent go on, which is the opposite.
        let signal = if handler.trigger.is_stop() || !handler.trigger.is_pre() {
            Signal::aid("hook-ends-run", &*reason).fingerprint(["hook-ends-run", &reason])
        } else {
            block(handler, shown, &reason)
        };
        signals.push(signal.manner(Manner::EndsRun));
    }
    match text("permissionDecision") {
        Some("deny") => {
            let reason = or_default(text("permissionDecisionReason"));
            signals.push(block(handler, shown, &reason));
        }
        Some("ask") => {
            let message = text("permissionDecisionReason")
                .map_or_else(|| format!("{shown} wants this to be confirmed"), shortened);
            signals.push(
                Signal::prompt("hook-ask", &*message)
                    .must_be_answered()
                    .fingerprint(["hook-ask", &message]),
            );
        }
        _ => {}
    }
    // Whoever ends the run has the last word at a stop, as every host has it.
    let is_over = ends_run && handler.trigger.is_stop();
    if !is_over && matches!(text("decision"), Some("block" | "deny")) {
        signals.push(block(handler, shown, &or_default(text("reason"))));
    }
    let updated = ["updatedInput", "modifiedArgs"]
        .iter()
        .find_map(|key| find(key));
    if let Some(Value::Object(updated)) = updated {
        let modifications = changes(updated);
        if !modifications.is_empty() {
            signals.push(
                Signal::control("hook-modified", modifications)
                    .reason(
                        text("permissionDecisionReason")
                            .map_or_else(|| format!("{shown} changes the input"), shortened),
                    )
                    .fingerprint(["hook-modified", shown]),
            );
        }
    }
    let aid = |kind, text: &str| Signal::aid(kind, shortened(text)).fingerprint([kind, text]);
    signals.extend(text("additionalContext").map(|text| aid("hook-context", text)));
    let message = text("systemMessage").map(|text| aid("hook-message", text));
    signals.extend(message.map(|message| message.manner(Manner::ForPerson)));
    signals
}

fn block(handler: &Handler, shown: &str, reason: &str) -> Signal {
    let step = if handler.trigger == Trigger::PreAgentTurnStop {
        "Do what the reason asks for, then finish".to_owned()
    } else {
        format!("Change the operation so that {shown} no longer objects, and try again")
    };
    Signal::block("hook-blocked", reason)
        .steps([step])
        .fingerprint(["hook-blocked", reason])
}
