//! ahp-fleet bundle: policy that is made in one place, signed, and put in force on many machines.
//!
//! Signatures are `minisign`'s. `ahp hook` verifies none: it reads what lies in force, where only the machine's owner writes.

mod archive;
mod break_glass;
mod build;
mod manifest;
mod pull;
mod signature;
mod status;
mod store;
mod take;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ahp::config::{Config, Environment, FleetSettings, Locations, Override, Settings};

use self::store::Store;
use crate::error::FleetError;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a bundle of a directory, ready to be signed with `minisign`
    Build(build::Args),
    /// Say whether a bundle is whole and signed; nothing is changed
    Verify(take::VerifyArgs),
    /// Put a bundle in force on this machine
    Install(take::InstallArgs),
    /// Fetch the newest bundle from `settings.fleet.bundle.url`, and put it in force
    Pull(pull::Args),
    /// Say which bundle is in force
    Status(status::Args),
    /// Put the bundle in force again that was so before
    Rollback(take::RollbackArgs),
    /// Weaken locked bindings to advice for some hours
    BreakGlass(break_glass::Args),
}

pub(crate) fn run(environment: &Environment, args: &Args) -> Result<ExitCode, FleetError> {
    match &args.command {
        Command::Build(args) => build::run(args),
        Command::Verify(args) => take::verify(args),
        Command::Install(args) => take::install(environment, args),
        Command::Pull(args) => pull::run(environment, args),
        Command::Status(args) => status::run(args),
        Command::Rollback(args) => take::rollback(args),
        Command::BreakGlass(args) => break_glass::run(environment, args),
    }
}

/// The machine that a policy is for.
#[derive(Debug, clap::Args)]
struct Machine {
    /// The root of its files, for an image that is being made
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

impl Machine {
    /// Where its bundles lie.
    fn store(&self) -> Store {
        Store(self.root.join("etc/ahp/bundle"))
    }

    /// The same, for whoever may write there.
    ///
    /// # Errors
    /// Only root changes the policy of a machine that runs.
    fn store_to_write(&self) -> Result<Store, FleetError> {
        if self.root == Path::new("/") && !rustix::process::geteuid().is_root() {
            return Err(FleetError::Refused(
                "only root changes the policy of a machine: run it with `sudo`".to_owned(),
            ));
        }
        Ok(self.store())
    }

    /// What the machine's owner has set, in the bundle that is in force and in `/etc/ahp/hooks.yaml`.
    ///
    /// # Errors
    /// The file has faults: what its owner meant is not known.
    fn settings(&self) -> Result<Settings, FleetError> {
        let path = self.root.join("etc/ahp/hooks.yaml");
        let locations = Locations {
            system_layer: Some(path),
            ..Locations::of_project(self.store().0.join(".none"))
        };
        let loaded = Config::load(&locations);
        if loaded.is_broken() {
            let faults = loaded.diagnostics.iter().filter(|fault| fault.is_error());
            let first = faults.map(|fault| fault.one_line(&loaded.sources)).next();
            return Err(FleetError::Policy(first.unwrap_or_default()));
        }
        Ok(loaded.config.settings)
    }

    fn fleet(&self) -> Result<FleetSettings, FleetError> {
        self.settings().map(|settings| settings.fleet)
    }

    /// The policy of the bundle that is in force and of `/etc/ahp/hooks.yaml`.
    fn in_force(&self) -> Config {
        let locations = Locations {
            bundle_dir: Some(self.store().0),
            administrator: rustix::process::geteuid().as_raw(),
            system_layer: Some(self.root.join("etc/ahp/hooks.yaml")),
            ..Locations::of_project(self.store().0.join(".none"))
        };
        Config::load(&locations).config
    }

    /// Whether the machine's owner lets nobody break the glass.
    fn forbids_break_glass(&self, in_force: &Config) -> Result<bool, FleetError> {
        let of_system = self.settings()?.forbid.contains(&Override::BreakGlass);
        Ok(of_system || in_force.settings.forbid.contains(&Override::BreakGlass))
    }
}

/// Says on standard output what was asked for or done.
fn say(text: &str) -> Result<ExitCode, FleetError> {
    let written = writeln!(std::io::stdout().lock(), "{text}");
    written.map_err(|error| FleetError::io("write", "standard output".as_ref(), error))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a file that somebody named.
fn read(path: &Path) -> Result<Vec<u8>, FleetError> {
    fs::read(path).map_err(|error| FleetError::io("read", path, error))
}
