//! What a HOOK.md hook answered, as signals.

use serde_json::{Map, Value};

use crate::event::{Trigger, parse_json};
use crate::hook_md::Hook;
use crate::oracle::OracleError;
use crate::process::{Exit, Finished};
use crate::signal::{Manner, Modification, Signal};

/// How much of a hook's words is passed on; hosts cut longer texts.
const MAX_TEXT: usize = 8_000;

/// Reads what a hook that was run has answered.
pub(super) fn read(
    hook: &Hook,
    trigger: Trigger,
    input: Option<&Value>,
    finished: &Finished,
) -> Result<Vec<Signal>, OracleError> {
    let mut signals = said(hook, trigger, input, finished)?;
    // Nobody sees what a hook says that is not waited for. What blocks has its error output as the reason already.
    if hook.front.is_async && finished.exit == Exit::Code(0) {
        let stderr = finished.stderr_text();
        signals.extend(for_log("hook-stderr", hook.name(), [&stderr]));
    }
    Ok(signals)
}

/// Returns texts that are for the log alone, as one signal; none where they are blank.
pub(crate) fn for_log<const N: usize>(
    kind: &'static str,
    about: &str,
    texts: [&str; N],
) -> Vec<Signal> {
    let texts = texts.into_iter().map(str::trim);
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        return Vec::new();
    }
    let signal = Signal::aid(kind, shortened(&texts.join("\n")));
    vec![signal.fingerprint([kind, about]).manner(Manner::ForLog)]
}

fn said(
    hook: &Hook,
    trigger: Trigger,
    input: Option<&Value>,
    finished: &Finished,
) -> Result<Vec<Signal>, OracleError> {
    let name = hook.name();
    match finished.exit {
        Exit::Code(0) => {}
        Exit::Code(2) => return Ok(vec![block(hook, trigger, &finished.stderr_text())]),
        Exit::Code(code) => {
            return Err(OracleError::failed(format!(
                "the hook `{name}` ended with exit code {code}{}",
                last_words(&finished.stderr_text())
            )));
        }
        Exit::Signal(signal) => {
            return Err(OracleError::failed(format!(
                "the hook `{name}` was ended by signal {signal}{}",
                last_words(&finished.stderr_text())
            )));
        }
        Exit::TimedOut => {
            return Err(OracleError::TimedOut(format!(
                "the hook `{name}` did not end within {} ms",
                hook.front.timeout.as_millis()
            )));
        }
    }
    let stdout = finished.stdout_text();
    let stdout = stdout.trim();
    if stdout.is_empty() {
        return Ok(Vec::new());
    }
    match parse_json(stdout.as_bytes()) {
        Ok(Value::Object(answer)) => answered(hook, trigger, input, &answer),
        _ if !is_text(stdout) => Err(OracleError::failed(format!(
            "the hook `{name}` wrote an answer that cannot be read, or says a key twice: {}",
            one_line(stdout)
        ))),
        _ if takes_text(trigger) => {
            let said = Signal::aid("hook-context", shortened(stdout));
            let said = said.fingerprint(["hook-context", name, stdout]);
            // What is said at the end of a turn is about that turn, and not about the next prompt.
            Ok(vec![if trigger == Trigger::PreAgentTurnStop {
                said.manner(Manner::AtOnce)
            } else {
                said
            }])
        }
        _ => Ok(for_log("hook-log", name, [stdout])),
    }
}

/// Whether output that is not an answer is words: a JSON object that broke off may have been a refusal, and so may what is not text.
pub(crate) fn is_text(stdout: &str) -> bool {
    !stdout.starts_with('{') && !stdout.contains(['\0', '\u{fffd}'])
}

/// Whether text on stdout is context for the agent.
const fn takes_text(trigger: Trigger) -> bool {
    matches!(
        trigger,
        Trigger::PreAgentTurn | Trigger::PreSession | Trigger::PreAgentTurnStop
    )
}

fn answered(
    hook: &Hook,
    trigger: Trigger,
    input: Option<&Value>,
    answer: &Map<String, Value>,
) -> Result<Vec<Signal>, OracleError> {
    let name = hook.name();
    let text = |key: &str| {
        answer
            .get(key)
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let reason = text("reason").unwrap_or_default();
    let mut signals = Vec::new();
    match answer.get("decision") {
        None | Some(Value::Null) => {}
        Some(Value::String(decision)) => match decision.as_str() {
            "allow" | "approve" | "" => {}
            "deny" | "block" => signals.push(block(hook, trigger, reason)),
            "ask" => {
                let message = if reason.is_empty() {
                    format!("the hook `{name}` wants this to be confirmed")
                } else {
                    shortened(reason)
                };
                signals.push(
                    Signal::prompt("hook-ask", &*message)
                        .must_be_answered()
                        .fingerprint(["hook-ask", name, &message]),
                );
            }
            other => {
                return Err(OracleError::failed(format!(
                    "the hook `{name}` answered `{other}`; `allow`, `deny` and `ask` are known"
                )));
            }
        },
        Some(other) => {
            return Err(OracleError::failed(format!(
                "the hook `{name}` answered `{other}` for `decision`, which is not text"
            )));
        }
    }
    if let (Some(Value::Object(updated)), Some(input)) = (answer.get("modified_input"), input) {
        let modifications = modifications(input, updated);
        if !modifications.is_empty() {
            let why = if reason.is_empty() {
                format!("the hook `{name}` changes the input")
            } else {
                shortened(reason)
            };
            signals.push(
                Signal::control("hook-modified", modifications)
                    .reason(why)
                    .fingerprint(["hook-modified", name]),
            );
        }
    }
    let aid = |kind, text: &str| Signal::aid(kind, shortened(text)).fingerprint([kind, name, text]);
    signals.extend(text("additional_context").map(|text| aid("hook-context", text)));
    let log = text("log").map(|text| aid("hook-log", text));
    signals.extend(log.map(|log| log.manner(Manner::ForLog)));
    Ok(signals)
}

fn block(hook: &Hook, trigger: Trigger, reason: &str) -> Signal {
    let name = hook.name();
    let reason = match reason.trim() {
        "" => format!("blocked by hook {name}"),
        reason => shortened(reason),
    };
    let step = if trigger == Trigger::PreAgentTurnStop {
        "Do what the reason asks for, then finish".to_owned()
    } else {
        format!("Change the operation so that the hook `{name}` no longer objects, and try again")
    };
    Signal::block("hook-blocked", &*reason)
        .steps([step])
        .fingerprint(["hook-blocked", name, &reason])
}

/// Returns what a hook's modified input changes; keys that it leaves out stay as they are.
fn modifications(input: &Value, updated: &Map<String, Value>) -> Vec<Modification> {
    updated
        .iter()
        .filter(|(key, value)| input.get(key.as_str()) != Some(value))
        .map(|(key, value)| Modification {
            target: pointer(key),
            original: input.get(key.as_str()).cloned().unwrap_or_default(),
            updated: value.clone(),
            reason: String::new(),
        })
        .collect()
}

fn pointer(key: &str) -> String {
    if key.contains(['.', '/', '~']) {
        format!("/{}", key.replace('~', "~0").replace('/', "~1"))
    } else {
        format!("tool.input.{key}")
    }
}

/// Returns a text of a length that hosts pass on whole.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.trim();
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    let mut end = MAX_TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text.get(..end).unwrap_or_default();
    format!("{kept}… ({} more bytes)", text.len() - end)
}

fn last_words(stderr: &str) -> String {
    match stderr.trim().lines().next_back() {
        Some(line) => format!(": {}", one_line(line)),
        None => String::new(),
    }
}

fn one_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(200).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
