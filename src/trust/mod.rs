//! Trust: which of a project's own programs its user has looked at and allowed to run.
//!
//! A project's hooks come with a clone, so they run only after `ahp trust`. What is trusted is content: a copy of every
//! file that can run or decide is kept in the user's state directory, a file that differs from its copy is not trusted,
//! and what runs is the copy, so that nothing can change between the look at it and its run.

mod change;
mod content;
mod named;
mod permit;
mod scan;
mod store;

pub use self::change::Change;
pub use self::change::ChangeKind;
pub use self::content::FileState;
pub use self::permit::Permit;
pub use self::scan::scan;
pub use self::store::Manifest;

use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::OnceLock;

use self::content::Content;
use self::store::Store;
use crate::config::Node;
use crate::stamp::Stamp;
use crate::workspace::custom_commands;

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

#[derive(Debug)]
struct Project {
    root: PathBuf,
    store: Option<Store>,
    further: Vec<String>,
    /// Where its issues lie, whose checklists may name commands.
    issues: PathBuf,
    /// What was trusted, with the state of the file that says so.
    manifest: OnceLock<(Option<Stamp>, Option<Manifest>)>,
}

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
        Self(Inner::Project(Arc::new(Project {
            root: root.to_owned(),
            store: state_dir.map(|dir| Store::of(root, dir)),
            further: Vec::new(),
            issues: PathBuf::from("Issues"),
            manifest: OnceLock::new(),
        })))
    }

    /// Looks after further files and folders of the project too, those that its user's own settings name, and after the
    /// commands that its issues name.
    #[must_use]
    pub fn covering(mut self, further: &[PathBuf], issues: &Path) -> Self {
        if let Inner::Project(project) = &mut self.0
            && let Some(project) = Arc::get_mut(project)
        {
            let inside = further.iter().filter_map(|path| project.relative(path));
            let inside: Vec<String> = inside.filter(|path| !path.is_empty()).collect();
            project.further.extend(inside);
            issues.clone_into(&mut project.issues);
        }
        self
    }

    /// Whether nothing was granted or taken back since the trust was first asked for.
    pub fn is_current(&self) -> bool {
        let Inner::Project(project) = &self.0 else {
            return true;
        };
        let then = project.manifest.get();
        then.is_none_or(|(then, _)| project.store.as_ref().and_then(Store::stamp) == *then)
    }

    /// Whether everything is trusted without a look.
    pub const fn is_everything(&self) -> bool {
        matches!(self.0, Inner::Everything)
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
        let manifest = project.manifest(&relative)?;
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
        let manifest = project.manifest(&relative)?;
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

    /// Whether the project's own layers are as they were when they were trusted, and so is every script that the
    /// commands of one binding's configuration name.
    ///
    /// # Errors
    /// The project was never trusted, or something differs.
    pub fn permits_binding(&self, config: &Node) -> Result<Permit, NotTrusted> {
        let Inner::Project(project) = &self.0 else {
            return Ok(Permit::default());
        };
        let manifest = project.manifest("the project")?;
        let mut paths = scan::layers(&project.root);
        paths.extend(manifest.layers.iter().cloned());
        paths.extend(named::by_config(&project.root, config));
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
        let manifest = project.manifest(command)?;
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
        let mut verified = String::with_capacity(command.len());
        let mut copied = 0;
        for word in named::scripts(command) {
            let Some(name) = command.get(word.clone()) else {
                continue;
            };
            let path = dir.join(name);
            if project.relative(&path).is_none() || !path.is_file() {
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

impl Project {
    fn loaded(&self) -> Option<&Manifest> {
        let load = || {
            let store = self.store.as_ref();
            // The stamp first: what is written between the two is then seen as a change.
            (store.and_then(Store::stamp), store.and_then(Store::load))
        };
        self.manifest.get_or_init(load).1.as_ref()
    }

    fn copy_of(&self, manifest: &Manifest, path: &str) -> PathBuf {
        match &self.store {
            Some(store) => store.copy_of(manifest, path),
            None => self.root.join(path),
        }
    }

    fn manifest(&self, what: &str) -> Result<&Manifest, NotTrusted> {
        self.loaded().ok_or_else(|| NotTrusted {
            what: format!("`{what}`"),
            why: format!(
                "nobody has looked at it yet; `ahp trust` in {} shows and allows it",
                self.root.display()
            ),
        })
    }

    /// Returns a path relative to the project, with `/` between its parts; none where it lies outside.
    fn relative(&self, path: &Path) -> Option<String> {
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
            .filter(|c| !matches!(c, std::path::Component::CurDir))
            .map(|c| c.as_os_str().to_string_lossy())
            .collect();
        Some(parts.join("/"))
    }

    fn content(&self) -> io::Result<Content> {
        let mut paths = scan(&self.root);
        paths.extend(self.further.iter().cloned());
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let mut content = Content::read(&self.root, &paths)?;
        for command in custom_commands(&self.root, &self.issues) {
            content.add_text(issue_command(&command), &command);
        }
        Ok(content)
    }
}

/// Returns the name under which a command of an issue is trusted: its content, wherever it stands.
fn issue_command(command: &str) -> String {
    format!("issue-commands/{}", content::digest(command.as_bytes()))
}
