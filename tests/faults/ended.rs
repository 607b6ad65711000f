//! What ends `ahp` ends the programs that it runs; and programs that call `ahp` come to an end.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::world::{World, write};

/// Waits until something holds.
fn within(seconds: u64, holds: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(seconds);
    while !holds() {
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// The numbers that a hook has written, one a line.
fn numbers(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Whether a process runs; one that has ended may wait for ever to be asked for its code.
fn is_running(world: &World, pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    if stat.is_ok_and(|stat| stat.contains(") Z ")) {
        return false;
    }
    let asked = world
        .command("kill")
        .args(["-0", pid])
        .stderr(Stdio::null())
        .status();
    asked.unwrap().success()
}

#[test]
fn a_signal_that_ends_ahp_ends_its_programs() {
    for (signal, script) in [
        ("TERM", "sleep 61 & echo $! >> pids; echo $$ >> pids; wait"),
        ("INT", "sleep 62 & echo $! >> pids; echo $$ >> pids; wait"),
        ("HUP", "sleep 63 & echo $! >> pids; echo $$ >> pids; wait"),
        (
            "TERM",
            "trap '' TERM; sleep 64 & echo $! >> pids; echo $$ >> pids; wait",
        ),
    ] {
        let world = World::new("");
        let hooks = world.home().join(".config/agents/hooks");
        let fields = "trigger: PreToolUse\ntimeout: 50000";
        World::write_hook(&hooks, "sleeps", fields, script);
        let mut ahp = world.ahp_command();
        ahp.args(["hook", "--host", "claude-code"]);
        let event = format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"t","cwd":"{}","tool_name":"Bash","tool_input":{{"command":"ls"}}}}"#,
            world.root().display()
        );
        write(&world.path("event.json"), event);
        ahp.stdin(fs::File::open(world.path("event.json")).unwrap());
        let mut ahp = ahp
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let file = world.path("pids");
        assert!(within(30, || numbers(&file).len() == 2), "{signal}");
        let pids = numbers(&file);
        let told = world
            .command("kill")
            .args(["-s", signal, &ahp.id().to_string()])
            .status();
        assert!(told.unwrap().success());
        let ended = ahp.wait().unwrap();
        assert_eq!(
            ended.code(),
            None,
            "{signal}: a host sees a signal, and no answer"
        );
        let all_ended = || !pids.iter().any(|pid| is_running(&world, pid));
        assert!(within(20, all_ended), "{signal} {script}: {pids:?}");
    }
}

#[test]
fn hooks_that_call_ahp_in_a_clean_environment_come_to_an_end() {
    if !Path::new("/proc/self/stat").exists() {
        return;
    }
    for (wrappers, most) in [(1, 4), (2, 30)] {
        let world = World::new("");
        let hooks = world.home().join(".config/agents/hooks");
        let ahp = env!("CARGO_BIN_EXE_ahp");
        let script = format!(
            "echo >> {}\nexec env -i PATH=\"$PATH\" HOME=\"$HOME\" {ahp} hook --host claude-code",
            world.path("runs").display()
        );
        // What it reads has the event of Claude Code in it.
        let event = format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"t","cwd":"{}","tool_name":"Bash","tool_input":{{"command":"ls"}}}}"#,
            world.root().display()
        );
        let script = format!("cat > /dev/null\n{script} <<'EOF'\n{event}\nEOF");
        for n in 0..wrappers {
            let fields = "trigger: PreToolUse\ntimeout: 50000";
            World::write_hook(&hooks, &format!("wraps-{n}"), fields, &script);
        }
        world.ahp_fed(&["hook", "--host", "claude-code"], event.as_bytes());
        let runs = numbers(&world.path("runs")).len();
        assert!((1..=most).contains(&runs), "{wrappers}: {runs} processes");
    }
}
