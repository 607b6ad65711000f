//! The lines that a change adds, and the content that a tool is about to write.

mod commits;
mod patch;

pub(in crate::oracle) use self::commits::by_commits;
use self::patch::Told;

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use rayon::iter::{
    IntoParallelIterator as _, IntoParallelRefIterator as _, ParallelExtend as _,
    ParallelIterator as _,
};

use crate::event::ToolKind;
use crate::oracle::toolchain::in_time;
use crate::oracle::{HookContext, OracleError};
use crate::process::Exit;
use crate::words::words;
use crate::workspace::{Change, Changes, GitError, git};

/// How much of a diff is read.
const MAX_DIFF: usize = 512 << 20;

/// Added text of one file, or of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::oracle) struct Added {
    /// The file, relative to the project; none for a command line and the message of a commit.
    pub(in crate::oracle) path: Option<String>,
    /// The added lines.
    pub(in crate::oracle) text: String,
    /// The number of each of them in the file; empty where the text is the whole file.
    pub(in crate::oracle) lines: Vec<u32>,
    /// The commit that added them, where it is not the change as a whole.
    pub(in crate::oracle) commit: Option<String>,
    /// Why there is no text, although there is a file.
    pub(in crate::oracle) unread: Option<String>,
}

impl Added {
    /// Returns the line in the file at an offset of the text, from 1.
    pub(in crate::oracle) fn line_at(&self, offset: usize) -> u32 {
        let before = self.text.as_bytes().get(..offset).unwrap_or_default();
        let nth = memchr::memchr_iter(b'\n', before).count();
        match self.lines.get(nth) {
            Some(line) => *line,
            None => u32::try_from(nth).map_or(u32::MAX, |n| n.saturating_add(1)),
        }
    }

    /// Whether a span of lines of the file holds an added one.
    pub(in crate::oracle) fn touches(&self, first: u32, last: u32) -> bool {
        if self.lines.is_empty() {
            return true;
        }
        let next = self.lines.partition_point(|line| *line < first);
        self.lines.get(next).is_some_and(|line| *line <= last)
    }
}

/// Returns what a tool call writes: a file's content, a command line, or the input of a foreign tool.
pub(in crate::oracle) fn by_tool(context: &HookContext) -> Vec<Added> {
    let Some(tool) = context.facts.tool() else {
        return Vec::new();
    };
    let whole = |path: Option<String>, text: String| Added {
        path,
        text,
        ..Added::default()
    };
    let mut added = Vec::new();
    if let Some(content) = &tool.content {
        added.push(whole(tool.paths.first().cloned(), content.clone()));
    }
    if let Some(command) = &tool.command {
        added.push(whole(None, command.clone()));
    }
    let is_foreign = matches!(tool.kind, ToolKind::Mcp | ToolKind::Other | ToolKind::Agent);
    if let (true, Some(call)) = (is_foreign && tool.content.is_none(), &context.event().tool) {
        added.push(whole(None, call.input.to_string()));
    }
    added
}

/// Returns the lines that the change of the event adds, file by file.
///
/// Without a repository every file of the project is held for new.
///
/// # Errors
/// Git cannot tell what has changed.
pub(in crate::oracle) fn by_change(context: &HookContext) -> Result<Vec<Added>, OracleError> {
    let changes = match context.facts.changes() {
        Ok(changes) => changes,
        Err(GitError::NoRepository(_)) => {
            let files = context.workspace().list("**/*");
            return Ok(files
                .par_iter()
                .filter_map(|path| whole_file(context, path))
                .collect());
        }
        Err(error) => return Err(OracleError::of_git(error)),
    };
    if changes.files.is_empty() {
        return Ok(Vec::new());
    }
    let mut added = compared(context, changes, &["diff", "--no-renames"])?;
    added.retain(|file| {
        let is_meant =
            |path: &String| is_changed(&changes.paths, path) && !changes.unseen.contains(path);
        file.path.as_ref().is_some_and(is_meant)
    });
    add_untracked(context, changes, &mut added)?;
    let unseen = changes.unseen.par_iter();
    added.par_extend(unseen.filter_map(|path| new_lines(context, path)));
    Ok(added)
}

/// Returns the lines that the index adds to the base: they can be gone from the working tree, and are what is committed next.
///
/// # Errors
/// Git cannot tell.
pub(in crate::oracle) fn by_index(context: &HookContext) -> Result<Vec<Added>, OracleError> {
    match context.facts.changes() {
        Ok(changes) => compared(context, changes, &["diff", "--cached", "--no-renames"]),
        Err(GitError::NoRepository(_)) => Ok(Vec::new()),
        Err(error) => Err(OracleError::of_git(error)),
    }
}

/// Returns what a comparison with the base of a change adds.
fn compared(
    context: &HookContext,
    changes: &Changes,
    command: &[&str],
) -> Result<Vec<Added>, OracleError> {
    let Some(base) = (changes.base.as_deref()).filter(|_| context.workspace().is_on_disk()) else {
        return Ok(Vec::new());
    };
    told_by(context, context.root(), command, &[base]).map(|told| told.files)
}

/// Returns the lines of a file that git does not compare, without those that it had before.
fn new_lines(context: &HookContext, path: &str) -> Option<Added> {
    let mut added = whole_file(context, path)?;
    let scope = context.facts.change_scope();
    let before = context.workspace().before(scope, path).ok().flatten();
    let before = before.map(|before| text_of(&before)).unwrap_or_default();
    let known: BTreeSet<&str> = before.lines().collect();
    let lines = added.text.lines().zip(1_u32..);
    let (text, lines): (Vec<&str>, Vec<u32>) =
        lines.filter(|(line, _)| !known.contains(line)).unzip();
    added.text = text.join("\n");
    added.lines = lines;
    // Without numbers of lines it would be all of the file.
    (added.unread.is_some() || !added.lines.is_empty()).then_some(added)
}

/// Returns the lines that the change of the event's issue adds, and those that it takes away; a file that was moved has only those
/// that differ.
///
/// # Errors
/// Git cannot tell.
pub(in crate::oracle) fn by_issue(
    context: &HookContext,
    changes: &Changes,
) -> Result<[Vec<Added>; 2], OracleError> {
    let commits = context.facts.commits_naming_issue();
    let ids: Vec<&str> = commits.iter().map(|commit| commit.id.as_str()).collect();
    let of = |direction: &[&'static str]| {
        let mut lines = Vec::new();
        if let Some(base) = &changes.base {
            let diff = [&["diff", "--find-renames"], direction].concat();
            lines = told_by(context, context.root(), &diff, &[base])?.files;
        }
        if !ids.is_empty() {
            let form = [
                "show",
                "--format=raw",
                "--diff-merges=first-parent",
                "--find-renames",
            ];
            let show = [&form, direction].concat();
            lines.extend(told_by(context, context.root(), &show, &ids)?.files);
        }
        // An empty file has no line.
        lines.retain(|file| !file.lines.is_empty());
        Ok::<_, OracleError>(lines)
    };
    let mut added = of(&[])?;
    // What is taken away is what the way back would add.
    let removed = of(&["-R"])?;
    add_untracked(context, changes, &mut added)?;
    Ok([added, removed])
}

/// Adds the files that git does not track yet: they are in no diff, and new as a whole.
fn add_untracked(
    context: &HookContext,
    changes: &Changes,
    added: &mut Vec<Added>,
) -> Result<(), OracleError> {
    let in_diff: BTreeSet<String> = added.iter().filter_map(|file| file.path.clone()).collect();
    let untracked: Vec<&String> = changes
        .files
        .iter()
        .filter(|file| file.change == Change::Added || changes.base.is_none())
        .filter(|file| file.change != Change::Deleted)
        .map(|file| &file.path)
        .filter(|path| !in_diff.contains(*path))
        .collect();
    let start = added.len();
    added.par_extend(
        untracked
            .into_par_iter()
            .filter_map(|path| whole_file(context, path)),
    );
    let new = added.get_mut(start..).unwrap_or_default();
    if changes.base.is_some() && context.workspace().is_on_disk() && !new.is_empty() {
        tell_encodings(context, new)?;
    }
    Ok(())
}

/// What `check-attr` says of files without an encoding, and how the encodings begin in which ASCII is known again.
const ALIKE: &[&str] = words!("plain-encodings");

/// Marks files that are kept here in an encoding in which text does not look as git will keep it.
fn tell_encodings(context: &HookContext, files: &mut [Added]) -> Result<(), OracleError> {
    let paths: Vec<&str> = files
        .iter()
        .filter_map(|file| file.path.as_deref())
        .collect();
    let input = paths.join("\0").into_bytes();
    let check = ["check-attr", "-z", "--stdin", "working-tree-encoding"];
    let told = asked(context, context.root(), &check, input)?;
    let values = told.split(|byte| *byte == 0).skip(2).step_by(3);
    for (file, encoding) in files.iter_mut().zip(values) {
        let encoding = String::from_utf8_lossy(encoding).to_ascii_lowercase();
        if !ALIKE.iter().any(|known| encoding.starts_with(known)) {
            let path = file.path.as_deref().unwrap_or_default();
            file.unread = Some(format!(
                "`{path}` is kept in the encoding `{encoding}`; `git add` it, so that git makes text of it"
            ));
        }
    }
    Ok(())
}

/// Whether a path is one of those that have changed, or lies in a submodule that is.
fn is_changed(changed: &[String], path: &str) -> bool {
    let mut outer = std::iter::successors(Some(path), |path| Some(path.rsplit_once('/')?.0));
    outer.any(|path| {
        changed
            .binary_search_by(|known| known.as_str().cmp(path))
            .is_ok()
    })
}

/// Reads a file as added text; of a link it is where it leads. None where it is gone, or a folder such as another repository.
fn whole_file(context: &HookContext, path: &str) -> Option<Added> {
    let workspace = context.workspace();
    let place = context.root().join(path);
    let link = (workspace.is_on_disk().then(|| std::fs::read_link(&place))).and_then(Result::ok);
    let mut added = Added {
        path: Some(path.to_owned()),
        ..Added::default()
    };
    match link.map_or_else(
        || workspace.read(path),
        |to| Ok(to.as_os_str().as_encoded_bytes().into()),
    ) {
        Ok(bytes) => added.text = text_of(&bytes),
        Err(_) if place.is_dir() => return None,
        // A name that is no text is not found by what stands for it.
        Err(error) if error.kind() == ErrorKind::NotFound && !path.contains('\u{fffd}') => {
            return None;
        }
        Err(error) => added.unread = Some(format!("`{path}` cannot be read: {error}")),
    }
    Some(added)
}

/// Returns bytes as text; what is not text in them is replaced.
///
/// NUL bytes are left out: one of them does not hide a file, and the ASCII characters of UTF-16 stand between them.
pub(in crate::oracle) fn text_of(bytes: &[u8]) -> String {
    if memchr::memchr(0, bytes).is_some() {
        let rest: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
        return String::from_utf8_lossy(&rest).into_owned();
    }
    // To check all at once is much faster than to look for what must be replaced.
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Asks git what a command tells of revisions, in a folder.
fn told_by(
    context: &HookContext,
    folder: &Path,
    command: &[&str],
    revisions: &[&str],
) -> Result<Told, OracleError> {
    let form = [
        "--unified=0",
        "--inter-hunk-context=0",
        "--no-color",
        // Neither `-diff` in `.gitattributes` nor a NUL byte hides what is added.
        "--text",
        "--no-ext-diff",
        "--no-textconv",
        // What the commits of a submodule add, not only that it is at another one.
        "--submodule=diff",
        "--ignore-submodules=dirty",
        "--relative",
        // The same for both, as `-R` has them the other way round.
        "--src-prefix=b/",
        "--dst-prefix=b/",
    ];
    let arguments = [command, &form, revisions, &["--"]].concat();
    asked(context, folder, &arguments, Vec::new()).map(|output| patch::parse(&output))
}

/// Asks git something in a folder.
fn asked(
    context: &HookContext,
    folder: &Path,
    arguments: &[&str],
    input: Vec<u8>,
) -> Result<Vec<u8>, OracleError> {
    let name = arguments.first().copied().unwrap_or_default();
    let arguments = [&["-c", "core.quotePath=false"], arguments].concat();
    let finished = git(folder, &arguments)
        .deadline(in_time(context))
        .max_output(MAX_DIFF)
        .stdin(input)
        .run()
        .map_err(|e| OracleError::failed(e.to_string()))?;
    match finished.exit {
        Exit::Code(0) if finished.stdout_dropped == 0 => Ok(finished.stdout),
        Exit::Code(0) => Err(OracleError::failed(format!(
            "the change adds more than {} MiB",
            MAX_DIFF >> 20
        ))),
        Exit::TimedOut => Err(OracleError::TimedOut(format!(
            "`git {name}` did not end in time"
        ))),
        _ => Err(OracleError::failed(format!(
            "`git {name}` failed: {}",
            finished
                .stderr_text()
                .lines()
                .next()
                .unwrap_or("it said nothing")
        ))),
    }
}
