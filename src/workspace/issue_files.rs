//! Finds an issue's file: by its name, by the `id:` in its front matter, in trees of any depth.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use super::{Issue, IssueError, Workspace, front_matter};
use crate::regular_file;

/// Deeper trees are surely a mistake.
const MAX_DEPTH: usize = 32;

/// Fewer files are read faster by one thread than threads are started.
const WORTH_THREADS: usize = 64;

/// Reads the file at a path relative to the project.
pub(super) type Read<'a> = &'a (dyn Fn(&str) -> io::Result<Arc<[u8]>> + Sync);

/// Finds the issue `id` among `paths`, the Markdown files below the issues directory, sorted.
///
/// A file that bears the id in its front matter wins over a text that bears it only in its name. Which of several that bear it
/// is the issue cannot be told: who would pass with another one need only add a copy.
pub(super) fn find(
    id: &str,
    paths: &[String],
    read: Read<'_>,
) -> Result<Option<Issue>, IssueError> {
    let may_bear = |path: &&String| is_named(path, id) || bears(path, id, read);
    let candidates: Vec<&String> = if paths.len() < WORTH_THREADS {
        paths.iter().filter(may_bear).collect()
    } else {
        paths.par_iter().filter(may_bear).collect()
    };
    let mut bearers = Vec::new();
    let mut texts = Vec::new();
    for path in candidates {
        let issue = load(path, read)?;
        let has_front_matter = issue.body_line > 1;
        if issue.id.eq_ignore_ascii_case(id) {
            bearers.push(issue);
        } else if issue.id.is_empty() && is_named(path, id) {
            let named = Issue {
                id: id.to_owned(),
                ..issue
            };
            let group = if has_front_matter {
                &mut bearers
            } else {
                &mut texts
            };
            group.push(named);
        }
    }
    if bearers.is_empty() {
        bearers = texts;
    }
    let Some(more) = bearers.get(1..).filter(|more| !more.is_empty()) else {
        return Ok(bearers.pop());
    };
    let others: Vec<String> = more.iter().map(|issue| issue.path.clone()).collect();
    let has = if others.len() == 1 { "has" } else { "have" };
    Err(IssueError {
        message: format!(
            "{} {has} the id `{id}` too, so that nobody can tell which file is the issue",
            others.join(" and ")
        ),
        path: bearers.swap_remove(0).path,
        line: 1,
        others,
    })
}

/// Whether the front matter of a file seems to have the id.
fn bears(path: &str, id: &str, read: Read<'_>) -> bool {
    read(path).is_ok_and(|bytes| {
        // The id stands at the top; a cut character at the end of the piece does no harm.
        let start = bytes.get(..2048).unwrap_or(&bytes);
        front_matter::quick_id(&String::from_utf8_lossy(start))
            .is_some_and(|found| found.eq_ignore_ascii_case(id))
    })
}

/// Returns the id of an issue with which a name begins, `FEAT-0123` of `FEAT-0123-totals`.
fn id_in_name(name: &str) -> Option<String> {
    let (letters, rest) = name.split_once('-')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let is_id = !letters.is_empty()
        && letters.chars().all(|c| c.is_ascii_alphabetic())
        && !digits.is_empty();
    is_id.then(|| format!("{letters}-{digits}"))
}

/// Returns the ids of issues that stand in the name of a branch, wherever: `FEAT-0123` of `me/FEAT-0123/totals`.
pub(crate) fn ids_in_branch(branch: &str) -> Vec<String> {
    let is_start = |at: usize| {
        let before = branch.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(char::is_alphanumeric)
    };
    let starts = branch.char_indices().filter(|(at, _)| is_start(*at));
    starts
        .filter_map(|(at, _)| {
            let rest = branch.get(at..)?;
            let id = id_in_name(rest)?;
            let after = rest.get(id.len()..)?.chars().next();
            (!after.is_some_and(char::is_alphanumeric)).then_some(id)
        })
        .collect()
}

/// The ids of issues begin so in every project; others have their own beside them.
const PREFIXES: [&str; 4] = ["EPIC", "FEAT", "CHORE", "FIX"];

/// Returns the id of the issue that a branch is named after: the first one in its name that has a file, else one that is
/// written as this project writes its ids, so that it is told that no file is there.
pub(crate) fn issue_of_branch(workspace: &dyn Workspace, branch: &str) -> Option<String> {
    let ids = ids_in_branch(branch);
    let has_file = |id: &&String| !matches!(workspace.issue(id), Ok(None));
    if let Some(id) = ids.iter().find(has_file) {
        return Some(id.clone());
    }
    let in_capitals = |id: &String| !id.contains(|c: char| c.is_ascii_lowercase());
    let named = ids.into_iter().find(in_capitals)?;
    let dir = workspace.issues_dir().to_string_lossy();
    let files = workspace.list(&format!("{dir}/**/*.md"));
    let prefix = |id: &str| Some(id.split_once('-')?.0.to_owned());
    let own = prefix(&named)?;
    let is_alike = |path: &String| {
        let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str());
        stem.and_then(id_in_name).and_then(|id| prefix(&id)) == Some(own.clone())
    };
    let is_kept = !files.is_empty() && PREFIXES.contains(&own.as_str());
    (is_kept || files.iter().any(is_alike)).then_some(named)
}

/// Returns the ids of the issues that lie in Markdown files, sorted: by their front matter, else by their names. A file that
/// cannot be read is known by its name too, so that whoever asks for it is told; one that is gone has none.
pub(super) fn ids<'p>(paths: impl Iterator<Item = &'p String>, read: Read<'_>) -> BTreeSet<String> {
    let of_name = |path: &str| {
        let stem = Path::new(path).file_stem()?.to_str()?;
        id_in_name(stem).or_else(|| Some(stem.to_owned()))
    };
    let id = |path: &&String| match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => of_name(path),
        Ok(bytes) => {
            let issue = front_matter::parse(&bytes).ok();
            let id = issue.map(|issue| issue.id).filter(|id| !id.is_empty());
            id.or_else(|| of_name(path))
        }
    };
    let paths = paths.filter(|path| is_markdown(path));
    paths.filter_map(|path| id(&path)).collect()
}

/// Returns why it cannot be told which file is the issue, for each id that several of the files have.
pub(super) fn shared_ids(paths: &[String], read: Read<'_>) -> Vec<IssueError> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths {
        for id in ids(std::iter::once(path), read) {
            *counts.entry(id.to_ascii_uppercase()).or_default() += 1;
        }
    }
    let shared = counts.into_iter().filter(|(_, count)| *count > 1);
    shared
        .filter_map(|(id, _)| find(&id, paths, read).err())
        .filter(|error| !error.others.is_empty())
        .collect()
}

/// The longest file of an issue that is read for its commands, in bytes.
const MAX_ISSUE: u64 = 16 << 20;

/// Returns the commands by which the issues below a directory want to be verified, sorted, each once.
///
/// What cannot be read has none: it cannot be verified by them either.
pub(crate) fn custom_commands(root: &Path, issues: &Path) -> Vec<String> {
    let read = |path: &str| regular_file::read_linked(&root.join(path), MAX_ISSUE).map(Arc::from);
    let mut commands: Vec<String> = walk(&root.join(issues), root)
        .iter()
        .filter_map(|path| load(path, &read).ok())
        .flat_map(|issue| {
            let items = issue.items();
            let custom = items.filter_map(|item| item.verification());
            let commands = custom.filter(|(kind, _)| *kind == "custom");
            commands
                .map(|(_, command)| command.to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    commands.sort_unstable();
    commands.dedup();
    commands
}

/// Reads and decodes one issue's file.
pub(super) fn load(path: &str, read: Read<'_>) -> Result<Issue, IssueError> {
    let error = |line, message| IssueError {
        path: path.to_owned(),
        line,
        message,
        others: Vec::new(),
    };
    let bytes = read(path).map_err(|e| error(1, format!("the file cannot be read: {e}")))?;
    let mut issue =
        front_matter::parse(&bytes).map_err(|fault| error(fault.line, fault.message))?;
    path.clone_into(&mut issue.path);
    Ok(issue)
}

/// Lists the Markdown files below `dir`, by their paths relative to `root`, sorted.
///
/// Links to directories are followed where they stay below `dir` or `root`, each directory once.
pub(super) fn walk(dir: &Path, root: &Path) -> Vec<String> {
    let mut walk = Walk {
        root,
        bounds: [dir, root]
            .iter()
            .filter_map(|dir| dir.canonicalize().ok())
            .collect(),
        seen: HashSet::new(),
        found: Vec::new(),
    };
    walk.enter(dir, 0);
    walk.found.sort_unstable();
    walk.found
}

struct Walk<'a> {
    root: &'a Path,
    bounds: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
    found: Vec<String>,
}

impl Walk<'_> {
    fn enter(&mut self, dir: &Path, depth: usize) {
        let Ok(real) = dir.canonicalize() else { return };
        let inside = self.bounds.iter().any(|bound| real.starts_with(bound));
        if depth > MAX_DEPTH || !inside || !self.seen.insert(real) {
            return;
        }
        let Ok(entries) = std::fs::read_dir(dir) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            let path = entry.path();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let is_dir = kind.is_dir() || (kind.is_symlink() && path.is_dir());
            if is_dir {
                self.enter(&path, depth + 1);
            } else if is_markdown(&name) {
                let path = path.strip_prefix(self.root).unwrap_or(&path);
                self.found.push(path.to_string_lossy().into_owned());
            }
        }
    }
}

/// Whether a file's name says that it is Markdown.
pub(super) fn is_markdown(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

/// Whether the file's name is the id, alone or before a slug.
fn is_named(path: &str, id: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (Some(start), Some(rest)) = (name.get(..id.len()), name.get(id.len()..)) else {
        return false;
    };
    !id.is_empty()
        && start.eq_ignore_ascii_case(id)
        && rest.starts_with(|c: char| !c.is_alphanumeric())
}
