//! What this machine wrote is believed; what came with a clone is shown as foreign, leads nowhere and keeps nobody waiting.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use ahp::signal_log::{DamageKind, Reader, SignalLog, verify};
use serde_json::{Value, json};

use super::making::{accepted, at, blocked, settings};
use crate::world::{Ran, World};

const POLICY: &str = "hooks:\n  pre-tool-use:\n    - {oracle: PermissionChecker, id: commands, intensity: prompt, config: {dangerous_commands: [make clean]}}\n";

/// Calls `ahp hook` as Claude Code does before a command.
fn call(world: &World, command: &str, session: &str) -> Ran {
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": session, "cwd": world.root(), "transcript_path": "",
        "tool_name": "Bash", "tool_input": {"command": command},
    });
    let event = event.to_string();
    world.ahp_fed(&["hook", "--host", "claude-code"], event.as_bytes())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A project of one machine, and its clone on another one.
fn cloned() -> (World, World) {
    let here = World::new(POLICY);
    for _ in 0..3 {
        call(&here, "make clean", "s1");
        let said = here.ahp(&["respond", "last", "acknowledge"]);
        assert_eq!(said.code, 0, "{said:?}");
    }
    let there = World::new("");
    copy_dir(&here.path(".ahp"), &there.path(".ahp"));
    (here, there)
}

fn shown(world: &World, args: &[&str]) -> Vec<Value> {
    world.ahp(&[&["log"], args].concat()).json()
}

#[test]
fn the_log_of_a_clone_says_nothing_and_is_closed() {
    let (here, there) = cloned();
    assert_eq!(shown(&here, &["show", "--json"]).len(), 1);
    for args in [
        &["show", "--json"][..],
        &["export"],
        &["export", "--raw"],
        &["tail", "--json"],
    ] {
        assert_eq!(shown(&there, args), [Value::Null; 0], "{args:?}");
    }
    let said = there.ahp(&["log", "show"]);
    assert!(said.stderr.contains("was not written here"), "{said:?}");
    assert_eq!(shown(&there, &["stats", "--json"])[0]["records"], 0);
    let id = shown(&here, &["show", "--json"])[0]["id"].clone();
    let said = there.ahp(&["respond", id.as_str().unwrap(), "acknowledge"]);
    assert!(said.stderr.contains("no signal has the id"), "{said:?}");

    // Named, it is counted whole and headed so; nothing is changed by it.
    let path = there.path(".ahp/signals.jsonl");
    let path = path.to_str().unwrap();
    let said = there.ahp(&["log", "--log", path, "show", "--json"]);
    assert_eq!(said.json().len(), 1);
    assert!(said.stderr.contains("not written here"), "{said:?}");
    let whole = there.ahp(&["log", "verify"]);
    assert_eq!(whole.code, 1);
    assert!(whole.stderr.contains("foreign"), "{whole:?}");

    // The acknowledgement is of the other machine: here the finding is raised again, and logged in a file of this one.
    assert!(call(&here, "make clean", "s1").stdout.is_empty());
    assert!(
        call(&there, "make clean", "s1")
            .stdout
            .contains("make clean")
    );
    assert_eq!(shown(&there, &["show", "--json"]).len(), 1);
    assert!(there.path(".ahp/signals-1.jsonl.zst").exists());
}

#[test]
fn an_answer_that_this_machine_did_not_write_lifts_nothing() {
    let world = World::new(POLICY);
    call(&world, "make clean", "s1");
    let id = shown(&world, &["show", "--json"])[0]["id"].clone();
    // Somebody who knows how the log is written, but not the key.
    let keyless = SignalLog::open(world.path(".ahp/signals.jsonl"), &settings()).unwrap();
    let answer = ahp::signal_log::Answer {
        action: ahp::signal::Action::Acknowledge,
        details: serde_json::Map::new(),
        by: ahp::signal::Actor::Human,
    };
    let selector = id.as_str().unwrap();
    ahp::signal_log::respond(&keyless, selector, answer, at(0)).unwrap();
    // What no reader believes is not sound, however well it is chained.
    let damage = verify(world.log_place()).unwrap().damage.unwrap();
    assert_eq!(damage.kind, DamageKind::Inserted);
    assert_eq!(shown(&world, &["show", "--json"])[0]["consumed"], false);
    assert!(
        call(&world, "make clean", "s1")
            .stdout
            .contains("make clean")
    );
    world.ahp(&["respond", selector, "acknowledge"]);
    assert_eq!(shown(&world, &["show", "--json"])[0]["consumed"], true);
}

#[test]
fn a_log_that_lost_its_first_lines_is_found() {
    let world = World::new(POLICY);
    for _ in 0..3 {
        call(&world, "make clean", "s1");
    }
    assert_eq!(world.ahp(&["log", "verify"]).code, 0);
    let path = world.path(".ahp/signals.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let rest: Vec<&str> = text.lines().skip(2).collect();
    fs::write(&path, rest.join("\n") + "\n").unwrap();
    let said = world.ahp(&["log", "verify"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("gone from its beginning"), "{said:?}");
    assert_eq!(shown(&world, &["show", "--json"]), [Value::Null; 0]);
}

#[test]
fn many_processes_make_one_key_and_private_files() {
    let world = World::new(POLICY);
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.root(), "transcript_path": "",
        "tool_name": "Bash", "tool_input": {"command": "ls"},
    });
    let file = world.dir.path().join("event.json");
    fs::write(&file, event.to_string()).unwrap();
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = world.ahp_command();
            command.args(["hook", "--host", "claude-code"]);
            command.stdin(fs::File::open(&file).unwrap());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let state = world.home().join(".local/state/ahp");
    let key = state.join("key");
    assert_eq!((fs::read(&key).unwrap().len(), mode(&key)), (32, 0o600));
    let names = fs::read_dir(&state).unwrap();
    let drafts = names.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("key.")
    });
    assert_eq!(drafts.count(), 0);
    let found = verify(world.log_place()).unwrap();
    assert_eq!((found.records, found.damage), (8, None));
    for name in ["signals.jsonl", "signals.jsonl.lock"] {
        assert_eq!(mode(&world.path(".ahp").join(name)), 0o600, "{name}");
    }
}

/// Whatever a clone has put in the place of our files: the answer alone is written to stdout, and nothing else is touched.
#[test]
fn no_link_of_a_clone_is_followed() {
    for name in [
        "signals.jsonl",
        "signals.jsonl.lock",
        "signals.jsonl.torn",
        "signals.jsonl.index",
        "signals-1.jsonl.zst",
        "evidence.json",
    ] {
        for target in ["/dev/stdout", "victim"] {
            let world = World::new(POLICY);
            let victim = world.home().join("victim");
            fs::write(&victim, "mine\n").unwrap();
            if name.contains(".torn") {
                fs::write(world.path(".ahp/signals.jsonl"), "{\"seq\":1,\"timest").unwrap();
            }
            let target = world.home().join(target);
            symlink(target, world.path(".ahp").join(name)).unwrap();
            let said = call(&world, "make clean", "s1");
            let reply: Value = serde_json::from_str(&said.stdout)
                .unwrap_or_else(|error| panic!("{name}: {error}: {said:?}"));
            assert!(reply.to_string().contains("make clean"), "{name}: {reply}");
            assert_eq!(fs::read_to_string(&victim).unwrap(), "mine\n", "{name}");
        }
    }
    // A directory may be a link as well.
    let world = World::new(POLICY);
    let elsewhere = world.home().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let policy = format!("{POLICY}settings: {{log: {{path: logs/signals.jsonl}}}}\n");
    world.write(".ahp/hooks.yaml", policy);
    symlink(&elsewhere, world.path("logs")).unwrap();
    assert!(
        call(&world, "make clean", "s1")
            .stdout
            .contains("make clean")
    );
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_project_moves_its_log_only_within_itself() {
    for path in [
        "~/.bash_profile",
        "../outside.jsonl",
        ".ahp/../../outside.jsonl",
    ] {
        let world = World::new("");
        let path = path.replace('~', world.home().to_str().unwrap());
        let policy = format!("{POLICY}settings: {{log: {{path: \"{path}\"}}}}\n");
        world.write(".ahp/hooks.yaml", &policy);
        let said = call(&world, "ls", "s1");
        assert!(
            said.stdout.contains("within the project"),
            "{path}: {said:?}"
        );
        assert!(!world.home().join(".bash_profile").exists());
        assert!(!world.dir.path().join("outside.jsonl").exists());
        // What a person sets for herself may lie anywhere.
        world.write(".ahp/hooks.yaml", POLICY);
        let own = format!(
            "settings: {{log: {{path: \"{}/mine.jsonl\"}}}}\n",
            world.home().display()
        );
        fs::create_dir_all(world.home().join(".ahp")).unwrap();
        fs::write(world.home().join(".ahp/hooks.yaml"), own).unwrap();
        call(&world, "make clean", "s1");
        assert!(world.home().join("mine.jsonl").exists());
    }
}

#[test]
fn who_writes_under_another_home_pushes_nothing_out() {
    let world = World::new(&format!("settings: {{log: {{keep: 2}}}}\n{POLICY}"));
    let other = World::new("");
    for n in 1..=6 {
        call(&world, "make clean", "s1");
        let mut there = world.ahp_command();
        there.env("HOME", other.home());
        there.args(["run", "pre-tool-use", "--tool", "Bash", "--input"]);
        there.arg(r#"{"command": "make clean"}"#);
        there.output().unwrap();
        assert_eq!(shown(&world, &["show", "--json"]).len(), n);
    }
}

#[test]
fn a_pipe_as_an_archive_keeps_no_verdict_waiting() {
    for name in ["signals-1.jsonl.zst", "signals-1.jsonl", "signals.jsonl"] {
        let world = World::new(POLICY);
        let pipe = world.path(".ahp").join(name);
        let made = world.command("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let started = Instant::now();
        let said = call(&world, "make clean", "s1");
        assert!(said.stdout.contains("make clean"), "{name}: {said:?}");
        assert!(started.elapsed() < Duration::from_secs(20), "{name}");
    }
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let bomb = zstd::encode_all(&vec![b'x'; 80 << 20][..], 1).unwrap();
    fs::write(dir.path().join("signals-1.jsonl.zst"), bomb).unwrap();
    let reader = Reader::open(dir.path().join("signals.jsonl")).unwrap();
    let error = reader
        .newest_first(|_, _| std::ops::ControlFlow::Continue(()))
        .unwrap_err();
    assert!(
        error.to_string().contains("far more than a log does"),
        "{error}"
    );
}

#[test]
fn evidence_of_a_clone_proves_nothing() {
    let policy = "hooks:\n  pre-issue-submit:\n    - oracle: TestGate\n      id: tests\n      intensity: block\n      config: {command: sh run.sh, exit_code_suffices: true}\n";
    let here = World::new(policy);
    let submit = ["run", "pre-issue-submit", "--format", "json"];
    let run = |world: &World| {
        let mut command = world.ahp_command();
        command.args(submit).env("AHP_TRUST", "all");
        crate::world::fed(&mut command, b"")
    };
    // It counts its runs outside of the project.
    here.write(
        "run.sh",
        "echo '1 passed in 0.01s'\necho run >> \"$HOME/runs\"\n",
    );
    let runs = |world: &World| {
        let text = fs::read_to_string(world.home().join("runs")).unwrap_or_default();
        text.lines().count()
    };
    run(&here);
    run(&here);
    assert_eq!(runs(&here), 1, "what is proven here is not run again");
    let there = World::new("");
    copy_dir(&here.path(".ahp"), &there.path(".ahp"));
    there.write("run.sh", here.read("run.sh"));
    run(&there);
    assert_eq!(runs(&there), 1, "what a clone says is run");
    run(&there);
    assert_eq!(runs(&there), 1);
    assert_eq!(mode(&there.path(".ahp/evidence.json")), 0o600);
}

#[test]
fn a_cell_of_a_table_is_never_a_formula() {
    let dir = tempfile::tempdir().unwrap();
    let log = SignalLog::open(dir.path().join("x.jsonl"), &settings()).unwrap();
    for (id, text) in (1..).zip(["=1+1", "+1", "-1", "@sum", "\tx", "\rx", "plain"]) {
        let mut bodies = vec![accepted()];
        let signal = ahp::signal::Signal::prompt("t", text);
        bodies.push(super::making::signal(id, signal, "f"));
        log.append(bodies, at(0)).unwrap();
    }
    let world = World::new("");
    let path = log.path().to_str().unwrap();
    let csv = world
        .ahp(&["log", "--log", path, "export", "--format", "csv"])
        .stdout;
    for text in ["'=1+1", "'+1", "'-1", "'@sum", "'\tx", "'\\u000dx"] {
        assert!(csv.contains(&format!(",\"{text}\",")), "{text}: {csv}");
    }
    assert!(csv.contains(",plain,"), "{csv}");
}

#[test]
fn a_stop_gate_of_a_hook_alone_is_logged_answered_and_lets_go() {
    let world = World::new("");
    fs::remove_dir(world.path(".ahp")).unwrap();
    let hook = world.home().join(".config/agents/hooks/gate");
    fs::create_dir_all(hook.join("scripts")).unwrap();
    let text =
        "---\nname: gate\ndescription: It never lets go\ntrigger: pre-agent-turn-stop\n---\n";
    fs::write(hook.join("HOOK.md"), text).unwrap();
    let script = hook.join("scripts/run.sh");
    fs::write(&script, "#!/bin/sh\necho not yet >&2\nexit 2\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let stop = |active: bool| {
        let event = json!({
            "hook_event_name": "Stop", "session_id": "s1", "cwd": world.root(), "transcript_path": "",
            "stop_hook_active": active,
        });
        let event = event.to_string();
        world.ahp_fed(&["hook", "--host", "claude-code"], event.as_bytes())
    };
    let first = stop(false);
    assert!(first.stdout.contains("\"block\""), "{first:?}");
    let seen = shown(&world, &["show", "--json"]);
    assert_eq!(seen.len(), 1, "{first:?}");
    let id = seen[0]["id"].as_str().unwrap();
    let said = world.ahp(&["respond", id, "retry_after_fix"]);
    assert_eq!(said.code, 0, "{said:?}");
    let blocks = (0..10)
        .map(|_| stop(true))
        .take_while(|said| said.stdout.contains("\"block\""));
    assert!(blocks.count() < 9, "it never lets go");
    assert!(!world.path(".ahp").exists());
}

#[test]
fn last_means_what_is_still_open_of_ones_own_session() {
    let world = World::new(
        "hooks:\n  pre-tool-use:\n    - {oracle: PermissionChecker, id: one, intensity: prompt, config: {dangerous_commands: [make clean]}}\n    - {oracle: PermissionChecker, id: two, intensity: prompt, config: {dangerous_commands: [make clean]}}\n",
    );
    call(&world, "make clean", "s1");
    assert_eq!(shown(&world, &["show", "--json"]).len(), 2);
    let said = world.ahp(&["respond", "last", "acknowledge"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.stdout.lines().count(), 2, "{said:?}");
    assert_eq!(
        shown(&world, &["show", "--json", "--unanswered"]),
        [Value::Null; 0]
    );
    call(&world, "make clean", "s2");
    call(&world, "make clean", "s3");
    let said = world.ahp(&["respond", "last", "acknowledge"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("several signals"), "{said:?}");
}

/// An aid asks for nothing, so that no other answer means it, however new it is.
#[test]
fn last_passes_over_aids_that_it_cannot_answer() {
    let world = World::new(
        "hooks:\n  pre-tool-use:\n    - {oracle: PermissionChecker, id: one, intensity: prompt, config: {dangerous_commands: [make clean]}}\n    - {oracle: PermissionChecker, id: two, intensity: aid, config: {dangerous_commands: [make all]}}\n",
    );
    call(&world, "make all", "s0");
    let said = world.ahp(&["respond", "last", "acknowledge"]);
    assert_eq!(said.code, 1, "{said:?}");
    call(&world, "make clean", "s1");
    call(&world, "make all", "s1");
    call(&world, "make all", "s2");
    let said = world.ahp(&["respond", "last", "acknowledge"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.stdout.lines().count(), 1, "{said:?}");
    let said = world.ahp(&["respond", "last", "suggestion_applied"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("several signals"), "{said:?}");
}

/// Records that were edited by hand are counted by no reader.
#[test]
fn what_was_edited_by_hand_is_in_no_answer_of_any_command() {
    let world = World::new(POLICY);
    let log = SignalLog::open(world.log_place(), &settings()).unwrap();
    log.append(blocked(1, "a"), at(0)).unwrap();
    log.append(blocked(2, "b"), at(1)).unwrap();
    let path = world.path(".ahp/signals.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[3] = lines[3].replace("2 of 3 done", "EDITED");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    for args in [
        &["show", "--json"][..],
        &["tail", "--json"],
        &["export"],
        &["export", "--raw"],
        &["export", "--format", "csv"],
        &["report", "-o", "-"],
    ] {
        let said = world.ahp(&[&["log"], args].concat());
        assert_eq!(said.code, 0, "{args:?}: {said:?}");
        assert!(!said.stdout.contains("EDITED"), "{args:?}");
        assert!(said.stdout.contains("checklist"), "{args:?}: {said:?}");
    }
    let stats = &shown(&world, &["stats", "--json"])[0];
    assert_eq!(
        (&stats["records"], &stats["bad_lines"]),
        (&json!(3), &json!(1))
    );
    let told = "1 line is not a record and was not counted";
    for args in [
        &["log", "stats"][..],
        &["log", "advise"],
        &["log", "show"],
        &["log", "show", "--json"],
        &["log", "tail"],
        &["log", "export"],
        &["log", "export", "--raw"],
    ] {
        let said = world.ahp(args);
        assert!(said.stderr.contains(told), "{said:?}");
    }
    let page = world.ahp(&["log", "report", "-o", "-"]).stdout;
    assert!(page.contains(told), "{page}");
    let said = world.ahp(&["respond", "00000000-0000-0000-0000-000000000002", "abort"]);
    assert!(said.stderr.contains("no signal has the id"), "{said:?}");
    let replayed = &world.ahp(&["replay", "--format", "json"]).json()[0];
    assert_eq!(replayed["bad_lines"], 1);
}
