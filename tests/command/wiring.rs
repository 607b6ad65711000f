//! `ahp install` and `ahp uninstall`: which scopes they take, and what becomes of the rest where one host cannot be changed.

use crate::world::World;

const CLAUDE: &str = ".claude/settings.json";

/// Makes a project in which Claude Code and Codex are wired, for the project and for the person.
fn wired() -> World {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}\n");
    for host in ["claude-code", "codex"] {
        for scope in ["--project", "--user"] {
            let installed = world.ahp(&["install", host, scope]);
            assert_eq!(installed.code, 0, "{}", installed.stderr);
        }
    }
    world
}

#[test]
fn a_host_is_unwired_where_install_wires_it() {
    let world = wired();
    let gone = world.ahp(&["uninstall", "claude-code"]);
    assert_eq!(gone.code, 0, "{}", gone.stderr);
    assert!(!world.path(CLAUDE).exists());
    assert!(world.home().join(CLAUDE).exists());
    let told = "claude-code (user) is still wired: `ahp uninstall claude-code --user` takes it out";
    assert!(gone.stdout.contains(told), "{}", gone.stdout);
    let gone = world.ahp(&["uninstall", "claude-code", "--user"]);
    assert!(!world.home().join(CLAUDE).exists());
    assert!(!gone.stdout.contains("still wired"), "{}", gone.stdout);
    assert!(world.path(".codex/hooks.json").exists());
}

#[test]
fn what_cannot_be_changed_keeps_nothing_else_from_being_unwired() {
    let world = wired();
    world.write(".codex/hooks.json", "{");
    let gone = world.ahp(&["uninstall", "--all"]);
    assert_eq!(gone.code, 1, "{}", gone.stdout);
    assert!(!world.path(CLAUDE).exists() && !world.home().join(CLAUDE).exists());
    assert!(!world.home().join(".codex/hooks.json").exists());
    for told in [
        "unwired claude-code (project)",
        "unwired claude-code (user)",
        "unwired codex (user)",
    ] {
        assert!(gone.stdout.contains(told), "{told}: {}", gone.stdout);
    }
    let told = gone.stderr.lines().collect::<Vec<_>>();
    assert!(
        matches!(told.as_slice(), [one] if one.contains("codex (project)") && one.contains("Fix the file first")),
        "{told:?}"
    );
    assert_eq!(world.read(".codex/hooks.json"), "{");
}
