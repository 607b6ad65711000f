//! Project: the files of one project beside what was trusted of them, which is read when it is first asked for.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use super::content::Content;
use super::scan::scan;
use super::store::Store;
use super::{Manifest, NotTrusted, content, named};
use crate::stamp::Stamp;
use crate::workspace::custom_commands;

#[derive(Debug)]
pub(super) struct Project {
    pub(super) root: PathBuf,
    pub(super) store: Option<Store>,
    further: Vec<String>,
    /// Where its issues lie, whose checklists may name commands.
    issues: PathBuf,
    /// What was trusted, with the state of the file that says so.
    manifest: OnceLock<(Option<Stamp>, Option<Manifest>)>,
}

impl Project {
    pub(super) fn of(root: &Path, state_dir: Option<&Path>) -> Self {
        Self {
            root: root.to_owned(),
            store: state_dir.map(|dir| Store::of(root, dir)),
            further: Vec::new(),
            issues: PathBuf::from("Issues"),
            manifest: OnceLock::new(),
        }
    }

    pub(super) fn cover<'p>(
        &mut self,
        further: impl IntoIterator<Item = &'p PathBuf>,
        issues: &Path,
    ) {
        let inside = further.into_iter().filter_map(|path| self.relative(path));
        let inside: Vec<String> = inside.filter(|path| !path.is_empty()).collect();
        self.further.extend(inside);
        issues.clone_into(&mut self.issues);
    }

    pub(super) fn is_current(&self) -> bool {
        let then = self.manifest.get();
        then.is_none_or(|(then, _)| self.store.as_ref().and_then(Store::stamp) == *then)
    }

    pub(super) fn loaded(&self) -> Option<&Manifest> {
        let load = || {
            let store = self.store.as_ref();
            // The stamp first: what is written between the two is then seen as a change.
            (store.and_then(Store::stamp), store.and_then(Store::load))
        };
        self.manifest.get_or_init(load).1.as_ref()
    }

    pub(super) fn copy_of(&self, manifest: &Manifest, path: &str) -> PathBuf {
        match &self.store {
            Some(store) => store.copy_of(manifest, path),
            None => self.root.join(path),
        }
    }

    pub(super) fn manifest(&self, what: &str) -> Result<&Manifest, NotTrusted> {
        self.loaded().ok_or_else(|| NotTrusted {
            what: what.to_owned(),
            why: format!(
                "nobody has looked at it yet; `ahp trust` in {} shows and allows it",
                self.root.display()
            ),
        })
    }

    /// Returns a path relative to the project, with `/` between its parts; none where it lies outside.
    pub(super) fn relative(&self, path: &Path) -> Option<String> {
        let path = self.root.join(path);
        let relative = match path.strip_prefix(&self.root) {
            Ok(relative) if !relative.components().any(|c| c.as_os_str() == "..") => {
                relative.to_owned()
            }
            _ => {
                let root = self.root.canonicalize().ok()?;
                path.canonicalize()
                    .ok()?
                    .strip_prefix(root)
                    .ok()?
                    .to_owned()
            }
        };
        let parts: Vec<_> = relative
            .components()
            .filter(|c| !matches!(c, Component::CurDir))
            .map(|c| c.as_os_str().to_string_lossy())
            .collect();
        Some(parts.join("/"))
    }

    /// Returns the files and folders that can run or decide.
    pub(super) fn paths(&self, may_extend: bool) -> Vec<String> {
        let mut paths = scan(&self.root, may_extend);
        for path in &self.further {
            // A folder is looked at whole, a file with the scripts that it names.
            paths.push(path.clone());
            paths.extend(named::by_file(&self.root, path));
        }
        paths
    }

    pub(super) fn content(&self) -> io::Result<Content> {
        let paths = self.paths(true);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let mut content = Content::read(&self.root, &paths)?;
        for command in custom_commands(&self.root, &self.issues) {
            content.add_text(issue_command(&command), &command);
        }
        Ok(content)
    }
}

/// Returns the name under which a command of an issue is trusted: its content, wherever it stands.
pub(super) fn issue_command(command: &str) -> String {
    format!("issue-commands/{}", content::digest(command.as_bytes()))
}
