//! Files: what a path is, by its name or by the place it lies at.

use crate::danger::digest::Digest;
use crate::danger::place::Place;
use crate::program::{self, Fact};
use crate::secret::is_secret_folder;
use crate::shell::{Word, file_name};
use crate::words::{holds_any, words};

/// Whether a file cannot be made again by a build.
pub(super) fn is_precious(place: Place) -> bool {
    !matches!(place, Place::Artifact | Place::Temporary)
}

pub(super) fn is_critical(place: Place) -> bool {
    is_system(place) || matches!(place, Place::Personal | Place::Project | Place::Repository)
}

pub(super) fn is_system(place: Place) -> bool {
    matches!(
        place,
        Place::Root | Place::System | Place::Home | Place::Device
    )
}

/// Whether what is put at a place is the system's. `/tmp` and a home directory are, what is put into them is not.
pub(super) fn holds_system(digest: &Digest<'_>, place: &Word) -> bool {
    let inside = place.with_text(format!("{}/x", place.text.trim_end_matches('/')));
    is_system(digest.place(place)) && (place.text == "/" || is_system(digest.place(&inside)))
}

/// Whether a server of files shows the system or a home directory: the directory that it is given, else where it runs.
pub(super) fn serves_home(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let given = digest.invocation.value_of(&["--directory", "-d", "-t"]);
    let named = words.iter().find(|w| w.text.contains('/') || w.text == ".");
    let shown = given.or_else(|| named.map(|word| (*word).clone()));
    is_system(digest.place(&shown.unwrap_or_else(|| Word::plain("."))))
}

/// Whether a variable that is given to a target stands for a place that must stay: `BUILD=/home/ann`. A prefix is where the
/// target's own files lie below.
pub(super) fn is_named_critical(digest: &Digest<'_>) -> bool {
    let given = digest.invocation.arguments.iter();
    let mut pairs = given.filter_map(|word| Some((word, word.text.split_once('=')?)));
    pairs.any(|(word, (name, value))| {
        let value = word.with_text(value);
        value.text.starts_with(['/', '~', '.'])
            && !matches!(
                name.to_ascii_lowercase().as_str(),
                "prefix" | "destdir" | "sysroot"
            )
            && is_critical(digest.place(&value))
    })
}

/// Whether a file is read by every shell or login, or lets people in.
pub(super) fn is_startup(path: &str) -> bool {
    let name = file_name(path);
    let is_own = path.starts_with(['/', '~', '$']);
    let parts = words!("startup-paths");
    words!("startup-names").contains(&name) && is_own
        || name == "authorized_keys"
        || holds_any(path, parts)
}

/// Whether a file lets people in or runs what it says, on whatever machine it lies.
pub(in crate::danger) fn opens_machine(path: &str) -> bool {
    let mut starts = words!("machine-openers").iter();
    is_startup(path) || starts.any(|start| path.starts_with(start))
}

/// Whether a word is a file's name rather than a branch's or a tag's.
pub(super) fn is_file_name(text: &str) -> bool {
    let name = file_name(text);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_lowercase())
    })
}

/// Whether a path names a directory that holds secrets alone, or a whole home.
pub(super) fn is_secret_dir(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    path == "~" || is_secret_folder(path) || words!("secret-dirs").iter().any(|d| path.ends_with(d))
}

/// Whether a path names a database that is one file, or a dump or backup of one.
pub(super) fn is_data_store(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let holds = |words: &[&str]| holds_any(&lower, words);
    if lower.contains("://") || holds(words!("passing-names")) {
        return false;
    }
    let name = file_name(&lower);
    let ends = |endings: &[&str]| {
        endings
            .iter()
            .any(|ending| name.len() > ending.len() && name.ends_with(ending))
    };
    ends(words!("store-endings"))
        || holds(&["backup", "dump", "snapshot"]) && ends(words!("kept-endings"))
}

/// Whether a path is where an agent is told what it may do.
pub(super) fn is_agent_settings(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let ends = |name: &&str, below: bool| {
        path.split_once(*name).is_some_and(|(before, after)| {
            (before.is_empty() || before.ends_with('/'))
                && (after.is_empty() || below && after.starts_with('/'))
        })
    };
    words!("agent-files").iter().any(|name| ends(name, false))
        || words!("agent-dirs").iter().any(|name| ends(name, true))
}

/// Whether a file would be started in the place of a well-known program.
pub(super) fn shadows_program(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(dir, name)| {
        let is_known = words!("everybodys-programs").contains(&name);
        let is_known = is_known || program::find(name).is(Fact::Agent);
        is_known && matches!(file_name(dir), "bin" | "sbin")
    })
}

#[cfg(test)]
mod tests {
    use super::is_data_store;

    #[test]
    fn stores_of_data_are_told_from_what_may_go() {
        for path in [
            "app.db",
            "data/prod.sqlite3",
            "dump.rdb",
            "backups/x.tar.gz",
            "nightly.sql.gz",
        ] {
            assert!(is_data_store(path), "{path}");
        }
        for path in [
            "test.db",
            "x.tar.gz",
            "schema.sql",
            ".db",
            "tmp/app.db",
            "db.rs",
            "tests/x.sqlite",
        ] {
            assert!(!is_data_store(path), "{path}");
        }
    }
}
