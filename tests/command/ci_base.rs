//! `ahp ci`: a change is judged by the policy of the branch that it goes to, by real repositories.

use std::fs;

use crate::world::{Ran, World};

const GATE: &str = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, id: size, config: {max_files: 2, action: block}}]}\n";
const LOOSER: &str = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, id: size, config: {max_files: 90, action: block}}]}\n";
const SCRIPTED: &str = "hooks: {pre-issue-submit: [{oracle: gate, id: size}]}\n";
const EMPTY: &str = "hooks: {}\n";

/// A repository on a branch with three files more than `main`, and with other files of its policy; no text takes one away.
fn changed(base: &[(&str, &str)], head: &[(&str, &str)]) -> World {
    let world = World::new("");
    for (path, text) in base {
        world.write(path, text);
    }
    world.git_init();
    world.git(&["checkout", "-q", "-b", "feature"]);
    for n in 0..3 {
        world.write(&format!("f{n}.txt"), "x");
    }
    for (path, text) in head {
        if text.is_empty() {
            fs::remove_file(world.path(path)).unwrap();
        } else {
            world.write(path, text);
        }
    }
    world.commit("change");
    world
}

fn asked(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
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
            let told = ran.stderr.lines().find(|l| l.starts_with("policy-changed"));
            assert!(
                told.is_some_and(|told| told.contains(touched)),
                "{head:?}: {ran:?}"
            );
        }
        let ran = asked(&world, &["--policy", "head"], &[("AHP_TRUST", "all")]);
        assert_eq!(ran.code, 0, "{head:?}: {ran:?}");
        let ran = asked(&world, &[], &[("GITHUB_ACTIONS", "true")]);
        assert!(
            ran.stdout.contains("::warning title=policy-changed::"),
            "{ran:?}"
        );
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
