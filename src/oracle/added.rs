//! The lines that a change adds, and the content that a tool is about to write.

use std::collections::BTreeSet;

use rayon::iter::{
    IntoParallelIterator as _, IntoParallelRefIterator as _, ParallelExtend as _,
    ParallelIterator as _,
};

use crate::event::ToolKind;
use crate::oracle::toolchain::in_time;
use crate::oracle::{HookContext, OracleError};
use crate::process::Exit;
use crate::workspace::{Change, Changes, GitError, git};

/// How much of a diff is read.
const MAX_DIFF: usize = 512 << 20;

/// How many of the commits are looked at that no remote has, where nothing says which of them belong to the change.
const MOST_UNPUSHED: usize = 100;

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
    let mut added = match &changes.base {
        Some(base) if context.workspace().is_on_disk() => {
            added_by(context, &["diff", "--no-renames"], base)?
        }
        _ => Vec::new(),
    };
    added.retain(|file| {
        file.path
            .as_ref()
            .is_some_and(|path| is_changed(&changes.paths, path))
    });
    add_untracked(context, changes, &mut added);
    Ok(added)
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
            lines = added_by(context, &diff, base)?;
        }
        if let Some((last, others)) = ids.split_last() {
            let form = [
                "show",
                "--format=commit %H",
                "--diff-merges=first-parent",
                "--find-renames",
            ];
            lines.extend(added_by(
                context,
                &[&form, direction, others].concat(),
                last,
            )?);
        }
        lines.retain(|file| file.path.is_some());
        Ok::<_, OracleError>(lines)
    };
    let mut added = of(&[])?;
    // What is taken away is what the way back would add.
    let removed = of(&["-R"])?;
    add_untracked(context, changes, &mut added);
    Ok([added, removed])
}

/// Adds the files that git does not track yet: they are in no diff, and new as a whole.
fn add_untracked(context: &HookContext, changes: &Changes, added: &mut Vec<Added>) {
    let in_diff: BTreeSet<String> = added.iter().filter_map(|file| file.path.clone()).collect();
    let untracked: Vec<&String> = changes
        .files
        .iter()
        // Of a file of which git was told not to look at it, no lines are counted.
        .filter(|file| {
            let is_uncounted = file.added_lines.is_none();
            file.change == Change::Added || is_uncounted || changes.base.is_none()
        })
        .filter(|file| file.change != Change::Deleted)
        .map(|file| &file.path)
        .filter(|path| !in_diff.contains(*path))
        .collect();
    added.par_extend(
        untracked
            .into_par_iter()
            .filter_map(|path| whole_file(context, path)),
    );
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

/// Returns the message of each commit since the base and the lines that it adds, those that a later one takes away among
/// them: all of them are pushed. Of a default branch without a remote it is the newest hundred.
///
/// # Errors
/// Git cannot tell.
pub(in crate::oracle) fn by_commits(context: &HookContext) -> Result<Vec<Added>, OracleError> {
    let base = match context.facts.changes() {
        Ok(changes) => changes.base.clone(),
        Err(GitError::NoRepository(_)) => None,
        Err(error) => return Err(OracleError::of_git(error)),
    };
    match base {
        Some(base) if context.workspace().is_on_disk() => {
            // Of a merge, only what it does not have from one of its parents.
            let log = [
                "log",
                "--no-show-signature",
                "--no-notes",
                // Each line of the message stands behind a space, which no line of a diff without context does.
                "--format=commit %H%n%w(0,1,1)%B",
                "--diff-merges=remerge",
                "--no-renames",
                "--patch",
            ];
            let of_branch = added_by(context, &log, &format!("{base}..HEAD"))?;
            let git = context.facts.git().map_err(OracleError::of_git)?;
            let is_apart = (git.default_branch()).is_some_and(|name| git.branch() != Some(name));
            if is_apart || !of_branch.is_empty() {
                return Ok(of_branch);
            }
            // With nothing to compare the default branch with, as without a remote, all that no remote has is pushed.
            let most = format!("--max-count={MOST_UNPUSHED}");
            let unpushed = [&log[..], &[most.as_str(), "--not", "--remotes", "--not"]].concat();
            added_by(context, &unpushed, "HEAD")
        }
        _ => Ok(Vec::new()),
    }
}

/// Reads a file as added text; none where it cannot be read.
fn whole_file(context: &HookContext, path: &str) -> Option<Added> {
    let bytes = context.workspace().read(path).ok()?;
    Some(Added {
        path: Some(path.to_owned()),
        text: text_of(&bytes),
        ..Added::default()
    })
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

/// Asks git for the added lines that a command tells of, sorted by path.
fn added_by(
    context: &HookContext,
    command: &[&str],
    revision: &str,
) -> Result<Vec<Added>, OracleError> {
    let before = ["-c", "core.quotePath=false"];
    let after = [
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
        revision,
        "--",
    ];
    let name = command.first().copied().unwrap_or_default();
    let arguments: Vec<&str> = before
        .iter()
        .chain(command)
        .chain(&after)
        .copied()
        .collect();
    let finished = git(context.root(), &arguments)
        .deadline(in_time(context))
        .max_output(MAX_DIFF)
        .run()
        .map_err(|e| OracleError::failed(e.to_string()))?;
    match finished.exit {
        Exit::Code(0) if finished.stdout_dropped == 0 => Ok(parse(&finished.stdout)),
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

/// Reads a diff without context lines, and the messages of the commits that it is of behind them.
fn parse(diff: &[u8]) -> Vec<Added> {
    let text = text_of(diff);
    let (mut files, mut messages) = (Vec::<Added>::new(), Vec::<Added>::new());
    let (mut next, mut left) = (0_u32, 0_u32);
    let mut removed = 0_u32;
    let mut commit = None;
    for line in text.split_terminator('\n') {
        // Inside a hunk a line is content, whatever it looks like.
        if removed > 0 && line.starts_with('-') {
            removed -= 1;
        } else if left > 0 && line.starts_with('+') {
            left -= 1;
            if let Some(file) = files.last_mut() {
                file.text.push_str(line.get(1..).unwrap_or_default());
                file.text.push('\n');
                file.lines.push(next);
            }
            next = next.saturating_add(1);
        } else if let Some(header) = line.strip_prefix("@@ -") {
            if let Some((old, new)) = hunk(header) {
                removed = old;
                (next, left) = new;
            }
        } else if let Some(id) = line.strip_prefix("commit ") {
            commit = Some(id.to_owned());
            messages.push(Added {
                commit: commit.clone(),
                ..Added::default()
            });
        } else if let (Some(said), Some(message)) = (line.strip_prefix(' '), messages.last_mut()) {
            message.text.push_str(said);
            message.text.push('\n');
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let path = unquoted(path);
            if let Some(path) = path.strip_prefix("b/") {
                files.push(Added {
                    path: Some(path.trim_end_matches('\t').to_owned()),
                    commit: commit.clone(),
                    ..Added::default()
                });
            } else {
                // A deleted file: there is nothing added, and nothing to add it to.
                files.push(Added::default());
            }
        }
    }
    files.retain(|file| file.path.is_some() && !file.lines.is_empty());
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.extend(messages);
    files
}

/// Reads `12,3 +15,2 @@ …`: how many lines go, and from where how many come.
fn hunk(header: &str) -> Option<(u32, (u32, u32))> {
    let mut words = header.split(' ');
    let count = |range: &str| {
        range
            .split_once(',')
            .map_or(Some(1), |(_, n)| n.parse::<u32>().ok())
    };
    let old = count(words.next()?)?;
    let new = words.next()?.strip_prefix('+')?;
    let start = new.split(',').next()?.parse().ok()?;
    Some((old, (start, count(new)?)))
}

/// Undoes git's quoting of a path with unusual characters.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|p| p.strip_suffix('"')) else {
        return path.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(first @ b'0'..=b'7') => {
                let mut code = u32::from(first - b'0');
                for digit in rest.by_ref().take(2) {
                    code = code * 8 + u32::from(digit.saturating_sub(b'0'));
                }
                bytes.push(u8::try_from(code & 0xff).unwrap_or(b'?'));
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_keep_their_numbers() {
        let files = parse(
            b"diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -2 +2,2 @@ head\n-old\n+new one\n+++ b/not/a/header\n@@ -9,0 +11 @@\n+last\n\\ No newline at end of file\ndiff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git \"a/\\303\\244\" \"b/\\303\\244\"\n--- /dev/null\n+++ \"b/\\303\\244\"\n@@ -0,0 +1 @@\n+y\n",
        );
        assert_eq!(files.len(), 2);
        assert_eq!(files[0].text, "new one\n++ b/not/a/header\nlast\n");
        assert_eq!(files[0].lines, [2, 3, 11]);
        assert_eq!(files[0].line_at(files[0].text.find("last").unwrap()), 11);
        assert!(files[0].touches(3, 5) && !files[0].touches(4, 10));
        assert_eq!(files[1].path.as_deref(), Some("ä"));
    }
}
