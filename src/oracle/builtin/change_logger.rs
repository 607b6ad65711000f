//! ChangeLogger: records what a tool call did to files.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::event::{ToolKind, Trigger};
use crate::fact::FactSource;
use crate::oracle::wording::counted;
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::regular_file;
use crate::signal::{Intensity, Signal, hex};
use crate::workspace::ChangeScope;

pub(super) static DEFINITION: Definition = Definition {
    name: "ChangeLogger",
    kebab: "change-logger",
    summary: "Records what a tool call did to files.",
    triggers: &[
        Trigger::PostToolUse,
        Trigger::PostToolUseFailure,
        Trigger::PreToolUse,
    ],
    intensities: &[Intensity::Aid],
    needs: &[FactSource::Shell, FactSource::Git],
    programs: Programs::None,
    file_key: None,
    schema: || schemars::schema_for!(ChangeLogger),
    build: |config| ChangeLogger::build(config).map(|oracle| Arc::new(oracle) as Arc<dyn Oracle>),
};

/// What was last seen of files lies here, in the state directory.
const STATE: &str = "change-logger.json";

/// How many files are remembered, and how many of one call are recorded.
const MOST_FILES: usize = 2000;

/// Records what a tool call did to files: path, lines, bytes, and a hash of the content before and after.
///
/// What it does: it runs after a tool that writes, edits or deletes files, and after a shell command whose programs are
/// known to do so. It compares each file of the call with its earlier state. That is the state before the call, if the
/// oracle is also bound at `pre-tool-use`; otherwise the state after an earlier call; otherwise the state in the commit
/// that is checked out. The record is an aid, so the signal log contains it with its time, session and issue. With
/// `path`, each change is also appended to a file of your own, as one line of JSON.
///
/// ```yaml
/// hooks:
///   post-tool-use:
///     - oracle: ChangeLogger
///       config:
///         log_level: info
///         path: .ahp/changes.jsonl
///       when:
///         tool.kind: [write, edit, delete, shell]
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ChangeLogger {
    /// How much is recorded: with `debug`, unchanged files too; with `info`, every change; with `warn`, only deleted files.
    log_level: Level,
    /// A file in the project, relative to it, to which each change is appended as JSON; by default none.
    path: Option<String>,
}

/// How much is recorded.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// Unchanged files too.
    Debug,
    /// Every change.
    #[default]
    Info,
    /// Only deleted files.
    Warn,
}

/// What a file holds, in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    bytes: usize,
    lines: usize,
    /// The first 16 digits of the SHA-256 of the content.
    hash: String,
}

/// What happened to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct FileChange {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Seen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Seen>,
}

/// One line of the file that `path` names.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    timestamp: String,
    session_id: Option<&'a str>,
    issue_id: Option<&'a str>,
    tool: &'a str,
    #[serde(flatten)]
    change: &'a FileChange,
}

#[async_trait]
impl Oracle for ChangeLogger {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let paths = touched(context);
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let mut known = load(context);
        let is_before = context.event().trigger == Trigger::PreToolUse;
        let mut changes = Vec::new();
        for path in paths {
            let after = seen(context, &path);
            if !is_before {
                let before = match known.get(&path) {
                    Some(last) => last.clone(),
                    None => committed(context, &path),
                };
                changes.push(FileChange {
                    path: path.clone(),
                    before,
                    after: after.clone(),
                });
            }
            known.insert(path, after);
        }
        save(context, known);
        changes.retain(|change| self.is_recorded(change));
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let mut follow_ups = Vec::new();
        if let Some(path) = &self.path
            && let Err(error) = append(path, &changes, context)
        {
            follow_ups.push(format!("`{path}` could not be written: {error}"));
        }
        Ok(vec![describe(context, &changes).steps(follow_ups)])
    }
}

impl ChangeLogger {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let oracle: Self = config.decode()?;
        if let Some(path) = &oracle.path {
            config.inner_path("path", path)?;
        }
        Ok(oracle)
    }

    fn is_recorded(&self, change: &FileChange) -> bool {
        match self.log_level {
            Level::Debug => true,
            Level::Info => change.before != change.after,
            Level::Warn => change.after.is_none() && change.before.is_some(),
        }
    }
}

/// Returns the files that the call touches, relative to the project where they lie in it.
fn touched(context: &HookContext) -> Vec<String> {
    let Some(tool) = context.facts.tool() else {
        return Vec::new();
    };
    let mut paths = match tool.kind {
        ToolKind::Write | ToolKind::Edit | ToolKind::Delete => tool.paths.clone(),
        ToolKind::Shell => {
            let effects = context.facts.shell().map(|analysis| analysis.writes());
            let exact = effects
                .into_iter()
                .flatten()
                .filter(|effect| !effect.inexact);
            exact
                .flat_map(|effect| files_of(context, &effect.path, effect.recursive))
                .collect()
        }
        _ => Vec::new(),
    };
    paths.sort_unstable();
    paths.dedup();
    paths.truncate(MOST_FILES);
    paths
}

/// Returns a path relative to the project, or, of a folder, the files that are known to be or to have been in it.
fn files_of(context: &HookContext, path: &Path, recursive: bool) -> Vec<String> {
    let Ok(relative) = path.strip_prefix(context.root()) else {
        return Vec::new();
    };
    let relative = relative.to_string_lossy().into_owned();
    if !recursive || context.workspace().read(&relative).is_ok() {
        return vec![relative];
    }
    let below = format!("{relative}/");
    let known = load(context);
    let there = context.workspace().list(&format!("{below}**"));
    let gone = known.into_keys().filter(|path| path.starts_with(&below));
    there.into_iter().chain(gone).chain([relative]).collect()
}

fn seen(context: &HookContext, path: &str) -> Option<Seen> {
    context
        .workspace()
        .read(path)
        .ok()
        .map(|content| figures(&content))
}

fn committed(context: &HookContext, path: &str) -> Option<Seen> {
    let content = context
        .workspace()
        .before(ChangeScope::WorkingTree, path)
        .ok()??;
    Some(figures(&content))
}

fn figures(content: &[u8]) -> Seen {
    let mut hash = hex(&Sha256::digest(content));
    hash.truncate(16);
    let ends = memchr::memchr_iter(b'\n', content).count();
    let open = content.last().is_some_and(|last| *last != b'\n');
    Seen {
        bytes: content.len(),
        lines: ends + usize::from(open),
        hash,
    }
}

/// How long the file of what was seen may be.
const MOST_BYTES: u64 = 64 << 20;

/// Path to what was last seen of it; nothing where it was not there.
type Known = BTreeMap<String, Option<Seen>>;

/// Reads what was last seen; a file that is not there or not understood tells nothing.
fn load(context: &HookContext) -> Known {
    // A project in memory has no past.
    let kept = context
        .workspace()
        .is_on_disk()
        .then(|| context.state_dir.join(STATE));
    let base = context.state_dir.parent();
    kept.and_then(|file| regular_file::read(base, &file, MOST_BYTES).ok())
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default()
}

/// Keeps what was last seen; without it the next record says less, which is no reason to fail.
fn save(context: &HookContext, mut known: Known) {
    if !context.workspace().is_on_disk() {
        return;
    }
    let state_dir = &context.state_dir;
    // Files that are gone are forgotten first.
    if known.len() > MOST_FILES {
        known.retain(|_, seen| seen.is_some());
    }
    while known.len() > MOST_FILES {
        known.pop_first();
    }
    let written = serde_json::to_vec(&known)
        .map_err(std::io::Error::from)
        .and_then(|text| regular_file::replace(state_dir.parent(), &state_dir.join(STATE), &text));
    if let Err(error) = written {
        tracing::warn!(%error, "what was seen of files cannot be kept");
    }
}

fn append(path: &str, changes: &[FileChange], context: &HookContext) -> std::io::Result<()> {
    let event = context.event();
    let mut lines = Vec::new();
    for change in changes {
        let entry = Entry {
            timestamp: context
                .facts
                .time()
                .to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true),
            session_id: event.session_id.as_deref(),
            issue_id: event.issue_id.as_deref(),
            tool: event.tool.as_ref().map_or("", |tool| &tool.name),
            change,
        };
        serde_json::to_writer(&mut lines, &entry)?;
        lines.push(b'\n');
    }
    let root = context.root().canonicalize()?;
    let file = root.join(path);
    let dir = file.parent().unwrap_or(&root);
    std::fs::create_dir_all(dir)?;
    // A link may lead out of the project; what it points to is not ours to write.
    if !dir.canonicalize()?.starts_with(&root) || file.is_symlink() {
        return Err(std::io::Error::other(
            "it leads out of the project through a link",
        ));
    }
    // One write: lines of several processes do not mix.
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)?
        .write_all(&lines)
}

fn describe(context: &HookContext, changes: &[FileChange]) -> Signal {
    let tool = context
        .event()
        .tool
        .as_ref()
        .map_or("the tool", |tool| &tool.name);
    let lines: Vec<String> = changes.iter().map(FileChange::describe).collect();
    let text = format!(
        "`{tool}` and {}:\n{}",
        counted(changes.len(), "file"),
        lines.join("\n")
    );
    Signal::aid("files-changed", text).files(changes.iter().map(|change| &change.path))
}

impl FileChange {
    fn describe(&self) -> String {
        let size = |seen: &Seen| {
            let lines = counted(seen.lines, "line");
            format!(
                "{lines}, {}, sha256 {}",
                counted(seen.bytes, "byte"),
                seen.hash
            )
        };
        let path = &self.path;
        match (&self.before, &self.after) {
            (None, None) => format!("- {path} is not there"),
            (None, Some(after)) => format!("- {path} is new: {}", size(after)),
            (Some(before), None) => format!("- {path} is gone: it had {}", size(before)),
            (Some(before), Some(after)) if before == after => {
                format!("- {path} is unchanged: {}", size(after))
            }
            (Some(before), Some(after)) => {
                format!("- {path} changed: {} -> {}", size(before), size(after))
            }
        }
    }
}
