//! Shields: the plan as data, made of real trees; and, where `bwrap` is installed, a shield itself. What takes long is tried
//! by `tests/shield/suite.py`.

mod plan;
mod traces;

use std::fs;
use std::path::{Path, PathBuf};

use ahp::shield::{Access, Mount, SYSTEM_CALL_FILTER, arrange, filter_bytes};
use proptest::prelude::*;

use crate::world::{World, not_tried};

/// A path of at most four short names, so that many lie in each other.
fn path() -> impl Strategy<Value = PathBuf> {
    prop::collection::vec("[ab]", 1..5).prop_map(|names| Path::new("/").join(names.join("/")))
}

proptest! {
    #[test]
    fn no_later_mount_takes_a_hold_away(
        writable in prop::collection::btree_set(path(), 0..5),
        private in prop::collection::btree_set(path(), 0..2),
        held in prop::collection::vec(path(), 0..8),
        hidden in prop::collection::btree_set(path(), 0..3),
    ) {
        let given = writable.iter().map(|path| (path, Access::Writable));
        let private = private.iter().map(|path| (path, Access::Private("/x".into())));
        let hides = hidden.iter().map(|path| (path, Access::HiddenFolder));
        let given = given.chain(private).chain(hides).map(|(path, access)| Mount { path: path.clone(), access });
        let Ok(mounts) = arrange(given, &held) else {
            // Only where something writable lies in a held place.
            prop_assert!(writable.iter().any(|open| held.iter().any(|held| open.starts_with(held))));
            return Ok(());
        };
        let at = |path: &Path| mounts.iter().position(|mount| mount.path == path);
        // What a path comes to: the last mount that holds it.
        let access = |path: &Path| {
            mounts.iter().rev().find(|mount| path.starts_with(&mount.path)).map(|mount| mount.access.clone())
        };
        for hidden in &hidden {
            let found = access(hidden);
            prop_assert!(matches!(found, Some(Access::HiddenFolder | Access::Private(_))), "{hidden:?}: {mounts:?}");
            let below = mounts.iter().find(|mount| mount.path.starts_with(hidden) && mount.path != *hidden);
            prop_assert!(below.is_none(), "{below:?} opens {hidden:?}");
        }
        for held in &held {
            let found = access(held);
            prop_assert!(!matches!(found, Some(Access::Writable | Access::Way)), "{held:?}: {mounts:?}");
            let Some(place) = at(held) else { continue };
            if mounts[place].access != Access::Held {
                // Nobody else sees what is written there, or nothing can be.
                continue;
            }
            for later in &mounts[place + 1..] {
                prop_assert!(!held.starts_with(&later.path), "{later:?} covers {held:?}");
            }
            // No folder on the way can be renamed.
            let root = held.ancestors().skip(1).find(|dir| writable.contains(*dir)).unwrap();
            for dir in held.ancestors().skip(1).take_while(|dir| *dir != root) {
                prop_assert!(at(dir).is_some_and(|at| at < place), "{dir:?} is no mount");
            }
        }
    }
}

/// Runs the filter as the kernel does.
fn filtered(architecture: u32, number: u32, request: u32) -> u32 {
    let mut at = 0;
    let mut value = 0;
    loop {
        let (code, yes, no, operand) = SYSTEM_CALL_FILTER[at];
        at += 1;
        let jump = |holds: bool| usize::from(if holds { yes } else { no });
        match (code, operand) {
            (0x20, 0) => value = number,
            (0x20, 4) => value = architecture,
            (0x20, 24) => value = request,
            (0x15, operand) => at += jump(value == operand),
            (0x35, operand) => at += jump(value >= operand),
            (0x06, operand) => return operand,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_filter_refuses_what_types_into_a_terminal_by_every_way_into_the_kernel() {
    const ALLOWED: u32 = 0x7fff_0000;
    const REFUSED: u32 = 0x0005_0001;
    let calls = if cfg!(target_arch = "aarch64") {
        [(0xc000_00b7, 29), (0x4000_0028, 54)]
    } else {
        [(0xc000_003e, 16), (0x4000_0003, 54)]
    };
    for (architecture, ioctl) in calls {
        assert_eq!(filtered(architecture, ioctl, 0x5412), REFUSED);
        assert_eq!(filtered(architecture, ioctl, 0x541c), REFUSED);
        assert_eq!(filtered(architecture, ioctl, 0x5401), ALLOWED);
        assert_eq!(filtered(architecture, ioctl + 1, 0x5412), ALLOWED);
    }
    assert_eq!(filtered(calls[0].0, 0x4000_0202, 0x5401), REFUSED);
    assert_eq!(filtered(0x1234, 0, 0), 0x8000_0000);
    assert_eq!(filter_bytes().len(), SYSTEM_CALL_FILTER.len() * 8);
}

const POLICY: &str = "hooks:
  pre-tool-use:
    - oracle: PermissionChecker
      config: {dangerous_commands: ['git push --force']}
";

#[test]
fn a_dry_run_shows_what_is_held_and_changes_nothing() {
    let world = World::new(POLICY);
    world.git_init();
    let before = world.ahp(&["shield", "--dry-run"]);
    assert_eq!(before.code, 0, "{before:?}");
    for name in [
        ".ahp",
        ".claude",
        ".git/config",
        ".git/hooks",
        "opencode.json",
    ] {
        let place = world.root().canonicalize().unwrap().join(name);
        assert!(
            before.stdout.contains(&format!("{}\n", place.display())),
            "{name}: {}",
            before.stdout
        );
    }
    assert!(!world.path(".claude").exists());
    assert!(!world.home().join(".local/state/ahp/serve.token").exists());
    // What it does not hold is said, and what does not work where there is such.
    assert!(
        before
            .stdout
            .contains("does not stop writes to named pipes"),
        "{before:?}"
    );
    let update = "`git submodule update` fails";
    assert!(!before.stdout.contains(update), "{before:?}");
    let git = world.path(".git/modules/part");
    fs::create_dir_all(&git).unwrap();
    for (file, text) in [
        ("HEAD", "ref: refs/heads/main\n"),
        ("config", "[core]\n\tbare = false\n"),
    ] {
        fs::write(git.join(file), text).unwrap();
    }
    for folder in ["objects", "refs"] {
        fs::create_dir(git.join(folder)).unwrap();
    }
    let after = world.ahp(&["shield", "--dry-run"]);
    let config = git.join("config").canonicalize().unwrap();
    let says = format!(
        "{update} with \"Device or resource busy\": it writes {}",
        config.display()
    );
    assert!(after.stdout.contains(&says), "{after:?}");
    let docker = world.ahp(&["shield", "--dry-run", "--format", "docker", "--", "claude"]);
    let ahp = world.root().canonicalize().unwrap().join(".ahp");
    assert!(
        docker
            .stdout
            .contains(&format!("-v {0}:{0}:ro\n", ahp.display())),
        "{docker:?}"
    );
    // What is on the way to a held place cannot be renamed, and what is not there is told.
    let git = world.root().canonicalize().unwrap().join(".git");
    let way = format!("-v {0}:{0}\n", git.display());
    assert!(docker.stdout.contains(&way), "{docker:?}");
    let missing = format!("{}` first", git.join("commondir").display());
    assert!(docker.stderr.contains(&missing), "{docker:?}");
}

#[test]
fn what_a_clone_says_of_shields_is_a_fault() {
    let world = World::new("settings: {shield: {write: [/etc]}}\n");
    let checked = world.ahp(&["check"]);
    assert_eq!(checked.code, 1);
    assert!(
        checked.stdout.contains("a clone must not widen it"),
        "{checked:?}"
    );
}

#[test]
fn a_shield_holds_and_leaves_nothing() {
    if !Path::new("/usr/bin/bwrap").exists() {
        return not_tried("the shield: there is no /usr/bin/bwrap (apt install bubblewrap)");
    }
    let world = World::new(POLICY);
    world.git_init();
    let script =
        "echo x > .ahp/hooks.yaml; mv .git g; echo x > .mcp.json; echo work > work; exit 5";
    let ran = world.ahp(&["shield", "--", "sh", "-c", script]);
    if ran.stderr.contains("no shield:") {
        return not_tried(&format!("the shield: {}", ran.stderr));
    }
    assert_eq!(ran.code, 5, "{ran:?}");
    assert_eq!(world.read(".ahp/hooks.yaml"), POLICY);
    assert_eq!(world.read("work"), "work\n");
    assert!(world.path(".git").is_dir() && !world.path(".mcp.json").exists());
    // A long name makes no path that is too long for a socket.
    let long = world.dir.path().join("n".repeat(200));
    fs::create_dir_all(long.join(".ahp")).unwrap();
    let mut ahp = world.ahp_command();
    ahp.args(["shield", "--", "true"]).current_dir(&long);
    let ran = ahp.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let missing = world.ahp(&["shield", "--", "no-such-program"]);
    assert!(
        missing.code == 1 && !world.path(".mcp.json").exists(),
        "{missing:?}"
    );
}
