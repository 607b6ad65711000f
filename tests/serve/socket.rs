//! `ahp serve` on its socket: asked by `ahp hook`, which judges itself where nobody answers.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::world::{Ran, World, fed, not_tried};

pub(super) const POLICY: &str = "hooks:
  pre-tool-use:
    - oracle: PermissionChecker
      config: {dangerous_commands: ['git push --force']}
";

#[test]
fn a_socket_at_which_somebody_answers_is_left_to_them() {
    let world = World::new(POLICY);
    let dir = world.home().join(".local/state/ahp/run");
    fs::create_dir_all(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
    let path = dir.join("serve.sock");
    // No lock stands beside one that was made to be handed over.
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let ran = world.ahp(&["serve", "--idle", "1s"]);
    assert!(
        ran.code == 1 && ran.stderr.contains("somebody listens at"),
        "{ran:?}"
    );
    drop(UnixStream::connect(&path).unwrap());
    drop(listener);
    let ran = world.ahp(&["serve", "--idle", "1s"]);
    assert_eq!(ran.code, 0, "a killed one has left it: {ran:?}");
}

/// A daemon that ends with the test.
pub(super) struct Daemon(Child);

impl Daemon {
    /// Starts one and waits until it listens.
    pub(super) fn start(world: &World, arguments: &[&str]) -> Self {
        let mut child = world
            .ahp_command()
            .arg("serve")
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("listens at") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it ended");
        }
        // What it says later must not fill its pipe.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self(child)
    }

    pub(super) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

pub(super) fn socket(world: &World) -> PathBuf {
    world.home().join(".local/state/ahp/run/serve.sock")
}

pub(super) fn payload(world: &World, command: &str) -> String {
    json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": world.root(),
        "tool_input": {"command": command}, "tool_use_id": "t",
    })
    .to_string()
}

fn hook(world: &World, command: &str) -> Ran {
    world.ahp_fed(
        &["hook", "--host", "claude-code"],
        payload(world, command).as_bytes(),
    )
}

/// How many events the daemon has judged.
pub(super) fn judged(world: &World) -> u64 {
    let engines = asked(world, &json!({"v": 1, "build": "", "op": "status"}), b"");
    let status: Value = serde_json::from_slice(&engines.unwrap().1).unwrap();
    let engines = status["engines"].as_array().unwrap();
    engines
        .iter()
        .map(|engine| engine["events"].as_u64().unwrap())
        .sum()
}

/// How many events the log tells of.
pub(super) fn evaluations(world: &World) -> usize {
    let records = world.log();
    records
        .iter()
        .filter(|record| record["kind"] == "evaluation")
        .count()
}

pub(super) fn frame(head: &[u8], body: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
    [&length(head)[..], &length(body)[..], head, body].concat()
}

pub(super) fn read(stream: &mut UnixStream) -> Option<(Value, Vec<u8>)> {
    let mut lengths = [0; 8];
    stream.read_exact(&mut lengths).ok()?;
    let length = |at: usize| u32::from_le_bytes(lengths[at..at + 4].try_into().unwrap()) as usize;
    let (mut head, mut body) = (vec![0; length(0)], vec![0; length(4)]);
    stream.read_exact(&mut head).ok()?;
    stream.read_exact(&mut body).ok()?;
    Some((serde_json::from_slice(&head).unwrap(), body))
}

/// Asks once; the second answer where the first one accepts, else the first.
fn asked(world: &World, head: &Value, body: &[u8]) -> Option<(Value, Vec<u8>)> {
    let mut stream = UnixStream::connect(socket(world)).unwrap();
    stream
        .write_all(&frame(head.to_string().as_bytes(), body))
        .unwrap();
    let first = read(&mut stream)?;
    if first.0["state"] == "accepted" {
        read(&mut stream)
    } else {
        Some(first)
    }
}

#[test]
fn the_hook_asks_the_daemon_and_gets_what_it_would_say_itself() {
    let world = World::new(POLICY);
    let alone = hook(&world, "git push --force nowhere.invalid main");
    let _daemon = Daemon::start(&world, &[]);
    let asked = hook(&world, "git push --force nowhere.invalid main");
    assert_eq!(judged(&world), 1);
    let reason = |ran: &Ran| {
        let reply = &ran.json()[0]["hookSpecificOutput"];
        assert_eq!(reply["permissionDecision"], "deny");
        let text = reply["permissionDecisionReason"].as_str().unwrap();
        // Each signal has a name of its own.
        text.split("ahp respond").next().unwrap().to_owned()
    };
    assert_eq!(reason(&asked), reason(&alone));
    assert_eq!(hook(&world, "ls").stdout, "");
    assert_eq!(judged(&world), 2);
    assert_eq!(evaluations(&world), 3);
    // Nobody asks who does not want to.
    let mut off = world.ahp_command();
    off.args(["hook", "--host", "claude-code"])
        .env("AHP_SERVE", "off");
    fed(&mut off, payload(&world, "ls").as_bytes());
    assert_eq!(judged(&world), 2);
    assert_eq!(world.ahp(&["log", "verify"]).code, 0);
}

#[test]
fn a_change_of_the_policy_is_in_force_from_the_next_event_on() {
    let world = World::new(POLICY);
    let _daemon = Daemon::start(&world, &[]);
    for round in 0..20 {
        let word = format!("word{round}");
        let policy = POLICY.replace("git push --force", &format!("git {word}"));
        world.write(".ahp/hooks.yaml", policy);
        let ran = hook(&world, &format!("git {word} x"));
        assert!(ran.stdout.contains("deny"), "{round}: {ran:?}");
    }
    assert_eq!(judged(&world), 20);
}

#[test]
fn under_load_the_old_or_the_new_policy_is_in_force_and_never_none() {
    let world = World::new(POLICY);
    let _daemon = Daemon::start(&world, &[]);
    let head = json!({"v": 1, "build": "", "op": "hook", "host": "claude-code", "cwd": world.root(),
        "env": {"HOME": world.home()}});
    let body = payload(&world, "git push --force");
    let request = frame(head.to_string().as_bytes(), body.as_bytes());
    let are_written = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut stream = UnixStream::connect(socket(&world)).unwrap();
                while !are_written.load(std::sync::atomic::Ordering::Acquire) {
                    stream.write_all(&request).unwrap();
                    assert_eq!(read(&mut stream).unwrap().0["state"], "accepted");
                    let (_, answer) = read(&mut stream).unwrap();
                    let answer = String::from_utf8(answer).unwrap();
                    assert!(answer.contains("\"deny\""), "{answer}");
                }
            });
        }
        for n in 0..1_000 {
            let policy = POLICY.replace("git push", &format!("git word{n}', 'git push"));
            world.write(".ahp/new.yaml", policy);
            fs::rename(world.path(".ahp/new.yaml"), world.path(".ahp/hooks.yaml")).unwrap();
        }
        are_written.store(true, std::sync::atomic::Ordering::Release);
    });
    // The last one is in force.
    assert!(hook(&world, "git word999 --force").stdout.contains("deny"));
    assert!(!hook(&world, "git word998 --force").stdout.contains("deny"));
}

#[test]
fn another_user_is_hung_up_on() {
    let world = World::new(POLICY);
    let dir = world.home().join(".local/state/ahp/run");
    // Only root can be another user.
    if std::os::unix::fs::MetadataExt::uid(&world.root().metadata().unwrap()) != 0 {
        return not_tried("another user at the socket: this is not root");
    }
    for path in [world.dir.path().to_owned(), world.home()] {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).unwrap();
    }
    // The other user may not be let to where the tests are built.
    let program = world.dir.path().join("ahp");
    world.ahp_copied_to(&program);
    let mut command = world.command(&program);
    std::os::unix::process::CommandExt::uid(&mut command, 65_534);
    let mut child = command.arg("serve").stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut line = || stderr.next().unwrap().unwrap();
    while !line().contains("listens at") {}
    let daemon = Daemon(child);
    let mut stream = UnixStream::connect(dir.join("serve.sock")).unwrap();
    let status = json!({"v": 1, "build": "", "op": "status"}).to_string();
    stream.write_all(&frame(status.as_bytes(), b"")).ok();
    assert!(read(&mut stream).is_none());
    assert!(line().contains("another user"));
    // Nor does a hook ask a judge of another user.
    let mut asks = world.ahp_command();
    asks.args(["hook", "--host", "claude-code"]);
    let ran = fed(&mut asks, payload(&world, "git push --force").as_bytes());
    assert!(ran.stdout.contains("deny"), "{ran:?}");
    daemon.kill();
}

#[test]
fn what_starts_programs_is_judged_by_the_caller_with_its_own_environment() {
    let world = World::new("");
    let guard = "../home/.config/agents/hooks/guard";
    let head = "---\nname: guard\ndescription: It guards\ntrigger: before_tool\n---\n";
    world.write(&format!("{guard}/HOOK.md"), head);
    let who = world.path("who");
    let script = format!("echo $WHO > {}\n", who.display());
    world.write(&format!("{guard}/scripts/run.sh"), script);
    let _daemon = Daemon::start(&world, &[]);
    let mut caller = world.ahp_command();
    caller
        .args(["hook", "--host", "claude-code"])
        .env("WHO", "caller");
    let ran = fed(&mut caller, payload(&world, "ls").as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(judged(&world), 0);
    assert_eq!(world.read("who"), "caller\n");
}

#[test]
fn there_is_one_daemon_and_what_a_killed_one_left_is_replaced() {
    let world = World::new(POLICY);
    let daemon = Daemon::start(&world, &[]);
    let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(socket(&world)), 0o600);
    assert_eq!(mode(socket(&world).parent().unwrap().to_owned()), 0o700);
    let second = world.ahp(&["serve"]);
    assert_eq!(second.code, 1);
    let pid = daemon.0.id().to_string();
    assert!(second.stderr.contains(&pid), "{}", second.stderr);
    daemon.kill();
    assert!(socket(&world).exists());
    assert!(hook(&world, "git push --force").stdout.contains("deny"));
    let _daemon = Daemon::start(&world, &[]);
    assert!(hook(&world, "git push --force").stdout.contains("deny"));
    assert_eq!(judged(&world), 1);
    let status = world.ahp(&["serve", "--status"]);
    assert!(status.stdout.contains("uptime_s"), "{status:?}");
    assert!(status.stdout.contains(": 1 event, p50 "), "{status:?}");
}

#[test]
fn nobody_who_answers_keeps_a_hook_waiting_or_lets_it_pass() {
    let world = World::new(POLICY);
    let path = socket(&world);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // A file in its place, and a socket that nobody reads.
    fs::write(&path, "no socket").unwrap();
    assert!(hook(&world, "git push --force").stdout.contains("deny"));
    fs::remove_file(&path).unwrap();
    let silent = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert!(hook(&world, "git push --force").stdout.contains("deny"));
    drop(silent);
    assert_eq!(evaluations(&world), 2);
    // A directory that others can enter is not taken.
    fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    let refused = world.ahp(&["serve"]);
    assert!(
        refused.code == 1 && refused.stderr.contains("chmod 700"),
        "{refused:?}"
    );
    let long = PathBuf::from("/nowhere").join("x".repeat(100));
    let mut at_long = world.ahp_command();
    at_long.arg("serve").env("XDG_RUNTIME_DIR", &long);
    let refused = fed(&mut at_long, b"");
    assert!(
        refused.code == 1 && refused.stderr.contains("107"),
        "{refused:?}"
    );
}

#[test]
fn where_everybody_makes_files_nobody_is_asked_and_nobody_listens() {
    let world = World::new(POLICY);
    for below in ["/tmp", "/var/tmp", "/nowhere/../tmp"] {
        let mut serve = world.ahp_command();
        serve.args(["serve", "--idle", "1s"]);
        // Nothing is made there where it is taken, for the path is too long.
        let dir = PathBuf::from(below).join("x".repeat(100));
        let ran = fed(serve.env("XDG_RUNTIME_DIR", &dir), b"");
        let place = socket(&world);
        let told = format!("listens at `{}`", place.display());
        assert!(
            ran.code == 0 && ran.stderr.contains(place.to_str().unwrap()),
            "{told}: {ran:?}"
        );
    }
}

#[test]
fn an_answer_that_is_none_is_not_given_on() {
    let world = World::new(POLICY);
    let path = socket(&world);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let answers = [
        r#"{"exit":0,"stdout":50}"#,
        r#"{"exit":77,"stdout":3}"#,
        r#"{"exit":1,"stdout":3}"#,
        r#"{"exit":256,"stdout":3}"#,
        r#"{"exit":0}"#,
    ];
    std::thread::spawn(move || {
        for (mut stream, answer) in listener.incoming().flatten().zip(answers) {
            read(&mut stream);
            stream
                .write_all(&frame(br#"{"v":1,"state":"accepted"}"#, b""))
                .unwrap();
            stream.write_all(&frame(answer.as_bytes(), b"{ }")).unwrap();
        }
    });
    for answer in answers {
        let ran = hook(&world, "git push --force nowhere.invalid main");
        assert!(ran.stdout.contains("\"deny\""), "{answer}: {ran:?}");
    }
    assert_eq!(evaluations(&world), answers.len());
}

#[test]
fn what_was_taken_and_not_answered_in_time_is_what_the_project_says_of_failures() {
    let world = World::new(POLICY);
    let path = socket(&world);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for (nth, mut stream) in listener.incoming().flatten().enumerate() {
            let accepted = frame(br#"{"v":1,"state":"accepted"}"#, b"");
            stream.write_all(&accepted).unwrap();
            if nth % 2 == 1 {
                // It always has something to say, and never comes to an end.
                stream.write_all(&[0, 0, 64, 0, 0, 0, 0, 2]).unwrap();
                while stream.write_all(b" ").is_ok() {}
            }
            held.push(stream);
        }
    });
    let late = |on_error: &str, name: &str| {
        world.write(
            ".ahp/hooks.yaml",
            format!("settings: {{on_error: {on_error}}}\n"),
        );
        let event = payload(&world, "ls").replace("PreToolUse", name);
        world.ahp_fed(
            &["hook", "--host", "claude-code", "--timeout", "0.5"],
            event.as_bytes(),
        )
    };
    let blocked = late("block", "PreToolUse");
    assert!(blocked.stdout.contains("deny"), "{blocked:?}");
    assert!(blocked.stdout.contains("did not answer in time"));
    assert_eq!(late("allow", "PreToolUse").stdout, "");
    let blocked = late("block", "PreToolUse");
    assert!(blocked.stdout.contains("deny"), "{blocked:?}");
    let dripping = late("block", "PreToolUse");
    assert!(
        dripping.stdout.contains("did not answer in time"),
        "{dripping:?}"
    );
    // What has happened cannot be denied, whoever calls.
    assert!(!late("block", "PostToolUse").stdout.contains("deny"));
    assert!(!world.path(".ahp/signals.jsonl").exists());
}

#[test]
fn frames_that_are_none_are_hung_up_on_and_others_go_on() {
    let world = World::new(POLICY);
    let _daemon = Daemon::start(&world, &[]);
    let head =
        json!({"v": 1, "build": "", "op": "hook", "host": "claude-code", "cwd": world.root()});
    let body = payload(&world, "git push --force");
    let whole = frame(head.to_string().as_bytes(), body.as_bytes());
    let hung_up_on = |bytes: &[u8]| {
        let mut stream = UnixStream::connect(socket(&world)).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).ok();
        said.is_empty()
    };
    for length in 0..whole.len() {
        assert!(hung_up_on(&whole[..length]), "{length}");
    }
    assert!(hung_up_on(&[0xff; 8]));
    assert!(hung_up_on(&frame(b"{}", b"")));
    assert!(hung_up_on(&frame(
        br#"{"v":1,"build":"","op":"stop"}"#,
        b""
    )));
    let state = |head: &Value| asked(&world, head, body.as_bytes()).unwrap().0["state"].clone();
    let mut other = head;
    other["build"] = "another".into();
    assert_eq!(state(&other), "other-build");
    other["build"] = "".into();
    other["v"] = 2.into();
    assert_eq!(state(&other), "other-build");
    // An answer to a signal is not taken from anybody who can reach the socket.
    assert_eq!(
        state(&json!({"v": 1, "build": "", "op": "respond"})),
        "refused"
    );
    assert_eq!(judged(&world), 0);
    // One that does not come to its end is waited for, but not for ever.
    let mut slow = UnixStream::connect(socket(&world)).unwrap();
    slow.write_all(whole.split_at(40).0).unwrap();
    assert_eq!(slow.read(&mut [0]).unwrap_or(0), 0);
    // Many requests on one connection.
    let mut stream = UnixStream::connect(socket(&world)).unwrap();
    for _ in 0..50 {
        stream.write_all(&whole).unwrap();
        assert_eq!(read(&mut stream).unwrap().0["state"], "accepted");
        let (done, body) = read(&mut stream).unwrap();
        assert_eq!(done["exit"], 0);
        assert_eq!(done["stdout"], body.len());
        assert!(String::from_utf8(body).unwrap().contains("deny"));
    }
    assert_eq!(judged(&world), 50);
}

#[test]
fn it_ends_when_it_is_told_to_or_nobody_asks() {
    let world = World::new(POLICY);
    let mut daemon = Daemon::start(&world, &[]);
    let pid = daemon.0.id().to_string();
    assert!(world.command("kill").arg(pid).status().unwrap().success());
    assert!(daemon.0.wait().unwrap().success());
    assert!(!socket(&world).exists());
    let mut daemon = Daemon::start(&world, &["--idle", "1ms"]);
    assert!(daemon.0.wait().unwrap().success());
    assert!(!socket(&world).exists());
}

#[test]
fn it_ends_once_another_file_has_taken_its_programs_name() {
    let world = World::new(POLICY);
    let program = world.dir.path().join("ahp");
    world.ahp_copied_to(&program);
    let mut child = world
        .command(&program)
        .arg("serve")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("listens at") {
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "it ended");
    }
    // As an update does it.
    let newer = world.dir.path().join("newer");
    world.ahp_copied_to(&newer);
    fs::rename(newer, program).unwrap();
    assert!(child.wait().unwrap().success());
    stderr.read_to_string(&mut said).unwrap();
    assert!(said.contains("replaced"), "{said}");
    assert!(!socket(&world).exists());
}

#[test]
fn the_files_for_the_system_are_written_and_taken_away() {
    let world = World::new("");
    let unit = |name: &str| world.home().join(".config/systemd/user").join(name);
    let shown = world.ahp(&["install", "serve", "--dry-run"]);
    assert!(
        shown.stdout.contains("ListenStream=%t/ahp/serve.sock"),
        "{shown:?}"
    );
    assert!(!unit("ahp.socket").exists());
    assert_eq!(world.ahp(&["install", "serve"]).code, 0);
    let service = fs::read_to_string(unit("ahp.service")).unwrap();
    assert!(
        service.contains("serve --idle 30m") && service.contains("MemoryMax=512M"),
        "{service}"
    );
    assert_eq!(world.ahp(&["install", "codex", "--start"]).code, 1);
    assert_eq!(world.ahp(&["uninstall", "serve"]).code, 0);
    assert!(!unit("ahp.socket").exists() && !unit("ahp.service").exists());
}
