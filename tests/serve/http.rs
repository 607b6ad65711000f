//! `ahp serve --http`: what is answered, and who is not.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::socket::{POLICY, evaluations, judged, payload, socket};
use crate::world::World;

/// A daemon that answers HTTP, and ends with the test.
pub(crate) struct Http {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Http {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Http {
    pub(crate) fn start(world: &World) -> Self {
        let mut child = world
            .ahp_command()
            .args(["serve", "--http", "127.0.0.1:0", "--log-level", "debug"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut port, mut line) = (0, String::new());
        // HTTP is listened at before the socket, and answered after.
        while !line.contains("serve.sock") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it ended");
            if let Some((_, found)) = line.split_once("http://127.0.0.1:") {
                port = found.trim().parse().unwrap();
            }
        }
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let token = token(world);
        Self { child, port, token }
    }

    /// Sends bytes as they are; the status, and what follows the head.
    fn raw(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let Some((head, body)) = answer.split_once("\r\n\r\n") else {
            return (0, answer);
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    /// Sends a request with these heads in the place of those that are right.
    fn send(&self, line: &str, heads: &[(&str, &str)], body: &str) -> (u16, String) {
        let host = format!("127.0.0.1:{}", self.port);
        let bearer = format!("Bearer {}", self.token);
        let right = [
            ("Host", host.as_str()),
            ("Authorization", &bearer),
            ("Content-Type", "application/json"),
        ];
        let is_given = |name: &str| heads.iter().any(|(given, _)| *given == name);
        let right = right.iter().filter(|(name, _)| !is_given(name));
        let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in right.chain(heads).filter(|(_, value)| !value.is_empty()) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !is_given("Transfer-Encoding") && !is_given("Content-Length") {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        self.raw(format!("{text}\r\n{body}").as_bytes())
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> (u16, String) {
        self.send(&format!("POST {path}"), &[], body)
    }
}

fn token_path(world: &World) -> std::path::PathBuf {
    world.home().join(".local/state/ahp/serve.token")
}

fn token(world: &World) -> String {
    let text = fs::read_to_string(token_path(world)).unwrap();
    text.trim().to_owned()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_host_gets_the_answer_that_its_hook_would_print() {
    let world = World::new(POLICY);
    let http = Http::start(&world);
    let forced = payload(&world, "git push --force nowhere.invalid main");
    let (status, body) = http.post("/hook/claude-code?event=PreToolUse", &forced);
    assert_eq!(status, 200);
    let reply = &parsed(&body)["hookSpecificOutput"];
    assert_eq!(reply["permissionDecision"], "deny", "{body}");
    // No opinion is an empty body.
    let plain = payload(&world, "ls");
    assert_eq!(http.post("/hook/claude-code", &plain), (200, String::new()));
    let chunked = format!("{:x}\r\n{forced}\r\n0\r\n\r\n", forced.len());
    let heads = [("Transfer-Encoding", "chunked")];
    let (status, body) = http.send("POST /hook/claude-code", &heads, &chunked);
    assert!(status == 200 && body.contains("deny"), "{body}");
    // What cannot be read is refused in the words of the host, and not let through.
    let (status, body) = http.post("/hook/claude-code?event=PreToolUse", "{\"no\": ");
    assert!(
        status == 200 && body.contains("\"deny\""),
        "{status} {body}"
    );
    assert_eq!(evaluations(&world), 3);
    let (status, body) = http.post("/hook/copilot?event=preToolUse", "{}");
    assert!(status == 200 && body.contains("deny"), "{status} {body}");
}

#[test]
fn events_and_harnesses_are_answered() {
    let world = World::new(POLICY);
    let http = Http::start(&world);
    let event = json!({"trigger": "pre-tool-use", "session_id": "s", "work_dir": world.root(),
        "tool": {"name": "Bash", "input": {"command": "git push --force"}}});
    let (status, body) = http.post("/v1/events", &event.to_string());
    assert_eq!((status, &parsed(&body)["decision"]), (200, &json!("block")));
    assert_eq!(http.post("/v1/events", "{}").0, 400);
    let line = |method: &str, id: Value| {
        let event = json!({"id": "e", "source": "https://harness.example", "type": "tool.before",
            "time": "2026-01-01T00:00:00Z", "session": {"id": "s", "cwd": world.root()},
            "tool": {"callId": "c", "name": "run", "kind": "shell", "input": {"command": "git push --force"}}});
        let mut line = json!({"jsonrpc": "2.0", "method": method, "params":
            {"protocolVersion": "0.1", "event": event, "capabilities": {"effects": ["deny"]}}});
        if !id.is_null() {
            line["id"] = id;
        }
        line.to_string()
    };
    let (status, body) = http.post("/v1/ahp", &line("hooks/intercept", json!("e")));
    assert_eq!(status, 200);
    assert_eq!(
        parsed(&body)["result"]["effects"][0]["type"],
        "deny",
        "{body}"
    );
    let observed = http.post("/v1/ahp", &line("hooks/observe", Value::Null));
    assert_eq!(observed, (202, String::new()));
    // The methods for programs of our own are for stdin alone: over HTTP nobody could answer as a person.
    let (status, body) = http.post("/v1/ahp", &line("ahp/hello", json!("e")));
    assert_eq!(
        (status, &parsed(&body)["error"]["code"]),
        (200, &json!(-32601))
    );
    assert_eq!(
        parsed(&http.post("/v1/ahp", "nothing").1)["error"]["code"],
        -32700
    );
}

#[test]
fn what_is_judged_over_http_is_told_with_the_rest() {
    let world = World::new(POLICY);
    let http = Http::start(&world);
    let body = payload(&world, "ls");
    http.post("/hook/claude-code?event=PreToolUse", &body);
    let event = json!({"trigger": "pre-tool-use", "work_dir": world.root(),
        "tool": {"name": "Bash", "input": {"command": "ls"}}});
    http.post("/v1/events", &event.to_string());
    let asked = world.ahp_fed(&["hook", "--host", "claude-code"], body.as_bytes());
    assert_eq!(asked.code, 0, "{asked:?}");
    assert_eq!(judged(&world), 3);
    let status = world.ahp(&["serve", "--status"]).stdout;
    assert_eq!(status.matches("engine  ").count(), 1, "{status}");
}

#[test]
fn what_was_asked_over_http_is_answered_before_it_ends() {
    let world = World::new("");
    let guard = "../home/.config/agents/hooks/guard";
    let head = "---\nname: guard\ndescription: It guards\ntrigger: before_tool\n---\n";
    world.write(&format!("{guard}/HOOK.md"), head);
    let gate = world.path("gate");
    let script = format!("read -r _ < '{}'\n", gate.display());
    world.write(&format!("{guard}/scripts/run.sh"), script);
    assert!(
        world
            .command("mkfifo")
            .arg(&gate)
            .status()
            .unwrap()
            .success()
    );
    let mut http = Http::start(&world);
    let mut idle = TcpStream::connect(("127.0.0.1", http.port)).unwrap();
    let body = payload(&world, "ls");
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| http.post("/hook/claude-code?event=PreToolUse", &body));
        // Opened only once the hook has come to read it.
        let mut opened = fs::OpenOptions::new().write(true).open(&gate).unwrap();
        let pid = http.child.id().to_string();
        assert!(world.command("kill").arg(pid).status().unwrap().success());
        // Nobody new is let in while it is waited for.
        while socket(&world).exists() || TcpStream::connect(("127.0.0.1", http.port)).is_ok() {
            std::thread::yield_now();
        }
        opened.write_all(b"go\n").unwrap();
        assert_eq!(asked.join().unwrap(), (200, String::new()));
    });
    // Who asks nothing is not waited for.
    assert_eq!(idle.read(&mut [0]).unwrap_or(0), 0);
    assert!(http.child.wait().unwrap().success());
}

#[test]
fn who_may_not_ask_is_told_so_and_nothing_is_judged() {
    let world = World::new(POLICY);
    let http = Http::start(&world);
    let path = "POST /hook/claude-code";
    let body = payload(&world, "git push --force");
    let local = format!("localhost:{}", http.port);
    let ipv6 = format!("[::1]:{}", http.port);
    let longer = format!("Bearer {}0", http.token);
    let long = (33 << 20).to_string();
    let cases = [
        (403, path, ("Host", "evil.example")),
        (403, path, ("Host", "127.0.0.1")),
        (403, path, ("Host", "")),
        (403, path, ("Origin", "http://127.0.0.1")),
        (401, path, ("Authorization", "")),
        (401, path, ("Authorization", "Bearer 00")),
        (401, path, ("Authorization", &longer)),
        (401, path, ("Authorization", &http.token)),
        (404, "POST /hook/codex", ("X-A", "b")),
        (404, "POST /", ("X-A", "b")),
        (405, "GET /hook/claude-code", ("X-A", "b")),
        (405, "POST /healthz", ("X-A", "b")),
        (413, path, ("Content-Length", &long)),
        (415, path, ("Content-Type", "text/plain")),
        (415, path, ("Content-Type", "")),
        (200, "GET /healthz", ("Authorization", "")),
        (200, "GET /healthz", ("Host", &local)),
        (200, "GET /healthz", ("Host", &ipv6)),
    ];
    for (status, line, head) in cases {
        let (given, told) = http.send(line, &[head], if status == 413 { "" } else { &body });
        assert_eq!(given, status, "{line} {head:?}: {told}");
        assert!(!told.contains(&http.token));
    }
    // No request, and one that never comes to an end, are hung up on.
    assert_eq!(http.raw(b"nothing\r\n\r\n").0, 400);
    assert_eq!(http.raw(b"POST /hook/claude-code HTTP/1.1\r\nHost").0, 0);
    let started = format!(
        "POST /hook/claude-code HTTP/1.1\r\nHost: {local}\r\nAuthorization: Bearer {}\r\n",
        http.token
    );
    let slow = format!("{started}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{{");
    assert_eq!(http.raw(slow.as_bytes()).0, 408);
    assert!(!world.path(".ahp/signals.jsonl").exists());
    assert_eq!(http.post("/hook/claude-code", &body).0, 200);
}

#[test]
fn more_than_can_be_held_at_once_is_told_so_and_taken_afterwards() {
    let world = World::new(POLICY);
    let http = Http::start(&world);
    let announced = |path: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            http.port,
            http.token,
            32 << 20
        )
    };
    // Two that announce much and send little take the room of all.
    let slow: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", http.port)).unwrap();
            stream
                .write_all(announced("/v1/events").as_bytes())
                .unwrap();
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(500));
    let body = payload(&world, "git push --force");
    assert_eq!(http.post("/hook/claude-code", &body).0, 429);
    let (status, told) = http.post("/v1/ahp", "{}");
    assert_eq!(
        (status, &parsed(&told)["error"]["code"]),
        (429, &json!(-32003))
    );
    drop(slow);
    let until = Instant::now() + Duration::from_secs(10);
    while http.post("/hook/claude-code", &body).0 != 200 {
        assert!(Instant::now() < until, "the room is not given back");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_cannot_be_kept_to_its_person_is_not_started() {
    let world = World::new(POLICY);
    let refused = |address: &str, word: &str| {
        let ran = world.ahp(&["serve", "--http", address]);
        assert!(ran.code == 1 && ran.stderr.contains(word), "{ran:?}");
        assert!(!socket(&world).exists());
    };
    refused("0.0.0.0:0", "other machines");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    refused(&taken.local_addr().unwrap().to_string(), "in use");
    drop(Http::start(&world));
    fs::remove_file(socket(&world)).unwrap();
    let path = token_path(&world);
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = token(&world);
    assert!(first.len() == 64 && first.bytes().all(|digit| digit.is_ascii_hexdigit()));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    refused("127.0.0.1:0", "others can read");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&path, "guess").unwrap();
    refused("127.0.0.1:0", "hexadecimal");
    fs::remove_file(&path).unwrap();
    drop(Http::start(&world));
    assert_ne!(token(&world), first);
}

#[test]
fn a_client_that_is_wired_over_http_is_refused_where_nobody_answers() {
    let world = World::new(POLICY);
    let http = Http::start(&world);
    let address = format!("--http=127.0.0.1:{}", http.port);
    let wired = world.ahp(&["install", "claude-code", "--all-events", &address]);
    assert!(wired.stdout.contains("AHP_TOKEN"), "{wired:?}");
    let settings = world.home().join(".claude/settings.json");
    let read = || parsed(&fs::read_to_string(&settings).unwrap());
    let called = |event: &str| read()["hooks"][event][0]["hooks"][0].clone();
    let before = called("PreToolUse");
    let url = format!(
        "http://127.0.0.1:{}/hook/claude-code?event=PreToolUse&timeout=63",
        http.port
    );
    assert_eq!(
        before,
        json!({"type": "http", "url": url, "timeout": 71, "onFailure": "block",
            "headers": {"Authorization": "Bearer $AHP_TOKEN"}, "allowedEnvVars": ["AHP_TOKEN"]})
    );
    // What is not stopped where nobody answers, and what only an exit code stops, is a program as ever.
    for event in [
        "PostToolUse",
        "Stop",
        "SessionEnd",
        "TaskCompleted",
        "Elicitation",
    ] {
        assert_eq!(called(event)["type"], "command", "{event}");
    }
    assert!(!read().to_string().contains(&http.token));
    let again = world.ahp(&["install", "claude-code", "--all-events", &address]);
    assert!(again.stdout.contains("is wired already"), "{again:?}");
    let sound = world.ahp(&["doctor", "claude-code"]);
    assert_eq!(sound.code, 0, "{sound:?}");
    drop(http);
    let gone = world.ahp(&["doctor", "claude-code"]);
    assert!(
        gone.code == 1 && gone.stdout.contains("ahp serve --http"),
        "{gone:?}"
    );
    // A program is started again once that is asked for.
    world.ahp(&["install", "claude-code", "--user", "--all-events"]);
    assert_eq!(called("PreToolUse")["type"], "command");
    world.ahp(&["install", "claude-code", "--http"]);
    assert!(
        called("PreToolUse")["url"]
            .as_str()
            .unwrap()
            .starts_with("http://127.0.0.1:8371/")
    );
    assert_eq!(world.ahp(&["uninstall", "claude-code", "--user"]).code, 0);
    assert!(!settings.exists());
}

#[test]
fn nothing_is_wired_over_http_that_would_stand_open() {
    let world = World::new(POLICY);
    for (arguments, told) in [
        (&["copilot", "--http"][..], "lets every call run"),
        (&["codex", "--http"], "lets every call run"),
        (&["claude-code", "--http", "--project"], "--user or --local"),
        (&["claude-code", "--http=192.0.2.1:80"], "other machines"),
    ] {
        let ran = world.ahp(&[&["install"], arguments].concat());
        assert!(ran.code == 1 && ran.stderr.contains(told), "{ran:?}");
    }
    assert!(!world.path(".claude").exists() && !world.home().join(".claude").exists());
}

#[test]
fn a_caller_is_answered_within_its_own_time() {
    let world = World::new(POLICY);
    let http = Http::start(&world);
    let plain = payload(&world, "ls");
    for (query, status) in [
        ("timeout=5", 200),
        ("timeout=0", 400),
        ("timeout=soon", 400),
    ] {
        let path = format!("/hook/claude-code?event=PreToolUse&{query}");
        assert_eq!(http.post(&path, &plain).0, status, "{query}");
    }
}
