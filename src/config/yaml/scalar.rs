//! Plain scalars: booleans, numbers and nothing are those of YAML 1.2's core schema, so that `on`, `yes` and `no` are
//! text; a number with leading zeros is text too, because it would lose them.

use crate::config::Value;

/// Returns the value of a plain scalar by YAML 1.2's core schema.
pub(super) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Value::Float(f64::INFINITY);
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.starts_with(['-', '+'])
            && let Ok(number) = i64::from_str_radix(digits, radix)
        {
            return Value::Int(number);
        }
    }
    let mut bytes = unsigned.bytes();
    let starts_as_number = match (bytes.next(), bytes.next()) {
        (Some(b'0'), Some(b'0'..=b'9')) => false,
        (Some(b'0'..=b'9'), _) | (Some(b'.'), Some(b'0'..=b'9')) => true,
        _ => false,
    };
    if !starts_as_number {
        return Value::Str(text.to_owned());
    }
    if let Ok(number) = text.parse::<i64>() {
        return Value::Int(number);
    }
    let numeric = |b: u8| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    match text.parse::<f64>() {
        Ok(number) if unsigned.bytes().all(numeric) => Value::Float(number),
        _ => Value::Str(text.to_owned()),
    }
}
