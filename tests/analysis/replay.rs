//! `ahp replay`: what another policy would have changed.

use std::fs;
use std::path::Path;

use ahp::process::Exit;
use ahp::process::Program;
use serde_json::Value;
use serde_json::json;

fn ahp(dir: &Path, args: &[&str]) -> (i32, String) {
    let mut argv = vec![env!("CARGO_BIN_EXE_ahp").to_owned()];
    argv.extend(args.iter().map(|a| (*a).to_owned()));
    let done = Program::new(argv).dir(dir.to_owned()).run().unwrap();
    let Exit::Code(code) = done.exit else {
        panic!("ended by {:?}", done.exit);
    };
    let said = [done.stdout, done.stderr].concat();
    (code, String::from_utf8(said).unwrap())
}

/// A project that lets `rm -rf` pass and has seen it, beside something harmless.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".ahp")).unwrap();
    let policy = "hooks:\n  pre-tool-use:\n    - {oracle: PermissionChecker, config: {dangerous_commands: [make clean]}}\n";
    fs::write(dir.path().join(".ahp/hooks.yaml"), policy).unwrap();
    for command in ["make deploy", "ls", "make clean"] {
        let input = json!({"command": command}).to_string();
        ahp(
            dir.path(),
            &[
                "run",
                "pre-tool-use",
                "--tool",
                "Bash",
                "--input",
                &input,
                "--session",
                "s1",
            ],
        );
    }
    dir
}

#[test]
fn a_stricter_policy_newly_blocks_and_a_laxer_one_newly_allows() {
    let dir = project();
    let policy = "hooks:\n  pre-tool-use:\n    - {oracle: PermissionChecker, id: strict, config: {dangerous_commands: [make deploy]}}\n";
    fs::write(dir.path().join("new.yaml"), policy).unwrap();
    let (code, said) = ahp(
        dir.path(),
        &["replay", "--policy", "new.yaml", "--format", "json"],
    );
    assert_eq!(code, 0, "{said}");
    let outcome: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(outcome["newly_blocked"], 1, "{said}");
    assert_eq!(outcome["newly_allowed"], 1, "{said}");
    assert_eq!(outcome["unchanged"], 1, "{said}");
    assert_eq!(outcome["changes"][0]["old"], "none");
    assert_eq!(outcome["changes"][0]["new"], "block");
    assert!(
        outcome["changes"][0]["by"][0]
            .as_str()
            .unwrap()
            .starts_with("strict (")
    );

    let (code, _) = ahp(
        dir.path(),
        &["replay", "--policy", "new.yaml", "--deny-new-blocks"],
    );
    assert_eq!(code, 1);
    let (code, _) = ahp(
        dir.path(),
        &["replay", "--policy", "new.yaml", "--deny-new-allows"],
    );
    assert_eq!(code, 1);
    // The replay leaves no trace in the log.
    let (_, said) = ahp(dir.path(), &["log", "stats", "--json"]);
    let stats: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(stats["evaluations"], 3);
}

#[test]
fn the_policy_in_force_changes_nothing() {
    let dir = project();
    let (code, said) = ahp(
        dir.path(),
        &["replay", "--deny-new-blocks", "--deny-new-allows"],
    );
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("0 newly blocked, 0 newly allowed, 3 unchanged"),
        "{said}"
    );
}

#[test]
fn a_line_that_is_no_record_is_left_out_and_said() {
    let dir = project();
    let path = dir.path().join(".ahp/signals.jsonl");
    let log = fs::read_to_string(&path).unwrap();
    fs::write(&path, log.replacen("\"kind\"", "\"kin", 1)).unwrap();
    let (code, said) = ahp(dir.path(), &["replay", "--deny-new-blocks"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("2 unchanged"), "{said}");
    assert!(said.contains("1 line of the log is no record"), "{said}");
}

#[test]
fn a_broken_policy_and_a_missing_log_are_said() {
    let dir = project();
    fs::write(dir.path().join("bad.yaml"), "hooks: {pre-tool-usee: []}\n").unwrap();
    let (code, said) = ahp(dir.path(), &["replay", "--policy", "bad.yaml"]);
    assert_eq!(code, 1);
    assert!(said.contains("pre-tool-use"), "{said}");
    let (code, said) = ahp(dir.path(), &["replay", "nowhere.jsonl"]);
    assert_eq!(code, 1);
    assert!(said.contains("no log at `nowhere.jsonl`"), "{said}");
}
