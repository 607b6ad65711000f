//! ToolView: a tool call in the vocabulary that all hosts share.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::super::parse_json;
use super::patch::Patch;
use super::{McpTool, ToolCall, ToolKind, input, line, mcp, names, path};
use crate::words::words;

/// A tool call in the common vocabulary.
#[derive(Clone, Debug)]
pub struct ToolView {
    /// What the tool does.
    pub kind: ToolKind,
    /// The command line of a shell tool; the words of an argument vector are quoted and joined.
    pub command: Option<String>,
    /// Every path that the call touches, relative to the project root where it lies below it, else absolute.
    pub paths: Vec<String>,
    /// The text that is being written.
    pub content: Option<String>,
    /// The directory in which the command line runs, as the input says it.
    pub work_dir: Option<String>,
    /// The addresses that are fetched.
    pub urls: Vec<String>,
    /// What the tool gave back, as text.
    pub output: Option<String>,
    /// The MCP server.
    pub mcp_server: Option<String>,
    /// The MCP tool's own name.
    pub mcp_tool: Option<String>,
    /// Whether its server says that it changes nothing.
    pub mcp_read_only: Option<bool>,
    /// Whether its server says that it may destroy something.
    pub mcp_destructive: Option<bool>,
}

impl ToolCall {
    /// Returns the kind of the tool's name, and the kind that its input makes of it: a patch that adds a file writes.
    pub fn kinds(&self) -> [ToolKind; 2] {
        // Of the kind the paths tell nothing.
        let anywhere = Path::new("/");
        let made = ToolView::of(self, anywhere, anywhere).kind;
        [ToolKind::of(&self.name), made]
    }

    /// Returns what the call acts on: its command line, its paths or its addresses, however the host writes them; else the
    /// tool with its whole input.
    pub(in crate::event) fn object(&self, work_dir: &Path) -> String {
        let view = ToolView::of(self, work_dir, work_dir);
        let said = match &view.command {
            Some(command) => command.split_whitespace().collect::<Vec<_>>().join(" "),
            None if !view.paths.is_empty() => view.paths.join(" "),
            None => view.urls.join(" "),
        };
        match said.is_empty() {
            false if view.kind != ToolKind::Mcp => said,
            false => format!("{} {said}", self.name),
            true => format!("{} {}", self.name, self.input),
        }
    }
}

/// Returns the paths of a patch. One that the input names beside it is meant as it stands there: Git writes an absolute one
/// without its first character.
fn patched(patch: &Patch, input: &Value) -> Vec<String> {
    let named = input::paths(input);
    let meant = |path: &String| {
        let mut named = named.iter();
        let named = named.find(|named| named.strip_prefix('/') == Some(path.as_str()));
        named.unwrap_or(path).clone()
    };
    patch.paths.iter().map(meant).collect()
}

impl ToolView {
    /// Makes the view of a call that happens in `work_dir` of the project at `root`.
    pub fn of(call: &ToolCall, work_dir: &Path, root: &Path) -> Self {
        let mut kind = if call.mcp.is_some() {
            ToolKind::Mcp
        } else {
            ToolKind::of(&call.name)
        };
        // Some hosts put the input into a string as JSON.
        let decoded = decoded(&call.input);
        let given = decoded.as_ref().unwrap_or(&call.input);
        // A tool that nobody knows, but that is given a command line, runs it.
        let is_unknown = kind == ToolKind::Other && names::kind_of(&call.name).is_none();
        if is_unknown && line::named_command(given).is_some() {
            kind = ToolKind::Shell;
        }
        let mcp = (kind == ToolKind::Mcp)
            .then(|| named_mcp(call, given))
            .flatten();
        let texts = match kind {
            ToolKind::Edit => patch_texts(given),
            _ if call.is_unknown() => patches_within("", given, MOST_NESTED),
            _ => Vec::new(),
        };
        let (paths, content) = if let Some(patch) = Patch::read(&texts.join("\n")) {
            // Which of several fields the tool takes nobody knows: what stands beside the patch counts too.
            let beside = input::content(given, &texts);
            if kind == ToolKind::Edit && beside.is_none() {
                kind = patch.kind();
            }
            let paths = [patched(&patch, given), input::paths(given)].concat();
            let content = [patch.added].into_iter().chain(beside);
            (paths, Some(content.collect::<Vec<_>>().join("\n")))
        } else {
            kind = by_verb(&call.name, kind, given);
            match kind {
                ToolKind::Shell if is_unknown => (input::paths(given), None),
                ToolKind::Shell | ToolKind::Fetch | ToolKind::Agent => (Vec::new(), None),
                ToolKind::Write | ToolKind::Edit | ToolKind::Mcp => {
                    (input::paths(given), input::content(given, &[]))
                }
                _ => (input::paths(given), None),
            }
        };
        let mut seen = BTreeSet::new();
        let mut paths: Vec<String> = paths
            .iter()
            .map(|p| path::written(p, work_dir, root))
            .collect();
        paths.retain(|path| seen.insert(path.clone()));
        Self {
            kind,
            command: match kind {
                ToolKind::Shell => line::command(given).or_else(|| line::every_text(given)),
                ToolKind::Mcp => line::named_command(given),
                _ => None,
            },
            paths,
            content,
            work_dir: matches!(kind, ToolKind::Shell | ToolKind::Mcp)
                .then(|| line::work_dir(given).map(str::to_owned))
                .flatten(),
            urls: if matches!(kind, ToolKind::Fetch | ToolKind::Mcp) {
                input::urls(given)
            } else {
                Vec::new()
            },
            output: call
                .output
                .as_ref()
                .or(call.error.as_ref())
                .and_then(input::output),
            mcp_server: mcp.as_ref().and_then(|m| m.server.clone()),
            mcp_read_only: mcp.as_ref().and_then(|m| m.read_only),
            mcp_destructive: mcp.as_ref().and_then(|m| m.destructive),
            mcp_tool: mcp.map(|m| m.tool),
        }
    }

    /// Whether hooks are told something of the call under a name of the common vocabulary.
    pub(crate) fn tells(&self, name: &str) -> bool {
        match name {
            "command" => self.command.is_some(),
            "content" => self.content.is_some(),
            "file_path" | "filePath" | "files" | "path" => !self.paths.is_empty(),
            "url" => !self.urls.is_empty(),
            _ => false,
        }
    }

    /// Whether a tool of this name changes the files that it is given: of one that nobody knows, its name tells.
    pub fn changes_files(&self, name: &str) -> bool {
        match self.kind {
            ToolKind::Write | ToolKind::Edit | ToolKind::Delete => true,
            ToolKind::Mcp | ToolKind::Other => names::may_change_files(name),
            ToolKind::Shell => names::kind_of(name).is_none() && names::may_change_files(name),
            ToolKind::Read | ToolKind::Search | ToolKind::Fetch | ToolKind::Agent => false,
        }
    }
}

impl ToolView {
    /// Whether a tool of this name is known to change none of the files that it is given, whatever it is given.
    pub(crate) fn only_looks(&self, name: &str) -> bool {
        match self.kind {
            ToolKind::Write | ToolKind::Edit | ToolKind::Delete => false,
            ToolKind::Shell if names::kind_of(name).is_some() => true,
            // What its input takes for a command line may be none: `{"command": "create", "path": "a"}`.
            ToolKind::Mcp | ToolKind::Other | ToolKind::Shell => {
                let name = name.to_lowercase();
                !self.changes_files(&name) && LOOKING.iter().any(|word| name.contains(word))
            }
            _ => true,
        }
    }
}

/// Words in the names of tools that read, ask or tell.
const LOOKING: &[&str] = words!("looking-words");

/// Reads an input that its host put into a string as JSON.
pub(crate) fn decoded(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim_start();
    let inner = text
        .starts_with(['{', '[', '"'])
        .then(|| parse_json(text.as_bytes()).ok())
        .flatten()?;
    // What is put into a text twice is taken out of it twice.
    Some(decoded(&inner).unwrap_or(inner))
}

fn named_mcp(call: &ToolCall, given: &Value) -> Option<McpTool> {
    call.mcp
        .clone()
        .or_else(|| mcp::of_name(&call.name))
        .or_else(|| mcp::of_input(given))
}

/// Returns the texts in which a patch would stand.
fn patch_texts(given: &Value) -> Vec<&str> {
    let texts: Vec<&str> = match given {
        Value::String(text) => vec![text],
        Value::Object(map) => {
            let fields = PATCH.iter().filter_map(|key| map.get(*key));
            fields.filter_map(patch_word).collect()
        }
        _ => Vec::new(),
    };
    texts
        .into_iter()
        .filter(|text| may_be_patch(text))
        .collect()
}

/// The fields that may hold a patch.
pub(super) const PATCH: &[&str] = words!("patch-fields");

/// Whether a text has the signs of a patch.
pub(super) fn may_be_patch(text: &str) -> bool {
    text.contains("*** ") || text.contains("+++ ")
}

/// How deep a patch is looked for in the input of a tool that nobody knows.
const MOST_NESTED: usize = 8;

/// Returns the texts in which a patch stands in the input of a tool that nobody knows: below a key that says so, or a text
/// that begins as one.
fn patches_within<'v>(key: &str, value: &'v Value, depth: usize) -> Vec<&'v str> {
    match value {
        Value::String(text) => {
            let key = key.to_ascii_lowercase();
            let is_told = (key.contains("patch") || key.contains("diff"))
                && (text.contains("*** ") || text.contains("+++ "));
            let begins = ["*** Begin Patch", "--- ", "diff --git "];
            let is_patch = begins.iter().any(|start| text.starts_with(start));
            let is_patch = is_told || is_patch && text.contains('\n');
            is_patch.then_some(&**text).into_iter().collect()
        }
        Value::Array(items) if depth > 0 => {
            let items = items.iter();
            items
                .flat_map(|item| patches_within(key, item, depth - 1))
                .collect()
        }
        Value::Object(map) if depth > 0 => {
            let fields = map.iter();
            fields
                .flat_map(|(key, value)| patches_within(key, value, depth - 1))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Takes the patch out of an argument vector such as `["apply_patch", "*** Begin Patch…"]`.
fn patch_word(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(words) => words.last().and_then(Value::as_str),
        _ => None,
    }
}

/// Looks closer at tools that do several things: an editor told to `create` or to `view`, or one that is
/// given no text to replace.
fn by_verb(name: &str, kind: ToolKind, given: &Value) -> ToolKind {
    if kind != ToolKind::Edit {
        return kind;
    }
    // Others take no notice of such a field.
    let name = name.to_ascii_lowercase();
    let does_several = name.contains("editor") || name.contains("str_replace");
    match given.get("command").and_then(Value::as_str) {
        Some("create") if does_several => return ToolKind::Write,
        Some("view") if does_several && input::content(given, &[]).is_none() => {
            return ToolKind::Read;
        }
        _ => {}
    }
    // What stands in the place of nothing is the whole file.
    let is_new = |edit: &Value| edit.get("old_string").and_then(Value::as_str) == Some("");
    let edits = given.get("edits").and_then(Value::as_array);
    if edits.is_some_and(|edits| !edits.is_empty() && edits.iter().all(is_new)) {
        return ToolKind::Write;
    }
    let has = |key: &str| given.get(key).is_some();
    if has("new_text") && !has("old_text") && !has("insert_line") {
        return ToolKind::Write;
    }
    kind
}
