//! Look: what a user sees of a project before trusting it, and trust given and taken back.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::content::Content;
use super::project::issue_command;
use super::store::Store;
use super::{Change, ChangeKind, Inner, Trust, change, scan};

/// What a look at a project has seen: what is granted then is this, not what somebody puts in its place meanwhile.
#[derive(Debug, Default)]
pub struct Look {
    content: Content,
    layers: Vec<String>,
    changes: Vec<Change>,
}

impl Look {
    /// Returns what differs from what was trusted, sorted by path; without trust everything is new.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

impl Trust {
    /// Looks at everything of the project that can run or decide.
    ///
    /// # Errors
    /// The project's files cannot be read.
    pub fn look(&self) -> io::Result<Look> {
        let Inner::Project(project) = &self.0 else {
            return Ok(Look::default());
        };
        let now = project.content()?;
        let empty = std::collections::BTreeMap::new();
        let before = project.loaded().map_or(&empty, |manifest| &manifest.files);
        let mut changes = change::between(before.iter(), now.states());
        for change in &mut changes {
            if change.kind != ChangeKind::Added
                && let Some(manifest) = project.loaded()
            {
                change.before = fs::read(project.copy_of(manifest, &change.path)).ok();
            }
            change.after = now.bytes(&change.path).map(<[u8]>::to_vec);
        }
        Ok(Look {
            content: now,
            layers: scan::layers_with_packs(&project.root),
            changes,
        })
    }

    /// Returns the command of an issue that stands under a name of what was trusted, or of what differs from that; none for
    /// files, which their names show.
    pub fn issue_command(&self, look: &Look, name: &str) -> Option<String> {
        let Inner::Project(project) = &self.0 else {
            return None;
        };
        let now = look.content.bytes(name).map(<[u8]>::to_vec);
        let trusted = || fs::read(project.copy_of(project.loaded()?, name)).ok();
        let text = String::from_utf8(now.or_else(trusted)?).ok()?;
        (issue_command(&text) == name).then_some(text)
    }

    /// Trusts what was looked at, whatever has become of it since; `at` is the time that is noted. Returns how many
    /// files that are.
    ///
    /// # Errors
    /// The copies cannot be written.
    pub fn grant(&self, look: &Look, at: chrono::DateTime<chrono::Utc>) -> io::Result<usize> {
        let Inner::Project(project) = &self.0 else {
            return Ok(0);
        };
        let store = project
            .store
            .as_ref()
            .ok_or_else(|| io::Error::other("there is no directory to keep the trust in"))?;
        store.write(&project.root, &look.content, look.layers.clone(), at)?;
        Ok(look.content.states().count())
    }

    /// Trusts those of some files that are layers, if they were trusted at a look or not there: who has written them since is a
    /// person. All else, also a program that they name now, is trusted as it was before. A project that was never trusted stays so.
    ///
    /// # Errors
    /// The project's files cannot be read, or the copies not written.
    pub fn follow_layers(
        &self,
        before: &Look,
        files: &[PathBuf],
        at: chrono::DateTime<chrono::Utc>,
    ) -> io::Result<()> {
        let Inner::Project(project) = &self.0 else {
            return Ok(());
        };
        let (Some(manifest), Some(store)) = (project.loaded(), &project.store) else {
            return Ok(());
        };
        let now = self.look()?;
        let written: Vec<String> = files.iter().filter_map(|f| project.relative(f)).collect();
        let waits = |path: &str| before.changes.iter().any(|change| change.path == path);
        let is_followed = |path: &str| {
            let is_written = written.iter().any(|file| file == path);
            let is_layer = [&before.layers, &now.layers];
            let is_layer = is_layer
                .iter()
                .any(|layers| layers.iter().any(|l| l == path));
            is_written && is_layer && !waits(path)
        };
        if !now.changes.iter().any(|change| is_followed(&change.path)) {
            return Ok(());
        }
        let mut content = Content::default();
        for (path, state, bytes) in now.content.files() {
            if is_followed(path) {
                content.add_known(path, state, bytes.to_vec());
            }
        }
        for (path, state) in &manifest.files {
            if !is_followed(path) {
                let bytes = fs::read(project.copy_of(manifest, path))?;
                content.add_known(path, state, bytes);
            }
        }
        let mut layers: Vec<String> = manifest.layers.iter().chain(&now.layers).cloned().collect();
        layers.retain(|layer| content.bytes(layer).is_some());
        layers.sort_unstable();
        layers.dedup();
        store.write(&project.root, &content, layers, at)
    }

    /// Takes the trust back; returns whether there was any.
    ///
    /// # Errors
    /// The state cannot be removed.
    pub fn revoke(&self) -> io::Result<bool> {
        match &self.0 {
            Inner::Everything => Ok(false),
            Inner::Project(project) => project.store.as_ref().map_or(Ok(false), Store::remove),
        }
    }
}
