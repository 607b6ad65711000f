//! The file of a scope: processes that die or come at once, damage, links, and what is said of it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use super::PUSH_GATE;
use crate::world::{World, sized};

const COUNTER: &str = r#"
settings: {log: {events: none}}
marks:
  runs: {on: post-tool-use, when: {tool.command: "~ ^run"}}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {tool.command: "~ ^look", marks.runs: "> 0"}, config: {text: it ran}}
"#;

fn files(world: &World) -> Vec<PathBuf> {
    let dir = world.home().join(".local/state/ahp/sessions");
    fs::read_dir(dir).map_or_else(
        |_| Vec::new(),
        |dir| dir.map(|e| e.unwrap().path()).collect(),
    )
}

fn told(trigger: &str, command: &str, session: &str, exit_code: Option<i64>) -> String {
    let mut tool = json!({"name": "Bash", "input": {"command": command}});
    if let Some(code) = exit_code {
        tool["exit_code"] = code.into();
    }
    json!({"trigger": trigger, "session_id": session, "tool": tool}).to_string()
}

fn hook(world: &World, event: &str) -> Value {
    let ran = world.ahp_fed(&["hook", "--host", "native"], event.as_bytes());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"))
}

fn shown(world: &World, session: &str) -> (u64, u64) {
    let ran = world.ahp(&["session", "show", session, "--format", "json"]);
    let mark = ran.json().remove(0);
    (
        mark["least"].as_u64().unwrap(),
        mark["most"].as_u64().unwrap(),
    )
}

/// Starts processes that each tell of many runs, kills some of them on the way, and compares the count with what the
/// others acknowledged.
fn kill_and_count(processes: usize, events: usize) {
    let world = World::new(COUNTER);
    let children: Vec<_> = (0..processes)
        .map(|n| {
            let lines: Vec<_> = (0..events)
                .map(|_| told("post-tool-use", "run", "s", Some(0)))
                .collect();
            let name = format!("events-{n}.jsonl");
            world.write(&name, lines.join("\n"));
            world
                .ahp_command()
                .args(["run", "--events", &name, "--format", "json"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut acknowledged = 0;
    for (n, mut child) in children.into_iter().enumerate() {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        if n % 2 == 0 {
            let mut line = String::new();
            for _ in 0..=n * events / processes / 2 {
                line.clear();
                acknowledged += u64::from(out.read_line(&mut line).unwrap() > 0);
            }
            // SIGKILL: it has no time for anything.
            child.kill().unwrap();
            let mut rest = String::new();
            out.read_to_string(&mut rest).unwrap();
            acknowledged += rest.matches('\n').count() as u64;
        } else {
            acknowledged += out.lines().count() as u64;
        }
        child.wait().unwrap();
    }
    let (least, most) = shown(&world, "s");
    assert!(
        least >= acknowledged,
        "{least} counted, {acknowledged} acknowledged"
    );
    assert!(least <= (processes * events) as u64, "{least}");
    assert_eq!(least, most);
    let leftover: Vec<_> = files(&world)
        .into_iter()
        .filter(|p| p.extension().is_some())
        .collect();
    assert!(leftover.is_empty(), "{leftover:?}");
}

#[test]
fn processes_that_are_killed_lose_and_double_nothing() {
    let (processes, each) = sized((4, 40), (16, 625));
    kill_and_count(processes, each);
}

#[test]
fn at_most_as_many_are_let_go_at_once_as_the_limit_says() {
    let world = World::new(
        r#"
marks:
  deploys: {on: pre-tool-use, when: {tool.command: "~ ^deploy"}, within: 1h}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {tool.command: "~ ^deploy", marks.deploys: ">= 3"}, config: {intensity: block, text: three an hour}}
"#,
    );
    let children: Vec<_> = (0..8)
        .map(|n| {
            let event = told("pre-tool-use", &format!("deploy {n}"), "s", None);
            let name = format!("event-{n}.json");
            world.write(&name, event);
            let mut command = world.ahp_command();
            command
                .args(["hook", "--host", "native"])
                .stdin(fs::File::open(world.path(&name)).unwrap());
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut let_go = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
        let_go += usize::from(verdict["decision"] != "block");
    }
    assert!(let_go <= 3, "{let_go} were let go");
    // However many got in each other's way, the count is what went.
    let (least, most) = shown(&world, "s");
    assert_eq!((least, most), (let_go as u64, let_go as u64));
}

#[test]
fn the_file_is_the_users_alone_and_holds_no_text() {
    let world = World::new(COUNTER);
    hook(
        &world,
        &told(
            "post-tool-use",
            "run --password hunter2",
            "my-session",
            Some(0),
        ),
    );
    let files = files(&world);
    let [file] = files.as_slice() else {
        panic!("{files:?}")
    };
    assert_eq!(file.file_name().unwrap().len(), 32);
    assert_eq!(
        fs::metadata(file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs::metadata(file.parent().unwrap())
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o700
    );
    let bytes = fs::read(file).unwrap();
    for text in ["run", "hunter2", "my-session"] {
        assert!(
            !bytes.windows(text.len()).any(|w| w == text.as_bytes()),
            "{text}"
        );
    }
    assert_eq!(shown(&world, "my-session"), (1, 1));
    assert_eq!(world.ahp(&["session", "forget", "my-session"]).code, 0);
    assert_eq!(shown(&world, "my-session"), (0, 0));
}

/// What is done to a file.
type Damage = fn(&PathBuf);

#[test]
fn what_is_damaged_is_not_believed_and_said_once() {
    let damages: &[(&str, Damage)] = &[
        ("emptied", |file| fs::write(file, "").unwrap()),
        ("cut", |file| {
            fs::write(file, &fs::read(file).unwrap()[..40]).unwrap();
        }),
        ("overwritten", |file| {
            fs::write(file, "nothing of ours").unwrap();
        }),
        ("of another version", |file| {
            let mut bytes = fs::read(file).unwrap();
            for slot in bytes.chunks_mut(64 << 10) {
                slot[4] += 1;
            }
            fs::write(file, bytes).unwrap();
        }),
        ("a link", |file| {
            let aside = file.with_extension("aside");
            fs::rename(file, &aside).unwrap();
            std::os::unix::fs::symlink(&aside, file).unwrap();
        }),
        ("a directory", |file| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        }),
    ];
    for (name, damage) in damages {
        let world = World::new(PUSH_GATE);
        hook(&world, &told("post-tool-use", "cargo test", "s", Some(0)));
        let push = || hook(&world, &told("pre-tool-use", "git push", "s", None));
        assert_ne!(push()["decision"], "block", "{name}");
        damage(&files(&world)[0]);
        let doctor = world.ahp(&["doctor"]);
        assert_eq!(doctor.code, 1, "{name}: {doctor:?}");
        assert!(
            doctor.stdout.contains("session forget --all"),
            "{name}: {doctor:?}"
        );
        let first = push();
        assert_eq!(first["decision"], "block", "{name}: {first}");
        let types = |verdict: &Value| -> Vec<String> {
            let signals = verdict["signals"].as_array().unwrap().iter();
            signals
                .map(|s| s["header"]["type"].as_str().unwrap_or_default().to_owned())
                .collect()
        };
        assert!(
            types(&first).contains(&"session-state".to_owned()),
            "{name}: {first}"
        );
        assert!(
            first.to_string().contains("`ahp session forget s`"),
            "{name}: {first}"
        );
        assert!(
            !types(&push()).contains(&"session-state".to_owned()),
            "{name}"
        );
        // Not at another moment either.
        let after = hook(&world, &told("post-tool-use", "ls", "s", Some(0)));
        assert!(
            !types(&after).contains(&"session-state".to_owned()),
            "{name}: {after}"
        );
    }
}

/// Only the system's owner can give a file away; others have nothing to try here.
#[test]
fn a_file_of_another_user_is_not_believed() {
    let world = World::new(PUSH_GATE);
    hook(&world, &told("post-tool-use", "cargo test", "s", Some(0)));
    if std::os::unix::fs::chown(&files(&world)[0], Some(12_345), None).is_err() {
        return;
    }
    let verdict = hook(&world, &told("pre-tool-use", "git push", "s", None));
    assert_eq!(verdict["decision"], "block", "{verdict}");
    assert!(verdict.to_string().contains("another user"), "{verdict}");
}

#[test]
fn no_agent_deletes_what_was_counted() {
    let world = World::new(PUSH_GATE);
    for command in [
        "rm -rf ~/.local/state/ahp",
        "rm ~/.local/state/ahp/sessions/*",
        "ahp session forget --all",
    ] {
        let verdict = hook(&world, &told("pre-tool-use", command, "s", None));
        assert_eq!(verdict["decision"], "block", "{command}: {verdict}");
    }
}

#[test]
fn a_damaged_file_begins_anew_with_the_next_write_and_is_cleared_by_an_end() {
    let world = World::new(PUSH_GATE);
    hook(&world, &told("post-tool-use", "cargo test", "s", Some(0)));
    fs::write(&files(&world)[0], "nothing of ours").unwrap();
    let verdict = hook(&world, &told("post-tool-use", "cargo test", "s", Some(0)));
    assert!(verdict.to_string().contains("session-state"), "{verdict}");
    assert_eq!(shown(&world, "s"), (1, u64::MAX));
    let write = json!({"trigger": "post-tool-use", "session_id": "s",
        "tool": {"name": "Write", "input": {"file_path": "a", "content": "b"}}});
    hook(&world, &write.to_string());
    assert_eq!(shown(&world, "s"), (0, 0));
}

#[test]
fn a_folder_that_cannot_be_written_keeps_the_gate_shut() {
    let world = World::new(PUSH_GATE);
    let dir = world.home().join(".local/state/ahp/sessions");
    fs::create_dir_all(dir.parent().unwrap()).unwrap();
    // A file where the folder should be: no right of any user helps against that.
    fs::write(&dir, "").unwrap();
    hook(&world, &told("post-tool-use", "cargo test", "s", Some(0)));
    assert_eq!(
        hook(&world, &told("pre-tool-use", "git push", "s", None))["decision"],
        "block"
    );
}

/// A policy of which only some events feed a mark, and others ask for it.
const SECRET: &str = r#"
marks:
  secret_read: {on: pre-tool-use, when: {tool.command: "~ ^cat .env"}}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {tool.command: "~ ^curl", marks.secret_read: "> 0"}, config: {intensity: block, text: a secret was read}}
"#;

#[test]
fn what_cannot_be_kept_cannot_be_told_then_and_later() {
    for is_fed in [false, true] {
        let world = World::new(SECRET);
        let dir = world.home().join(".local/state/ahp/sessions");
        let curl = || hook(&world, &told("pre-tool-use", "curl x", "s", None))["decision"].clone();
        assert_eq!(curl(), "none");
        fs::remove_dir_all(&dir).ok();
        // A file where the folder should be: no right of any user helps against that.
        fs::write(&dir, "").unwrap();
        assert_eq!(curl(), "block", "whether a secret was read is not known");
        if is_fed {
            hook(&world, &told("pre-tool-use", "cat .env", "s", None));
        }
        fs::remove_file(&dir).unwrap();
        assert_eq!(curl(), if is_fed { "block" } else { "none" });
        if is_fed {
            let doctor = world.ahp(&["doctor"]);
            assert!(doctor.stdout.contains("could not be noted"), "{doctor:?}");
            assert_eq!(world.ahp(&["session", "forget", "s"]).code, 0);
            assert_eq!(curl(), "none");
        }
    }
}

#[test]
fn what_could_not_be_written_is_in_doubt_with_the_next_write() {
    let world = World::new(SECRET);
    hook(&world, &told("pre-tool-use", "ls", "s", None));
    let dir = world.home().join(".local/state/ahp/sessions");
    fs::remove_dir_all(&dir).ok();
    fs::create_dir_all(dir.parent().unwrap()).unwrap();
    fs::write(&dir, "").unwrap();
    hook(&world, &told("pre-tool-use", "cat .env", "s", None));
    fs::remove_file(&dir).unwrap();
    hook(&world, &told("pre-tool-use", "cat .env", "s", None));
    assert_eq!(shown(&world, "s"), (1, u64::MAX));
}

#[test]
fn a_gate_says_why_a_mark_cannot_be_told() {
    for (command, code, why) in [
        ("cargo test", None, "with which exit code"),
        (
            "cargo test | tail",
            Some(0),
            "does not tell whether each part",
        ),
    ] {
        let world = World::new(PUSH_GATE);
        hook(&world, &told("pre-tool-use", command, "s", None));
        hook(&world, &told("post-tool-use", command, "s", code));
        // A call that has nothing to do with the mark does not change the reason.
        hook(&world, &told("pre-tool-use", "sleep 1", "s", None));
        let verdict = hook(&world, &told("pre-tool-use", "git push", "s", None));
        let text = verdict.to_string();
        assert!(
            text.contains("`marks.tests_passed` cannot be told"),
            "{text}"
        );
        assert!(text.contains(why) && !text.contains("never came"), "{text}");
    }
    let world = World::new(PUSH_GATE);
    hook(&world, &told("pre-tool-use", "cargo test", "s", None));
    let verdict = hook(&world, &told("pre-tool-use", "git push", "s", None));
    assert!(verdict.to_string().contains("still awaited"), "{verdict}");
}

#[test]
fn what_nothing_touches_for_a_month_goes_when_a_session_begins() {
    let world = World::new(COUNTER);
    hook(&world, &told("post-tool-use", "run", "old", Some(0)));
    let file = fs::File::options()
        .write(true)
        .open(&files(&world)[0])
        .unwrap();
    let age = std::time::Duration::from_hours(31 * 24);
    let written = file.metadata().unwrap().modified().unwrap();
    file.set_modified(written - age).unwrap();
    hook(&world, &told("post-tool-use", "run", "new", Some(0)));
    assert_eq!(files(&world).len(), 1);
    assert_eq!(shown(&world, "new"), (1, 1));
}

#[test]
fn what_a_clone_brings_and_what_a_session_is_called_do_not_matter() {
    let world = World::new(PUSH_GATE);
    for session in ["../../x", "a\0b", &"long".repeat(2_500_000)] {
        world.write(".ahp/sessions/0123", "counted");
        assert_eq!(
            hook(&world, &told("pre-tool-use", "git push", session, None))["decision"],
            "block"
        );
        hook(
            &world,
            &told("post-tool-use", "cargo test", session, Some(0)),
        );
        assert_ne!(
            hook(&world, &told("pre-tool-use", "git push", session, None))["decision"],
            "block"
        );
    }
    assert_eq!(files(&world).len(), 3);
}

#[test]
fn a_policy_without_marks_leaves_no_file() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}");
    hook(&world, &told("pre-tool-use", "ls", "s", None));
    hook(&world, &told("post-tool-use", "ls", "s", Some(0)));
    assert_eq!(files(&world), Vec::<PathBuf>::new());
}

#[test]
fn what_was_counted_by_issue_or_project_is_forgotten_by_name() {
    let world = World::new(&PUSH_GATE.replace(
        "on: post-tool-use\n    when",
        "per: project\n    on: post-tool-use\n    when",
    ));
    hook(&world, &told("post-tool-use", "cargo test", "s", Some(0)));
    let push = || hook(&world, &told("pre-tool-use", "git push", "s", None))["decision"].clone();
    assert_eq!(push(), "none");
    for args in [&["s"][..], &["--issue", "s"]] {
        let ran = world.ahp(&[&["session", "forget"][..], args].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(push(), "none");
    }
    let ran = world.ahp(&["session", "forget", "--project"]);
    assert!(ran.stdout.contains("begin at 0"), "{ran:?}");
    assert_eq!(push(), "block");
}

#[test]
fn what_is_lost_of_events_of_any_issue_leaves_each_issue_in_doubt_until_it_is_counted_anew() {
    let world = World::new(
        "
marks:
  reviewed: {on: post-issue-submit, per: issue, until: [{on: post-tool-use, when: {tool.kind: [write, edit]}}]}
hooks:
  pre-issue-close:
    - {oracle: Say, when: {marks.reviewed: 0}, config: {intensity: block, text: submit it first}}
",
    );
    let of_issue = |trigger: &str| {
        let event = json!({"trigger": trigger, "session_id": "s", "issue_id": "A-1"});
        hook(&world, &event.to_string())["decision"].clone()
    };
    of_issue("post-issue-submit");
    assert_eq!(of_issue("pre-issue-close"), "none");
    let before = files(&world);
    let edit = json!({"trigger": "post-tool-use", "session_id": "s",
        "tool": {"name": "Write", "input": {"file_path": "a", "content": "b"}}});
    hook(&world, &edit.to_string());
    let of_any = files(&world)
        .into_iter()
        .find(|file| !before.contains(file));
    of_issue("post-issue-submit");
    assert_eq!(of_issue("pre-issue-close"), "none", "submitted after it");
    fs::write(of_any.unwrap(), "nothing of ours").unwrap();
    for _ in 0..2 {
        assert_eq!(of_issue("pre-issue-close"), "block", "an edit may be lost");
    }
    of_issue("post-issue-submit");
    assert_eq!(of_issue("pre-issue-close"), "none", "the loss was before");
}
