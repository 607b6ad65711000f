//! `ahp respond` and `ahp log`, through the command line.

use std::fs;
use std::path::Path;

use ahp::process::{Exit, Program};
use ahp::signal::Signal;
use ahp::signal_log::Reader;
use serde_json::{Value, json};

use super::making::{accepted, at, blocked, own_log, signal};

struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Said {
    fn json(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines.map(|l| serde_json::from_str(l).unwrap()).collect()
    }
}

fn ahp(dir: &Path, args: &[&str]) -> Said {
    ahp_with(dir, args, "")
}

fn ahp_with(dir: &Path, args: &[&str], stdin: &str) -> Said {
    let mut argv = vec![env!("CARGO_BIN_EXE_ahp").to_owned()];
    argv.extend(args.iter().map(|a| (*a).to_owned()));
    let finished = Program::new(argv)
        .dir(dir.to_owned())
        .env("XDG_STATE_HOME", dir.join(".local/state"))
        .stdin(stdin.as_bytes().to_vec())
        .run()
        .unwrap();
    let Exit::Code(code) = finished.exit else {
        panic!("ended by {:?}", finished.exit);
    };
    Said {
        code,
        out: String::from_utf8(finished.stdout).unwrap(),
        err: String::from_utf8(finished.stderr).unwrap(),
    }
}

/// A project with one block (2 of 3 done), then an accept, a prompt and an aid.
pub(super) fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".ahp")).unwrap();
    let log = own_log(dir.path());
    log.append(blocked(0xabcd_0001, "a"), at(0)).unwrap();
    log.append(vec![accepted()], at(900)).unwrap();
    let mut bodies = blocked(0xabcd_0002, "b");
    bodies[1] = signal(0xabcd_0002, Signal::prompt("change-size", "25 files"), "b");
    bodies.push(signal(
        0xabcd_0003,
        Signal::aid("tip", "reviewers told"),
        "c",
    ));
    log.append(bodies, at(1000)).unwrap();
    dir
}

#[test]
fn show_gives_the_flattened_view() {
    let dir = project();
    let said = ahp(dir.path(), &["log", "show", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let seen = said.json();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[0]["hook"], "pre-issue-submit");
    assert_eq!(seen[0]["intensity"], "block");
    assert_eq!(seen[0]["source"], "checklist-validator");
    assert_eq!(seen[0]["consumed"], false);
    assert_eq!(seen[0]["action"], Value::Null);

    let human = ahp(dir.path(), &["log", "show"]);
    assert!(human.out.contains("25 files"), "{}", human.out);
    assert!(!human.out.contains('\u{1b}'));
}

#[test]
fn filters_choose() {
    let dir = project();
    let count = |args: &[&str]| {
        let mut all = vec!["log", "show", "--json"];
        all.extend(args);
        let said = ahp(dir.path(), &all);
        assert_eq!(said.code, 0, "{}", said.err);
        said.json().len()
    };
    assert_eq!(count(&["--intensity", "block"]), 1);
    assert_eq!(count(&["--oracle", "ChecklistValidator"]), 3);
    assert_eq!(count(&["--issue", "FEAT-0123"]), 3);
    assert_eq!(count(&["--issue", "feat-0123"]), 3);
    assert_eq!(count(&["--host", "Claude-Code"]), 3);
    assert_eq!(count(&["--session", "s2"]), 0);
    assert_eq!(count(&["--host", "claude-code"]), 3);
    assert_eq!(count(&["--hook", "pre-issue-submit", "-n", "2"]), 2);
    assert_eq!(count(&["--since", "2026-02-02T02:50:00Z"]), 2);
    // A day is meant whole.
    assert_eq!(count(&["--until", "2026-02-01"]), 0);
    assert_eq!(count(&["--until", "2026-02-02"]), 3);
    assert_eq!(
        count(&["--since", "2026-02-02", "--until", "2026-02-02"]),
        3
    );
    assert_eq!(count(&["--unanswered"]), 3);
    let said = ahp(dir.path(), &["log", "show", "--hook", "pre-issue-submitt"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(
        said.err.contains("did you mean `pre-issue-submit`?"),
        "{}",
        said.err
    );
    let said = ahp(dir.path(), &["log", "show", "--oracle", "other"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("the oracle `other`"), "{}", said.err);
    let said = ahp(dir.path(), &["log", "show", "--since", "soon"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("expected `30m`"), "{}", said.err);
}

#[test]
fn a_signal_is_answered_by_last_by_digits_and_on_stdin() {
    let dir = project();
    // `last` is the one of the newest signals that the action can answer.
    let said = ahp(
        dir.path(),
        &["respond", "last", "acknowledge", "--note", "checked"],
    );
    assert_eq!(said.code, 0, "{}", said.err);
    let said = ahp(
        dir.path(),
        &["respond", "abcd0001", "retry_after_fix", "--by", "human"],
    );
    assert_eq!(said.code, 0, "{}", said.err);
    let id = "00000000-0000-0000-0000-0000abcd0003";
    let told = json!({"signal_id": id, "action": "suggestion_deferred", "details": {"why": 1}});
    let said = ahp_with(
        dir.path(),
        &["respond", "--stdin", "--format", "json"],
        &told.to_string(),
    );
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(said.json()[0]["signal_id"], id);

    let seen = ahp(dir.path(), &["log", "show", "--json"]).json();
    let actions: Vec<_> = seen.iter().map(|e| e["action"].as_str().unwrap()).collect();
    assert_eq!(
        actions,
        ["retry_after_fix", "acknowledge", "suggestion_deferred"]
    );
    assert_eq!(seen[0]["by"], "human");
    assert!(
        ahp(dir.path(), &["log", "show", "--unanswered"])
            .out
            .is_empty()
    );
    assert_eq!(ahp(dir.path(), &["log", "verify"]).code, 0);
}

#[test]
fn what_cannot_be_answered_so_is_said() {
    let dir = project();
    let said = ahp(dir.path(), &["respond", "abcd0001", "dismiss"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err
            .contains("expected `retry_after_fix`, `proceed_with_risk`, `abort`"),
        "{}",
        said.err
    );
    let said = ahp(dir.path(), &["respond", "00000000", "abort"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("may mean several signals"),
        "{}",
        said.err
    );
    assert!(
        said.err.contains("0000abcd0002 prompt checklist"),
        "{}",
        said.err
    );
    let said = ahp(dir.path(), &["respond", "ffffffff", "abort"]);
    assert!(said.err.contains("no signal has the id"), "{}", said.err);
    let said = ahp(dir.path(), &["respond", "latest", "abort"]);
    assert!(said.err.contains("expected `last`"), "{}", said.err);
    let said = ahp(dir.path(), &["respond", "--stdin"]);
    assert!(said.err.contains("the answer on stdin"), "{}", said.err);
}

#[test]
fn a_block_that_may_not_be_overridden_is_refused_and_logged() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".ahp")).unwrap();
    let log = own_log(dir.path());
    let mut bodies = blocked(1, "a");
    if let ahp::signal_log::Body::Signal(record) = &mut bodies[1] {
        record.origin.overridable = false;
    }
    log.append(bodies, at(0)).unwrap();
    let said = ahp(dir.path(), &["respond", "last", "proceed_with_risk"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("`checklist` (.ahp/hooks.yaml:4)"),
        "{}",
        said.err
    );
    let seen = ahp(dir.path(), &["log", "show", "--json"]).json();
    assert_eq!(seen[0]["consumed"], false);
    assert!(seen[0]["refused"].is_string());
}

#[test]
fn damage_is_told_with_exit_1() {
    let dir = project();
    let path = dir.path().join(".ahp/signals.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("2 of 3", "3 of 3")).unwrap();
    let said = ahp(dir.path(), &["log", "verify"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("edited: "), "{}", said.err);
    let said = ahp(dir.path(), &["log", "verify", "--format", "json"]);
    assert_eq!(said.json()[0]["damage"]["seq"], 2);
}

#[test]
fn exports_hold_all_and_quote_what_must_be() {
    let dir = project();
    let csv = ahp(dir.path(), &["log", "export", "--format", "csv"]).out;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("timestamp,hook,intensity,source,consumed,action,"));
    let raw = ahp(dir.path(), &["log", "export", "--raw"]);
    let path = dir.path().join(".ahp/signals.jsonl");
    assert_eq!(raw.out, fs::read_to_string(&path).unwrap());
    let raw = ahp(dir.path(), &["log", "export", "--raw", "--format", "csv"]).out;
    assert_eq!(raw.lines().count(), 7);
    assert!(raw.contains("\"{\"\"seq\"\":1,"), "{raw}");
}

#[test]
fn what_shows_nothing_says_why() {
    let dir = project();
    let empty = tempfile::tempdir().unwrap();
    for command in ["show", "tail", "stats", "advise"] {
        let said = ahp(dir.path(), &["log", command, "--issue", "FEAT-9999"]);
        assert_eq!((said.code, said.out.as_str()), (0, ""), "{command}");
        assert!(
            said.err.contains("what these filters ask for"),
            "{}",
            said.err
        );
        let said = ahp(empty.path(), &["log", command]);
        assert_eq!((said.code, said.out.as_str()), (0, ""), "{command}");
        assert!(said.err.contains("nothing is logged in `"), "{}", said.err);
    }
    let said = ahp(empty.path(), &["log", "verify"]);
    assert!(said.err.contains("nothing is logged in `"), "{}", said.err);
    // The head of a table stands above no rows, too; it names the members of the JSON.
    let said = ahp(empty.path(), &["log", "export", "--format", "csv"]);
    let json = ahp(dir.path(), &["log", "export"]).json();
    let members: Vec<_> = json[0].as_object().unwrap().keys().cloned().collect();
    assert_eq!(said.out, members.join(",") + "\r\n");
}

#[test]
fn a_named_log_must_be_there_and_the_projects_own_may_be_empty() {
    let dir = tempfile::tempdir().unwrap();
    let said = ahp(dir.path(), &["log", "show", "--log", "nowhere.jsonl"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("there is no log at `nowhere.jsonl`"),
        "{}",
        said.err
    );
    let said = ahp(dir.path(), &["log", "show", "--json"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    let said = ahp(dir.path(), &["respond", "last", "abort"]);
    assert_eq!(said.code, 1);
    assert!(
        Reader::open(dir.path().join(".ahp/signals.jsonl"))
            .unwrap()
            .is_empty()
    );
}
