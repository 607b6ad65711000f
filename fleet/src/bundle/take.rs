//! Take: what a bundle must be before it is put in force, in the order in which it is asked.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ahp::config::Environment;
use ahp::engine::{Clock as _, SystemClock};
use chrono::{DateTime, Utc};

use super::archive::{self, Files};
use super::manifest::{Manifest, digest};
use super::store::Store;
use super::{Machine, read, say, signature};
use crate::error::FleetError;
use crate::identity::machine_id;

/// The signature of a bundle lies beside it, under this name behind its own.
pub(super) const SIGNATURE: &str = ".minisig";

#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {
    /// The bundle; its signature lies beside it as `FILE.minisig`
    file: PathBuf,
    /// A public key, or the file of one; else those of `settings.fleet.bundle.keys`
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,
    #[command(flatten)]
    machine: Machine,
}

#[derive(Debug, clap::Args)]
pub(super) struct InstallArgs {
    /// The bundle; its signature lies beside it as `FILE.minisig`
    file: PathBuf,
    /// Take it whatever share of the machines it is for
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    machine: Machine,
}

#[derive(Debug, clap::Args)]
pub(super) struct RollbackArgs {
    #[command(flatten)]
    machine: Machine,
}

/// What became of a bundle that is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It is in force now.
    Activated,
    /// It was so before.
    Already,
    /// It is not for this machine yet: this share takes it.
    Later(u32),
    /// Somebody has taken it back here.
    RolledBack,
}

/// Verifies a file against keys.
pub(super) fn verify(args: &VerifyArgs) -> Result<ExitCode, FleetError> {
    let keys = if args.key.is_empty() {
        signature::configured(args.machine.fleet()?.bundle.as_ref())?
    } else {
        signature::named(&args.key)?
    };
    let (packed, signature) = both(&args.file)?;
    let (manifest, _) = opened(&packed, &signature, &keys).map_err(|told| at(&args.file, &told))?;
    manifest
        .check_now(SystemClock.now())
        .map_err(|told| at(&args.file, &told))?;
    let (id, version) = (&manifest.id, manifest.version);
    let (files, until) = (manifest.files.len(), manifest.expires);
    let share = manifest.rollout.percent;
    say(&format!(
        "{id}@{version} is signed and whole: {files} files, expires {until}, for {share} of 100 machines"
    ))
}

/// Puts a file in force.
pub(super) fn install(
    environment: &Environment,
    args: &InstallArgs,
) -> Result<ExitCode, FleetError> {
    let store = args.machine.store_to_write()?;
    let keys = signature::configured(args.machine.fleet()?.bundle.as_ref())?;
    let (packed, signature) = both(&args.file)?;
    let offer = Offer {
        keys: &keys,
        machine: &machine_id(environment)?,
        now: SystemClock.now(),
        is_by_hand: true,
        is_whole: args.whole,
    };
    let (manifest, taken) = offer
        .take(&store, &packed, &signature)
        .map_err(|told| at(&args.file, &told))?;
    say(&told(&manifest, taken))
}

/// Puts the bundle in force again that was so before.
pub(super) fn rollback(args: &RollbackArgs) -> Result<ExitCode, FleetError> {
    let store = args.machine.store_to_write()?;
    let _alone = store.lock()?;
    let mut state = store.state()?;
    let now = store.in_force()?;
    state.catch_up(now.as_ref());
    let (Some(now), Some(before)) = (now, state.previous) else {
        return Err(FleetError::Refused(
            "there is no bundle from before that could be put in force again".to_owned(),
        ));
    };
    let earlier = store.read_manifest(&now.id, before)?;
    store.activate(&now.id, before)?;
    state.describe(&earlier, None);
    state.previous = None;
    state.rolled_back = Some(now.version);
    store.save(&state)?;
    say(&format!(
        "{}@{before} is in force again; {} is not taken from the server any more, what comes after it is",
        now.id, now.version
    ))
}

/// What a bundle is held against.
pub(super) struct Offer<'a> {
    pub(super) keys: &'a [minisign_verify::PublicKey],
    pub(super) machine: &'a str,
    pub(super) now: DateTime<Utc>,
    /// Whether a person wants this very one.
    pub(super) is_by_hand: bool,
    /// Whether it is taken whatever share of the machines it is for.
    pub(super) is_whole: bool,
}

impl Offer<'_> {
    /// Puts a bundle in force, if it is all that it must be; else the old one stays.
    ///
    /// # Errors
    /// What it is not.
    pub(super) fn take(
        &self,
        store: &Store,
        packed: &[u8],
        signature: &str,
    ) -> Result<(Manifest, Taken), FleetError> {
        let (manifest, files) = opened(packed, signature, self.keys)?;
        let _alone = store.lock()?;
        let (mut state, current) = (store.state()?, store.in_force()?);
        state.catch_up(current.as_ref());
        let digest = digest(packed);
        if let Some(known) = state.id.as_ref().filter(|known| **known != manifest.id) {
            return Err(FleetError::Refused(format!(
                "it is of `{}`, and this machine has the policy of `{known}`; to change over, remove `{}` first",
                manifest.id,
                store.0.display()
            )));
        }
        let in_force = current.as_ref().map_or(0, |current| current.version);
        let highest = state.highest.max(in_force);
        if manifest.version < highest {
            return Err(FleetError::Refused(format!(
                "it is version {}, and this machine has had version {highest}; give the old content a new version",
                manifest.version
            )));
        }
        if let Some(current) = current.as_ref().filter(|c| c.version == manifest.version) {
            if *current != manifest {
                return Err(FleetError::Refused(format!(
                    "version {} is in force with another content; a change needs a new version",
                    manifest.version
                )));
            }
            state.describe(&manifest, Some(digest));
            store.save(&state)?;
            return Ok((manifest, Taken::Already));
        }
        if manifest.version == state.highest && state.has_seen_other_than(&digest) {
            return Err(FleetError::Refused(format!(
                "this machine has seen version {} with another content; a change needs a new version",
                manifest.version
            )));
        }
        // A clock that was set back makes nothing young again.
        manifest.check_now(state.checked_at.map_or(self.now, |then| then.max(self.now)))?;
        if state.rolled_back == Some(manifest.version) && !self.is_by_hand {
            return Ok((manifest, Taken::RolledBack));
        }
        // A machine without any policy takes what there is.
        if current.is_some() && !self.is_whole && !manifest.takes(self.machine) {
            let percent = manifest.rollout.percent;
            // Who goes back to an older one gives it to this machine as little as to those that took it.
            state.see(&manifest, Some(&digest));
            store.save(&state)?;
            return Ok((manifest, Taken::Later(percent)));
        }
        let staged = store.stage(&manifest, &files)?;
        staged.check()?;
        staged.settle(store, &manifest)?;
        store.activate(&manifest.id, manifest.version)?;
        state.previous = current.map(|current| current.version);
        state.rolled_back = None;
        state.describe(&manifest, Some(digest));
        store.save(&state)?;
        store.tidy(&state, &manifest);
        Ok((manifest, Taken::Activated))
    }
}

/// Opens a bundle whose signature is good and for it.
fn opened(
    packed: &[u8],
    signature: &str,
    keys: &[minisign_verify::PublicKey],
) -> Result<(Manifest, Files), FleetError> {
    let comment = signature::verify(packed, signature, keys)?;
    let (manifest, files) = archive::unpack(packed)?;
    let expected = manifest.comment();
    if comment == expected {
        Ok((manifest, files))
    } else {
        Err(FleetError::Refused(format!(
            "its signature is for `{comment}`, and the bundle is `{expected}`"
        )))
    }
}

/// Says what became of it.
pub(super) fn told(manifest: &Manifest, taken: Taken) -> String {
    let name = format!("{}@{}", manifest.id, manifest.version);
    match taken {
        Taken::Activated => format!("{name} is in force, until {}", manifest.expires),
        Taken::Already => format!("{name} is in force already"),
        Taken::Later(percent) => format!(
            "{name} is for {percent} of 100 machines, and this is not one of them; what is in force stays"
        ),
        Taken::RolledBack => format!("{name} was rolled back here; the next version is taken"),
    }
}

/// Reads a bundle and its signature.
fn both(file: &Path) -> Result<(Vec<u8>, String), FleetError> {
    let mut beside = file.to_owned().into_os_string();
    beside.push(SIGNATURE);
    let signature = read(beside.as_ref())?;
    Ok((
        read(file)?,
        String::from_utf8_lossy(&signature).into_owned(),
    ))
}

/// Names the file that something is wrong with.
fn at(file: &Path, told: &FleetError) -> FleetError {
    FleetError::Refused(format!("`{}` is not taken: {told}", file.display()))
}
