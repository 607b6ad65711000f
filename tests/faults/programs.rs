//! A table of hooks that misbehave, each run by `ahp` itself and watched from outside.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use serde_json::Value;

use crate::command::world::World;

/// What a verdict may take beyond the hook's timeout.
const SLACK: Duration = Duration::from_millis(100);

/// What `ahp` may use of memory, whatever a hook writes.
const MEMORY_KIB: u64 = 64 << 10;

/// A hook that misbehaves.
struct Fault {
    name: &'static str,
    /// The hook's script; `$PIDS` names a file to note process ids in.
    script: &'static [u8],
    timeout: Duration,
    /// The decision, the outcome of the hook, and what the verdict says.
    expected: (&'static str, &'static str, &'static str),
}

const QUICK: Duration = Duration::from_millis(400);
const LONG: Duration = Duration::from_secs(30);

const fn fault(
    name: &'static str,
    script: &'static [u8],
    timeout: Duration,
    decision: &'static str,
    outcome: &'static str,
    says: &'static str,
) -> Fault {
    Fault {
        name,
        script,
        timeout,
        expected: (decision, outcome, says),
    }
}

const FAULTS: &[Fault] = &[
    fault("well", b"#!/bin/sh\nexit 0", QUICK, "none", "accepted", ""),
    fault("wrong-interpreter", b"#!/no/such/program\n", QUICK, "allow", "failed", "`/no/such/program`, which is not there"),
    fault("dos-line-ends", b"#!/bin/sh\r\nexit 2\r\n", QUICK, "allow", "failed", "/bin/sh\\\\r"),
    fault("no-program", b"\x7fELF\0\0\0\0 this is none", QUICK, "allow", "failed", "could not be run"),
    fault("text", b"#!/bin/sh\necho all is well", QUICK, "allow", "failed", "nor a JSON object on stdout: all is well"),
    fault("half-json", b"#!/bin/sh\necho '{\"decision\": \"den'", QUICK, "allow", "failed", "nor a JSON object"),
    fault("no-utf8", b"#!/bin/sh\nprintf '\\377\\376\\000'", QUICK, "allow", "failed", "nor a JSON object"),
    fault("deep-json", b"#!/bin/sh\nhead -c 900000 /dev/zero | tr '\\0' '['", LONG, "allow", "failed", "nor a JSON object"),
    fault("no-reading", b"#!/bin/sh\nexit 0", QUICK, "none", "accepted", ""),
    fault("stdin-closed", b"#!/bin/sh\nexec 0<&-\nsleep 0.1\necho no >&2\nexit 2", QUICK, "block", "signalled", "\"reason\":\"no\""),
    fault("sleeping", b"#!/bin/sh\necho $$ >> $PIDS\nexec sleep 60", QUICK, "allow", "failed", "did not end within 400 ms"),
    fault("ignores-term", b"#!/bin/sh\ntrap '' TERM\necho $$ >> $PIDS\nwhile :; do sleep 0.05; done", QUICK, "allow", "failed", "did not end within 400 ms"),
    fault("stopped", b"#!/bin/sh\necho $$ >> $PIDS\nkill -STOP $$", QUICK, "allow", "failed", "did not end within 400 ms"),
    fault("holds-pipes", b"#!/bin/sh\nsleep 60 &\necho $! >> $PIDS\nexit 0", LONG, "none", "accepted", ""),
    fault("leaves-children", b"#!/bin/sh\n(trap '' TERM; while :; do sleep 0.05; done) >/dev/null 2>&1 &\necho $! >> $PIDS\necho no >&2\nexit 2", LONG, "block", "signalled", "\"reason\":\"no\""),
    fault("endless-output", b"#!/bin/sh\necho $$ >> $PIDS\nexec yes", QUICK, "allow", "failed", "did not end within 400 ms"),
    fault("gigabyte", b"#!/bin/sh\nexec head -c 1000000000 /dev/zero", LONG, "allow", "failed", "nor a JSON object"),
    fault("gigabyte-of-reasons", b"#!/bin/sh\nhead -c 1000000000 /dev/zero >&2\nexit 2", LONG, "block", "signalled", "more bytes)"),
    fault("killed", b"#!/bin/sh\nkill -KILL $$", QUICK, "allow", "failed", "ended by signal 9"),
    fault("crashed", b"#!/bin/sh\nkill -SEGV $$", QUICK, "allow", "failed", "ended by signal 11"),
    fault("failed", b"#!/bin/sh\necho sorry >&2\nexit 1", QUICK, "allow", "failed", "exit code 1: sorry"),
    fault("not-found-inside", b"#!/bin/sh\nno-such-program-7", QUICK, "allow", "failed", "exit code 127"),
    fault("silent-block", b"#!/bin/sh\nexit 2", QUICK, "block", "signalled", "blocked by hook silent-block"),
];

/// What a run of `ahp` came to, seen from outside.
struct Seen {
    verdict: Value,
    text: String,
    wall: Duration,
    peak_kib: u64,
}

/// A user with one hook.
fn user(name: &str, timeout: Duration) -> (World, PathBuf) {
    let world = World::new("");
    let hook = world.home().join(".config/agents/hooks").join(name);
    fs::create_dir_all(hook.join("scripts")).unwrap();
    let text = format!(
        "---\nname: {name}\ndescription: It misbehaves\ntrigger: pre-tool-call\ntimeout: {}\n---\n",
        timeout.as_millis()
    );
    fs::write(hook.join("HOOK.md"), text).unwrap();
    (world, hook)
}

fn write_script(hook: &Path, script: &[u8], mode: u32) {
    let run = hook.join("scripts/run");
    fs::write(&run, script).unwrap();
    fs::set_permissions(&run, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs `ahp` for a tool call with a large input, and watches it.
fn evaluate(world: &World) -> Seen {
    let event = serde_json::json!({
        "trigger": "pre-tool-use",
        "tool": {"name": "Bash", "input": {"command": "true", "more": "x".repeat(1 << 20)}},
    });
    let file = world.root().join("event.json");
    fs::write(&file, event.to_string()).unwrap();
    let start = Instant::now();
    let mut child = world
        .ahp_command()
        .args(["run", "--event", "event.json", "--format", "json"])
        .env("PIDS", world.root().join("pids"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak_kib = peak_kib.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    let wall = start.elapsed();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let verdict = serde_json::from_str(text.lines().next().unwrap_or_default())
        .unwrap_or_else(|e| panic!("{e}: {text}\n{}", String::from_utf8_lossy(&output.stderr)));
    Seen {
        verdict,
        text,
        wall,
        peak_kib,
    }
}

/// Waits until the processes that a hook noted are gone: those that ignore TERM are killed after two seconds.
fn assert_nothing_is_left(name: &str, world: &World) {
    let pids = fs::read_to_string(world.root().join("pids")).unwrap_or_default();
    let patience = Instant::now() + Duration::from_secs(4);
    for pid in pids.lines() {
        let stat = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        while !stat().is_empty() && !stat().contains(") Z ") {
            assert!(
                Instant::now() < patience,
                "{name}: process {pid} is left: {}",
                stat()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn hooks_that_misbehave() {
    let mut lines = Vec::new();
    for fault in FAULTS {
        let (world, hook) = user(fault.name, fault.timeout);
        write_script(&hook, fault.script, 0o755);
        let seen = in_time(fault, &world);
        check(fault, &seen);
        assert_nothing_is_left(fault.name, &world);
        lines.push(format!(
            "{:<22} {:>8} ms {:>8} KiB",
            fault.name,
            seen.wall.as_millis(),
            seen.peak_kib
        ));
    }
    // Shown with `--nocapture`: the figures of docs/security.md.
    writeln!(std::io::stderr(), "{}", lines.join("\n")).unwrap();
}

/// Evaluates, again where something else on the machine may have taken the time.
fn in_time(fault: &Fault, world: &World) -> Seen {
    for _ in 0..3 {
        let seen = evaluate(world);
        if fault.timeout != QUICK || seen.took() < fault.timeout + SLACK {
            return seen;
        }
    }
    evaluate(world)
}

impl Seen {
    /// What the first hook came to, behind what is bound to every tool call.
    fn outcome(&self) -> &Value {
        let reports = self.verdict["bindings"].as_array().unwrap();
        let hook = reports.iter().find(|report| report["source"] != "built-in");
        &hook.unwrap()["outcome"]
    }

    /// How long the verdict took, by its own account.
    fn took(&self) -> Duration {
        Duration::from_micros(self.verdict["duration_us"].as_u64().unwrap())
    }
}

fn check(fault: &Fault, seen: &Seen) {
    let (decision, outcome, says) = fault.expected;
    let name = fault.name;
    assert_eq!(seen.verdict["decision"], decision, "{name}: {}", seen.text);
    assert_eq!(seen.outcome(), outcome, "{name}: {}", seen.text);
    assert!(seen.text.contains(says), "{name}: {}", seen.text);
    assert!(seen.peak_kib < MEMORY_KIB, "{name}: {} KiB", seen.peak_kib);
    if fault.timeout == QUICK {
        let took = seen.took();
        assert!(
            took < fault.timeout + SLACK,
            "{name}: the verdict took {took:?}"
        );
    }
}

#[test]
fn hooks_without_a_program_to_run_are_told_and_not_passed_over() {
    for (name, says) in [
        ("nothing", "no entry point: expected `scripts/run`"),
        ("no-permission", "has no execute permission"),
        ("a-directory", "is not a file"),
    ] {
        let (world, hook) = user(name, QUICK);
        match name {
            "no-permission" => write_script(&hook, b"#!/bin/sh\nexit 2", 0o644),
            "a-directory" => fs::create_dir(hook.join("scripts/run")).unwrap(),
            _ => {}
        }
        let seen = evaluate(&world);
        assert_eq!(
            seen.verdict["signals"][0]["header"]["intensity"], "prompt",
            "{}",
            seen.text
        );
        assert!(seen.text.contains(says), "{name}: {}", seen.text);
    }
}

#[test]
fn one_stuck_hook_does_not_keep_the_next_from_guarding() {
    let (world, hook) = user("stuck", QUICK);
    write_script(&hook, b"#!/bin/sh\nsleep 60", 0o755);
    let guard = hook.with_file_name("guard");
    fs::create_dir_all(guard.join("scripts")).unwrap();
    let text =
        "---\nname: guard\ndescription: It guards\ntrigger: pre-tool-call\npriority: 1\n---\n";
    fs::write(guard.join("HOOK.md"), text).unwrap();
    write_script(&guard, b"#!/bin/sh\necho no >&2; exit 2", 0o755);
    let seen = evaluate(&world);
    assert_eq!(seen.verdict["decision"], "block", "{}", seen.text);
    assert_eq!(seen.outcome(), "failed");
}

#[test]
fn an_async_hook_outlives_the_answer_and_is_logged() {
    let world = World::new("settings: {timeout: 5s}\n");
    let hook = world.home().join(".config/agents/hooks/later");
    fs::create_dir_all(hook.join("scripts")).unwrap();
    let text = "---\nname: later\ndescription: It takes its time\ntrigger: pre-tool-call\nasync: true\n---\n";
    fs::write(hook.join("HOOK.md"), text).unwrap();
    let script = b"#!/bin/sh\nsleep 2\ntouch $PIDS\necho '{\"decision\": \"deny\", \"log\": \"written later\"}'";
    write_script(&hook, script, 0o755);
    let seen = evaluate(&world);
    assert_eq!(seen.verdict["decision"], "none", "{}", seen.text);
    assert_eq!(seen.outcome(), "started");
    assert!(
        !world.root().join("pids").exists(),
        "the answer waited for the hook"
    );
    let log = world.root().join(".ahp/signals.jsonl");
    let patience = Instant::now() + Duration::from_secs(8);
    while !fs::read_to_string(&log)
        .unwrap_or_default()
        .contains("written later")
    {
        assert!(Instant::now() < patience, "{:?}", fs::read_to_string(&log));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(world.root().join("pids").exists());
}
