//! `ahp serve --stdio`: JSON-RPC lines in, answers out, as a client and as a harness of the Agent Hooks Protocol use it.

mod doors;
mod harness;
mod http;
mod kept;
mod killing;
mod socket;

pub(crate) use self::http::Http;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::{World, sized};

const POLICY: &str = "hooks:
  pre-tool-use:
    - oracle: PermissionChecker
      config: {dangerous_commands: ['git push --force']}
  post-tool-use:
    - oracle: branch-guard
";

fn world() -> World {
    World::new(POLICY)
}

/// Sends lines to a server, and returns its answers.
fn served(world: &World, arguments: &[&str], lines: &str) -> Vec<Value> {
    let all: Vec<&str> = ["serve", "--stdio"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    let ran = world.ahp_fed(&all, lines.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.json()
}

fn asked(world: &World, method: &str, params: &Value) -> Value {
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut answers = served(world, &[], &format!("{line}\n"));
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

fn shell(command: &str) -> Value {
    json!({"event": {"trigger": "pre-tool-use", "session_id": "s", "tool": {"name": "Bash", "input": {"command": command}}}})
}

#[test]
fn a_client_is_told_what_it_talks_to() {
    let world = world();
    let result = asked(&world, "ahp/hello", &json!({"client": "test"}))["result"].take();
    assert_eq!(result["protocol"], 1);
    assert_eq!(result["ahp"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        result["project"],
        world.root().canonicalize().unwrap().to_str().unwrap()
    );
    assert_eq!(result["faults"], 0);
}

#[test]
fn an_event_is_judged_logged_and_told_in_words() {
    let world = world();
    let result = asked(
        &world,
        "ahp/evaluate",
        &shell("git push --force nowhere.invalid main"),
    )["result"]
        .take();
    assert_eq!(result["decision"], "block");
    let message = result["message"].as_str().unwrap();
    assert!(
        message.contains("Blocked by permission-checker"),
        "{message}"
    );
    assert_eq!(result["verdicts"][0]["trigger"], "pre-tool-use");
    assert_eq!(result["verdicts"][0]["verdict"]["decision"], "block");
    assert_eq!(world.log()[0]["decision"], "block");

    let result = asked(&world, "ahp/evaluate", &shell("ls"))["result"].take();
    assert_eq!(
        (&result["decision"], &result["message"]),
        (&json!("none"), &json!(""))
    );
}

#[test]
fn a_host_gets_its_own_answer() {
    let world = world();
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": world.root(),
        "tool_name": "Bash", "tool_input": {"command": "git push --force nowhere.invalid main"}});
    let params = json!({"host": "claude-code", "payload": payload});
    let result = asked(&world, "ahp/hook", &params)["result"].take();
    assert_eq!(result["decision"], "block");
    let specific = &result["reply"]["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny");

    let params = json!({"host": "nosuch", "payload": payload});
    let error = asked(&world, "ahp/hook", &params)["error"].take();
    assert_eq!(error["code"], -32602);
    assert!(
        error["message"].as_str().unwrap().contains("claude-code"),
        "{error}"
    );
}

#[test]
fn a_signal_is_answered_as_the_agent_unless_a_person_sits_there() {
    for (arguments, by) in [(&[][..], "agent"), (&["--answers", "human"][..], "human")] {
        let world = World::new(
            "hooks: {pre-tool-use: [{oracle: PermissionChecker, intensity: prompt, config: {dangerous_commands: ['git push --force']}}]}",
        );
        asked(
            &world,
            "ahp/evaluate",
            &shell("git push --force nowhere.invalid main"),
        );
        let id = world.log()[1]["signal"]["header"]["id"].clone();
        let params = json!({"signal": id, "action": "acknowledge", "by": "human"});
        let line = json!({"jsonrpc": "2.0", "id": 7, "method": "ahp/respond", "params": params});
        let answers = served(&world, arguments, &format!("{line}\n"));
        assert_eq!(answers[0]["result"]["recorded"], true, "{answers:?}");
        let log = world.log();
        assert_eq!(log.last().unwrap()["response"]["by"], by);
    }
}

#[test]
fn whose_answers_count_is_said_where_answers_are_taken() {
    for option in [["--answers", "human"], ["--project", "."], ["--jobs", "1"]] {
        let ran = world().ahp(&[&["serve", "--idle", "1s"][..], &option].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(option[0]), "{ran:?}");
    }
}

#[test]
fn a_broken_policy_is_counted_and_blocks() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: NoSuchOracle}]}");
    let result = asked(&world, "ahp/hello", &Value::Null)["result"].take();
    assert_eq!(result["faults"], 1);
    let result = asked(&world, "ahp/evaluate", &shell("ls"))["result"].take();
    assert_eq!(result["decision"], "block");
}

#[test]
fn bad_lines_are_errors_and_the_server_goes_on() {
    let world = world();
    let lines = [
        ("not json", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("{\"id\": 1}", -32600, json!(1)),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": true, \"method\": \"ahp/hello\"}",
            -32600,
            Value::Null,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ahp/hello\"}",
            -32600,
            Value::Null,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"ahp/hello\"}",
            -32600,
            Value::Null,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"nosuch\"}",
            -32601,
            json!("a"),
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"ahp/evaluate\", \"params\": {\"event\": {}}}",
            -32602,
            json!(2),
        ),
    ];
    for (line, code, id) in lines {
        let good = json!({"jsonrpc": "2.0", "id": "good", "method": "ahp/hello"});
        let answers = served(&world, &["--jobs", "1"], &format!("{line}\n{good}\n"));
        assert_eq!(answers.len(), 2, "{line}: {answers:?}");
        assert_eq!(answers[0]["error"]["code"], code, "{line}");
        assert_eq!(answers[0]["id"], id, "{line}");
        assert_eq!(answers[1]["id"], "good");
    }
    let huge = format!(
        "{{\"jsonrpc\": \"2.0\", \"id\": \"huge\", \"x\": \"{}\n{}\n",
        "x".repeat((32 << 20) + 1),
        json!({"jsonrpc": "2.0", "id": 1, "method": "ahp/hello"})
    );
    let answers = served(&world, &["--jobs", "1"], &huge);
    assert_eq!(answers[0]["error"]["code"], -32600);
    assert_eq!(answers[0]["id"], "huge");
    assert_eq!(answers[1]["id"], 1);
}

#[test]
fn what_holds_more_than_is_read_is_a_result_that_blocks() {
    let world = world();
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let large = format!("1{}", "0".repeat(400));
    let kinds = [
        deep.as_str(),
        &large,
        "\"\\ud800\"",
        "{\"a\": 1, \"a\": 2}",
        "1e999",
    ];
    for (n, more) in kinds.into_iter().enumerate() {
        let tool =
            format!("{{\"name\": \"Bash\", \"input\": {{\"command\": \"ls\", \"more\": {more}}}}}");
        let event = |trigger: &str| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"ahp/evaluate\",\"params\":{{\"event\":{{\"tool\":{tool},\"trigger\":\"{trigger}\"}}}}}}\n"
            )
        };
        for (trigger, is_stopped) in [("pre-tool-use", true), ("post-tool-use", false)] {
            let answers = served(&world, &[], &event(trigger));
            assert_eq!(answers.len(), 1, "{answers:?}");
            assert_eq!(answers[0]["id"], n, "{more}");
            let result = &answers[0]["result"];
            assert_eq!(
                result["decision"] == "block",
                is_stopped,
                "{more} {answers:?}"
            );
            let told = result["verdicts"][0]["verdict"].to_string();
            assert!(told.contains("not JSON"), "{told}");
        }
        for (name, is_stopped) in [("PreToolUse", true), ("PostToolUse", false)] {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"params\":{{\"host\":\"claude-agent-sdk\",\"event\":\"{name}\",\"payload\":{{\"hook_event_name\":\"{name}\",\"tool_name\":\"Bash\",\"tool_input\":{more}}}}},\"method\":\"ahp/hook\",\"id\":\"h\"}}\n"
            );
            let answers = served(&world, &[], &line);
            assert_eq!(answers[0]["id"], "h", "{answers:?}");
            assert_eq!(
                answers[0]["result"]["decision"] == "block",
                is_stopped,
                "{name} {more} {answers:?}"
            );
        }
    }
}

#[test]
fn a_line_that_cannot_be_read_is_answered_to_whoever_sent_it() {
    let world = world();
    for (line, id) in [
        (
            "{\"id\": 5, \"method\": \"ahp/evaluate\", \"params\": {",
            json!(5),
        ),
        ("{\"method\": \"ahp/hello\", \"id\": \"a\", x}", json!("a")),
        (
            "{\"id\": 5, \"id\": 6, \"method\": \"ahp/hello\"}",
            Value::Null,
        ),
        ("{\"params\": {\"id\": 5}, x", Value::Null),
        ("{\"id\": {\"a\": 1, \"a\": 1}}", Value::Null),
        ("[{\"id\": 5}", Value::Null),
    ] {
        let answers = served(&world, &[], &format!("{line}\n"));
        assert_eq!(answers.len(), 1, "{line}: {answers:?}");
        assert_eq!(answers[0]["id"], id, "{line}");
        assert_eq!(answers[0]["error"]["code"], -32700, "{line}");
    }
}

#[test]
fn a_call_that_names_no_tool_is_blocked() {
    let world = world();
    for tool in [
        Value::Null,
        json!({"name": "", "input": {"command": "ls"}}),
        json!({"name": " "}),
    ] {
        let mut event = json!({"trigger": "pre-tool-use", "session_id": "s", "tool": tool});
        let result = asked(&world, "ahp/evaluate", &json!({"event": event}))["result"].take();
        assert_eq!(result["decision"], "block", "{event}");
        assert!(
            result["message"]
                .as_str()
                .unwrap()
                .contains("names no tool"),
            "{result}"
        );
        // What has happened is not held.
        event["trigger"] = json!("post-tool-use");
        let result = asked(&world, "ahp/evaluate", &json!({"event": event}))["result"].take();
        assert_ne!(result["decision"], "block", "{event}");
    }
}

#[test]
fn the_lines_of_eight_sessions_are_each_answered_once() {
    let count = sized(1_000, 10_000);
    let world = world();
    let mut lines = String::new();
    let mut wanted = BTreeMap::new();
    for n in 0..count {
        if n % 50 == 0 {
            lines.push_str("{broken\n");
        }
        let (command, decision) = if n % 3 == 0 {
            ("git push --force nowhere.invalid main", "block")
        } else {
            ("git status --short", "none")
        };
        let mut params = shell(command);
        params["event"]["session_id"] = json!(format!("s{}", n % 8));
        let line = json!({"jsonrpc": "2.0", "id": n, "method": "ahp/evaluate", "params": params});
        lines.push_str(&format!("{line}\n"));
        wanted.insert(n, decision);
    }
    let mut broken = 0;
    for answer in served(&world, &["--jobs", "8"], &lines) {
        match answer["id"].as_i64() {
            None => broken += 1,
            Some(id) => {
                let decision = wanted.remove(&id).expect("answered once");
                assert_eq!(answer["result"]["decision"], decision, "{id}");
            }
        }
    }
    assert_eq!((broken, wanted.len()), (count / 50, 0));
    let ran = world.ahp(&["log", "verify"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
}

#[test]
fn one_project_judges_whatever_directory_an_event_names() {
    let world = world();
    let elsewhere = world.dir.path().join("elsewhere");
    fs::create_dir_all(elsewhere.join(".ahp")).unwrap();
    let mut params = shell("git push --force nowhere.invalid main");
    params["event"]["work_dir"] = json!(elsewhere);
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "ahp/evaluate", "params": params});
    let root = world.root();
    let fixed = ["--project", root.to_str().unwrap()];
    let answers = served(&world, &fixed, &format!("{line}\n"));
    assert_eq!(answers[0]["result"]["decision"], "block");
    // A project inside can only add to it.
    let inner = root.join("inner");
    fs::create_dir_all(inner.join(".ahp")).unwrap();
    fs::write(
        inner.join(".ahp/hooks.yaml"),
        POLICY.replace("git push --force", "git inner"),
    )
    .unwrap();
    for (command, decision) in [
        ("git push --force", "block"),
        ("git inner", "block"),
        ("ls", "none"),
    ] {
        let mut params = shell(command);
        params["event"]["work_dir"] = json!(inner);
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": "ahp/evaluate", "params": params});
        let answers = served(&world, &fixed, &format!("{line}\n"));
        assert_eq!(answers[0]["result"]["decision"], decision, "{command}");
    }
    let ran = world.ahp(&["serve", "--stdio", "--project", "/no/such/place"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("/no/such/place"), "{}", ran.stderr);
}

#[test]
fn a_change_of_the_policy_is_in_force_from_the_next_event_on() {
    let world = World::new("hooks: {}");
    let mut child = world
        .ahp_command()
        .args(["serve", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = || -> Value {
        let params = shell("git push --force nowhere.invalid main");
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": "ahp/evaluate", "params": params});
        writeln!(stdin, "{line}").unwrap();
        serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap()
    };
    assert_eq!(ask()["result"]["decision"], "none");
    world.write(".ahp/hooks.yaml", POLICY);
    assert_eq!(ask()["result"]["decision"], "block");
    drop(stdin);
    assert!(
        child.wait().unwrap().success(),
        "the end of stdin is an ordinary end"
    );
}

#[test]
fn a_server_ends_where_its_client_reads_no_more() {
    let world = world();
    let mut ahp = world.ahp_command();
    ahp.args(["serve", "--stdio", "--jobs", "1"]);
    ahp.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = ahp.spawn().unwrap();
    drop(server.stdout.take());
    let mut stdin = server.stdin.take().unwrap();
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "ahp/hello"});
    // More than may wait; the rest is not taken any more.
    for _ in 0..1000 {
        if writeln!(stdin, "{line}").is_err() {
            break;
        }
    }
    drop(stdin);
    server.wait().unwrap();
}
