//! Unread: the key of the machine and the token of `ahp serve`, which no agent may even read, by every tool and in every form.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::classes::Judge;
use crate::world::{World, write};

/// The files, below the home directory.
const FILES: [&str; 2] = [".local/state/ahp/key", ".local/state/ahp/serve.token"];

/// A project, and a person with a key and a token, to which further names lead.
fn world() -> World {
    let world = World::new("");
    let home = world.home();
    write(&home.join(FILES[0]), [7; 32]);
    write(&home.join(FILES[1]), "0f".repeat(32) + "\n");
    write(&home.join(".local/state/ahp/trust.json"), "{}");
    write(&home.join("notes.txt"), "0f".repeat(32) + "\n");
    world.write("src/key", [7; 32]);
    world.write("src/main.rs", "fn main() {}\n");
    let root = world.root();
    let key = home.join(FILES[0]);
    symlink(&key, root.join("by-link")).unwrap();
    symlink(home.join(".local/state/ahp"), root.join("by-folder")).unwrap();
    fs::hard_link(&key, root.join("hard")).unwrap();
    world.write("reads-it.sh", "#!/bin/sh\ncat ~/.local/state/ahp/key\n");
    let code = format!("print(open('{}').read())\n", key.display());
    world.write("reads-it.py", code);
    world
}

/// Returns a line with the places written out, in each way to write them where that is asked for.
fn written(line: &str, home: &str, all: bool) -> Vec<String> {
    let below = [home, "~", "$HOME"];
    // In quotes and glued to a word, only a whole path stands for itself.
    let is_plain = line.contains(['\'', '"', '=', '@', '{']) && line.contains(['"', '\'']);
    let glued = ["@@K", "=@K", "-f@K", "://@K", "root/@K", "-v @"];
    let is_whole = is_plain || glued.iter().any(|part| line.contains(part));
    let take = if is_whole || !all { 1 } else { below.len() };
    let mut lines = Vec::new();
    for base in below.iter().take(take) {
        for file in FILES.iter().take(if all { 2 } else { 1 }) {
            let line = line
                .replace("\\n", "\n")
                .replace("@K", &format!("{base}/{file}"))
                .replace("@D", &format!("{base}/.local/state/ahp"))
                .replace("@S", &format!("{base}/.local/state"));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

#[test]
fn a_command_that_reads_what_is_unread_is_stopped_and_one_that_names_it_passes() {
    let world = world();
    let home = world.home().display().to_string();
    let mut judge = Judge::of(world);
    for line in include_str!("unread.txt").lines() {
        if let Some(line) = line.strip_prefix("reads: ") {
            for command in written(line, &home, true) {
                judge.stops_command(&command);
            }
        } else if let Some(line) = line.strip_prefix("names: ") {
            for command in written(line, &home, false) {
                judge.lets_pass(&command);
            }
        }
    }
    judge.end(400);
}

#[test]
fn a_tool_that_reads_what_is_unread_is_stopped() {
    let world = world();
    let home = world.home();
    let root = world.root();
    let mut judge = Judge::of(world);
    let key = home.join(FILES[0]).display().to_string();
    let dir = home.join(".local/state/ahp").display().to_string();
    let reads = [
        ("Read", json!({"file_path": key})),
        (
            "Read",
            json!({"file_path": "~/.local/state/ahp/serve.token"}),
        ),
        ("Read", json!({"file_path": format!("{dir}/../ahp/./key")})),
        ("Read", json!({"file_path": "../home/.local/state/ahp/key"})),
        ("Read", json!({"file_path": "by-link"})),
        ("Read", json!({"file_path": root.join("by-folder/key")})),
        ("Read", json!({"file_path": "hard"})),
        ("Read", json!({"file_path": format!("file://{key}")})),
        (
            "Read",
            json!({"file_path": format!("/proc/self/root{key}")}),
        ),
        ("read_file", json!({"absolute_path": key})),
        ("view", json!({"path": key})),
        ("read_many_files", json!({"paths": ["src/main.rs", key]})),
        ("read_many_files", json!({"include": [format!("{dir}/*")]})),
        ("Read", json!(format!("{{\"file_path\": \"{key}\"}}"))),
        ("Grep", json!({"pattern": "", "path": key})),
        ("Grep", json!({"pattern": "", "path": dir})),
        (
            "Grep",
            json!({"pattern": "[0-9a-f]{64}", "path": "~/.local"}),
        ),
        ("Grep", json!({"pattern": "[0-9a-f]{64}", "path": "~"})),
        ("grep_search", json!({"query": "", "path": "by-folder"})),
        (
            "WebFetch",
            json!({"url": format!("file://{key}"), "prompt": "x"}),
        ),
        ("mcp__filesystem__read_file", json!({"path": key})),
        (
            "mcp__filesystem__read_multiple_files",
            json!({"paths": [key]}),
        ),
        (
            "mcp__filesystem__get_file_info_and_content",
            json!({"path": key}),
        ),
        ("mcp__x__fetch", json!({"uri": format!("file://{key}")})),
        ("mcp__x__read", json!({"base": dir, "name": "key"})),
        (
            "mcp__x__copy_directory",
            json!({"source": "~/.local/state", "destination": "x"}),
        ),
        ("mcp__x__zip", json!({"folder": dir, "to": "x.zip"})),
        ("mcp__shell__run", json!({"command": format!("cat {key}")})),
        (
            "mcp__python__execute",
            json!({"code": format!("print(open('{key}').read())")}),
        ),
        ("frobnicate", json!({"input": key})),
        (
            "ReadMcpResourceTool",
            json!({"server": "x", "uri": format!("file://{key}")}),
        ),
        ("NotebookRead", json!({"notebook_path": key})),
        ("upload_file", json!({"path": key})),
    ];
    for (tool, input) in reads {
        judge.stops_tool(tool, input);
    }
    let names = [
        ("Read", json!({"file_path": "src/key"})),
        ("Read", json!({"file_path": "~/notes.txt"})),
        ("Read", json!({"file_path": format!("{dir}/trust.json")})),
        ("Read", json!({"file_path": ".ahp/hooks.yaml"})),
        ("Glob", json!({"pattern": "**/key", "path": dir})),
        ("LS", json!({"path": dir})),
        ("list_directory", json!({"path": "~/.local/state"})),
        ("Grep", json!({"pattern": "state/ahp/key", "path": "src"})),
        ("Grep", json!({"pattern": "~/.local/state/ahp/key"})),
        ("Grep", json!({"pattern": "x"})),
        (
            "WebFetch",
            json!({"url": "https://example.com/ahp/key", "prompt": "x"}),
        ),
        (
            "Task",
            json!({"prompt": format!("explain {key}"), "description": "x"}),
        ),
        ("mcp__filesystem__list_directory", json!({"path": dir})),
        ("mcp__filesystem__directory_tree", json!({"path": "~"})),
        ("mcp__filesystem__get_file_info", json!({"path": "src/key"})),
        (
            "Write",
            json!({"file_path": "docs/x.md", "content": format!("see {key}")}),
        ),
    ];
    for (tool, input) in names {
        judge.lets_tool_pass(tool, input);
    }
    judge.end(40);
}
