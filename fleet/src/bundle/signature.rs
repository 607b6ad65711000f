//! Signature: whether a bundle was signed by somebody whose key this machine has. It is that of
//! [`minisign`](https://jedisct1.github.io/minisign/): Ed25519 over BLAKE2b-512 of the file, and over the signature with the
//! trusted comment, which names the bundle and its version.

use std::path::Path;

use ahp::config::BundleSettings;
use minisign_verify::{PublicKey, Signature};

use super::read;
use crate::error::FleetError;

/// Reads public keys: each the second line of a `.pub` file, or the path of one.
///
/// # Errors
/// One cannot be read.
pub(super) fn named(names: &[String]) -> Result<Vec<PublicKey>, FleetError> {
    let key = |name: &String| {
        if let Ok(key) = PublicKey::from_base64(name.trim()) {
            return Ok(key);
        }
        let text = read(Path::new(name))?;
        PublicKey::decode(&String::from_utf8_lossy(&text)).map_err(|error| {
            FleetError::Refused(format!("`{name}` holds no public key of minisign: {error}"))
        })
    };
    names.iter().map(key).collect()
}

/// Returns the keys that the machine's owner gave.
///
/// # Errors
/// One is not a key.
pub(super) fn configured(settings: Option<&BundleSettings>) -> Result<Vec<PublicKey>, FleetError> {
    let keys = settings.map_or(&[][..], |settings| &settings.keys);
    let key = |key: &String| {
        PublicKey::from_base64(key.trim()).map_err(|error| {
            FleetError::Refused(format!(
                "`{key}` in `settings.fleet.bundle.keys` is not a public key of minisign: {error}"
            ))
        })
    };
    keys.iter().map(key).collect()
}

/// Verifies a bundle by any of the keys; returns the trusted comment.
///
/// # Errors
/// No key has signed it so.
pub(super) fn verify(
    packed: &[u8],
    signature: &str,
    keys: &[PublicKey],
) -> Result<String, FleetError> {
    if keys.is_empty() {
        return Err(FleetError::Refused(
            "there is no key to verify it with: `settings.fleet.bundle.keys` in /etc/ahp/hooks.yaml gives the second line of `minisign.pub`"
                .to_owned(),
        ));
    }
    let signature = Signature::decode(signature).map_err(|error| {
        FleetError::Refused(format!("its signature is not one of minisign: {error}"))
    })?;
    // Signatures over the file itself, the old form, are not taken.
    let is_signed = keys
        .iter()
        .any(|key| key.verify(packed, &signature, false).is_ok());
    if is_signed {
        Ok(signature.trusted_comment().to_owned())
    } else {
        Err(FleetError::Refused(
            "none of the keys that this machine has signed it so: the file or its signature was changed, or the key is another"
                .to_owned(),
        ))
    }
}
