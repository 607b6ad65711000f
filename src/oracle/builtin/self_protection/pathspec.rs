//! Pathspec: one path to which a command of git is narrowed.

use std::path::{Component, Path};

use crate::search::wild;
use crate::shell::Word;

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) is_out: bool,
    /// Whether its words are no pattern.
    is_literal: bool,
    /// From the top of the working tree; none where it cannot be read.
    pattern: Option<String>,
}

impl Spec {
    pub(super) fn of(word: &Word, prefix: &Path) -> Self {
        let mut is_out = false;
        let mut is_literal = false;
        let mut is_from_top = false;
        let mut is_known = !word.dynamic;
        let mut path = word.text.as_str();
        if let Some((words, rest)) = path
            .strip_prefix(":(")
            .and_then(|text| text.split_once(')'))
        {
            for word in words.split(',') {
                match word {
                    "exclude" => is_out = true,
                    "top" => is_from_top = true,
                    "literal" => is_literal = true,
                    // Names are compared in any case, and a star may stand for a slash.
                    "icase" | "glob" if !is_out => {}
                    _ => is_known = false,
                }
            }
            path = rest;
        } else if let Some(magic) = path.strip_prefix(':') {
            path = magic.trim_start_matches(['!', '^', '/']);
            let signs = magic.strip_suffix(path).unwrap_or_default();
            is_out = signs.contains(['!', '^']);
            is_from_top = signs.contains('/');
            is_known &= !signs.is_empty() && !path.starts_with(['(', ':']);
        }
        let from = if is_from_top { Path::new("") } else { prefix };
        let is_plain = !from.to_string_lossy().contains(['*', '?', '[', '\\']);
        Self {
            is_out,
            is_literal,
            pattern: (is_known && is_plain).then(|| below(from, path)).flatten(),
        }
    }

    /// Whether it fits a file; none where that cannot be told.
    pub(super) fn fits(&self, way: &Path) -> Option<bool> {
        let pattern = self.pattern.as_deref()?;
        let bare = pattern.trim_end_matches('/');
        if way.starts_with(bare) || !self.is_out && is_below_any_case(way, bare) {
            // With a slash behind it, it is a folder.
            let is_folder = bare.len() == pattern.len() || way != Path::new(bare);
            return is_folder.then_some(true);
        }
        if self.is_literal {
            return Some(false);
        }
        wild(pattern, &way.to_string_lossy(), !self.is_out)
    }
}

fn is_below_any_case(way: &Path, folder: &str) -> bool {
    let mut names = way.components();
    Path::new(folder).components().all(|part| {
        names
            .next()
            .is_some_and(|name| name.as_os_str().eq_ignore_ascii_case(part.as_os_str()))
    })
}

/// Returns a path from the top of the working tree; none where it leads out of it.
fn below(prefix: &Path, path: &str) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for part in prefix.join(path).components() {
        match part {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => {
                names.pop()?;
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir => return None,
        }
    }
    let slash = if path.ends_with('/') && !names.is_empty() {
        "/"
    } else {
        ""
    };
    Some(names.join("/") + slash)
}
