//! Diagnostic: one fault in what a user wrote, with its place, its code and a way out.

mod code;
mod nearest;
#[cfg(feature = "render")]
mod render;
mod source_map;

pub use self::code::Code;
pub use self::nearest::nearest;
#[cfg(feature = "render")]
pub use self::render::render;
pub use self::source_map::{FileId, Source, SourceMap};

use serde::{Deserialize, Serialize};

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The policy loads, but not as its author will have meant it.
    Warning,
    /// The policy does not load.
    Error,
}

/// A place in a file: line and column count from 1, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The file, by its number in the [`SourceMap`].
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte; equal to `start` where only a point is known.
    pub end: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// A place with what is to be said about it.
#[derive(Clone, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A few words, shown under the underlined place.
    pub text: String,
}

/// One fault.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Whether the policy still loads.
    pub severity: Severity,
    /// The stable name of this kind of fault.
    pub code: Code,
    /// What is wrong: a lower-case fragment without a full stop, user input in backticks.
    pub message: String,
    /// Where; none only for faults of a whole file that could not be read.
    pub label: Option<Label>,
    /// Further places that explain the fault ("first defined here").
    pub related: Vec<Label>,
    /// What was expected, and how to fix it.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// Makes an error at a place.
    pub fn error(code: Code, message: impl Into<String>, span: Span) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            label: Some(Label {
                span,
                text: String::new(),
            }),
            related: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Makes a warning at a place.
    pub fn warning(code: Code, message: impl Into<String>, span: Span) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, message, span)
        }
    }

    /// Makes an error that has no place.
    pub fn unplaced(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            label: None,
            related: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Says a few words under the place.
    #[must_use]
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        if let Some(label) = &mut self.label {
            label.text = text.into();
        }
        self
    }

    /// Adds a line of help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Adds "did you mean" where a known name is near.
    #[must_use]
    pub fn did_you_mean<'a>(self, given: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(given, known) {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Adds a further place.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Returns the fault as JSON: severity, code, message, file, line, column, help.
    pub fn to_json(&self, sources: &SourceMap) -> serde_json::Value {
        let place = self.label.as_ref().map(|label| label.span);
        serde_json::json!({
            "severity": self.severity,
            "code": self.code.name(),
            "message": self.message,
            "file": place.map(|span| sources.name(span.file)),
            "line": place.map(|span| span.line),
            "column": place.map(|span| span.column),
            "help": self.help,
        })
    }

    /// Whether the policy cannot be used because of this.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Returns the fault in one line: `file:line:column: error[code]: message; help`.
    pub fn one_line(&self, sources: &SourceMap) -> String {
        let mut line = match &self.label {
            Some(label) => format!("{}: ", sources.position(label.span)),
            None => String::new(),
        };
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        line.push_str(&format!("{severity}[{}]: {}", self.code, self.message));
        for help in &self.help {
            line.push_str("; ");
            line.push_str(help);
        }
        line
    }
}
