//! Obstacle: why the kernel does not let a shield be made here, told by the words of `bwrap`, and what helps.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::process::{Program, is_executable};

/// Where `bwrap` is taken from: not from the search path, which others write.
const BUBBLEWRAP: &str = "/usr/bin/bwrap";

/// How long the trial may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The profile by which AppArmor lets `bwrap` make user namespaces.
const PROFILE: &str = "abi <abi/4.0>,
include <tunables/global>
profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
  include if exists <local/bwrap>
}";

/// Why there can be no shield.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// `bwrap` is not installed.
    NotInstalled,
    /// AppArmor keeps it from mapping users.
    AppArmor,
    /// There may be no user namespaces, or no more of them.
    NoNamespaces(String),
    /// A container keeps it from making namespaces.
    Container(String),
    /// Something else.
    Other(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInstalled => f.write_str(
                "there is no `/usr/bin/bwrap`: install bubblewrap with `apt install bubblewrap`, `dnf install \
                 bubblewrap` or `pacman -S bubblewrap`",
            ),
            Self::AppArmor => write!(
                f,
                "AppArmor lets no program make user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1): load \
                 the profile `bwrap-userns-restrict` of the package apparmor-profiles, or write this to \
                 /etc/apparmor.d/bwrap and run `apparmor_parser -r /etc/apparmor.d/bwrap`:\n{PROFILE}"
            ),
            Self::NoNamespaces(why) => write!(
                f,
                "this machine lets nobody make user namespaces ({why}): root can change that with `sysctl \
                 user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1`"
            ),
            Self::Container(why) => write!(
                f,
                "this container may not make namespaces ({why}): hold the places from outside, with the options that \
                 `ahp shield --dry-run --format docker` prints"
            ),
            Self::Other(why) => write!(f, "bwrap cannot make it: {why}"),
        }
    }
}

/// Returns `bwrap`, the program of the system.
///
/// # Errors
/// It is not installed.
pub fn bubblewrap() -> Result<PathBuf, Obstacle> {
    let path = PathBuf::from(BUBBLEWRAP);
    if is_executable(&path) {
        Ok(path)
    } else {
        Err(Obstacle::NotInstalled)
    }
}

impl Obstacle {
    /// Runs `/bin/true` in a shield: the command that would start one, without what it is to start.
    ///
    /// # Errors
    /// It did not run.
    pub fn try_out(mut start: Vec<String>, dir: &Path) -> Result<(), Self> {
        start.extend(["--", "/bin/true"].map(str::to_owned));
        let finished = Program::new(start)
            .dir(dir)
            .deadline(Some(Instant::now() + PATIENCE))
            .run()
            .map_err(|error| Self::Other(error.to_string()))?;
        if finished.exit.is_success() {
            return Ok(());
        }
        Err(Self::of(finished.stderr_text().trim()))
    }

    /// Reads what `bwrap` says.
    fn of(said: &str) -> Self {
        let said = said.to_owned();
        if said.contains("setting up uid map: Permission denied") {
            Self::AppArmor
        } else if said.contains("nesting depth or") {
            Self::NoNamespaces(said)
        } else if said.contains("No permissions to create")
            || said.contains("Creating new namespace failed")
        {
            Self::Container(said)
        } else {
            Self::Other(said)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_told_by_what_bwrap_says_of_it() {
        for (said, told) in [
            (
                "bwrap: setting up uid map: Permission denied",
                "apparmor_parser",
            ),
            (
                "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
                "sysctl",
            ),
            (
                "bwrap: No permissions to create new namespace, likely because the kernel does not allow …",
                "--format docker",
            ),
            (
                "bwrap: Creating new namespace failed: Operation not permitted",
                "--format docker",
            ),
            ("bwrap: Can't mkdir /x: Read-only file system", "/x"),
        ] {
            assert!(Obstacle::of(said).to_string().contains(told), "{said}");
        }
    }
}
