//! `ahp run`: one event, many events, and what the answers look like.

use serde_json::json;

use crate::world::World;

const POLICY: &str = "
hooks:
  pre-tool-use:
    - oracle: PermissionChecker
      when: {tool: Bash}
  pre-issue-submit:
    - oracle: ChecklistValidator
";

const ISSUE: &str = "---\nid: FEAT-0001\ntype: feature\nstatus: open\nstage: doing\ntitle: T\n---\n\n## Work\n\n- [x] one\n- [ ] two\n";

#[test]
fn the_verdict_in_json_has_exactly_the_names_of_the_protocol() {
    let world = World::new(POLICY);
    world.git_init();
    world.write("Issues/Features/open/FEAT-0001-t.md", ISSUE);
    let ran = world.ahp(&[
        "run",
        "pre-issue-submit",
        "--issue",
        "FEAT-0001",
        "--format",
        "json",
    ]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let verdict = &ran.json()[0];
    assert_eq!(verdict["trigger"], "pre-issue-submit");
    assert_eq!(verdict["decision"], "block");
    assert!(verdict["modified_input"].is_null());
    let signal = &verdict["signals"][0];
    assert_eq!(signal["header"]["source"], "checklist-validator");
    assert_eq!(signal["header"]["intensity"], "block");
    assert_eq!(
        signal["context"],
        json!({
            "hook": "pre-issue-submit",
            "issue_id": "FEAT-0001",
            "files": ["Issues/Features/open/FEAT-0001-t.md"],
            "locations": [{"file": "Issues/Features/open/FEAT-0001-t.md", "line": 12}],
        })
    );
    assert_eq!(signal["payload"]["resolvable"], true);
    assert!(
        signal["payload"]["resolution_path"][0]
            .as_str()
            .unwrap()
            .contains("two")
    );
    let binding = &verdict["bindings"][0];
    assert_eq!(binding["id"], "checklist-validator");
    assert_eq!(binding["outcome"], "signalled");
    assert_eq!(binding["source"], ".ahp/hooks.yaml:7");
    assert!(binding["error"].is_null());
}

#[test]
fn the_log_says_how_grave_a_finding_is() {
    let world = World::new("extends: [ahp:standard]\n");
    let input = r#"{"command": "git push --force origin main"}"#;
    let ran = world.ahp(&["run", "pre-tool-use", "--tool", "Bash", "--input", input]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let records = world.log();
    let signal = records.iter().find(|record| record["kind"] == "signal");
    assert_eq!(signal.unwrap()["severity"], "critical", "{records:?}");
}

#[test]
fn an_issue_is_no_task_because_an_event_says_so() {
    let world = World::new(POLICY);
    world.git_init();
    world.write("Issues/Features/open/FEAT-0001-t.md", ISSUE);
    let event = json!({"trigger": "pre-issue-submit", "issue_id": "FEAT-0001", "work_dir": world.root(),
        "context": {"task_subject": "x"}});
    let ran = world.ahp_fed(&["run", "--event", "-"], event.to_string().as_bytes());
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn a_subagent_that_is_called_like_a_secret_is_cut_from_the_log() {
    let world = World::new("extends: [ahp:standard]\n");
    let token = format!(
        "ghp_{}",
        "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).unwrap()
    );
    let event = json!({"trigger": "pre-tool-use", "work_dir": world.root(),
        "tool": {"name": "Bash", "input": {"command": "git push --force origin main"}},
        "subagent": {"name": token, "id": token, "type": token}});
    let ran = world.ahp_fed(&["run", "--event", "-"], event.to_string().as_bytes());
    assert_eq!(ran.code, 2, "{ran:?}");
    let log = world.read(".ahp/signals.jsonl");
    assert!(log.contains("\"agent\""), "{log}");
    assert!(!log.contains(&token), "{log}");
}

#[test]
fn many_events_give_one_verdict_a_line_in_order() {
    let world = World::new(POLICY);
    let events: String = (0..100)
        .map(|n| {
            let command = if n % 10 == 3 { "rm -rf ~" } else { "ls" };
            json!({"trigger": "PreToolUse", "tool": {"name": "Bash", "input": {"command": command}}}).to_string() + "\n"
        })
        .collect();
    let ran = world.ahp_fed(&["run", "--events", "-"], events.as_bytes());
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let verdicts = ran.json();
    assert_eq!(verdicts.len(), 100);
    for (n, verdict) in verdicts.iter().enumerate() {
        let expected = if n % 10 == 3 { "block" } else { "none" };
        assert_eq!(verdict["decision"], expected, "event {n}");
    }
}

#[test]
fn an_event_that_is_none_is_a_clear_error() {
    let world = World::new(POLICY);
    for (input, says) in [
        ("{", "not an event"),
        (
            r#"{"trigger": "pre-tool-usee"}"#,
            "did you mean `pre-tool-use`?",
        ),
        (
            r#"{"trigger": "pre-tool-use", "tol": 1}"#,
            "unknown field `tol`",
        ),
    ] {
        let ran = world.ahp_fed(&["run", "--event", "-"], input.as_bytes());
        assert_eq!(ran.code, 1, "{input}");
        assert!(ran.stderr.contains(says), "{input}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
    let ran = world.ahp(&["run", "pre-tool-use", "--tool", "Bash", "--input", "{"]);
    assert_eq!(ran.code, 1);
    let ran = world.ahp(&["run", "--event", "nowhere.json"]);
    assert_eq!(ran.code, 1);
}

#[test]
fn a_shell_tool_that_submits_an_issue_fires_the_issue_trigger_too() {
    let world = World::new(POLICY);
    world.git_init();
    world.write("Issues/Features/open/FEAT-0001-t.md", ISSUE);
    let input =
        json!({"command": "cd . && MONOCO=1 uv run monoco issue submit FEAT-0001"}).to_string();
    let ran = world.ahp(&[
        "run",
        "pre-tool-use",
        "--tool",
        "Shell",
        "--input",
        &input,
        "--format",
        "json",
    ]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    let verdicts = ran.json();
    assert_eq!(verdicts[0]["decision"], "none");
    assert_eq!(verdicts[1]["trigger"], "pre-issue-submit");
    assert_eq!(verdicts[1]["decision"], "block");
}

#[test]
fn explain_tells_where_a_value_came_from_and_why_a_binding_fires() {
    let world = World::new(
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, id: guard, when: {environment: production}}]}",
    );
    world.write(
        ".ahp/hooks.local.yaml",
        "hooks: {pre-tool-use: [{id: guard, priority: 5}]}",
    );
    let ran = world.ahp(&["explain", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let guard = ran.json().into_iter().find(|b| b["id"] == "guard").unwrap();
    assert_eq!(guard["priority"], 5);
    let origin = guard["values"]
        .as_array()
        .unwrap()
        .iter()
        .find(|v| v["key"] == "priority")
        .unwrap();
    assert_eq!(origin["layer"], "local");
    assert_eq!(origin["value"], 5);
    world.write(
        "event.json",
        r#"{"trigger": "pre-tool-use", "tool": {"name": "Bash", "input": {"command": "ls"}}}"#,
    );
    let ran = world.ahp(&["explain", "--event", "event.json", "--format", "json"]);
    let guard = ran.json().into_iter().find(|b| b["id"] == "guard").unwrap();
    assert_eq!(guard["fires"], false);
    assert_eq!(guard["when"][0]["found"], "\"development\"");
}

#[test]
fn explain_shows_each_value_in_force_and_what_it_overrides() {
    let world = World::new(
        "settings: {timeout: 90s, log: {keep: 3}}\nhooks:\n  pre-tool-use:\n    - {oracle: FileChangeLimiter, config: {max_files: 20, action: prompt}}",
    );
    world.write(
        ".ahp/hooks.local.yaml",
        "hooks:\n  pre-tool-use:\n    - {oracle: FileChangeLimiter, config: {max_files: 30}}",
    );
    let ran = world.ahp(&["explain"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let line = |key: &str| {
        ran.stdout
            .lines()
            .find(|line| line.trim_start().starts_with(key))
            .unwrap_or_else(|| panic!("no `{key}` in\n{}", ran.stdout))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(line("timeout"), "timeout 90s .ahp/hooks.yaml:1:21");
    assert_eq!(line("log.keep"), "log.keep 3 .ahp/hooks.yaml:1:38");
    assert_eq!(
        line("config.max_files"),
        "config.max_files 30 .ahp/hooks.local.yaml:3:55, over .ahp/hooks.yaml:4:55"
    );
    assert_eq!(
        line("config.action"),
        "config.action prompt .ahp/hooks.yaml:4:67"
    );
}

#[test]
fn explain_of_one_binding_or_of_none_by_that_name() {
    let world = World::new(
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, id: one}, {oracle: PermissionChecker, id: two}]}",
    );
    let ran = world.ahp(&["explain", "pre-tool-use/two", "--format", "json"]);
    let ids: Vec<_> = ran.json().iter().map(|b| b["id"].clone()).collect();
    assert_eq!(ids, ["two"]);
    // Of one binding a long value is shown whole, of many it is cut.
    let many: Vec<String> = (0..40).map(|n| format!("command-{n}")).collect();
    world.write(
        ".ahp/hooks.local.yaml",
        format!(
            "hooks: {{pre-tool-use: [{{id: one, config: {{dangerous_commands: [{}]}}}}]}}",
            many.join(", ")
        ),
    );
    for (place, is_whole) in [("pre-tool-use/one", true), ("pre-tool-use", false)] {
        let shown = world.ahp(&["explain", place]).stdout;
        assert_eq!(shown.contains("command-39"), is_whole, "{shown}");
    }
    let ran = world.ahp(&["explain", "pre-tool-use/three"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no binding `three`"), "{}", ran.stderr);
}

#[test]
fn a_directory_that_is_not_there_is_neither_sound_nor_trusted() {
    let world = World::new("hooks: {}\n");
    world.write("file", "");
    for dir in ["nowhere", "file"] {
        for command in ["check", "trust"] {
            let done = world.ahp(&[command, dir]);
            assert_eq!(done.code, 1, "{command}: {}", done.stdout);
            let told = format!("`{dir}` is not a directory");
            assert!(done.stderr.contains(&told), "{}", done.stderr);
        }
    }
}

#[test]
fn an_event_without_an_issue_is_about_the_last_one_of_its_session() {
    let world = World::new(
        "hooks: {pre-issue-start: [{oracle: ContextLoader}], pre-agent-turn-stop: [{oracle: ChecklistValidator}]}",
    );
    for id in ["FEAT-0001", "FEAT-0002"] {
        let text = format!("---\nid: {id}\ntitle: T\nstatus: open\n---\n\n- [ ] open of {id}\n");
        world.write(&format!("Issues/Features/open/{id}-t.md"), text);
    }
    world.git_init();
    let run = |trigger: &str, more: &[&str]| world.ahp(&[&["run", trigger], more].concat());
    assert_eq!(
        run(
            "pre-issue-start",
            &["--issue", "FEAT-0001", "--session", "one"]
        )
        .code,
        0
    );
    assert_eq!(
        run(
            "pre-issue-start",
            &["--issue", "FEAT-0002", "--session", "one"]
        )
        .code,
        0
    );
    let stop = run("pre-agent-turn-stop", &["--session", "one"]);
    let told = format!("{}{}", stop.stdout, stop.stderr);
    assert!(
        told.contains("open of FEAT-0002") && !told.contains("FEAT-0001"),
        "{told}"
    );
    // What another session worked on says nothing, and a branch goes before the session.
    let other = run("pre-agent-turn-stop", &["--session", "two"]);
    assert!(
        !other.stdout.contains("open of") && other.code == 0,
        "{other:?}"
    );
    world.git(&["checkout", "-q", "-b", "feat/FEAT-0001-t"]);
    let stop = run("pre-agent-turn-stop", &["--session", "one"]);
    let told = format!("{}{}", stop.stdout, stop.stderr);
    assert!(told.contains("open of FEAT-0001"), "{told}");
}
