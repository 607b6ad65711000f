//! What `git clean` takes away: git tells whether anything guarded is among it.

use serde_json::json;

use crate::permission_checker::oracle::judged;
use crate::world::World;

/// A repository that tracks its policy and ignores what lies beside it.
fn repository() -> World {
    let world = World::new("");
    world.write(".ahp/hooks.yaml", "extends: [ahp:standard]\n");
    world.write(".ahp/.gitignore", "signals*.jsonl\n");
    world.write(".gitignore", "target/\n");
    world.write("src/a.rs", "a");
    world.git_init();
    world.write(".ahp/signals.jsonl", "");
    world.write("new.txt", "n");
    world.write("target/x", "x");
    world
}

fn is_stopped(world: &World, command: &str) -> bool {
    let input = json!({"command": command});
    !matches!(
        judged(world, "SelfProtection", "{}", "Bash", input).unwrap(),
        Ok(found) if found.is_empty()
    )
}

#[test]
fn what_git_keeps_is_not_cleaned_away() {
    let world = repository();
    for command in [
        "git clean -fd",
        "git clean -f",
        "git clean -fd -e .ahp",
        "git clean -fdx -e .ahp",
        "git clean -fdx --exclude=.ahp/",
        "git clean -fdx -e /.ahp",
        "git clean -fd -e .ahp -- src",
        "git reset --hard && git clean -fd",
        "git checkout -- . && git clean -fd && git status",
        "git-clean -fd",
    ] {
        assert!(!is_stopped(&world, command), "{command}");
    }
}

#[test]
fn what_may_take_a_guarded_place_away_is_stopped() {
    let world = repository();
    for command in [
        "git clean -fdx",
        "git-clean -fdx",
        "sudo git-clean -fdx",
        "git clean -fdX",
        "git clean -fdX -e .ahp",
        "git clean -fX -e '*'",
        "git clean -fd -e '!signals.jsonl'",
        "git clean -fdx -e '*.ahp'",
        "git clean -fdx .ahp",
        "git clean -fdx -e .ahp && git clean -fdx",
        "git clean -fdx -e ''",
        "git clean -fdx -e /",
        "git clean -fdx -e .ahp/.",
        "git clean -fdx -e //.ahp",
        "git clean -fdx -e .ahp//",
        "git clean -fdx --exclude=''",
        "git clean -fdx -- -e .ahp",
        "git -c core.excludesFile=/dev/null clean -fd",
        "GIT_DIR=/x git clean -fd",
        "export GIT_WORK_TREE=/x; git clean -fd",
        "> .ahp/.gitignore; git clean -fd",
        "rm .gitignore && git clean -fd",
        "git rm -r --cached .ahp && git clean -fd",
        "git checkout old && git clean -fd",
    ] {
        assert!(is_stopped(&world, command), "{command}");
    }
    let staged = World::new("");
    staged.write("a.txt", "a");
    staged.git_init();
    staged.write(".ahp/hooks.yaml", "extends: [ahp:standard]\n");
    staged.git(&["add", ".ahp"]);
    assert!(is_stopped(&staged, "git reset && git clean -fd"));
    world.write(".ahp/.gitignore", "");
    for command in ["git clean -fd", "git reset --hard && git clean -fd"] {
        assert!(is_stopped(&world, command), "{command}");
    }
    // Without git nothing is known.
    let bare = World::new("");
    bare.write(".ahp/hooks.yaml", "extends: [ahp:standard]\n");
    assert!(is_stopped(&bare, "git clean -fd"));
}
