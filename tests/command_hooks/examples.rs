//! The five examples of VS Code's own manual (S3), run as printed.

use std::fs;
use std::path::Path;

use ahp::event::Event;
use ahp::signal::{Intensity, Signal};

use super::formats::evaluate;
use crate::hook_md::everywhere::with_command;
use crate::world::{World, copy, event, is_here};

pub(super) fn world(example: &str) -> World {
    let world = World::new("");
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command_hooks/seeds");
    copy(&seeds.join(example), &world.root());
    world
}

fn run(world: &World, example: &str, yaml: &str) -> Vec<Signal> {
    let config = format!("{{file: .github/hooks/{example}.json}}");
    evaluate(world, &config, &event(yaml)).unwrap()
}

/// Whether VS Code itself calls the tool by another name than its manual.
pub(super) fn is_own_name(event: &Event) -> bool {
    let name = event.tool.as_ref().map(|tool| tool.name.as_str());
    event.host.as_deref() == Some("vscode") && name != Some("runTerminalCommand")
}

fn shell(host: &str, tool: &str, command: &str) -> String {
    format!(
        "{{trigger: pre-tool-use, host: {host}, tool: {{name: {tool}, input: {{command: '{command}'}}}}}}"
    )
}

#[test]
fn dangerous_terminal_commands_are_blocked_under_every_host() {
    if !is_here("jq") {
        return;
    }
    let world = world("security");
    for (host, tool) in [
        ("vscode", "runTerminalCommand"),
        ("claude-code", "Bash"),
        ("gemini-cli", "run_shell_command"),
        ("kimi-cli", "Shell"),
    ] {
        let signals = run(&world, "security", &shell(host, tool, "rm -rf /tmp/x"));
        assert_eq!(
            signals[0].payload.text(),
            "Destructive command blocked by security policy"
        );
        assert_eq!(signals[0].intensity().name(), "block");
        assert!(run(&world, "security", &shell(host, tool, "ls")).is_empty());
    }
    let config = "{file: .github/hooks/security.json}";
    for (name, event) in with_command("rm -rf /tmp/x") {
        let signals = evaluate(&world, config, &event).unwrap();
        let blocks = signals
            .first()
            .is_some_and(|s| s.intensity() == Intensity::Block);
        // Its own host tells a file the names that the host's tools really have, as it would without us.
        assert!(blocks || is_own_name(&event), "{name}: {signals:?}");
    }
    assert!(
        run(
            &world,
            "security",
            "{trigger: post-tool-use, tool: {name: Bash}}"
        )
        .is_empty()
    );
}

#[test]
fn changed_files_are_formatted() {
    if !is_here("jq") || !is_here("npx") {
        return;
    }
    let world = world("formatting");
    // A file that is not there: prettier itself would have to come from the network.
    let edit = "{trigger: post-tool-use, host: vscode, tool: {name: editFiles, input: {files: [gone.ts]}}}";
    assert!(run(&world, "formatting", edit).is_empty());
    let shell =
        "{trigger: post-tool-use, host: vscode, tool: {name: runTerminalCommand, input: {}}}";
    assert!(run(&world, "formatting", shell).is_empty());
}

#[test]
fn every_tool_call_is_audited() {
    if !is_here("jq") {
        return;
    }
    let world = world("audit");
    let call = "{trigger: pre-tool-use, session_id: s-1, tool: {name: Bash, input: {command: ls}}}";
    assert!(run(&world, "audit", call).is_empty());
    assert_eq!(
        fs::read_to_string(world.root().join(".github/hooks/audit.log")).unwrap(),
        "[2026-01-15T10:30:00.000Z] Session: s-1, Tool: runTerminalCommand\n"
    );
}

#[test]
fn some_tools_must_be_confirmed() {
    if !is_here("jq") {
        return;
    }
    let world = world("approval");
    let signals = run(&world, "approval", &shell("claude-code", "Bash", "ls"));
    assert!(signals[0].asks());
    assert_eq!(
        signals[0].payload.text(),
        "This operation requires manual approval"
    );
    for (name, event) in with_command("make deploy") {
        let signals = evaluate(&world, "{file: .github/hooks}", &event).unwrap();
        let asks = signals.first().is_some_and(Signal::asks);
        assert!(asks || is_own_name(&event), "{name}: {signals:?}");
    }
    let read = "{trigger: pre-tool-use, tool: {name: Read, input: {file_path: a}}}";
    assert!(run(&world, "approval", read).is_empty());
}

#[test]
fn a_session_begins_with_context() {
    if !is_here("jq") || !is_here("git") {
        return;
    }
    let world = world("context");
    fs::write(
        world.root().join("package.json"),
        r#"{"name": "my-app", "version": "2.1.0"}"#,
    )
    .unwrap();
    let signals = run(&world, "context", "{trigger: pre-session}");
    assert_eq!(signals[0].intensity().name(), "aid");
    let text = signals[0].payload.text();
    assert!(
        text.starts_with("Project: my-app v2.1.0 | Branch: "),
        "{text}"
    );
}
