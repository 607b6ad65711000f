//! Dialect: one call of a tool, or none, as each kind of model says it, and what a client says back.

use std::fmt::Write as _;

use ahp::host::Dialect;
use serde_json::{Value, json};

/// The name of the call.
const ID: &str = "call_ahp1";

/// A tool and its input, as JSON.
type Call<'a> = Option<(&'a str, &'a str)>;

/// Whether a request goes to the page of the dialect.
pub(super) fn is_asked_at(dialect: Dialect, path: &str) -> bool {
    match dialect {
        Dialect::Messages => path.ends_with("/messages"),
        Dialect::Chat => path.ends_with("/chat/completions"),
        Dialect::Responses => path.ends_with("/responses"),
        Dialect::Gemini => {
            path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent")
        }
    }
}

pub(super) fn offers(dialect: Dialect, body: &Value, tool: &str) -> bool {
    let tools = list(body, "/tools");
    match dialect {
        Dialect::Messages | Dialect::Responses => has(tools, "/name", tool),
        Dialect::Chat => has(tools, "/function/name", tool),
        Dialect::Gemini => tools
            .iter()
            .any(|offered| has(list(offered, "/functionDeclarations"), "/name", tool)),
    }
}

/// Returns what a request says came of the call.
pub(super) fn result(dialect: Dialect, body: &Value) -> Option<String> {
    let parts = |messages: &str, inner: &'static str| {
        let messages = list(body, messages).iter();
        messages.flat_map(move |message| list(message, inner))
    };
    let is = |value: &Value, at: &str, name: &str| value.pointer(at).is_some_and(|v| v == name);
    let found = match dialect {
        Dialect::Messages => {
            let mut parts = parts("/messages", "/content");
            parts
                .find(|part| is(part, "/type", "tool_result"))?
                .get("content")
        }
        Dialect::Chat => {
            let mut messages = list(body, "/messages").iter();
            messages
                .find(|message| is(message, "/role", "tool"))?
                .get("content")
        }
        Dialect::Responses => {
            let mut items = list(body, "/input").iter();
            items
                .find(|item| is(item, "/type", "function_call_output"))?
                .get("output")
        }
        Dialect::Gemini => {
            let mut parts = parts("/contents", "/parts");
            parts.find_map(|part| part.pointer("/functionResponse/response"))
        }
    };
    Some(match found? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

fn list<'a>(value: &'a Value, at: &str) -> &'a [Value] {
    value
        .pointer(at)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn has(values: &[Value], at: &str, name: &str) -> bool {
    let mut found = values.iter().filter_map(|value| value.pointer(at));
    found.any(|value| value == name)
}

/// Returns an answer at once.
pub(super) fn whole(dialect: Dialect, call: Call<'_>) -> Value {
    match dialect {
        Dialect::Messages => message(call),
        Dialect::Chat => json!({"id": "chatcmpl-ahp", "object": "chat.completion", "created": 1,
            "model": "ahp", "usage": chat_usage(), "choices": [{"index": 0,
            "message": chat_message(call), "finish_reason": chat_end(call)}]}),
        Dialect::Responses => response("completed", &json!([item(call)])),
        Dialect::Gemini => generated(call),
    }
}

/// Returns an answer as a stream of events.
pub(super) fn stream(dialect: Dialect, call: Call<'_>) -> String {
    let mut text = String::new();
    let mut say = |event: &Value| {
        if let (Some(kind), Dialect::Messages | Dialect::Responses) =
            (event["type"].as_str(), dialect)
        {
            writeln!(text, "event: {kind}").ok();
        }
        write!(text, "data: {event}\n\n").ok();
    };
    match dialect {
        Dialect::Messages => messages(call, &mut say),
        Dialect::Responses => responses(call, &mut say),
        Dialect::Gemini => say(&generated(call)),
        Dialect::Chat => {
            let chunk = |choices: Value, usage: Value| {
                json!({"id": "chatcmpl-ahp", "object": "chat.completion.chunk", "created": 1,
                    "model": "ahp", "choices": choices, "usage": usage})
            };
            let said = json!([{"index": 0, "delta": chat_message(call), "finish_reason": null}]);
            say(&chunk(said, Value::Null));
            let end = json!([{"index": 0, "delta": {}, "finish_reason": chat_end(call)}]);
            say(&chunk(end, Value::Null));
            say(&chunk(json!([]), chat_usage()));
            text.push_str("data: [DONE]\n\n");
        }
    }
    text
}

fn input(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn message(call: Call<'_>) -> Value {
    let content = match call {
        None => json!({"type": "text", "text": "ok"}),
        Some((name, text)) => {
            json!({"type": "tool_use", "id": ID, "name": name, "input": input(text)})
        }
    };
    begun(&json!([content]), &end(call).into())
}

fn begun(content: &Value, end: &Value) -> Value {
    json!({"id": "msg_ahp", "type": "message", "role": "assistant", "model": "ahp",
        "content": content, "stop_reason": end, "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 10}})
}

fn end(call: Call<'_>) -> &'static str {
    call.map_or("end_turn", |_| "tool_use")
}

fn messages(call: Call<'_>, say: &mut dyn FnMut(&Value)) {
    let begun = begun(&json!([]), &Value::Null);
    say(&json!({"type": "message_start", "message": begun}));
    let (block, delta) = match call {
        None => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": "ok"}),
        ),
        Some((name, text)) => (
            json!({"type": "tool_use", "id": ID, "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": text}),
        ),
    };
    say(&json!({"type": "content_block_start", "index": 0, "content_block": block}));
    say(&json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    say(&json!({"type": "content_block_stop", "index": 0}));
    say(
        &json!({"type": "message_delta", "usage": {"output_tokens": 10},
        "delta": {"stop_reason": end(call), "stop_sequence": null}}),
    );
    say(&json!({"type": "message_stop"}));
}

fn chat_usage() -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20})
}

fn chat_end(call: Call<'_>) -> &'static str {
    call.map_or("stop", |_| "tool_calls")
}

fn chat_message(call: Call<'_>) -> Value {
    match call {
        None => json!({"role": "assistant", "content": "ok"}),
        Some((name, text)) => json!({"role": "assistant", "content": null, "tool_calls": [
            {"index": 0, "id": ID, "type": "function", "function": {"name": name, "arguments": text}}]}),
    }
}

fn item(call: Call<'_>) -> Value {
    match call {
        None => json!({"type": "message", "id": "msg_ahp", "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "ok", "annotations": []}]}),
        Some((name, text)) => json!({"type": "function_call", "id": "fc_ahp", "call_id": ID,
            "name": name, "arguments": text, "status": "completed"}),
    }
}

fn response(status: &str, output: &Value) -> Value {
    json!({"id": "resp_ahp", "object": "response", "created_at": 1, "status": status,
        "model": "ahp", "output": output,
        "usage": {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 20}})
}

fn responses(call: Call<'_>, say: &mut dyn FnMut(&Value)) {
    let item = item(call);
    say(&json!({"type": "response.created", "response": response("in_progress", &json!([]))}));
    say(&json!({"type": "response.output_item.added", "output_index": 0, "item": item}));
    say(&json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    say(&json!({"type": "response.completed", "response": response("completed", &json!([item]))}));
}

fn generated(call: Call<'_>) -> Value {
    let part = match call {
        None => json!({"text": "ok"}),
        Some((name, text)) => json!({"thoughtSignature": "c2lnbmF0dXJl",
            "functionCall": {"id": ID, "name": name, "args": input(text)}}),
    };
    json!({"modelVersion": "ahp", "responseId": "ahp",
        "candidates": [{"index": 0, "finishReason": "STOP",
            "content": {"role": "model", "parts": [part]}}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10,
            "totalTokenCount": 20}})
}
