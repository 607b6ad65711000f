//! What a control changes in a tool's input, whatever the host calls it there.

use std::collections::BTreeSet;
use std::path::Path;

use ahp::event::{Event, ToolCall, ToolKind, ToolView, Trigger};
use serde_json::{Value, json};

use crate::hook_md::everywhere::{recorded, replace};
use crate::world::World;

/// A policy whose script sets a target to a value, both as rhai writes them.
fn world(target: &str, updated: &str) -> World {
    let world = World::new("hooks: {pre-tool-use: [{oracle: change}]}");
    world.write(
        ".ahp/oracles/change.rhai",
        format!(
            "fn evaluate(ctx) {{ control([modify(\"{target}\", (), {updated}, \"safer\")]) }}\n"
        ),
    );
    assert_eq!(world.ahp(&["trust", "-y"]).code, 0);
    world
}

/// The verdict of a tool call.
fn judged(world: &World, tool: &str, input: &Value) -> Value {
    let event = json!({"trigger": "pre-tool-use", "tool": {"name": tool, "input": input}});
    let run = ["run", "--event", "-", "--format", "json"];
    let ran = world.ahp_fed(&run, event.to_string().as_bytes());
    ran.json().remove(0)
}

#[test]
fn a_control_changes_the_field_that_the_host_has() {
    let command = r#""echo safe""#;
    for (target, tool, input, changed) in [
        (
            "tool.input.command",
            "run_commands",
            json!({"commands": ["ls", "pwd"]}),
            json!({"commands": ["echo safe"]}),
        ),
        (
            "/command",
            "run_command",
            json!({"command_line": "ls"}),
            json!({"command_line": "echo safe"}),
        ),
        (
            "tool.command",
            "Bash",
            json!({"command": "ls", "timeout": 5}),
            json!({"command": "echo safe", "timeout": 5}),
        ),
        (
            "tool.input.command",
            "Bash",
            json!(r#"{"command":"ls"}"#),
            json!(r#"{"command":"echo safe"}"#),
        ),
        ("tool.command", "Bash", json!("ls"), json!("echo safe")),
        (
            "tool.input.file_path",
            "edit_file",
            json!({"path": "a", "new_text": "b"}),
            json!({"path": "echo safe", "new_text": "b"}),
        ),
        (
            "tool.content",
            "edit_file",
            json!({"path": "a", "new_text": "b"}),
            json!({"path": "a", "new_text": "echo safe"}),
        ),
        (
            "tool.input.timeout",
            "Bash",
            json!({"command": "ls"}),
            json!({"command": "ls", "timeout": "echo safe"}),
        ),
    ] {
        let verdict = judged(&world(target, command), tool, &input);
        assert_eq!(verdict["modified_input"], changed, "{target} {input}");
        assert_eq!(verdict["signals"][0]["header"]["intensity"], "control");
    }
}

#[test]
fn a_control_that_finds_nothing_to_change_has_failed() {
    for (target, tool, input) in [
        ("tool.input.a.b.c", "Bash", json!({"command": "ls"})),
        ("/a/b", "Bash", json!({"command": "ls"})),
        ("tool.command", "Write", json!({"file_path": "a"})),
        ("tool.name", "Bash", json!({"command": "ls"})),
    ] {
        let verdict = judged(&world(target, "1"), tool, &input);
        assert!(verdict["modified_input"].is_null(), "{target}");
        assert_eq!(verdict["bindings"][1]["outcome"], "failed", "{target}");
        let error = verdict["bindings"][1]["error"].as_str().unwrap();
        assert!(error.contains(&format!("`{target}`")), "{error}");
        assert_eq!(verdict["signals"][0]["header"]["type"], "oracle-error");
    }
    // A parameter of the operation is none of the tool's.
    let verdict = judged(&world("batch_size", "1"), "Bash", &json!({"command": "ls"}));
    assert_eq!(verdict["bindings"][1]["outcome"], "signalled");
}

#[test]
fn a_change_that_the_host_has_no_one_place_for_stops_the_call() {
    let patch = "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch";
    let edits =
        json!([{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]);
    for (target, tool, input) in [
        (
            "tool.command",
            "Bash",
            json!({"command": "git", "args": ["log"]}),
        ),
        (
            "tool.input.command",
            "Bash",
            json!({"program": "git", "args": ["log"]}),
        ),
        (
            "tool.input.content",
            "apply_patch",
            json!({"command": patch}),
        ),
        (
            "tool.content",
            "MultiEdit",
            json!({"file_path": "a", "edits": edits}),
        ),
        (
            "tool.input.path",
            "mcp__fs__move",
            json!({"source": "a", "destination": "b"}),
        ),
    ] {
        let verdict = judged(&world(target, r#""echo safe""#), tool, &input);
        assert_eq!(
            verdict["decision"], "block",
            "{target} {input}: {}",
            verdict["signals"]
        );
        assert!(verdict["modified_input"].is_null(), "{target}");
        let step = verdict["signals"][0]["payload"]["resolution_path"][0].to_string();
        assert!(
            step.contains("echo safe"),
            "{target}: {}",
            verdict["signals"]
        );
    }
}

/// Every recorded call that writes or edits one file, before it does, with the kind of its input.
fn edits(root: &Path) -> Vec<(String, Event)> {
    let mut tried = BTreeSet::new();
    let calls = recorded().into_iter().filter_map(|(name, mut event)| {
        let tool = event.tool.as_mut()?;
        let recorded = "/home/user/project";
        replace(&mut tool.input, recorded, root.to_str()?);
        let view = ToolView::of(tool, root, root);
        let is_edit = matches!(view.kind, ToolKind::Edit | ToolKind::Write);
        // Nobody can change what the person is asked about.
        let is_call =
            event.trigger == Trigger::PreToolUse && !name.to_lowercase().contains("permission");
        let is_one = is_edit && is_call && view.paths.len() == 1;
        let text = tool.input.to_string();
        event.work_dir = Some(root.to_owned());
        (is_one && tried.insert((event.host.clone(), text))).then_some((name, event))
    });
    calls.collect()
}

#[test]
fn a_changed_path_or_text_is_what_is_written_in_every_host() {
    const PATH: &str = "/tmp/safe.txt";
    const TEXT: &str = "SAFE";
    let hook = |input: Value| json!({"decision": "allow", "modified_input": input});
    let command = |input: Value| json!({"hookSpecificOutput": {"updatedInput": input}});
    let both = |path: &str| json!({path: PATH, "content": TEXT});
    let mut wrong = Vec::new();
    let mut hosts = BTreeSet::new();
    for (format, answer, path, text) in [
        ("HOOK.md", hook(json!({"file_path": PATH})), true, false),
        ("HOOK.md", hook(json!({"path": PATH})), true, false),
        ("HOOK.md", hook(json!({"content": TEXT})), false, true),
        ("HOOK.md", hook(both("file_path")), true, true),
        ("claude", command(both("file_path")), true, true),
        ("vscode", command(both("filePath")), true, true),
        ("vscode", command(both("path")), true, true),
        ("vscode", command(json!({"files": [PATH]})), true, false),
    ] {
        let world = World::new("");
        let say = format!("echo '{answer}'");
        let handler = json!({"type": "command", "command": say});
        let group = json!({"hooks": [handler]});
        let listed = if format == "claude" { group } else { handler };
        if format == "HOOK.md" {
            let home = world.home().join(".config/agents/hooks");
            World::write_hook(&home, "change", "trigger: pre-tool-call", &say);
        } else {
            let policy = "hooks: {pre-tool-use: [{oracle: CommandHooks, config: {file: a.json}}]}";
            world.write(".ahp/hooks.yaml", policy);
            let file = json!({"hooks": {"PreToolUse": [listed]}});
            world.write("a.json", file.to_string());
            world.ahp(&["trust", "-y"]);
        }
        let calls = edits(&world.root());
        let lines = calls
            .iter()
            .map(|(_, event)| serde_json::to_string(event).unwrap());
        world.write("events.jsonl", lines.collect::<Vec<_>>().join("\n"));
        let verdicts = world.ahp(&["run", "--events", "events.jsonl", "--format", "json"]);
        let verdicts = verdicts.json();
        assert_eq!(verdicts.len(), calls.len());
        for ((name, event), verdict) in calls.iter().zip(verdicts) {
            hosts.extend(event.host.clone());
            let before = event.tool.as_ref().unwrap();
            let after = ToolCall::new(&*before.name, verdict["modified_input"].clone());
            let view = ToolView::of(&after, &world.root(), &world.root());
            let writes = view.content.as_deref().map(str::trim_end) == Some(TEXT);
            let is_meant = (!path || view.paths == [PATH]) && (!text || writes);
            let names = |value: &Value| -> BTreeSet<String> {
                let keys = value.as_object().into_iter().flat_map(|map| map.keys());
                keys.cloned().collect()
            };
            // Nothing that the tool needs is gone, and nothing that no tool knows is there.
            let is_whole = names(&after.input) == names(&before.input);
            let told = verdict["signals"].to_string();
            let is_told = (!path || told.contains(PATH)) && (!text || told.contains(TEXT));
            let is_refused = verdict["decision"] == "block" && is_told;
            if !(is_refused || is_meant && is_whole) {
                let given = &before.input;
                wrong.push(format!(
                    "{format} {answer}: {name}: {given} became {}",
                    after.input
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(hosts.len() >= 10, "{hosts:?}");
}

#[test]
fn a_host_gets_the_input_in_its_own_form() {
    let world = world("tool.input.command", r#""echo safe""#);
    let call = include_str!("host/cline/3.0.65/PreToolUse.json")
        .replace("/home/user/project", world.root().to_str().unwrap());
    let ran = world.ahp_fed(&["hook", "--host", "cline"], call.as_bytes());
    assert_eq!(
        ran.json()[0]["overrideInput"],
        json!({"commands": ["echo safe"]})
    );
}

/// What the call of a world with two changes of it comes to: the decision, and every text that tells of both.
fn clash(world: &World) -> (String, Vec<String>) {
    let verdict = judged(world, "Bash", &json!({"command": "ls"}));
    let signals = verdict["signals"].as_array().unwrap().iter();
    let texts = signals.filter_map(|signal| {
        let payload = &signal["payload"];
        let text = [&payload["reason"], &payload["message"]];
        text.iter()
            .find_map(|text| text.as_str())
            .map(str::to_owned)
    });
    let texts = texts.filter(|text| text.contains("would set"));
    let decision = verdict["decision"].as_str().unwrap();
    (decision.to_owned(), texts.collect())
}

/// A command that answers with another one in the place of what is called.
fn changing(command: &str) -> String {
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": command}}});
    format!("echo '{answer}'")
}

#[test]
fn of_two_hooks_that_change_the_same_the_clash_names_both() {
    let file = |commands: &[&str]| {
        let hooks = commands
            .iter()
            .map(|c| json!({"type": "command", "command": changing(c)}));
        let hooks: Vec<Value> = hooks.collect();
        json!({"hooks": {"PreToolUse": [{"hooks": hooks}]}}).to_string()
    };
    let two = World::new(
        "hooks:\n  pre-tool-use:\n    - {oracle: CommandHooks, id: first, config: {file: a.json}}\n    - {oracle: CommandHooks, id: second, config: {file: b.json}}\n",
    );
    two.write("a.json", file(&["echo one"]));
    two.write("b.json", file(&["echo two"]));
    two.ahp(&["trust", "-y"]);
    let (decision, told) = clash(&two);
    assert_eq!(decision, "allow");
    let expected = "`second` would set `/command` to \"echo two\", but `first` (.ahp/hooks.yaml:3) has set that to \"echo one\", and the first of them stands";
    assert_eq!(told, [expected]);

    let one = World::new(
        "hooks: {pre-tool-use: [{oracle: CommandHooks, id: only, config: {file: a.json}}]}",
    );
    one.write("a.json", file(&["echo one", "echo two"]));
    one.ahp(&["trust", "-y"]);
    let (_, told) = clash(&one);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("but it has set that to \"echo one\" itself"),
        "{told:?}"
    );

    // Each of these is asked again about what the other has made.
    let hooks = World::new("");
    let home = hooks.home().join(".config/agents/hooks");
    for (name, priority) in [("early", 900), ("late", 500)] {
        let answer = json!({"decision": "allow", "modified_input": {"command": name}});
        let fields = format!("trigger: pre-tool-call\npriority: {priority}");
        World::write_hook(&home, name, &fields, &format!("echo '{answer}'"));
    }
    let (decision, told) = clash(&hooks);
    assert_eq!(decision, "block");
    assert!(
        told.iter()
            .any(|told| told.contains("`early` would set") && told.contains("`late` (")),
        "{told:?}"
    );
}

#[test]
fn a_control_that_gives_no_reason_tells_what_it_changes() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: change}]}");
    world.write(
        ".ahp/oracles/change.rhai",
        "fn evaluate(ctx) { control([modify(\"tool.command\", (), \"echo safe\", \"\")]) }\n",
    );
    world.ahp(&["trust", "-y"]);
    let input = json!({"command": "ls"}).to_string();
    let call = ["run", "pre-tool-use", "--tool", "Bash", "--input", &input];
    let answer = world.ahp(&call).stdout;
    assert!(answer.contains("/command = \"echo safe\""), "{answer}");
    for arguments in [&["log", "show"][..], &["log", "show", "--json"]] {
        let shown = world.ahp(arguments).stdout.replace('\\', "");
        assert!(
            shown.contains("`/command` becomes \"echo safe\""),
            "{arguments:?}: {shown}"
        );
    }
    let tried = [&call[..], &["--report", "github"]].concat();
    let annotation = world.ahp(&tried).stdout;
    assert!(annotation.contains("`/command` becomes"), "{annotation}");
}
