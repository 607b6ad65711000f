//! Manifest: what a bundle says of itself, and what it must hold to be taken.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::store::json;
use crate::error::FleetError;
use crate::identity::hex;

/// The form of bundles that this program knows.
const FORM: u32 = 1;
/// The name of the manifest, which is the first file of a bundle.
pub(super) const NAME: &str = "manifest.json";

/// `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) ahp_bundle: u32,
    pub(super) id: String,
    /// It only rises.
    pub(super) version: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) not_before: Option<DateTime<Utc>>,
    pub(super) expires: DateTime<Utc>,
    pub(super) min_ahp: String,
    #[serde(default)]
    pub(super) rollout: Rollout,
    #[serde(default)]
    pub(super) on_expired: OnExpired,
    /// Every file but this one, with `sha256:` and the digest of its content.
    pub(super) files: BTreeMap<String, String>,
}

/// How many of the machines take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rollout {
    pub(super) percent: u32,
}

impl Default for Rollout {
    fn default() -> Self {
        Self { percent: 100 }
    }
}

/// What becomes of a policy that is older than it should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum OnExpired {
    /// It judges on, and a person is told.
    #[default]
    Tell,
    /// It blocks.
    Block,
}

impl Manifest {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, FleetError> {
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| {
            FleetError::Refused(format!("its `{NAME}` is not a manifest: {error}"))
        })?;
        if manifest.ahp_bundle != FORM {
            let told = format!(
                "it is a bundle of form {}, and this program knows {FORM}",
                manifest.ahp_bundle
            );
            return Err(FleetError::Refused(told));
        }
        if !is_id(&manifest.id) {
            return Err(FleetError::Refused(format!(
                "`{}` is not an id: expected small letters, digits and hyphens",
                manifest.id
            )));
        }
        Ok(manifest)
    }

    pub(super) const fn form() -> u32 {
        FORM
    }

    /// Returns the bytes of `manifest.json`.
    pub(super) fn write(&self) -> Vec<u8> {
        json(self)
    }

    /// What the trusted comment of its signature says.
    pub(super) fn comment(&self) -> String {
        format!("ahp-bundle {} {}", self.id, self.version)
    }

    /// Whether it may be in force now, for this program.
    ///
    /// # Errors
    /// Why it may not.
    pub(super) fn check_now(&self, now: DateTime<Utc>) -> Result<(), FleetError> {
        if let Some(not_before) = self.not_before.filter(|not_before| now < *not_before) {
            return Err(FleetError::Refused(format!("it begins at {not_before}")));
        }
        if now >= self.expires {
            return Err(FleetError::Refused(format!(
                "it expired at {}",
                self.expires
            )));
        }
        let (needed, own) = (version(&self.min_ahp), version(env!("CARGO_PKG_VERSION")));
        match (needed, own) {
            (Some(needed), Some(own)) if needed <= own => Ok(()),
            _ => Err(FleetError::Refused(format!(
                "it needs ahp {:?} or newer, and this is {}",
                self.min_ahp,
                env!("CARGO_PKG_VERSION")
            ))),
        }
    }

    /// Whether this machine is among those that take it. One that takes it at ten percent takes it at twenty.
    pub(super) fn takes(&self, machine: &str) -> bool {
        let hash = Sha256::digest(format!("{}:{}:{machine}", self.id, self.version));
        let first = hash
            .iter()
            .take(4)
            .fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        first % 100 < self.rollout.percent
    }
}

/// The digest of a file as it stands in a manifest.
pub(super) fn digest(content: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(content)))
}

/// An id is part of the names of directories.
pub(super) fn is_id(id: &str) -> bool {
    let is_sign = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '-';
    (1..=64).contains(&id.len()) && id.chars().all(is_sign)
}

fn version(text: &str) -> Option<[u64; 3]> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    let version = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_takes_a_version_takes_it_at_more_percent_too() {
        let mut manifest = Manifest {
            ahp_bundle: FORM,
            id: "acme".to_owned(),
            version: 42,
            not_before: None,
            expires: DateTime::<Utc>::MAX_UTC,
            min_ahp: "0.1.0".to_owned(),
            rollout: Rollout { percent: 0 },
            on_expired: OnExpired::Tell,
            files: BTreeMap::new(),
        };
        let machines: Vec<String> = (0..1000).map(|n| format!("machine-{n}")).collect();
        let mut before: Vec<bool> = vec![false; machines.len()];
        for percent in [0, 10, 50, 100] {
            manifest.rollout.percent = percent;
            let now: Vec<bool> = machines
                .iter()
                .map(|machine| manifest.takes(machine))
                .collect();
            assert!(before.iter().zip(&now).all(|(before, now)| *now || !before));
            let count = now.iter().filter(|takes| **takes).count();
            let percent = usize::try_from(percent).unwrap();
            assert!(count.abs_diff(percent * 10) <= 50, "{percent} {count}");
            before = now;
        }
    }

    #[test]
    fn a_program_that_is_too_old_or_a_time_that_is_wrong_refuses() {
        assert!(version("0.1.0") < version("0.2.0"));
        assert!(version("0.9.0") < version("0.10.0"));
        assert_eq!(version("1.2"), None);
        assert!(is_id("acme-2") && !is_id("../x") && !is_id("") && !is_id("Acme"));
    }
}
