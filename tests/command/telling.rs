//! What commands say of a policy and a log: the same thing in every place, and nothing that is not so.

use crate::world::{Ran, World};

/// A project whose approved policy is stricter than the one that lies there.
fn weakened() -> World {
    let world = World::new(
        "extends: [ahp:standard]\nhooks:\n  pre-tool-use:\n    - {oracle: PermissionChecker, id: no-make, config: {dangerous_commands: [make]}}\n",
    );
    assert_eq!(world.ahp(&["trust", "--yes"]).code, 0);
    world.write(
        ".ahp/hooks.yaml",
        "extends: [ahp:standard]\nhooks:\n  pre-tool-use:\n    - {oracle: PermissionChecker, id: no-make, enabled: false, config: {dangerous_commands: [make]}}\n",
    );
    world
}

#[test]
fn nobody_is_asked_to_change_what_stands_only_as_it_was_approved() {
    let world = weakened();
    let checked = world.ahp(&["check"]).stdout;
    for untrue in ["repeats", "by two values", "remove one of them"] {
        assert!(!checked.contains(untrue), "{checked}");
    }
    let last = checked.lines().last().unwrap_or_default();
    assert_eq!(last.matches("ahp:safe-shell").count(), 1, "{last}");
    let explained = world.ahp(&["explain", "pre-tool-use/no-make"]).stdout;
    for said in ["switched off", "no-make@approved"] {
        assert!(explained.contains(said), "{explained}");
    }
}

#[test]
fn doctor_and_check_count_the_same_warnings() {
    let world = weakened();
    let checked = world.ahp(&["check", "--format", "json"]).json();
    let warnings = checked.last().unwrap()["warnings"].clone();
    let doctor = world.ahp(&["doctor"]).stdout;
    let line = doctor
        .lines()
        .find(|line| line.starts_with("policy"))
        .unwrap();
    assert!(
        line.contains(&format!("{warnings} warning")),
        "{line} {warnings}"
    );
}

#[test]
fn a_block_that_an_answer_lifts_does_not_look_like_a_pass() {
    let world =
        World::new("hooks: {pre-issue-submit: [{oracle: ChecklistValidator, override: true}]}\n");
    world.write("Issues/F-1.md", "---\nid: F-1\n---\n- [ ] open\n");
    let run = || {
        world.ahp(&[
            "run",
            "pre-issue-submit",
            "--issue",
            "F-1",
            "--session",
            "s",
        ])
    };
    assert_eq!(run().code, 2);
    let ran = world.ahp(&["respond", "last", "proceed_with_risk"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lifted = run();
    assert_eq!(lifted.code, 0, "{}", lifted.stderr);
    assert!(
        lifted.stdout.contains("let through by an answer"),
        "{}",
        lifted.stdout
    );
    assert!(!lifted.stdout.contains("accepted"), "{}", lifted.stdout);
    let stats = world.ahp(&["log", "stats", "--json"]).json();
    assert_eq!(stats[0]["total"]["accepted"], 0, "{}", stats[0]["total"]);
}

#[test]
fn a_session_of_which_nothing_is_known_has_no_marks() {
    let world = World::new("extends: [ahp:standard]\n");
    let ran = world.ahp(&["session", "show", "nope"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("log stats --by session"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_file_that_is_no_log_is_called_so() {
    let world = World::new("");
    world.write("words", "no record\nat all\n");
    for command in ["show", "stats", "advise", "export", "verify"] {
        let ran = world.ahp(&["log", command, "--log", "words"]);
        assert_eq!(ran.code, 1, "{command}: {}", ran.stdout);
        assert!(ran.stderr.contains("is not a signal log"), "{}", ran.stderr);
    }
}

#[test]
fn what_a_test_expects_and_which_test_is_meant_must_exist() {
    let world = World::new("extends: [ahp:standard]\n");
    let case = |expect: &str| {
        let text = format!(
            "policy: ../hooks.yaml\ntrigger: pre-tool-use\ntests:\n  - name: one\n    command: ls\n    expect: {expect}\n"
        );
        world.write(".ahp/tests/t.yaml", text);
    };
    for (expect, place, near) in [
        ("blok", "t.yaml:6:13", "block"),
        ("{decision: blok}", "t.yaml:6:24", "block"),
        (
            "{bindings: {safe-shell: acepted}}",
            "t.yaml:6:37",
            "accepted",
        ),
        ("{signals: [{intensity: pormpt}]}", "t.yaml:6:36", "prompt"),
    ] {
        case(expect);
        let ran = world.ahp(&["test"]);
        assert_eq!(ran.code, 1, "{expect}: {}", ran.stdout);
        for said in [place, near, "error["] {
            assert!(
                ran.stdout.contains(said),
                "{expect}: {said}: {}",
                ran.stdout
            );
        }
    }
    case("none");
    assert_eq!(world.ahp(&["test", "--filter", "one"]).code, 0);
    let ran = world.ahp(&["test", "--filter", "zzz"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("`zzz`"), "{}", ran.stderr);
}

#[test]
fn events_that_were_accepted_can_be_listed() {
    let world = World::new("extends: [ahp:standard]\n");
    let run = |command: &str| {
        let input = serde_json::json!({ "command": command }).to_string();
        world.ahp(&["run", "pre-tool-use", "--tool", "Bash", "--input", &input])
    };
    assert_eq!(run("ls").code, 0);
    let shown = world.ahp(&["log", "show"]);
    assert!(
        shown.stderr.contains("`ahp log show --events`"),
        "{}",
        shown.stderr
    );
    let shown = world.ahp(&["log", "show", "--events"]).stdout;
    assert!(
        shown.contains("pre-tool-use") && shown.contains("accepted"),
        "{shown}"
    );
    // Foreign colours are written out wherever a person reads them.
    let asked = run("rm -rf \u{1b}[31m/ ~/x");
    let shown = world.ahp(&["log", "show"]).stdout;
    for told in [asked.stdout, shown] {
        assert!(told.contains("\\u001b[31m"), "{told}");
    }
    let shown = world
        .ahp(&["log", "show", "--events", "-n", "1", "--json"])
        .stdout;
    assert_eq!(shown.lines().count(), 1, "{shown}");
}

#[test]
fn a_test_file_that_cannot_be_read_or_holds_no_test_is_a_failure() {
    let world = World::new("extends: [ahp:standard]\n");
    let good = "policy: ../hooks.yaml\ntrigger: pre-tool-use\ntests:\n  - name: one\n    command: ls\n    expect: none\n";
    world.write(".ahp/tests/ok.yaml", good);
    world.write(".ahp/notes.yaml", "");
    assert_eq!(world.ahp(&["test"]).code, 0);
    let latin: Vec<u8> = [good.as_bytes(), b"# \xe9\n"].concat();
    for (bytes, told) in [
        (latin.as_slice(), "cannot be read"),
        (b"", "the key `tests` is missing"),
        (b"tests: []\n", "the file holds no test"),
    ] {
        std::fs::write(world.path(".ahp/tests/bad.yaml"), bytes).unwrap();
        for args in [&["test"][..], &["test", ".ahp/tests/bad.yaml"]] {
            let ran = world.ahp(args);
            assert_eq!(ran.code, 1, "{told}: {}", ran.stdout);
            for said in [told, "bad.yaml"] {
                assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
            }
        }
    }
    let elsewhere = World::new("");
    std::fs::remove_dir_all(elsewhere.path(".ahp")).ok();
    let ran = elsewhere.ahp(&["test"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("`ahp init`"), "{}", ran.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_is_a_failure() {
    let world = World::new("extends: [ahp:standard]\n");
    for command in [
        &["check"][..],
        &["schema"],
        &["log", "stats", "--json"],
        &["--help"],
    ] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let ran = world.ahp_command().args(command).stdout(full).output();
        let ran = Ran::of(&ran.unwrap());
        assert_eq!(ran.code, 1, "{command:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("the output cannot be written"),
            "{command:?}: {}",
            ran.stderr
        );
    }
}
