//! Names: the table of every known tool of every host, and what it does.

use super::{ToolKind, mcp};

/// Every known tool name, written in lower case without `_`, `-` and spaces, in order.
///
/// Hosts spell one tool in several cases (`Write`, `write`; `write_file`, `writeFile`); none of them
/// gives two tools names that differ in that alone.
static NAMES: &[(&str, ToolKind)] = &[
    ("accessmcpresource", ToolKind::Mcp),
    ("activateskill", ToolKind::Other),
    ("agent", ToolKind::Agent),
    ("applydiff", ToolKind::Edit),
    ("applypatch", ToolKind::Edit),
    ("askfollowupquestion", ToolKind::Other),
    ("askquestion", ToolKind::Other),
    ("askuser", ToolKind::Other),
    ("askuserquestion", ToolKind::Other),
    ("bash", ToolKind::Shell),
    ("bashoutput", ToolKind::Other),
    ("browseraction", ToolKind::Fetch),
    ("codebase", ToolKind::Search),
    ("codebasesearch", ToolKind::Search),
    ("completetask", ToolKind::Other),
    ("create", ToolKind::Write),
    ("createdirectory", ToolKind::Write),
    ("createfile", ToolKind::Write),
    ("createnewjupyternotebook", ToolKind::Write),
    ("delegatetoagent", ToolKind::Agent),
    ("delete", ToolKind::Delete),
    ("deletefile", ToolKind::Delete),
    ("edit", ToolKind::Edit),
    ("editfile", ToolKind::Edit),
    ("editfiles", ToolKind::Edit),
    ("editnotebook", ToolKind::Edit),
    ("editnotebookfile", ToolKind::Edit),
    ("editor", ToolKind::Edit),
    ("enterplanmode", ToolKind::Other),
    ("execcommand", ToolKind::Shell),
    ("execute", ToolKind::Shell),
    ("executebash", ToolKind::Shell),
    ("executecommand", ToolKind::Shell),
    ("exitplanmode", ToolKind::Other),
    ("fetch", ToolKind::Fetch),
    ("fetchurl", ToolKind::Fetch),
    ("fetchwebcontent", ToolKind::Fetch),
    ("fetchwebpage", ToolKind::Fetch),
    ("filesearch", ToolKind::Search),
    ("findpath", ToolKind::Search),
    ("findtextinfiles", ToolKind::Search),
    ("fsread", ToolKind::Read),
    ("fswrite", ToolKind::Write),
    ("git", ToolKind::Shell),
    ("glob", ToolKind::Search),
    ("googlewebsearch", ToolKind::Fetch),
    ("grep", ToolKind::Search),
    ("grepsearch", ToolKind::Search),
    ("inserteditintofile", ToolKind::Edit),
    ("invokeagent", ToolKind::Agent),
    ("killbash", ToolKind::Other),
    ("killshell", ToolKind::Other),
    ("list", ToolKind::Search),
    ("listdir", ToolKind::Search),
    ("listdirectory", ToolKind::Search),
    ("listfiles", ToolKind::Search),
    ("listmcpresourcestool", ToolKind::Mcp),
    ("localshell", ToolKind::Shell),
    ("ls", ToolKind::Search),
    ("multiedit", ToolKind::Edit),
    ("multireplacestringinfile", ToolKind::Edit),
    ("newtask", ToolKind::Agent),
    ("notebookedit", ToolKind::Edit),
    ("notebookread", ToolKind::Read),
    ("opensimplebrowser", ToolKind::Fetch),
    ("patch", ToolKind::Edit),
    ("powershell", ToolKind::Shell),
    ("question", ToolKind::Other),
    ("read", ToolKind::Read),
    ("readbash", ToolKind::Other),
    ("readcode", ToolKind::Read),
    ("readfile", ToolKind::Read),
    ("readfiles", ToolKind::Read),
    ("readmanyfiles", ToolKind::Read),
    ("readmcpresourcetool", ToolKind::Mcp),
    ("readmediafile", ToolKind::Read),
    ("removefile", ToolKind::Delete),
    ("replace", ToolKind::Edit),
    ("replaceinfile", ToolKind::Edit),
    ("replacestringinfile", ToolKind::Edit),
    ("rg", ToolKind::Search),
    ("runcommand", ToolKind::Shell),
    ("runcommands", ToolKind::Shell),
    ("runinterminal", ToolKind::Shell),
    ("runshellcommand", ToolKind::Shell),
    ("runsubagent", ToolKind::Agent),
    ("runterminalcmd", ToolKind::Shell),
    ("runterminalcommand", ToolKind::Shell),
    ("searchcodebase", ToolKind::Search),
    ("searchfiles", ToolKind::Search),
    ("searchreplace", ToolKind::Edit),
    ("searchweb", ToolKind::Fetch),
    ("semanticsearch", ToolKind::Search),
    ("sendinput", ToolKind::Agent),
    ("sendmessage", ToolKind::Agent),
    ("sendtoterminal", ToolKind::Shell),
    ("settodolist", ToolKind::Other),
    ("shell", ToolKind::Shell),
    ("shellcommand", ToolKind::Shell),
    ("skill", ToolKind::Other),
    ("spawnagent", ToolKind::Agent),
    ("stopbash", ToolKind::Other),
    ("strreplace", ToolKind::Edit),
    ("strreplacebasededittool", ToolKind::Edit),
    ("strreplaceeditor", ToolKind::Edit),
    ("strreplacefile", ToolKind::Edit),
    ("subagent", ToolKind::Agent),
    ("task", ToolKind::Agent),
    ("taskcreate", ToolKind::Other),
    ("taskupdate", ToolKind::Other),
    ("terminal", ToolKind::Shell),
    ("texteditor", ToolKind::Edit),
    ("textsearch", ToolKind::Search),
    ("think", ToolKind::Other),
    ("todolist", ToolKind::Other),
    ("todoread", ToolKind::Other),
    ("todowrite", ToolKind::Other),
    ("updateplan", ToolKind::Other),
    ("updatetodo", ToolKind::Other),
    ("usemcptool", ToolKind::Mcp),
    ("usesubagents", ToolKind::Agent),
    ("view", ToolKind::Read),
    ("viewimage", ToolKind::Read),
    ("webfetch", ToolKind::Fetch),
    ("websearch", ToolKind::Fetch),
    ("write", ToolKind::Write),
    ("writebash", ToolKind::Shell),
    ("writecode", ToolKind::Edit),
    ("writefile", ToolKind::Write),
    // Types into a shell that is running: what it types is a command line.
    ("writestdin", ToolKind::Shell),
    ("writetodos", ToolKind::Other),
    ("writetofile", ToolKind::Write),
];

/// Known tools, in the same form, that have a name of their own in the standard of HOOK.md, and not that of their kind.
static IN_STANDARD: &[(&str, &[&str])] = &[
    ("filesearch", &["Glob"]),
    ("findpath", &["Glob"]),
    ("findtextinfiles", &["Grep"]),
    ("glob", &["Glob"]),
    ("googlewebsearch", &["SearchWeb"]),
    ("grep", &["Grep"]),
    ("grepsearch", &["Grep"]),
    ("list", &["LS"]),
    ("listdir", &["LS"]),
    ("listdirectory", &["LS"]),
    ("listfiles", &["LS"]),
    ("ls", &["LS"]),
    ("rg", &["Grep"]),
    ("searchweb", &["SearchWeb"]),
    ("textsearch", &["Grep"]),
    ("websearch", &["SearchWeb"]),
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

/// No known name is longer, in bytes.
const LONGEST: usize = 24;

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
    find(NAMES, name)
}

/// Whether a field of a shell only says what its command is for.
pub(super) fn explains(name: &str, field: &str) -> bool {
    find(EXPLAINED, name).is_some_and(|fields| fields.contains(&field))
}

/// Finds what a table has for a name, in any host's spelling.
fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    let mut key = [0; LONGEST];
    let mut length = 0;
    for byte in name.bytes().filter(|b| !matches!(b, b'_' | b'-' | b' ')) {
        *key.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let key = key.get(..length)?;
    let at = table
        .binary_search_by_key(&key, |(name, _)| name.as_bytes())
        .ok()?;
    table.get(at).map(|(_, found)| *found)
}

/// Returns the names that a tool of any host has in the standard of HOOK.md, the usual one first; none where the standard has
/// no such tool.
pub(crate) fn standard_names(name: &str, kind: ToolKind) -> &'static [&'static str] {
    let of_name = find(IN_STANDARD, name).filter(|_| kind_of(name) == Some(kind));
    of_name.unwrap_or(match kind {
        ToolKind::Shell => &["Shell"],
        ToolKind::Write => &["WriteFile"],
        ToolKind::Edit => &["StrReplaceFile", "EditFile"],
        ToolKind::Delete => &["DeleteFile"],
        ToolKind::Read => &["ReadFile"],
        ToolKind::Search => &["Grep", "Glob"],
        ToolKind::Fetch => &["FetchURL"],
        ToolKind::Agent => &["Task"],
        ToolKind::Mcp | ToolKind::Other => &[],
    })
}

/// Words in the names of tools that change files.
const CHANGING: &[&str] = &[
    "write", "edit", "create", "delete", "remove", "move", "rename", "copy", "patch", "append",
    "replace", "save", "update", "insert", "put", "apply", "mkdir", "unlink", "truncate",
];

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
    fn the_table_is_sorted_and_normalised() {
        assert!(NAMES.is_sorted_by(|(a, _), (b, _)| a < b));
        assert!(IN_STANDARD.is_sorted_by(|(a, _), (b, _)| a < b));
        assert!(IN_STANDARD.iter().all(|(name, _)| kind_of(name).is_some()));
        assert!(EXPLAINED.is_sorted_by(|(a, _), (b, _)| a < b));
        let is_shell = |name: &str| kind_of(name) == Some(ToolKind::Shell);
        assert!(EXPLAINED.iter().all(|(name, _)| is_shell(name)));
        for (name, kind) in NAMES {
            assert_eq!(kind_of(name), Some(*kind), "{name}");
        }
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
