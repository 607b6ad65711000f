//! Aside: what earlier runs have left, put away while one runs, so that what it has not written is not taken for its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::files::times;

/// The files of earlier runs; what was not written anew is put back when this is dropped.
pub(in crate::oracle) struct Aside {
    /// Those that were put away: what they held, and of when they are.
    away: BTreeMap<PathBuf, (Vec<u8>, SystemTime)>,
    /// Those that could not be put away, and of when they are.
    left: BTreeMap<String, SystemTime>,
}

impl Aside {
    /// Puts the files away of which `may_go` holds; what is no ordinary file stays.
    pub(in crate::oracle) fn of(
        root: &Path,
        files: &[String],
        may_go: impl Fn(&String) -> bool,
    ) -> Self {
        let mut aside = Self {
            away: BTreeMap::new(),
            left: BTreeMap::new(),
        };
        let times = times(root, files);
        for (file, time) in times {
            let path = root.join(&file);
            let goes =
                may_go(&file) && fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
            match fs::read(&path) {
                Ok(bytes) if goes && fs::remove_file(&path).is_ok() => {
                    aside.away.insert(path, (bytes, time));
                }
                _ => _ = aside.left.insert(file, time),
            }
        }
        aside
    }

    /// Puts back what was not written, and returns which of these files were.
    pub(in crate::oracle) fn written(&mut self, root: &Path, files: &[String]) -> Vec<String> {
        let now = times(root, files);
        self.put_back();
        let is_new = |(file, time): &(String, SystemTime)| self.left.get(file) != Some(time);
        now.into_iter()
            .filter(is_new)
            .map(|(file, _)| file)
            .collect()
    }

    fn put_back(&mut self) {
        for (path, (bytes, time)) in std::mem::take(&mut self.away) {
            if path.exists() {
                continue;
            }
            // The run may have removed their folder: then they are not missed.
            if fs::write(&path, bytes).is_ok()
                && let Ok(file) = fs::File::options().append(true).open(&path)
                && let Err(error) = file.set_modified(time)
            {
                tracing::debug!(%error, "the time of a report could not be set");
            }
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.put_back();
    }
}
