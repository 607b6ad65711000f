//! Plan: everything that a shield mounts, hides, holds and takes out of the environment.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::config::{Environment, Locations, SOCKET_DIR, STATE_DIR, ShieldSettings, UNREAD};
use crate::guard::{Guards, Repository};
use crate::host::{Host, TOKEN};
use crate::place::Roots;
use crate::session::SESSIONS;
use crate::shell;
use crate::shell::without_dots;
use crate::signal_log::LogPlace;

use super::arrange::{Access, Mount, arrange, covered, nearest};
use super::held::{held, home_of};
use super::mounts::Mounts;
use super::sockets::{Around, Searched};
use super::traces::{Missing, Nothing};
use super::{INSIDE, ShieldError, links, sockets, traces};

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
const REPLACED: &[&str] = &["/run", FRESH[0], FRESH[1]];

/// Folders that are empty inside, and can be written.
const FRESH: [&str; 2] = ["/tmp", "/var/tmp"];

/// Folders that a shield has of its own: whatever is mounted over one of them, or in one of the second list, opens it.
const OWN: &[&str] = &["/dev", "/proc", "/run", INSIDE];
const OWN_WHOLE: &[&str] = &["/proc", INSIDE];

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
    pub log: &'a LogPlace,
    /// The host whose client is started; none for any other command.
    pub host: Option<&'a Host>,
    /// What the system's and the user's layer say, and the command line beside them.
    pub settings: &'a ShieldSettings,
    /// The program `ahp` itself.
    pub program: &'a Path,
    /// The person's environment.
    pub environment: &'a Environment,
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
    /// What is made first, for a mount needs something to be mounted on.
    pub missing: Missing,
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
    /// Where git reads what it is not to look at, and what it reads there while the plan holds; none where there is no
    /// repository. What cannot be taken away would otherwise keep it from clearing up.
    pub exclude: Option<(PathBuf, String)>,
    /// Every held place, also those that lie in nothing writable and need no mount.
    guarded: Vec<PathBuf>,
    /// What was last looked for on the disk.
    searched: Searched,
    /// What was mounted when the plan was made; none where there is no such list.
    mounted: Option<Mounts>,
}

/// Returns the folders in which a judge of a person listens, whenever it is started.
pub fn own_sockets(roots: &Roots) -> Vec<PathBuf> {
    let of_state = roots.all(&STATE_DIR);
    let mut dirs: Vec<PathBuf> = of_state
        .map(|(dir, name)| dir.join(&*name).join("run"))
        .collect();
    for (dir, name) in roots.all(&SOCKET_DIR) {
        let dir = dir.join(&*name);
        if !dirs.iter().any(|known| dir.starts_with(known)) {
            dirs.push(dir);
        }
    }
    dirs
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
        if home.starts_with(&project) || opens(&project) {
            return Err(ShieldError::TooWide(project));
        }
        let shields = cache_dir.join("shield");
        let keep = shields.join(locations.project_name());
        let settings = request.settings;
        let mut given = vec![mount(&project, Access::Writable)];
        let mut missing = Vec::new();
        let mut private = Vec::new();
        let of_git = request.guards.of_git();
        let repository = &of_git.repository;
        if let Some(Repository { common, .. }) = repository
            && !common.starts_with(&project)
        {
            given.push(mount(common, Access::Writable));
        }
        let of_host = request.host.and_then(home_of);
        if let Some(folder) = of_host.and_then(|home| request.guards.roots().path(&home.folder)) {
            let folder = moved(&folder, locations, &project, &home);
            missing.extend(made(&folder, Nothing::Folder)?);
            given.push(mount(&folder, Access::Writable));
        }
        for path in &settings.write {
            let path = real(path)?;
            if opens(&path) {
                return Err(ShieldError::KeepsShut(path));
            }
            given.push(mount(&path, Access::Writable));
        }
        for name in CACHES {
            // A link cannot be mounted on; what it leads to can.
            let Ok(path) = home.join(name).canonicalize() else {
                continue;
            };
            if path.is_dir() {
                let own = keep.join("caches").join(name.replace('/', "-"));
                private.push(own.clone());
                given.push(mount(&path, Access::Private(own)));
            }
        }
        for path in &settings.devices {
            let path = without_dots(path);
            // Elsewhere it would be a folder or file that is written past every hold.
            if !path.starts_with("/dev") || path == Path::new("/dev") {
                return Err(ShieldError::KeepsShut(path));
            }
            given.push(mount(&path, Access::Device));
        }
        let (let_in, unset) = sockets_of(request);
        given.extend(let_in.iter().map(|path| mount(path, Access::Seen)));
        let is_unseen = is_replaced(request.program, opened(&given));
        if is_unseen {
            given.push(mount(request.program, Access::Seen));
        }
        let own = UNREAD.map(|name| state_dir.join(name));
        let hidden = settings.deny_read.iter().cloned();
        // What listens there later judges by what a caller says of itself.
        let judges = own_sockets(request.guards.roots());
        // Of these files each shield is made.
        let shields = shell::real(&shields);
        if opened(&given).any(|dir| shields.starts_with(dir)) {
            return Err(ShieldError::Shields(shields));
        }
        // Whoever reads a file can hold a lock of it: of what sessions have done, and of who needs what a shield has made.
        let locked = [SESSIONS, traces::DIR].map(|name| state_dir.join(name));
        let hidden = hidden.chain(own).chain(judges).chain(locked);
        for path in hidden.chain([shields.clone()]) {
            // What is a link is hidden where it leads. What is not there is told when it comes, unless it can be made inside.
            let path = shell::real(&path);
            if !path.exists() && opened(&given).any(|dir| path.starts_with(dir)) {
                continue;
            }
            if opens(&path) {
                return Err(ShieldError::KeepsShut(path));
            }
            if project.starts_with(&path) {
                return Err(ShieldError::HidesProject(path));
            }
            let access = if path.is_dir() {
                Access::HiddenFolder
            } else {
                Access::HiddenFile
            };
            given.push(mount(&path, access));
        }
        let lock = shell::real(&moved(&request.log.lock(), locations, &project, &home));
        if !is_replaced(&lock, opened(&given)) {
            missing.extend(made(&lock, Nothing::File)?);
            given.push(mount(&lock, Access::Emptied));
        }
        let mut held: Vec<PathBuf> = held(request.guards, &of_git, request.host)
            .into_iter()
            .chain([request.program.to_owned()])
            .flat_map(|path| places(&moved(&path, locations, &project, &home)))
            .collect();
        let mut warnings = Vec::new();
        let mounts = loop {
            let mounts = arrange(given.iter().cloned(), &held)?;
            let found = links::look(&held, &mounts, &FRESH, &shields)?;
            // What a link leads to may hold links itself.
            if found.led_to.iter().all(|path| held.contains(path)) {
                warnings.extend(found.of_many_names.iter().map(of_many_names));
                break mounts;
            }
            held.extend(found.led_to);
        };
        for Mount { path, access } in &mounts {
            if !matches!(access, Access::Held | Access::Way) {
                continue;
            }
            match path.symlink_metadata() {
                Ok(meta) if meta.is_symlink() => return Err(ShieldError::Link(path.clone())),
                Ok(meta) if *access == Access::Way && !meta.is_dir() => {
                    return Err(ShieldError::NotFolder(path.clone()));
                }
                Ok(_) => {}
                Err(_) => {
                    let is_way = *access == Access::Way;
                    let in_git = repository
                        .as_ref()
                        .is_some_and(|at| path.starts_with(&at.common));
                    let nothing = match in_git.then(|| Nothing::of_git(path)).flatten() {
                        Some(nothing) => nothing,
                        // Git would not go on with a folder in its place.
                        None if of_git.included.contains(path) => Nothing::File,
                        None if is_way || path.starts_with(&project) => Nothing::Folder,
                        None => Nothing::at(path),
                    };
                    missing.push((path.clone(), nothing));
                }
            }
        }
        let exclude = repository.as_ref().map(|at| excluded(at, &mounts));
        if let Some((path, _)) = &exclude
            && !path.exists()
        {
            missing.push((path.clone(), Nothing::File));
        }
        let log = places(&moved(request.log.path(), locations, &project, &home));
        if let Some(log) = log.iter().find(|log| is_open(&mounts, log)) {
            return Err(ShieldError::Log(log.clone()));
        }
        if request.is_root {
            warnings.push(
                "this is root: what root may do to the machine is not held; use a person's account"
                    .to_owned(),
            );
        }
        if cfg!(target_os = "linux") && !sockets::are_told().map_err(ShieldError::Sockets)? {
            warnings.push(
                "the kernel does not tell which files sockets are (`modprobe unix_diag`): one that was renamed, or bound by a \
                 relative name, is reachable"
                    .to_owned(),
            );
        }
        // Shields of other worktrees mount something in a repository, wherever it lies.
        let is_own = |path: &Path| {
            let mut repository = repository.iter();
            path.starts_with(&project) && !repository.any(|at| path.starts_with(&at.common))
        };
        let (own, shared) = missing.into_iter().partition(|(path, _)| is_own(path));
        let plan = Self {
            project,
            mounts,
            missing: Missing { own, shared },
            private,
            network: settings.network,
            is_root: request.is_root,
            unset,
            warnings,
            exclude,
            guarded: held,
            searched: Searched::default(),
            mounted: Mounts::seen().ok(),
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

    /// Returns where something was mounted since that can be written and reached inside.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn mounted_since(&self) -> io::Result<Option<PathBuf>> {
        let Some(before) = &self.mounted else {
            return Ok(None);
        };
        let now = Mounts::seen()?;
        let around = self.around();
        let came: Vec<&Path> = now.since(before).filter(|at| !around.is_away(at)).collect();
        if came.is_empty() {
            return Ok(None);
        }
        // What is closed to this person is closed inside.
        let seen = sockets::as_inside(|| came.iter().find(|at| at.metadata().is_ok()).copied());
        Ok(seen.map(Path::to_path_buf))
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

    fn around(&self) -> Around<'_> {
        Around {
            away: Box::new(|path| is_replaced(path, opened(&self.mounts))),
            open: opened(&self.mounts).collect(),
        }
    }

    /// Returns where something listens that could be reached inside.
    fn listening(&self) -> Result<BTreeSet<PathBuf>, ShieldError> {
        let around = self.around();
        sockets::as_inside(|| sockets::listening(&around, &self.searched))
            .map_err(ShieldError::Sockets)
    }

    /// Returns the held places.
    pub fn held(&self) -> impl Iterator<Item = &Path> {
        self.with(|access| *access == Access::Held)
    }

    /// Returns the places that are held, hidden or emptied only for as long as what lies there is what was mounted on.
    pub fn kept(&self) -> impl Iterator<Item = &Path> {
        let is_seen = |path: &&Path| !is_replaced(path, opened(&self.mounts));
        let kept = self.with(|access| {
            use Access::{Emptied, Held, HiddenFile, HiddenFolder};
            matches!(access, Held | HiddenFile | HiddenFolder | Emptied)
        });
        kept.filter(is_seen)
    }

    /// Whether what runs inside may be given a file that is open already: no mount holds that. What is open to be read can be
    /// opened again to be written, so only what is to be written may lie where nothing is writable inside.
    ///
    /// # Errors
    /// Where else the file is seen cannot be told.
    pub fn may_be_given(&self, file: &Path, is_to_be_written: bool) -> io::Result<bool> {
        let mut paths = vec![file.to_owned()];
        if cfg!(target_os = "linux") {
            paths.extend(Mounts::seen()?.others(file));
        }
        Ok(paths.iter().all(|path| {
            let mut guarded = self.guarded.iter();
            let is_held = guarded.any(|place| path.starts_with(place));
            let nearest = nearest(&self.mounts, path).map(|mount| &mount.access);
            !is_held
                && match nearest {
                    Some(Access::Writable | Access::Way) => true,
                    None | Some(Access::Private(_)) => is_to_be_written,
                    Some(_) => false,
                }
        }))
    }

    /// Returns the places with some access.
    pub fn with(&self, wanted: impl Fn(&Access) -> bool) -> impl Iterator<Item = &Path> {
        self.mounts
            .iter()
            .filter(move |mount| wanted(&mount.access))
            .map(|mount| mount.path.as_path())
    }
}

/// Whether what is mounted at a path would take the place of something that a shield has of its own.
fn opens(path: &Path) -> bool {
    let holds = OWN.iter().any(|own| Path::new(own).starts_with(path));
    holds || OWN_WHOLE.iter().any(|own| path.starts_with(own))
}

fn mount(path: &Path, access: Access) -> Mount {
    Mount {
        path: path.to_owned(),
        access,
    }
}

/// Says which files can be written by a name that no mount holds.
fn of_many_names((place, count, path): &(PathBuf, usize, PathBuf)) -> String {
    let (place, path) = (place.display(), path.display());
    format!(
        "`{place}`: {count} held files have further names, by which they can be written, such as `{path}`"
    )
}

/// Returns what is opened for writing.
fn opened(mounts: &[Mount]) -> impl Iterator<Item = &Path> {
    let open = mounts.iter().filter(|m| m.access == Access::Writable);
    open.map(|mount| mount.path.as_path())
}

/// Whether what lies at a path is reached by no path inside: the folder is another one there, and nothing is opened in it.
fn is_replaced<'a>(path: &Path, mut open: impl Iterator<Item = &'a Path>) -> bool {
    REPLACED.iter().any(|dir| path.starts_with(dir)) && !open.any(|dir| path.starts_with(dir))
}

/// Whether a file could be renamed inside: what is mounted nearest above it is writable.
fn is_open(mounts: &[Mount], file: &Path) -> bool {
    // A file that is held itself lies in a folder that is not.
    nearest(mounts, file).is_some_and(|mount| {
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

/// Returns the file in which a repository says what git is not to look at, and its lines with the held places of the working
/// tree in which nothing is.
fn excluded(repository: &Repository, mounts: &[Mount]) -> (PathBuf, String) {
    let path = repository.common.join("info/exclude");
    // A pipe would be waited for.
    let said = path.is_file().then(|| fs::read(&path).ok()).flatten();
    let mut text = String::from_utf8_lossy(&said.unwrap_or_default()).into_owned();
    let top = repository.dot_git.parent().unwrap_or(&repository.dot_git);
    let is_empty =
        |path: &Path| fs::read_dir(path).map_or(!path.exists(), |mut dir| dir.next().is_none());
    let held = mounts
        .iter()
        .filter(|mount| matches!(mount.access, Access::Held | Access::Emptied));
    for Mount { path, .. } in held {
        if let (Ok(inside), true) = (path.strip_prefix(top), is_empty(path)) {
            text.push_str("\n/");
            for c in inside.to_string_lossy().chars() {
                let is_special = matches!(c, '*' | '?' | '[' | '\\' | ' ');
                text.extend(is_special.then_some('\\'));
                text.push(c);
            }
        }
    }
    text.push('\n');
    (path, text)
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
    // A link to a socket is what programs are told of; the socket is what is let in.
    let there = |path: &Path| real(path).unwrap_or_else(|_| without_dots(path));
    let environment = request.environment;
    let mut sockets = BTreeSet::new();
    for named in &request.settings.sockets {
        if named.as_os_str() == "ssh-agent" {
            let agent = environment.get("SSH_AUTH_SOCK");
            sockets.extend(agent.map(|path| there(Path::new(path))));
        } else {
            sockets.insert(there(named));
        }
    }
    let leads_in = |name: &str| {
        let path = environment.get(name).and_then(path_in);
        path.is_some_and(|path| sockets.contains(&there(Path::new(&path))))
    };
    let mut unset = LEADING_OUT.to_vec();
    unset.retain(|name| !leads_in(name));
    (sockets, unset)
}

/// Returns the path in what a variable says of a socket: `/s`, `unix:///s`, `unix:path=/s,guid=1`, `/s:12:1`.
fn path_in(value: &str) -> Option<String> {
    let (_, behind) = value.split_once('/')?;
    let path = behind
        .trim_start_matches('/')
        .split([',', ':', ';'])
        .next()?;
    Some(format!("/{path}"))
}
