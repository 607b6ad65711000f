//! Finds the project root, the layer files and the user's directories: the one reader of the environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::path::PathBuf;

use super::LayerSource;
use crate::shell::without_dots;

/// The variables by which hosts tell their hooks in which project they work.
const PROJECT_DIRS: &[&str] = &[
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
];

/// Where an organisation's layer lies.
const SYSTEM_LAYER: &str = "/etc/ahp/hooks.yaml";

/// The environment variables and the working directory of a process, read once.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    current_dir: PathBuf,
}

impl Environment {
    /// Reads the environment of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one reader of the environment"
    )]
    pub fn of_process() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
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
        }
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
        self.variables
            .get(Path::new(name).as_os_str())
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    }

    /// Returns the project in which a host works, where it tells its hooks.
    pub fn project_dir(&self) -> Option<PathBuf> {
        PROJECT_DIRS.iter().find_map(|name| self.directory(name))
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
}

/// Everything whose place or default depends on where and by whom the program is run.
#[derive(Clone, Debug)]
pub struct Locations {
    /// The directory in which the operation happens; absolute.
    pub work_dir: PathBuf,
    /// The root of the project: the nearest ancestor with `.ahp/`, else the git root, else the work dir. An `.ahp/`
    /// without a layer hides no policy above it, unless it lies at the root of a repository.
    pub project_root: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
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
    /// `$AHP_ENV`: the environment where neither the event nor the settings name one.
    pub environment: Option<String>,
    /// Whether a broken configuration is a warning: `AHP_ON_CONFIG_ERROR=allow`.
    pub allow_broken: bool,
    /// Whether every project is trusted to run programs: `AHP_TRUST=all`.
    pub trust_all: bool,
}

impl Locations {
    /// Finds the places for a work directory, which may be relative to the process's own.
    pub fn find(environment: &Environment, work_dir: Option<&Path>) -> Self {
        let work_dir = match work_dir {
            Some(dir) => without_dots(&environment.current_dir.join(dir)),
            None => environment.current_dir.clone(),
        };
        let home = environment.directory("HOME");
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let user_dir = environment
            .directory("AHP_HOME")
            .or_else(|| below_home(".ahp"));
        // A person's own policy is not that of a project that happens to lie below the home directory.
        let mut not_of_project: Vec<PathBuf> =
            user_dir.iter().cloned().chain(below_home(".ahp")).collect();
        not_of_project.dedup();
        let xdg = |name: &str, default: &str, own: &str| {
            environment
                .directory(name)
                .or_else(|| below_home(default))
                .map(|dir| dir.join(own))
        };
        Self {
            project_root: project_root(&work_dir, &not_of_project),
            work_dir,
            system_layer: Some(PathBuf::from(SYSTEM_LAYER)),
            user_dir,
            user_hooks: xdg("XDG_CONFIG_HOME", ".config", "agents/hooks"),
            state_dir: xdg("XDG_STATE_HOME", ".local/state", "ahp"),
            cache_dir: xdg("XDG_CACHE_HOME", ".cache", "ahp"),
            environment: environment.get("AHP_ENV").map(str::to_owned),
            allow_broken: environment.get("AHP_ON_CONFIG_ERROR") == Some("allow"),
            trust_all: environment.get("AHP_TRUST") == Some("all"),
            home,
        }
    }

    /// Makes the locations of a project alone: no system and no user layer, no environment.
    pub fn of_project(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            work_dir: root.clone(),
            project_root: root,
            home: None,
            system_layer: None,
            user_dir: None,
            user_hooks: None,
            state_dir: None,
            cache_dir: None,
            environment: None,
            allow_broken: false,
            trust_all: false,
        }
    }

    /// Returns the file of every layer, in the order of precedence, whether it exists or not.
    pub fn layers(&self) -> Vec<(LayerSource, PathBuf)> {
        let mut layers = Vec::with_capacity(4);
        if let Some(path) = &self.system_layer {
            layers.push((LayerSource::System, path.clone()));
        }
        if let Some(dir) = &self.user_dir {
            layers.push((LayerSource::User, dir.join("hooks.yaml")));
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

fn project_root(work_dir: &Path, not_of_project: &[PathBuf]) -> PathBuf {
    let mut holding = work_dir.ancestors().filter(|dir| {
        let ahp = dir.join(".ahp");
        ahp.is_dir() && !not_of_project.iter().any(|user| same_dir(user, &ahp))
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
    one == other
        || matches!(
            (one.metadata(), other.metadata()),
            (Ok(one), Ok(other)) if (one.dev(), one.ino()) == (other.dev(), other.ino())
        )
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        assert_eq!(sources, [LayerSource::System, LayerSource::User]);
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
