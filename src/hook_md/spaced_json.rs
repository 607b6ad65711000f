//! JSON with a space after `:` and `,`, as the scripts in the documents of HOOK.md expect it.

use std::io;

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first {
            Ok(())
        } else {
            writer.write_all(b", ")
        }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// Writes a value; letters outside ASCII stay as they are.
pub(crate) fn to_string(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Spaced);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        // A JSON value always can be written to memory.
        Err(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::to_string;

    #[test]
    fn there_is_a_space_behind_each_colon_and_comma_and_nowhere_else() {
        let value = json!({"command": "ls -la", "n": [1, {"ü": null}], "e": {}});
        assert_eq!(
            to_string(&value),
            r#"{"command": "ls -la", "n": [1, {"ü": null}], "e": {}}"#
        );
    }
}
