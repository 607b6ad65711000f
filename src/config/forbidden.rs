//! Forbidden: the variables by which other places are looked up, and which an organisation takes away: known before anything is.
//!
//! The rest of `settings.forbid` counts where the policy is in force; by then its layers have been found.

use std::path::{Path, PathBuf};

use super::{Environment, Locations, Override, load};

/// What moves a place or says what has changed.
const MOVING: [Override; 3] = [Override::Home, Override::Base, Override::State];

impl Locations {
    /// Finds the places for a work directory, which may be relative to the process's own.
    pub fn find(environment: &Environment, work_dir: Option<&Path>) -> Self {
        Self::find_below(PathBuf::new(), environment, work_dir)
    }

    /// Finds them for a machine whose files lie below a directory; what its layers forbid counts as not set.
    fn find_below(machine: PathBuf, environment: &Environment, work_dir: Option<&Path>) -> Self {
        let all = Self::told_by(machine.clone(), environment, work_dir, &[]);
        let ignored = moving(environment, &all);
        if ignored.is_empty() {
            return all;
        }
        let rest = Self::told_by(machine, environment, work_dir, &ignored);
        Self { ignored, ..rest }
    }
}

/// Returns which of them are set and forbidden. The machine's layers are read only where one is set.
fn moving(environment: &Environment, locations: &Locations) -> Vec<Override> {
    let mut set = MOVING.to_vec();
    set.retain(|variable| environment.get(variable.name()).is_some());
    if set.is_empty() {
        return set;
    }
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let bundle = locations.bundle_dir.as_ref();
    let is_managed = bundle.is_some_and(|dir| is_there(&dir.join("current")))
        || locations.system_layer.as_deref().is_some_and(is_there);
    if !is_managed {
        return Vec::new();
    }
    let machine = load::of_machine(locations);
    // Of a layer that cannot be read nobody knows what it forbids.
    if !machine.layers.iter().any(|layer| layer.is_left_out) {
        set.retain(|variable| machine.config.settings.forbid.contains(variable));
    }
    set
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_the_machine_forbids_counts_as_not_set() {
        let machine = tempfile::tempdir().unwrap();
        let layer = machine.path().join("etc/ahp/hooks.yaml");
        fs::create_dir_all(layer.parent().unwrap()).unwrap();
        let variables = [
            ("HOME", "/h"),
            ("AHP_HOME", "/ahp"),
            ("AHP_BASE", "main"),
            ("XDG_STATE_HOME", "/state"),
            ("XDG_CACHE_HOME", "/cache"),
        ];
        let environment = Environment::of("/w", variables);
        let found = || Locations::find_below(machine.path().to_owned(), &environment, None);
        let all = found();
        assert!(all.ignored.is_empty());
        assert_eq!(all.base.commit.as_deref(), Some("main"));
        for (policy, ignored) in [
            ("settings: {timeout: 5s}", &[][..]),
            ("settings: {forbid: [AHP_HOME]}", &[Override::Home]),
            ("settings: {forbid: [AHP_BASE, AHP_ENV]}", &[Override::Base]),
            ("settings: {forbid: [XDG_STATE_HOME]}", &[Override::State]),
            // Nobody knows what it forbids.
            (
                "settings: {forbit: [AHP_HOME]}",
                &[Override::Home, Override::Base, Override::State],
            ),
        ] {
            fs::write(&layer, policy).unwrap();
            let locations = found();
            assert_eq!(locations.ignored, ignored, "{policy}");
            let is = |variable| ignored.contains(&variable);
            let either = |variable, usual: &str, moved: &str| {
                Some(PathBuf::from(if is(variable) { usual } else { moved }))
            };
            let usual = either(Override::Home, "/h/.ahp", "/ahp");
            assert_eq!(locations.user_dir, usual, "{policy}");
            let usual = either(Override::State, "/h/.local/state/ahp", "/state/ahp");
            assert_eq!(locations.state_dir, usual, "{policy}");
            assert_eq!(
                locations.base.commit.is_none(),
                is(Override::Base),
                "{policy}"
            );
            assert_eq!(
                locations.cache_dir.as_deref(),
                Some(Path::new("/cache/ahp"))
            );
        }
    }
}
