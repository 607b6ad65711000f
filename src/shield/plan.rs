//! Plan: everything that a shield mounts, hides, holds and takes out of the environment.

use std::collections::BTreeSet;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use crate::config::{Locations, ShieldSettings};
use crate::guard::Guards;
use crate::host::{Host, TOKEN};
use crate::shell;
use crate::shell::without_dots;

use super::arrange::{Access, Mount, arrange, covered};
use super::held::{held, home_of};
use super::repository::Repository;
use super::traces::Nothing;
use super::{ShieldError, sockets};

/// Folders in which programs keep what they can fetch or make again.
const CACHES: &[&str] = &[
    ".cache",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".local/share/pnpm",
    ".m2/repository",
    ".npm",
    "go/pkg",
];

/// Folders that are replaced whole: what lies there is reached by no path inside.
const REPLACED: &[&str] = &["/run", "/tmp", "/var/tmp"];

/// Variables that lead to a process outside, or let in there.
const LEADING_OUT: &[&str] = &[
    TOKEN,
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "SSH_AUTH_SOCK",
    "TMUX",
];

/// What is asked for.
#[derive(Debug)]
pub struct Request<'a> {
    /// Where the project, the home and our own directories lie.
    pub locations: &'a Locations,
    /// What no agent may change, by the policy in force.
    pub guards: &'a Guards,
    /// Where the log is written.
    pub log: &'a Path,
    /// The host whose client is started; none for any other command.
    pub host: Option<&'a Host>,
    /// What the system's and the user's layer say, and the command line beside them.
    pub settings: &'a ShieldSettings,
    /// The program `ahp` itself.
    pub program: &'a Path,
    /// The socket of the SSH agent, where there is one.
    pub ssh_agent: Option<&'a Path>,
    /// Whether the person is root, whose files nothing in the kernel keeps from root inside.
    pub is_root: bool,
}

/// What a shield does, as data.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The project.
    pub project: PathBuf,
    /// What is mounted, in that order.
    pub mounts: Vec<Mount>,
    /// What is made first, for a mount needs something to be mounted on; what holds others stands before them.
    pub missing: Vec<(PathBuf, Nothing)>,
    /// Private folders, which are made first and kept.
    pub private: Vec<PathBuf>,
    /// Whether servers can be reached.
    pub network: bool,
    /// Whether what the kernel lets root write in `/proc` is read-only.
    pub is_root: bool,
    /// Variables that are taken out of the environment.
    pub unset: Vec<&'static str>,
    /// What is to be told before the start.
    pub warnings: Vec<String>,
}

impl Plan {
    /// Makes the plan, of what is there now; nothing is changed.
    ///
    /// # Errors
    /// The project is too wide, a link lies on the way to a held place, something held is to be writable, or something
    /// named is not there.
    pub fn make(request: &Request<'_>) -> Result<Self, ShieldError> {
        let locations = request.locations;
        let project = real(&locations.project_root)?;
        let home = locations
            .home
            .clone()
            .ok_or(ShieldError::Unknown("the home directory"))?;
        let home = real(&home)?;
        let state_dir = locations
            .state_dir
            .as_deref()
            .ok_or(ShieldError::Unknown("the state directory"))?;
        let cache_dir = locations
            .cache_dir
            .as_deref()
            .ok_or(ShieldError::Unknown("the cache directory"))?;
        if home.starts_with(&project) {
            return Err(ShieldError::TooWide(project));
        }
        let keep = cache_dir.join("shield").join(locations.project_name());
        let settings = request.settings;
        let mut given = vec![mount(&project, Access::Writable)];
        let mut missing = Vec::new();
        let mut private = Vec::new();
        if let Some(repository) = Repository::around(&project)
            && !repository.common.starts_with(&project)
        {
            given.push(mount(&repository.common, Access::Writable));
        }
        let of_host = request.host.and_then(home_of);
        if let Some(folder) = of_host.and_then(|home| request.guards.roots().path(&home.folder)) {
            let folder = moved(&folder, locations, &project, &home);
            missing.extend(made(&folder, Nothing::Folder)?);
            given.push(mount(&folder, Access::Writable));
        }
        for path in &settings.write {
            given.push(mount(&real(path)?, Access::Writable));
        }
        for name in CACHES {
            let path = home.join(name);
            if path.is_dir() {
                let own = keep.join("caches").join(name.replace('/', "-"));
                private.push(own.clone());
                given.push(mount(&path, Access::Private(own)));
            }
        }
        for path in &settings.devices {
            given.push(mount(&without_dots(path), Access::Device));
        }
        let (let_in, unset) = sockets_of(request);
        given.extend(let_in.iter().map(|path| mount(path, Access::Seen)));
        if is_replaced(request.program, &project) {
            given.push(mount(request.program, Access::Seen));
        }
        let own = ["serve.token", "key"].map(|name| state_dir.join(name));
        let hidden = settings.deny_read.iter().cloned();
        for path in hidden.chain(own) {
            // What is not there cannot be read; what is a link is hidden where it leads.
            let Ok(path) = real(&path) else { continue };
            let access = if path.is_dir() {
                Access::HiddenFolder
            } else {
                Access::HiddenFile
            };
            given.push(mount(&path, access));
        }
        let held: Vec<PathBuf> = held(request.guards, request.host)
            .into_iter()
            .chain([request.program.to_owned()])
            .flat_map(|path| places(&moved(&path, locations, &project, &home)))
            .collect();
        let mounts = arrange(given, &held)?;
        let mut warnings = Vec::new();
        for Mount { path, access } in &mounts {
            if !matches!(access, Access::Held | Access::Way) {
                continue;
            }
            match path.symlink_metadata() {
                Ok(meta) if meta.is_symlink() => return Err(ShieldError::Link(path.clone())),
                Ok(meta) if *access == Access::Way && !meta.is_dir() => {
                    return Err(ShieldError::NotFolder(path.clone()));
                }
                Ok(meta) if meta.is_file() && meta.nlink() > 1 => warnings.push(format!(
                    "`{}` has {} names: by another one it can be written",
                    path.display(),
                    meta.nlink()
                )),
                Ok(_) => {}
                Err(_) => {
                    let is_way = *access == Access::Way;
                    let nothing = if is_way || path.starts_with(&project) {
                        Nothing::Folder
                    } else {
                        Nothing::at(path)
                    };
                    missing.push((path.clone(), nothing));
                }
            }
        }
        let log = places(&moved(request.log, locations, &project, &home));
        if let Some(log) = log.iter().find(|log| is_open(&mounts, log)) {
            return Err(ShieldError::Log(log.clone()));
        }
        if request.is_root {
            warnings.push(
                "this is root: what root may do to the machine is not held; use a person's account"
                    .to_owned(),
            );
        }
        let plan = Self {
            project,
            mounts,
            missing,
            private,
            network: settings.network,
            is_root: request.is_root,
            unset,
            warnings,
        };
        plan.covering()
    }

    /// Returns the same plan with what listens at this moment covered, and nothing else: others open and close sockets
    /// while a shield is made.
    ///
    /// # Errors
    /// What listens cannot be told, or cannot be named.
    pub fn covering(&self) -> Result<Self, ShieldError> {
        let planned = self.mounts.iter();
        let planned = planned.filter(|mount| mount.access != Access::Covered);
        let mounts = covered(planned.cloned(), self.listening()?);
        if let Some(mount) = mounts.iter().find(|mount| mount.path.to_str().is_none()) {
            return Err(ShieldError::NotText(mount.path.clone()));
        }
        Ok(Self {
            mounts,
            ..self.clone()
        })
    }

    /// Returns what listens now and is not covered by this plan, though it could be reached.
    ///
    /// # Errors
    /// What listens cannot be told.
    pub fn uncovered(&self) -> Result<Vec<PathBuf>, ShieldError> {
        let now = self.covering()?;
        let covers = now.with(|access| *access == Access::Covered);
        let is_new = |path: &&Path| !self.mounts.iter().any(|mount| mount.path == **path);
        Ok(covers.filter(is_new).map(Path::to_path_buf).collect())
    }

    /// Returns what was to be covered and is not there any more: there is nothing left to mount on.
    pub fn gone(&self) -> Vec<PathBuf> {
        let covers = self.with(|access| *access == Access::Covered);
        covers
            .filter(|path| !path.exists())
            .map(Path::to_path_buf)
            .collect()
    }

    /// Returns the same plan without the covers of what is not there any more: nothing new is covered.
    #[must_use]
    pub fn without_gone(mut self) -> Self {
        let gone = self.gone();
        self.mounts.retain(|mount| !gone.contains(&mount.path));
        self
    }

    /// Returns where something listens that could be reached inside.
    fn listening(&self) -> Result<Vec<PathBuf>, ShieldError> {
        let listening = sockets::listening().map_err(ShieldError::Sockets)?;
        let seen = |path: &PathBuf| {
            let path = path.canonicalize().ok()?;
            let is_socket = path.metadata().ok()?.file_type().is_socket();
            let is_away = is_replaced(&path, &self.project) || path.starts_with("/dev");
            (is_socket && !is_away).then_some(path)
        };
        Ok(sockets::as_inside(|| {
            listening.iter().filter_map(seen).collect()
        }))
    }

    /// Returns the held places.
    pub fn held(&self) -> impl Iterator<Item = &Path> {
        self.with(|access| *access == Access::Held)
    }

    /// Returns the places with some access.
    pub fn with(&self, wanted: impl Fn(&Access) -> bool) -> impl Iterator<Item = &Path> {
        self.mounts
            .iter()
            .filter(move |mount| wanted(&mount.access))
            .map(|mount| mount.path.as_path())
    }
}

fn mount(path: &Path, access: Access) -> Mount {
    Mount {
        path: path.to_owned(),
        access,
    }
}

/// Whether what lies at a path is reached by no path inside.
fn is_replaced(path: &Path, project: &Path) -> bool {
    REPLACED.iter().any(|dir| path.starts_with(dir)) && !path.starts_with(project)
}

/// Whether a file could be renamed inside: what is mounted nearest above it is writable.
fn is_open(mounts: &[Mount], file: &Path) -> bool {
    let nearest = mounts
        .iter()
        .filter(|mount| file.starts_with(&mount.path))
        .max_by_key(|mount| mount.path.components().count());
    // A file that is held itself lies in a folder that is not.
    nearest.is_some_and(|mount| {
        matches!(mount.access, Access::Writable | Access::Way)
            || (mount.access == Access::Held && mount.path == file)
    })
}

fn real(path: &Path) -> Result<PathBuf, ShieldError> {
    path.canonicalize()
        .map_err(|error| ShieldError::Unreadable(path.to_owned(), error))
}

/// Returns a path below the real project and the real home: a link to one of them does not matter, one inside does.
fn moved(path: &Path, locations: &Locations, project: &Path, home: &Path) -> PathBuf {
    // The home first: as it is told, it may go through the project, by `..`.
    let roots = [
        (locations.home.as_ref(), home),
        (Some(&locations.project_root), project),
    ];
    for (told, real) in roots {
        if let Some(Ok(inside)) = told.map(|told| path.strip_prefix(told)) {
            return real.join(inside);
        }
    }
    path.to_owned()
}

/// Returns where a path leads, without `..`: by its words, and where the words go through a link, by what is there too. A mount
/// on a path with `..` would open the folder that it leads up to.
fn places(path: &Path) -> Vec<PathBuf> {
    let mut places = vec![without_dots(path)];
    if path.components().any(|part| part == Component::ParentDir) {
        let there = without_dots(&shell::real(path));
        if !places.contains(&there) {
            places.push(there);
        }
    }
    places
}

/// Returns what has to be made for a path to be there.
fn made(path: &Path, nothing: Nothing) -> Result<Vec<(PathBuf, Nothing)>, ShieldError> {
    if path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
        return Err(ShieldError::Link(path.to_owned()));
    }
    if path.exists() {
        return Ok(Vec::new());
    }
    let mut missing: Vec<(PathBuf, Nothing)> = path
        .ancestors()
        .skip(1)
        .take_while(|dir| !dir.exists())
        .map(|dir| (dir.to_owned(), Nothing::Folder))
        .collect();
    missing.reverse();
    missing.push((path.to_owned(), nothing));
    Ok(missing)
}

/// Returns the sockets that are let in, and the variables that then lead nowhere.
fn sockets_of(request: &Request<'_>) -> (BTreeSet<PathBuf>, Vec<&'static str>) {
    let mut unset = LEADING_OUT.to_vec();
    let mut sockets = BTreeSet::new();
    for named in &request.settings.sockets {
        if named.as_os_str() == "ssh-agent" {
            sockets.extend(request.ssh_agent.map(Path::to_path_buf));
            unset.retain(|name| *name != "SSH_AUTH_SOCK");
        } else {
            sockets.insert(without_dots(named));
        }
    }
    (sockets, unset)
}
