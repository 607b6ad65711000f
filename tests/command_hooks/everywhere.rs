//! Everything that VS Code's own manual (S3) prints, for every recorded payload of every host.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use ahp::event::{Event, ToolKind, ToolView, Trigger};
use ahp::signal::{Manner, Payload, Signal};
use serde_json::json;

use super::examples::{is_own_name, world};
use super::formats::evaluate;
use crate::hook_md::everywhere::{recorded, replace, with_command};
use crate::world::{World, executable, is_here};

/// The answers that the manual prints: at which event, what it gives, and the words that must be said.
const ANSWERS: &[(&str, &str, &str, &str)] = &[
    (
        "PreToolUse",
        r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
            "permissionDecisionReason": "Destructive command blocked by policy",
            "updatedInput": {"files": ["src/safe.ts"]},
            "additionalContext": "User has read-only access to production files"}}"#,
        "block",
        "Destructive command blocked by policy",
    ),
    (
        "PostToolUse",
        r#"{"decision": "block", "reason": "Post-processing validation failed",
            "hookSpecificOutput": {"hookEventName": "PostToolUse",
                "additionalContext": "The edited file has lint errors that need to be fixed"}}"#,
        "block",
        "Post-processing validation failed",
    ),
    (
        "SessionStart",
        r#"{"hookSpecificOutput": {"hookEventName": "SessionStart",
            "additionalContext": "Project: my-app v2.1.0 | Branch: main | Node: v20.11.0"}}"#,
        "aid",
        "Project: my-app v2.1.0 | Branch: main | Node: v20.11.0",
    ),
    (
        "Stop",
        r#"{"hookSpecificOutput": {"hookEventName": "Stop", "decision": "block",
            "reason": "Run the test suite before finishing"}}"#,
        "block",
        "Run the test suite before finishing",
    ),
    (
        "SubagentStart",
        r#"{"hookSpecificOutput": {"hookEventName": "SubagentStart",
            "additionalContext": "This subagent should follow the project coding guidelines"}}"#,
        "aid",
        "This subagent should follow the project coding guidelines",
    ),
    (
        "SubagentStop",
        r#"{"decision": "block", "reason": "Verify subagent results before completing"}"#,
        "block",
        "Verify subagent results before completing",
    ),
];

/// What every hook may answer; as printed it goes on, and the message is for the person.
const COMMON: &str = r#"{"continue": true, "stopReason": "Security policy violation",
    "systemMessage": "Operation blocked by security hook"}"#;

/// The eight events of the manual.
const EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PreCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
];

/// Every recorded event of a trigger, as it would happen in a world.
fn at(world: &World, trigger: Trigger) -> Vec<(String, Event)> {
    let told = recorded().into_iter();
    let told = told.filter(|(_, event)| event.trigger == trigger);
    let here = told.map(|(name, mut event)| {
        event.work_dir = Some(world.root());
        (name, event)
    });
    here.collect()
}

/// A world whose one hook of an event gives an answer.
fn answering(event: &str, answer: &str) -> World {
    let world = World::new("");
    let hook = json!([{"type": "command", "command": "cat answer.json"}]);
    world.write("hooks.json", json!({"hooks": {event: hook}}).to_string());
    world.write("answer.json", answer);
    world
}

fn hosts_of(names: &[String]) -> BTreeSet<&str> {
    names
        .iter()
        .filter_map(|name| name.split('/').next())
        .collect()
}

#[test]
fn printed_answers_mean_the_same_in_every_host() {
    let mut wrong = Vec::new();
    for (event, answer, gives, says) in ANSWERS {
        let world = answering(event, answer);
        let cases = at(&world, Trigger::find(event).unwrap());
        let names: Vec<String> = cases.iter().map(|(name, _)| name.clone()).collect();
        assert!(hosts_of(&names).len() >= 4, "{event}: {names:?}");
        for (name, case) in cases {
            let signals = evaluate(&world, "{file: hooks.json}", &case).unwrap();
            let first = signals.first();
            let given = first.map(|signal| (signal.intensity().name(), signal.payload.text()));
            if given != Some((gives, says)) {
                wrong.push(format!("{event}, {name}: {signals:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_common_answer_goes_on_and_speaks_to_the_person_in_every_host() {
    for event in EVENTS {
        let world = answering(event, COMMON);
        for (name, case) in at(&world, Trigger::find(event).unwrap()) {
            let signals = evaluate(&world, "{file: hooks.json}", &case).unwrap();
            let [signal] = signals.as_slice() else {
                panic!("{event}, {name}: {signals:?}");
            };
            assert_eq!(signal.manner, Some(Manner::ForPerson), "{event}, {name}");
            let says = signal.payload.text();
            assert_eq!(
                says, "Operation blocked by security hook",
                "{event}, {name}"
            );
        }
    }
}

/// Returns the command that a call has after what a signal changes of it.
fn changed_command(event: &Event, signals: &[Signal]) -> Option<String> {
    let mut tool = event.tool.clone()?;
    for signal in signals {
        let Payload::Control(control) = &signal.payload else {
            continue;
        };
        for change in &control.modifications {
            match tool.input.pointer_mut(&change.target) {
                Some(field) => *field = change.updated.clone(),
                None => tool.input = change.updated.clone(),
            }
        }
    }
    ToolView::of(&tool, Path::new("/"), Path::new("/")).command
}

#[test]
fn a_changed_command_is_what_runs_in_every_host() {
    let answer = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"command": "echo safe"}}}"#;
    let world = answering("PreToolUse", answer);
    let mut names = Vec::new();
    for (name, event) in with_command("make deploy") {
        let signals = evaluate(&world, "{file: hooks.json}", &event).unwrap();
        let command = changed_command(&event, &signals);
        assert_eq!(command.as_deref(), Some("echo safe"), "{name}: {signals:?}");
        names.push(name);
    }
    assert!(hosts_of(&names).len() >= 12, "{names:?}");
}

#[test]
fn calls_are_audited_and_sessions_begin_with_context_in_every_host() {
    if !is_here("jq") || !is_here("git") {
        return;
    }
    let audit = world("audit");
    let calls = at(&audit, Trigger::PreToolUse);
    for (name, event) in &calls {
        let signals = evaluate(&audit, "{file: .github/hooks/audit.json}", event);
        assert!(signals.is_ok_and(|signals| signals.is_empty()), "{name}");
    }
    let log = audit.read(".github/hooks/audit.log");
    assert_eq!(log.lines().count(), calls.len(), "{log}");
    for (line, (name, event)) in log.lines().zip(&calls) {
        let session = format!(
            "Session: {}, Tool: ",
            event.session_id.as_deref().unwrap_or_default()
        );
        assert!(line.contains(&session), "{name}: {line}");
    }
    let context = world("context");
    context.write("package.json", r#"{"name": "my-app", "version": "2.1.0"}"#);
    for (name, event) in at(&context, Trigger::PreSession) {
        let signals = evaluate(&context, "{file: .github/hooks/context.json}", &event).unwrap();
        let text = signals.first().map(|signal| signal.payload.text());
        let begins = "Project: my-app v2.1.0 | Branch: ";
        assert!(
            text.is_some_and(|text| text.starts_with(begins)),
            "{name}: {text:?}"
        );
    }
}

#[test]
fn the_command_of_this_system_runs_in_every_host() {
    let world = world("systems");
    for script in ["format", "format-linux", "format-mac"] {
        let path = world.path(&format!("scripts/{script}.sh"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        executable(&path, &format!("#!/bin/sh\necho {script} >> ran\n"));
    }
    let calls = at(&world, Trigger::PostToolUse);
    for (name, event) in &calls {
        let signals = evaluate(&world, "{file: .github/hooks/hooks.json}", event);
        assert!(signals.is_ok_and(|signals| signals.is_empty()), "{name}");
    }
    let own = if cfg!(target_os = "macos") {
        "format-mac"
    } else {
        "format-linux"
    };
    assert_eq!(world.read("ran"), format!("{own}\n").repeat(calls.len()));
}

/// Every recorded edit after it has happened, each of a file of its own, which is there.
fn edits(world: &World) -> Vec<(String, Event, String)> {
    let mut edits = Vec::new();
    let recorded_root = Path::new("/home/user/project");
    for (n, (name, mut event)) in at(world, Trigger::PostToolUse).into_iter().enumerate() {
        let Some(tool) = event.tool.as_mut() else {
            continue;
        };
        let view = ToolView::of(tool, recorded_root, recorded_root);
        let own = view.paths.first().cloned();
        let Some(own) = own.filter(|_| matches!(view.kind, ToolKind::Edit | ToolKind::Write))
        else {
            continue;
        };
        let file = format!("edited-{n}.ts");
        let given = tool.input.clone();
        let whole = |dir: &Path, path: &str| dir.join(path).display().to_string();
        replace(
            &mut tool.input,
            &whole(recorded_root, &own),
            &whole(&world.root(), &file),
        );
        replace(&mut tool.input, &own, &file);
        if tool.input != given {
            world.write(&file, "");
            edits.push((name, event, file));
        }
    }
    edits
}

#[test]
fn edited_files_are_formatted_in_every_host() {
    if !is_here("jq") {
        return;
    }
    for (example, by_name) in [("configuration", false), ("formatting", true)] {
        let world = world(example);
        // The formatter itself would have to come from the network: one in its place says what it was given.
        let programs = world.path("programs");
        fs::create_dir_all(&programs).unwrap();
        executable(
            &programs.join("npx"),
            "#!/bin/sh\necho \"$@\" >> \"$HOME/formatted\"\necho 12ms\n",
        );
        fs::create_dir_all(world.path("scripts")).unwrap();
        executable(
            &world.path("scripts/validate-tool.sh"),
            "#!/bin/sh\nexit 0\n",
        );
        world.write(
            ".ahp/hooks.yaml",
            "hooks: {post-tool-use: [{oracle: CommandHooks, config: {file: .github/hooks}}]}\n",
        );
        let edits = edits(&world);
        let lines: Vec<String> = edits
            .iter()
            .map(|(_, event, _)| serde_json::to_string(event).unwrap())
            .collect();
        world.write("events.jsonl", lines.join("\n") + "\n");
        world.ahp(&["trust", "-y"]);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(programs).chain(std::env::split_paths(&path));
        let mut command = world.ahp_command();
        command
            .env("PATH", std::env::join_paths(path).unwrap())
            .args(["run", "--events", "events.jsonl", "--format", "json"]);
        let ran = crate::world::fed(&mut command, b"");
        assert_eq!(ran.code, 0, "{ran:?}");
        for verdict in ran.json() {
            assert_eq!(verdict["signals"], json!([]), "{verdict}");
        }
        let formatted = fs::read_to_string(world.home().join("formatted")).unwrap();
        let mut names = Vec::new();
        for (name, event, file) in &edits {
            let is_formatted = formatted.lines().any(|line| line.ends_with(file.as_str()));
            // The script asks for the tool by the manual's name.
            let is_other_name = by_name && is_own_name(event);
            assert!(
                is_formatted || is_other_name,
                "{example}, {name}: {formatted}"
            );
            names.push(name.clone());
        }
        assert!(hosts_of(&names).len() >= 8, "{names:?}");
    }
}

#[test]
fn an_own_wire_of_any_spelling_is_not_run() {
    let spellings = [
        "ahp hook --host claude-code --event PreToolUse || exit 2",
        "ahp hook --host claude-code --event PreToolUse && exit 0; echo 'ahp did not let this pass' >&2; exit 2",
        "ahp hook --host claude-code --event PreToolUse && exit 0; eval 'test $? = 2' || echo 'it is missing' >&2; exit 2",
        "'/a b/ahp' hook --host claude-code --event Stop && exit 0; eval 'test $? = 2' && exit 2; echo 'it is missing' >&2; exit 0",
        "/usr/local/bin/ahp --debug hook --host claude-code",
        "env A=1 ahp hook --host claude-code",
        "cd . && ahp hook --host claude-code",
        "sh -c 'ahp hook --host claude-code'",
        "timeout 5 ahp hook --host claude-code",
        "command -v ahp >/dev/null && ahp hook --host claude-code || exit 2",
        "if command -v ahp; then ahp hook; else exit 2; fi",
        "command -v ahp >/dev/null || echo 'it is missing' >&2; ahp hook --host claude-code || exit 2",
        "test -x '/a b/ahp' || echo 'it is missing' >&2; '/a b/ahp' hook --host claude-code || exit 2",
        "exec \"$HOME/.cargo/bin/ahp\" hook --host claude-code",
        "cat | ahp hook",
        "npx ahp hook",
    ];
    // What stands beside it may be a guard: the line runs.
    let guards = [
        "./guard.sh; ahp hook",
        "sh ./ahp-guard.sh; sh -c 'ahp hook'",
        "test -e frozen && exit 2; ahp hook",
        "test -x frozen && exit 2; ahp hook",
        "echo words >/dev/null; ahp hook",
        "ahp hook && exit 0; eval 'test -e frozen' && exit 2; exit 0",
    ];
    let files = |line: &str| {
        let world = World::new(
            "hooks: {pre-tool-use: [{oracle: CommandHooks, config: {file: .claude/settings.json}}]}\n",
        );
        let hook = json!({"type": "command", "command": line});
        let file = json!({"hooks": {"PreToolUse": [{"matcher": "", "hooks": [hook]}]}});
        world.write(".claude/settings.json", file.to_string());
        let programs = world.home().join("programs");
        fs::create_dir_all(&programs).unwrap();
        for name in ["ahp", "npx"] {
            let counts = "#!/bin/sh\ncat >/dev/null\necho ran >> \"$HOME/count\"\n";
            executable(&programs.join(name), counts);
        }
        for guard in ["guard.sh", "ahp-guard.sh"] {
            let counts = "#!/bin/sh\ncat >/dev/null\necho guard >> \"$HOME/count\"\n";
            executable(&world.path(guard), counts);
        }
        world.ahp(&["trust", "-y"]);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(programs).chain(std::env::split_paths(&path));
        let mut command = world.ahp_command();
        command
            .env("PATH", std::env::join_paths(path).unwrap())
            .args(["hook", "--host", "claude-code"]);
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t.jsonl", "cwd": world.root(),
            "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t",
        });
        let ran = crate::world::fed(&mut command, event.to_string().as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{line}: {ran:?}");
        fs::read_to_string(world.home().join("count")).unwrap_or_default()
    };
    for line in spellings {
        assert_eq!(files(line), "", "{line}");
    }
    for line in guards {
        assert!(files(line).contains("ran"), "{line}");
    }
}

/// A call, with a hook file that says to run this without waiting for it, and the log once it holds `logged`.
fn unawaited(hook: &serde_json::Value, logged: &str) -> String {
    let world =
        World::new("hooks: {pre-tool-use: [{oracle: CommandHooks, config: {file: hooks.json}}]}\n");
    let gate = world.home().join("gate");
    assert!(
        world
            .command("mkfifo")
            .arg(&gate)
            .status()
            .unwrap()
            .success()
    );
    let awaited = json!({"type": "command", "command": "echo waited for >&2; exit 2"});
    let hooks = json!({"PreToolUse": [{"hooks": [hook, awaited]}]});
    world.write("hooks.json", json!({ "hooks": hooks }).to_string());
    world.ahp(&["trust", "-y"]);
    let event = br#"{"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": ".", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"}"#;
    let ran = world.ahp_fed(&["hook", "--host", "claude-code"], event);
    assert!(ran.stdout.contains("waited for"), "{ran:?}");
    assert!(!ran.stdout.contains(logged), "{ran:?}");
    // Only now can it come to an end, where it waits for this; who were waited for, would have been given up.
    let opened = fs::OpenOptions::new().read(true).write(true).open(&gate);
    std::io::Write::write_all(&mut opened.as_ref().unwrap(), b"go\n").unwrap();
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        let log = world.read(".ahp/signals.jsonl");
        if log.contains(logged) {
            return log;
        }
        assert!(Instant::now() < patience, "{log}");
        std::thread::yield_now();
    }
}

#[test]
fn what_nobody_waits_for_is_told_by_the_log_alone() {
    let later = "read go < \"$HOME/gate\"; echo out; echo err >&2; exit 3";
    let hook = json!({"type": "command", "async": true, "command": later});
    let log = unawaited(&hook, "ended with exit code 3");
    assert!(log.contains("out") && log.contains("err"), "{log}");
}

#[test]
fn what_nobody_waits_for_is_ended_at_its_timeout() {
    let hook = json!({"type": "command", "async": true, "timeout": 1, "command": "sleep 600"});
    unawaited(&hook, "did not end within its timeout");
}
