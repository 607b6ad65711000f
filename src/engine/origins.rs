//! Origins: the files that a policy came from, as they were when it was read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::config::{Approved, Bundle, Locations};
use crate::diagnostic::SourceMap;
use crate::stamp::Stamp;

/// The files that a policy came from, as they were when it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins(Vec<(PathBuf, Option<Stamp>)>);

impl Origins {
    /// Returns every layer that there is or could be, as it is now.
    pub(super) fn layers(locations: &Locations) -> Self {
        let layers = locations.layers().into_iter();
        let approved = Approved::file(locations);
        Self(
            layers
                .map(|(_, path)| path)
                .chain(approved)
                .chain(Bundle::files(locations))
                .map(stamped)
                .collect(),
        )
    }

    /// Adds the files that layers extend, as they are now.
    pub(super) fn add_extended(&mut self, locations: &Locations, sources: &SourceMap) {
        let files = sources.files().iter().filter_map(|source| {
            let name = source.path();
            match (name.strip_prefix("~/"), &locations.home) {
                _ if name.starts_with("ahp:") => None,
                (Some(rest), Some(home)) => Some(home.join(rest)),
                _ => Some(locations.project_root.join(name)),
            }
        });
        // Many bindings come from one file, and layers are watched already.
        let mut paths: BTreeSet<PathBuf> = files.collect();
        for path in self.paths() {
            paths.remove(path);
        }
        self.0.extend(paths.into_iter().map(stamped));
    }

    /// Adds files that are read when an event is judged, as they are now.
    pub(super) fn add(&mut self, files: impl Iterator<Item = PathBuf>) {
        self.0.extend(files.map(stamped));
    }

    /// Returns their paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|(path, _)| path.as_path())
    }

    /// Whether all of them are still as they were.
    pub(super) fn are_current(&self) -> bool {
        self.0.iter().all(|(path, then)| Stamp::at(path) == *then)
    }
}

fn stamped(path: PathBuf) -> (PathBuf, Option<Stamp>) {
    let stamp = Stamp::at(&path);
    (path, stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_looked_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let locations = Locations::of_project(dir.path());
        let mut sources = SourceMap::default();
        for name in [".ahp/hooks.yaml", "rules/a.yaml", "ahp:standard"] {
            sources.add(name, "");
            // What was approved of a file is no file of its own.
            sources.add_approved(name, "");
        }
        let mut origins = Origins::layers(&locations);
        origins.add_extended(&locations, &sources);
        let mut paths: Vec<&Path> = origins.paths().collect();
        paths.sort_unstable();
        let count = paths.len();
        paths.dedup();
        assert_eq!(paths.len(), count, "{paths:?}");
        assert!(paths.contains(&&*dir.path().join("rules/a.yaml")));
        assert!(
            !paths
                .iter()
                .any(|path| path.to_string_lossy().contains("approved"))
        );
        assert!(origins.are_current());
        std::fs::create_dir(dir.path().join("rules")).unwrap();
        std::fs::write(dir.path().join("rules/a.yaml"), "").unwrap();
        assert!(!origins.are_current());
    }
}
