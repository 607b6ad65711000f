//! Words: texts and globs that a fact is compared with, in the spelling that the fact has.

use crate::config::Node;
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::event::{ToolKind, Trigger};
use crate::fact::Fact;
use crate::glob::{HELP, fault};
use crate::host::Host;

/// Returns a text as the fact would have it; none, with a fault, where the fact never has it.
pub(super) fn text(
    fact: Fact,
    text: &str,
    span: Span,
    faults: &mut Vec<Diagnostic>,
) -> Option<String> {
    if text.contains('*') && (is_path(fact) || has_no_star(fact)) {
        faults.push(
            Diagnostic::error(
                Code::BadComparison,
                format!("`{fact}` is compared with `{text}` as it stands"),
                span,
            )
            .help(format!(
                "where a pattern is meant, write `{fact}: \"glob:{text}\"`"
            )),
        );
        return None;
    }
    if fact == Fact::Tool && text.contains('|') {
        let names: Vec<&str> = text.split('|').map(str::trim).collect();
        let names = names.join(", ");
        let message = format!("no tool is called `{text}`");
        faults.push(
            Diagnostic::error(Code::BadComparison, message, span)
                .help(format!("write a list: `tool: [{names}]`")),
        );
        return None;
    }
    let Some(values) = fact.values() else {
        return Some(match fact {
            _ if is_lower(fact) => text.to_lowercase(),
            _ if is_path(fact) => path(text).to_owned(),
            Fact::Host => Host::find(text).map_or(text, |host| host.name).to_owned(),
            _ => text.to_owned(),
        });
    };
    let named = match fact {
        Fact::Trigger => Trigger::find(text).map(Trigger::name),
        Fact::ToolArgumentsFrom => values.iter().copied().find(|value| *value == text),
        _ => values
            .iter()
            .copied()
            .find(|value| value.eq_ignore_ascii_case(text)),
    };
    if named.is_none() {
        let message = format!("`{fact}` is never `{text}`");
        let listed: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        faults.push(
            Diagnostic::error(Code::BadComparison, message, span)
                .did_you_mean(text, values)
                .help(format!("expected one of {}", listed.join(", "))),
        );
    }
    named.map(str::to_owned)
}

/// Whether a written text stands for the one that a fact has.
pub(super) fn is_spelling(fact: Fact, written: &str, found: &str) -> bool {
    written == found
        || (is_lower(fact) && written.to_lowercase() == found)
        || (fact == Fact::Host && Host::find(written).is_some_and(|host| host.name == found))
}

/// Whether the texts of a fact are read in lower case from the issue's file.
const fn is_lower(fact: Fact) -> bool {
    matches!(
        fact,
        Fact::IssueType | Fact::IssueStatus | Fact::IssueStage | Fact::IssueCriticality
    )
}

/// Returns the kind of the tools that a name stands for: those of MCP servers have nothing in common, nor have unknown
/// ones.
pub(super) fn kind_named(name: &str) -> Option<ToolKind> {
    Some(ToolKind::of(name)).filter(|kind| !matches!(kind, ToolKind::Mcp | ToolKind::Other))
}

/// Returns a glob as the paths of a fact are written; none, with a fault, where a bracket of it is not closed.
pub(super) fn glob(
    fact: Fact,
    glob: &str,
    node: &Node,
    faults: &mut Vec<Diagnostic>,
) -> Option<String> {
    if let Some(fault) = fault(glob) {
        faults.push(Diagnostic::error(Code::BadGlob, fault, node.span).help(HELP));
        return None;
    }
    let glob = if is_path(fact) { path(glob) } else { glob };
    Some(glob.to_owned())
}

/// Whether no text of a fact can have a star in it.
const fn has_no_star(fact: Fact) -> bool {
    matches!(fact, Fact::Tool | Fact::ToolName | Fact::GitBranch)
}

/// Whether the texts of a fact are paths, relative to the project where they lie in it.
const fn is_path(fact: Fact) -> bool {
    matches!(
        fact,
        Fact::ToolPaths
            | Fact::IssueFiles
            | Fact::IssuePath
            | Fact::FilesChanged
            | Fact::FilesAdded
            | Fact::FilesDeleted
    )
}

fn path(text: &str) -> &str {
    text.strip_prefix("./").unwrap_or(text)
}
