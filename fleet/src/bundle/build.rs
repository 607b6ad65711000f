//! Build: a directory becomes the file of a bundle, the same bytes from the same tree.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ahp::config::parse_duration;
use ahp::engine::{Clock as _, SystemClock};
use chrono::{DateTime, SubsecRound as _, Utc};

use super::archive::{self, Files};
use super::manifest::{Manifest, OnExpired, Rollout, digest, is_id};
use super::{say, store};
use crate::disk::{self, Mode};
use crate::error::FleetError;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The directory: `hooks.yaml`, `packs/*.yaml`, `oracles/*.rhai`, `hooks/NAME/…`
    dir: PathBuf,
    /// The name of the policy, which stays the same: small letters, digits and hyphens
    #[arg(long)]
    id: String,
    /// Its version: higher than every one before
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    version: u64,
    /// How long it may be in force, such as `30d`, or until when (RFC 3339)
    #[arg(long, value_name = "DURATION|TIME", value_parser = moment)]
    expires: Moment,
    /// From when on it may be in force
    #[arg(long, value_name = "TIME")]
    not_before: Option<DateTime<Utc>>,
    /// The oldest `ahp` that it is for
    #[arg(long, value_name = "VERSION", default_value = env!("CARGO_PKG_VERSION"))]
    min_ahp: String,
    /// How many of a hundred machines take it; the others keep what they have
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=100))]
    rollout: u32,
    /// What machines do that have nothing newer when it expires
    #[arg(long, value_enum, default_value_t)]
    on_expired: OnExpired,
    /// Where the bundle is written
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug)]
enum Moment {
    In(Duration),
    At(DateTime<Utc>),
}

fn moment(text: &str) -> Result<Moment, String> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(Moment::At(time.to_utc()));
    }
    let days: Option<u16> = text.strip_suffix('d').and_then(|days| days.parse().ok());
    match days {
        Some(days) => Ok(Moment::In(Duration::from_hours(u64::from(days) * 24))),
        None => parse_duration(text).map(Moment::In),
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode, FleetError> {
    if !is_id(&args.id) {
        return Err(FleetError::Refused(format!(
            "`{}` is not an id: expected 1 to 64 small letters, digits and hyphens",
            args.id
        )));
    }
    let now = SystemClock.now().trunc_subsecs(0);
    let expires = match args.expires {
        Moment::At(time) => Some(time),
        Moment::In(duration) => chrono::Duration::from_std(duration)
            .ok()
            .and_then(|duration| now.checked_add_signed(duration)),
    };
    let expires = expires.filter(|time| *time > now).ok_or_else(|| {
        FleetError::Refused("`--expires` must be a time that is still to come".to_owned())
    })?;
    let files = archive::collect(&args.dir)?;
    let digests = files.iter();
    let manifest = Manifest {
        ahp_bundle: Manifest::form(),
        id: args.id.clone(),
        version: args.version,
        not_before: args.not_before,
        expires,
        min_ahp: args.min_ahp.clone(),
        rollout: Rollout {
            percent: args.rollout,
        },
        on_expired: args.on_expired,
        files: digests
            .map(|(name, (content, _))| (name.clone(), digest(content)))
            .collect(),
    };
    manifest.check_now(args.not_before.unwrap_or(now).max(now))?;
    check(args, &manifest, &files)?;
    let packed = archive::pack(&manifest.write(), &files)?;
    disk::write_whole(&args.out, &packed, Mode::Shared)?;
    let (out, comment) = (args.out.display(), manifest.comment());
    say(&format!(
        "{out}: {} files, {} bytes, expires {expires}\nsign it: minisign -Sm {out} -t \"{comment}\"",
        files.len(),
        packed.len(),
    ))
}

/// Holds a policy against all that `ahp check` knows, before anybody signs it.
fn check(args: &Args, manifest: &Manifest, files: &Files) -> Result<(), FleetError> {
    let name = format!(".{}-{}.{}", args.id, args.version, std::process::id());
    let staged = store::Staged::lay_down(args.out.with_file_name(name), manifest, files)?;
    staged.check()
}
