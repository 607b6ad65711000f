//! Pathspec: which files git lists, by the paths to which a command of it is narrowed, and by what it keeps a list of.

use std::fs;
use std::path::Path;

use super::filter::{values, wild};
use crate::shell::{Invocation, Word};

/// Options of git without a value of their own, behind which a path may stand.
const FLAGS: &[&str] = &[
    "--cached",
    "--name-only",
    "--name-status",
    "--numstat",
    "--raw",
    "--relative",
    "--staged",
    "--stat",
    "-r",
    "-z",
];

/// Whether git lists a file, given by its way from where it works.
pub(super) fn lists(git: &Invocation, way: &Path) -> bool {
    let text = way.to_string_lossy();
    if text.starts_with(".git/") || text == ".git" {
        return false;
    }
    let specs = specs(git);
    if specs.is_empty() {
        return true;
    }
    let mut is_listed = None;
    for spec in specs {
        let magic = spec.text.strip_prefix(':').unwrap_or_default();
        let (is_out, pattern) = match (magic.strip_prefix(['!', '^']), magic.strip_prefix('(')) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => match rest.split_once(')') {
                Some((words, rest)) => (words.split(',').any(|w| w == "exclude"), rest),
                None => return true,
            },
            (None, None) => (false, spec.text.trim_start_matches(":/")),
        };
        let fits = (!spec.dynamic).then(|| {
            let bare = pattern.trim_start_matches("./").trim_end_matches('/');
            let is_above = matches!(bare, "" | ".") || way.starts_with(bare);
            if is_above {
                Some(true)
            } else {
                wild(bare, &text, true)
            }
        });
        match (is_out, fits.flatten()) {
            (true, Some(true)) => return false,
            (true, _) => is_listed = is_listed.or(Some(true)),
            (false, fits) => {
                is_listed = Some(is_listed.unwrap_or(false) || fits != Some(false));
            }
        }
    }
    is_listed.unwrap_or(true) && may_be_tracked(git, way)
}

/// Returns the paths to which a command of git that prints names is narrowed.
fn specs(git: &Invocation) -> Vec<&Word> {
    let Some(command) = git.subcommand() else {
        return Vec::new();
    };
    let words = git.arguments.iter();
    let mut rest: Vec<&Word> = words
        .skip_while(|word| !std::ptr::eq(*word, command))
        .skip(1)
        .collect();
    if let Some(dashes) = rest.iter().position(|word| word.text == "--") {
        return rest.split_off(dashes + 1);
    }
    let own = match command.text.as_str() {
        "ls-files" | "status" | "clean" => 0,
        "grep" => usize::from(values(git, &["-e"]).is_empty()),
        "ls-tree" => 1,
        _ => {
            let dir = git.work_dir.as_deref().unwrap_or_else(|| Path::new(""));
            let is_path = |word: &Word| word.text.contains('*') || dir.join(&word.text).exists();
            let mut before = "";
            rest.retain(|word| {
                let option = std::mem::replace(&mut before, word.text.as_str());
                // It may be the value of an option.
                let is_free =
                    !option.starts_with('-') || option.contains('=') || FLAGS.contains(&option);
                !word.is_option() && is_free && is_path(word)
            });
            return rest;
        }
    };
    let mut is_value = false;
    let takes = [
        "-e",
        "-f",
        "-m",
        "-A",
        "-B",
        "-C",
        "-x",
        "-X",
        "--exclude",
        "--exclude-from",
        "--with-tree",
    ];
    rest.retain(|word| {
        let was_value = std::mem::replace(&mut is_value, takes.contains(&word.text.as_str()));
        !was_value && !word.is_option()
    });
    rest.split_off(own.min(rest.len()))
}

/// Whether git may know a file: by the list of files that it keeps, where that is there to be read.
fn may_be_tracked(git: &Invocation, way: &Path) -> bool {
    let others = [
        "--others",
        "--ignored",
        "--untracked",
        "--no-index",
        "--git-dir",
        "--work-tree",
    ];
    let is_moved = git
        .environment
        .iter()
        .any(|(name, _)| name.starts_with("GIT_"));
    let lists_others = matches!(
        git.subcommand().map(|w| w.text.as_str()),
        Some("status" | "clean")
    );
    if is_moved
        || lists_others
        || git.has_short('o')
        || git.has_short('i')
        || others.iter().any(|name| git.has_long(name))
    {
        return true;
    }
    let Some(dir) = git.work_dir.as_deref() else {
        return true;
    };
    let Some(top) = dir.ancestors().find(|dir| dir.join(".git").exists()) else {
        return true;
    };
    let Ok(index) = fs::read(top.join(".git/index")) else {
        return true;
    };
    // In other forms than these the names are not written out, or lie elsewhere.
    let is_plain = index.starts_with(b"DIRC") && index.get(4..8) != Some(&[0, 0, 0, 4]);
    let is_split = memchr::memmem::find(&index, b"link\0\0").is_some();
    let full = dir.strip_prefix(top).unwrap_or(Path::new("")).join(way);
    !is_plain
        || is_split
        || memchr::memmem::find(&index, full.to_string_lossy().as_bytes()).is_some()
}
