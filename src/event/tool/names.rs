//! Names: the table of every known tool of every host, and what it does.

use super::{ToolKind, mcp};
use crate::words::words;

/// Every known tool of every host by what it does, written in lower case without `_`, `-` and spaces.
///
/// Hosts spell one tool in several cases (`Write`, `write`; `write_file`, `writeFile`); none of them
/// gives two tools names that differ in that alone.
static NAMES: &[(ToolKind, &[&str])] = &[
    (ToolKind::Shell, words!("tools-that-run")),
    (ToolKind::Write, words!("tools-that-write")),
    (ToolKind::Edit, words!("tools-that-edit")),
    (ToolKind::Delete, words!("tools-that-delete")),
    (ToolKind::Read, words!("tools-that-read")),
    (ToolKind::Search, words!("tools-that-search")),
    (ToolKind::Fetch, words!("tools-that-fetch")),
    (ToolKind::Agent, words!("tools-of-agents")),
    (ToolKind::Mcp, words!("tools-of-mcp")),
    (ToolKind::Other, words!("other-tools")),
];

/// The names in the standard of HOOK.md that known tools have beside that of their kind.
static IN_STANDARD: &[(&str, &[&str])] = &[
    ("Glob", words!("glob-tools")),
    ("Grep", words!("grep-tools")),
    ("SearchWeb", words!("web-search-tools")),
    ("LS", words!("listing-file-tools")),
];

/// The fields in which a known shell, in the same form, has the model say what its command is for: the host shows them to the
/// person, and nothing runs or opens them.
static EXPLAINED: &[(&str, &[&str])] = &[
    ("bash", &["description"]),
    ("execcommand", &["justification"]),
    ("powershell", &["description"]),
    ("runinterminal", &["explanation", "goal"]),
    ("runshellcommand", &["description"]),
    ("runterminalcmd", &["explanation"]),
    ("runterminalcommand", &["explanation"]),
    ("shell", &["description", "explanation", "justification"]),
    ("shellcommand", &["justification"]),
];

impl ToolKind {
    /// Returns the kind of a tool by any host's name of it.
    pub fn of(name: &str) -> Self {
        kind_of(name).unwrap_or_else(|| {
            if mcp::of_name(name).is_some() {
                Self::Mcp
            } else {
                Self::Other
            }
        })
    }
}

/// Finds what a tool of this name does, in any host's spelling.
pub(super) fn kind_of(name: &str) -> Option<ToolKind> {
    let found = NAMES.iter().find(|(_, names)| is_one_of(names, name));
    found.map(|(kind, _)| *kind)
}

/// Whether a field of a shell only says what its command is for.
pub(super) fn explains(name: &str, field: &str) -> bool {
    let shell = EXPLAINED
        .iter()
        .find(|(shell, _)| is_one_of(&[shell], name));
    shell.is_some_and(|(_, fields)| fields.contains(&field))
}

/// Whether a name, in any host's spelling, is one of those.
fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| {
        let spelt = name.bytes().filter(|b| !matches!(b, b'_' | b'-' | b' '));
        spelt.map(|b| b.to_ascii_lowercase()).eq(known.bytes())
    })
}

/// Returns the names that a tool of any host has in the standard of HOOK.md, the usual one first; none where the standard has
/// no such tool.
pub(crate) fn standard_names(name: &str, kind: ToolKind) -> &'static [&'static str] {
    let mut known = IN_STANDARD.iter();
    let known = known.find(|(_, names)| is_one_of(names, name));
    if let Some((standard, _)) = known.filter(|_| kind_of(name) == Some(kind)) {
        return std::slice::from_ref(standard);
    }
    match kind {
        ToolKind::Shell => &["Shell"],
        ToolKind::Write => &["WriteFile"],
        ToolKind::Edit => &["StrReplaceFile", "EditFile"],
        ToolKind::Delete => &["DeleteFile"],
        ToolKind::Read => &["ReadFile"],
        ToolKind::Search => &["Grep", "Glob"],
        ToolKind::Fetch => &["FetchURL"],
        ToolKind::Agent => &["Task"],
        ToolKind::Mcp | ToolKind::Other => &[],
    }
}

/// Words in the names of tools that change files.
const CHANGING: &[&str] = words!("file-changing-words");

/// Whether a tool of this name, that nobody knows, may say that it changes files: `compute` has `put` in it.
pub(super) fn may_change_files(name: &str) -> bool {
    let name = name.to_lowercase();
    CHANGING.iter().any(|word| name.contains(word))
}

/// Whether a tool of this name says by a word of its own that it changes files, or is known to.
pub(super) fn changes_files(name: &str) -> bool {
    let tool = mcp::of_name(name).map(|mcp| mcp.tool);
    let name = tool.as_deref().unwrap_or(name);
    matches!(
        kind_of(name),
        Some(ToolKind::Write | ToolKind::Edit | ToolKind::Delete)
    ) || name_words(name)
        .iter()
        .any(|word| CHANGING.contains(&word.as_str()))
}

/// Splits the name of a tool into its words: `read_file`, `readFile`.
pub(crate) fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_after_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || c.is_ascii_uppercase() && is_after_lower {
            words.push(String::new());
        }
        is_after_lower = c.is_ascii_lowercase();
        if let Some(word) = words.last_mut()
            && c.is_ascii_alphanumeric()
        {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_one_kind() {
        for (kind, names) in NAMES {
            assert!(
                names.iter().all(|name| kind_of(name) == Some(*kind)),
                "{kind:?}"
            );
        }
        let in_standard = IN_STANDARD.iter().flat_map(|(_, names)| *names);
        assert!(in_standard.clone().all(|name| kind_of(name).is_some()));
        let is_shell = |name: &str| kind_of(name) == Some(ToolKind::Shell);
        assert!(EXPLAINED.iter().all(|(name, _)| is_shell(name)));
    }

    #[test]
    fn one_tool_has_one_kind_in_every_spelling() {
        for name in [
            "Bash",
            "Shell",
            "run_shell_command",
            "runTerminalCommand",
            "run_in_terminal",
            "shell",
            "exec_command",
            "run_commands",
            "PowerShell",
        ] {
            assert_eq!(kind_of(name), Some(ToolKind::Shell), "{name}");
        }
        for name in [
            "Write",
            "WriteFile",
            "write_file",
            "create",
            "create_file",
            "write_to_file",
        ] {
            assert_eq!(kind_of(name), Some(ToolKind::Write), "{name}");
        }
        assert_eq!(kind_of("frobnicate"), None);
    }
}
