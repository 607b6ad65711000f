//! Reads of secrets, and of what only looks so, by tools that are not a shell.

use serde::Deserialize;

use super::oracle::evaluate;
use crate::world::World;

/// One call of a tool, and what becomes of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    expect: String,
    tool: String,
    input: serde_json::Value,
}

#[test]
fn secrets_are_kept_from_every_tool_that_reads_or_sends() {
    let world = World::new("");
    let mut wrong = Vec::new();
    let mut counts = [0, 0];
    for line in include_str!("reads.jsonl").lines() {
        let read: Read = serde_json::from_str(line).unwrap();
        let found = evaluate(
            &world,
            "PermissionChecker",
            "{preset: secrets}",
            &read.tool,
            read.input.clone(),
        );
        let more = evaluate(&world, "PermissionChecker", "{}", &read.tool, read.input).unwrap();
        let is_stopped = !found.unwrap().is_empty() || !more.is_empty();
        let is_expected = read.expect == "stopped";
        assert!(is_expected || read.expect == "free", "{line}");
        counts[usize::from(is_expected)] += 1;
        if is_stopped != is_expected {
            wrong.push(line);
        }
    }
    assert!(counts.iter().all(|count| *count >= 50), "{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a path says is not all: a link leads elsewhere.
#[test]
fn a_link_to_a_secret_is_one() {
    let world = World::new("");
    world.write(".env", "A=1");
    world.write("notes.txt", "");
    std::os::unix::fs::symlink(world.root().join(".env"), world.root().join("link.txt")).unwrap();
    let read = |path: &str| {
        let input = serde_json::json!({"file_path": path});
        evaluate(&world, "PermissionChecker", "{}", "Read", input).unwrap()
    };
    assert_eq!(read("link.txt").len(), 1);
    assert!(read("notes.txt").is_empty());
}
