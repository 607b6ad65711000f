//! FleetSettings: `settings.fleet`, what may leave this machine and from where policy comes to it. Only the system layer
//! gives it; the hook reads none of it.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::quantity::{parse_duration, parse_size};

/// `settings.fleet`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct FleetSettings {
    /// What hashes are salted with, 32 bytes or more; without it each machine makes one of its own.
    pub salt: Option<String>,
    /// Whether login, host, session and issue names and remotes leave as they are.
    pub names: bool,
    /// How much of a signal leaves.
    pub detail: Detail,
    /// Where the log is carried to.
    pub ship: ShipSettings,
    /// Where signed policy comes from.
    pub bundle: Option<BundleSettings>,
}

impl FleetSettings {
    /// The fewest bytes of a salt: with fewer, names could be found by trying.
    pub const LEAST_SALT: usize = 32;

    /// Takes the keys over that a layer gives.
    pub(super) fn take(&mut self, given: &Self, keys: &[String]) {
        for key in keys {
            match key.as_str() {
                "salt" => self.salt.clone_from(&given.salt),
                "names" => self.names = given.names,
                "detail" => self.detail = given.detail,
                "ship" => self.ship.clone_from(&given.ship),
                "bundle" => self.bundle.clone_from(&given.bundle),
                _ => {}
            }
        }
    }
}

/// How much of a signal leaves this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Its kind and what it is of.
    #[default]
    Findings,
    /// Its words and the notes of answers too, as the log holds them.
    Full,
}

/// `settings.fleet.ship`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ShipSettings {
    /// `dir:/path`, `https://host/path/` or `otlp:https://host`.
    pub to: Option<String>,
    /// A file with a bearer token.
    pub token_file: Option<PathBuf>,
    /// A file with a certificate by which this machine is known to the server, and its private key (PEM).
    pub certificate: Option<PathBuf>,
    /// A file with certificates to trust in the place of the usual ones (PEM).
    pub ca: Option<PathBuf>,
    /// Whether every evaluation is sent by OTLP, not only those that were stopped.
    pub all: bool,
    /// How many bytes may wait to be sent: `64MiB`.
    #[serde(serialize_with = "as_text", deserialize_with = "size")]
    #[schemars(with = "String")]
    pub spool: u64,
}

impl Default for ShipSettings {
    fn default() -> Self {
        Self {
            to: None,
            token_file: None,
            certificate: None,
            ca: None,
            all: false,
            spool: 64 << 20,
        }
    }
}

/// `settings.fleet.bundle`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BundleSettings {
    /// Where the newest bundle lies; its signature lies beside it, with `.minisig` behind the name.
    pub url: String,
    /// The public keys of `minisign`; a signature by any of them is enough.
    pub keys: Vec<String>,
    /// How long a machine may go without a successful check: `24h`.
    #[serde(
        default = "one_day",
        serialize_with = "in_seconds",
        deserialize_with = "duration"
    )]
    #[schemars(with = "String")]
    pub max_age: Duration,
    /// A file with certificates to trust in the place of the usual ones (PEM).
    #[serde(default)]
    pub ca: Option<PathBuf>,
}

const fn one_day() -> Duration {
    Duration::from_hours(24)
}

// What is stored is read back as it is written in a layer.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn as_text<S: Serializer>(bytes: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(bytes)
}

fn in_seconds<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&duration.as_secs_f64())
}

fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(from)?;
    parse_duration(&text).map_err(de::Error::custom)
}

fn size<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let text = String::deserialize(from)?;
    parse_size(&text).map_err(de::Error::custom)
}
