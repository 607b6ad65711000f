//! What a shield makes, and takes away again in whichever order shields end.

use std::fs;

use ahp::shield::{Nothing, Traces, sweep};

#[test]
fn the_last_shield_takes_away_what_is_still_empty() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let at = |name: &str| dir.path().join(name);
    let missing = [
        (at(".github"), Nothing::Folder),
        (at(".github/hooks"), Nothing::Folder),
        (at("settings.json"), Nothing::Json),
        (at("used"), Nothing::Folder),
    ];
    for first_ends_first in [true, false] {
        let first = Traces::make(&state, "p", &missing).unwrap();
        assert_eq!(fs::read_to_string(at("settings.json")).unwrap(), "{}\n");
        let second = Traces::make(&state, "p", &[]).unwrap();
        assert!(!sweep(&state, "p"), "others use it");
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
    let killed = Traces::make(&state, "p", &missing).unwrap();
    let list = fs::read(state.join("shield/p.json")).unwrap();
    drop(killed);
    fs::create_dir_all(at(".github/hooks")).unwrap();
    fs::write(state.join("shield/p.json"), list).unwrap();
    assert!(sweep(&state, "p"));
    assert!(!at(".github").exists());
    assert!(!sweep(&state, "p"), "nothing is left to take away");
}

#[test]
fn what_cannot_be_made_is_told_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::write(dir.path().join("a-file"), "").unwrap();
    let at = |name: &str| dir.path().join(name);
    let missing = [
        (at("first"), Nothing::Folder),
        (at("a-file/second"), Nothing::Folder),
    ];
    let told = Traces::make(&state, "p", &missing).unwrap_err();
    assert!(told.to_string().contains("a-file/second"), "{told}");
    assert!(!at("first").exists() && !sweep(&state, "p"));
    drop(Traces::make(&state, "p", &[]).unwrap());
}
