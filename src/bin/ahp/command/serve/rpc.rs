//! JSON-RPC 2.0: requests read, results and errors written (<https://www.jsonrpc.org/specification>).

use ahp::event::parse_json;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::told::Told;

/// A request, or a notification where it has no `id`.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Option<Value>,
    pub(super) method: String,
    pub(super) params: Value,
}

/// The code of a line that cannot be read as JSON.
const UNREAD: i32 = -32700;

/// An error that a client gets in place of a result.
#[derive(Debug, Serialize)]
pub(super) struct Error {
    code: i32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl Error {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The line is not JSON.
    pub(super) fn not_json(why: &serde_json::Error) -> Self {
        Self::new(UNREAD, format!("the line is not JSON: {why}"))
    }

    /// Whether the line could not be read as JSON.
    pub(super) const fn is_unread(&self) -> bool {
        self.code == UNREAD
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The line is JSON and not a request.
    pub(super) fn not_a_request(why: impl Into<String>) -> Self {
        Self::new(-32600, why)
    }

    pub(super) fn unknown_method(name: &str, known: &[&str]) -> Self {
        let known = known.join("`, `");
        Self::new(
            -32601,
            format!("unknown method `{name}`: expected one of `{known}`"),
        )
    }

    /// The parameters are not as the method wants them.
    pub(super) fn bad_params(why: impl Into<String>) -> Self {
        Self::new(-32602, why)
    }

    /// The Agent Hooks Protocol in a version that is not spoken here.
    pub(super) fn unsupported_version(given: &Value, supported: &str) -> Self {
        Self {
            data: Some(json!({ "supported": [supported] })),
            ..Self::new(
                -32001,
                format!("protocol version {given} is not supported: expected \"{supported}\""),
            )
        }
    }

    /// An event of a type that cannot be intercepted.
    pub(super) fn not_interceptable(kind: &str) -> Self {
        Self::new(
            -32002,
            format!("`{kind}` cannot be intercepted: expected `tool.before`"),
        )
    }

    /// What would be denied cannot be, because the harness does not offer it.
    pub(super) fn cannot_deny(reason: &str) -> Self {
        Self::new(
            -32004,
            format!("to be denied, but the harness does not offer `deny`: {reason}"),
        )
    }

    /// A block that the host takes as an exit code: whoever reads its reply alone would take that for no objection.
    pub(super) fn by_exit_code(why: &str, told: Value) -> Self {
        Self {
            data: Some(told),
            ..Self::new(
                -32602,
                format!(
                    "the host takes this block only as an exit code, which is in `data`: {why}"
                ),
            )
        }
    }

    /// There is too much to do.
    pub(super) fn busy(why: &str) -> Self {
        Self::new(-32003, why)
    }

    /// It could not be answered.
    pub(super) fn failed() -> Self {
        Self::new(
            -32004,
            "ahp itself failed; please report it with the request",
        )
    }

    /// Writes the response that holds the error.
    pub(super) fn response(self, id: Option<&Value>) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "error": self })
    }
}

/// Writes the response that holds a result.
pub(super) fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

impl Request {
    /// Reads a request; with the error goes the id that it is about, if one can be told.
    pub(super) fn read(line: &[u8]) -> Result<Self, Box<(Error, Option<Value>)>> {
        #[derive(Deserialize)]
        struct Read {
            jsonrpc: Option<Value>,
            #[serde(default, deserialize_with = "present")]
            id: Option<Value>,
            method: Option<Value>,
            #[serde(default)]
            params: Value,
        }
        let value =
            parse_json(line).map_err(|why| refused(Error::not_json(&why), Told::of(line).id))?;
        if value.is_array() {
            let why = "batches are not taken: write one object a line";
            return Err(refused(Error::not_a_request(why), None));
        }
        let read: Read = serde_json::from_value(value).map_err(|_| {
            let why = "expected an object with `jsonrpc`, `id`, `method` and `params`";
            refused(Error::not_a_request(why), None)
        })?;
        let is_id = |id: &Value| id.is_string() || id.is_number();
        if read.id.as_ref().is_some_and(|id| !is_id(id)) {
            // Taken for none it would get no answer, like a notification.
            let why = "expected `id`, a string or a number";
            return Err(refused(Error::not_a_request(why), None));
        }
        let id = read.id;
        if read.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
            let why = "expected `\"jsonrpc\": \"2.0\"`";
            return Err(refused(Error::not_a_request(why), id));
        }
        match read.method {
            Some(Value::String(method)) => Ok(Self {
                id,
                method,
                params: read.params,
            }),
            _ => Err(refused(
                Error::not_a_request("expected `method`, the name of a method"),
                id,
            )),
        }
    }
}

/// Reads a value that is there, `null` too, which no `Option` tells from one that is not.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

fn refused(error: Error, id: Option<Value>) -> Box<(Error, Option<Value>)> {
    Box::new((error, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn whatever_comes_is_a_request_or_an_error_with_a_code(line: Vec<u8>, text in r#"[{}\[\]":,a-z0-9. ]{0,40}"#) {
            for line in [&line, text.as_bytes()] {
                if let Err(refused) = Request::read(line) {
                    let (error, id) = *refused;
                    let response = error.response(id.as_ref());
                    proptest::prop_assert!(response["error"]["code"].as_i64().is_some_and(|code| code < -32000));
                }
            }
        }
    }
}
