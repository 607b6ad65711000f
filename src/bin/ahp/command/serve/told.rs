//! Told: what a line that cannot be read says of itself all the same: whose it is, and what it asks.

use std::fmt;

use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// What a line says, up to where it cannot be read.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The id, if it is the only one.
    pub(super) id: Option<Value>,
    pub(super) method: Option<String>,
}

impl Told {
    pub(super) fn of(line: &[u8]) -> Self {
        let mut told = Self::default();
        let mut reader = serde_json::Deserializer::from_slice(line);
        // Where it ends, what was read before it counts.
        reader.deserialize_map(Reader(&mut told)).ok();
        told
    }
}

struct Reader<'a>(&'a mut Told);

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let told = self.0;
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "id" if told.id.take().is_some() => return Err(A::Error::duplicate_field("id")),
                "id" => {
                    let id: Value = fields.next_value()?;
                    told.id = Some(id).filter(|id| id.is_string() || id.is_number());
                }
                "method" => told.method = fields.next_value().map(Some)?,
                // No bound of ours is asked: whatever lies there is passed over.
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}
