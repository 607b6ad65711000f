//! OracleConfig: the user's `config:` on its way into an oracle's own struct.

use std::path::{Component, Path};

use serde::de::DeserializeOwned;

use crate::config::{Node, Value, decode};
use crate::diagnostic::{Code, Diagnostic, Span};

/// What an oracle is built of.
#[derive(Clone, Copy, Debug)]
pub struct OracleConfig<'a> {
    /// The `config:` of the binding, with its places.
    pub node: &'a Node,
    /// The root of the project, against which relative paths in the configuration stand.
    pub root: &'a Path,
}

/// Why a configuration does not make an oracle: one or more faults, each at its place.
#[derive(Clone, Debug)]
pub struct ConfigError(pub Vec<Diagnostic>);

/// Returns a map without the entry in which a place lies; none where it lies in none of them.
fn without(node: &Node, place: Span) -> Option<Node> {
    let holds = |span: Span| span.start <= place.start && place.start <= span.end;
    let at = node
        .entries()
        .iter()
        .position(|(key, value)| holds(key.span) || holds(value.span))?;
    let mut entries = node.entries().to_vec();
    entries.remove(at);
    Some(Node::new(Value::Map(entries), node.span))
}

impl OracleConfig<'_> {
    /// Decodes the configuration into the oracle's own struct, which should deny unknown fields.
    ///
    /// # Errors
    /// Every key and value that does not fit, at its place.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        let first = match decode(self.node) {
            Ok(decoded) => return Ok(decoded),
            Err(error) => error,
        };
        let mut faults = Vec::new();
        let mut rest = self.node.clone();
        let mut next = Some(first);
        // What is wrong in one key is no reason to keep silent about the others: they are read again without it.
        while let Some(error) = next {
            let without = error.span.and_then(|span| without(&rest, span));
            faults.push(error.into_diagnostic(self.node.span));
            next = without.and_then(|without| {
                rest = without;
                decode::<T>(&rest).err()
            });
        }
        Err(ConfigError(faults))
    }

    /// Returns the place of a key's value, or of the whole configuration where the key is not written.
    pub fn span_of(&self, key: &str) -> Span {
        self.node.get(key).map_or(self.node.span, |node| node.span)
    }

    /// Makes an error of a value that a key cannot have.
    pub(super) fn bad_value(&self, key: &str, message: impl Into<String>) -> ConfigError {
        self.error_at(key, Code::BadValue, message)
    }

    /// Refuses a path that leads out of the project.
    pub(super) fn inner_path(&self, key: &str, path: &str) -> Result<(), ConfigError> {
        let is_inner = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if Path::new(path).components().all(is_inner) && !path.trim().is_empty() {
            return Ok(());
        }
        let what =
            format!("`{path}` does not lie in the project; expected a relative path without `..`");
        Err(self.bad_value(key, what))
    }

    /// Makes an error at the value of a key.
    pub fn error_at(&self, key: &str, code: Code, message: impl Into<String>) -> ConfigError {
        ConfigError(vec![Diagnostic::error(code, message, self.span_of(key))])
    }
}
