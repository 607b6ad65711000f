//! What can pass the hooks of a host by: variables that it is started with, and what its settings say beside its hooks.

use ahp::config::Environment;
use ahp::install::{Disarming, Installer, Places};

/// Finds what can keep the hooks of a host from being asked, each told with where it stands: variables in the environment, and
/// what its settings put there or load.
pub(super) fn disarming(
    installer: &Installer,
    places: &Places,
    environment: &Environment,
) -> Vec<String> {
    let names = installer.host.switches.variables.iter();
    let here = names
        .filter(|name| environment.get(name).is_some_and(|value| !value.is_empty()))
        .map(|name| format!("`{name}` is set where `ahp doctor` runs"));
    let in_files = installer.disarming(places);
    here.chain(in_files.iter().map(Disarming::to_string))
        .collect()
}
