//! Enclosure: what every program is started in, where this process judges for a shield.

use std::path::Path;
use std::sync::OnceLock;

/// Makes the command line by which a program is started, of its own command line and its working directory.
pub type Enclosure = Box<dyn Fn(&[String], Option<&Path>) -> Vec<String> + Send + Sync>;

static ENCLOSURE: OnceLock<Enclosure> = OnceLock::new();

/// Starts every program of this process from now on as `enclosure` says, for as long as the process lives: what judges for a
/// shield runs code that the shielded agent may have written.
///
/// Returns whether this is the first enclosure; no second one is taken.
pub fn enclose(enclosure: Enclosure) -> bool {
    ENCLOSURE.set(enclosure).is_ok()
}

/// Returns the command line by which a program is to be started.
pub(super) fn enclosed(argv: &[String], dir: Option<&Path>) -> Option<Vec<String>> {
    ENCLOSURE.get().map(|enclosure| enclosure(argv, dir))
}
