//! A table of hooks that misbehave, each run by `ahp` itself and watched from outside.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::watched::{Expected, LONG, MEMORY, QUICK, Seen, assert_nothing_is_left, in_time, watch};
use crate::world::World;

/// A hook that misbehaves.
struct Fault {
    name: &'static str,
    /// The hook's script; `$PIDS` names a file to note process ids in.
    script: &'static [u8],
    timeout: Duration,
    /// The decision, the outcome of the hook, and what the verdict says.
    expected: Expected,
    /// How it is called where its figures are shown.
    shown: Option<&'static str>,
}

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
        shown: None,
    }
}

impl Fault {
    const fn shown(self, shown: &'static str) -> Self {
        Self {
            shown: Some(shown),
            ..self
        }
    }
}

const FAULTS: &[Fault] = &[
    fault("well", b"#!/bin/sh\nexit 0", LONG, "none", "accepted", "").shown("hook that is well"),
    fault("wrong-interpreter", b"#!/no/such/program\n", LONG, "allow", "failed", "`/no/such/program`, which is not there"),
    fault("dos-line-ends", b"#!/bin/sh\r\nexit 2\r\n", LONG, "allow", "failed", "/bin/sh\\\\r"),
    fault("no-program", b"\x7fELF\0\0\0\0 this is none", LONG, "allow", "failed", "could not be run"),
    fault("text", b"#!/bin/sh\necho all is well", LONG, "allow", "signalled", "all is well"),
    fault("half-json", b"#!/bin/sh\necho '{\"decision\": \"den'", LONG, "allow", "failed", "cannot be read"),
    fault("no-utf8", b"#!/bin/sh\nprintf '\\377\\376\\000'", LONG, "allow", "failed", "cannot be read"),
    fault("deep-json", b"#!/bin/sh\nhead -c 900000 /dev/zero | tr '\\0' '['", LONG, "allow", "signalled", "more bytes"),
    fault("no-reading", b"#!/bin/sh\nexit 0", LONG, "none", "accepted", ""),
    fault("stdin-closed", b"#!/bin/sh\nexec 0<&-\nsleep 0.1\necho no >&2\nexit 2", LONG, "block", "signalled", "\"reason\":\"no\""),
    fault("sleeping", b"#!/bin/sh\necho $$ >> $PIDS\nexec sleep 60", QUICK, "allow", "failed", "did not end within 400 ms").shown("never ends, 400 ms allowed"),
    fault("ignores-term", b"#!/bin/sh\ntrap '' TERM\necho $$ >> $PIDS\nwhile :; do sleep 0.05; done", QUICK, "allow", "failed", "did not end within 400 ms").shown("ignores TERM, 400 ms allowed"),
    fault("stopped", b"#!/bin/sh\necho $$ >> $PIDS\nkill -STOP $$", QUICK, "allow", "failed", "did not end within 400 ms").shown("stops itself, 400 ms allowed"),
    fault("holds-pipes", b"#!/bin/sh\nsleep 60 &\necho $! >> $PIDS\nexit 0", LONG, "none", "accepted", ""),
    fault("leaves-children", b"#!/bin/sh\n(trap '' TERM; while :; do sleep 0.05; done) >/dev/null 2>&1 &\necho $! >> $PIDS\necho no >&2\nexit 2", LONG, "block", "signalled", "\"reason\":\"no\""),
    fault("endless-output", b"#!/bin/sh\necho $$ >> $PIDS\nexec yes", QUICK, "allow", "failed", "did not end within 400 ms").shown("endless output, 400 ms allowed"),
    fault("gigabyte", b"#!/bin/sh\nexec head -c 1000000000 /dev/zero", LONG, "allow", "failed", "cannot be read").shown("1 GB on stdout"),
    fault("gigabyte-of-reasons", b"#!/bin/sh\nhead -c 1000000000 /dev/zero >&2\nexit 2", LONG, "block", "signalled", "more bytes)"),
    fault("killed", b"#!/bin/sh\nkill -KILL $$", LONG, "allow", "failed", "ended by signal 9"),
    fault("crashed", b"#!/bin/sh\nkill -SEGV $$", LONG, "allow", "failed", "ended by signal 11"),
    fault("failed", b"#!/bin/sh\necho sorry >&2\nexit 1", LONG, "allow", "failed", "exit code 1: sorry"),
    fault("not-found-inside", b"#!/bin/sh\nno-such-program-7", LONG, "allow", "failed", "exit code 127"),
    fault("silent-block", b"#!/bin/sh\nexit 2", LONG, "block", "signalled", "blocked by hook silent-block"),
];

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
        "tool": {"name": "Bash", "input": {"command": "true", "description": "x".repeat(1 << 20)}},
    });
    let file = world.root().join("event.json");
    fs::write(&file, event.to_string()).unwrap();
    watch(world, &["run", "--event", "event.json"])
}

#[test]
fn hooks_that_misbehave() {
    let mut rows = Vec::new();
    for fault in FAULTS {
        let (world, hook) = user(fault.name, fault.timeout);
        write_script(&hook, fault.script, 0o755);
        let seen = in_time(fault.timeout, fault.expected.2, || evaluate(&world));
        seen.check(fault.name, fault.timeout, MEMORY, fault.expected);
        assert_nothing_is_left(fault.name, &world);
        if let Some(shown) = fault.shown {
            rows.push(seen.row(shown));
        }
    }
    crate::faults::page::figures(&rows);
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

#[test]
fn an_async_hook_that_never_ends_is_ended_at_its_timeout() {
    let world = World::new("settings: {timeout: 5s}\n");
    let hook = world.home().join(".config/agents/hooks/later");
    fs::create_dir_all(hook.join("scripts")).unwrap();
    let text = "---\nname: later\ndescription: It never ends\ntrigger: pre-tool-call\nasync: true\ntimeout: 400\n---\n";
    fs::write(hook.join("HOOK.md"), text).unwrap();
    let script = b"#!/bin/sh\ntrap '' TERM\necho $$ >> $PIDS\n(trap '' TERM; while :; do sleep 0.05; done) &\necho $! >> $PIDS\nwhile :; do sleep 0.05; done";
    write_script(&hook, script, 0o755);
    let seen = evaluate(&world);
    assert_eq!(seen.outcome(), "started");
    let log = world.root().join(".ahp/signals.jsonl");
    let logged = || fs::read_to_string(&log).unwrap_or_default();
    let patience = Instant::now() + Duration::from_secs(8);
    while !logged().contains("\"outcome\":\"failed\"") {
        assert!(Instant::now() < patience, "{}", logged());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_nothing_is_left("later", &world);
}
