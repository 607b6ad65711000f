//! The events that hosts have grown: what they decide, told by the program that hosts call.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use ahp::event::Trigger;
use ahp::host;
use ahp::host::{Decoded, Host, Input, Reply};
use ahp::signal::{Manner, Signal};
use ahp::verdict::Verdict;
use serde_json::{Value, json};

use crate::world::{Ran, World, fed};

/// Changes the settings of a host.
type Change = fn(&mut Value);

fn claude(world: &World, event: &str, more: Value) -> Ran {
    let mut payload = json!({
        "hook_event_name": event, "session_id": "s", "cwd": world.root(),
        "transcript_path": "/t.jsonl",
    });
    let Value::Object(more) = more else {
        unreachable!("fields are an object");
    };
    payload.as_object_mut().unwrap().extend(more);
    let payload = payload.to_string();
    world.ahp_fed(&["hook", "--host", "claude-code"], payload.as_bytes())
}

/// Tells of an agent's own task that is said to be done.
fn completed(world: &World, id: &str, description: &str) -> Ran {
    let fields = json!({"task_id": id, "task_subject": "Login", "task_description": description});
    claude(world, "TaskCompleted", fields)
}

#[test]
fn a_task_is_an_issue_whose_description_is_its_text() {
    let world = World::new(
        "hooks: {pre-issue-submit: [{oracle: ChecklistValidator, when: {issue.type: task}}]}",
    );
    let open = completed(&world, "7", "- [x] form\n- [ ] test\n");
    assert_eq!(open.code, 2, "{open:?}");
    assert!(open.stderr.contains("test"), "{}", open.stderr);
    let done = completed(&world, "7", "- [x] form\n- [x] test\n");
    assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{done:?}");
    // A task that is called like an issue is a task all the same.
    world.write(
        "Issues/FEAT-0007.md",
        "---\nid: FEAT-0007\ntype: feature\n---\n- [ ] open\n",
    );
    let named = completed(&world, "FEAT-0007", "- [x] form\n");
    assert_eq!((named.code, named.stdout.as_str()), (0, ""), "{named:?}");
}

#[test]
fn only_who_asks_for_the_type_of_an_issue_judges_a_task() {
    let judged = |when: &str| {
        let policy = format!(
            "hooks: {{pre-issue-submit: [{{oracle: ChecklistValidator, locked: true{when}}}]}}"
        );
        let world = World::new(&policy);
        World::write_hook(
            &world.home().join(".config/agents/hooks"),
            "gate",
            "trigger: pre-issue-submit",
            "exit 2",
        );
        world.ahp(&["install", "claude", "--project"]);
        let wires = fs::read_to_string(world.path(".claude/settings.json")).unwrap();
        let code = completed(&world, "7", "- [ ] test").code;
        (code, wires.contains("TaskCompleted"))
    };
    for when in [
        "",
        ", when: {issue.type: feature}",
        ", when: {issue.type: '!= task'}",
        ", when: {issue.title: Login}",
        ", when: {issue.type: task, not: {issue.type: task}}",
    ] {
        assert_eq!(judged(when), (0, false), "`{when}`");
    }
    for when in [
        ", when: {issue.type: task}",
        ", when: {issue.type: [fix, task]}",
        ", when: {issue.type: '!= feature'}",
        ", when: {any: [{issue.title: Other}, {issue.type: '~ ^t'}]}",
        ", when: {expr: 'issue.type == \"task\"'}",
    ] {
        assert_eq!(judged(when), (2, true), "`{when}`");
    }
}

#[test]
fn a_server_that_asks_for_a_secret_is_declined() {
    let world = World::new(
        "hooks: {pre-tool-use: [{oracle: SecurityScanner, when: {tool.mcp_server: bank}}]}",
    );
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let result = |text: &str| {
        let fields =
            json!({"mcp_server_name": "bank", "action": "accept", "content": {"token": text}});
        claude(&world, "ElicitationResult", fields)
    };
    let declined = result(&token);
    assert_eq!(declined.code, 2, "{declined:?}");
    let passed = result("blue");
    assert_eq!((passed.code, passed.stdout.as_str()), (0, ""), "{passed:?}");
}

/// A world of a person's HOOK.md alone, whose gate never lets a stop go.
fn never_lets_go() -> World {
    let world = World::new("");
    fs::remove_dir(world.path(".ahp")).unwrap();
    let hooks = world.home().join(".config/agents/hooks");
    for trigger in ["pre-agent-turn-stop", "post-subagent"] {
        let fields = format!("trigger: {trigger}");
        World::write_hook(
            &hooks,
            &format!("gate-{trigger}"),
            &fields,
            "echo not yet >&2; exit 2",
        );
    }
    world
}

fn is_held(ran: &Ran) -> bool {
    ran.code == 2 || ran.stdout.contains("\"block\"")
}

#[test]
fn a_stop_without_a_session_is_let_go_after_some_blocks() {
    for (host, payload) in [
        (
            "codex",
            json!({"hook_event_name": "Stop", "stop_hook_active": true}),
        ),
        (
            "codex",
            json!({"hook_event_name": "SubagentStop", "stop_hook_active": true}),
        ),
        ("agent-hooks", json!({"event_type": "before_stop"})),
        ("agent-hooks", json!({"event_type": "pre-agent-turn-stop"})),
        ("native", json!({"trigger": "pre-agent-turn-stop"})),
    ] {
        let world = never_lets_go();
        let stop = || world.ahp_fed(&["hook", "--host", host], payload.to_string().as_bytes());
        let held = (0..6).map(|_| stop()).take_while(is_held).count();
        assert_eq!(held, 3, "{host} {payload}");
    }
}

#[test]
fn where_no_log_counts_a_stop_is_let_go_after_one_block() {
    for event in ["Stop", "SubagentStop"] {
        let world = never_lets_go();
        // Nothing can be written there.
        fs::write(world.home().join(".local"), "").unwrap();
        let first = claude(&world, event, json!({"stop_hook_active": false}));
        assert!(is_held(&first), "{event}: {first:?}");
        let again = claude(&world, event, json!({"stop_hook_active": true}));
        assert!(!is_held(&again), "{event}: {again:?}");
    }
}

#[test]
fn subagents_of_one_session_are_counted_each_for_itself() {
    let world = never_lets_go();
    let stop = |agent: &str| {
        let fields = json!({"agent_id": agent, "agent_type": "worker", "stop_hook_active": true});
        is_held(&claude(&world, "SubagentStop", fields))
    };
    for _ in 0..3 {
        assert!(stop("one") && stop("two"));
    }
    assert!(!stop("one"));
    assert!(stop("three"));
    assert!(!stop("two"));
}

#[test]
fn teammates_are_counted_each_by_its_name() {
    let world = never_lets_go();
    let idle = |name: &str| {
        let fields = json!({"teammate_name": name, "team_name": "web"});
        claude(&world, "TeammateIdle", fields).code == 2
    };
    for _ in 0..3 {
        let stop = json!({"agent_id": "one", "agent_type": "worker"});
        assert!(is_held(&claude(&world, "SubagentStop", stop)));
        assert!(idle("ui"));
    }
    assert!(!idle("ui"));
    for _ in 0..3 {
        assert!(idle("api"));
    }
    assert!(!idle("api"));
}

#[test]
fn a_session_keeps_the_wires_of_every_gate_of_its_policy() {
    let world = World::new(
        "hooks:\n  pre-agent-turn-stop: [{oracle: TestGate}]\n  pre-agent-turn: [{oracle: Say, config: {text: x}}]\n",
    );
    world.ahp(&["trust", "-y"]);
    assert_eq!(world.ahp(&["install", "claude", "--project"]).code, 0);
    let file = world.path(".claude/settings.json");
    let wired: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let changed = |settings: &Value| {
        fs::write(&file, settings.to_string()).unwrap();
        let fields = json!({"source": "project_settings", "file_path": file});
        claude(&world, "ConfigChange", fields)
    };
    let is_kept = |settings: &Value, says: &str| {
        let kept = changed(settings);
        let reply: Value = serde_json::from_str(&kept.stdout).unwrap_or_default();
        assert_eq!(reply["decision"], "block", "{settings}: {kept:?}");
        assert!(reply["reason"].to_string().contains(says), "{reply}");
    };
    for event in ["Stop", "UserPromptSubmit", "ConfigChange"] {
        let says = format!("`{event}`");
        let mut gone = wired.clone();
        assert!(gone["hooks"][event].is_array(), "{event}: {wired}");
        gone["hooks"].as_object_mut().unwrap().remove(event);
        is_kept(&gone, &says);
        let mut idle = wired.clone();
        idle["hooks"][event][0]["hooks"][0]["command"] = "true".into();
        is_kept(&idle, &says);
    }
    // What the policy has no gate at is anybody's.
    let mut free = wired;
    free["hooks"]["PostToolUse"] = json!([{"hooks": [{"type": "command", "command": "true"}]}]);
    free["hooks"]["SessionEnd"] = json!([]);
    let passed = changed(&free);
    assert_eq!((passed.code, passed.stdout.as_str()), (0, ""), "{passed:?}");
}

/// A policy that has grown since its hooks were installed does not hold up what leaves the hooks alone, where that is known.
#[test]
fn a_change_that_leaves_the_hooks_alone_is_taken_while_the_policy_waits_for_more_of_them() {
    let world = World::new("extends: [ahp:standard]\n");
    world.ahp(&["install", "claude", "--project"]);
    let file = world.path(".claude/settings.json");
    let wired: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    world.write(
        ".ahp/hooks.yaml",
        "extends: [ahp:standard]\nhooks: {pre-agent-turn-stop: [{oracle: TestGate}]}\n",
    );
    world.ahp(&["trust", "-y"]);
    let changed = |change: fn(&mut Value)| {
        let mut settings = wired.clone();
        change(&mut settings);
        fs::write(&file, settings.to_string()).unwrap();
        let fields = json!({"source": "project_settings", "file_path": file});
        let ran = claude(&world, "ConfigChange", fields);
        let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        reply["reason"].as_str().map(str::to_owned)
    };
    let model: Change = |settings| settings["model"] = json!("opus");
    assert_eq!(changed(model), None);
    let way_out = "; run `ahp install claude-code`, then make the change again";
    let changes: [(Change, &str); 4] = [
        (
            |settings| settings["hooks"]["PreToolUse"] = json!([]),
            "no settings file wires `ahp` before a tool, and the policy judges there; run",
        ),
        (
            |settings| settings["hooks"]["PreToolUse"][0]["matcher"] = json!("Read"),
            way_out,
        ),
        (|settings| settings["hooks"] = json!({}), "before a tool"),
        (
            |settings| settings["disableAllHooks"] = json!(true),
            ": take it out",
        ),
    ];
    for (change, says) in changes {
        let told = changed(change).unwrap_or_default();
        assert!(told.contains(says), "{told}");
    }
    assert_eq!(changed(model), None);
    // Of what nobody has kept it cannot be told what it was before.
    fs::remove_dir_all(world.home().join(".local/state/ahp/wires")).unwrap();
    let told = changed(model).unwrap_or_default();
    let says =
        format!("no settings file wires `ahp` at `Stop`, and the policy judges there{way_out}");
    assert!(told.contains(&says), "{told}");
    world.ahp(&["install", "claude", "--project"]);
    let fields = json!({"source": "project_settings", "file_path": file});
    assert_eq!(claude(&world, "ConfigChange", fields).stdout, "");
}

#[test]
fn a_session_keeps_its_wires_and_takes_every_other_change_of_settings() {
    let world = World::new("extends: [ahp:standard]\n");
    assert_eq!(world.ahp(&["install", "claude", "--project"]).code, 0);
    let file = world.path(".claude/settings.json");
    let wired = fs::read_to_string(&file).unwrap();
    assert!(wired.contains("ConfigChange"), "{wired}");
    let changed = |text: &str| {
        fs::write(&file, text).unwrap();
        let fields = json!({"source": "project_settings", "file_path": file});
        claude(&world, "ConfigChange", fields)
    };
    let mut other: Value = serde_json::from_str(&wired).unwrap();
    other["permissions"] = json!({"allow": ["Bash(ls)"]});
    let passed = changed(&other.to_string());
    assert_eq!((passed.code, passed.stdout.as_str()), (0, ""), "{passed:?}");
    let mut off = other.clone();
    off["disableAllHooks"] = true.into();
    let mut slow = other.clone();
    for group in slow["hooks"]["PreToolUse"].as_array_mut().unwrap() {
        group["hooks"][0]["async"] = true.into();
    }
    for (settings, says) in [
        (off.to_string(), "disableAllHooks"),
        (slow.to_string(), "before a tool"),
        ("{\"hooks\": {}}".to_owned(), "before a tool"),
        ("{".to_owned(), "is not JSON"),
    ] {
        let kept = changed(&settings);
        let reply: Value = serde_json::from_str(&kept.stdout).unwrap_or_default();
        assert_eq!(reply["decision"], "block", "{settings}: {kept:?}");
        assert!(reply["reason"].to_string().contains(says), "{reply}");
    }
    // Who would be asked there is another program, or whoever listens.
    crate::world::executable(&world.path("evil/ahp"), "#!/bin/sh\n");
    let evil = world.path("evil/ahp");
    let evil = evil.display();
    for handler in [
        json!({
            "type": "command",
            "command": format!("{evil} hook --host claude-code --event PreToolUse --timeout 58"),
            "timeout": 65,
            "onFailure": "block",
        }),
        json!({
            "type": "http",
            "url": "http://127.0.0.1:9999/hook/claude-code?event=PreToolUse&timeout=58",
            "timeout": 65,
            "onFailure": "block",
        }),
    ] {
        let mut strange = other.clone();
        strange["hooks"]["PreToolUse"] = json!([{"hooks": [handler]}]);
        let kept = changed(&strange.to_string());
        let reply: Value = serde_json::from_str(&kept.stdout).unwrap_or_default();
        assert_eq!(reply["decision"], "block", "{handler}: {kept:?}");
        let says = reply["reason"].to_string();
        assert!(says.contains("does not call this `ahp`"), "{reply}");
    }
    // What the session would be started with, and what it would load, decide over it as much.
    let by_name = world.home().join("bin");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ahp"), {
        fs::create_dir_all(&by_name).unwrap();
        by_name.join("ahp")
    })
    .unwrap();
    let with = |key: &str, value: Value| {
        let mut settings = other.clone();
        settings[key] = value;
        let kept = changed(&settings.to_string());
        let reply: Value = serde_json::from_str(&kept.stdout).unwrap_or_default();
        (reply["decision"] == "block").then(|| reply["reason"].to_string())
    };
    let plugins = world.home().join(".claude/plugins/cache/market");
    crate::world::write(&plugins.join("mod/1.0/hooks/register.js"), "x");
    crate::world::write(&plugins.join("words/1.0/commands/a.md"), "x");
    for (key, value, says) in [
        ("env", json!({"PATH": world.path("evil")}), "PATH"),
        ("env", json!({"PATH": "/nowhere"}), "PATH"),
        ("env", json!({"AHP_TRUST": "all"}), "AHP_TRUST"),
        (
            "env",
            json!({"AHP_ON_CONFIG_ERROR": "allow"}),
            "AHP_ON_CONFIG_ERROR",
        ),
        ("env", json!({"AHP_DEPTH": "9"}), "AHP_DEPTH"),
        ("env", json!({"HOME": "/tmp"}), "HOME"),
        ("env", json!({"XDG_CONFIG_HOME": "/tmp"}), "XDG_CONFIG_HOME"),
        ("env", json!({"LD_PRELOAD": "/x.so"}), "LD_PRELOAD"),
        (
            "env",
            json!({"CLAUDE_CODE_PLUGIN_DIRS": "/x"}),
            "CLAUDE_CODE_PLUGIN_DIRS",
        ),
        ("enabledPlugins", json!({"mod@market": true}), "mod@market"),
        (
            "enabledPlugins",
            json!({"nowhere@market": true}),
            "nowhere@market",
        ),
    ] {
        let reason = with(key, value.clone());
        assert!(
            reason.is_some_and(|reason| reason.contains(says)),
            "{value}"
        );
        // It tries the hooks themselves, which takes its time.
        if ["AHP_TRUST", "mod@market"].contains(&says) {
            let doctor = world.ahp(&["doctor", "claude"]);
            assert!(doctor.stdout.contains(says), "{value}: {}", doctor.stdout);
        }
    }
    for (key, value) in [
        (
            "env",
            json!({"PATH": format!("{}:/usr/bin", by_name.display())}),
        ),
        (
            "env",
            json!({"RUST_LOG": "debug", "AHP_TRUST": "", "AHP_DEBUG": "1"}),
        ),
        ("env", json!({"HOME": world.home()})),
        (
            "enabledPlugins",
            json!({"mod@market": false, "words@market": true}),
        ),
    ] {
        assert_eq!(with(key, value.clone()), None, "{value}");
    }
    // A wire that stands there and stops nothing is as good as none, and `doctor` names it.
    let own = other["hooks"]["PreToolUse"][0]["hooks"][0]["command"].clone();
    let own = own.as_str().unwrap();
    let (call, _) = own.split_once(" && exit 0; ").unwrap();
    for (pointer, key, value, says) in [
        ("", "matcher", json!("Nothing"), "leaves tools out"),
        ("", "matcher", json!("Read"), "leaves tools out"),
        ("/hooks/0", "timeout", json!(0.01), "is cut off"),
        ("/hooks/0", "if", json!("Read(zzz)"), "leaves calls out"),
        ("/hooks/0", "type", json!("prompt"), "of type `prompt`"),
        (
            "/hooks/0",
            "command",
            json!(format!("true # {own}")),
            "more than the call",
        ),
        (
            "/hooks/0",
            "command",
            json!(format!("false && {own}")),
            "more than the call",
        ),
        (
            "/hooks/0",
            "command",
            json!(format!("{call} >/dev/null; exit 0")),
            "more than the call",
        ),
    ] {
        let mut weak = other.clone();
        for group in weak["hooks"]["PreToolUse"].as_array_mut().unwrap() {
            group.pointer_mut(pointer).unwrap()[key] = value.clone();
        }
        let kept = changed(&weak.to_string());
        let reply: Value = serde_json::from_str(&kept.stdout).unwrap_or_default();
        assert_eq!(reply["decision"], "block", "{key} {value}: {kept:?}");
        assert!(reply["reason"].to_string().contains(says), "{reply}");
        let doctor = world.ahp(&["doctor", "claude"]);
        assert_eq!(doctor.code, 1, "{key} {value}: {}", doctor.stdout);
        assert!(
            doctor.stdout.contains(says),
            "{key} {value}: {}",
            doctor.stdout
        );
    }
}

#[test]
fn what_comes_after_a_turn_comes_after_a_stop_that_nobody_holds_up() {
    let world = World::new("hooks: {pre-agent-turn-stop: [{hook: gate}]}");
    let hooks = world.home().join(".config/agents/hooks");
    World::write_hook(
        &hooks,
        "gate",
        "trigger: pre-agent-turn-stop",
        "test -e allowed || { echo not yet >&2; exit 2; }",
    );
    for trigger in ["post-agent-turn", "post-agent-turn-stop"] {
        World::write_hook(
            &hooks,
            trigger,
            &format!("trigger: {trigger}"),
            &format!("touch {trigger}; echo '{{\"additional_context\": \"after {trigger}\"}}'"),
        );
    }
    let there = |trigger: &str| world.path(trigger).exists();
    let stop = || claude(&world, "Stop", json!({"stop_hook_active": false}));
    let held = stop();
    assert!(held.stdout.contains("not yet"), "{held:?}");
    assert!(!there("post-agent-turn") && !there("post-agent-turn-stop"));
    world.write("allowed", "");
    let let_go = stop();
    assert_eq!((let_go.code, let_go.stdout.as_str()), (0, ""), "{let_go:?}");
    assert!(there("post-agent-turn") && there("post-agent-turn-stop"));
    // What was said then reaches the agent with the next prompt.
    let prompt = claude(&world, "UserPromptSubmit", json!({"prompt": "go on"}));
    for trigger in ["after post-agent-turn", "after post-agent-turn-stop"] {
        assert!(prompt.stdout.contains(trigger), "{prompt:?}");
    }
    // Hosts that tell of nothing after a turn are wired for the stop.
    let needed = ahp::install::Needs::Policy {
        asks_again: false,
        elicited: [].into(),
        triggers: [Trigger::PostAgentTurnStop].into(),
        tasks: [].into(),
    };
    let host_events = needed.host_events(Host::find("claude-code").unwrap());
    assert!(
        host_events
            .iter()
            .any(|host_event| host_event.name() == "Stop")
    );
}

/// Answers an event of a host with some signals.
fn answer(host: &str, event: &str, signals: Vec<Signal>) -> Reply {
    let host = Host::find(host).unwrap();
    let host_event = host.event(event).unwrap();
    let decoded = Decoded {
        host,
        event: event.to_owned(),
        host_event: Some(host_event),
        session_id: None,
        events: Vec::new(),
        notes: Vec::new(),
    };
    let verdict = Verdict::of(host_event.trigger.unwrap(), signals);
    host.answer(&decoded, vec![verdict], None)
}

#[test]
fn what_a_hook_says_to_a_person_is_cut_where_the_host_would_cut_it() {
    let long = "word ".repeat(200);
    let long = long.trim();
    for host in ["claude-code", "vscode"] {
        let notice = Signal::aid("n", long).manner(Manner::ForPerson);
        let reply = answer(host, "PreToolUse", vec![notice]);
        assert_eq!(reply.object()["systemMessage"], long, "{host}: {reply:?}");
        let ends = Signal::block("b", long).manner(Manner::EndsRun);
        let reply = answer(host, "PreToolUse", vec![ends]);
        assert_eq!(reply.object()["stopReason"], long, "{host}: {reply:?}");
    }
}

#[test]
fn a_hook_that_ends_the_run_ends_it_where_the_host_can() {
    let blocks = || Signal::block("b", "too much").manner(Manner::EndsRun);
    for (host, event) in [
        ("claude-code", "PreToolUse"),
        ("claude-code", "UserPromptSubmit"),
        ("vscode", "PreToolUse"),
        ("vscode", "UserPromptSubmit"),
        ("factory-droid", "PreToolUse"),
        ("gemini-cli", "BeforeTool"),
        ("vscode", "SubagentStart"),
    ] {
        let reply = answer(host, event, vec![blocks()]);
        assert_eq!(
            reply.object()["continue"],
            false,
            "{host} {event}: {reply:?}"
        );
        assert_eq!(reply.object()["stopReason"], "too much", "{host} {event}");
        // The tool would still run in a host that only ends after it.
        let is_tool = event == "PreToolUse" || event == "BeforeTool";
        assert!(
            !is_tool || Host::find(host).unwrap().obeys(&reply),
            "{reply:?}"
        );
    }
    // Codex would take it for a failure of the hook and run the tool.
    for (host, event) in [("codex", "PreToolUse"), ("qwen-code", "PreToolUse")] {
        let reply = answer(host, event, vec![blocks()]);
        assert!(
            reply.object().get("continue").is_none(),
            "{host}: {reply:?}"
        );
        assert!(Host::find(host).unwrap().obeys(&reply), "{host}: {reply:?}");
    }
    // At a stop a block would make the agent go on; a gate that does so holds on all the same.
    let ends = || Signal::aid("e", "enough").manner(Manner::EndsRun);
    for (host, event) in [
        ("claude-code", "Stop"),
        ("vscode", "Stop"),
        ("gemini-cli", "AfterAgent"),
    ] {
        let reply = answer(host, event, vec![ends()]);
        assert_eq!(reply.object()["continue"], false, "{host}: {reply:?}");
        assert!(
            reply.object().get("decision").is_none(),
            "{host}: {reply:?}"
        );
        let gated = answer(host, event, vec![ends(), Signal::block("t", "tests fail")]);
        assert!(
            gated.object().get("continue").is_none(),
            "{host}: {gated:?}"
        );
        assert!(gated.stdout.contains("tests fail"), "{host}: {gated:?}");
    }
}

#[test]
fn what_a_hook_says_to_the_person_or_the_log_does_not_reach_the_agent() {
    let said = || {
        vec![
            Signal::aid("m", "for you").manner(Manner::ForPerson),
            Signal::aid("l", "for the log").manner(Manner::ForLog),
            Signal::aid("c", "for the agent"),
        ]
    };
    let reply = answer("claude-code", "PreToolUse", said()).object();
    assert_eq!(reply["systemMessage"], "for you");
    let context = &reply["hookSpecificOutput"]["additionalContext"];
    assert_eq!(context, "Note from c: for the agent");
    // Beside a block, too.
    let mut blocked = said();
    blocked.push(Signal::block("b", "no"));
    let reply = answer("claude-code", "PreToolUse", blocked);
    assert_eq!(reply.object()["systemMessage"], "for you");
    assert!(!reply.stdout.contains("for the log"), "{reply:?}");
    // A host that shows its person nothing says it to nobody.
    let reply = answer("codex", "PreToolUse", vec![said().remove(0)]);
    assert!(
        !reply.object()["hookSpecificOutput"]
            .to_string()
            .contains("for you"),
        "{reply:?}"
    );
}

#[test]
fn the_output_of_a_formatter_is_not_a_failure() {
    let world =
        World::new("hooks: {post-tool-use: [{oracle: CommandHooks, config: {file: hooks.json}}]}");
    let hook = json!({"type": "command", "command": "echo src/a.js 12ms"});
    let file = json!({"hooks": {"PostToolUse": [hook]}});
    world.write("hooks.json", file.to_string());
    let fields = json!({
        "tool_name": "Write", "tool_input": {"file_path": "a.js", "content": ""},
        "tool_use_id": "t", "tool_response": {},
    });
    World::write_hook(
        &world.home().join(".config/agents/hooks"),
        "format",
        "trigger: post-tool-call",
        "echo formatted",
    );
    world.ahp(&["trust", "-y"]);
    let ran = claude(&world, "PostToolUse", fields);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn settings_of_the_system_are_refused_a_program_that_others_may_change() {
    let world = World::new("");
    // Where the tests are built, the program may well lie where only root writes: so a copy in a directory of everybody's.
    let shared = world.root().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
    let program = shared.join("ahp");
    world.ahp_copied_to(&program);
    let arguments = ["install", "gemini", "--system", "--dry-run"];
    let refused = fed(world.command(&program).args(arguments), b"");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("only root"), "{}", refused.stderr);
    let none = world.ahp(&["install", "kimi", "--system", "--dry-run"]);
    assert!(
        none.stderr.contains("has no system settings"),
        "{}",
        none.stderr
    );
}

#[test]
fn a_payload_of_the_standard_keeps_its_context_flat() {
    let bytes = br#"{"event_type": "post-session", "session_id": "s", "exit_reason": "done", "context": {"a": 1}}"#;
    let decoded = host::decode(&Input {
        bytes,
        host: Host::find("agent-hooks"),
        event: None,
        arguments: &[],
        work_dir: std::path::Path::new("/p"),
    })
    .unwrap();
    let event = &decoded.events[0];
    assert_eq!(event.context.get("a"), Some(&json!(1)));
    assert!(event.context.get("context").is_none());
}

#[test]
fn unbound_hook_files_are_told_with_their_faults_and_those_at_home_too() {
    let world = World::new("extends: [ahp:standard]\n");
    let hook = json!({"type": "command", "command": "./x"});
    let file = json!({"hooks": {"PreToolUse": [hook, {"type": "command"}]}});
    world.write(".github/hooks/a.json", file.to_string());
    let group = json!({"hooks": {"Stop": [{"hooks": [hook]}]}});
    for name in [".claude/settings.json", ".copilot/hooks/b.json"] {
        crate::world::write(&world.home().join(name), group.to_string());
    }
    let told = world.ahp(&["doctor"]).stdout;
    for says in [
        ".github/hooks/a.json: 2 commands that only its own host runs",
        "`hooks.PreToolUse[1]`: it has no command",
        "~/.claude/settings.json: 1 command that",
        "~/.copilot/hooks/b.json: 1 command that",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
}

#[test]
fn one_fault_under_several_triggers_is_told_once() {
    let world = World::new(
        "hooks:\n  pre-tool-use, post-tool-use, pre-session:\n    - {oracle: CommandHooks, config: {file: bad.json}}\n",
    );
    let file = json!({"hooks": {"PreToolUse": [{"type": "command"}]}});
    world.write("bad.json", file.to_string());
    let checked = world.ahp(&["check"]).stdout;
    let errors = checked.matches("has no command").count();
    assert!(errors > 0 && checked.contains("1 error,"), "{checked}");
}

#[test]
fn hook_files_that_nobody_reads_and_events_that_nobody_has_are_told() {
    let world = World::new("extends: [ahp:standard]\n");
    let hook = json!([{"type": "command", "command": "./x"}]);
    let file = json!({"hooks": {"PreToolUs": hook, "PreToolUse": hook, "TaskCompleted": hook}});
    world.write(".github/hooks/a.json", file.to_string());
    let checked = world.ahp(&["check"]);
    assert!(
        checked.stdout.contains("no host has the event `PreToolUs`"),
        "{}",
        checked.stdout
    );
    assert!(
        checked.stdout.contains("did you mean `PreToolUse`?"),
        "{}",
        checked.stdout
    );
    assert!(
        !checked.stdout.contains("`TaskCompleted`"),
        "{}",
        checked.stdout
    );
    let told = ".github/hooks/a.json: 1 command that only its own host runs";
    let unbound = world.ahp(&["doctor"]).stdout;
    assert!(unbound.contains(told), "{unbound}");
    // Wires of ours alone are not worth a word.
    let other = World::new("extends: [ahp:standard]\n");
    other.ahp(&["install", "claude", "--project"]);
    let wired = other.ahp(&["doctor"]).stdout;
    assert!(!wired.contains("only its own host"), "{wired}");
}

#[test]
fn doctor_fails_where_code_in_the_host_can_skip_every_hook() {
    let world = World::new("extends: [ahp:standard]\n");
    world.ahp(&["install", "claude", "--project"]);
    let skill = world.home().join(".claude/skills/helper");
    fs::create_dir_all(skill.join("hooks")).unwrap();
    fs::write(skill.join("SKILL.md"), "words").unwrap();
    fs::write(skill.join("hooks/hooks.json"), r#"{"hooks": {}}"#).unwrap();
    let fine = world.ahp(&["doctor", "claude"]);
    assert_eq!(fine.code, 0, "{}", fine.stdout);
    for (file, text) in [
        ("hooks/hooks.json", r#"{"modules": ["./register.js"]}"#),
        ("hooks/register.js", "export default () => {}"),
    ] {
        fs::write(skill.join(file), text).unwrap();
        let found = world.ahp(&["doctor", "claude"]);
        assert_eq!(found.code, 1, "{}", found.stdout);
        assert!(
            found.stdout.contains("loads code that can skip every hook"),
            "{}",
            found.stdout
        );
        assert!(found.stdout.contains(file), "{}", found.stdout);
    }
}

#[test]
fn doctor_fails_where_a_foreign_plugin_is_loaded_beside_ours() {
    let world = World::new("extends: [ahp:standard]\n");
    world.ahp(&["install", "opencode", "--project"]);
    world.write(".opencode/plugin/README.md", "words");
    let fine = world.ahp(&["doctor", "opencode"]);
    assert_eq!(fine.code, 0, "{}", fine.stdout);
    for file in [".opencode/plugins/other.ts", ".opencode/plugin/other.js"] {
        world.write(file, "export const Other = async () => ({})");
        let found = world.ahp(&["doctor", "opencode"]);
        assert_eq!(found.code, 1, "{file}: {}", found.stdout);
        assert!(found.stdout.contains(file), "{}", found.stdout);
        fs::remove_file(world.path(file)).unwrap();
    }
}

#[test]
fn doctor_names_the_variables_that_pass_hooks_by() {
    let world = World::new("extends: [ahp:standard]\n");
    world.ahp(&["install", "claude", "--project"]);
    let settings = world.path(".claude/settings.json");
    let wired = fs::read_to_string(&settings).unwrap();
    assert_eq!(world.ahp(&["doctor", "claude"]).code, 0);
    for name in ["CLAUDE_CODE_PLUGIN_DIRS", "CLAUDE_CODE_SAFE_MODE"] {
        let mut value: Value = serde_json::from_str(&wired).unwrap();
        value["env"] = json!({ name: "1" });
        fs::write(&settings, value.to_string()).unwrap();
        let found = world.ahp(&["doctor", "claude"]);
        assert_eq!(found.code, 1, "{}", found.stdout);
        assert!(found.stdout.contains(name), "{}", found.stdout);
        fs::write(&settings, &wired).unwrap();
        let found = Ran::of(
            &world
                .ahp_command()
                .args(["doctor", "claude"])
                .env(name, "1")
                .output()
                .unwrap(),
        );
        assert_eq!(found.code, 1, "{}", found.stdout);
        assert!(found.stdout.contains(name), "{}", found.stdout);
    }
}

#[test]
fn three_broken_hooks_of_eight_are_told_everywhere() {
    let world = World::new("");
    let hooks = world.home().join(".config/agents/hooks");
    for n in 0..5 {
        let name = format!("sound-{n}");
        World::write_hook(&hooks, &name, "trigger: PreToolUse", "exit 0");
    }
    World::write_hook(&hooks, "broken-a", "trigger: PreToolYuse", "exit 2");
    World::write_hook(
        &hooks,
        "broken-b",
        "trigger: PreToolUse\ntimeout: soon",
        "exit 2",
    );
    World::write_hook(&hooks, "broken-c", "trigger: PreToolUse", "exit 2");
    fs::remove_file(hooks.join("broken-c/scripts/run")).unwrap();
    let broken = ["broken-a", "broken-b", "broken-c"];
    let checked = world.ahp(&["check"]);
    assert_eq!(checked.code, 1, "{}", checked.stdout);
    assert!(checked.stdout.contains("3 errors"), "{}", checked.stdout);
    let examined = world.ahp(&["doctor"]);
    assert_eq!(examined.code, 1, "{}", examined.stdout);
    let explained = world.ahp(&["explain", "pre-tool-use"]).stdout;
    for name in broken {
        assert!(checked.stdout.contains(name), "{name}: {}", checked.stdout);
        assert!(
            examined.stdout.contains(name),
            "{name}: {}",
            examined.stdout
        );
        let line = explained
            .lines()
            .position(|line| line.contains(&format!(" {name} ")));
        let why = line.and_then(|n| explained.lines().nth(n + 1));
        assert!(
            why.is_some_and(|why| why.contains("DOES NOT RUN")),
            "{name}: {explained}"
        );
    }
    assert_eq!(explained.matches("DOES NOT RUN").count(), 3, "{explained}");
    assert!(
        examined
            .stdout
            .contains("only self-protection and 5 HOOK.md hooks are in force"),
        "{}",
        examined.stdout
    );
    for n in 0..5 {
        assert!(explained.contains(&format!("sound-{n}")), "{explained}");
    }
    // What a broken hook would guard is told at its event.
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
    let ran = claude(&world, "PreToolUse", fields);
    for name in ["broken-b", "broken-c"] {
        assert!(ran.stdout.contains(name), "{name}: {ran:?}");
    }
}

/// A copy of what was trusted runs in its place, and nobody knows that folder.
#[test]
fn a_trusted_hook_without_a_program_is_named_by_its_own_folder() {
    let world = World::new("");
    let hooks = world.path(".agents/hooks");
    World::write_hook(&hooks, "empty", "trigger: PreToolUse", "exit 2");
    fs::remove_file(hooks.join("empty/scripts/run")).unwrap();
    let checked = world.ahp(&["check"]).stdout;
    // Trust would not have it run.
    assert!(!checked.contains("may not run yet"), "{checked}");
    world.ahp(&["trust", "-y"]);
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
    let told = claude(&world, "PreToolUse", fields).stdout;
    let folder = format!("in `{}`", hooks.join("empty").display());
    assert!(told.contains(&folder) && !told.contains("copies"), "{told}");
}
