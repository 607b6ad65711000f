//! Finds the project root, the layer files and the user's directories: the one reader of the environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::{LayerSource, Override, Reviewed, ci};
use crate::host::{HOSTS, Host};
use crate::machine_key;
use crate::place::{Place, Roots};
use crate::regular_file::are_one;
use crate::shell::{real, without_dots};
use crate::signal::hex;
use crate::workspace::ToldBase;

/// Where an organisation's layer lies.
const SYSTEM_DIR: Place = Place::machine("/etc/ahp");
/// The user's own directory.
const USER_DIR: Place = Place::moved("AHP_HOME", ".ahp", "");
/// Where the user's HOOK.md hooks lie.
const USER_HOOKS: Place = Place::config("agents/hooks");
/// Where what must outlive a run is kept.
pub(crate) const STATE_DIR: Place = Place::moved("XDG_STATE_HOME", ".local/state", "ahp");
/// Where what can be made again is kept.
pub(crate) const CACHE_DIR: Place = Place::moved("XDG_CACHE_HOME", ".cache", "ahp");

/// Where a judge listens, whom hooks ask before they judge.
pub(crate) const SOCKET_DIR: Place = Place::moved("XDG_RUNTIME_DIR", ".local/state/ahp/run", "ahp");

/// Directories in which everybody makes files.
const FOR_ALL: [&str; 2] = ["/tmp", "/var/tmp"];

/// Every place that is our own: what is written there is policy, state or log.
pub const OWN_PLACES: &[Place] = &[
    Place::project(".ahp"),
    Place::project(".agents/hooks"),
    USER_DIR,
    USER_HOOKS,
    STATE_DIR,
    SOCKET_DIR,
    CACHE_DIR,
    SYSTEM_DIR,
];

/// The name of the token that lets a caller over HTTP in, in the state directory.
pub const SERVE_TOKEN: &str = "serve.token";

/// The files of the state directory that no agent may even read: with the one it could say what only this machine says, with
/// the other what only its person asks.
pub const UNREAD: [&str; 2] = [machine_key::NAME, SERVE_TOKEN];

/// Every variable of ours that says which policy is in force, or whether it is.
pub const OWN_VARIABLES: &[&str] = &[
    "AHP_BASE",
    "AHP_ENV",
    "AHP_HOME",
    "AHP_ON_CONFIG_ERROR",
    "AHP_TRUST",
    // They say what the change is, and so what a gate looks at.
    "CI_COMMIT_BEFORE_SHA",
    "CI_MERGE_REQUEST_DIFF_BASE_SHA",
    "GITHUB_BASE_REF",
    "GITHUB_EVENT_PATH",
];

/// The environment variables and the working directory of a process, read once.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    current_dir: PathBuf,
    is_home_looked_up: bool,
}

impl Environment {
    /// Reads the environment of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one reader of the environment"
    )]
    pub fn of_process() -> Self {
        let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        // Without the variable the policy of the user would be left out, and nobody told.
        let home = variables.get(OsStr::new("HOME"));
        let mut is_home_looked_up = false;
        if home.is_none_or(|home| home.is_empty())
            && let Some(home) = home_of_user()
        {
            variables.insert("HOME".into(), home);
            is_home_looked_up = true;
        }
        Self {
            is_home_looked_up,
            variables,
            // A working directory that was deleted under us: nothing relative can be found, which is as true as it gets.
            current_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        }
    }

    /// Makes an environment of given values, for tests and hosts with a world of their own.
    pub fn of<'a>(
        current_dir: impl Into<PathBuf>,
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        Self {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            current_dir: current_dir.into(),
            is_home_looked_up: false,
        }
    }

    /// Returns the home directory that the system names, where `HOME` is not set.
    pub fn looked_up_home(&self) -> Option<&str> {
        self.get("HOME").filter(|_| self.is_home_looked_up)
    }

    /// Returns a variable that is set, not empty, and text.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(Path::new(name).as_os_str())
            .and_then(|value| value.to_str())
            .filter(|value| !value.is_empty())
    }

    /// Returns a variable that holds an absolute path; a relative one has no meaning and is ignored, as XDG asks.
    fn directory(&self, name: &str) -> Option<PathBuf> {
        self.path(name).filter(|path| path.is_absolute())
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        let path = self.variables.get(Path::new(name).as_os_str())?;
        (!path.is_empty()).then(|| path.into())
    }

    /// Returns the directory of a person's sockets, where one is told that nobody else could have made.
    pub fn runtime_dir(&self) -> Option<PathBuf> {
        let dir = self.directory("XDG_RUNTIME_DIR").map(|dir| plain(&dir))?;
        let is_for_all = FOR_ALL.iter().any(|place| dir.starts_with(place));
        (!is_for_all).then_some(dir)
    }

    /// Returns where a variable moves a place. A host takes a relative path from where it was started.
    fn moved_to(&self, name: &str) -> Option<PathBuf> {
        match name {
            "XDG_RUNTIME_DIR" => self.runtime_dir(),
            _ if name.starts_with("XDG_") || name.starts_with("AHP_") => self.directory(name),
            _ => {
                let path = self.path(name)?;
                let is_its = |host: &&Host| host.places().any(|p| p.variable() == Some(name));
                let host = HOSTS.iter().copied().find(is_its);
                let start = host.and_then(|host| self.project_dir(host));
                Some(plain(
                    &start.as_ref().unwrap_or(&self.current_dir).join(path),
                ))
            }
        }
    }

    /// Returns the directory in which a host works, where it tells its hooks; one that is gone governs nothing.
    pub fn project_dir(&self, host: &Host) -> Option<PathBuf> {
        let told = self.directory(host.project_dir?);
        told.filter(|dir| dir.is_dir())
    }

    /// Returns each variable that is set and moves a place, our own or a host's.
    fn moved(&self) -> Vec<(&'static str, PathBuf)> {
        let of_hosts = HOSTS.iter().flat_map(|host| host.places());
        let mut moved: Vec<(&'static str, PathBuf)> = Vec::new();
        for name in OWN_PLACES
            .iter()
            .chain(of_hosts)
            .filter_map(Place::variable)
        {
            if moved.iter().all(|(known, _)| *known != name)
                && let Some(dir) = self.moved_to(name)
            {
                moved.push((name, dir));
            }
        }
        moved
    }

    /// Returns all variables.
    pub const fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.variables
    }

    /// Returns the working directory of the process.
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// Whether a variable says yes: set, and not `0`, `false` or `no`.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| !matches!(value, "0" | "false" | "no"))
    }

    /// Whether this is a run of a CI system.
    pub fn is_ci(&self) -> bool {
        ci::is_run(&|name| self.get(name))
    }
}

/// Returns the home that the system has for the user of this process.
fn home_of_user() -> Option<OsString> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let own = rustix::process::geteuid().as_raw().to_string();
    let mut users = users.lines().map(|line| line.split(':'));
    users.find_map(|mut fields| {
        (fields.nth(2)? == own).then(|| fields.nth(2).map(OsString::from))?
    })
}

/// Everything whose place or default depends on where and by whom the program is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locations {
    /// The directory in which the operation happens; absolute.
    pub work_dir: PathBuf,
    /// The root of the project: the nearest ancestor with `.ahp/`, else the git root, else the work dir. An `.ahp/`
    /// without a layer hides no policy above it, unless it lies at the root of a repository.
    pub project_root: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// Where signed policy lies: `/etc/ahp/bundle`.
    pub bundle_dir: Option<PathBuf>,
    /// The number of the user to whom signed policy must belong: that of root.
    pub administrator: u32,
    /// The organisation's layer: `/etc/ahp/hooks.yaml`.
    pub system_layer: Option<PathBuf>,
    /// The user's own directory: `$AHP_HOME`, else `~/.ahp`.
    pub user_dir: Option<PathBuf>,
    /// Where the user's HOOK.md hooks live: `$XDG_CONFIG_HOME/agents/hooks`, else `~/.config/agents/hooks`.
    pub user_hooks: Option<PathBuf>,
    /// Where what must outlive a run is kept for the user, such as what is trusted: `$XDG_STATE_HOME/ahp`.
    pub state_dir: Option<PathBuf>,
    /// Where what can be made again is kept for the user: `$XDG_CACHE_HOME/ahp`.
    pub cache_dir: Option<PathBuf>,
    /// The variables that are set and move a place of ours or of a host, each with its directory.
    pub moved: Vec<(&'static str, PathBuf)>,
    /// The variables that are set and count as not set, because the machine's layers forbid them.
    pub ignored: Vec<Override>,
    /// `$AHP_ENV`: the environment where neither the event nor the settings name one.
    pub environment: Option<String>,
    /// Whether a broken configuration is a warning: `AHP_ON_CONFIG_ERROR=allow`.
    pub allow_broken: bool,
    /// Whether every project is trusted to run programs: `AHP_TRUST=all`.
    pub trust_all: bool,
    /// What changes are measured against, where `$AHP_BASE` or a CI system tells.
    pub base: Arc<ToldBase>,
    /// What the project is held to in the place of what was approved on this machine, trusted or not.
    pub reviewed: Option<Arc<Reviewed>>,
    /// Texts that stand in the place of files of the project's layers, as a person would have approved them: what an edit
    /// would come to.
    pub drafts: BTreeMap<PathBuf, String>,
}

impl Locations {
    /// Finds them by all variables but some.
    pub(super) fn told_by(
        machine: PathBuf,
        environment: &Environment,
        work_dir: Option<&Path>,
        ignored: &[Override],
    ) -> Self {
        let is_told = |name: &str| !ignored.iter().any(|variable| variable.name() == name);
        let get = |name: &str| environment.get(name).filter(|_| is_told(name));
        let mut moved = environment.moved();
        moved.retain(|(name, _)| is_told(name));
        let work_dir = match work_dir {
            Some(dir) => plain(&environment.current_dir.join(dir)),
            None => environment.current_dir.clone(),
        };
        let roots = Roots {
            project: PathBuf::new(),
            home: environment.directory("HOME"),
            machine,
            moved,
        };
        let user_dir = roots.path(&USER_DIR);
        let usual = roots.home.as_ref().map(|home| home.join(".ahp"));
        // A person's own policy is not that of a project that happens to lie below the home directory.
        let mut not_of_project: Vec<PathBuf> = user_dir.iter().cloned().chain(usual).collect();
        not_of_project.dedup();
        let project_root = project_root(&work_dir, &not_of_project);
        Self {
            base: Arc::new(ci::told_base(&get, &project_root)),
            reviewed: None,
            drafts: BTreeMap::new(),
            project_root,
            work_dir,
            bundle_dir: roots.path(&SYSTEM_DIR).map(|dir| dir.join("bundle")),
            administrator: 0,
            system_layer: roots.path(&SYSTEM_DIR).map(|dir| dir.join("hooks.yaml")),
            user_dir,
            user_hooks: roots.path(&USER_HOOKS),
            state_dir: roots.path(&STATE_DIR),
            cache_dir: roots.path(&CACHE_DIR),
            environment: environment.get("AHP_ENV").map(str::to_owned),
            allow_broken: environment.get("AHP_ON_CONFIG_ERROR") == Some("allow"),
            trust_all: environment.get("AHP_TRUST") == Some("all"),
            ignored: Vec::new(),
            moved: roots.moved,
            home: roots.home,
        }
    }

    /// Makes the locations of a project alone: no system and no user layer, no environment.
    pub fn of_project(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            work_dir: root.clone(),
            project_root: root,
            home: None,
            bundle_dir: None,
            administrator: 0,
            system_layer: None,
            user_dir: None,
            user_hooks: None,
            state_dir: None,
            cache_dir: None,
            moved: Vec::new(),
            ignored: Vec::new(),
            environment: None,
            allow_broken: false,
            trust_all: false,
            base: Arc::default(),
            reviewed: None,
            drafts: BTreeMap::new(),
        }
    }

    /// Returns the directories below which places lie.
    pub fn roots(&self) -> Roots {
        Roots {
            project: self.project_root.clone(),
            home: self.home.clone(),
            machine: PathBuf::new(),
            moved: self.moved.clone(),
        }
    }

    /// Returns a name of the project for files that are kept elsewhere: that of its root, and a digest of where that lies.
    pub fn project_name(&self) -> String {
        let root = self.project_root.to_string_lossy();
        let name = self
            .project_root
            .file_name()
            .map_or_else(|| "root".to_owned(), |n| n.to_string_lossy().into_owned());
        let mut digest = hex(&Sha256::digest(root.as_bytes()));
        digest.truncate(12);
        format!("{name}-{digest}")
    }

    /// Returns the file of every layer, in the order of precedence, whether it exists or not.
    pub fn layers(&self) -> Vec<(LayerSource, PathBuf)> {
        let mut layers = Vec::with_capacity(5);
        if let Some(dir) = &self.bundle_dir {
            layers.push((LayerSource::Bundle, dir.join("current/hooks.yaml")));
        }
        if let Some(path) = &self.system_layer {
            layers.push((LayerSource::System, path.clone()));
        }
        if let Some(path) = self.user_layer() {
            layers.push((LayerSource::User, path));
        }
        let project = self.project_root.join(".ahp");
        // At home itself the project's layer would be the user's once more, with less standing.
        if !self
            .user_dir
            .as_deref()
            .is_some_and(|user| same_dir(user, &project))
        {
            layers.push((LayerSource::Project, project.join("hooks.yaml")));
            layers.push((LayerSource::Local, project.join("hooks.local.yaml")));
        }
        layers
    }

    /// Whether the project has a policy of its own.
    pub fn has_policy(&self) -> bool {
        has_layer(&self.project_root) || self.project_root.join(".agents/hooks").is_dir()
    }

    /// Returns the file of the user's layer.
    pub(super) fn user_layer(&self) -> Option<PathBuf> {
        Some(self.user_dir.as_ref()?.join("hooks.yaml"))
    }

    /// Whether a file lies in the project, links in the way to it resolved.
    pub(super) fn is_in_project(&self, path: &Path) -> bool {
        let root = &self.project_root;
        path.starts_with(root) || root.canonicalize().is_ok_and(|root| path.starts_with(root))
    }

    /// Returns a path as it is shown: relative to the project, or to the home directory as `~/…`.
    pub fn display(&self, path: &Path) -> String {
        if let Ok(relative) = path.strip_prefix(&self.project_root) {
            return relative.display().to_string();
        }
        match self
            .home
            .as_ref()
            .and_then(|home| path.strip_prefix(home).ok())
        {
            Some(relative) => format!("~/{}", relative.display()),
            None => path.display().to_string(),
        }
    }
}

/// Returns a directory without `.` and `..`; behind a link `..` leads out of where the link leads.
fn plain(dir: &Path) -> PathBuf {
    let leads_up = dir.components().any(|part| part == Component::ParentDir);
    without_dots(&if leads_up { real(dir) } else { dir.to_owned() })
}

fn project_root(work_dir: &Path, not_of_project: &[PathBuf]) -> PathBuf {
    let mut holding = work_dir.ancestors().filter(|dir| {
        let ahp = dir.join(".ahp");
        // Looked at once: this is asked for every event.
        let about = ahp.metadata().ok().filter(Metadata::is_dir);
        about.is_some_and(|about| {
            let is_user = |user: &PathBuf| *user == ahp || is_same(user, &about);
            !not_of_project.iter().any(is_user)
        })
    });
    let nearest = holding.next();
    nearest
        .into_iter()
        .chain(holding)
        .find(|dir| has_layer(dir) || dir.join(".git").exists())
        // Without a policy of its own a folder further down hides none; it counts where there is none above.
        .or(nearest)
        // In a worktree or submodule `.git` is a file.
        .or_else(|| work_dir.ancestors().find(|dir| dir.join(".git").exists()))
        .or_else(|| {
            work_dir
                .ancestors()
                .find(|dir| dir.join(".agents/hooks").is_dir())
        })
        .unwrap_or(work_dir)
        .to_path_buf()
}

/// Whether a layer lies in the `.ahp/` of a directory, or may lie there and cannot be seen.
fn has_layer(dir: &Path) -> bool {
    ["hooks.yaml", "hooks.local.yaml"].iter().any(|layer| {
        let found = dir.join(".ahp").join(layer).symlink_metadata();
        !found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    })
}

/// Whether two paths name one directory, links resolved.
fn same_dir(one: &Path, other: &Path) -> bool {
    one == other || other.metadata().is_ok_and(|other| is_same(one, &other))
}

/// Whether a path leads to what has been looked at.
fn is_same(path: &Path, about: &Metadata) -> bool {
    path.metadata().is_ok_and(|found| are_one(&found, about))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(home: &Path, work_dir: &Path) -> Locations {
        let home = home.to_str().unwrap();
        Locations::find(&Environment::of(work_dir, [("HOME", home)]), None)
    }

    #[test]
    fn the_root_is_the_nearest_ancestor_with_a_policy_then_git_then_the_work_dir() {
        let base = tempfile::tempdir().unwrap();
        let (project, deep) = (base.path().join("p"), base.path().join("p/a/b"));
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(found(base.path(), &deep).project_root, deep);
        fs::create_dir(project.join(".git")).unwrap();
        assert_eq!(found(base.path(), &deep).project_root, project);
        fs::create_dir(project.join("a/.ahp")).unwrap();
        assert_eq!(found(base.path(), &deep).project_root, project.join("a"));
        fs::create_dir(project.join(".ahp")).unwrap();
        fs::write(project.join(".ahp/hooks.yaml"), "").unwrap();
        assert_eq!(found(base.path(), &deep).project_root, project);
        fs::write(project.join("a/.ahp/hooks.local.yaml"), "").unwrap();
        assert_eq!(found(base.path(), &deep).project_root, project.join("a"));
        fs::create_dir_all(deep.join(".ahp")).unwrap();
        fs::create_dir(deep.join(".git")).unwrap();
        assert_eq!(found(base.path(), &deep).project_root, deep);
    }

    #[test]
    fn the_users_own_policy_makes_no_project_of_the_home_directory() {
        let home = tempfile::tempdir().unwrap();
        let work = home.path().join("work");
        fs::create_dir_all(home.path().join(".ahp")).unwrap();
        fs::create_dir(&work).unwrap();
        assert_eq!(found(home.path(), &work).project_root, work);
        let at_home = found(home.path(), home.path());
        let sources: Vec<_> = at_home
            .layers()
            .into_iter()
            .map(|(source, _)| source)
            .collect();
        let wanted = [LayerSource::Bundle, LayerSource::System, LayerSource::User];
        assert_eq!(sources, wanted);
    }

    #[test]
    fn directories_follow_the_environment() {
        let environment = Environment::of(
            "/w",
            [
                ("HOME", "/h"),
                ("AHP_HOME", "/ahp"),
                ("XDG_CACHE_HOME", "relative"),
                ("XDG_STATE_HOME", "/state"),
                ("AHP_TRUST", "all"),
                ("AHP_ON_CONFIG_ERROR", "allow"),
                ("AHP_ENV", ""),
            ],
        );
        let locations = Locations::find(&environment, Some(Path::new("../x/./y")));
        assert_eq!(locations.work_dir, Path::new("/x/y"));
        assert_eq!(locations.user_dir.as_deref(), Some(Path::new("/ahp")));
        assert_eq!(
            locations.cache_dir.as_deref(),
            Some(Path::new("/h/.cache/ahp"))
        );
        assert_eq!(
            locations.state_dir.as_deref(),
            Some(Path::new("/state/ahp"))
        );
        assert!(locations.trust_all && locations.allow_broken);
        assert_eq!(locations.environment, None);
        assert_eq!(
            locations.display(Path::new("/x/y/.ahp/hooks.yaml")),
            ".ahp/hooks.yaml"
        );
        assert_eq!(locations.display(Path::new("/h/a")), "~/a");
    }
}
