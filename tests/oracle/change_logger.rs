//! ChangeLogger.

use ahp::event::Trigger;
use ahp::signal::{Intensity, Signal};
use serde_json::{Value, json};
use sha2::Digest as _;

use super::bench::{Bench, config_error};
use crate::workspace::repository::Repository;
use crate::world::steps;

const NAME: &str = "ChangeLogger";

fn judge(
    repository: &Repository,
    trigger: Trigger,
    tool: &str,
    input: Value,
    config: &str,
) -> Option<Signal> {
    let bench = Bench::new(trigger, repository.workspace())
        .issue("FEAT-0123")
        .tool(tool, input);
    bench.judge(NAME, config).pop()
}

fn after(repository: &Repository, tool: &str, input: Value) -> String {
    let signal = judge(repository, Trigger::PostToolUse, tool, input, "").unwrap();
    assert_eq!(signal.intensity(), Intensity::Aid);
    signal.payload.text().to_owned()
}

#[test]
fn a_change_is_told_against_the_commit_then_against_what_was_seen() {
    let repository = Repository::new();
    repository.write("src/a.rs", "one\n").commit("first");
    repository.write("src/a.rs", "one\ntwo\n");
    let input = json!({"file_path": "src/a.rs"});
    assert_eq!(
        after(&repository, "Edit", input.clone()),
        format!(
            "`Edit` and 1 file:\n- src/a.rs changed: 1 line, 4 bytes, sha256 {} -> 2 lines, 8 bytes, sha256 {}",
            hash("one\n"),
            hash("one\ntwo\n")
        )
    );
    repository.write("src/a.rs", "three\n");
    let text = after(&repository, "Edit", input.clone());
    assert!(
        text.contains("2 lines, 8 bytes") && text.contains("-> 1 line, 6 bytes"),
        "{text}"
    );
    // Nothing changed since.
    assert!(judge(&repository, Trigger::PostToolUse, "Edit", input.clone(), "").is_none());
    let debug = judge(
        &repository,
        Trigger::PostToolUse,
        "Edit",
        input,
        "log_level: debug",
    )
    .unwrap();
    assert!(
        debug
            .payload
            .text()
            .contains("src/a.rs is unchanged: 1 line")
    );
}

fn hash(content: &str) -> String {
    let digest = sha2::Sha256::digest(content);
    let number = digest
        .iter()
        .take(8)
        .fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
    format!("{number:016x}")
}

#[test]
fn before_the_call_the_state_is_only_noted() {
    let repository = Repository::new();
    repository
        .write("a", "committed\n")
        .commit("first")
        .write("a", "edited by hand\n");
    let input = json!({"file_path": "a", "content": "x"});
    assert!(judge(&repository, Trigger::PreToolUse, "Write", input.clone(), "").is_none());
    repository.write("a", "x");
    let text = after(&repository, "Write", input);
    assert!(text.contains("a changed: 1 line, 15 bytes"), "{text}");
}

#[test]
fn shell_commands_are_followed_by_what_they_do() {
    let repository = Repository::new();
    repository
        .write("old", "o\n")
        .write("dir/x", "x\n")
        .commit("first");
    let run = |command: &str| json!({"command": command});
    repository.remove("old");
    repository.write("new", "n\n");
    let text = after(&repository, "Bash", run("echo n > new && rm -f old"));
    assert_eq!(text.lines().next(), Some("`Bash` and 2 files:"));
    assert!(
        text.contains("- new is new: 1 line, 2 bytes")
            && text.contains("- old is gone: it had 1 line, 2 bytes"),
        "{text}"
    );
    let warn = judge(
        &repository,
        Trigger::PostToolUse,
        "Bash",
        run("rm old"),
        "log_level: warn",
    );
    assert!(warn.is_none(), "{warn:?}");
    assert!(
        judge(
            &repository,
            Trigger::PostToolUse,
            "Bash",
            run("ls; cat new"),
            ""
        )
        .is_none()
    );
    assert!(
        judge(
            &repository,
            Trigger::PreToolUse,
            "Bash",
            run("rm -r dir"),
            ""
        )
        .is_none()
    );
    std::fs::remove_dir_all(repository.root().join("dir")).unwrap();
    let gone = judge(
        &repository,
        Trigger::PostToolUse,
        "Bash",
        run("rm -r dir"),
        "log_level: warn",
    )
    .unwrap();
    assert_eq!(gone.context.files, ["dir/x"]);
}

#[test]
fn each_change_can_be_appended_to_a_file() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    let config = "path: logs/changes.jsonl";
    let input = json!({"file_path": "a"});
    judge(
        &repository,
        Trigger::PostToolUse,
        "Write",
        input.clone(),
        config,
    )
    .unwrap();
    repository.write("a", "2\n");
    judge(
        &repository,
        Trigger::PostToolUse,
        "Write",
        input.clone(),
        config,
    )
    .unwrap();
    let text = std::fs::read_to_string(repository.root().join("logs/changes.jsonl")).unwrap();
    let entries: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(entries.len(), 2);
    assert_eq!(
        entries[0],
        json!({"timestamp": "2026-02-09T10:00:00Z", "session_id": null, "issue_id": "FEAT-0123", "tool": "Write",
            "path": "a", "after": {"bytes": 2, "lines": 1, "hash": hash("1\n")}})
    );
    assert_eq!(entries[1]["before"], entries[0]["after"]);
    // A link out of the project is not written through; the record itself is given all the same.
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), repository.root().join("out")).unwrap();
    repository.write("a", "3\n");
    let signal = judge(
        &repository,
        Trigger::PostToolUse,
        "Write",
        input,
        "path: out/x",
    )
    .unwrap();
    assert!(
        steps(&signal)[0].contains("leads out of the project"),
        "{signal:?}"
    );
    assert!(!outside.path().join("x").exists());
}

#[test]
fn other_tools_and_broken_state_are_no_trouble() {
    let repository = Repository::new();
    repository
        .write("a", "1\n")
        .write(".ahp/change-logger.json", "{broken");
    let input = json!({"file_path": "a"});
    assert!(judge(&repository, Trigger::PostToolUse, "Read", input.clone(), "").is_none());
    assert!(
        Bench::new(Trigger::PostToolUse, repository.workspace())
            .judge(NAME, "")
            .is_empty()
    );
    assert!(after(&repository, "Write", input).contains("a is new"));
}

#[test]
fn a_large_binary_file_is_told_in_figures() {
    let repository = Repository::new();
    repository.write("big.bin", vec![0_u8; 50 << 20]);
    let text = after(&repository, "Write", json!({"file_path": "big.bin"}));
    assert!(
        text.contains("big.bin is new: 1 line, 52428800 bytes"),
        "{text}"
    );
}

#[test]
fn a_wrong_configuration_is_told_at_its_place() {
    for path in ["/etc/x", "../x", "''"] {
        let error = config_error(NAME, &format!("path: {path}"));
        assert!(
            error.starts_with("hooks.yaml:1:7 ")
                && error.contains("expected a relative path without `..`"),
            "{error}"
        );
    }
    assert_eq!(
        config_error(NAME, "log_level: loud"),
        "hooks.yaml:1:12 `loud` is not one of the values offered"
    );
    assert_eq!(
        config_error(NAME, "level: info"),
        "hooks.yaml:1:1 unknown key `level`"
    );
}
