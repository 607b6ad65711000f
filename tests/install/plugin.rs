//! Our plugin in the place of wires: `doctor` knows it, and `install` writes nothing beside it.

use crate::world::World;

/// How each client says that it is on, as the clients themselves write it.
const ON: &[(&str, &str, &str, &str)] = &[
    (
        "claude-code",
        "home",
        ".claude/settings.json",
        r#"{"extraKnownMarketplaces": {}, "enabledPlugins": {"other@x": false, "ahp@ahp": true}}"#,
    ),
    (
        "copilot",
        "home",
        ".copilot/settings.json",
        r#"{"enabledPlugins": {"ahp@acme": true}}"#,
    ),
    (
        "codex",
        "home",
        ".codex/config.toml",
        "[plugins.\"ahp@ahp\"]\nenabled = true\n",
    ),
    (
        "claude-code",
        "project",
        ".claude/settings.json",
        r#"{"enabledPlugins": {"ahp@ahp": true}}"#,
    ),
];

fn with_plugin(base: &str, file: &str, text: &str) -> World {
    let world = World::new("extends: [ahp:standard]\n");
    let dir = if base == "home" {
        world.home()
    } else {
        world.root()
    };
    crate::world::write(&dir.join(file), text);
    world
}

#[test]
fn a_plugin_that_is_on_wires_its_host() {
    for (host, base, file, text) in ON {
        let world = with_plugin(base, file, text);
        let found = world.ahp(&["doctor", host]);
        assert_eq!(found.code, 0, "{host}: {}", found.stdout);
        let told = format!(
            "wired (plugin): {}",
            if *base == "home" {
                world.home()
            } else {
                world.root()
            }
            .join(file)
            .display()
        );
        assert!(found.stdout.contains(&told), "{host}: {}", found.stdout);
        assert!(
            found.stdout.contains("is blocked, in this host's own form"),
            "{}",
            found.stdout
        );

        // Nothing is written beside it.
        let installed = world.ahp(&["install", host, "--user"]);
        assert_eq!(installed.code, 0, "{}", installed.stderr);
        assert!(
            installed.stdout.contains("the plugin of `ahp` is on in"),
            "{}",
            installed.stdout
        );
        let dir = if *base == "home" {
            world.home()
        } else {
            world.root()
        };
        assert_eq!(std::fs::read_to_string(dir.join(file)).unwrap(), *text);
    }
}

#[test]
fn hooks_of_settings_beside_the_plugin_are_told() {
    let (host, base, file, text) = ON[0];
    let world = World::new("extends: [ahp:standard]\n");
    assert_eq!(world.ahp(&["install", host, "--project"]).code, 0);
    let wired = world.ahp(&["doctor", host]).stdout;
    assert!(!wired.contains("twice"), "{wired}");
    assert_eq!(base, "home");
    crate::world::write(&world.home().join(file), text);
    let twice = world.ahp(&["doctor", host]).stdout;
    assert!(
        twice.contains("plugin, project; `ahp uninstall claude-code --project`"),
        "{twice}"
    );

    // A narrower file switches it off again.
    world.write(
        ".claude/settings.local.json",
        r#"{"enabledPlugins": {"ahp@ahp": false}}"#,
    );
    let off = world.ahp(&["doctor", host]).stdout;
    assert!(!off.contains("(plugin)"), "{off}");
}

#[test]
fn what_the_plugin_lacks_is_told() {
    let (host, base, file, text) = ON[0];
    let world = with_plugin(base, file, text);
    world.write(
        ".ahp/hooks.yaml",
        "extends: [ahp:standard]\nhooks:\n  pre-issue-submit: [{oracle: ChecklistValidator, id: tasks, when: {issue.type: task}}]\n",
    );
    let found = world.ahp(&["doctor", host]);
    assert_eq!(found.code, 1, "{}", found.stdout);
    assert!(found.stdout.contains("TaskCompleted"), "{}", found.stdout);
    assert!(
        found.stdout.contains("switch it off there"),
        "{}",
        found.stdout
    );
}
