//! Frames on the socket of a judge: whatever comes is frames that are written alike, or an error.

#![no_main]

#[path = "../../src/bin/ahp/ask/frame.rs"]
mod frame;

use serde_json::Value;

/// A value without its fractions, which are read to the nearest but one.
fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => Value::Null,
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(map) => map.into_iter().map(|(name, value)| (name, plain(value))).collect(),
        other => other,
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut left = bytes;
    while let Ok(Some(announced)) = frame::lengths(&mut left) {
        let (head, body) = announced;
        let Ok((read, carried)) = frame::rest::<Value>(&mut left, announced) else {
            // Cut short, or no JSON: whatever would come after it is nobody's.
            break;
        };
        assert_eq!(carried.len(), body);
        let mut written = Vec::new();
        frame::write(&mut written, &read, &carried).unwrap();
        let mut again = written.as_slice();
        let lengths = frame::lengths(&mut again).unwrap().unwrap();
        assert_eq!(lengths.1, body);
        let (same, again_carried): (Value, _) = frame::rest(&mut again, lengths).unwrap();
        assert_eq!((plain(same), again_carried), (plain(read), carried));
        assert!(again.is_empty() && head > 0);
    }
});
