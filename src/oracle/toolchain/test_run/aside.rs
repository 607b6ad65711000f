//! Aside: what earlier runs have left, put away while one runs, so that what it has not written is not taken for its own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::files::times;
use crate::oracle::HookContext;
use crate::random;

/// Where the files are meanwhile, below the state of the project; each run has a folder of its own there.
const PLACE: &str = "state/aside";
/// The file of such a folder that its run holds, and by which the next one sees that it has ended.
const HELD: &str = "held";
/// The file that says where the others came from, one a line.
const LIST: &str = "list";

/// The files of earlier runs; what was not written anew is put back when this is dropped, and by the next run where this one was
/// killed.
pub(in crate::oracle) struct Aside {
    root: PathBuf,
    /// Where those are that were put away, and what keeps others from it.
    place: Option<(PathBuf, File)>,
    /// Those that could not be put away, and of when they are.
    left: BTreeMap<String, SystemTime>,
}

impl Aside {
    /// Puts the files away of which `may_go` holds; what is no ordinary file stays.
    pub(in crate::oracle) fn of(
        context: &HookContext,
        files: &[String],
        may_go: impl Fn(&String) -> bool,
    ) -> Self {
        Self::at(context.root(), &context.state_dir, files, may_go)
    }

    fn at(root: &Path, state: &Path, files: &[String], may_go: impl Fn(&String) -> bool) -> Self {
        put_back_of_ended(root, &state.join(PLACE));
        let mut aside = Self {
            root: root.to_owned(),
            place: None,
            left: BTreeMap::new(),
        };
        let times = times(root, files);
        let (mut going, mut staying) = (Vec::new(), Vec::new());
        for (file, time) in times {
            let is_file = fs::symlink_metadata(root.join(&file)).is_ok_and(|meta| meta.is_file());
            let goes = may_move(&file) && may_go(&file) && is_file;
            let of = if goes { &mut going } else { &mut staying };
            of.push((file, time));
        }
        aside.left.extend(staying);
        if going.is_empty() {
            return aside;
        }
        let place = state.join(PLACE).join(random::id().to_string());
        let names: Vec<&str> = going.iter().map(|(file, _)| file.as_str()).collect();
        match made(&place, &names) {
            Ok(held) => aside.place = Some((place.clone(), held)),
            Err(error) => {
                tracing::debug!(%error, "reports of earlier runs cannot be put away");
                aside.left.extend(going);
                return aside;
            }
        }
        for (at, (file, time)) in going.into_iter().enumerate() {
            if moved(&root.join(&file), &place.join(at.to_string())).is_err() {
                aside.left.insert(file, time);
            }
        }
        aside
    }

    /// Puts back what was not written, and returns which of these files were.
    pub(in crate::oracle) fn written(&mut self, root: &Path, files: &[String]) -> Vec<String> {
        let now = times(root, files);
        if let Some((place, _held)) = self.place.take() {
            put_back(root, &place);
        }
        let is_new = |(file, time): &(String, SystemTime)| self.left.get(file) != Some(time);
        now.into_iter()
            .filter(is_new)
            .map(|(file, _)| file)
            .collect()
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some((place, _held)) = self.place.take() {
            put_back(&self.root, &place);
        }
    }
}

/// Makes a folder for files that are put away, held by this run before others can see it.
fn made(place: &Path, names: &[&str]) -> io::Result<File> {
    let (Some(all), Some(name)) = (place.parent(), place.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    fs::create_dir_all(all)?;
    if !fs::symlink_metadata(all)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    let making = all.join(hidden);
    fs::create_dir(&making)?;
    let held = File::create_new(making.join(HELD))?;
    held.lock()?;
    let mut list = File::create_new(making.join(LIST))?;
    list.write_all(names.join("\n").as_bytes())?;
    list.sync_all()?;
    fs::rename(&making, place)?;
    Ok(held)
}

/// Moves a file, also to another file system, with the time at which it was written.
fn moved(from: &Path, to: &Path) -> io::Result<()> {
    if fs::rename(from, to).is_ok() {
        return Ok(());
    }
    let time = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    File::options().append(true).open(to)?.set_modified(time)?;
    fs::remove_file(from)
}

/// Whether a file may be put away and put back: within the project, and in no hidden folder, where policies and settings are.
fn may_move(file: &str) -> bool {
    let parts = file.split('/');
    !file.contains('\n')
        && parts
            .into_iter()
            .all(|part| !part.is_empty() && !part.starts_with('.'))
}

/// Puts back what runs have put away that were killed.
fn put_back_of_ended(root: &Path, all: &Path) {
    if !fs::symlink_metadata(all).is_ok_and(|meta| meta.is_dir()) {
        return;
    }
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let is_made = !entry.file_name().to_string_lossy().starts_with('.');
        let held = File::open(entry.path().join(HELD));
        if is_made && held.is_ok_and(|held| held.try_lock().is_ok()) {
            put_back(root, &entry.path());
        }
    }
}

/// Puts back what is not there again, and removes the folder.
fn put_back(root: &Path, place: &Path) {
    let list = fs::read_to_string(place.join(LIST)).unwrap_or_default();
    for (at, file) in list.lines().enumerate().filter(|(_, file)| may_move(file)) {
        let (kept, path) = (place.join(at.to_string()), root.join(file));
        let is_inside = (path.parent().and_then(|dir| dir.canonicalize().ok()))
            .is_some_and(|dir| root.canonicalize().is_ok_and(|root| dir.starts_with(root)));
        // The run may have removed their folder: then they are not missed.
        if kept.exists()
            && is_inside
            && !path.exists()
            && let Err(error) = moved(&kept, &path)
        {
            tracing::debug!(%error, "a report of an earlier run could not be put back");
            return;
        }
    }
    if let Err(error) = fs::remove_dir_all(place) {
        tracing::debug!(%error, "what was put away could not be removed");
    }
    // It stays where another run still has a folder there.
    if let Some(all) = place.parent() {
        fs::remove_dir(all).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn what_a_killed_run_has_put_away_is_put_back_by_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let (root, state) = (dir.path().join("p"), dir.path().join("p/.ahp"));
        fs::create_dir_all(root.join("out")).unwrap();
        fs::write(root.join("out/a.xml"), "old").unwrap();
        let named = files(&["out/a.xml"]);
        let time = fs::metadata(root.join("out/a.xml")).unwrap().modified();
        let mut killed = Aside::at(&root, &state, &named, |_| true);
        assert!(!root.join("out/a.xml").exists());
        // While it runs, nobody else puts back what is its own.
        drop(Aside::at(&root, &state, &[], |_| true));
        assert!(!root.join("out/a.xml").exists());
        // The lock of a process that was killed is gone, and nothing else.
        drop(killed.place.take());
        drop(Aside::at(&root, &state, &[], |_| true));
        assert_eq!(fs::read_to_string(root.join("out/a.xml")).unwrap(), "old");
        let again = fs::metadata(root.join("out/a.xml")).unwrap().modified();
        assert_eq!(again.unwrap(), time.unwrap());
        assert!(!state.join(PLACE).exists());
    }

    #[test]
    fn what_was_written_anew_stays_and_the_rest_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let (root, state) = (dir.path().join("p"), dir.path().join("p/.ahp"));
        fs::create_dir_all(&root).unwrap();
        let named = files(&["a.xml", "b.xml"]);
        for file in &named {
            fs::write(root.join(file), "old").unwrap();
        }
        let mut aside = Aside::at(&root, &state, &named, |_| true);
        fs::write(root.join("a.xml"), "new").unwrap();
        assert_eq!(aside.written(&root, &named), ["a.xml"]);
        let read = |file: &str| fs::read_to_string(root.join(file)).unwrap();
        assert_eq!(
            (read("a.xml"), read("b.xml")),
            ("new".to_owned(), "old".to_owned())
        );
    }

    #[test]
    fn nothing_is_put_outside_of_the_project_or_among_its_settings() {
        let dir = tempfile::tempdir().unwrap();
        let (root, state) = (dir.path().join("p"), dir.path().join("p/.ahp"));
        let place = state.join(PLACE).join("x");
        fs::create_dir_all(&place).unwrap();
        std::os::unix::fs::symlink(dir.path(), root.join("out")).unwrap();
        fs::write(place.join(HELD), "").unwrap();
        let names = [
            "../a",
            "/a",
            ".ahp/hooks.yaml",
            ".git/config",
            "out/a",
            "good",
        ];
        fs::write(place.join(LIST), names.join("\n")).unwrap();
        for at in 0..names.len() {
            fs::write(place.join(at.to_string()), "x").unwrap();
        }
        drop(Aside::at(&root, &state, &[], |_| true));
        assert!(root.join("good").exists() && !place.exists());
        assert!(!dir.path().join("a").exists() && !state.join("hooks.yaml").exists());
        assert!(!root.join(".git").exists());
    }
}
