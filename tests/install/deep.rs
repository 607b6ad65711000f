//! `ahp doctor --deep`: a client that asks, one that does not, and one that does nothing, each in the place of Claude Code.

use std::fs;

use ahp::process::find_program;

use crate::world::{Ran, World, executable, is_here};

/// A client as far as `doctor` sees it: it asks its model, takes the call, and tells the model what came of it.
const CLIENT: &str = r#"
import json, os, subprocess, sys, urllib.error, urllib.request

way = os.environ["WAY"]
if way == "mute":
    sys.exit("I have no key")
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
assert json.loads(sys.argv[sys.argv.index("--settings") + 1])["env"]["ANTHROPIC_BASE_URL"] in url

def ask(messages):
    body = {"model": "m", "messages": messages, "tools": [{"name": "Bash", "input_schema": {}}]}
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"][0]

call = ask([{"role": "user", "content": sys.argv[2]}])
with open(os.path.expanduser("~/.claude/settings.json")) as f:
    hook = json.load(f)["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
result = "refused by a rule of mine"
if way == "asks":
    event = {"hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": os.getcwd(), "tool_name": "Bash", "tool_input": call["input"]}
    asked = subprocess.run(["sh", "-c", hook], input=json.dumps(event).encode(), capture_output=True)
    result = json.loads(asked.stdout)["hookSpecificOutput"]["permissionDecisionReason"]
if way == "passes":
    subprocess.run(["sh", "-c", call["input"]["command"]], check=True)
    result = "done"
try:
    ask([{"role": "user", "content": [{"type": "tool_result", "content": result}]}])
except urllib.error.HTTPError as over:
    sys.exit(0 if over.code == 400 else 1)
sys.exit("the model went on")
"#;

#[expect(
    clippy::disallowed_methods,
    reason = "programs of this machine stay findable"
)]
fn deep(way: &str) -> Ran {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}\n");
    let python = find_program("python3", std::env::var_os("PATH").as_deref()).unwrap();
    let client = world.path("bin/claude");
    let text = format!("#!{}{CLIENT}", python.display());
    executable(&client, &text);
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", client.parent().unwrap().display());
    let ahp = |words: &[&str]| {
        let mut ahp = world.ahp_command();
        let ahp = ahp.env("PATH", &path).env("WAY", way).args(words);
        Ran::of(&ahp.output().unwrap())
    };
    ahp(&["install", "claude", "--user"]);
    let ran = ahp(&["doctor", "claude", "--deep", "--format", "json"]);
    let log = fs::read_to_string(world.path(".ahp/signals.jsonl")).unwrap_or_default();
    assert!(!log.contains("evaluation"), "it is logged: {log}");
    ran
}

#[test]
fn a_client_that_does_not_ask_before_a_tool_is_found_out() {
    if !is_here("python3") {
        return;
    }
    for (way, code, result, told) in [
        ("asks", 0, "held", None),
        (
            "passes",
            1,
            "ran",
            Some("ran a command without asking `ahp`"),
        ),
        (
            "refuses",
            1,
            "unknown",
            Some("refused, but not by `ahp`: refused by a rule"),
        ),
        (
            "mute",
            1,
            "unknown",
            Some("did not ask the model that `ahp` plays for a call: I have no key"),
        ),
    ] {
        let ran = deep(way);
        assert_eq!(ran.code, code, "{way}: {}", ran.stdout);
        let found = &ran.json()[0];
        assert_eq!(found["hosts"][0]["deep"]["result"], result, "{way}");
        let problems = found["problems"].to_string();
        assert_eq!(told.is_none(), problems == "[]", "{way}: {problems}");
        assert!(
            told.is_none_or(|told| problems.contains(told)),
            "{problems}"
        );
    }
}
