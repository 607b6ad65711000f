//! `ahp ci`: no change moves the policy, or what it runs, out of its own way.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::ci_base::{asked, changed, commit_change};
use crate::world::{Ran, World, executable};

const LAYER: &str = ".ahp/hooks.yaml";
const GATE: &str = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, id: size, config: {max_files: 2, action: block}}]}\n";
const EMPTY: &str = "hooks: {}\n";
const TRUSTED: (&str, &str) = ("AHP_TRUST", "all");

fn tells(ran: &Ran, told: &str) -> bool {
    ran.code == 2 && ran.stdout.contains("policy-changed") && ran.stdout.contains(told)
}

#[test]
fn a_change_does_not_choose_which_folder_is_the_project() {
    let nested = "sub/.ahp/hooks.yaml";
    let added = changed(&[(LAYER, GATE), ("sub/a.txt", "x")], &[(nested, EMPTY)]);
    let ran = asked(&added, &["--work-dir", "sub"], &[]);
    assert!(tells(&ran, "would make `sub` the project"), "{ran:?}");
    assert!(ran.stdout.contains("files, at most 2"), "{ran:?}");

    let base = [(LAYER, EMPTY), (nested, GATE), ("sub/a.txt", "x")];
    let head = [(nested, ""), ("sub/1", "x"), ("sub/2", "x"), ("sub/3", "x")];
    let ran = asked(&changed(&base, &head), &["--work-dir", "sub"], &[]);
    assert!(tells(&ran, ".ahp/hooks.yaml"), "{ran:?}");
    assert!(ran.stdout.contains("3 files"), "{ran:?}");

    let gone = changed(&[(LAYER, GATE), ("sub/a.txt", "x")], &[(LAYER, "")]);
    fs::remove_dir_all(gone.path(".ahp")).unwrap();
    let ran = asked(&gone, &["--work-dir", "sub"], &[]);
    assert!(tells(&ran, ".ahp/hooks.yaml"), "{ran:?}");

    // Where there was no policy, that of the change is the first.
    let first = changed(
        &[("sub/a.txt", "x")],
        &[
            (nested, GATE),
            ("sub/1", "x"),
            ("sub/2", "x"),
            ("sub/3", "x"),
        ],
    );
    let ran = asked(&first, &["--work-dir", "sub"], &[]);
    assert!(
        ran.code == 2 && ran.stderr.contains("the base has no policy"),
        "{ran:?}"
    );
    // What has not moved is not told of.
    let same = changed(&[(LAYER, GATE), (nested, GATE)], &[]);
    let ran = asked(&same, &["--work-dir", "sub"], &[]);
    assert_eq!(
        (ran.code, ran.stdout.contains("policy-changed")),
        (0, false),
        "{ran:?}"
    );
}

#[test]
fn a_policy_behind_a_link_or_in_another_repository_is_no_pass() {
    let linked = World::new("");
    fs::remove_dir(linked.path(".ahp")).unwrap();
    linked.write("policy/hooks.yaml", GATE);
    symlink("policy", linked.path(".ahp")).unwrap();
    linked.git_init();
    linked.git(&["checkout", "-q", "-b", "feature"]);
    linked.commit("nothing");
    let ran = asked(&linked, &[], &[]);
    assert!(
        ran.code == 1 && ran.stderr.contains("`.ahp` is a link"),
        "{ran:?}"
    );

    let of_other = World::new("");
    of_other.write("a.txt", "x");
    of_other.git_init();
    let commit = of_other
        .command("git")
        .args(["rev-parse", "HEAD"])
        .output()
        .unwrap();
    let commit = String::from_utf8(commit.stdout).unwrap();
    let entry = format!("160000,{},.ahp", commit.trim());
    of_other.git(&["update-index", "--add", "--cacheinfo", &entry]);
    of_other.git(&["commit", "-q", "-m", "submodule"]);
    of_other.git(&["checkout", "-q", "-b", "feature"]);
    of_other.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    let ran = asked(&of_other, &[], &[]);
    assert!(
        ran.code == 1 && ran.stderr.contains("`.ahp` is a submodule"),
        "{ran:?}"
    );

    // A folder becomes a repository with a policy of its own.
    let outer = changed(&[(LAYER, GATE), ("sub/a.txt", "x")], &[("sub/a.txt", "")]);
    let git = |arguments: &[&str]| {
        let done = outer
            .command("git")
            .current_dir(outer.path("sub"))
            .args(arguments)
            .output();
        assert!(
            done.as_ref().unwrap().status.success(),
            "{arguments:?}: {done:?}"
        );
    };
    outer.write("sub/.ahp/hooks.yaml", EMPTY);
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    let author = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"];
    git(&[&author[..], &["commit", "-q", "-m", "own"]].concat());
    git(&["checkout", "-q", "-b", "feature"]);
    let ran = asked(&outer, &["--work-dir", "sub"], &[]);
    assert!(
        ran.code == 1 && ran.stderr.contains("a repository of its own now"),
        "{ran:?}"
    );
}

/// A HOOK.md hook that stops an issue.
fn hook_at(event: &str) -> String {
    format!("---\nname: gate\ndescription: Stops.\ntrigger: {event}\n---\n")
}

#[test]
fn a_hook_that_a_change_touches_is_not_run_and_stops_it() {
    const HOOK: &str = ".agents/hooks/gate/HOOK.md";
    const SCRIPT: &str = ".agents/hooks/gate/scripts/run.sh";
    let (front, later) = (hook_at("pre-issue-submit"), hook_at("post-issue-submit"));
    let stops = "#!/bin/sh\necho no >&2\nexit 2\n";
    let world = |head: &[(&str, &str)]| {
        let world = World::new(EMPTY);
        world.write(HOOK, &front);
        executable(&world.path(SCRIPT), stops);
        world.git_init();
        world.git(&["checkout", "-q", "-b", "feature"]);
        commit_change(&world, head);
        world
    };
    let ran = asked(&world(&[]), &[], &[TRUSTED]);
    assert!(
        ran.code == 2 && !ran.stdout.contains("policy-changed"),
        "{ran:?}"
    );
    let passes = "#!/bin/sh\ntouch ran\nexit 0\n";
    for head in [
        &[(SCRIPT, passes)][..],
        &[(HOOK, ""), (SCRIPT, "")],
        &[(HOOK, &*later)],
        &[(HOOK, "no front matter\n")],
        &[(".agents/hooks/gate/scripts/helper.sh", passes)],
    ] {
        let world = world(head);
        let ran = asked(&world, &[], &[TRUSTED]);
        assert!(tells(&ran, ".agents/hooks/gate"), "{head:?}: {ran:?}");
        assert!(!world.path("ran").exists(), "{head:?}: {ran:?}");
    }
    // One that the change brings along runs.
    let new = World::new(GATE);
    new.git_init();
    new.git(&["checkout", "-q", "-b", "feature"]);
    new.write(HOOK, &front);
    executable(&new.path(SCRIPT), passes);
    new.commit("hook");
    let ran = asked(&new, &[], &[TRUSTED]);
    assert!(ran.code == 0 && new.path("ran").exists(), "{ran:?}");
}

#[test]
fn a_program_that_the_policy_names_is_not_run_as_a_change_has_made_it() {
    const COMMAND: &str = "hooks: {pre-issue-submit: [{oracle: TestGate, id: gate, config: {command: 'sh tools/check.sh', exit_code_suffices: true}}]}\n";
    const FILE: &str = "hooks: {pre-issue-submit: [{oracle: CommandHooks, id: gate, on_error: allow, config: {file: hooks}}]}\n";
    const RULES: &str = "hooks: {pre-issue-submit: [{oracle: SecurityScanner, id: gate, config: {rules: [rules.json]}}]}\n";
    let handler = |command: &str| {
        format!(
            r#"{{"hooks": {{"pre-issue-submit": [{{"type": "command", "command": "{command}"}}]}}}}"#
        )
    };
    let script = handler("sh tools/check.sh");
    let (harmless, other) = ("touch ran\nexit 0\n", "touch ran\necho other\n");
    let rules = r#"{"rules": [{"id": "x", "regex": "never-there"}]}"#;
    let named = [
        ("tools/check.sh", harmless),
        ("hooks/gate.json", &*script),
        ("rules.json", rules),
    ];
    for (policy, head) in [
        (COMMAND, &[("tools/check.sh", other)][..]),
        (COMMAND, &[("tools/check.sh", "")]),
        (FILE, &[("tools/check.sh", other)]),
        (FILE, &[("hooks/gate.json", "{\"hooks\": {}}")]),
        (FILE, &[("hooks/gate.json", "")]),
        (
            RULES,
            &[(
                "rules.json",
                "{\"rules\": [{\"id\": \"x\", \"regex\": \"other\"}]}",
            )],
        ),
    ] {
        let base = [&named[..], &[(LAYER, policy)]].concat();
        let world = changed(&base, head);
        let ran = asked(&world, &[], &[TRUSTED]);
        assert!(tells(&ran, head[0].0), "{policy}: {head:?}: {ran:?}");
        assert!(!world.path("ran").exists(), "{policy}: {head:?}: {ran:?}");
        let world = changed(&base, &[]);
        let ran = asked(&world, &[], &[TRUSTED]);
        assert!(!ran.stdout.contains("policy-changed"), "{policy}: {ran:?}");
        assert_eq!(
            world.path("ran").exists(),
            policy != RULES,
            "{policy}: {ran:?}"
        );
        // Without trust nothing of it runs, touched or not.
        let ran = asked(&changed(&base, head), &[], &[]);
        assert_eq!(ran.code, 2, "{policy}: {ran:?}");
    }
    // What the change binds itself it may run.
    let head = [(LAYER, COMMAND), ("tools/check.sh", harmless)];
    let world = changed(&[(LAYER, EMPTY)], &head);
    let ran = asked(&world, &[], &[TRUSTED]);
    assert!(
        !ran.stdout.contains("was not run") && world.path("ran").exists(),
        "{ran:?}"
    );
}

#[test]
fn scripts_behind_a_path_or_a_link_speak_as_the_base_has_them() {
    let blocking = "fn evaluate(ctx) { block(\"3 files are no small change\", [\"Split it.\"]) }\n";
    let silent = "fn evaluate(ctx) { accept() }\n";
    let by_path = "hooks: {pre-issue-submit: [{oracle: policy/gate.rhai, id: size}]}\n";
    let by_name = "hooks: {pre-issue-submit: [{oracle: gate, id: size}]}\n";
    let path = "policy/gate.rhai";
    let named = changed(&[(LAYER, by_path), (path, blocking)], &[(path, silent)]);
    let linked = World::new(by_name);
    linked.write(path, blocking);
    symlink("../policy", linked.path(".ahp/oracles")).unwrap();
    linked.git_init();
    linked.git(&["checkout", "-q", "-b", "feature"]);
    linked.write(path, silent);
    linked.commit("silent");
    for world in [named, linked] {
        let ran = asked(&world, &[], &[]);
        assert!(tells(&ran, "3 files are no small change"), "{ran:?}");
    }
}

#[test]
fn a_changed_policy_is_a_signal_that_layers_make_stronger() {
    let strict = |to: &str| format!("settings: {{policy_changed: {to}}}\n{EMPTY}");
    let comment = |text: &str| format!("# {text}\n{EMPTY}");
    let told = changed(&[(LAYER, EMPTY)], &[(LAYER, &comment("x"))]);
    let files = [
        "--report",
        "junit=out.xml",
        "--report",
        "sarif=out.sarif",
        "--report",
        "github",
    ];
    let ran = asked(&told, &files, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout
            .contains("::warning file=.ahp/hooks.yaml,title=policy-changed::"),
        "{ran:?}"
    );
    assert!(
        told.read("out.xml").contains("policy-changed"),
        "{}",
        told.read("out.xml")
    );
    let sarif: Value = serde_json::from_str(&told.read("out.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "policy-changed");
    assert!(
        told.log()
            .iter()
            .any(|record| record.to_string().contains("policy-changed"))
    );

    // The base's layer holds, and the change does not lower it.
    for strength in ["ask", "block"] {
        let head = strict("prompt");
        let ran = asked(
            &changed(&[(LAYER, &strict(strength))], &[(LAYER, &head)]),
            &[],
            &[],
        );
        assert!(tells(&ran, LAYER), "{strength}: {ran:?}");
        let same = changed(&[(LAYER, &strict(strength))], &[]);
        assert_eq!(asked(&same, &[], &[]).code, 0);
    }
    // So does the user's, whatever the base says.
    let world = changed(&[(LAYER, &strict("prompt"))], &[(LAYER, &comment("x"))]);
    fs::create_dir_all(world.home().join(".ahp")).unwrap();
    fs::write(world.home().join(".ahp/hooks.yaml"), strict("block")).unwrap();
    let ran = asked(&world, &["--report", "junit=out.xml"], &[]);
    assert!(tells(&ran, LAYER), "{ran:?}");
    assert!(
        world.read("out.xml").contains("<failure"),
        "{}",
        world.read("out.xml")
    );
}

#[test]
fn nothing_of_a_change_is_a_command_of_the_ci_system() {
    let world = changed(&[(LAYER, GATE)], &[]);
    for name in [
        "a\n::add-mask::secret",
        "b\n  ::stop-commands::x",
        "c\r::error::x",
        "d ##[add-mask]x",
        "e\u{2028}::error::x",
        "section_start:1:x\r\u{1b}[0Kx",
    ] {
        fs::write(world.path(name), "x").unwrap();
    }
    world.commit("names");
    for variables in [&[("GITHUB_ACTIONS", "true")][..], &[("GITLAB_CI", "true")]] {
        for format in ["human", "json"] {
            let ran = asked(&world, &["--format", format], variables);
            assert_eq!(ran.code, 2, "{ran:?}");
            let all = format!("{}\n{}", ran.stdout, ran.stderr);
            assert!(all.contains("add-mask"), "{all}");
            for line in all.split(['\n', '\r', '\u{2028}']) {
                let is_ours = line.starts_with("::error file=");
                assert!(is_ours || !line.trim_start().starts_with("::"), "{line}");
                assert!(!line.contains("##["), "{line}");
            }
            assert!(!all.contains(['\r', '\u{1b}']), "{all}");
        }
    }
}
