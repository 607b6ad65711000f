//! Conditions as users write them: which event meets which `when`, and what is asked where that cannot be told.

use serde_json::{Value, json};

use crate::world::World;

/// Returns whether a binding of a trigger with this `when` is asked.
fn is_asked(world: &World, when: &str, event: &Value) -> bool {
    let trigger = event["trigger"].as_str().unwrap();
    let binding =
        format!("hooks: {{{trigger}: [{{id: it, oracle: PermissionChecker, when: {when}}}]}}");
    world.write(".ahp/hooks.yaml", binding);
    let ran = world.ahp_fed(
        &["run", "--event", "-", "--format", "json"],
        event.to_string().as_bytes(),
    );
    let verdict = ran.json().remove(0);
    let kinds: Vec<_> = verdict["signals"].as_array().unwrap().iter().collect();
    assert!(
        kinds.iter().all(|s| s["header"]["type"] != "config-error"),
        "{when}: {kinds:?}"
    );
    let bindings = verdict["bindings"].as_array().unwrap();
    let it = bindings.iter().find(|b| b["id"] == "it").unwrap();
    it["outcome"] != "skipped"
}

fn tool(name: &str, input: &Value) -> Value {
    json!({"trigger": "pre-tool-use", "session_id": "s", "tool": {"name": name, "input": input}})
}

fn submit(id: Option<&str>) -> Value {
    json!({"trigger": "pre-issue-submit", "session_id": "s", "issue_id": id})
}

#[test]
fn a_value_is_written_as_users_write_it() {
    let world = World::new("");
    let home = world.home();
    world.write(
        "Issues/FEAT-1.md",
        "---\nid: FEAT-1\ntype: Feature\nstatus: Open\n---\n- [x] a\n- [ ] b\n- [ ] c\n",
    );
    let bash = tool("Bash", &json!({"command": "ls"}));
    let gemini = tool("run_shell_command", &json!({"command": "ls"}));
    let write = tool("Write", &json!({"file_path": "src/x.rs", "content": ""}));
    let added = "*** Begin Patch\n*** Add File: src/new.rs\n+x\n*** End Patch\n".to_owned();
    let patch = tool("apply_patch", &json!({"input": added}));
    let key = tool("Read", &json!({"file_path": home.join(".ssh/id")}));
    let unknown = tool("execute_bash", &json!({"command": "ls"}));
    let mcp = tool("mcp_github_create_issue", &json!({"title": "x"}));
    let pages = tool(
        "fetch_webpage",
        &json!({"urls": ["https://one.example/a", "https://two.example/b"]}),
    );
    let prompt = tool(
        "WebFetch",
        &json!({"prompt": "Compare https://one.example/a with https://two.example/b"}),
    );
    let issue = submit(Some("FEAT-1"));
    let mut claude = bash.clone();
    claude["host"] = "claude-code".into();
    for (when, event, expected) in [
        ("{host: claude-code}", &claude, true),
        ("{host: claude}", &claude, true),
        ("{host: [codex, claude]}", &claude, true),
        ("{host: '== claude'}", &claude, true),
        ("{host: '!= claude'}", &claude, false),
        ("{host: codex-cli}", &claude, false),
        ("{host: '~ ^claude'}", &claude, true),
        ("{tool.mcp.server: github}", &mcp, true),
        ("{tool.mcp.tool: create_issue}", &mcp, true),
        ("{tool.mcp.tool: delete_issue}", &mcp, false),
        ("{tool.url: '~ two'}", &pages, true),
        ("{tool.url: '~ two'}", &prompt, true),
        ("{tool.url: 'https://two.example/b'}", &pages, true),
        ("{tool.url: ['https://two.example/b']}", &prompt, true),
        ("{tool.url: 'https://two.example/c'}", &pages, false),
        ("{expr: 'tool.url.contains(\"two\")'}", &pages, true),
        ("{tool: '!= Bash'}", &bash, false),
        ("{tool: '!= Bash'}", &gemini, false),
        ("{tool: '!= Bash'}", &write, true),
        ("{tool: Write}", &patch, true),
        ("{tool: [Edit]}", &patch, true),
        ("{tool: [Read]}", &patch, false),
        ("{tool: Bash}", &unknown, true),
        ("{tool.command: ls}", &unknown, true),
        ("{tool: mcp__github__create_issue}", &mcp, true),
        ("{tool: [Bash, mcp__github__create_issue]}", &mcp, true),
        ("{tool: mcp__gitlab__create_issue}", &mcp, false),
        ("{tool.name: mcp__github__create_issue}", &mcp, false),
        ("{tool.kind: Shell}", &bash, true),
        ("{tool.paths: src/x.rs}", &write, true),
        ("{tool.paths: ./src/x.rs}", &write, true),
        ("{tool.paths: [README.md, ./src/x.rs]}", &write, true),
        ("{tool.paths: 'glob:./src/**'}", &write, true),
        ("{tool.paths: 'glob:~/.ssh/**'}", &key, true),
        ("{tool.paths: 'glob:~/.ssh/**'}", &write, false),
        ("{trigger: PreToolUse}", &bash, true),
        ("{issue.type: Feature}", &issue, true),
        ("{issue.type: [fix, FEATURE]}", &issue, true),
        ("{issue.status: '!= Open'}", &issue, false),
        ("{checklist.completion_rate: '>= 30%'}", &issue, true),
        ("{checklist.completion_rate: '>= 50%'}", &issue, false),
        ("{checklist.completion_rate: '< 0.5'}", &issue, true),
    ] {
        assert_eq!(is_asked(&world, when, event), expected, "{when} {event}");
    }
}

#[test]
fn a_binding_is_asked_where_its_condition_cannot_be_told() {
    let world = World::new("");
    world.write(
        "Issues/FEAT-1.md",
        "---\nid: FEAT-1\ntags: [\n---\n- [ ] a\n",
    );
    let broken = submit(Some("FEAT-1"));
    let unnamed = submit(None);
    let bash = tool("Bash", &json!({"command": "ls"}));
    let mut other = bash.clone();
    other["session_id"] = json!("other");
    for (when, event, expected) in [
        ("{issue.type: feature}", &broken, true),
        ("{issue.type: feature}", &unnamed, true),
        ("{not: {issue.type: feature}}", &broken, true),
        (
            "{any: [{issue.type: feature}, {environment: production}]}",
            &broken,
            true,
        ),
        // What is known decides where it can.
        (
            "{issue.type: feature, environment: production}",
            &broken,
            false,
        ),
        (
            "{not: {any: [{issue.type: feature}, {environment: development}]}}",
            &broken,
            false,
        ),
        ("{not: {expr: '1 / 0 == 1'}}", &bash, true),
        ("{expr: '1 / 0 == 1', tool: Write}", &bash, false),
        // A session that was told of an issue is still about it, and one that was not is about none.
        ("{issue.type: feature}", &bash, true),
        ("{issue.type: feature}", &other, false),
        // Nor has a folder without a repository a branch.
        ("{git.branch: main}", &bash, false),
    ] {
        assert_eq!(is_asked(&world, when, event), expected, "{when} {event}");
    }
}

#[test]
fn an_issue_that_only_the_running_command_names_is_judged() {
    let policy =
        "hooks: {pre-issue-submit: [{oracle: ChecklistValidator, when: {issue.type: feature}}]}";
    let world = World::new(policy);
    world.write(
        "Issues/FEAT-1.md",
        "---\nid: FEAT-1\ntype: feature\n---\n- [ ] a\n",
    );
    for command in [
        "monoco issue submit FEAT-1",
        "monoco issue submit $(cat id)",
        "monoco issue submit $ID",
        "cat ids | xargs -n1 monoco issue submit",
        "monoco iss\"\"ue submit FEAT-1",
        "monoco 'iss'ue submit FEAT-1",
        "monoco {issue,submit} FEAT-1",
    ] {
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.root(),
            "tool_name": "Bash", "tool_input": {"command": command},
        });
        let ran = world.ahp_fed(
            &["hook", "--host", "claude-code"],
            event.to_string().as_bytes(),
        );
        assert!(
            ran.stdout.contains("\"deny\""),
            "{command}: {} {}",
            ran.stdout,
            ran.stderr
        );
    }
}
