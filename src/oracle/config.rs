//! OracleConfig: the user's `config:` on its way into an oracle's own struct.

use std::path::Path;

use serde::de::DeserializeOwned;

use crate::config::{Node, decode};
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

impl OracleConfig<'_> {
    /// Decodes the configuration into the oracle's own struct, which should deny unknown fields.
    ///
    /// # Errors
    /// The key or value that does not fit, at its place.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        decode(self.node).map_err(|e| ConfigError(vec![e.into_diagnostic(self.node.span)]))
    }

    /// Returns the place of a key's value, or of the whole configuration where the key is not written.
    pub fn span_of(&self, key: &str) -> Span {
        self.node.get(key).map_or(self.node.span, |node| node.span)
    }

    /// Makes an error at the value of a key.
    pub fn error_at(&self, key: &str, code: Code, message: impl Into<String>) -> ConfigError {
        ConfigError(vec![Diagnostic::error(code, message, self.span_of(key))])
    }
}
