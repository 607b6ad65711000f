//! What is in force of a policy whatever its layers say or fail to say, told by the program that hosts call.

use serde_json::{Value, json};

use crate::world::{World, write};

/// Sends one event as Claude Code does; returns whether it is stopped or asked about, and the whole answer.
fn hook(world: &World, event: &Value) -> (Option<String>, String) {
    let ran = world.ahp_fed(
        &["hook", "--host", "claude-code"],
        event.to_string().as_bytes(),
    );
    assert!(matches!(ran.code, 0 | 2), "{ran:?}");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let specific = &answer["hookSpecificOutput"]["permissionDecision"];
    let decision = specific.as_str().or(answer["decision"].as_str());
    (
        decision.map(ToOwned::to_owned),
        format!("{}{}", ran.stdout, ran.stderr),
    )
}

fn tool(world: &World, name: &str, input: &Value) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.root(),
        "tool_name": name, "tool_input": input, "tool_use_id": "t",
    })
}

fn bash(world: &World, command: &str) -> Value {
    tool(world, "Bash", &json!({"command": command}))
}

#[test]
fn self_protection_holds_whatever_is_bound_cold_and_warm() {
    let stop_only = "hooks: {pre-agent-turn-stop: [{oracle: ChecklistValidator}]}";
    for (user, project) in [
        (Some(stop_only), None),
        (Some("hooks: {}"), None),
        (None, Some("hooks: {}")),
        (None, Some(stop_only)),
        (None, None),
    ] {
        let world = World::new(project.unwrap_or_default());
        if let Some(user) = user {
            write(&world.home().join(".ahp/hooks.yaml"), user);
        }
        let edit = json!({"file_path": world.path(".ahp/hooks.yaml"), "content": "hooks: {}"});
        for round in ["cold", "warm", "warm again"] {
            for event in [
                bash(&world, "rm -rf ~/.ahp"),
                bash(&world, "ahp trust -y"),
                tool(&world, "Write", &edit),
            ] {
                let (decision, answer) = hook(&world, &event);
                let at = format!("{user:?} {project:?} {round}: {event}\n{answer}");
                assert_eq!(decision.as_deref(), Some("deny"), "{at}");
            }
            let (decision, answer) = hook(&world, &bash(&world, "ls"));
            assert_eq!(decision, None, "{answer}");
        }
    }
}

#[test]
fn explain_lists_self_protection_and_hooks_like_bindings() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}");
    World::write_hook(
        &world.home().join(".config/agents/hooks"),
        "guard",
        "trigger: PreToolUse\nmatcher: {tool: Shell}",
        "exit 0",
    );
    let listed = world
        .ahp(&["explain", "pre-tool-use", "--format", "json"])
        .json();
    let rows: Vec<_> = listed
        .iter()
        .map(|row| {
            [&row["id"], &row["layer"], &row["locked"]]
                .map(ToString::to_string)
                .join(" ")
        })
        .collect();
    assert_eq!(
        rows,
        [
            r#""(self-protection)" "built-in" true"#,
            r#""permission-checker" "project" false"#,
            r#""guard" "user" false"#,
        ]
    );
    let shown = world.ahp(&["explain"]).stdout;
    for part in ["built-in layer, built-in, locked", "guard/HOOK.md:1"] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn only_a_person_switches_self_protection_off() {
    let world = World::new("hooks: {}");
    write(
        &world.home().join(".ahp/hooks.yaml"),
        "settings: {self_protection: false}",
    );
    for _ in 0..2 {
        assert_eq!(hook(&world, &bash(&world, "ahp trust -y")).0, None);
    }
    let shown = world.ahp(&["explain", "pre-tool-use"]).stdout;
    assert!(shown.contains("switched off"), "{shown}");
}

fn run(world: &World, arguments: &[&str]) -> (i32, String) {
    let ran = world.ahp(arguments);
    (ran.code, format!("{}{}", ran.stdout, ran.stderr))
}

#[test]
fn a_gate_whose_program_may_not_run_blocks_and_says_how_to_approve_it() {
    let world =
        World::new("hooks: {pre-issue-submit: [{oracle: TestGate, config: {command: 'exit 0'}}]}");
    let (code, told) = run(&world, &["run", "pre-issue-submit", "--issue", "FEAT-1"]);
    assert_eq!(code, 2, "{told}");
    assert!(
        told.contains("may not run yet") && told.contains("`ahp trust`"),
        "{told}"
    );
    let (code, told) = run(&world, &["check", "--deny-warnings"]);
    assert_eq!(code, 1, "{told}");
    assert!(
        told.contains("`test-gate` at `pre-issue-submit` may not run yet"),
        "{told}"
    );
    let (_, told) = run(&world, &["doctor", "--format", "json"]);
    assert!(told.contains("may not run yet"), "{told}");
    let (_, told) = run(&world, &["explain", "pre-issue-submit"]);
    assert!(told.contains("not-trusted: block"), "{told}");
    world.ahp(&["trust", "-y"]);
    let (_, told) = run(&world, &["check", "--deny-warnings"]);
    assert!(!told.contains("may not run yet"), "{told}");
}

#[test]
fn a_gate_that_fails_asks_before_a_tool_and_blocks_a_stop() {
    let fails = "fn evaluate(ctx) { throw \"no\" }";
    for (bound, decision, stop) in [
        ("{oracle: fails}", Some("ask"), Some("block")),
        ("{oracle: fails, locked: true}", Some("deny"), Some("block")),
        ("{oracle: fails, on_error: allow}", None, None),
        ("{oracle: fails, intensity: prompt}", None, None),
    ] {
        let world = World::new(&format!(
            "hooks: {{pre-tool-use: [{bound}], pre-agent-turn-stop: [{bound}]}}"
        ));
        world.write(".ahp/oracles/fails.rhai", fails);
        let (given, answer) = hook(&world, &bash(&world, "ls"));
        assert_eq!(given.as_deref(), decision, "{bound}: {answer}");
        let event = json!({"hook_event_name": "Stop", "session_id": "s", "cwd": world.root()});
        let (given, answer) = hook(&world, &event);
        assert_eq!(given.as_deref(), stop, "{bound}: {answer}");
    }
}

/// A user's gate on dangerous commands, beside a project with a layer of its own.
fn with_user(user: &str, project: &str) -> World {
    let world = World::new(project);
    write(&world.home().join(".ahp/hooks.yaml"), user);
    world
}

const USERS_GATE: &str =
    "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {dangerous_commands: [drop-it]}}]}";

#[test]
fn a_layer_fails_alone() {
    // The fault is one that only compiling shows, and then one that parsing shows.
    for project in [
        "hooks: {pre-agent-turn-stop: [{oracle: NoSuchOracle}]}",
        "hooks: {pre-agent-turn-stop: [{oracle: ChecklistValidator, timeout: soon}]}",
    ] {
        let world = with_user(USERS_GATE, project);
        for _ in 0..2 {
            let (decision, answer) = hook(&world, &bash(&world, "drop-it all"));
            assert_eq!(decision.as_deref(), Some("deny"), "{project}: {answer}");
            assert!(answer.contains("drop-it"), "{project}: {answer}");
        }
        let (decision, answer) = hook(&world, &bash(&world, "ls"));
        assert_ne!(decision.as_deref(), Some("deny"), "{project}: {answer}");
        let stop = json!({"hook_event_name": "Stop", "session_id": "s", "cwd": world.root()});
        let (decision, answer) = hook(&world, &stop);
        assert_eq!(decision.as_deref(), Some("block"), "{project}: {answer}");
        assert!(answer.contains("the project layer"), "{project}: {answer}");
    }
    // Where nobody can know what a layer binds, all that has not happened yet is stopped.
    let world = with_user(USERS_GATE, "hooks: [");
    assert_eq!(hook(&world, &bash(&world, "ls")).0.as_deref(), Some("deny"));
}

#[test]
fn a_fault_that_is_let_pass_switches_no_sound_layer_off() {
    let world = with_user(USERS_GATE, "hooks: [");
    let judge = |command: &str| {
        let event = bash(&world, command).to_string();
        let mut ahp = world.ahp_command();
        ahp.args(["hook", "--host", "claude-code"])
            .env("AHP_ON_CONFIG_ERROR", "allow");
        crate::world::fed(&mut ahp, event.as_bytes()).stdout
    };
    assert!(judge("drop-it all").contains("deny"));
    assert!(!judge("ls").contains("deny"));
}

#[test]
fn settings_of_a_project_loosen_nothing_that_its_user_binds() {
    let user = "hooks: {pre-agent-turn-stop: [{oracle: gate, id: g}], pre-tool-use: [{oracle: gate, id: g, intensity: {by: environment, production: block, default: aid}}]}\nsettings: {environment: production}";
    let world = with_user(
        user,
        "settings: {max_stop_blocks: 0, environment: development, on_error: allow, timeout: 1ms}",
    );
    let gate = "fn evaluate(ctx) { block(\"no\", [\"x\"]) }";
    write(&world.home().join(".ahp/oracles/gate.rhai"), gate);
    let stop = json!({"hook_event_name": "Stop", "session_id": "s", "cwd": world.root()});
    let (decision, answer) = hook(&world, &stop);
    assert_eq!(decision.as_deref(), Some("block"), "{answer}");
    let (decision, answer) = hook(&world, &bash(&world, "ls"));
    assert_eq!(decision.as_deref(), Some("deny"), "{answer}");
}

#[test]
fn only_the_system_layer_forbids_a_variable() {
    let (code, told) = run(&World::new("settings: {forbid: [AHP_TRUST]}"), &["check"]);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("only `/etc/ahp/hooks.yaml` can"), "{told}");
}

/// A script that sets the command of a tool.
fn rewriting(command: &str) -> String {
    format!(
        "fn evaluate(ctx) {{ control([modify(\"tool.command\", (), \"{command}\", \"better\")]) }}"
    )
}

#[test]
fn a_script_of_a_project_chooses_what_runs_only_when_it_is_trusted() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: change}]}");
    world.write(".ahp/oracles/change.rhai", rewriting("echo changed"));
    let (_, answer) = hook(&world, &bash(&world, "ls"));
    assert!(
        !answer.contains("updatedInput") && answer.contains("ahp trust"),
        "{answer}"
    );
    world.ahp(&["trust", "-y"]);
    let (_, answer) = hook(&world, &bash(&world, "ls"));
    assert!(answer.contains("updatedInput"), "{answer}");
}

#[test]
fn what_will_run_is_judged_after_the_last_control() {
    // Locked bindings and self-protection stand in stages before the control.
    for (made, bound) in [
        ("rm -rf .ahp", ""),
        (
            "drop-it all",
            "{oracle: PermissionChecker, locked: true, config: {dangerous_commands: [drop-it]}},",
        ),
    ] {
        let world = World::new(&format!(
            "hooks: {{pre-tool-use: [{bound} {{oracle: change, priority: 5}}]}}"
        ));
        world.write(".ahp/oracles/change.rhai", rewriting(made));
        world.ahp(&["trust", "-y"]);
        let (decision, answer) = hook(&world, &bash(&world, "ls"));
        assert_eq!(decision.as_deref(), Some("deny"), "{made}: {answer}");
    }
}

#[test]
fn matchers_see_what_will_run() {
    let world = World::new("");
    let hooks = world.home().join(".config/agents/hooks");
    let rewrite = r#"echo '{"decision": "allow", "modified_input": {"command": "drop-it all"}}'"#;
    for (name, priority, fields, script) in [
        ("rewrite", 900, "", rewrite),
        (
            "guard",
            500,
            "matcher: {pattern: drop-it}",
            "echo no >&2; exit 2",
        ),
        ("guard-first", 950, "matcher: {pattern: drop-it}", "exit 0"),
    ] {
        let fields = format!("trigger: PreToolUse\npriority: {priority}\n{fields}");
        World::write_hook(&hooks, name, &fields, script);
    }
    let (decision, answer) = hook(&world, &bash(&world, "ls"));
    assert_eq!(decision.as_deref(), Some("deny"), "{answer}");
}

#[test]
fn hooks_that_call_ahp_come_to_an_end() {
    let world = World::new(
        "hooks: {pre-tool-use: [{oracle: CommandHooks, config: {file: .claude/settings.json}}]}",
    );
    let own = "ahp hook --host claude-code --event PreToolUse --timeout 54";
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": own}]}]}});
    world.write(".claude/settings.json", settings.to_string());
    world.ahp(&["trust", "-y"]);
    // No `ahp` is in the search path: were the wire run, it would fail and be told.
    let (decision, answer) = hook(&world, &bash(&world, "ls"));
    assert_eq!(decision, None, "{answer}");
    let mut deep = world.ahp_command();
    deep.args(["hook", "--host", "claude-code"])
        .env("AHP_DEPTH", "4");
    let ran = crate::world::fed(&mut deep, bash(&world, "ls").to_string().as_bytes());
    assert!(
        ran.stdout.contains("deny") && ran.stdout.contains("inside of one another"),
        "{ran:?}"
    );
}

#[test]
fn a_block_that_was_found_stands_when_time_is_over() {
    // What is found in the first stage is kept while the second one, which an agent may see to, never ends.
    let world = World::new("");
    let policy = USERS_GATE.replace(
        "drop-it]}}",
        "drop-it]}}, {hook: sleeps, priority: 9, timeout: 50s}",
    );
    let policy = format!("settings: {{on_block: continue}}\n{policy}");
    write(&world.home().join(".ahp/hooks.yaml"), policy);
    let hooks = world.home().join(".config/agents/hooks");
    World::write_hook(
        &hooks,
        "sleeps",
        "trigger: PreToolUse\ntimeout: 50000",
        "exec sleep 30",
    );
    let event = bash(&world, "drop-it all").to_string();
    let arguments = ["hook", "--host", "claude-code", "--timeout", "3"];
    let ran = world.ahp_fed(&arguments, event.as_bytes());
    assert!(ran.stdout.contains("deny"), "{ran:?}");
}

#[test]
fn a_change_without_a_base_is_not_accepted() {
    let policy = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, config: {max_files: 1, action: block}}]}";
    let origin = World::new(policy);
    origin.git_init();
    origin.git(&["checkout", "-q", "-b", "feature"]);
    for n in 0..3 {
        origin.write(&format!("f{n}.txt"), "x");
    }
    origin.commit("three files");
    let submit = |world: &World| run(world, &["run", "pre-issue-submit", "--issue", "FEAT-1"]);
    let (code, told) = submit(&origin);
    assert_eq!(code, 2, "{told}");
    let clone = World::new("");
    std::fs::remove_dir_all(clone.root()).unwrap();
    let source = format!("file://{}", origin.root().display());
    let target = clone.root();
    let mut git = origin.command("git");
    git.args([
        "clone", "-q", "--depth", "1", "--branch", "feature", &source,
    ])
    .arg(&target);
    assert!(git.status().unwrap().success());
    let (code, told) = submit(&clone);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("fetch-depth: 0"), "{told}");
}

/// A project that a person has approved, with a gate on dangerous commands.
fn approved() -> World {
    let world = World::new(USERS_GATE);
    assert_eq!(world.ahp(&["trust", "-y"]).code, 0);
    world
}

fn denies(world: &World, command: &str) -> bool {
    hook(world, &bash(world, command)).0.as_deref() == Some("deny")
}

#[test]
fn what_was_approved_stays_until_a_person_approves_something_weaker() {
    for weaker in [
        "hooks: {}",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, enabled: false, config: {dangerous_commands: [drop-it]}}]}",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, intensity: aid, config: {dangerous_commands: [drop-it]}}]}",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {dangerous_commands: []}}]}",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool: Write}, config: {dangerous_commands: [drop-it]}}]}",
    ] {
        let world = approved();
        assert!(denies(&world, "drop-it all"));
        world.write(".ahp/hooks.yaml", weaker);
        let (_, answer) = hook(&world, &bash(&world, "ls"));
        assert!(answer.contains("ahp trust"), "{weaker}: {answer}");
        for _ in 0..2 {
            assert!(denies(&world, "drop-it all"), "{weaker}");
        }
        let shown = world.ahp(&["explain", "pre-tool-use"]).stdout;
        assert!(shown.contains("hooks.yaml (approved)"), "{weaker}: {shown}");
        world.ahp(&["trust", "-y"]);
        assert!(!denies(&world, "drop-it all"), "{weaker}");
    }
}

#[test]
fn settings_and_scripts_that_were_approved_stay_too() {
    let gate = "fn evaluate(ctx) { block(\"no\", [\"x\"]) }";
    let open = "fn evaluate(ctx) { }";
    let policy = "hooks: {pre-tool-use: [{oracle: gate}]}";
    let stops = |world: &World| denies(world, "ls");
    let world = || {
        let world = World::new(policy);
        world.write(".ahp/oracles/gate.rhai", gate);
        world.write("open/gate.rhai", open);
        world
    };
    // Whether a person has approved it, or the first event has found it.
    for is_by_person in [true, false] {
        let world = world();
        if is_by_person {
            world.ahp(&["trust", "-y"]);
        }
        assert!(stops(&world));
        world.write(".ahp/oracles/gate.rhai", open);
        let (_, answer) = hook(&world, &bash(&world, "ls"));
        assert!(answer.contains("gate.rhai"), "{answer}");
        assert!(stops(&world), "{is_by_person}");
        let shown = world.ahp(&["trust", "--diff"]).stdout;
        assert!(
            shown.contains("weaker") && shown.contains("gate.rhai"),
            "{shown}"
        );
        world.ahp(&["trust", "-y"]);
        assert!(!stops(&world), "{is_by_person}");
    }
    for setting in [
        "oracles: [open]",
        "log: {path: .ahp/other.jsonl}",
        "agent_hooks: false",
    ] {
        let world = world();
        world.ahp(&["trust", "-y"]);
        assert!(stops(&world));
        world.write(
            ".ahp/hooks.yaml",
            format!("{policy}\nsettings: {{{setting}}}\n"),
        );
        let (_, answer) = hook(&world, &bash(&world, "ls"));
        assert!(answer.contains("weakened"), "{setting}: {answer}");
        assert!(stops(&world), "{setting}");
        assert!(!world.path(".ahp/other.jsonl").exists());
        let shown = world.ahp(&["check"]);
        assert!(
            format!("{}{}", shown.stdout, shown.stderr).contains("ahp trust"),
            "{shown:?}"
        );
    }
}

#[test]
fn the_first_event_that_a_client_of_a_server_tells_counts_too() {
    let gate = "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {dangerous_commands: [drop-it]}}]}";
    let world = World::new(gate);
    let event =
        json!({"trigger": "pre-tool-use", "tool": {"name": "Bash", "input": {"command": "ls"}}});
    let asked =
        json!({"jsonrpc": "2.0", "id": 1, "method": "ahp/evaluate", "params": {"event": event}});
    world.ahp_fed(&["serve", "--stdio"], format!("{asked}\n").as_bytes());
    world.write(".ahp/hooks.yaml", "hooks: {}\n");
    assert!(denies(&world, "drop-it all"));
}

#[test]
fn a_state_that_this_machine_did_not_write_approves_nothing() {
    let world = World::new(USERS_GATE);
    world.ahp(&["trust", "-y"]);
    let folder = world.home().join(".local/state/ahp/approved");
    let file = std::fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let kept = std::fs::read(&file).unwrap();
    // Somebody else approves an open policy in the place of this one.
    let other = World::new("hooks: {}");
    other.ahp(&["trust", "-y"]);
    let folder = other.home().join(".local/state/ahp/approved");
    let forged = std::fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut changed = kept.clone();
    *changed.last_mut().unwrap() ^= 1;
    for content in [std::fs::read(forged).unwrap(), changed] {
        std::fs::write(&file, content).unwrap();
        let world = &world;
        // What the user binds is held to, for nobody is known to have approved the project.
        write(&world.home().join(".ahp/hooks.yaml"), USERS_GATE);
        world.write(
            ".ahp/hooks.yaml",
            "hooks: {pre-tool-use: [{id: permission-checker, enabled: false}]}",
        );
        assert!(denies(world, "drop-it all"));
        std::fs::write(&file, &kept).unwrap();
    }
}

#[test]
fn patterns_that_cost_too_much_are_a_fault_in_time() {
    let binding = |n| {
        format!(
            "{{oracle: PermissionChecker, id: p{n}, when: {{tool.command: '~ \\w{{60}}\\pL{{60}}{n}'}}}}"
        )
    };
    let bindings: Vec<String> = (0..1000).map(binding).collect();
    let hooks = format!("hooks: {{pre-tool-use: [{}]}}", bindings.join(", "));
    let patterns: Vec<String> = (0..1000)
        .map(|n| format!("'\\w{{60}}\\pL{{60}}{n}'"))
        .collect();
    let settings = format!("settings: {{log: {{redact: [{}]}}}}", patterns.join(", "));
    for policy in [hooks, settings] {
        let world = World::new(&policy);
        let started = std::time::Instant::now();
        let (decision, answer) = hook(&world, &bash(&world, "ls"));
        assert_eq!(decision.as_deref(), Some("deny"), "{answer}");
        assert!(answer.contains("too large"), "{answer}");
        // Some twenty times what it takes here; without a bound it is minutes.
        assert!(started.elapsed().as_secs() < 40, "{:?}", started.elapsed());
    }
    let few = (0..5).map(|n| binding(n).replace("60", "9"));
    let few: Vec<String> = few.collect();
    let world = World::new(&format!("hooks: {{pre-tool-use: [{}]}}", few.join(", ")));
    assert_eq!(hook(&world, &bash(&world, "ls")).0, None);
}

#[test]
fn what_is_stricter_holds_at_once() {
    let world = approved();
    world.write(
        ".ahp/hooks.yaml",
        USERS_GATE.replace(
            "}]}",
            "}, {oracle: PermissionChecker, id: more, config: {dangerous_commands: [lose-it]}}]}",
        ),
    );
    assert!(denies(&world, "lose-it") && denies(&world, "drop-it"));
    let (_, answer) = hook(&world, &bash(&world, "ls"));
    assert!(!answer.contains("weakened"), "{answer}");
}

#[test]
fn a_project_that_nobody_has_approved_is_held_to_its_first_event_and_to_its_user() {
    let world = World::new(USERS_GATE);
    assert!(denies(&world, "drop-it all"));
    world.write(".ahp/hooks.yaml", "hooks: {}");
    assert!(denies(&world, "drop-it all"));

    let off = "hooks: {pre-tool-use: [{id: permission-checker, enabled: false}]}";
    let world = with_user(USERS_GATE, off);
    for _ in 0..2 {
        assert!(denies(&world, "drop-it all"));
    }
    world.ahp(&["trust", "-y"]);
    assert!(!denies(&world, "drop-it all"));
    // A person's own settings switch it off.
    let world = with_user(&format!("settings: {{ratchet: false}}\n{USERS_GATE}"), off);
    assert!(!denies(&world, "drop-it all"));
}

#[test]
fn what_the_first_event_finds_broken_is_not_kept_and_what_is_sound_is() {
    let asks = |world: &World| hook(world, &bash(world, "ls")).0.as_deref() == Some("deny");
    let gate = "fn evaluate(ctx) { if ctx.tool.command.contains(\"drop-it\") { block(\"no\", [\"x\"]) } else { accept() } }";
    let bound = "hooks: {pre-tool-use: [{oracle: gate}]}";
    // Faults that parsing shows, that compiling shows, and of a script.
    for (policy, script) in [
        ("hooks: [", gate),
        ("hooks: {pre-tool-use: [{oracle: NoSuchOracle}]}", gate),
        (
            "hooks: {pre-tool-use: [{oracle: gate, config: {none: 1}}]}",
            gate,
        ),
        (bound, "fn evaluate(ctx) { block( }"),
    ] {
        let world = World::new(policy);
        world.write(".ahp/oracles/gate.rhai", script);
        for _ in 0..2 {
            assert!(asks(&world), "{policy} {script}");
        }
        world.write(".ahp/hooks.yaml", bound);
        world.write(".ahp/oracles/gate.rhai", gate);
        for _ in 0..2 {
            assert!(!asks(&world), "{policy} {script}");
            assert!(denies(&world, "drop-it"), "{policy} {script}");
        }
        // From here on it is held like any other.
        world.write(".ahp/hooks.yaml", "hooks: {}");
        assert!(denies(&world, "drop-it"), "{policy} {script}");
        world.write(".ahp/hooks.yaml", bound);
        world.write(".ahp/oracles/gate.rhai", "fn evaluate(ctx) { }");
        assert!(denies(&world, "drop-it"), "{policy} {script}");
    }
    // A layer that is corrected takes nothing from the others that were in force, at any event.
    for corrected in [
        "hooks: {pre-tool-use: [{id: permission-checker, enabled: false}]}",
        "hooks: {pre-tool-use: [{id: permission-checker, config: {dangerous_commands: []}}]}",
    ] {
        let world = World::new(USERS_GATE);
        world.write(
            ".ahp/hooks.local.yaml",
            "hooks: {pre-session: [{oracle: NoSuchOracle}]}",
        );
        assert!(denies(&world, "drop-it") && !asks(&world));
        world.write(".ahp/hooks.local.yaml", corrected);
        for _ in 0..3 {
            assert!(denies(&world, "drop-it"), "{corrected}");
        }
        let (_, told) = run(&world, &["check"]);
        assert!(told.contains("ahp trust"), "{told}");
        // What was sound is kept from the first event on.
        world.write(".ahp/hooks.yaml", "hooks: {}");
        world.write(".ahp/hooks.local.yaml", "hooks: {}");
        assert!(denies(&world, "drop-it"), "{corrected}");
        assert_eq!(world.ahp(&["trust", "-y"]).code, 0);
        assert!(!denies(&world, "drop-it"), "{corrected}");
    }
}

#[test]
fn nobody_approves_a_policy_that_has_faults() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: NoSuchOracle}]}");
    let (code, told) = run(&world, &["trust", "-y"]);
    let why = [
        "was not approved",
        ".ahp/hooks.yaml",
        "no oracle is called `NoSuchOracle`",
    ];
    assert!(code == 1 && why.iter().all(|w| told.contains(w)), "{told}");
    world.write(".ahp/hooks.yaml", USERS_GATE);
    assert!(denies(&world, "drop-it") && !denies(&world, "ls"));
    assert_eq!(world.ahp(&["trust", "-y"]).code, 0);
    // What was approved before stays, whatever is broken and looked at meanwhile.
    world.write(".ahp/hooks.yaml", "hooks: [");
    assert_eq!(world.ahp(&["trust", "-y"]).code, 1);
    world.write(".ahp/hooks.yaml", "hooks: {}");
    assert!(denies(&world, "drop-it") && !denies(&world, "ls"));
}

/// The conditions of the protocol's design, as it prints them.
const FILTERS: &str = r#"hooks:
  pre-tool-use:
    # only for certain tools
    when:
      tool: ["Bash", "Write"]
    
  pre-issue-submit:
    # by the issue
    when:
      issue.type: "feature"
      files.changed_count: "> 10"
"#;

#[test]
fn a_condition_under_a_trigger_filters_what_earlier_layers_bind() {
    let user = "hooks: {pre-tool-use: [{oracle: gate}], pre-issue-submit: [{oracle: gate}]}";
    let gate = "fn evaluate(ctx) { block(\"no\", [\"x\"]) }";
    let world = with_user(user, FILTERS);
    write(&world.home().join(".ahp/oracles/gate.rhai"), gate);
    let (code, told) = run(&world, &["check"]);
    assert!(code == 0 && !told.contains("filtered"), "{told}");
    let reads = tool(&world, "Read", &json!({"file_path": world.path("a.txt")}));
    let is_denied = |event: &Value| hook(&world, event).0.as_deref() == Some("deny");
    // Until a person approves it, a project's condition takes nothing from what its user binds.
    assert!(is_denied(&reads) && denies(&world, "ls"));
    assert_eq!(world.ahp(&["trust", "-y"]).code, 0);
    assert!(!is_denied(&reads) && denies(&world, "ls"));
    let (_, submit) = run(&world, &["explain", "pre-issue-submit"]);
    assert!(
        submit.contains("files.changed_count") && submit.contains("> 10"),
        "{submit}"
    );
}

#[test]
fn a_condition_under_a_trigger_with_nothing_to_filter_is_told() {
    let (code, told) = run(&World::new(FILTERS), &["check"]);
    assert_eq!(code, 0, "{told}");
    for trigger in ["pre-tool-use", "pre-issue-submit"] {
        let said = format!("no binding of `{trigger}` is there to be filtered");
        assert!(told.contains(&said), "{told}");
    }
    // The bindings of a pack are there.
    let pack = "extends: [ahp:safe-shell]\nhooks: {pre-tool-use: {when: {tool: Write}}}";
    let world = World::new(pack);
    let (_, told) = run(&world, &["check"]);
    assert!(!told.contains("filtered"), "{told}");
    let push = |world: &World| hook(world, &bash(world, "git push --force origin main")).0;
    assert_eq!(push(&world), None);
    assert_ne!(push(&World::new("extends: [ahp:safe-shell]")), None);
}

#[test]
fn the_project_of_the_host_stays_in_force_wherever_the_agent_is() {
    let world = World::new(USERS_GATE);
    world.write("nested/.ahp/hooks.yaml", "hooks: {}");
    std::fs::create_dir(world.path("nested/.git")).unwrap();
    for dir in [world.home(), world.path("nested")] {
        let mut event = bash(&world, "drop-it all");
        event["cwd"] = json!(dir);
        let is_denied = |told: Option<std::path::PathBuf>, started_in: &std::path::Path| {
            let mut ahp = world.ahp_command();
            ahp.args(["hook", "--host", "claude-code"]);
            ahp.envs(told.map(|dir| ("CLAUDE_PROJECT_DIR", dir)));
            ahp.current_dir(started_in);
            let told = crate::world::fed(&mut ahp, event.to_string().as_bytes()).stdout;
            told.contains("deny")
        };
        let shown = dir.display();
        assert!(is_denied(Some(world.root()), &dir), "{shown}");
        // Where a host tells none, it has started its hook in the project.
        assert!(is_denied(None, &world.root()), "{shown}");
        // A directory that is gone governs nothing.
        assert!(
            is_denied(Some(world.path("gone")), &world.root()),
            "{shown}"
        );
    }
}

#[test]
fn a_hook_that_is_not_valid_is_a_fault_of_the_check() {
    let world = World::new("");
    world.write(".agents/hooks/broken/HOOK.md", "---\nnam: broken\n---\n");
    for command in ["check", "doctor"] {
        let (code, told) = run(&world, &[command]);
        assert_eq!(code, 1, "{command}: {told}");
        assert!(
            told.contains("the hook `broken` is not valid"),
            "{command}: {told}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_policy_is_told_once_a_session_and_anew_where_it_is_another() {
    let gate = |id: &str| {
        format!("    - {{oracle: Say, id: {id}, config: {{intensity: aid, text: {id}}}}}\n")
    };
    let all = format!("hooks:\n  pre-agent-turn:\n{}{}", gate("a"), gate("b"));
    let world = World::new(&all);
    world.ahp(&["trust", "-y"]);
    let turn = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": world.root(), "prompt": "hi",
    });
    let tells = |what: &str, expected: [bool; 2]| {
        for is_told in expected {
            let (_, answer) = hook(&world, &turn);
            assert_eq!(answer.contains(what), is_told, "{what}: {answer}");
        }
    };
    tells("was weakened", [false, false]);
    world.write(".ahp/hooks.yaml", all.replace(&gate("b"), ""));
    tells("`b` at `pre-agent-turn`", [true, false]);
    world.write(".ahp/hooks.yaml", all.replace(&gate("a"), ""));
    tells("`a` at `pre-agent-turn`", [true, false]);
    for oracle in ["Nope", "Neither"] {
        let faulty = format!("hooks: {{post-session: [{{oracle: {oracle}}}]}}");
        world.write(".ahp/hooks.yaml", &faulty);
        tells(&format!("called `{oracle}`"), [true, false]);
    }
}
