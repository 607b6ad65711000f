//! Cargo: the lock file in step, and every crate at hand offline.

use super::manifest::{Fault, Manifest};
use super::toml;
use crate::oracle::OracleError;
use crate::oracle::wording::shortened;
use crate::process::{Finished, installed};

impl Manifest<'_> {
    pub(super) fn cargo(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
        if let Err(error) = toml::read(text) {
            return Ok(vec![self.broken(&error)]);
        }
        // A member of a workspace has its lock file in a directory above.
        let above = self.context.root().join(self.dir);
        let is_locked = above.ancestors().any(|dir| dir.join("Cargo.lock").exists());
        if !is_locked {
            return Ok(vec![self.unlocked("", "cargo generate-lockfile")]);
        }
        if !self.context.workspace().is_on_disk() {
            return Ok(Vec::new());
        }
        if installed("cargo").is_none() {
            return Err(OracleError::failed(format!(
                "`cargo` is not installed, so that nobody can tell whether the dependencies of `{}` are at hand",
                self.path
            )));
        }
        let mut finished = self.metadata(&[])?;
        // A crate that only another system needs is seldom at hand: a build here does without it.
        if !finished.exit.is_success()
            && is_absent(&finished.stderr_text())
            && let Some(platform) = self.platform()?
        {
            finished = self.metadata(&["--filter-platform", &platform])?;
        }
        if finished.exit.is_success() {
            return Ok(Vec::new());
        }
        let said = finished.stderr_text();
        if said.contains("--locked was passed")
            || said.contains("needs to be updated")
            || said.contains("cannot update the lock file")
        {
            return Ok(vec![self.fault(
                format!("the lock file is out of step with `{}`", self.path),
                format!(
                    "{} and keep the new `Cargo.lock`",
                    self.command("cargo update --workspace")
                ),
            )]);
        }
        let reason: Vec<&str> = said
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty() && !l.starts_with("Caused by"))
            .take(3)
            .collect();
        let reason = shortened(&reason.join(" "), 300);
        let remedy = if is_absent(&said) {
            self.command("cargo fetch")
        } else {
            format!("fix `{}`", self.path)
        };
        Ok(vec![self.fault(
            format!(
                "the dependencies of `{}` cannot be resolved: {}",
                self.path,
                reason.trim_start_matches("error: ")
            ),
            remedy,
        )])
    }

    /// Resolves the dependencies as they are locked, from what is at hand.
    fn metadata(&self, more: &[&str]) -> Result<Finished, OracleError> {
        let command = "cargo metadata --locked --offline --format-version 1 --quiet";
        self.run(&[&command.split(' ').collect::<Vec<_>>(), more].concat())
    }

    /// Returns the platform that the compiler builds for here; none where it does not say.
    fn platform(&self) -> Result<Option<String>, OracleError> {
        if installed("rustc").is_none() {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&self.run(&["rustc", "-vV"])?.stdout).into_owned();
        let host = said.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(host.map(|host| host.trim().to_owned()))
    }
}

/// Whether cargo says that something is not at hand.
fn is_absent(said: &str) -> bool {
    ["offline", "failed to download", "no matching package"]
        .iter()
        .any(|words| said.contains(words))
}
