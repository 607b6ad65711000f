//! Values of the interpreter: made of JSON and made JSON of, and the small ones that are made by hand.

use rhai::{Array, Dynamic, ImmutableString, Map};
use serde_json::{Number, Value};

use super::list::List;

/// How deep a script's value may be nested to be written as JSON.
const MAX_DEPTH: usize = 64;

/// Makes a script's value of JSON.
pub(super) fn from_json(value: &Value) -> Dynamic {
    match value {
        Value::Null => Dynamic::UNIT,
        Value::Bool(b) => (*b).into(),
        Value::Number(n) => n.as_i64().map_or_else(
            || n.as_f64().map_or(Dynamic::UNIT, Dynamic::from_float),
            Dynamic::from_int,
        ),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => Dynamic::from_array(items.iter().map(from_json).collect()),
        Value::Object(members) => Dynamic::from_map(
            members
                .iter()
                .map(|(name, value)| (name.as_str().into(), from_json(value)))
                .collect(),
        ),
    }
}

/// Makes JSON of a script's value; what JSON has no form for becomes its text.
pub(super) fn to_json(value: &Dynamic) -> Value {
    nested_to_json(value, 0)
}

fn nested_to_json(value: &Dynamic, depth: usize) -> Value {
    if depth > MAX_DEPTH || value.is_unit() {
        return Value::Null;
    }
    if let Ok(b) = value.as_bool() {
        return b.into();
    }
    if let Ok(n) = value.as_int() {
        return n.into();
    }
    if let Ok(n) = value.as_float() {
        return Number::from_f64(n).map_or(Value::Null, Value::Number);
    }
    if let Some(text) = value.read_lock::<ImmutableString>() {
        return text.as_str().into();
    }
    if let Some(array) = value.read_lock::<Array>() {
        return array.iter().map(|v| nested_to_json(v, depth + 1)).collect();
    }
    if let Some(map) = value.read_lock::<Map>() {
        return map
            .iter()
            .map(|(name, v)| (name.to_string(), nested_to_json(v, depth + 1)))
            .collect();
    }
    if let Some(list) = value.read_lock::<List>() {
        return list.iter().map(|item| Value::from(item.as_str())).collect();
    }
    value.to_string().into()
}

/// Returns what a value is, in a user's words.
pub(super) fn type_name(value: &Dynamic) -> &'static str {
    if value.is_unit() {
        "nothing"
    } else if value.is_bool() {
        "true or false"
    } else if value.is_int() {
        "a whole number"
    } else if value.is_float() {
        "a number"
    } else if value.is_string() || value.is_char() {
        "text"
    } else if value.is_array() || value.is::<List>() {
        "a list"
    } else if value.is_map() {
        "a map"
    } else {
        "another value"
    }
}

/// Makes a whole number a number with a fraction.
#[expect(
    clippy::cast_precision_loss,
    reason = "a setting written as a whole number is far below 2^52"
)]
pub(super) fn float(value: &Dynamic) -> Dynamic {
    value
        .as_int()
        .map_or_else(|_| value.clone(), |n| Dynamic::from_float(n as f64))
}

/// Returns the JSON Schema of a configuration with these defaults, some of whose keys have a choice of values.
pub(super) fn schema(defaults: &Map, choices: &Map) -> Value {
    let mut properties = serde_json::Map::new();
    for (key, default) in defaults {
        let mut property = serde_json::Map::new();
        if let Some(name) = schema_type(default) {
            property.insert("type".to_owned(), name.into());
        }
        if let Some(offered) = choices.get(key) {
            property.insert("enum".to_owned(), to_json(offered));
        }
        property.insert("default".to_owned(), to_json(default));
        properties.insert(key.to_string(), property.into());
    }
    serde_json::json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Returns the schema's name of a value's type; none where any value is taken.
fn schema_type(value: &Dynamic) -> Option<&'static str> {
    Some(match type_name(value) {
        "true or false" => "boolean",
        "a whole number" => "integer",
        "a number" => "number",
        "text" => "string",
        "a list" => "array",
        "a map" => "object",
        _ => return None,
    })
}

/// Makes a map.
pub(super) fn map<const N: usize>(entries: [(&str, Dynamic); N]) -> Dynamic {
    Dynamic::from_map(
        entries
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect(),
    )
}

/// Makes a text, or nothing.
pub(super) fn optional(text: Option<&str>) -> Dynamic {
    text.map_or(Dynamic::UNIT, Into::into)
}
