//! Secrecy: code that prints a variable of the environment, or takes all of them.

use crate::words::{holds_any, words};

/// How code prints a variable of the environment, up to the variable's name.
const PRINTS: &[&str] = words!("variable-printers", lines);

/// Returns the name of the variable that a piece of code prints whole.
pub(super) fn printed_secret(code: &str) -> Option<&str> {
    PRINTS.iter().find_map(|start| {
        let (_, rest) = code.split_once(start)?;
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end)?;
        // A part of it, or a comparison, shows less.
        let after = after.trim_start_matches(['\'', '"', ']', ')', '}']);
        let is_whole = after.is_empty() || after.starts_with([';', '\n', ' ']);
        (is_whole && !name.is_empty()).then_some(name)
    })
}

/// Whether code takes all of the environment and speaks to other machines.
pub(super) fn sends_environment(code: &str) -> bool {
    const WHOLE: &[&str] = words!("environment-takers");
    const SPEAKS: &[&str] = words!("speaking-words");
    holds_any(code, WHOLE) && holds_any(code, SPEAKS)
}

/// Whether an expression takes the whole environment, or a variable of it.
pub(super) fn takes_environment(expression: &str) -> bool {
    expression.contains("os.environ")
        || expression.contains("process.env")
        || expression.contains("ENV.to_h")
        || expression.contains("getenv(")
}
