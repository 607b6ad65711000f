//! Ways in which an agent could get round or disarm the policy: each blocked, or listed as out of reach with the reason.

mod brought;
mod classes;
mod cleaned;
mod everyday;
mod fields;
mod filters;
mod folders;
mod linked;
mod prefixes;
mod program;
mod readers;
mod seams;
mod unread;
mod walks;
mod wrapped;

use std::fs;
use std::os::unix::fs::symlink;

use ahp::engine::{Engine, block_on};
use ahp::event::Event;
use ahp::verdict::Decision;
use serde_json::json;

use crate::permission_checker::oracle::evaluate;
use crate::world::{World, write};

/// Returns git's list of files in the form in which it keeps it, as far as names are concerned.
fn index(version: u8, names: &[&str]) -> Vec<u8> {
    let entries = names.iter().flat_map(|name| {
        let length = u16::try_from(name.len()).unwrap().to_be_bytes();
        [&[0x5a; 60][..], &length, name.as_bytes(), b"\0"].concat()
    });
    let head = [&b"DIRC\0\0\0"[..], &[version], b"\0\0\0\x03"].concat();
    head.into_iter().chain(entries).collect()
}

/// A project with a policy, a script that disarms, links and a patch.
fn project() -> World {
    let world = World::new("");
    world.write(".ahp/hooks.yaml", "version: 1\n");
    world.write(".ahp/signals.jsonl", "");
    world.write(".agents/hooks/guard/HOOK.md", "---\n---\n");
    world.write(".claude/settings.json", "{}");
    world.write(".git/hooks/pre-commit", "#!/bin/sh\nexec ahp hook\n");
    world.write(
        ".git/index",
        index(2, &[".claude/settings.json", "src/main.rs"]),
    );
    world.write("disarm.sh", "#!/bin/sh\nrm -rf .ahp\n");
    world.write("disarm.py", "import shutil\nshutil.rmtree('.ahp')\n");
    world.write("disarm.pl", "unlink('.ahp/hooks.yaml');\n");
    world.write("kit/.ahp/hooks.yaml", "version: 1\n");
    world.write("harmless.sh", "#!/bin/sh\necho .ahp\ncat .ahp/hooks.yaml\n");
    world.write(
        "evil.patch",
        "--- a/.ahp/hooks.yaml\n+++ b/.ahp/hooks.yaml\n@@ -1 +0,0 @@\n-version: 1\n",
    );
    world.write(
        "answers.py",
        "from ahp_hooks import Engine\nEngine('.', answers='human').respond('last', 'dismiss', by='human')\n",
    );
    world.write(
        "answers.mjs",
        "import { Engine } from 'ahp-hooks';\nawait new Engine().hook('claude-code', {});\n",
    );
    world.write(
        "gate.py",
        "from ahp_hooks import Engine\nprint(Engine('.').evaluate('pre-tool-use', tool='Bash', input={}))\n",
    );
    world.write("node_modules/ahp-hooks/bin/ahp.js", "#!/usr/bin/env node\n");
    world.write("src/main.rs", "fn main() {}\n");
    world.write("docs/description", "x\n");
    world.write("template/hooks/post-checkout", "#!/bin/sh\n");
    world.write("template-plain/description", "x\n");
    world.write("template-samples/hooks/pre-push.sample", "#!/bin/sh\n");
    let hooked = "---\nname: guard\nhooks:\n  PreToolUse: []\n---\nwords\n";
    let plain = "---\nname: plain\n---\nReact hooks: useState\n";
    world.write(".claude/agents/guard.md", hooked);
    world.write(".claude/agents/plain.md", plain);
    world.write(".claude/skills/checked/SKILL.md", hooked);
    world.write("hooked.md", hooked);
    world.write("hooked/a.md", hooked);
    world.write("plain.md", plain);
    world.write("fine.json", "{\"model\": \"x\"}");
    world.write("off.json", "{\"disableAllHooks\": true}");
    world.write("safe.json", "{\"env\": {\"CLAUDE_CODE_SAFE_MODE\": \"1\"}}");
    let root = world.root();
    symlink(root.join(".ahp"), root.join("link")).unwrap();
    symlink(root.join(".ahp/hooks.yaml"), root.join("notes.txt")).unwrap();
    symlink("node_modules/ahp-hooks/bin/ahp.js", root.join("linked.js")).unwrap();
    write(&world.home().join(".ahp/hooks.yaml"), "version: 1\n");
    world
}

#[test]
fn every_way_is_blocked_or_out_of_reach_for_a_reason() {
    let world = project();
    let mut wrong = Vec::new();
    let (mut blocked, mut beyond) = (0, 0);
    for line in include_str!("ways.txt").lines() {
        let Some((verdict, rest)) = line.split_once(": ") else {
            continue;
        };
        let (input, reason) = match verdict {
            "shell" | "allowed" => (rest, ""),
            "beyond" => rest.split_once(" # ").unwrap(),
            _ => continue,
        };
        let command = input
            .replace("\\n", "\n")
            .replace("@PROJECT", &world.root().to_string_lossy());
        let found = evaluate(
            &world,
            "SelfProtection",
            "{}",
            "Bash",
            json!({"command": command}),
        )
        .unwrap();
        match verdict {
            "shell" => {
                blocked += 1;
                if found.is_empty() {
                    wrong.push(format!("let through: {command}"));
                }
            }
            "allowed" => {
                if let Some(signal) = found.first() {
                    wrong.push(format!("stopped: {command}: {}", signal.payload.text()));
                }
            }
            _ => {
                beyond += 1;
                assert!(reason.len() > 20, "{command} needs a reason");
                if !found.is_empty() {
                    wrong.push(format!("is within reach after all: {command}"));
                }
            }
        }
    }
    println!("red team: {blocked} blocked, {beyond} out of reach");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(blocked >= 60, "only {blocked} ways");
}

#[test]
fn what_a_guarded_name_leads_to_is_guarded() {
    let world = project();
    let root = world.root();
    for dir in ["dotfiles", "shared", ".gemini", ".github"] {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    fs::write(root.join("dotfiles/gemini.json"), "{}").unwrap();
    symlink(
        "../dotfiles/gemini.json",
        root.join(".gemini/settings.json"),
    )
    .unwrap();
    symlink(root.join("shared"), root.join(".github/hooks")).unwrap();
    // Whoever makes what it leads to arms it.
    fs::create_dir_all(root.join(".cursor")).unwrap();
    symlink("../cursor.json", root.join(".cursor/hooks.json")).unwrap();
    symlink(".ahp/hooks.local.yaml", root.join("planned.txt")).unwrap();
    symlink("planned.txt", root.join("more.txt")).unwrap();
    symlink("round.txt", root.join("round.txt")).unwrap();
    let stopped = |command: &str| {
        let input = json!({ "command": command });
        let found = evaluate(&world, "SelfProtection", "{}", "Bash", input).unwrap();
        !found.is_empty()
    };
    for command in [
        "rm dotfiles/gemini.json",
        "echo '{}' > ./dotfiles/gemini.json",
        "some-formatter dotfiles/gemini.json",
        "some-formatter --out=shared/new.json",
        "rm -rf dotfiles",
        "rm dot*/*.json",
        "touch shared/new.json",
        "touch cursor.json",
        "echo 'hooks: {}' > planned.txt",
        "some-formatter more.txt",
        "cd src && cp ../README.md ../more.txt",
        "echo '{}' > cursor.json",
        "cp package.json cursor.json",
        "cd shared && touch new.json",
        "cd src && some-formatter ../shared/new/one.json",
    ] {
        assert!(stopped(command), "let through: {command}");
    }
    for command in [
        "some-formatter new.json round.txt",
        "some-formatter dotfiles/other.json",
        "cat dotfiles/gemini.json shared/one.json",
    ] {
        assert!(!stopped(command), "stopped: {command}");
    }
}

#[test]
fn edit_tools_of_every_host_are_stopped() {
    let world = project();
    for (tool, input) in [
        (
            "Write",
            json!({"file_path": ".ahp/hooks.yaml", "content": ""}),
        ),
        (
            "Write",
            json!({"file_path": world.root().join(".ahp/hooks.local.yaml"), "content": ""}),
        ),
        (
            "Write",
            json!({"file_path": "src/../.ahp/hooks.yaml", "content": ""}),
        ),
        (
            "Write",
            json!({"file_path": ".AHP/Hooks.yaml", "content": ""}),
        ),
        (
            "Write",
            json!({"file_path": "link/hooks.yaml", "content": ""}),
        ),
        (
            "Edit",
            json!({"file_path": "notes.txt", "old_string": "1", "new_string": "2"}),
        ),
        (
            "Edit",
            json!({"file_path": ".claude/settings.json", "old_string": "a", "new_string": "b"}),
        ),
        (
            "write_file",
            json!({"path": ".gemini/settings.json", "content": ""}),
        ),
        (
            "WriteFile",
            json!({"path": ".agents/hooks/guard/scripts/run.sh", "content": ""}),
        ),
        (
            "mcp__filesystem__write_file",
            json!({"path": ".ahp/hooks.yaml", "content": ""}),
        ),
        (
            "mcp__filesystem__move_file",
            json!({"path": ".ahp", "destination": "x"}),
        ),
        (
            "mcp__filesystem__move_file",
            json!({"source": ".ahp/hooks.yaml", "destination": "x"}),
        ),
        ("mcp__files__rename", json!({"from": ".ahp", "to": "x"})),
        (
            "mcp__files__move",
            json!({"moves": [{"src": "x", "dst": ".ahp/hooks.yaml"}]}),
        ),
        (
            "Write",
            json!({"file_path": "sub/.ahp/hooks.yaml", "content": ""}),
        ),
        (
            "Write",
            json!({"file_path": ".git/hooks/pre-commit", "content": ""}),
        ),
        (
            "Write",
            json!({"file_path": world.home().join(".ahp/hooks.yaml"), "content": ""}),
        ),
        (
            "Write",
            json!({"file_path": "~/.claude/settings.json", "content": ""}),
        ),
        (
            "Write",
            json!({"file_path": "~/.bashrc", "content": "export AHP_TRUST=all\n"}),
        ),
        (
            "Write",
            json!({"file_path": ".vscode/settings.json", "content": "{\"chat.useHooks\": false}"}),
        ),
    ] {
        let found = evaluate(&world, "SelfProtection", "{}", tool, input.clone()).unwrap();
        assert!(!found.is_empty(), "{tool} {input}");
    }
    for (tool, input) in [
        ("Read", json!({"file_path": ".ahp/hooks.yaml"})),
        (
            "Write",
            json!({"file_path": "src/hooks.rs", "content": ".ahp/hooks.yaml"}),
        ),
        (
            "Write",
            json!({"file_path": ".claude/commands/x.md", "content": ""}),
        ),
        (
            "mcp__filesystem__read_file",
            json!({"path": ".ahp/hooks.yaml"}),
        ),
        ("Grep", json!({"pattern": "x", "path": ".ahp"})),
        (
            "Write",
            json!({"file_path": "~/.bashrc", "content": "export EDITOR=vi # sahps\n"}),
        ),
        (
            "Write",
            json!({"file_path": ".vscode/settings.json", "content": "{\"editor.tabSize\": 4}"}),
        ),
    ] {
        let found = evaluate(&world, "SelfProtection", "{}", tool, input.clone()).unwrap();
        assert!(found.is_empty(), "{tool} {input}: {found:?}");
    }
}

/// Judges a command again and again by one engine, as a host program does that lives long.
fn living(world: &World) -> impl Fn(&str) -> Decision {
    let engine = Engine::builder()
        .policy_text("hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}")
        .root(world.root())
        .home(world.home())
        .without_log()
        .build()
        .unwrap();
    move |command| {
        let event = Event::tool_use("Bash", json!({"command": command}));
        block_on(engine.evaluate(event)).decision
    }
}

#[test]
fn what_a_guarded_name_leads_to_is_guarded_by_its_own_name() {
    let world = project();
    let root = world.root();
    fs::create_dir_all(root.join("dotfiles/cursor")).unwrap();
    fs::write(root.join("dotfiles/cursor/hooks.json"), "{}").unwrap();
    fs::write(root.join("dotfiles/gemini.json"), "{}").unwrap();
    fs::create_dir_all(root.join(".gemini")).unwrap();
    let decision = living(&world);
    let by_folder = "echo {} > dotfiles/cursor/hooks.json";
    let by_file = "echo {} > dotfiles/gemini.json";
    for command in [by_folder, by_file] {
        assert_eq!(decision(command), Decision::None, "{command}");
    }
    // A person lays links; the engine that has already looked sees them.
    symlink("dotfiles/cursor", root.join(".cursor")).unwrap();
    symlink(
        root.join("dotfiles/gemini.json"),
        root.join(".gemini/settings.json"),
    )
    .unwrap();
    for command in [by_folder, by_file] {
        assert_eq!(decision(command), Decision::Block, "{command}");
    }
    fs::remove_file(root.join(".cursor")).unwrap();
    fs::remove_file(root.join(".gemini/settings.json")).unwrap();
    for command in [by_folder, by_file] {
        assert_eq!(decision(command), Decision::None, "{command}");
    }
}

#[test]
fn a_link_that_comes_between_two_events_is_followed() {
    let world = project();
    let decision = living(&world);
    assert_eq!(decision("echo x > a/b/hooks.json"), Decision::None);
    fs::create_dir_all(world.root().join("a")).unwrap();
    symlink(world.root().join(".cursor"), world.root().join("a/b")).unwrap();
    assert_eq!(decision("echo x > a/b/hooks.json"), Decision::Block);
    fs::remove_file(world.root().join("a/b")).unwrap();
    assert_eq!(decision("echo x > a/b/hooks.json"), Decision::None);
}

#[test]
fn the_engine_binds_it_by_itself() {
    let world = project();
    let decision = |policy: &str, command: &str| {
        let engine = Engine::builder()
            .policy_text(policy)
            .root(world.root())
            .home(world.home())
            .without_log()
            .build()
            .unwrap();
        let event = Event::tool_use("Bash", json!({"command": command}));
        block_on(engine.evaluate(event)).decision
    };
    let policy = "hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}";
    assert_eq!(decision(policy, "rm -rf .ahp"), Decision::Block);
    assert_eq!(decision(policy, "cat .ahp/hooks.yaml"), Decision::None);
}

#[test]
fn an_empty_folder_of_ours_hides_no_policy() {
    let block =
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {dangerous_commands: [ls]}}]}";
    let world = World::new(block);
    fs::create_dir_all(world.path("sub/.ahp")).unwrap();
    let run = |dir: &str| {
        let input = r#"{"command": "ls"}"#;
        let tool = ["run", "pre-tool-use", "--tool", "Bash", "--input", input];
        world.ahp(&[&tool[..], &["--work-dir", dir]].concat()).code
    };
    assert_eq!(run("."), 2);
    assert_eq!(run("sub"), 2);
    world.write("sub/.ahp/hooks.yaml", "");
    assert_eq!(run("sub"), 0);
}
