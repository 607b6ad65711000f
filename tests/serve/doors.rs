//! Every door says the same: a process for one event, the socket, HTTP and stdin.

use std::fs;
use std::path::Path;

use ahp::event::Trigger;
use ahp::host::Host;
use serde_json::{Value, json};

use super::http::Http;
use super::served;
use super::socket::{Daemon, judged};
use crate::world::{Ran, World};

/// A project in which most of what is judged is blocked, so that a payload has an answer to be compared: tools by what only
/// computes, which a daemon judges, and the rest by a script, which it leaves to the caller.
fn world() -> World {
    let bindings = Trigger::ALL.iter().map(|trigger| {
        let oracle = if trigger.is_tool() {
            "PermissionChecker, config: {dangerous_commands: [echo, ls, git, touch]}"
        } else {
            "always"
        };
        format!("  {trigger}: [{{oracle: {oracle}}}]\n")
    });
    let world = World::new(&format!("hooks:\n{}", bindings.collect::<String>()));
    world.write(
        ".ahp/oracles/always.rhai",
        "fn evaluate(ctx) { block(\"no\") }\n",
    );
    world
}

/// The recorded payloads of a host, with the names of their events.
fn payloads(host: &str) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/host")
        .join(host);
    let mut found = Vec::new();
    for version in fs::read_dir(root).unwrap() {
        for file in fs::read_dir(version.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let mut words = stem.split('.').filter(|word| *word != "in-subagent");
            let event = words.next().unwrap().to_owned();
            found.push((event, fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

/// An answer without what is new each time, and where the project lies.
fn plain(world: &World, answer: &Value) -> Value {
    let root = world.root();
    let text = answer.to_string().replace(root.to_str().unwrap(), "ROOT");
    let is_digit = |c: char| c.is_ascii_hexdigit() || c == '-';
    let words = text.split_inclusive(|c: char| !is_digit(c)).map(|word| {
        let digits = word.trim_end_matches(|c: char| !is_digit(c));
        // The short id of a signal has eight digits, and now and then letters alone.
        let has_number = digits.contains(|c: char| c.is_ascii_digit());
        if digits.len() == 8 || digits.len() > 5 && has_number {
            word.replace(digits, "ID")
        } else {
            word.to_owned()
        }
    });
    serde_json::from_str(&words.collect::<String>()).unwrap()
}

/// A payload as it comes from a project.
fn of(world: &World, bytes: &[u8]) -> String {
    let mut payload: Value = serde_json::from_slice(bytes).unwrap();
    for key in ["cwd", "workspaceFolder"] {
        if payload.get(key).is_some() {
            payload[key] = json!(world.root());
        }
    }
    payload.to_string()
}

/// What a method has told, also with an error.
fn of_answer(answer: &Value) -> &Value {
    let error = answer.get("error").map(|error| &error["data"]);
    error.unwrap_or_else(|| &answer["result"])
}

fn object(stdout: &str) -> Value {
    if stdout.is_empty() {
        json!({})
    } else {
        serde_json::from_str(stdout).unwrap()
    }
}

#[test]
fn each_recorded_payload_gets_the_same_answer_at_every_door() {
    for host in ["claude-code", "copilot"] {
        let [alone, by_socket, by_http, by_stdin] = [world(), world(), world(), world()];
        let _daemon = Daemon::start(&by_socket, &[]);
        let http = Http::start(&by_http);
        let payloads = payloads(host);
        assert!(payloads.len() > 10, "{host}: {}", payloads.len());
        let mut lines = String::new();
        for (event, bytes) in &payloads {
            let payload: Value = serde_json::from_str(&of(&by_stdin, bytes)).unwrap();
            let params = json!({"host": host, "event": event, "payload": payload});
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": "ahp/hook", "params": params});
            lines.push_str(&format!("{line}\n"));
        }
        let answers = served(&by_stdin, &["--jobs", "1"], &lines);
        assert_eq!(answers.len(), payloads.len());
        let mut blocked = 0;
        for ((event, bytes), answer) in payloads.iter().zip(&answers) {
            let arguments = ["hook", "--host", host, "--event", event];
            let ran = alone.ahp_fed(&arguments, of(&alone, bytes).as_bytes());
            let wanted = plain(&alone, &object(&ran.stdout));
            blocked += usize::from(wanted != json!({}));
            let asked = by_socket.ahp_fed(&arguments, of(&by_socket, bytes).as_bytes());
            assert_eq!(
                plain(&by_socket, &object(&asked.stdout)),
                wanted,
                "{host} {event}: socket"
            );
            let rest = |world: &World, ran: &Ran| (ran.code, plain(world, &json!(ran.stderr)));
            assert_eq!(
                rest(&by_socket, &asked),
                rest(&alone, &ran),
                "{host} {event}"
            );
            let path = format!("/hook/{host}?event={event}");
            let (status, body) = http.post(&path, &of(&by_http, bytes));
            let told = of_answer(answer);
            assert_eq!(told["exit_code"], ran.code, "{host} {event}: {answer}");
            let stderr = plain(&by_stdin, &told["stderr"]);
            assert_eq!(stderr, plain(&alone, &json!(ran.stderr)), "{host} {event}");
            if ran.code == 2 && ran.stdout.is_empty() {
                assert_eq!(status, 500, "{host} {event}: {body}");
                assert!(answer.get("error").is_some(), "{host} {event}: {answer}");
                continue;
            }
            assert_eq!(status, 200, "{host} {event}: {body}");
            assert_eq!(
                plain(&by_http, &object(&body)),
                wanted,
                "{host} {event}: HTTP"
            );
            let reply = &answer["result"]["reply"];
            assert_eq!(plain(&by_stdin, reply), wanted, "{host} {event}: stdin");
        }
        assert!(blocked > 5, "{host}: {blocked} have an answer");
        assert!(judged(&by_socket) > 5, "the daemon refused nearly all");
    }
}

/// A project that answers every event by a script, or has a policy that cannot be read.
fn answering(script: Option<&str>) -> World {
    let Some(script) = script else {
        return World::new("hooks: [\n");
    };
    let bindings = Trigger::ALL.iter();
    let bindings = bindings.map(|trigger| format!("  {trigger}: [{{oracle: answers}}]\n"));
    let world = World::new(&format!("hooks:\n{}", bindings.collect::<String>()));
    let text = format!("fn evaluate(ctx) {{ {script} }}\n");
    world.write(".ahp/oracles/answers.rhai", text);
    world
}

/// An event of a session of its own, for stops are counted: as the standard writes it, and in our own form.
fn told(world: &World, trigger: Trigger, name: &str, door: &str) -> (Value, Value) {
    let session = format!("{name} {door}");
    let mut standard = json!({"event_type": name, "session_id": session});
    let mut own = json!({"trigger": name, "session_id": session, "work_dir": world.root()});
    if trigger.is_tool() {
        standard["tool_name"] = json!("Shell");
        standard["tool_input"] = json!({"command": "ls"});
        own["tool"] = json!({"name": "Bash", "input": {"command": "ls"}});
    }
    (standard, own)
}

/// By each of its names, and whoever asks in whichever form.
#[test]
fn every_trigger_is_decided_alike_at_every_door() {
    let host = Host::find("agent-hooks").unwrap();
    let policies = [
        ("block", Some("block(\"no\")")),
        ("allow", Some("prompt(\"mind\")")),
        ("none", Some("[]")),
        ("broken", None),
    ];
    for (policy, script) in policies {
        let world = answering(script);
        let names: Vec<(Trigger, &str)> = (Trigger::ALL.iter())
            .flat_map(|trigger| {
                let names = trigger.aliases().iter().copied();
                names
                    .chain([trigger.name()])
                    .map(move |name| (*trigger, name))
            })
            .collect();
        let mut lines = String::new();
        for (trigger, name) in &names {
            let (payload, _) = told(&world, *trigger, name, "hook");
            let (_, event) = told(&world, *trigger, name, "evaluate");
            let hook = json!({"host": "agent-hooks", "payload": payload});
            for (method, params) in [
                ("ahp/hook", hook),
                ("ahp/evaluate", json!({"event": event})),
            ] {
                let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
                lines.push_str(&format!("{line}\n"));
            }
        }
        let answers = served(&world, &["--jobs", "1"], &lines);
        assert_eq!(answers.len(), 2 * names.len());
        for ((trigger, name), asked) in names.iter().zip(answers.chunks(2)) {
            let at = format!("{policy} {name}: {asked:?}");
            let wanted = match policy {
                "broken" if trigger.is_pre() => "block",
                "broken" => "allow",
                decided => decided,
            };
            let [hook, evaluate] = [of_answer(&asked[0]), of_answer(&asked[1])];
            assert_eq!(hook["decision"], wanted, "{at}");
            assert_eq!(evaluate["decision"], wanted, "{at}");
            let (payload, _) = told(&world, *trigger, name, "alone");
            let ran = world.ahp_fed(&["hook"], payload.to_string().as_bytes());
            assert_eq!(hook["exit_code"], ran.code, "{at} {ran:?}");
            // Who knows only the reply must not take a block for none.
            assert_eq!(asked[0].get("error").is_some(), ran.code == 2, "{at}");
            let printed = plain(&world, &object(&ran.stdout));
            assert_eq!(plain(&world, &hook["reply"]), printed, "{at}");
            // What is only told of is not held up, whatever is decided.
            let can_block = host.event(name).unwrap().block;
            assert_eq!(
                ran.code == 2,
                wanted == "block" && can_block,
                "{at} {ran:?}"
            );
        }
    }
}
