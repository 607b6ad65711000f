//! What a shield makes, and takes away again in whichever order shields end.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use ahp::shield::{Missing, Nothing, Traces, sweep};

fn begun(state: &Path, project: &str, missing: &Missing) -> Traces {
    let traces = Traces::begin(state, project, &|| false).unwrap();
    traces.make(missing, &|| false).unwrap();
    traces
}

#[test]
fn the_last_shield_takes_away_what_is_still_empty() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let at = |name: &str| dir.path().join(name);
    let missing = Missing {
        own: vec![
            (at(".github"), Nothing::Folder),
            (at(".github/hooks"), Nothing::Folder),
            (at("settings.json"), Nothing::Json),
            (at("used"), Nothing::Folder),
        ],
        shared: Vec::new(),
    };
    for first_ends_first in [true, false] {
        let first = begun(&state, "p", &missing);
        assert_eq!(fs::read_to_string(at("settings.json")).unwrap(), "{}\n");
        let second = begun(&state, "p", &Missing::default());
        assert!(!sweep(&state), "others use it");
        let (one, other) = if first_ends_first {
            (first, second)
        } else {
            (second, first)
        };
        drop(one);
        assert!(at(".github/hooks").is_dir(), "the other one needs it");
        fs::write(at("used/by-somebody"), "").unwrap();
        drop(other);
        assert!(!at(".github").exists() && !at("settings.json").exists());
        assert!(at("used/by-somebody").exists());
        fs::remove_dir_all(at("used")).unwrap();
    }
    // One that was killed has left its list, and no lock.
    let killed = begun(&state, "p", &missing);
    let list = fs::read(state.join("shield/p.json")).unwrap();
    drop(killed);
    let leave = || {
        fs::create_dir_all(at(".github/hooks")).unwrap();
        fs::write(state.join("shield/p.json"), &list).unwrap();
    };
    leave();
    assert!(sweep(&state));
    assert!(!at(".github").exists());
    assert!(!sweep(&state), "nothing is left to take away");
    // The next one takes it away before it is planned.
    leave();
    let next = Traces::begin(&state, "p", &|| false).unwrap();
    assert!(!at(".github").exists());
    next.make(&missing, &|| false).unwrap();
    assert!(at(".github/hooks").is_dir());
}

#[test]
fn what_projects_share_goes_with_the_last_shield_of_any_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let at = |name: &str| dir.path().join(name);
    let missing = |own: &str| Missing {
        own: vec![(at(own), Nothing::Folder)],
        shared: vec![(at("settings.json"), Nothing::Json)],
    };
    let first = begun(&state, "p", &missing("of-p"));
    // It is there when the second one is planned.
    let second = begun(
        &state,
        "q",
        &Missing {
            shared: Vec::new(),
            ..missing("of-q")
        },
    );
    drop(first);
    assert!(!at("of-p").exists() && at("of-q").exists());
    assert!(at("settings.json").exists(), "the other one needs it");
    drop(second);
    assert!(!at("of-q").exists() && !at("settings.json").exists());
}

#[test]
fn what_cannot_be_made_is_told_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::write(dir.path().join("a-file"), "").unwrap();
    let at = |name: &str| dir.path().join(name);
    let missing = Missing {
        own: vec![
            (at("first"), Nothing::Folder),
            (at("a-file/second"), Nothing::Folder),
        ],
        shared: Vec::new(),
    };
    let traces = Traces::begin(&state, "p", &|| false).unwrap();
    let told = traces.make(&missing, &|| false).unwrap_err();
    assert!(told.to_string().contains("a-file/second"), "{told}");
    drop(traces);
    assert!(!at("first").exists() && !sweep(&state));
    begun(&state, "p", &Missing::default());
}

#[test]
fn what_cannot_be_taken_away_stays_listed() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let list = state.join("shield/p.json");
    let stays = |name: &str| format!("[\"{name}\",\"folder\"]");
    let gone = dir.path().join("gone");
    fs::create_dir_all(&gone).unwrap();
    fs::create_dir_all(list.parent().unwrap()).unwrap();
    // Nobody removes a folder there, not even root.
    let left = stays("/proc/self/task");
    fs::write(&list, format!("[{left},{}]", stays(gone.to_str().unwrap()))).unwrap();
    assert!(!sweep(&state), "not all is gone");
    assert!(!gone.exists());
    assert_eq!(fs::read_to_string(&list).unwrap(), format!("[{left}]"));
}

#[test]
fn closed_folders_are_opened_and_left_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let root = dir.path().join("root");
    fs::create_dir(&root).unwrap();
    let hooks = root.join(".github/hooks");
    let missing = Missing {
        own: vec![
            (root.join(".github"), Nothing::Folder),
            (hooks.clone(), Nothing::Folder),
        ],
        shared: Vec::new(),
    };
    let github = hooks.parent().unwrap();
    for closed in [
        vec![root.as_path()],
        vec![github],
        vec![github, root.as_path()],
    ] {
        let traces = begun(&state, "p", &missing);
        for dir in &closed {
            fs::set_permissions(dir, Permissions::from_mode(0o000)).unwrap();
        }
        drop(traces);
        let mode = fs::metadata(&root).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode == 0, closed.contains(&root.as_path()));
        fs::set_permissions(&root, Permissions::from_mode(0o755)).unwrap();
        assert!(!root.join(".github").exists(), "{closed:?}");
        assert!(!state.join("shield/p.json").exists());
    }
}

#[test]
fn who_waits_for_a_lock_gives_up_when_told() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    drop(begun(&state, "p", &Missing::default()));
    for name in ["p.gate", "shared.gate"] {
        let held = fs::File::open(state.join("shield").join(name)).unwrap();
        held.lock().unwrap();
        let told = Traces::begin(&state, "p", &|| true).unwrap_err();
        assert!(told.to_string().contains(name), "{told}");
    }
}
