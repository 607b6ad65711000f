//! Identity: who a record is of, as it may leave the machine: hashes that stay equal, and names only where a person asked.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use ahp::config::{Detail, Environment, FleetSettings, Locations, Settings};
use ahp::process::Program;
use ahp::random;
use sha2::{Digest as _, Sha256};

use crate::error::FleetError;

/// How long git may take to name the remote.
const PATIENCE: Duration = Duration::from_secs(5);

/// What identifies the rows of one log.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    salt: Vec<u8>,
    names: bool,
    pub(crate) detail: Detail,
    machine: String,
    host_name: String,
    remote: Option<String>,
    team: Option<String>,
    user: Option<String>,
}

impl Identity {
    /// Finds who this machine is, for the log of a project.
    ///
    /// # Errors
    /// There is no machine id, or no salt can be read or made.
    pub(crate) fn find(
        environment: &Environment,
        settings: &Settings,
        team: Option<String>,
        project: Option<&Path>,
    ) -> Result<Self, FleetError> {
        let fleet = &settings.fleet;
        let salt = if let Some(salt) = &fleet.salt {
            salt.clone().into_bytes()
        } else {
            let state = Locations::find(environment, None).state_dir;
            own_salt(&state.ok_or(FleetError::NoHome)?)?
        };
        if salt.len() < FleetSettings::LEAST_SALT {
            return Err(FleetError::ShortSalt(salt.len()));
        }
        Ok(Self {
            salt,
            names: fleet.names,
            detail: fleet.detail,
            machine: machine_id(environment)?,
            host_name: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            remote: project.and_then(remote),
            team,
            user: environment
                .get("USER")
                .or(environment.get("LOGNAME"))
                .map(str::to_owned),
        })
    }

    /// The first 16 hexadecimal digits of SHA-256(salt, a zero byte, text).
    pub(crate) fn hash(&self, text: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(&self.salt);
        hash.update([0]);
        hash.update(text.as_bytes());
        let mut digits = hex(&hash.finalize());
        digits.truncate(16);
        digits
    }

    /// A value that is shown as it is only where names are asked for.
    pub(crate) fn veiled(&self, text: &str) -> String {
        if self.names || text.is_empty() {
            text.to_owned()
        } else {
            self.hash(text)
        }
    }

    /// Whether names leave as they are.
    pub(crate) const fn names(&self) -> bool {
        self.names
    }

    /// The `machine` column.
    pub(crate) fn machine(&self) -> String {
        if self.names {
            self.host_name.clone()
        } else {
            self.hash(&self.machine)
        }
    }

    /// The `log_id` column: which log, and after how many new beginnings. The hash of its first record tells it from another
    /// one at the same path: containers of one image have one machine id, and begin with nothing noted.
    pub(crate) fn log_id(&self, log: &Path, generation: u32, first: Option<&str>) -> String {
        let path = fs::canonicalize(log).unwrap_or_else(|_| log.to_owned());
        let mut name = format!("{}\0{}\0{generation}", self.machine, path.display());
        if let Some(first) = first {
            name.extend(["\0", first]);
        }
        self.hash(&name)
    }

    /// The `repo` column.
    pub(crate) fn repo(&self) -> Option<String> {
        self.remote.as_deref().map(|remote| self.veiled(remote))
    }

    /// The `team` column: a project may call its team anything, so what has not the form of a name is hashed.
    pub(crate) fn team(&self) -> Option<String> {
        let team = self.team.as_deref()?;
        Some(if is_name(team) {
            team.to_owned()
        } else {
            self.veiled(team)
        })
    }

    /// The `user` column: none unless names are asked for.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref().filter(|_| self.names)
    }
}

/// Whether a text has the form of a name: no path, no command and no address has. What a server of MCP calls its tools has
/// it too, and is told by no column.
pub(crate) fn is_name(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_of_server = text.starts_with("mcp__");
    let is_short = !text.is_empty() && text.len() <= MOST_OF_NAME;
    is_short && !is_of_server && text.chars().all(is_of_name)
}

/// Keys and tokens are longer than names.
const MOST_OF_NAME: usize = 64;

/// The salt of this machine, made at the first use: then its hashes mean nothing beside those of other machines.
fn own_salt(state: &Path) -> Result<Vec<u8>, FleetError> {
    let path = state.join("fleet-salt");
    match fs::read(&path) {
        Ok(salt) => return Ok(salt),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(FleetError::io("read", &path, error)),
    }
    // Two random uuids hold 244 random bits.
    let salt = format!("{}{}", random::id().simple(), random::id().simple());
    crate::disk::write_new_private(&path, salt.as_bytes())?;
    // Another process may have been first: its salt is the one that counts.
    fs::read(&path).map_err(|error| FleetError::io("read", &path, error))
}

/// The id that the system gives this machine. `AHP_MACHINE_ID` stands over it where a container has the id of its image.
pub(crate) fn machine_id(environment: &Environment) -> Result<String, FleetError> {
    if let Some(id) = environment.get("AHP_MACHINE_ID") {
        return Ok(id.to_owned());
    }
    for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
        if let Ok(id) = fs::read_to_string(path)
            && !id.trim().is_empty()
        {
            return Ok(id.trim().to_owned());
        }
    }
    if cfg!(target_os = "macos") {
        let argv = ["ioreg", "-rd1", "-c", "IOPlatformExpertDevice"].map(str::to_owned);
        let told = Program::new(argv.to_vec())
            .run()
            .ok()
            .map(|done| done.stdout_text());
        let id = told.as_deref().and_then(|text| {
            text.split("\"IOPlatformUUID\" = \"")
                .nth(1)?
                .split('"')
                .next()
        });
        if let Some(id) = id {
            return Ok(id.to_owned());
        }
    }
    Err(FleetError::NoMachineId)
}

/// The remote `origin` of a project as host and path.
fn remote(project: &Path) -> Option<String> {
    let argv = ["git", "config", "--get", "remote.origin.url"].map(str::to_owned);
    let done = Program::new(argv.to_vec())
        .dir(project)
        .deadline(Some(Instant::now() + PATIENCE))
        .run()
        .ok()?;
    normal_remote(done.stdout_text().trim())
}

/// A remote without scheme, user, port and `.git`, in lower case: the same whether it is reached by ssh or https.
fn normal_remote(url: &str) -> Option<String> {
    let (rest, has_scheme) = url
        .split_once("://")
        .map_or((url, false), |(_, rest)| (rest, true));
    // A remote may hold what proves who asks: before the last `@` of the host, or behind `?`. Neither names the repository.
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let end = rest.find('/').unwrap_or(rest.len());
    let rest = match rest.get(..end).and_then(|host| host.rfind('@')) {
        Some(at) => rest.get(at + 1..).unwrap_or_default(),
        None => rest,
    };
    let (host, path) = match rest.split_once(if has_scheme { '/' } else { ':' }) {
        Some(parts) => parts,
        None => rest.split_once('/')?,
    };
    let host = if has_scheme {
        host.split(':').next()?
    } else {
        host
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}").to_lowercase())
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        let digit = |n: u8| char::from_digit(n.into(), 16).unwrap_or('0');
        digits.extend([digit(byte >> 4), digit(byte & 15)]);
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_remote_is_one_however_it_is_reached() {
        for url in [
            "https://github.com/Acme/Shop.git",
            "https://token@github.com/acme/shop",
            "ssh://git@github.com:22/acme/shop.git",
            "git@github.com:acme/shop.git",
            "https://ada:p@ss@github.com/acme/shop.git",
            "https://ada:p@ss:w@github.com:443/acme/shop",
            "https://github.com/acme/shop.git?private_token=abc",
            "https://github.com/acme/shop#token=abc",
        ] {
            assert_eq!(
                normal_remote(url).as_deref(),
                Some("github.com/acme/shop"),
                "{url}"
            );
        }
        assert_eq!(normal_remote(""), None);
        assert_eq!(normal_remote("nowhere"), None);
    }
}
