//! `ahp exec`: a real command between its hooks.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::world::World;

const POLICY: &str = "
hooks:
  pre-issue-submit:
    - oracle: ChecklistValidator
  post-issue-submit:
    - oracle: ContextLoader
";

const OPEN: &str = "---\nid: FEAT-0001\ntype: feature\nstatus: open\nstage: doing\ntitle: T\n---\n\n- [x] one\n- [ ] two\n";

/// A project with an issue and a `monoco` that tells what it was called with.
fn world() -> World {
    let world = World::new(POLICY);
    world.git_init();
    world.write("Issues/Features/open/FEAT-0001-t.md", OPEN);
    world.write(
        "bin/monoco",
        "#!/bin/sh\necho \"monoco $*\"\necho \"$@\" >> called\nexit ${MONOCO_EXIT:-0}\n",
    );
    fs::set_permissions(world.path("bin/monoco"), fs::Permissions::from_mode(0o755)).unwrap();
    world
}

fn exec(world: &World, arguments: &[&str], exit: &str) -> (i32, String, String) {
    let path = format!(
        "{}:/usr/local/bin:/usr/bin:/bin",
        world.path("bin").display()
    );
    let output = world
        .ahp_command()
        .env("PATH", path)
        .env("MONOCO_EXIT", exit)
        .arg("exec")
        .arg("--")
        .args(arguments)
        .output()
        .unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_blocked_command_is_not_started() {
    let world = world();
    let (code, stdout, stderr) = exec(&world, &["monoco", "issue", "submit", "FEAT-0001"], "0");
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains("two"), "{stderr}");
    assert!(!world.path("called").exists());
}

#[test]
fn a_command_that_passes_keeps_its_output_and_exit_code_and_has_an_after() {
    let world = world();
    world.write(
        "Issues/Features/open/FEAT-0001-t.md",
        OPEN.replace("[ ]", "[x]"),
    );
    let (code, stdout, stderr) = exec(&world, &["monoco", "issue", "submit", "FEAT-0001"], "0");
    assert_eq!(
        (code, stdout.as_str()),
        (0, "monoco issue submit FEAT-0001\n"),
        "{stderr}"
    );
    let hooks: Vec<_> = world
        .log()
        .iter()
        .filter(|r| r["kind"] == "evaluation")
        .map(|r| r["hook"].clone())
        .collect();
    assert_eq!(hooks, ["pre-issue-submit", "post-issue-submit"]);

    let (code, stdout, _) = exec(&world, &["monoco", "issue", "submit", "FEAT-0001"], "7");
    assert_eq!(
        (code, stdout.as_str()),
        (7, "monoco issue submit FEAT-0001\n")
    );
    let after = world
        .log()
        .iter()
        .filter(|r| r["hook"] == "post-issue-submit" && r["kind"] == "evaluation")
        .count();
    assert_eq!(after, 1, "what failed has no after");
}

#[test]
fn the_issue_command_is_found_in_any_wrapper() {
    for wrapped in [
        &["sh", "-c", "cd . && monoco issue submit FEAT-0001"][..],
        &["env", "A=1", "monoco", "issue", "submit", "FEAT-0001"],
        &["bash", "-c", "true; x=$(monoco issue submit FEAT-0001)"],
        &[
            "nice",
            "timeout",
            "5",
            "monoco",
            "issue",
            "submit",
            "FEAT-0001",
        ],
    ] {
        let world = world();
        let (code, _, stderr) = exec(&world, wrapped, "0");
        assert_eq!(code, 2, "{wrapped:?}: {stderr}");
        assert!(!world.path("called").exists(), "{wrapped:?}");
    }
}

#[test]
fn flags_that_skip_hooks_are_answered_by_the_setting() {
    for (setting, code) in [("block", 2), ("prompt", 0), ("allow", 0)] {
        let world = world();
        world.write(
            ".ahp/hooks.yaml",
            format!("settings: {{bypass: {setting}}}\nhooks: {{}}\n"),
        );
        for flag in ["--no-hooks", "--force"] {
            let (got, _, stderr) = exec(
                &world,
                &["monoco", "issue", "submit", "FEAT-0001", flag],
                "0",
            );
            assert_eq!(got, code, "{setting} {flag}: {stderr}");
            assert!(stderr.contains("hooks-bypassed"), "{stderr}");
        }
    }
}

#[test]
fn other_commands_pass_through_untouched() {
    let world = world();
    let (code, stdout, stderr) = exec(
        &world,
        &["sh", "-c", "echo monoco issue submit FEAT-0001; exit 3"],
        "0",
    );
    assert_eq!(
        (code, stdout.as_str(), stderr.as_str()),
        (3, "monoco issue submit FEAT-0001\n", "")
    );
    let (code, _, stderr) = exec(&world, &["no-such-program"], "0");
    assert_eq!(code, 1);
    assert!(
        stderr.contains("cannot start `no-such-program`"),
        "{stderr}"
    );
}

#[test]
fn a_command_that_the_policy_changes_is_run_as_changed_or_not_at_all() {
    for (target, updated, code, ran) in [
        ("tool.input.command", r#""echo safe; exit 3""#, 3, "safe\n"),
        ("/command", r#"["echo", "sa  fe"]"#, 0, "sa  fe\n"),
        // Nobody can tell what that would run.
        ("tool.input.command", "7", 2, ""),
        ("tool.input.timeout", "7", 1, ""),
    ] {
        let world = World::new("hooks: {pre-tool-use: [{oracle: say}]}");
        world.write(
            ".ahp/oracles/say.rhai",
            format!(
                "fn evaluate(ctx) {{ control([#{{target: \"{target}\", original: (), updated: {updated}, reason: \"r\"}}]) }}\n"
            ),
        );
        world.git_init();
        world.ahp(&["trust", "-y"]);
        let git = ["git", "commit", "--allow-empty", "-m", "orig"];
        let (got, stdout, stderr) = exec(&world, &git, "0");
        assert_eq!((got, stdout.as_str()), (code, ran), "{updated}: {stderr}");
        assert_eq!(stderr.contains("not run"), code == 1, "{stderr}");
        let commits = world.command("git").args(["log", "--format=%s"]).output();
        assert_eq!(commits.unwrap().stdout, b"begin\n");
    }
}

#[test]
fn what_a_changed_command_submits_has_its_own_hooks() {
    let world = world();
    world.write(
        ".ahp/oracles/say.rhai",
        r#"fn evaluate(ctx) { control([#{target: "tool.input.command", original: (), updated: "monoco issue submit FEAT-0001", reason: "r"}]) }"#,
    );
    world.write(
        ".ahp/hooks.yaml",
        POLICY.to_owned() + "  pre-tool-use:\n    - oracle: say\n",
    );
    world.ahp(&["trust", "-y"]);
    let (code, _, stderr) = exec(&world, &["git", "commit", "-m", "orig"], "0");
    assert_eq!(code, 2, "{stderr}");
    assert!(!world.path("called").exists());
}

#[test]
fn any_command_is_judged_as_a_call_of_the_shell() {
    let world = World::new("extends: [ahp:standard]\n");
    world.write("keep/made", "");
    for command in [
        &["rm", "-rf", ".ahp"][..],
        &["sh", "-c", "cd keep && rm -rf ../.ahp"],
        &["/usr/bin/env", "git", "push", "--force", "nowhere", "main"],
    ] {
        let (code, _, stderr) = exec(&world, command, "0");
        assert_eq!(code, 2, "{command:?}: {stderr}");
    }
    assert!(world.path(".ahp/hooks.yaml").exists());
    let (code, _, stderr) = exec(&world, &["ls", "keep"], "0");
    assert_eq!(code, 0, "{stderr}");
    let hooks = world
        .log()
        .into_iter()
        .filter(|r| r["kind"] == "evaluation");
    let hooks: Vec<_> = hooks.map(|r| r["hook"].clone()).collect();
    assert!(hooks.contains(&"post-tool-use".into()), "{hooks:?}");
}
