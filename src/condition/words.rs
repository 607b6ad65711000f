//! Words: texts and globs that a fact is compared with, in the spelling that the fact has.

use crate::config::Node;
use crate::diagnostic::{Code, Diagnostic};
use crate::event::{ToolKind, Trigger};
use crate::fact::Fact;

/// Where the values of a call may come from.
const ORIGINS: &[&str] = &[
    "prompt",
    "project",
    "untrusted",
    "untrusted-instruction",
    "untrusted-record",
    "untrusted-text",
    "unknown",
];

/// Returns a text as the fact would have it; none, with a fault, where the fact never has it.
pub(super) fn text(
    fact: Fact,
    text: &str,
    node: &Node,
    faults: &mut Vec<Diagnostic>,
) -> Option<String> {
    if text.contains('*') && (is_path(fact) || has_no_star(fact)) {
        faults.push(
            Diagnostic::error(
                Code::BadComparison,
                format!("`{fact}` is compared with `{text}` as it stands"),
                node.span,
            )
            .help(format!(
                "where a pattern is meant, write `{fact}: \"glob:{text}\"`"
            )),
        );
        return None;
    }
    let known = match fact {
        Fact::ToolArgumentsFrom => ORIGINS.iter().copied().find(|origin| *origin == text),
        Fact::Trigger => Trigger::find(text).map(Trigger::name),
        Fact::ToolKind => {
            let kinds = ToolKind::ALL.iter().map(|kind| kind.name());
            kinds
                .into_iter()
                .find(|kind| kind.eq_ignore_ascii_case(text))
        }
        _ if is_lower(fact) => return Some(text.to_lowercase()),
        Fact::Tool if text.contains('|') => {
            let names: Vec<&str> = text.split('|').map(str::trim).collect();
            let names = names.join(", ");
            faults.push(
                Diagnostic::error(
                    Code::BadComparison,
                    format!("no tool is called `{text}`"),
                    node.span,
                )
                .help(format!("write a list: `tool: [{names}]`")),
            );
            return None;
        }
        _ if is_path(fact) => return Some(path(text).to_owned()),
        _ => return Some(text.to_owned()),
    };
    if known.is_none() {
        let message = format!("`{fact}` is never `{text}`");
        let names: Vec<&str> = match fact {
            Fact::Trigger => Trigger::ALL.iter().map(|trigger| trigger.name()).collect(),
            Fact::ToolArgumentsFrom => ORIGINS.to_vec(),
            _ => ToolKind::ALL.iter().map(|kind| kind.name()).collect(),
        };
        faults.push(
            Diagnostic::error(Code::BadComparison, message, node.span).did_you_mean(text, names),
        );
    }
    known.map(str::to_owned)
}

/// Whether a written text stands for the one that a fact has.
pub(super) fn is_spelling(fact: Fact, written: &str, found: &str) -> bool {
    written == found || (is_lower(fact) && written.to_lowercase() == found)
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
    if let Some(open) = unclosed(glob) {
        faults.push(
            Diagnostic::error(
                Code::BadComparison,
                format!("the glob `{glob}` is never met: its `{open}` is not closed"),
                node.span,
            )
            .help(format!(
                "close it, or write `\\{open}` for the character itself"
            )),
        );
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

/// Returns the first bracket of a glob that is never closed.
fn unclosed(glob: &str) -> Option<char> {
    let mut open = Vec::new();
    let mut chars = glob.chars();
    while let Some(c) = chars.next() {
        match (c, open.last()) {
            ('\\', _) => {
                chars.next();
            }
            (']', Some('[')) | ('}', Some('{')) => {
                open.pop();
            }
            // In a class, brackets stand for themselves.
            (_, Some('[')) => {}
            ('[' | '{', _) => open.push(c),
            _ => {}
        }
    }
    open.first().copied()
}
