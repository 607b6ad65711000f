//! HookPlaces: where HOOK.md hooks are looked for, whose they are, and which of them a later layer cannot leave out.

use std::path::{Path, PathBuf};

use crate::config::{Config, LayerSource, Locations};
use crate::hook_md::{Origin, Places};

/// Returns where HOOK.md hooks are looked for; none where they are switched off.
pub(super) fn hook_places(
    locations: &Locations,
    root: &Path,
    config: &Config,
    bundle: Option<&Path>,
) -> Option<Places> {
    let settings = &config.settings;
    let given = config
        .setting_origin("agent_hooks")
        .map(|given| given.layer);
    let given = given.unwrap_or(LayerSource::BuiltIn);
    let usual = Places::new(locations.user_hooks.as_deref(), root);
    let places = if settings.agent_hooks {
        usual
    } else if given.is_of_project() {
        usual.locked()
    } else {
        Places::default()
    };
    let bundled = bundle
        .map(|dir| dir.join("hooks"))
        .filter(|dir| dir.is_dir());
    let places = bundled.into_iter().fold(places, Places::bundled);
    // What lies in the project is the project's, and what it names too, wherever that lies.
    let origin = |layer: LayerSource, dir: &Path| match layer {
        _ if dir.starts_with(root) => Origin::FurtherOfProject,
        LayerSource::Project | LayerSource::Local => Origin::FurtherOfProject,
        LayerSource::Bundle | LayerSource::System => Origin::System,
        LayerSource::BuiltIn | LayerSource::User => Origin::Further,
    };
    let dirs = settings.agent_hook_dirs.iter().map(|dir| root.join(dir));
    let dirs: Vec<PathBuf> = dirs.collect();
    // What an earlier layer names stays where its own bindings look.
    let earlier = config.hook_dirs.iter();
    let earlier = earlier.filter(|(layer, _)| **layer < given && !layer.is_of_project());
    let earlier: Vec<(Origin, &PathBuf)> = earlier
        .flat_map(|(layer, dirs)| dirs.iter().map(|dir| (origin(*layer, dir), dir)))
        .filter(|(origin, dir)| dir.is_absolute() && !origin.is_of_project())
        .collect();
    let first = |dir: &PathBuf| earlier.iter().find(|(_, known)| *known == dir);
    let places = dirs.iter().fold(places, |places, dir| {
        let origin = first(dir).map_or_else(|| origin(given, dir), |(origin, _)| *origin);
        places.named(dir.clone(), origin)
    });
    let places = earlier.iter().fold(places, |places, (origin, dir)| {
        let is_there = places.dirs.iter().any(|place| place.dir == **dir);
        if is_there {
            places
        } else {
            places.held((*dir).clone(), *origin)
        }
    });
    (settings.agent_hooks || given.is_of_project() || !places.dirs.is_empty())
        .then(|| places.cached_in(locations.cache_dir.clone()))
}
