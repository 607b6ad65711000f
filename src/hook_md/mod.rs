//! HookMd: the folders with a `HOOK.md` (AgentHooks), found, checked and put in order.

mod cache;
mod canonical;
mod discover;
mod entry_point;
mod escapes;
mod front_matter;
mod hooks;
mod listing;
mod matcher;
pub(crate) mod spaced_json;
mod validate;

pub(crate) use self::canonical::{canonical_input, canonical_names};
pub use self::discover::{Place, Places, discover, is_current, readable};
pub use self::entry_point::{EntryPoint, EntryPointError, entry_point};
pub use self::front_matter::{Parsed, parse};
pub use self::hooks::Hooks;
pub use self::matcher::Matcher;
pub use self::validate::FrontMatter;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::LayerSource;
use crate::event::Trigger;
use crate::trust::Trust;

/// Where a hook was found; the order is that in which hooks of equal priority run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The signed bundle in force.
    Bundle,
    /// The user's own `agents/hooks` directory.
    User,
    /// `.agents/hooks` of the project.
    Project,
    /// A directory that the system's settings, or the bundle's, name.
    System,
    /// A directory that a user's settings name.
    Further,
    /// A directory that the project's settings name.
    FurtherOfProject,
}

impl Origin {
    /// Whether the hook comes with the project, so that it needs trust.
    pub const fn is_of_project(self) -> bool {
        matches!(self, Self::Project | Self::FurtherOfProject)
    }

    /// Returns the layer in which it stands: none of an earlier layer needs it.
    pub const fn layer(self) -> LayerSource {
        match self {
            Self::Bundle => LayerSource::Bundle,
            Self::System => LayerSource::System,
            Self::User | Self::Further => LayerSource::User,
            Self::Project | Self::FurtherOfProject => LayerSource::Project,
        }
    }

    /// Returns the name as it is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bundle => "bundle",
            Self::User => "user",
            Self::Project => "project",
            Self::System => "system settings",
            Self::Further => "settings",
            Self::FurtherOfProject => "project settings",
        }
    }
}

/// One valid hook.
#[derive(Clone, Debug)]
pub struct Hook {
    /// What its `HOOK.md` says.
    pub front: FrontMatter,
    /// Its folder.
    pub dir: PathBuf,
    /// Where it was found.
    pub origin: Origin,
}

impl Hook {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.front.name
    }

    /// Whether no other hook takes its place, and no project switches it off.
    pub fn is_locked(&self) -> bool {
        self.origin == Origin::Bundle || self.front.is_locked()
    }

    /// Whether what its `HOOK.md` said when it was read is what the trusted copy in `dir` says.
    ///
    /// # Errors
    /// It is not, in words.
    pub fn front_as_trusted(&self, dir: &Path) -> Result<(), String> {
        if discover::front_of(dir, self.name()).as_ref() == Some(&self.front) {
            return Ok(());
        }
        Err(format!(
            "the hook `{}`: its `HOOK.md` was changed while it was read",
            self.name()
        ))
    }

    /// Whether it may run: a user's own may always, a project's as it was trusted.
    pub fn is_trusted(&self, trust: &Trust) -> bool {
        !self.origin.is_of_project() || trust.verified_of_project(&self.dir).is_ok()
    }

    /// Returns its `HOOK.md` or `hook.md`.
    pub fn file(&self) -> PathBuf {
        hook_file(&self.dir).unwrap_or_else(|| self.dir.join("HOOK.md"))
    }
}

/// One folder that should be a hook and is none.
#[derive(Clone, Debug)]
pub struct BrokenHook {
    /// The folder's name, which should be the hook's.
    pub name: String,
    /// The folder.
    pub dir: PathBuf,
    /// Where it was found.
    pub origin: Origin,
    /// Its trigger, where that much could be read: it is told there that the hook does not run.
    pub trigger: Option<Trigger>,
    /// Whether it is meant as a hook: a folder that merely has no `HOOK.md` may hold anything.
    pub is_meant: bool,
    /// Every fault, each on a line with its place.
    pub faults: Arc<[String]>,
}

/// The names of the file that makes a folder a hook.
const NAMES: [&str; 2] = ["HOOK.md", "hook.md"];

/// Returns the file that makes a folder a hook.
pub fn hook_file(dir: &Path) -> Option<PathBuf> {
    NAMES
        .into_iter()
        .map(|name| dir.join(name))
        .find(|path| path.is_file())
}
