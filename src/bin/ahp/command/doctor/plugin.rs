//! Plugin: our plugin in the place of wires, as far as it can be tried here.

use std::path::Path;

use ahp::config::Environment;
use ahp::engine::Engine;
use ahp::host::HostEvent;
use ahp::install::{ByName, Installer, Needs, Places};

use super::canary::Canary;
use super::{Wired, canary, slow};
use crate::command::install;

/// What stands in the place of a scope where our plugin wires a host.
pub(super) const NAME: &str = "plugin";

/// Returns how our plugin wires a host; none where it is not on.
pub(super) fn wired(
    installer: &Installer,
    places: &Places,
    needs: &Needs,
    environment: &Environment,
    state_dir: Option<&Path>,
    engine: &Engine,
) -> Option<Wired> {
    let file = installer.plugin(places)?;
    let (host, project) = (installer.host, &places.roots.project);
    let wires = Installer::plugin_wires();
    let has = |name: &str| {
        wires
            .iter()
            .any(|wire| wire.event.eq_ignore_ascii_case(name))
    };
    let needed = needs.host_events(host).into_iter().map(HostEvent::name);
    let canary = match canary::wire_for(host, &wires, project) {
        _ if places.by_name == ByName::Nowhere => {
            Canary::Refused("`ahp` is not in the search path, so everything is refused".to_owned())
        }
        Some(wire) => canary::send(host, wire, project, environment, state_dir, engine),
        None => Canary::NotSent("it has no event before a tool".to_owned()),
    };
    Some(Wired {
        scope: NAME,
        file: file.display().to_string(),
        missing: needed.filter(|name| !has(name)).collect(),
        canary,
        command: None,
        weak: Vec::new(),
        slow: slow::told("ahp", installer, environment),
        way_out: install::into_path(installer, places),
        trusted: true,
        events: wires.into_iter().map(|wire| wire.event).collect(),
    })
}
