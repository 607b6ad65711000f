//! Trust: which of a project's own programs its user has looked at and allowed to run.
//!
//! A project's hooks come with a clone, so they run only after `ahp trust`. What is trusted is content: a copy of every
//! file that can run or decide is kept in the user's state directory, a file that differs from its copy is not trusted,
//! and what runs is the copy, so that nothing can change between the look at it and its run.

mod change;
mod content;
mod hook_files;
mod look;
mod named;
mod permit;
mod project;
mod scan;
mod store;

pub use self::change::{Change, ChangeKind};
pub use self::content::FileState;
pub use self::hook_files::{
    bound_hook_files, hook_files_of, usual_hook_files, usual_hook_files_at_home,
};
pub use self::look::Look;
pub use self::named::named_by;
pub(crate) use self::named::{hook_scripts, is_kept, scripts_of};
pub use self::permit::Permit;
pub use self::store::Manifest;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::content::Content;
use self::project::{Project, issue_command};
use crate::config::Node;

/// What of one project is trusted.
///
/// Nothing is read before something is asked: a project that runs no programs pays nothing.
#[derive(Clone, Debug)]
pub struct Trust(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Everything,
    Project(Arc<Project>),
}

/// Why something of the project may not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is not trusted to run programs here: {why}")]
pub struct NotTrusted {
    /// The file, folder or project.
    pub what: String,
    /// What is missing or has changed.
    pub why: String,
}

impl Trust {
    /// Trusts everything: for machines that have nobody to ask (`AHP_TRUST=all`).
    pub const fn everything() -> Self {
        Self(Inner::Everything)
    }

    /// Makes the trust of the project at `root`, kept below `state_dir`; without one nothing can ever be trusted.
    pub fn of(root: &Path, state_dir: Option<&Path>) -> Self {
        Self(Inner::Project(Arc::new(Project::of(root, state_dir))))
    }

    /// Looks after further files and folders of the project too, those that its user's own settings name, and after the
    /// commands that its issues name.
    #[must_use]
    pub fn covering<'p>(
        mut self,
        further: impl IntoIterator<Item = &'p PathBuf>,
        issues: &Path,
    ) -> Self {
        if let Inner::Project(project) = &mut self.0
            && let Some(project) = Arc::get_mut(project)
        {
            project.cover(further, issues);
        }
        self
    }

    /// Whether nothing was granted or taken back since the trust was first asked for.
    pub fn is_current(&self) -> bool {
        match &self.0 {
            Inner::Everything => true,
            Inner::Project(project) => project.is_current(),
        }
    }

    /// Returns the files of the project that may run, or decide over what runs, relative to it; `may_extend` says whether its
    /// layers may extend other files.
    pub(crate) fn files(&self, root: &Path, may_extend: bool) -> Vec<String> {
        match &self.0 {
            Inner::Everything => scan::scan(root, may_extend),
            Inner::Project(project) => match project.loaded() {
                Some(manifest) => manifest.files.keys().cloned().collect(),
                None => project.paths(may_extend),
            },
        }
    }

    /// Whether a file or folder of the project is as it was when it was trusted; what lies outside the project is not
    /// the project's and needs no trust.
    pub fn is_trusted(&self, path: &Path) -> bool {
        self.verified(path).is_ok()
    }

    /// Returns the copy of a file or folder of the project that was trusted, if the project's own is still the same;
    /// the copy is what may run.
    ///
    /// # Errors
    /// The project was never trusted, or this differs from what was.
    pub fn verified(&self, path: &Path) -> Result<PathBuf, NotTrusted> {
        let Inner::Project(project) = &self.0 else {
            return Ok(path.to_owned());
        };
        let Some(relative) = project.relative(path) else {
            return Ok(path.to_owned());
        };
        let manifest = project.manifest(&format!("`{relative}`"))?;
        let now = Content::read(&project.root, &[&relative]).map_err(|error| NotTrusted {
            what: format!("`{relative}`"),
            why: error.to_string(),
        })?;
        let changes = change::between(manifest.below(&relative), now.states());
        if let Some(first) = changes.first() {
            return Err(NotTrusted {
                what: format!("`{relative}`"),
                why: format!("{first}; `ahp trust --diff` shows the difference"),
            });
        }
        if now.is_empty() {
            return Err(NotTrusted {
                what: format!("`{relative}`"),
                why: "there is no such file".to_owned(),
            });
        }
        Ok(project.copy_of(manifest, &relative))
    }

    /// Returns the trusted copy of what the project names, which must lie inside it.
    ///
    /// # Errors
    /// It lies outside, where no trust in the project reaches, or as for [`Trust::verified`].
    pub fn verified_of_project(&self, path: &Path) -> Result<PathBuf, NotTrusted> {
        if let Inner::Project(project) = &self.0
            && project.relative(path).is_none()
        {
            return Err(NotTrusted {
                what: format!("`{}`", path.display()),
                why: "the project names it, but it lies outside; name it in your own settings"
                    .to_owned(),
            });
        }
        self.verified(path)
    }

    /// Whether content that was read from a file of the project is what was trusted.
    ///
    /// # Errors
    /// The project was never trusted, or the content is another.
    pub fn permits_content(&self, path: &Path, content: &[u8]) -> Result<(), NotTrusted> {
        let Inner::Project(project) = &self.0 else {
            return Ok(());
        };
        let Some(relative) = project.relative(path) else {
            return Ok(());
        };
        let manifest = project.manifest(&format!("`{relative}`"))?;
        let trusted = manifest.files.get(&relative);
        if trusted.is_some_and(|state| state.sha256 == content::digest(content)) {
            return Ok(());
        }
        Err(NotTrusted {
            what: format!("`{relative}`"),
            why: if trusted.is_some() {
                "it has changed; `ahp trust --diff` shows the difference".to_owned()
            } else {
                "it is new; `ahp trust --diff` shows it".to_owned()
            },
        })
    }

    /// Whether programs of the project may run that neither a layer nor a command names: its tests, its linters and their
    /// plugins, what lies in its `node_modules` and `.venv`. They are trusted with the project, not by their content.
    ///
    /// # Errors
    /// The project was never trusted.
    pub fn permits_programs(&self) -> Result<(), NotTrusted> {
        match &self.0 {
            Inner::Everything => Ok(()),
            Inner::Project(project) => project.manifest("the project").map(|_| ()),
        }
    }

    /// Whether the project's own layers are as they were when they were trusted, and so is every script that the
    /// commands of one binding's configuration name; of a binding that the project has no part in, those
    /// scripts alone, and its recipes may change as its tests do.
    ///
    /// # Errors
    /// The project was never trusted, or something differs.
    pub fn permits_binding(
        &self,
        config: &Node,
        is_of_project: bool,
    ) -> Result<Permit, NotTrusted> {
        let Inner::Project(project) = &self.0 else {
            return Ok(Permit::default());
        };
        let mut paths = named::by_config(&project.root, config, true);
        if paths.is_empty() && !is_of_project {
            return Ok(Permit::default());
        }
        let manifest = project.manifest("the project")?;
        if is_of_project {
            paths.extend(scan::layers(&project.root));
            paths.extend(manifest.layers.iter().cloned());
        } else {
            paths = named::by_config(&project.root, config, false);
        }
        paths.sort_unstable();
        paths.dedup();
        let permit = Permit::of(&project.root, &paths);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let now = Content::read(&project.root, &paths).map_err(|error| NotTrusted {
            what: "the project".to_owned(),
            why: error.to_string(),
        })?;
        let before = manifest
            .files
            .iter()
            .filter(|(path, _)| paths.contains(&path.as_str()));
        match change::between(before, now.states()).first() {
            None => Ok(permit),
            Some(first) => Err(NotTrusted {
                what: "the project".to_owned(),
                why: format!("{first}; `ahp trust --diff` shows the difference"),
            }),
        }
    }

    /// Whether a command that an issue names is one that was looked at: an issue is a file like any other, and whoever
    /// may write one may not thereby run what he likes.
    ///
    /// # Errors
    /// It is not.
    pub fn permits_issue_command(&self, command: &str) -> Result<(), NotTrusted> {
        let Inner::Project(project) = &self.0 else {
            return Ok(());
        };
        let manifest = project.manifest(&format!("`{command}`"))?;
        if manifest.files.contains_key(&issue_command(command)) {
            return Ok(());
        }
        Err(NotTrusted {
            what: format!("`{command}`"),
            why: "an issue names it and nobody has looked at it; `ahp trust --diff` shows it"
                .to_owned(),
        })
    }

    /// Returns a command line in which each script of the project stands as its trusted copy.
    ///
    /// # Errors
    /// A script that it names was not trusted or has changed.
    pub fn verified_command(&self, command: &str, dir: &Path) -> Result<String, NotTrusted> {
        let Inner::Project(project) = &self.0 else {
            return Ok(command.to_owned());
        };
        let named = named::by_command(&project.root, dir, command);
        for script in &named {
            self.verified(&project.root.join(script))?;
        }
        let mut verified = String::with_capacity(command.len());
        let mut copied = 0;
        for word in named::words(command) {
            let Some(name) = command.get(word.clone()) else {
                continue;
            };
            let path = dir.join(name);
            let is_named = |relative: String| named.contains(&relative);
            if !project.relative(&path).is_some_and(is_named) || !path.is_file() {
                continue;
            }
            let copy = self.verified(&path)?;
            let copy = copy.to_string_lossy();
            // A path that a shell would take apart stays as it was written; it was verified a moment ago.
            if copy.contains(|c: char| !(c.is_alphanumeric() || "/._-+@".contains(c))) {
                continue;
            }
            verified.push_str(command.get(copied..word.start).unwrap_or_default());
            verified.push_str(&copy);
            copied = word.end;
        }
        verified.push_str(command.get(copied..).unwrap_or_default());
        Ok(verified)
    }

    /// Returns when the project was trusted last, if it ever was.
    pub fn manifest(&self) -> Option<&Manifest> {
        match &self.0 {
            Inner::Everything => None,
            Inner::Project(project) => project.loaded(),
        }
    }
}
