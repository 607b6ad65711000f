//! Exit code: where each host says how a command ended, in words of its own that no program's output can pass for.

use serde_json::Value;

use super::Payload;
use super::payload::EXIT_CODE;
use crate::event::{ToolKind, Trigger};

/// Reads the number behind the words with which a line begins.
fn number(line: &str, words: &str) -> Option<i64> {
    let rest = line.trim().strip_prefix(words)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '-')
        .unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// Notes an exit code that was found.
fn put(payload: &mut Payload, code: Option<i64>) {
    if let Some(code) = code {
        payload.put(EXIT_CODE, code);
    }
}

/// Whether the tool of the payload runs command lines, and is not told to go on behind the agent's back.
fn runs_to_its_end(payload: &Payload) -> bool {
    let name = payload.str("tool_name").unwrap_or_default();
    let input = payload.fields.get("tool_input");
    let is_behind = ["run_in_background", "is_background"].iter().any(|key| {
        let told = input.and_then(|input| input.get(key));
        told.is_some_and(|told| *told != Value::Bool(false))
    });
    ToolKind::of(name) == ToolKind::Shell && !is_behind
}

fn text<'p>(payload: &'p Payload, pointer: &str) -> Option<&'p str> {
    let mut parts = pointer.split('/');
    let first = payload.fields.get(parts.next()?)?;
    let inner = parts.try_fold(first, |value, key| value.get(key))?;
    inner.as_str()
}

/// Claude Code: the first line of `error`; a command of which it tells as one that ran ended with 0, unless it was
/// interrupted, or what its code means was made up.
pub(super) fn claude_code(payload: &mut Payload, trigger: Trigger) {
    let response = payload.fields.get("tool_response");
    let says = |key: &str| {
        let told = response.and_then(|response| response.get(key));
        told.is_some_and(|told| !matches!(told, Value::Null | Value::Bool(false)))
    };
    let is_certain = response.is_some_and(Value::is_object)
        && !says("interrupted")
        && !says("backgroundTaskId")
        && !says("returnCodeInterpretation");
    let code = match trigger {
        Trigger::PostToolUseFailure => {
            let first = payload.str("error").and_then(|error| error.lines().next());
            first.and_then(|line| number(line, "Exit code "))
        }
        Trigger::PostToolUse if is_certain && runs_to_its_end(payload) => Some(0),
        _ => None,
    };
    put(payload, code);
}

/// Codex: of a patch the first line; of a command nothing.
pub(super) fn codex(payload: &mut Payload) {
    let is_patch = payload.str("tool_name") == Some("apply_patch");
    let first = payload
        .str("tool_response")
        .and_then(|text| text.lines().next());
    let code = first.and_then(|line| number(line, "Exit code: "));
    put(payload, code.filter(|_| is_patch));
}

/// Returns the lines with which Gemini CLI and Qwen Code end what a command printed, the last first. What is cut off
/// before that has none.
fn trailer(told: &str) -> Option<impl Iterator<Item = &str>> {
    let mut lines = told.lines().rev().skip_while(|line| line.starts_with("</"));
    let last = lines.next()?;
    last.starts_with("Process Group PGID: ").then_some(lines)
}

/// Gemini CLI: its own line directly before the last one, which is not there at 0, nor certain of what was killed.
pub(super) fn gemini_cli(payload: &mut Payload) {
    let told = text(payload, "tool_response/llmContent").unwrap_or_default();
    let code = trailer(told).and_then(|lines| {
        let mut own = lines.skip_while(|line| line.starts_with("Background PIDs: "));
        let line = own.next().unwrap_or_default();
        match number(line, "Exit Code: ") {
            // It writes no such line at 0: this one was printed.
            Some(code) => Some(code).filter(|code| *code != 0),
            None => (!line.starts_with("Signal: ")).then_some(0),
        }
    });
    put(payload, code.filter(|_| runs_to_its_end(payload)));
}

/// Qwen Code: its own line before that about signals, before the last one.
pub(super) fn qwen_code(payload: &mut Payload) {
    let told = text(payload, "tool_response/llmContent").or_else(|| payload.str("error"));
    let code = trailer(told.unwrap_or_default()).and_then(|lines| {
        let mut own = lines.skip_while(|line| line.starts_with("Background PIDs: "));
        let is_whole = own.next()?.starts_with("Signal: ");
        number(own.next()?, "Exit Code: ").filter(|_| is_whole)
    });
    put(payload, code.filter(|_| runs_to_its_end(payload)));
}

/// Copilot, in both spellings: the last line.
pub(super) fn copilot(payload: &mut Payload) {
    let told = text(payload, "toolResult/textResultForLlm")
        .or_else(|| text(payload, "tool_result/text_result_for_llm"));
    let last = told.and_then(|told| told.trim_end().lines().last());
    let code = last.and_then(|line| {
        let (_, rest) = line
            .strip_prefix("<shellId: ")?
            .split_once(" completed with exit code ")?;
        rest.strip_suffix('>')?.parse().ok()
    });
    put(payload, code);
}

/// Kimi CLI: in the message of a call that failed; else 0.
pub(super) fn kimi_cli(payload: &mut Payload) {
    let told = payload.str("tool_output").unwrap_or_default();
    let code = if told.starts_with("is_error=True ") {
        let message = behind_quoted(told.trim_start_matches("is_error=True output="));
        let message = message.and_then(|rest| rest.strip_prefix(" message='"));
        message.and_then(|message| number(message, "Command failed with exit code: "))
    } else if told.starts_with("is_error=False ") && runs_to_its_end(payload) {
        Some(0)
    } else {
        None
    };
    put(payload, code);
}

/// Returns what follows a text that Python has quoted.
fn behind_quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    text.get(end?.0 + 1..)
}

/// Kimi Code: the end of the error's message; a command of which it tells as one that ran ended with 0.
pub(super) fn kimi_code(payload: &mut Payload, trigger: Trigger) {
    let code = match trigger {
        Trigger::PostToolUse if runs_to_its_end(payload) => Some(0),
        Trigger::PostToolUseFailure => {
            let last = text(payload, "error/message").and_then(|text| text.lines().last());
            last.and_then(|line| number(line, "Command failed with exit code: "))
        }
        _ => None,
    };
    put(payload, code);
}

/// Cline: of the commands of one call the first that failed, else 0.
pub(super) fn cline(payload: &mut Payload) {
    let Some(Value::Array(parts)) = payload.fields.get("output") else {
        return;
    };
    let failed = |part: &&Value| part.get("success") != Some(&Value::Bool(true));
    let code = match parts.iter().find(failed) {
        Some(part) => {
            let told = part
                .get("result")
                .and_then(Value::as_str)
                .unwrap_or_default();
            number(told, "[Command exited with code ")
        }
        None if parts.is_empty() => None,
        None => Some(0),
    };
    let is_shell = payload
        .str("name")
        .is_some_and(|name| ToolKind::of(name) == ToolKind::Shell);
    put(payload, code.filter(|_| is_shell));
}

/// OpenCode: a number of its own.
pub(super) fn opencode(payload: &mut Payload) {
    let metadata = payload.fields.get("metadata");
    let code = metadata
        .and_then(|metadata| metadata.get("exit"))
        .and_then(Value::as_i64);
    put(payload, code);
}
