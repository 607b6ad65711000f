//! ScriptError: what is wrong with a script, with its file, line and column and the line itself.

use std::fmt;

use rhai::{EvalAltResult, ParseError, Position};

use super::guard::Stop;
use super::wording;
use crate::diagnostic::{Code, Diagnostic, SourceMap, Span};
use crate::oracle::OracleError;

/// What is wrong with a script.
#[derive(Clone, Debug)]
pub struct ScriptError {
    /// The script's file, as shown.
    pub file: String,
    /// The line, from 1; 0 where the fault has no place.
    pub line: u32,
    /// The column, from 1; 0 where only the line is known.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// The line itself.
    pub source_line: Option<String>,
    /// What led there: "in call to `missing_docs` (line 12)".
    pub calls: Vec<String>,
    pub(super) is_timeout: bool,
}

impl ScriptError {
    /// Makes the error of a script as a whole.
    pub(super) fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line: 0,
            column: 0,
            message: message.into(),
            source_line: None,
            calls: Vec::new(),
            is_timeout: false,
        }
    }

    pub(super) fn at(file: &str, source: &str, position: Position, message: String) -> Self {
        let mut error = Self::of_file(file, message);
        error.place(source, position);
        error
    }

    /// Says where the fault is.
    pub(super) fn place(&mut self, source: &str, position: Position) {
        let number = |n: Option<usize>| n.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        let line = position.line().unwrap_or(0);
        self.line = number(position.line());
        self.column = number(position.position());
        self.source_line = line
            .checked_sub(1)
            .and_then(|n| source.lines().nth(n))
            .map(|line| line.chars().take(200).collect());
    }

    pub(super) fn of_parse(file: &str, source: &str, error: &ParseError) -> Self {
        Self::at(
            file,
            source,
            error.position(),
            wording::of_parse(source, error),
        )
    }

    pub(super) fn of_run(
        file: &str,
        source: &str,
        error: &EvalAltResult,
        stop: Option<Stop>,
    ) -> Self {
        let mut calls = Vec::new();
        let mut inner = error;
        loop {
            match inner {
                EvalAltResult::ErrorInFunctionCall(name, _, cause, position) => {
                    // The first is the call of `evaluate` itself, which the script does not make.
                    if !position.is_none() {
                        calls.push(format!(
                            "in the call of `{name}` in line {}",
                            position.line().unwrap_or(0)
                        ));
                    }
                    inner = cause;
                }
                EvalAltResult::ErrorInModule(_, cause, _) => inner = cause,
                _ => break,
            }
        }
        let mut made = Self::at(
            file,
            source,
            inner.position(),
            wording::of_run(source, inner, stop),
        );
        made.calls = calls;
        made.is_timeout = stop == Some(Stop::Deadline);
        made
    }

    /// Makes a diagnostic with the script's own line; `named_at` is where the policy names the script.
    pub fn into_diagnostic(
        self,
        sources: &mut SourceMap,
        text: &str,
        named_at: Span,
    ) -> Diagnostic {
        if self.line == 0 {
            return Diagnostic::error(
                Code::BadScript,
                format!("the script `{}`: {}", self.file, self.message),
                named_at,
            );
        }
        let file = sources.add(self.file.as_str(), text);
        let start = offset(text, self.line, self.column);
        let span = Span {
            file,
            start,
            end: start,
            line: self.line,
            column: self.column,
        };
        Diagnostic::error(Code::BadScript, self.message, span).related(named_at, "named here")
    }

    /// Says it in one line: `file:line:column: message`.
    pub fn one_line(&self) -> String {
        match (self.line, self.column) {
            (0, _) => format!("{}: {}", self.file, self.message),
            (line, 0) => format!("{}:{line}: {}", self.file, self.message),
            (line, column) => format!("{}:{line}:{column}: {}", self.file, self.message),
        }
    }
}

/// Returns the byte at which a line and column stand.
pub(super) fn offset(text: &str, line: u32, column: u32) -> u32 {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1) as usize)
        .map(str::len)
        .sum();
    let within: usize = text
        .get(before..)
        .unwrap_or_default()
        .chars()
        .take(column.saturating_sub(1) as usize)
        .map(char::len_utf8)
        .sum();
    u32::try_from(before + within).unwrap_or(u32::MAX)
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.one_line())?;
        if let Some(source) = &self.source_line {
            let number = self.line.to_string();
            write!(f, "\n  {number} | {source}")?;
            if self.column > 0 {
                let indent = number.len() + 4 + self.column as usize;
                write!(f, "\n{:>indent$}^", "")?;
            }
        }
        for call in &self.calls {
            write!(f, "\n  {call}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ScriptError {}

impl From<ScriptError> for OracleError {
    fn from(error: ScriptError) -> Self {
        if error.is_timeout {
            Self::TimedOut(error.to_string())
        } else {
            Self::Failed(error.to_string())
        }
    }
}
