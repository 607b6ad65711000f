//! `ahp ci`: a change is judged by the policy of the branch that it goes to, by real repositories.

use std::fs;

use serde_json::Value;

use crate::world::{Ran, World};

const GATE: &str = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, id: size, config: {max_files: 2, action: block}}]}\n";
const LOOSER: &str = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, id: size, config: {max_files: 90, action: block}}]}\n";
const SCRIPTED: &str = "hooks: {pre-issue-submit: [{oracle: gate, id: size}]}\n";
const EMPTY: &str = "hooks: {}\n";

/// A repository on a branch with three files more than `main`, and with other files of its policy; no text takes one away.
pub(super) fn changed(base: &[(&str, &str)], head: &[(&str, &str)]) -> World {
    let world = World::new("");
    for (path, text) in base {
        world.write(path, text);
    }
    world.git_init();
    world.git(&["checkout", "-q", "-b", "feature"]);
    for n in 0..3 {
        world.write(&format!("f{n}.txt"), "x");
    }
    commit_change(&world, head);
    world
}

/// Commits files as the head of a change has them; one without a text is gone there.
pub(super) fn commit_change(world: &World, head: &[(&str, &str)]) {
    for (path, text) in head {
        if text.is_empty() {
            fs::remove_file(world.path(path)).unwrap();
        } else {
            world.write(path, text);
        }
    }
    world.commit("change");
}

pub(super) fn asked(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = world.ahp_command();
    command
        .args(["ci", "--issue", "FEAT-1"])
        .args(arguments)
        .env("CI", "true");
    Ran::of(&command.envs(variables.iter().copied()).output().unwrap())
}

#[test]
fn a_change_does_not_loosen_the_gate_that_it_passes() {
    const LAYER: &str = ".ahp/hooks.yaml";
    const PACK: &str = "policy/gate.yaml";
    const SCRIPT: &str = ".ahp/oracles/gate.rhai";
    let blocking = "fn evaluate(ctx) { block(\"3 files are no small change\", [\"Split it.\"]) }\n";
    let silent = "fn evaluate(ctx) { accept() }\n";
    let extending = "extends: [../policy/gate.yaml]\n";
    for (base, head, touched) in [
        (&[(LAYER, GATE)][..], &[(LAYER, EMPTY)][..], LAYER),
        (&[(LAYER, GATE)], &[(LAYER, LOOSER)], LAYER),
        (&[(LAYER, GATE)], &[(LAYER, "")], LAYER),
        (&[(LAYER, extending), (PACK, GATE)], &[(PACK, EMPTY)], PACK),
        (
            &[(LAYER, SCRIPTED), (SCRIPT, blocking)],
            &[(SCRIPT, silent)],
            SCRIPT,
        ),
    ] {
        let world = changed(base, head);
        for variables in [&[][..], &[("AHP_TRUST", "all")]] {
            let ran = asked(&world, &[], variables);
            assert_eq!(ran.code, 2, "{head:?}: {ran:?}");
            assert!(ran.stdout.contains(" files"), "{head:?}: {ran:?}");
            let mut told = ran.stdout.lines();
            let told = told.find(|line| line.contains("the policy is not that"));
            assert!(
                told.is_some_and(|told| told.contains(touched)),
                "{head:?}: {ran:?}"
            );
        }
        let ran = asked(&world, &["--policy", "head"], &[("AHP_TRUST", "all")]);
        assert_eq!(ran.code, 0, "{head:?}: {ran:?}");
        let ran = asked(&world, &[], &[("GITHUB_ACTIONS", "true")]);
        let warning = format!("::warning file={touched},title=policy-changed::");
        assert!(ran.stdout.contains(&warning), "{ran:?}");
    }
}

#[test]
fn what_a_change_adds_to_the_policy_holds_too() {
    let world = changed(&[(".ahp/hooks.yaml", LOOSER)], &[(".ahp/hooks.yaml", GATE)]);
    let ran = asked(&world, &[], &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let world = changed(&[(".ahp/hooks.yaml", LOOSER)], &[]);
    let ran = asked(&world, &[], &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn a_base_whose_policy_cannot_be_told_is_no_pass() {
    let none = changed(&[("a.txt", "x")], &[(".ahp/hooks.yaml", GATE)]);
    let ran = asked(&none, &[], &[]);
    assert!(
        ran.code == 2 && ran.stderr.contains("the base has no policy"),
        "{ran:?}"
    );
    for fault in ["hooks: [\n", "extends: [gone.txt]\n"] {
        let broken = changed(
            &[(".ahp/hooks.yaml", fault)],
            &[(".ahp/hooks.yaml", LOOSER)],
        );
        let ran = asked(&broken, &[], &[]);
        assert!(
            ran.code == 1 && ran.stderr.contains("--policy head"),
            "{ran:?}"
        );
        assert_eq!(asked(&broken, &["--policy", "head"], &[]).code, 0);
    }
    let unknown = changed(&[(".ahp/hooks.yaml", LOOSER)], &[]);
    let ran = asked(&unknown, &["--base", "gone"], &[]);
    assert!(
        ran.code == 2 && ran.stderr.contains("fetch-depth: 0"),
        "{ran:?}"
    );
}

/// An issue with one open item on its twelfth line, as it lies in a file.
pub(super) fn issue(id: &str) -> String {
    format!(
        "---\nid: {id}\ntype: feature\nstatus: open\nstage: doing\ntitle: Totals\n---\n\n# {id}\n\n- [x] written\n- [ ] tested\n"
    )
}

#[test]
fn every_issue_that_the_change_touches_is_asked_about() {
    const CHECKED: &str = "hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}\n";
    let (first, second) = (issue("FEAT-0001"), issue("FIX-0002"));
    let world = changed(
        &[
            (".ahp/hooks.yaml", CHECKED),
            ("Issues/Features/open/FEAT-0003-old.md", &issue("FEAT-0003")),
        ],
        &[
            ("Issues/Features/open/FEAT-0001-totals.md", &first),
            ("Issues/Fixes/open/other-name.md", &second),
        ],
    );
    let page = world.path("../page.md");
    fs::write(&page, "before\n").unwrap();
    let mut command = world.ahp_command();
    command.args(["ci", "--report", "github", "--report", "sarif=ahp.sarif"]);
    command.env("CI", "true").env("GITHUB_STEP_SUMMARY", &page);
    let ran = Ran::of(&command.output().unwrap());
    assert_eq!(ran.code, 2, "{ran:?}");
    for file in [
        "Issues/Features/open/FEAT-0001-totals.md",
        "Issues/Fixes/open/other-name.md",
    ] {
        let annotation = format!("::error file={file},line=12,title=checklist-validator::");
        assert!(ran.stdout.contains(&annotation), "{ran:?}");
    }
    assert!(!ran.stdout.contains("FEAT-0003"), "{ran:?}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("before\n### ahp: stopped\n"), "{page}");
    assert!(
        page.contains(
            "| block | checklist-validator | Issues/Features/open/FEAT-0001-totals.md:12 |"
        ),
        "{page}"
    );
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(world.path("ahp.sarif")).unwrap()).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 12, "{sarif}");
}

#[test]
fn nothing_that_a_change_puts_in_the_way_hides_what_the_base_binds() {
    const LAYER: &str = ".ahp/hooks.yaml";
    const PACK: &str = ".ahp/team.yaml";
    let extending = "extends: [./team.yaml]\n";
    let linked = changed(
        &[(LAYER, extending), (PACK, GATE), ("empty.yaml", "{}\n")],
        &[(PACK, "")],
    );
    std::os::unix::fs::symlink("../empty.yaml", linked.path(PACK)).unwrap();
    linked.commit("link");
    let blocking = "fn evaluate(ctx) { block(\"3 files are no small change\", [\"Split it.\"]) }\n";
    let silent = "fn evaluate(ctx) { accept() }\n";
    let base = [(LAYER, SCRIPTED), (".ahp/oracles/gate.rhai", blocking)];
    let shadowed = changed(&base, &[(".ahp/oracles/Gate.rhai", silent)]);
    let renamed = changed(
        &base,
        &[
            (".ahp/oracles/gate.rhai", ""),
            (".ahp/oracles/GATE.rhai", silent),
        ],
    );
    let carried = "hooks: {pre-issue-submit: [{oracle: Say, id: size, config: {intensity: block, text: \"3 files\"}}]}\n";
    let of_program = changed(&[(LAYER, carried)], &[(".ahp/oracles/say.rhai", silent)]);
    for world in [linked, shadowed, renamed, of_program] {
        let ran = asked(&world, &[], &[]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stdout.contains("3 files"), "{ran:?}");
    }
    // The policy came after the branch had begun.
    let older = changed(&[("a.txt", "x")], &[("b.txt", "x")]);
    older.git(&["checkout", "-q", "main"]);
    older.write(LAYER, GATE);
    older.commit("policy");
    older.git(&["checkout", "-q", "feature"]);
    let ran = asked(&older, &[], &[]);
    assert!(ran.code == 2 && ran.stdout.contains("4 files"), "{ran:?}");
    let text = changed(&[(LAYER, GATE)], &[(LAYER, EMPTY)]);
    text.git(&["checkout", "-q", "main"]);
    fs::write(text.path(LAYER), b"hooks: {} # \xff\n").unwrap();
    text.commit("bytes");
    text.git(&["checkout", "-q", "feature"]);
    text.git(&["rebase", "-q", "-X", "theirs", "main"]);
    let ran = asked(&text, &[], &[]);
    assert!(
        ran.code == 1 && ran.stderr.contains("is not UTF-8"),
        "{ran:?}"
    );
}

#[test]
fn no_issue_of_the_change_is_left_out() {
    const CHECKED: &str = "hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}\n";
    let done = |id: &str| issue(id).replace("- [ ]", "- [x]");
    let open = issue("FEAT-0005");
    let base = [
        (".ahp/hooks.yaml", CHECKED),
        ("Issues/FEAT-0005-b.md", open.as_str()),
    ];
    let other = ("Issues/FEAT-0009-a.md", &*done("FEAT-0009"));
    // The branch is named after one that the change does not touch.
    let named = changed(&base, &[other]);
    named.git(&["checkout", "-q", "-b", "FEAT-0005-b"]);
    let broken = changed(&base, &[other, ("Issues/login.md", "---\nid: [\n---\n")]);
    let nameless = changed(&base, &[other, ("Issues/FEAT-0007_x.md", "- [ ] open\n")]);
    for (world, told) in [
        (named, "FEAT-0005"),
        (broken, "login.md"),
        (nameless, "FEAT-0007"),
    ] {
        let mut command = world.ahp_command();
        command.arg("ci").env("CI", "true");
        let ran = Ran::of(&command.output().unwrap());
        assert_eq!(ran.code, 2, "{told}: {ran:?}");
        assert!(ran.stdout.contains(told), "{told}: {ran:?}");
    }
}
