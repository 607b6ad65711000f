//! What each format means by its fields, and how answers come back.

use std::fs;
use std::time::{Duration, Instant};

use ahp::config::parse_yaml;
use ahp::diagnostic::FileId;
use ahp::event::Event;
use ahp::oracle::{Catalog, OracleConfig, OracleError};
use ahp::signal::{Payload, Signal};
use serde_json::Value;

use crate::world::{World, block_on, event};

/// Builds the oracle and evaluates an event.
pub(super) fn evaluate(
    world: &World,
    config: &str,
    event: &Event,
) -> Result<Vec<Signal>, OracleError> {
    let node = parse_yaml(config, FileId::default(), &mut Vec::new()).unwrap();
    let catalog = Catalog::default();
    let oracle = catalog
        .find("CommandHooks")
        .unwrap()
        .build(&OracleConfig {
            node: &node,
            root: &world.root(),
        })
        .map_err(|faults| OracleError::failed(faults.0[0].message.clone()))?;
    let context = world.context(event, Duration::from_secs(20));
    block_on(oracle.evaluate(&context))
}

const BASH: &str = "{trigger: pre-tool-use, host: claude-code, session_id: s, \
                    tool: {name: Bash, input: {command: ls, description: d}, use_id: t}}";

/// Evaluates an event with a hook file.
fn with_file(json: &str, yaml: &str) -> Result<Vec<Signal>, OracleError> {
    let world = World::new("");
    fs::write(world.root().join("hooks.json"), json).unwrap();
    evaluate(&world, "{file: hooks.json}", &event(yaml))
}

/// Evaluates a call of Bash with one command in Claude Code's form.
fn claude(command: &str) -> Result<Vec<Signal>, OracleError> {
    let hook = serde_json::json!({"type": "command", "command": command});
    let file = serde_json::json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
    with_file(&file.to_string(), BASH)
}

fn one(json: &str) -> Result<Vec<Signal>, OracleError> {
    with_file(json, BASH)
}

/// Returns what a command reads.
fn told(json: &str, yaml: &str) -> Value {
    let signals = with_file(&json.replace("TELL", "cat >&2; exit 2"), yaml).unwrap();
    serde_json::from_str(signals[0].payload.text()).unwrap()
}

#[test]
fn each_format_is_told_the_event_in_its_own_words() {
    let claude = told(
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "TELL"}]}]}}"#,
        BASH,
    );
    assert_eq!(claude["hook_event_name"], "PreToolUse");
    assert_eq!(claude["session_id"], "s");
    assert_eq!(claude["tool_name"], "Bash");
    assert_eq!(claude["tool_input"]["command"], "ls");
    assert_eq!(claude["tool_use_id"], "t");

    let vscode = told(
        r#"{"hooks": {"PreToolUse": [{"type": "command", "command": "TELL"}]}}"#,
        BASH,
    );
    assert_eq!(vscode["hookEventName"], "PreToolUse");
    assert_eq!(vscode["sessionId"], "s");
    assert_eq!(vscode["timestamp"], "2026-01-15T10:30:00.000Z");
    assert_eq!(vscode["tool_name"], "runTerminalCommand");

    let copilot = told(
        r#"{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "TELL"}]}}"#,
        BASH,
    );
    assert_eq!(copilot["toolName"], "bash");
    assert_eq!(copilot["toolArgs"]["command"], "ls");
    assert_eq!(copilot["timestamp"], 1_768_473_000_000_i64);

    let copilot = told(
        r#"{"version": 1, "hooks": {"PreToolUse": [{"type": "command", "bash": "TELL"}]}}"#,
        BASH,
    );
    assert_eq!(copilot["tool_name"], "Bash");
    assert_eq!(copilot["hook_event_name"], "PreToolUse");

    let stop = told(
        r#"{"hooks": {"Stop": [{"type": "command", "command": "TELL"}]}}"#,
        "{trigger: Stop, stop: {active: true}}",
    );
    assert_eq!(stop["stop_hook_active"], true);
}

#[test]
fn inputs_of_other_hosts_are_translated_both_ways() {
    let write = "{trigger: pre-tool-use, host: kimi-cli, tool: {name: WriteFile, input: {path: a.txt, content: x}}}";
    let file = r#"{"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "TELL"}]}]}}"#;
    let told = told(file, write);
    assert_eq!(told["tool_name"], "Write");
    let path = told["tool_input"]["file_path"].as_str().unwrap();
    assert!(path.starts_with('/') && path.ends_with("/a.txt"), "{path}");
    let answer = r#"echo '{"hookSpecificOutput": {"updatedInput": {"file_path": "b.txt", "content": "x"}}}'"#;
    let signals = with_file(&file.replace("TELL", &answer.replace('"', "\\\"")), write).unwrap();
    let Payload::Control(control) = &signals[0].payload else {
        panic!("{signals:?}")
    };
    assert_eq!(control.modifications.len(), 1);
    assert_eq!(control.modifications[0].target, "/path");
    assert_eq!(control.modifications[0].updated, "b.txt");
}

#[test]
fn every_decision_is_understood() {
    for (json, expected) in [
        (
            r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "r"}}"#,
            "block r",
        ),
        (
            r#"{"permissionDecision": "deny"}"#,
            "block blocked by the PreToolUse hook of `hooks.json`",
        ),
        (
            r#"{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "r"}}"#,
            "prompt r",
        ),
        (
            r#"{"hookSpecificOutput": {"permissionDecision": "allow"}}"#,
            "",
        ),
        (r#"{"decision": "block", "reason": "r"}"#, "block r"),
        (
            r#"{"hookSpecificOutput": {"decision": "block", "reason": "r"}}"#,
            "block r",
        ),
        (r#"{"decision": "approve"}"#, ""),
        (r#"{"continue": false, "stopReason": "r"}"#, "block r"),
        (r#"{"continue": true}"#, ""),
        (r#"{"systemMessage": "m"}"#, "aid m"),
        (
            r#"{"hookSpecificOutput": {"additionalContext": "c"}}"#,
            "aid c",
        ),
        (
            r#"{"hookSpecificOutput": {"updatedInput": {"command": "pwd", "description": "d"}}}"#,
            "control the PreToolUse hook of `hooks.json` changes the input",
        ),
    ] {
        let signals = claude(&format!("echo '{json}'")).unwrap();
        let said: Vec<_> = signals
            .iter()
            .map(|s| format!("{} {}", s.intensity().name(), s.payload.text()))
            .collect();
        assert_eq!(said.join("; "), expected, "{json}");
    }
}

#[test]
fn whoever_ends_the_run_has_the_last_word_at_a_stop() {
    let stop = "{trigger: pre-agent-turn-stop, host: claude-code, session_id: s}";
    for (answer, code) in [
        (
            r#"{"continue": false, "stopReason": "r", "decision": "block", "reason": "go on"}"#,
            0,
        ),
        (r#"{"continue": false, "stopReason": "r"}"#, 2),
    ] {
        let command = format!("echo '{answer}'; exit {code}");
        let hook = serde_json::json!({"hooks": [{"type": "command", "command": command}]});
        let file = serde_json::json!({"hooks": {"Stop": [hook]}});
        let signals = with_file(&file.to_string(), stop).unwrap();
        let [signal] = signals.as_slice() else {
            panic!("{answer}: {signals:?}");
        };
        assert_eq!(signal.intensity().name(), "aid", "{answer}");
        assert_eq!(
            signal.manner,
            Some(ahp::signal::Manner::EndsRun),
            "{answer}"
        );
    }
}

#[test]
fn a_subagent_is_told_by_its_id_else_by_its_name() {
    let file = r#"{"hooks": {"SubagentStart": [{"command": "TELL"}]}}"#;
    for (fields, id) in [
        ("name: reviewer, id: a7", "a7"),
        ("name: reviewer", "reviewer"),
    ] {
        let yaml = format!("{{trigger: pre-subagent, session_id: s, subagent: {{{fields}}}}}");
        assert_eq!(told(file, &yaml)["agent_id"], id, "{fields}");
    }
}

#[test]
fn updated_input_stands_in_the_place_of_the_whole() {
    let signals =
        claude(r#"echo '{"hookSpecificOutput": {"updatedInput": {"command": "pwd"}}}'"#).unwrap();
    let Payload::Control(control) = &signals[0].payload else {
        panic!("{signals:?}")
    };
    assert_eq!(control.modifications[0].target, "tool.input");
    assert_eq!(
        control.modifications[0].updated,
        serde_json::json!({"command": "pwd"})
    );
}

#[test]
fn exit_codes_mean_what_each_host_makes_of_them() {
    let blocked = claude("echo no >&2; exit 2").unwrap();
    assert_eq!(blocked[0].payload.text(), "no");
    let json = claude(r#"echo '{"decision": "block", "reason": "why"}'; exit 2"#).unwrap();
    assert_eq!((json.len(), json[0].payload.text()), (1, "why"));
    let heard = claude(r#"echo '{"decision": "block", "reason": "why"}'; exit 1"#).unwrap();
    assert_eq!(heard[0].payload.text(), "why");
    assert!(claude("exit 1").is_err());
    assert!(claude("echo words").unwrap().is_empty());
    let vscode = one(r#"{"hooks": {"PreToolUse": [{"command": "echo words"}]}}"#);
    assert!(vscode.unwrap().is_empty());
    let copilot = |event: &str| {
        one(&format!(
            r#"{{"version": 1, "hooks": {{"{event}": [{{"bash": "exit 7"}}]}}}}"#
        ))
    };
    assert_eq!(
        copilot("preToolUse").unwrap()[0].intensity().name(),
        "block"
    );
}

#[test]
fn progress_lines_are_no_answer() {
    let script = r#"printf '{\"type\":\"progress\",\"message\":\"m\"}\\n{\"permissionDecision\":\"deny\"}\\n'"#;
    let signals = one(&format!(
        r#"{{"version": 1, "hooks": {{"preToolUse": [{{"bash": "{script}"}}]}}}}"#
    ))
    .unwrap();
    assert_eq!(signals[0].intensity().name(), "block");
}

#[test]
fn commands_are_those_of_this_system_with_their_folder_environment_and_time() {
    let own = if cfg!(target_os = "macos") {
        "osx"
    } else {
        "linux"
    };
    let file = format!(
        r#"{{"hooks": {{"PreToolUse": [{{"command": "exit 1", "windows": "exit 1", "{own}": "echo $(basename $PWD) $X >&2; exit 2", "cwd": "sub", "env": {{"X": "y"}}}}]}}}}"#
    );
    let world = World::new("");
    fs::create_dir(world.root().join("sub")).unwrap();
    fs::write(world.root().join("hooks.json"), file).unwrap();
    let signals = evaluate(&world, "{file: hooks.json}", &event(BASH)).unwrap();
    assert_eq!(signals[0].payload.text(), "sub y");

    let other = one(r#"{"hooks": {"PreToolUse": [{"windows": "exit 2"}]}}"#).unwrap();
    assert!(other.is_empty());
    let exec = one(
        r#"{"version": 1, "hooks": {"preToolUse": [{"exec": "sh", "args": ["-c", "exit 2"]}]}}"#,
    )
    .unwrap();
    assert_eq!(exec.len(), 1);

    let start = Instant::now();
    let slow = one(r#"{"hooks": {"PreToolUse": [{"command": "sleep 9", "timeout": 0.2}]}}"#);
    assert!(matches!(slow, Err(OracleError::TimedOut(_))), "{slow:?}");
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn several_hooks_run_at_once_and_the_strictest_counts() {
    let file = r#"{"hooks": {"PreToolUse": [
        {"hooks": [{"command": "sleep 0.3; echo '{\"systemMessage\": \"m\"}'"}, {"command": "sleep 0.3; echo no >&2; exit 2"}]},
        {"matcher": "Write", "hooks": [{"command": "exit 1"}]},
        {"matcher": "Bash", "hooks": [{"command": "sleep 0.3; exit 1"}, {"command": "sleep 0.3; exit 1"}]}]}}"#;
    let start = Instant::now();
    let signals = one(file).unwrap();
    assert!(
        start.elapsed() < Duration::from_millis(900),
        "{:?}",
        start.elapsed()
    );
    let said: Vec<_> = signals.iter().map(|s| s.intensity().name()).collect();
    assert_eq!(said, ["aid", "block"]);
}

#[test]
fn what_is_wrong_in_a_file_is_told() {
    for (json, says) in [
        ("{", "it is not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "it has no `hooks`"),
        (r#"{"hooks": {"Stop": {}}}"#, "`hooks.Stop` is not a list"),
        (
            r#"{"hooks": {"Stop": [{"type": "command"}]}}"#,
            "`hooks.Stop[0]`: it has no command",
        ),
        (
            r#"{"hooks": {"Stop": [{"command": "x", "timeout": "5s"}]}}"#,
            "not a number of seconds",
        ),
        (
            r#"{"hooks": {"Stop": [{"matcher": "(", "hooks": [{"command": "x"}]}]}}"#,
            "`hooks.Stop[0].matcher`",
        ),
    ] {
        let error = with_file(json, "{trigger: Stop}").unwrap_err().to_string();
        assert!(error.contains(says), "{json}: {error}");
    }
    let error =
        one(r#"{"hooks": {"PreToolUse": [{"type": "prompt", "prompt": "x"}]}}"#).unwrap_err();
    assert!(
        error.to_string().contains("only its own host can run"),
        "{error}"
    );
    let world = World::new("");
    let error = evaluate(&world, "{file: gone.json}", &event(BASH)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("there is no hook file `gone.json`"),
        "{error}"
    );
    assert!(evaluate(&world, "{}", &event(BASH)).is_err());
    assert!(
        one(r#"{"disableAllHooks": true, "hooks": {"PreToolUse": [{"command": "exit 2"}]}}"#)
            .unwrap()
            .is_empty()
    );
    assert!(
        one(r#"{"hooks": {"Elicitation": [{"command": "exit 2"}]}}"#)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_folder_or_a_pattern_means_every_file_of_it() {
    let world = World::new("");
    let hook = |reason: &str| {
        let says = format!("echo {reason} >&2; exit 2");
        serde_json::json!({"hooks": {"PreToolUse": [{"command": says}]}}).to_string()
    };
    world.write("hooks/a.json", hook("first"));
    world.write("hooks/b.json", hook("second"));
    world.write("hooks/notes.txt", "not one");
    for (file, expected) in [
        ("hooks", &["first", "second"][..]),
        ("hooks/*.json", &["first", "second"]),
        ("hooks/b*.json", &["second"]),
    ] {
        let signals = evaluate(&world, &format!("{{file: '{file}'}}"), &event(BASH)).unwrap();
        let said: Vec<_> = signals.iter().map(|s| s.payload.text()).collect();
        assert_eq!(said, expected, "{file}");
    }
    let none = evaluate(&world, "{file: 'hooks/c*.json'}", &event(BASH));
    assert!(matches!(none, Err(OracleError::Absent(_))), "{none:?}");
    world.write("hooks/c.json", "{");
    let error = evaluate(&world, "{file: hooks}", &event(BASH)).unwrap_err();
    assert!(error.to_string().contains("c.json"), "{error}");
}

#[test]
fn one_binding_runs_a_file_at_every_trigger_that_it_names() {
    let says = |word: &str| format!("echo {word} >&2; exit 2");
    let file = serde_json::json!({"hooks": {
        "PreToolUse": [{"command": says("before")}],
        "UserPromptSubmit": [{"command": says("prompt")}],
    }});
    let bound = "{oracle: CommandHooks, config: {file: .github/hooks}}";
    let world = World::new(&format!(
        "hooks:\n  pre-tool-use, pre-agent-turn:\n    - {bound}\n"
    ));
    world.write(".github/hooks/a.json", file.to_string());
    world.ahp(&["trust", "-y"]);
    let call =
        r#"{"trigger": "pre-tool-use", "tool": {"name": "Bash", "input": {"command": "ls"}}}"#;
    for (event, word) in [
        (call, "before"),
        (r#"{"trigger": "pre-agent-turn"}"#, "prompt"),
    ] {
        let ran = world.ahp_fed(&["run", "--event", "-"], event.as_bytes());
        assert!(ran.code != 0 && ran.stdout.contains(word), "{ran:?}");
    }
}

#[test]
fn a_command_has_the_time_that_its_file_gives_it() {
    let file =
        r#"{"hooks": {"PreToolUse": [{"command": "echo refused >&2; exit 2", "timeout": 200}]}}"#;
    let call =
        br#"{"trigger": "pre-tool-use", "tool": {"name": "Bash", "input": {"command": "ls"}}}"#;
    let ran = {
        let world = World::new(
            "settings: {timeout: 1ms}\nhooks:\n  pre-tool-use:\n    - {oracle: CommandHooks, config: {file: a.json}}\n",
        );
        world.write("a.json", file);
        world.ahp(&["trust", "-y"]);
        world.ahp_fed(&["run", "--event", "-"], call).stdout
    };
    assert!(ran.contains("refused"), "{ran}");
    // The host that calls waits for longer, so that `ahp`, which has nine tenths of it, waits as long.
    let world =
        World::new("hooks: {pre-tool-use: [{oracle: CommandHooks, config: {file: a.json}}]}\n");
    world.write("a.json", file);
    world.ahp(&["install", "claude-code"]);
    let settings: Value = serde_json::from_str(&world.read(".claude/settings.json")).unwrap();
    let hook = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(hook["timeout"], 227, "{hook}");
}

#[test]
fn matchers_of_sessions_and_subagents_are_heeded() {
    let file = r#"{"hooks": {"SessionStart": [{"matcher": "resume", "hooks": [{"command": "echo again"}]}],
                             "SubagentStop": [{"matcher": "Plan", "hooks": [{"command": "exit 2"}]}]}}"#;
    let count = |yaml: &str| with_file(file, yaml).unwrap().len();
    assert_eq!(
        count("{trigger: pre-session, context: {source: resume}}"),
        1
    );
    assert_eq!(
        count("{trigger: pre-session, context: {source: startup}}"),
        0
    );
    assert_eq!(count("{trigger: post-subagent, subagent: {type: Plan}}"), 1);
    assert_eq!(
        count("{trigger: post-subagent, subagent: {type: Explore}}"),
        0
    );
}

#[test]
fn a_rule_limits_a_hook_and_one_that_nobody_waits_for_decides_nothing() {
    let with = |fields: &str| {
        let file = format!(
            r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{{"command": "echo no >&2; exit 2", {fields}}}]}}]}}}}"#
        );
        move |tool: &str, input: &str| {
            let yaml = format!(
                "{{trigger: pre-tool-use, host: gemini-cli, tool: {{name: {tool}, input: {input}}}}}"
            );
            // What it said for the log decides nothing.
            let signals = with_file(&file, &yaml).unwrap();
            signals
                .iter()
                .filter(|signal| signal.is_for_agent())
                .count()
        }
    };
    let git = with(r#""if": "Bash(git *)""#);
    assert_eq!(git("run_shell_command", "{command: 'cd x && git push'}"), 1);
    assert_eq!(git("run_shell_command", "{command: git}"), 1);
    assert_eq!(git("run_shell_command", "{command: 'echo git push'}"), 0);
    assert_eq!(git("write_file", "{file_path: git, content: x}"), 0);
    let older = with(r#""if": "Bash(npm run:*)""#);
    assert_eq!(older("run_shell_command", "{command: npm run build}"), 1);
    assert_eq!(older("run_shell_command", "{command: npm test}"), 0);
    let sources = with(r#""if": "Write(src/**)""#);
    assert_eq!(
        sources("write_file", "{file_path: src/a/b.rs, content: x}"),
        1
    );
    assert_eq!(
        sources("write_file", "{file_path: docs/a.md, content: x}"),
        0
    );
    let nobody_waits = with(r#""async": true"#);
    assert_eq!(nobody_waits("run_shell_command", "{command: ls}"), 0);
}
