//! `ahp ci`: what of a change is seen, whatever it does to hide: lines, issues, the base itself, and evidence that came with it.

use std::fs;
use std::os::unix::fs::symlink;

use super::ci_base::{asked, changed, issue};
use crate::world::{Ran, World};

const LAYER: &str = ".ahp/hooks.yaml";
const LINES: &str = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, id: lines, config: {max_files: 90, max_lines: 20, action: block}}]}\n";
const FILES: &str = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, id: size, config: {max_files: 2, action: block}}]}\n";
const CHECKED: &str = "hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}\n";

#[test]
fn attributes_that_come_with_a_change_hide_no_lines() {
    let long = "line\n".repeat(40);
    let base = [(LAYER, LINES), ("old.txt", "a\n"), ("gone.txt", &*long)];
    for attributes in [
        "*.txt -diff\n",
        "*.txt binary\n",
        "*.txt diff=none\n",
        "* -text -diff\n",
    ] {
        for head in [
            &[(".gitattributes", attributes), ("new.txt", &*long)][..],
            &[(".gitattributes", attributes), ("old.txt", &*long)],
            &[(".gitattributes", attributes), ("gone.txt", "")],
        ] {
            let ran = asked(&changed(&base, head), &[], &[]);
            assert_eq!(ran.code, 2, "{head:?}: {ran:?}");
            assert!(ran.stdout.contains("changed lines, at most 20"), "{ran:?}");
        }
        // What is short is let pass all the same.
        let short = [(".gitattributes", attributes), ("new.txt", "a\nb\n")];
        let ran = asked(&changed(&base, &short), &[], &[]);
        assert_eq!(ran.code, 0, "{attributes}: {ran:?}");
    }
}

#[test]
fn lines_of_a_binary_file_cannot_be_told() {
    let world = changed(&[(LAYER, LINES)], &[]);
    world.write("image.png", b"\0\x01\n\n");
    world.commit("image");
    let ran = asked(&world, &[], &[]);
    assert!(ran.code == 2 && ran.stdout.contains("image.png"), "{ran:?}");
    let left_out = LINES.replace("max_files", "exclude: ['*.png'], max_files");
    let world = changed(&[(LAYER, &left_out)], &[]);
    world.write("image.png", b"\0\x01\n\n");
    world.commit("image");
    assert_eq!(asked(&world, &[], &[]).code, 0);
}

#[test]
fn a_commit_that_is_not_there_is_no_change_that_passes() {
    let world = changed(&[(LAYER, FILES)], &[]);
    world.git(&["checkout", "-q", "--orphan", "unborn"]);
    for variables in [&[][..], &[("AHP_BASE", "main")]] {
        let ran = asked(&world, &[], variables);
        assert_eq!(ran.code, 2, "{variables:?}: {ran:?}");
        assert!(ran.stderr.contains("HEAD is no commit"), "{ran:?}");
    }
    let mut command = world.command(env!("CARGO_BIN_EXE_ahp"));
    command.args(["run", "pre-issue-submit", "--issue", "FEAT-1"]);
    let ran = Ran::of(&command.env("GITLAB_CI", "true").output().unwrap());
    assert!(
        ran.code == 2 && ran.stdout.contains("HEAD is no commit"),
        "{ran:?}"
    );
}

#[test]
fn no_variable_takes_it_back_that_this_is_ci() {
    // Nothing names a base, and there is no branch to compare with.
    let alone = World::new(FILES);
    alone.git_init();
    for told in [
        "CI",
        "GITHUB_ACTIONS",
        "GITLAB_CI",
        "TF_BUILD",
        "JENKINS_URL",
    ] {
        for place in ["GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BITBUCKET_CLONE_DIR"] {
            let mut command = alone.ahp_command();
            command.args(["run", "pre-issue-submit", "--issue", "FEAT-1"]);
            let variables = [(told, "true"), (place, "/nowhere")];
            let ran = Ran::of(&command.envs(variables).output().unwrap());
            assert_eq!(ran.code, 2, "{told}, {place}: {ran:?}");
        }
    }
    // The command itself says it too.
    let mut command = alone.ahp_command();
    command.args(["ci", "--issue", "FEAT-1"]);
    let ran = Ran::of(&command.env("CI", "false").output().unwrap());
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("names what the change is compared with"),
        "{ran:?}"
    );
    // What CI says of another repository is not left out in silence.
    let world = changed(&[(LAYER, FILES)], &[]);
    let elsewhere = [
        ("GITHUB_WORKSPACE", "/nowhere"),
        ("GITHUB_BASE_REF", "main"),
    ];
    let ran = asked(&world, &[], &elsewhere);
    assert!(
        ran.code == 2 && ran.stderr.contains("another repository"),
        "{ran:?}"
    );
    let ran = asked(&world, &["--base", "main"], &elsewhere);
    assert!(ran.code == 2 && ran.stdout.contains("3 files"), "{ran:?}");
}

#[test]
fn an_issue_that_a_change_deletes_moves_or_renames_is_asked_about() {
    let open = issue("FEAT-0001");
    let other = issue("FEAT-0002");
    let base = [
        (LAYER, CHECKED),
        ("Issues/FEAT-0001-a.md", open.as_str()),
        ("notes/FEAT-0002-b.md", other.as_str()),
    ];
    let asks = |world: &World, told: &str| {
        let mut command = world.ahp_command();
        let ran = Ran::of(&command.arg("ci").env("CI", "true").output().unwrap());
        assert!(ran.stdout.contains(told), "{told}: {ran:?}");
        assert_eq!(ran.code, 2, "{told}: {ran:?}");
    };
    asks(
        &changed(&base, &[("Issues/FEAT-0001-a.md", "")]),
        "FEAT-0001",
    );
    let renamed = open
        .replace("FEAT-0001", "FEAT-0009")
        .replace("- [ ]", "- [x]");
    asks(
        &changed(&base, &[("Issues/FEAT-0001-a.md", &renamed)]),
        "FEAT-0001",
    );
    let moved = [
        ("Issues/FEAT-0001-a.md", ""),
        ("old/FEAT-0001-a.md", &*open),
    ];
    asks(&changed(&base, &moved), "FEAT-0001");

    // What lies behind a link is touched where it really lies.
    let linked = |target: &str, link: &str| {
        let world = World::new("");
        for (path, text) in base {
            world.write(path, text);
        }
        fs::remove_dir_all(world.path(link)).ok();
        symlink(target, world.path(link)).unwrap();
        world.git_init();
        world.git(&["checkout", "-q", "-b", "feature"]);
        world
    };
    let file = linked("../notes/FEAT-0002-b.md", "Issues/FEAT-0002-b.md");
    file.write("notes/FEAT-0002-b.md", format!("{other}more\n"));
    file.commit("behind the link");
    asks(&file, "FEAT-0002");
    let folder = linked("notes", "Issues");
    folder.write("notes/FEAT-0002-b.md", format!("{other}more\n"));
    folder.commit("behind the link");
    asks(&folder, "FEAT-0002");
    let folder = linked("notes", "Issues");
    fs::remove_file(folder.path("notes/FEAT-0002-b.md")).unwrap();
    folder.commit("gone behind the link");
    asks(&folder, "FEAT-0002");
    let folder = linked("notes", "Issues");
    fs::remove_file(folder.path("Issues")).unwrap();
    folder.commit("the link is gone");
    asks(&folder, "FEAT-0002");
}

#[test]
fn without_a_key_nothing_that_came_with_a_clone_is_believed() {
    const GATE: &str = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, id: size, override: true, config: {max_files: 2, action: block}}]}\n";
    let world = changed(&[(LAYER, GATE)], &[]);
    let ran = world.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-1"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    // The answer is written where a key is, and comes with a clone to where there is none.
    let answered = world.ahp(&["respond", "last", "proceed_with_risk", "--by", "human"]);
    assert_eq!(answered.code, 0, "{answered:?}");
    assert_eq!(
        world
            .ahp(&["run", "pre-issue-submit", "--issue", "FEAT-1"])
            .code,
        0
    );
    let nowhere = world.path("../file");
    fs::write(&nowhere, "no folder").unwrap();
    let without_key = |arguments: &[&str]| {
        let mut command = world.ahp_command();
        command
            .args(arguments)
            .env("XDG_STATE_HOME", nowhere.join("state"));
        Ran::of(&command.output().unwrap())
    };
    for _ in 0..2 {
        let ran = without_key(&["run", "pre-issue-submit", "--issue", "FEAT-1"]);
        assert_eq!(ran.code, 2, "{ran:?}");
    }
    // Each of these runs writes to the one log, and none closes it as another machine's.
    let logs = fs::read_dir(world.path(".ahp")).unwrap().flatten();
    let logs = logs.filter(|file| file.file_name().to_string_lossy().ends_with(".jsonl"));
    assert_eq!(logs.count(), 1);
    let ran = without_key(&["respond", "last", "proceed_with_risk", "--by", "human"]);
    assert!(ran.code == 1 && ran.stderr.contains("no key"), "{ran:?}");
}
