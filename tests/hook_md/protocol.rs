//! What a hook is told, and what its exit code and output mean.

use std::fs;
use std::sync::Arc;

use ahp::event::Event;
use ahp::hook_md::Hook;
use ahp::oracle::OracleError;
use ahp::signal::{Manner, Payload, Signal};

use crate::world::{World, event};

const BASH: &str = "{trigger: pre-tool-use, host: claude-code, session_id: s1, work_dir: /nowhere, \
                    tool: {name: Bash, input: {command: \"ls -la\", note: grün}, use_id: t1}}";

/// Runs a script as the hook of an event.
fn answer(fields: &str, script: &str, event: &Event) -> Result<Vec<Signal>, OracleError> {
    let world = World::new("");
    World::write_hook(&world.user_hooks(), "h", fields, script);
    let hook: Arc<Hook> = world.hooks().find("h").unwrap().clone();
    world.run_hook(&hook, event)
}

fn bash(script: &str) -> Result<Vec<Signal>, OracleError> {
    answer("trigger: before_tool", script, &event(BASH))
}

/// Returns what a hook reads.
fn told(fields: &str, yaml: &str) -> String {
    let world = World::new("");
    let file = world.dir.path().join("told");
    World::write_hook(
        &world.user_hooks(),
        "h",
        fields,
        &format!("cat > {}", file.display()),
    );
    let hook = world.hooks().find("h").unwrap().clone();
    world.run_hook(&hook, &event(yaml)).unwrap();
    fs::read_to_string(file).unwrap()
}

#[test]
fn a_tool_event_is_told_as_the_documents_scripts_expect_it() {
    assert_eq!(
        told("trigger: before_tool", BASH),
        r#"{"event_type": "before_tool", "timestamp": "2026-01-15T10:30:00Z", "session_id": "s1", "work_dir": "/nowhere", "tool_name": "Shell", "tool_input": {"command": "ls -la", "note": "grün"}, "host_tool_name": "Bash", "host_tool_input": {"command": "ls -la", "note": "grün"}, "tool_use_id": "t1", "context": {}}"#
    );
}

#[test]
fn a_tool_of_no_known_host_has_the_standards_name() {
    let told = told(
        "trigger: PreToolUse",
        "{trigger: pre-tool-use, tool: {name: Bash, input: {}}}",
    );
    assert!(told.contains(r#""tool_name": "Shell""#), "{told}");
    assert!(told.starts_with(r#"{"event_type": "PreToolUse""#), "{told}");
}

#[test]
fn each_kind_of_event_has_its_fields() {
    let told = |trigger: &str, rest: &str| {
        told(
            &format!("trigger: {trigger}"),
            &format!("{{trigger: {trigger}{rest}}}"),
        )
    };
    for (trigger, rest, says) in [
        (
            "post-tool-call",
            ", tool: {name: T, input: {}, output: {a: 1}}",
            r#""tool_output": {"a": 1}"#,
        ),
        (
            "post-tool-call-failure",
            ", tool: {name: T, error: bad}",
            r#""error": "bad""#,
        ),
        (
            "pre-subagent",
            ", subagent: {name: n, type: t, task: w}",
            r#""subagent_name": "n", "subagent_type": "t", "task_description": "w""#,
        ),
        (
            "pre-session",
            ", context: {model: m}",
            r#""model": "m", "args": {"ui": null, "agent": null}"#,
        ),
        (
            "post-session",
            ", context: {duration_seconds: 3, total_steps: 2, reason: logout}",
            r#""duration_seconds": 3, "total_steps": 2, "exit_reason": "logout""#,
        ),
        (
            "pre-agent-turn-stop",
            ", stop: {reason: max_steps, step_count: 5, final_message: done}",
            r#""stop_reason": "max_steps", "step_count": 5, "final_message": {"role": "assistant", "content": "done"}"#,
        ),
        (
            "pre-agent-turn-stop",
            "",
            r#""stop_reason": "no_tool_calls", "step_count": null, "final_message": null"#,
        ),
        (
            "pre-agent-turn",
            ", prompt: hello",
            r#""user_prompt": "hello""#,
        ),
        (
            "pre-issue-submit",
            ", issue_id: FEAT-1",
            r#""issue_id": "FEAT-1", "issue": null"#,
        ),
        (
            "pre-context-compact",
            ", context: {trigger: auto}",
            r#""context": {"trigger": "auto"}"#,
        ),
    ] {
        let told = told(trigger, rest);
        assert!(told.contains(says), "{trigger}: {told}");
        serde_json::from_str::<serde_json::Value>(&told).unwrap();
    }
}

#[test]
fn the_environment_names_project_trigger_and_folder() {
    let world = World::new("");
    let script = "echo \"$AHP_TRIGGER $AHP_PROJECT_DIR $AHP_HOOK_DIR $PWD\" >&2; exit 2";
    World::write_hook(&world.user_hooks(), "h", "trigger: Stop", script);
    let hook = world.hooks().find("h").unwrap().clone();
    let stop = event(&format!(
        "{{trigger: Stop, work_dir: {}}}",
        world.user_hooks().display()
    ));
    let signals = world.run_hook(&hook, &stop).unwrap();
    assert_eq!(
        signals[0].payload.text(),
        format!(
            "pre-agent-turn-stop {} {} {}",
            world.root().display(),
            hook.dir.display(),
            world.user_hooks().canonicalize().unwrap().display()
        )
    );
}

#[test]
fn exit_2_blocks_with_the_error_output_as_reason() {
    let signals = bash("echo '{\"decision\": \"allow\"}'; echo no >&2; exit 2").unwrap();
    let Payload::Block(block) = &signals[0].payload else {
        panic!("{signals:?}")
    };
    assert_eq!(block.reason, "no");
    assert!(!block.resolution_path.is_empty());
    assert_eq!(signals.len(), 1);
    assert_eq!(
        bash("exit 2").unwrap()[0].payload.text(),
        "blocked by hook h"
    );
}

#[test]
fn other_ends_are_failures() {
    for (script, says) in [
        ("echo sorry >&2; exit 1", "exit code 1: sorry"),
        ("exit 127", "exit code 127"),
        ("kill -9 $$", "signal 9"),
        ("echo '{\"decision\": \"maybe\"}'", "answered `maybe`"),
        ("echo '{\"decision\": 1}'", "which is not text"),
    ] {
        let error = bash(script).unwrap_err();
        assert!(error.to_string().contains(says), "{script}: {error}");
    }
    let error = answer(
        "trigger: before_tool\ntimeout: 100",
        "sleep 5",
        &event(BASH),
    )
    .unwrap_err();
    assert!(matches!(error, OracleError::TimedOut(_)), "{error}");
}

#[test]
fn silence_and_allow_are_no_objection() {
    for script in [
        "",
        "echo",
        "echo '{}'",
        "echo '{\"decision\": \"allow\"}'",
        "exec 0<&-; exit 0",
    ] {
        assert!(bash(script).unwrap().is_empty(), "{script}");
    }
}

#[test]
fn what_is_not_an_answer_is_for_the_log() {
    for (script, words) in [("echo some words", "some words"), ("echo '[1]'", "[1]")] {
        let signals = bash(script).unwrap();
        assert_eq!(signals[0].manner, Some(Manner::ForLog), "{script}");
        assert_eq!(signals[0].payload.text(), words);
    }
}

#[test]
fn json_can_deny_ask_modify_and_inform() {
    let signals = bash(
        r#"echo '{"decision": "deny", "reason": "bad", "additional_context": "c", "log": "l"}'"#,
    )
    .unwrap();
    let said: Vec<_> = signals
        .iter()
        .map(|s| {
            (
                s.intensity().name(),
                s.header.kind.as_str(),
                s.payload.text(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("block", "hook-blocked", "bad"),
            ("aid", "hook-context", "c"),
            ("aid", "hook-log", "l")
        ]
    );
    let signals = bash(r#"echo '{"decision": "ask"}'"#).unwrap();
    assert!(signals[0].asks());
    let signals = bash(r#"echo '{"modified_input": {"command": "pwd", "note": "grün"}}'"#).unwrap();
    let Payload::Control(control) = &signals[0].payload else {
        panic!("{signals:?}")
    };
    assert_eq!(control.modifications.len(), 1);
    assert_eq!(control.modifications[0].target, "tool.input.command");
    assert_eq!(control.modifications[0].original, "ls -la");
    assert_eq!(control.modifications[0].updated, "pwd");
}

#[test]
fn text_is_context_where_the_agent_begins_or_ends() {
    for trigger in ["pre-agent-turn", "SessionStart", "before_stop"] {
        let signals = answer(
            &format!("trigger: {trigger}"),
            "echo remember",
            &event(&format!("{{trigger: {trigger}}}")),
        )
        .unwrap();
        assert_eq!(signals[0].intensity().name(), "aid");
        assert_eq!(signals[0].payload.text(), "remember");
    }
}

#[test]
fn long_words_are_cut_where_hosts_would_cut_them() {
    let signals = bash("head -c 100000 /dev/zero | tr '\\0' e >&2; exit 2").unwrap();
    let text = signals[0].payload.text();
    assert!(
        text.len() < 9000 && text.ends_with("more bytes)"),
        "{}",
        text.len()
    );
}

#[test]
fn what_a_hook_says_that_nobody_waits_for_is_told_by_the_log() {
    let event = event("{trigger: pre-tool-use, tool: {name: Bash, input: {command: ls}}}");
    let script = "echo out; echo err >&2";
    let said = |fields: &str| {
        let fields = format!("trigger: pre-tool-call\n{fields}");
        let signals = answer(&fields, script, &event).unwrap();
        let told = signals.iter().map(|signal| {
            assert!(!signal.is_for_agent(), "{signal:?}");
            signal.payload.text().to_owned()
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(said("async: true"), ["out", "err"]);
    // Of a hook that is waited for the error output is a reason, or nothing.
    assert_eq!(said("async: false"), ["out"]);
}

#[test]
fn who_debugs_sees_each_hook_begin_and_end_and_what_it_is_given() {
    let world = World::new("");
    let hooks = world.home().join(".config/agents/hooks");
    let fields = |more: &str| format!("trigger: before_tool\n{more}");
    World::write_hook(
        &hooks,
        "slow",
        &fields("async: true"),
        "cat >/dev/null; echo later >&2",
    );
    let token = ["ghp_", &"a1B2".repeat(9)].concat();
    World::write_hook(
        &hooks,
        "guard",
        &fields("async: false"),
        "cat >/dev/null; echo no >&2; exit 2",
    );
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t.jsonl", "cwd": world.root(),
        "tool_name": "Bash", "tool_input": {"command": format!("echo {token}")}, "tool_use_id": "t",
    });
    let debugged = |arguments: &[&str], variable: &str| {
        let mut command = world.ahp_command();
        command.args(arguments).env("AHP_DEBUG", variable);
        let ran = crate::world::fed(&mut command, event.to_string().as_bytes());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stderr
    };
    let quiet = debugged(&["hook", "--host", "claude-code"], "0");
    assert_eq!(quiet, "");
    for (arguments, variable) in [
        (&["hook", "--host", "claude-code"][..], "1"),
        (&["--debug", "hook", "--host", "claude-code"][..], "0"),
    ] {
        let told = debugged(arguments, variable);
        for part in [
            "[HOOK DEBUG] [SYNC] Starting hook 'guard' for event 'before_tool'",
            "[HOOK DEBUG] Input: {\"event_type\": \"before_tool\"",
            "[HOOK DEBUG] [SYNC] Completed hook 'guard'",
            "blocked=True",
            "[HOOK DEBUG] Reason: no",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(!told.contains(&token), "{told}");
    }
    // One that is not waited for runs where nothing blocks, and is told of as well.
    fs::remove_dir_all(hooks.join("guard")).unwrap();
    let told = debugged(&["hook", "--host", "claude-code"], "1");
    for part in [
        "[ASYNC] Starting hook 'slow'",
        "[ASYNC] Completed hook 'slow'",
        "blocked=False",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
