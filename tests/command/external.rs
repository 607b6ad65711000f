//! `ahp hook-md` and `ahp trust`: what a person sees of the programs that judge.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::world::World;

const HOOK: &str = "---\nname: guard\ndescription: It guards\ntrigger: before_tool\n---\n";
const EVENT: &str = r#"{"trigger": "pre-tool-use", "tool": {"name": "Bash", "input": {}}}"#;

/// A project with one hook that blocks.
fn cloned() -> World {
    let world = World::new("");
    world.write(".agents/hooks/guard/HOOK.md", HOOK);
    world.write(".agents/hooks/guard/scripts/run.sh", "echo no >&2; exit 2");
    world
}

fn decision(world: &World) -> String {
    let ran = world.ahp_fed(
        &["run", "--event", "-", "--format", "json"],
        EVENT.as_bytes(),
    );
    ran.json()[0]["decision"].as_str().unwrap().to_owned()
}

#[test]
fn a_cloned_project_runs_nothing_before_ahp_trust() {
    let world = cloned();
    assert_eq!(decision(&world), "ask");
    let shown = world.ahp(&["trust", "--show"]);
    assert!(
        shown
            .stdout
            .contains("new      .agents/hooks/guard/scripts/run.sh"),
        "{}",
        shown.stdout
    );
    assert_eq!(decision(&world), "ask");
    let granted = world.ahp(&["trust", "-y"]);
    assert_eq!(granted.code, 0);
    assert!(
        granted.stdout.contains("is trusted: 2 files"),
        "{}",
        granted.stdout
    );
    assert_eq!(decision(&world), "block");
    assert!(
        world
            .ahp(&["trust", "-y"])
            .stdout
            .contains("is trusted as it is")
    );

    world.write(
        ".agents/hooks/guard/scripts/run.sh",
        "echo never >&2; exit 2",
    );
    assert_eq!(decision(&world), "ask");
    let diff = world.ahp(&["trust", "--diff"]).stdout;
    assert!(
        diff.contains("-echo no >&2") && diff.contains("+echo never >&2"),
        "{diff}"
    );
    assert_eq!(decision(&world), "ask");
    let again = world.ahp(&["trust", "-y"]).stdout;
    assert!(again.contains("+echo never >&2"), "{again}");
    assert_eq!(decision(&world), "block");

    assert!(
        world
            .ahp(&["trust", "--revoke"])
            .stdout
            .contains("no longer trusted")
    );
    assert_eq!(decision(&world), "ask");
    assert!(!world.root().join(".ahp/trust").exists());
}

#[test]
fn machines_without_anybody_to_ask_trust_all() {
    let world = cloned();
    let output = world
        .ahp_command()
        .args(["run", "pre-tool-use", "--tool", "Bash", "--input", "{}"])
        .env("AHP_TRUST", "all")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_command_of_the_projects_policy_needs_trust_and_of_the_users_none() {
    let policy =
        "hooks: {pre-issue-submit: [{oracle: TestGate, config: {command: 'touch ran; exit 1'}}]}\n";
    let world = World::new(policy);
    world.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-1"]);
    assert!(!world.path("ran").exists());
    world.ahp(&["trust", "-y"]);
    world.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-1"]);
    assert!(world.path("ran").exists());

    let world = World::new("");
    fs::create_dir_all(world.home().join(".ahp")).unwrap();
    fs::write(world.home().join(".ahp/hooks.yaml"), policy).unwrap();
    world.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-1"]);
    assert!(world.path("ran").exists());
}

/// A person's own policy, and a clone that nobody trusts.
fn clone_judged_by(policy: &str) -> World {
    let world = World::new("");
    crate::world::write(&world.home().join(".ahp/hooks.yaml"), policy);
    fs::remove_dir(world.path(".ahp")).unwrap();
    world
}

fn put_program(world: &World, path: &str) {
    let ran = world.path("ran");
    world.write(
        path,
        format!("#!/bin/sh\necho {path} >> {}\n", ran.display()),
    );
    let program = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.path(path), program).unwrap();
}

#[test]
fn programs_of_a_clone_are_not_started_for_its_users_policy_before_ahp_trust() {
    let python = ("test_a.py", "def test_a(): pass\n");
    let make = ("Makefile", "test:\n\t./own.sh\n");
    let (javascript, eslint) = (("a.js", "1\n"), (".eslintrc.json", "{}\n"));
    let (venv, own) = (".venv/bin/python", "own.sh");
    for (oracle, config, files, program) in [
        ("TestGate", "", &[python][..], venv),
        ("TestGate", "", &[make], own),
        ("TestGate", "", &[("pom.xml", "<project/>")], "mvnw"),
        ("TestGate", "", &[("build.gradle", "\n")], "gradlew"),
        ("TestGate", "command: ./own.sh", &[], own),
        ("TestGate", "command: make test", &[make], own),
        ("TestGate", "command: .venv/bin/python -m pytest", &[], venv),
        (
            "LintChecker",
            "",
            &[eslint, javascript],
            "node_modules/.bin/eslint",
        ),
        (
            "LintChecker",
            "linters: [ruff]",
            &[python],
            ".venv/bin/ruff",
        ),
        (
            "LintChecker",
            "linters: [prettier], auto_fix: true",
            &[javascript],
            "node_modules/.bin/prettier",
        ),
        (
            "DependencyChecker",
            "",
            &[("requirements.txt", "x==1\n")],
            venv,
        ),
        ("SecurityScanner", "scanners: [./own.sh]", &[python], own),
        ("CompletionVerifier", "", &[python], venv),
    ] {
        let binding =
            format!("oracle: {oracle}, timeout: 10s, intensity: block, config: {{{config}}}");
        let world = clone_judged_by(&format!("hooks: {{pre-issue-submit: [{{{binding}}}]}}\n"));
        let item =
            "  - {id: c1, item: It runs, checked: true, verification: \"test_pass: test_a\"}\n";
        let issue = format!("---\nid: FEAT-1\ntitle: T\nchecklist:\n{item}---\n");
        world.write("Issues/FEAT-1.md", issue);
        world.write(".gitignore", "node_modules\n.venv\nran\n");
        world.git_init();
        world.git(&["checkout", "-q", "-b", "FEAT-1"]);
        for (file, text) in files {
            world.write(file, text);
        }
        put_program(&world, program);
        let submit = || {
            let ran = world.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-1"]);
            (ran.code, format!("{}{}", ran.stdout, ran.stderr))
        };
        let at = format!("{oracle} {config} {program}");
        let (code, said) = submit();
        assert!(!world.path("ran").exists(), "{at}: {said}");
        let is_told = said.contains("not-trusted") && said.contains("ahp trust");
        assert!(code == 2 && is_told, "{at}: {code} {said}");
        assert_eq!(world.ahp(&["trust", "-y"]).code, 0);
        let (_, said) = submit();
        assert!(world.path("ran").exists(), "{at}: {said}");
        assert!(!said.contains("not-trusted"), "{at}: {said}");
    }
}

#[test]
fn no_program_is_found_in_a_clone_by_its_name_before_ahp_trust() {
    let policy = "hooks: {pre-issue-submit: [{oracle: LintChecker, config: {linters: [ruff]}}]}\n";
    let world = clone_judged_by(policy);
    world.write("a.py", "1\n");
    world.git_init();
    world.write("a.py", "2\n");
    for program in ["bin/git", "bin/ruff", "bin/sh"] {
        put_program(&world, program);
    }
    let path = std::env::var_os("PATH").unwrap();
    let path = path.to_str().unwrap();
    for entry in ["bin", "./bin", world.path("bin").to_str().unwrap()] {
        let ran = world
            .ahp_command()
            .args(["run", "pre-issue-submit", "--issue", "FEAT-1"])
            .env("PATH", format!("{entry}:{path}"))
            .output()
            .unwrap();
        assert!(!world.path("ran").exists(), "{entry}: {ran:?}");
    }
}

#[test]
fn a_command_of_an_issue_needs_trust_whoever_bound_its_oracle() {
    let world = World::new("");
    fs::create_dir_all(world.home().join(".ahp")).unwrap();
    let policy = "hooks: {pre-issue-submit: [{oracle: CompletionVerifier}]}\n";
    fs::write(world.home().join(".ahp/hooks.yaml"), policy).unwrap();
    let issue = |more: &str| {
        let front = "---\nid: FEAT-1\ntitle: T\nchecklist:\n";
        let item =
            "  - {id: c1, item: It runs, checked: true, verification: \"custom: touch ran\"}\n";
        world.write("Issues/FEAT-1.md", format!("{front}{item}{more}---\n"));
    };
    let submit = || {
        let ran = world.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-1"]);
        format!("{}{}", ran.stdout, ran.stderr)
    };
    issue("");
    let said = submit();
    assert!(!world.path("ran").exists());
    assert!(
        said.contains("custom: touch ran")
            && said.contains("Issues/FEAT-1.md:")
            && said.contains("ahp trust"),
        "{said}"
    );
    // What can be told without running anything is told first.
    issue(
        "  - {id: c2, item: It is there, checked: true, verification: \"file_exists: none.txt\"}\n",
    );
    let said = submit();
    assert!(
        said.contains("there is no none.txt") && !world.path("ran").exists(),
        "{said}"
    );
    // The command itself is shown, and not only the name under which it is trusted.
    let shown = |words: &[&str]| world.ahp(&[&["trust"], words].concat()).stdout;
    let line = |state: &str| format!("{state:<8} the command of an issue: touch ran\n");
    let untrusted = shown(&["--show"]);
    assert!(untrusted.contains(&line("new")), "{untrusted}");
    let granted = shown(&["-y"]);
    assert!(granted.contains(&line("new")), "{granted}");
    let trusted = shown(&["--show"]);
    assert!(trusted.contains(&line("trusted")), "{trusted}");
    let as_json = shown(&["--show", "--format", "json"]);
    assert!(as_json.contains("\"command\":\"touch ran\""), "{as_json}");
    submit();
    assert!(world.path("ran").exists());
}

#[test]
fn hooks_are_made_listed_and_checked() {
    let world = World::new("");
    assert!(world.ahp(&["hook-md", "list"]).stdout.contains("no hooks"));
    assert_eq!(world.ahp(&["hook-md", "new", "no-rm"]).code, 0);
    assert_eq!(world.ahp(&["hook-md", "new", "no-rm"]).code, 1);
    let bad = world.ahp(&["hook-md", "new", "No Rm"]);
    assert!(bad.stderr.contains("must be lower case"), "{}", bad.stderr);
    assert_eq!(
        world
            .ahp(&["hook-md", "validate", ".agents/hooks/no-rm"])
            .code,
        0
    );
    assert_eq!(
        world
            .ahp(&[
                "hook-md",
                "new",
                "at-end",
                "--trigger",
                "before_stop",
                "--user"
            ])
            .code,
        0
    );

    world.write(
        ".agents/hooks/broken/HOOK.md",
        HOOK.replace("name: guard", "nam: broken"),
    );
    let listed = world.ahp(&["hook-md", "list"]).stdout;
    for row in ["no-rm", "at-end", "not trusted", "ready", "broken"] {
        assert!(listed.contains(row), "{row}: {listed}");
    }
    let json = world.ahp(&["hook-md", "list", "--format", "json"]).json();
    assert_eq!(json.len(), 3);

    let checked = world.ahp(&["hook-md", "validate", ".agents/hooks"]);
    assert_eq!(checked.code, 1);
    for says in [
        "the field `name` is missing",
        "unknown field `nam`",
        "did you mean `name`?",
        "no entry point",
    ] {
        assert!(checked.stderr.contains(says), "{says}: {}", checked.stderr);
    }
    assert!(
        checked.stdout.contains("1 of 2 hooks is not valid"),
        "{}",
        checked.stdout
    );
    assert_eq!(world.ahp(&["hook-md", "validate", "nowhere"]).code, 1);

    // What stands behind the front matter is words for people, in whatever encoding.
    let file = ".agents/hooks/no-rm/HOOK.md";
    let text = world.read(file);
    world.write(file, [text.as_bytes(), b"caf\xe9\n"].concat());
    let validate = ["hook-md", "validate", ".agents/hooks/no-rm"];
    assert_eq!(world.ahp(&validate).code, 0);
    world.write(file, [b"---\nname: caf\xe9\n", text.as_bytes()].concat());
    let garbled = world.ahp(&validate);
    assert_eq!(garbled.code, 1);
    assert!(garbled.stderr.contains("is not UTF-8 text"), "{garbled:?}");
}

#[test]
fn debug_lines_tell_of_each_hook() {
    let world = cloned();
    let lines = |command: &mut std::process::Command| {
        let output = command.env("AHP_TRUST", "all").output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let call = ["run", "pre-tool-use", "--tool", "Bash", "--input", "{}"];
    let by_flag = lines(world.ahp_command().arg("--debug").args(call));
    let by_variable = lines(world.ahp_command().args(call).env("AHP_DEBUG", "1"));
    for said in [by_flag, by_variable] {
        assert!(
            said.contains("[HOOK DEBUG] [SYNC] Starting hook 'guard' for event 'before_tool'"),
            "{said}"
        );
        assert!(
            said.contains("ms: blocked=True\n[HOOK DEBUG] Reason: no"),
            "{said}"
        );
    }
    assert_eq!(lines(world.ahp_command().args(call)), "");
}

#[test]
fn a_binding_takes_one_hook_out_of_the_line() {
    let world = cloned();
    world.ahp(&["trust", "-y"]);
    world.write(
        ".ahp/hooks.yaml",
        "hooks: {pre-tool-use: [{hook: guard, enabled: false}]}",
    );
    assert_eq!(decision(&world), "none");
    world.write(
        ".ahp/hooks.yaml",
        "hooks: {pre-tool-use: [{hook: guard, intensity: prompt}]}",
    );
    assert_eq!(decision(&world), "allow");
    world.write(".ahp/hooks.yaml", "hooks: {pre-tool-use: [{hook: gard}]}");
    let checked = world.ahp(&["check"]);
    assert_eq!(checked.code, 1);
    assert!(
        checked.stdout.contains("did you mean `guard`?"),
        "{}",
        checked.stdout
    );
    world.write(".ahp/hooks.yaml", "settings: {agent_hooks: false}");
    // They ran when the project was approved.
    assert_eq!(decision(&world), "block");
    world.ahp(&["trust", "-y"]);
    assert_eq!(decision(&world), "none");
}
