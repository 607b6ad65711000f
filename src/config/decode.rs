//! Node to a typed value; a wrong field becomes an error at its own place.

use std::fmt;

use serde::de;
use serde::de::{DeserializeOwned, IntoDeserializer as _};

use super::{Key, Node, Value};
use crate::diagnostic::{Code, Diagnostic, Span};

/// Why a node is not what was expected, and where.
#[derive(Clone, Debug)]
pub struct DecodeError {
    /// The kind of fault.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Where; none until the error has passed the node that it belongs to.
    pub span: Option<Span>,
    /// The misspelt name and the known ones.
    pub known: Option<(String, Vec<String>)>,
}

impl DecodeError {
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span: None,
            known: None,
        }
    }

    fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    /// Makes the diagnostic; `whole` is the place where none is known.
    pub fn into_diagnostic(self, whole: Span) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.code, self.message, self.span.unwrap_or(whole));
        match self.known {
            Some((given, known)) => {
                let listed = known
                    .iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", ");
                let diagnostic = diagnostic.did_you_mean(&given, known.iter().map(String::as_str));
                if listed.is_empty() {
                    diagnostic.help("no keys are expected here")
                } else {
                    diagnostic.help(format!("expected one of {listed}"))
                }
            }
            None => diagnostic,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Code::BadValue, message.to_string())
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let found = match unexpected {
            de::Unexpected::Unit => "nothing".to_owned(),
            de::Unexpected::Map => "a map".to_owned(),
            de::Unexpected::Seq => "a list".to_owned(),
            de::Unexpected::Str(text) => format!("the text `{text}`"),
            de::Unexpected::Bool(b) => format!("`{b}`"),
            de::Unexpected::Signed(n) => format!("`{n}`"),
            de::Unexpected::Unsigned(n) => format!("`{n}`"),
            de::Unexpected::Float(n) => format!("`{n}`"),
            other => other.to_string(),
        };
        Self::new(
            Code::WrongType,
            format!("expected {}, found {found}", plain(&expected.to_string())),
        )
    }

    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(
            Code::BadValue,
            format!(
                "{unexpected} is out of range; expected {}",
                plain(&expected.to_string())
            ),
        )
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self {
            known: Some((
                field.to_owned(),
                expected.iter().map(|&e| e.to_owned()).collect(),
            )),
            ..Self::new(Code::UnknownKey, format!("unknown key `{field}`"))
        }
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self {
            known: Some((
                variant.to_owned(),
                expected.iter().map(|&e| e.to_owned()).collect(),
            )),
            ..Self::new(
                Code::BadValue,
                format!("`{variant}` is not one of the values offered"),
            )
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Code::MissingKey, format!("the key `{field}` is missing"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(
            Code::DuplicateKey,
            format!("the key `{field}` stands twice"),
        )
    }
}

/// Says a Rust type as a user would.
fn plain(expected: &str) -> String {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a string" | "a borrowed string" => "text".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a sequence" => "a list".to_owned(),
        other if other.starts_with("struct ") => "a map".to_owned(),
        other => other.to_owned(),
    }
}

/// Decodes a node; the error knows the place of the field that is wrong.
pub fn decode<T: DeserializeOwned>(node: &Node) -> Result<T, DecodeError> {
    T::deserialize(NodeDeserializer(node)).map_err(|e| e.at(node.span))
}

struct NodeDeserializer<'a>(&'a Node);

impl NodeDeserializer<'_> {
    fn located<T>(&self, result: Result<T, DecodeError>) -> Result<T, DecodeError> {
        result.map_err(|e| e.at(self.0.span))
    }
}

impl<'de> de::Deserializer<'de> for NodeDeserializer<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let result = match &self.0.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(b) => visitor.visit_bool(*b),
            Value::Int(n) => match u64::try_from(*n) {
                Ok(n) => visitor.visit_u64(n),
                Err(_) => visitor.visit_i64(*n),
            },
            Value::Float(n) => visitor.visit_f64(*n),
            Value::Str(text) => visitor.visit_borrowed_str(text),
            Value::Seq(items) => visitor.visit_seq(Items(items.iter())),
            Value::Map(entries) => visitor.visit_map(Entries {
                rest: entries.iter(),
                value: None,
            }),
        };
        self.located(result)
    }

    fn deserialize_option<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.0.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    // A number where text is wanted is a fault to show, not to guess at; but a version such as `1.10` is not text either.
    fn deserialize_newtype_struct<V: de::Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let result = match &self.0.value {
            Value::Str(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            Value::Map(entries) => match entries.as_slice() {
                [(key, node)] => visitor.visit_enum(Variant { key, node }),
                _ => Err(DecodeError::new(
                    Code::WrongType,
                    "expected a map with one key",
                )),
            },
            _ => Err(DecodeError::new(
                Code::WrongType,
                format!("expected text, found {}", self.0.type_name()),
            )),
        };
        self.located(result)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a>(std::slice::Iter<'a, Node>);

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = DecodeError;

    fn next_element_seed<T: de::DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        self.0
            .next()
            .map(|node| {
                seed.deserialize(NodeDeserializer(node))
                    .map_err(|e| e.at(node.span))
            })
            .transpose()
    }
}

struct Entries<'a> {
    rest: std::slice::Iter<'a, (Key, Node)>,
    value: Option<&'a Node>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        let Some((key, node)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some(node);
        let deserializer: de::value::StrDeserializer<'_, DecodeError> =
            key.name.as_str().into_deserializer();
        seed.deserialize(deserializer)
            .map(Some)
            .map_err(|e| e.at(key.span))
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        let node = self
            .value
            .take()
            .ok_or_else(|| DecodeError::new(Code::Syntax, "a value without a key"))?;
        seed.deserialize(NodeDeserializer(node))
            .map_err(|e| e.at(node.span))
    }
}

struct Variant<'a> {
    key: &'a Key,
    node: &'a Node,
}

impl<'de> de::EnumAccess<'de> for Variant<'de> {
    type Error = DecodeError;
    type Variant = NodeVariant<'de>;

    fn variant_seed<V: de::DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, NodeVariant<'de>), DecodeError> {
        let name: de::value::StrDeserializer<'_, DecodeError> =
            self.key.name.as_str().into_deserializer();
        let variant = seed.deserialize(name).map_err(|e| e.at(self.key.span))?;
        Ok((variant, NodeVariant(self.node)))
    }
}

struct NodeVariant<'a>(&'a Node);

impl<'de> de::VariantAccess<'de> for NodeVariant<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        Err(DecodeError::new(Code::WrongType, "expected text, not a map").at(self.0.span))
    }

    fn newtype_variant_seed<T: de::DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        seed.deserialize(NodeDeserializer(self.0))
            .map_err(|e| e.at(self.0.span))
    }

    fn tuple_variant<V: de::Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        de::Deserializer::deserialize_any(NodeDeserializer(self.0), visitor)
    }

    fn struct_variant<V: de::Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        de::Deserializer::deserialize_any(NodeDeserializer(self.0), visitor)
    }
}
