//! The policy of the project in which a session began stays in force, whatever its host tells later.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::serve::Http;
use crate::world::{Ran, World, fed};

const GATE: &str =
    "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {dangerous_commands: [drop-it]}}]}";

/// A call of the shell in a directory, as most hosts tell it.
fn call(session: &str, dir: &Path, command: &str) -> String {
    json!({
        "hook_event_name": "PreToolUse", "session_id": session, "cwd": dir,
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t",
    })
    .to_string()
}

/// Tells a hook that was started in a directory of a call in the same.
fn told(world: &World, host: &str, dir: &Path, event: &str) -> Ran {
    let mut ahp = world.ahp_command();
    ahp.args(["hook", "--host", host]).current_dir(dir);
    fed(&mut ahp, event.as_bytes())
}

fn is_denied(world: &World, (host, session): (&str, &str), dir: &Path, command: &str) -> bool {
    let ran = told(world, host, dir, &call(session, dir, command));
    ran.code == 2 || ran.stdout.contains("\"deny\"") || ran.stdout.contains("\"block\"")
}

fn kept(world: &World) -> usize {
    fs::read_dir(world.home().join(".local/state/ahp/first")).map_or(0, Iterator::count)
}

#[test]
fn it_stays_in_force_where_both_directories_leave_it() {
    let world = World::new(GATE);
    world.write("nested/.ahp/hooks.yaml", "hooks: {}");
    fs::create_dir(world.path("nested/.git")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    for host in ["codex", "factory-droid", "claude-code"] {
        let of = (host, "s");
        assert!(!is_denied(&world, of, &world.root(), "ls"), "{host}");
        for dir in [elsewhere.path(), &world.home(), &world.path("nested")] {
            let shown = dir.display();
            assert!(is_denied(&world, of, dir, "drop-it all"), "{host} {shown}");
            let own = format!("rm -rf {}", world.path(".ahp").display());
            assert!(is_denied(&world, of, dir, &own), "{host} {shown}");
            assert!(!is_denied(&world, of, dir, "ls"), "{host} {shown}");
            // Another session did not begin there, and neither did that of another host.
            let other = (host, "other");
            assert!(
                !is_denied(&world, other, dir, "drop-it all"),
                "{host} {shown}"
            );
        }
    }
    assert_eq!(kept(&world), 6);
    // What other places say is added.
    let stricter = World::new(
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {dangerous_commands: [lose-it]}}]}",
    );
    for command in ["drop-it all", "lose-it all"] {
        assert!(is_denied(&world, ("codex", "s"), &stricter.root(), command));
    }
    // A project that is gone governs nothing.
    fs::rename(world.root(), world.home().join("moved")).unwrap();
    assert!(!is_denied(
        &world,
        ("codex", "s"),
        elsewhere.path(),
        "drop-it all"
    ));
}

#[test]
fn nothing_is_kept_of_a_session_whose_host_tells_its_project_or_that_no_project_governs() {
    let world = World::new(GATE);
    for (host, variable) in [
        ("claude-code", "CLAUDE_PROJECT_DIR"),
        ("gemini-cli", "GEMINI_PROJECT_DIR"),
    ] {
        let mut ahp = world.ahp_command();
        ahp.args(["hook", "--host", host])
            .env(variable, world.root());
        fed(&mut ahp, call("s", &world.root(), "ls").as_bytes());
    }
    assert!(!is_denied(
        &world,
        ("codex", "s"),
        &world.home(),
        "drop-it all"
    ));
    assert_eq!(kept(&world), 0);
    // A variable of the host around it tells nothing of the session of another host.
    let around = World::new(GATE);
    for (dir, command) in [(world.root(), "ls"), (world.home(), "drop-it all")] {
        let mut ahp = world.ahp_command();
        ahp.args(["hook", "--host", "codex"]).current_dir(&dir);
        ahp.env("CLAUDE_PROJECT_DIR", around.root());
        let ran = fed(&mut ahp, call("s", &dir, command).as_bytes());
        assert_eq!(ran.stdout.contains("\"deny\""), command != "ls", "{ran:?}");
        fs::remove_dir_all(around.root().join(".ahp")).ok();
    }
}

#[test]
fn what_cannot_be_read_is_told_and_nothing_that_has_not_happened_may_happen() {
    let world = World::new(GATE);
    let root = world.root();
    let (of, folder) = (("codex", "s"), world.home().join(".local/state/ahp/first"));
    assert!(!is_denied(&world, of, &root, "ls"));
    let file = fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let spoil: [&dyn Fn(); 4] = [
        &|| fs::write(&file, "").unwrap(),
        &|| fs::write(&file, "not/absolute").unwrap(),
        &|| std::os::unix::fs::symlink(world.path("link"), &file).unwrap(),
        &|| fs::create_dir(&file).unwrap(),
    ];
    for spoil in spoil {
        fs::remove_file(&file).unwrap();
        spoil();
        let ran = told(&world, "codex", &root, &call("s", &root, "ls"));
        let shown = file.display().to_string();
        assert!(
            ran.stdout.contains("\"deny\"") && ran.stdout.contains(&shown),
            "{ran:?}"
        );
        // What has happened is judged, and an agent may stop.
        for name in ["PostToolUse", "Stop"] {
            let event = call("s", &root, "ls").replace("PreToolUse", name);
            let ran = told(&world, "codex", &root, &event);
            assert!(
                ran.code == 0 && !ran.stdout.contains("\"deny\""),
                "{name} {ran:?}"
            );
        }
        if file.is_dir() && !file.is_symlink() {
            fs::remove_dir(&file).unwrap();
            fs::write(&file, "").unwrap();
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "no folder").unwrap();
    assert!(is_denied(&world, of, &root, "ls"), "it cannot be kept");
}

#[test]
fn a_home_in_which_nothing_can_be_kept_judges_as_before() {
    let world = World::new(GATE);
    for (command, denied) in [("ls", false), ("drop-it all", true)] {
        let mut ahp = world.ahp_command();
        ahp.args(["hook", "--host", "codex"])
            .env("XDG_STATE_HOME", "/dev/null");
        let ran = fed(&mut ahp, call("s", &world.root(), command).as_bytes());
        assert_eq!(ran.stdout.contains("\"deny\""), denied, "{ran:?}");
    }
}

#[test]
fn a_judge_that_listens_answers_alike() {
    let world = World::new(GATE);
    let http = Http::start(&world);
    let elsewhere = tempfile::tempdir().unwrap();
    for (dir, command, denied) in [
        (world.root(), "ls", false),
        (elsewhere.path().to_owned(), "drop-it all", true),
        (elsewhere.path().to_owned(), "ls", false),
    ] {
        let (status, body) = http.post("/hook/claude-code", &call("s", &dir, command));
        assert_eq!((status, body.contains("\"deny\"")), (200, denied), "{body}");
        // And so does a hook that asks it.
        let asked = ("factory-droid", "s");
        assert_eq!(is_denied(&world, asked, &dir, command), denied);
    }
}
