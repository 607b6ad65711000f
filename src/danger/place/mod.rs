//! Place: what kind of place a path is, by which deleting or changing it is judged.

mod artifact;
mod directory;
mod kind;

use std::path::{Path, PathBuf};

pub(super) use self::artifact::is_artifact;
use self::directory::{classify, in_home};
pub use self::kind::Place;
use crate::program::{self, Fact};
use crate::shell::{Invocation, Surroundings, Word, lexical, real};
use crate::words::{holds_any, words};

/// Whether a path below a drive of Windows, in lower case, is inside a directory for temporary files.
fn is_temporary_on_drive(path: &str) -> bool {
    let parts: Vec<&str> = path.split(['\\', '/']).filter(|p| !p.is_empty()).collect();
    let inner = match parts.as_slice() {
        ["users", _, "appdata", "local", "temp", inner @ ..] => inner,
        ["windows", "temp", inner @ ..] | ["temp" | "tmp", inner @ ..] => inner,
        _ => return false,
    };
    !inner.is_empty() && !inner.contains(&"..")
}

/// Tells what kind of place a word of an invocation means.
pub fn place(word: &Word, invocation: &Invocation, surroundings: &Surroundings) -> Place {
    let text = word.text.as_str();
    if text.is_empty() {
        return Place::Inside;
    }
    let drive = text.as_bytes().get(1) == Some(&b':')
        && text.starts_with(|c: char| c.is_ascii_alphabetic());
    if drive {
        let rest = text
            .get(2..)
            .unwrap_or_default()
            .trim_matches(['\\', '/', '*']);
        return match rest.to_ascii_lowercase().as_str() {
            "" => Place::Root,
            r if is_temporary_on_drive(r) => Place::Temporary,
            r if r.starts_with("windows") || r.starts_with("program") => Place::System,
            r if r.starts_with("users") && r.matches(['\\', '/']).count() < 2 => Place::Home,
            _ => Place::Outside,
        };
    }
    if text.contains('\\') {
        let posix = word.with_text(text.replace('\\', "/"));
        return place(&posix, invocation, surroundings);
    }
    if word.dynamic && !text.starts_with(['/', '.', '~']) || text.starts_with("{}") {
        return unknown(text);
    }
    let base = match &invocation.work_dir {
        Some(dir) if !invocation.remote => dir.clone(),
        _ if text.starts_with(['/', '~']) => PathBuf::from("/"),
        // Where it is relative to something unknown, only its own name tells.
        _ => {
            let components: Vec<&str> = text.split('/').collect();
            return match text {
                "." | "./" | "*" | "./*" | ".." | "../" | "../*" if invocation.remote => {
                    Place::Outside
                }
                "." | "./" | "*" | "./*" | ".." | "../" | "../*" => Place::Project,
                _ if is_artifact(&components) => Place::Artifact,
                _ => Place::Unknown,
            };
        }
    };
    let home = surroundings.home.as_deref();
    let all = matches!(
        text.rsplit('/').next(),
        Some("*" | ".*" | "{*,.*}" | ".[!.]*" | "**")
    ) && word.glob;
    let bare = if all {
        text.rsplit_once('/')
            .map_or(".", |(dir, _)| if dir.is_empty() { "/" } else { dir })
    } else {
        text
    };
    if bare == "~" || (bare.starts_with("~/") && home.is_none()) {
        return in_home(
            Path::new(bare.trim_start_matches('~').trim_start_matches('/')),
            all,
        );
    }
    let path = lexical(bare, &base, home);
    let relative = !bare.starts_with(['/', '~']);
    let found = classify(&path, relative, all, surroundings);
    if found == Place::System && is_of_image(&path, invocation) {
        return Place::Outside;
    }
    if invocation.remote
        || word.glob
        || !matches!(found, Place::Inside | Place::Artifact | Place::Temporary)
    {
        return found;
    }
    // A link inside may lead to a place outside.
    match std::fs::symlink_metadata(&path) {
        Ok(meta) if meta.is_symlink() && !text.ends_with('/') => found,
        Ok(_) => {
            let target = real(&path);
            if target == path || real(&surroundings.project_root).join("x") == target.join("x") {
                found
            } else {
                let at_home = Surroundings {
                    work_dir: real(&surroundings.work_dir),
                    home: surroundings.home.as_deref().map(real),
                    project_root: real(&surroundings.project_root),
                };
                classify(&target, false, all, &at_home)
            }
        }
        Err(_) => found,
    }
}

/// Whether a directory at the root of a container is one of its image or a volume, not of a system: `/app`.
fn is_of_image(path: &Path, invocation: &Invocation) -> bool {
    let in_container = |wrapper: &String| program::find(wrapper).is(Fact::Mounts);
    invocation.remote
        && path.components().count() == 2
        && invocation.wrappers.iter().any(in_container)
        && !invocation.wrappers.iter().any(|wrapper| wrapper == "ssh")
        && !directory::is_known(path)
}

/// What a text is whose value is known only when it runs: its name may tell.
fn unknown(text: &str) -> Place {
    let upper = text.to_ascii_uppercase();
    let components: Vec<&str> = text.split('/').collect();
    let is_variable = text.starts_with('$') && !text.starts_with("$(");
    // `${NAME:?}` ends the shell where the variable is empty.
    let is_never_empty = text.contains(":?");
    if components.len() > 1 && is_artifact(components.get(1..).unwrap_or_default()) {
        return Place::Artifact;
    }
    if is_variable && holds_any(&upper, words!("passing-variables")) {
        let all = components.last().is_some_and(|c| matches!(*c, "*" | ""));
        return if all && !is_never_empty {
            Place::Unknown
        } else {
            Place::Temporary
        };
    }
    Place::Unknown
}
