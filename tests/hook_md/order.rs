//! Which hooks an event meets, in which order, and whose hook counts.

use std::fs;

use ahp::hook_md::{Origin, Places};

use super::due;
use crate::world::{World, event};

fn names(world: &World, yaml: &str) -> Vec<String> {
    let due = due(&world.hooks(), &event(yaml));
    due.iter().map(|hook| hook.name().to_owned()).collect()
}

#[test]
fn higher_priority_first_then_user_before_project_then_by_name() {
    let world = World::new("");
    let (user, project) = (world.user_hooks(), world.project_hooks());
    World::write_hook(&project, "b", "trigger: Stop\npriority: 999", "");
    World::write_hook(&project, "a", "trigger: before_stop", "");
    World::write_hook(&user, "z", "trigger: pre-agent-turn-stop", "");
    World::write_hook(&user, "y", "trigger: Stop\npriority: 1000\nasync: true", "");
    World::write_hook(&user, "x", "trigger: Stop\npriority: 5", "");
    World::write_hook(&user, "other", "trigger: pre-session", "");
    assert_eq!(names(&world, "{trigger: Stop}"), ["b", "z", "a", "x", "y"]);
}

#[test]
fn matchers_meet_every_hosts_names_and_every_text_of_the_input() {
    let world = World::new("");
    let user = world.user_hooks();
    World::write_hook(
        &user,
        "shell",
        "trigger: pre-tool-call\nmatcher: {tool: Shell}",
        "",
    );
    World::write_hook(
        &user,
        "bash",
        "trigger: pre-tool-call\nmatcher: {tool: ^Bash$}",
        "",
    );
    World::write_hook(
        &user,
        "deep",
        "trigger: pre-tool-call\nmatcher: {pattern: '\\.py$'}",
        "",
    );
    World::write_hook(
        &user,
        "both",
        "trigger: pre-tool-call\nmatcher: {tool: WriteFile, pattern: secret}",
        "",
    );
    World::write_hook(
        &user,
        "json",
        "trigger: pre-tool-call\nmatcher: {pattern: '\"force\": true'}",
        "",
    );
    let call = |name: &str, input: &str| {
        names(
            &world,
            &format!("{{trigger: pre-tool-use, tool: {{name: {name}, input: {input}}}}}"),
        )
    };
    assert_eq!(call("Bash", "{command: ls}"), ["bash", "shell"]);
    assert_eq!(call("run_shell_command", "{command: ls}"), ["shell"]);
    assert_eq!(
        call("Shell", "{command: ls, force: true}"),
        ["json", "shell"]
    );
    assert_eq!(call("Write", "{file_path: a.py, content: x}"), ["deep"]);
    assert_eq!(call("Write", "{edits: [{new: secret}]}"), ["both"]);
    assert_eq!(call("Read", "{path: secret}"), Vec::<String>::new());
    let patch = r#"{input: "*** Begin Patch\n*** Add File: a\n+secret\n*** End Patch\n"}"#;
    assert_eq!(call("apply_patch", patch), ["both"]);
    assert_eq!(call("execute_bash", "{command: ls}"), ["shell"]);
}

#[test]
fn a_projects_hook_replaces_a_users_with_a_notice() {
    let world = World::new("");
    World::write_hook(&world.user_hooks(), "guard", "trigger: Stop", "");
    World::write_hook(&world.project_hooks(), "guard", "trigger: Stop", "");
    let hooks = world.hooks();
    let hook = hooks.find("guard").unwrap();
    assert_eq!(hook.origin, Origin::Project);
    assert!(
        hooks.notices()[0].contains("the project hook `guard`"),
        "{:?}",
        hooks.notices()
    );
    // Untrusted, it cannot disarm the user's.
    let due = hooks.at("Stop".parse().unwrap(), &|hook| {
        !hook.origin.is_of_project()
    });
    let origins: Vec<_> = due.iter().map(|hook| hook.origin).collect();
    assert_eq!(origins, [Origin::User, Origin::Project]);
}

#[test]
fn a_locked_hook_is_not_replaced() {
    let world = World::new("");
    World::write_hook(
        &world.user_hooks(),
        "guard",
        "trigger: Stop\nmetadata: {locked: \"true\"}",
        "",
    );
    World::write_hook(&world.project_hooks(), "guard", "trigger: Stop", "");
    let hooks = world.hooks();
    assert_eq!(hooks.find("guard").unwrap().origin, Origin::User);
    let signals = hooks.invalid("Stop".parse().unwrap());
    assert_eq!(signals[0].header.kind, "hook-invalid");
    assert!(signals[0].payload.text().contains("may not be replaced"));
}

#[test]
fn a_broken_hook_says_so_at_its_trigger_and_replaces_nothing() {
    let world = World::new("");
    World::write_hook(&world.user_hooks(), "guard", "trigger: Stop", "");
    World::write_hook(
        &world.project_hooks(),
        "guard",
        "trigger: Stop\npriority: high",
        "",
    );
    let hooks = world.hooks();
    assert_eq!(hooks.find("guard").unwrap().origin, Origin::User);
    assert_eq!(hooks.invalid("Stop".parse().unwrap()).len(), 1);
    assert!(hooks.invalid("pre-session".parse().unwrap()).is_empty());
}

#[test]
fn lower_case_files_links_and_further_places_are_found_and_other_things_are_not() {
    let world = World::new("");
    let user = world.user_hooks();
    World::write_hook(&user, "small", "trigger: Stop", "");
    fs::rename(user.join("small/HOOK.md"), user.join("small/hook.md")).unwrap();
    fs::write(user.join("README.md"), "x").unwrap();
    fs::create_dir(user.join("empty")).unwrap();
    let further = world.dir.path().join("further");
    World::write_hook(&further, "more", "trigger: Stop", "");
    std::os::unix::fs::symlink(further.join("more"), user.join("linked")).unwrap();
    let places = world.hook_places().further(further, true);
    let hooks = ahp::hook_md::discover(&places);
    let found: Vec<_> = hooks.all().iter().map(|h| h.name()).collect();
    assert_eq!(found, ["small", "more"]);
    assert_eq!(hooks.all()[1].origin, Origin::FurtherOfProject);
    assert!(hooks.broken()[0].faults[0].contains("but the folder is `linked`"));
}

#[test]
fn the_cache_never_outlives_a_change() {
    let world = World::new("");
    let user = world.user_hooks();
    let places = world
        .hook_places()
        .cached_in(Some(world.dir.path().join("cache")));
    let priority = || ahp::hook_md::discover(&places).all()[0].front.priority;
    World::write_hook(&user, "a", "trigger: Stop\npriority: 1", "");
    assert_eq!(priority(), 1);
    assert_eq!(priority(), 1);
    for n in 2..9 {
        // The same length, within one tick of a coarse clock.
        World::write_hook(&user, "a", &format!("trigger: Stop\npriority: {n}"), "");
        assert_eq!(priority(), n);
    }
    let cache = fs::read_dir(world.dir.path().join("cache"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    fs::write(cache.path(), "{broken").unwrap();
    assert_eq!(priority(), 8);
}

/// Beside a bundle only who puts it in force can write, so what was kept there is taken, and nothing that lies elsewhere.
#[test]
fn what_the_hooks_of_a_bundle_say_is_kept_beside_it_alone() {
    let world = World::new("");
    let store = world.dir.path().join("bundle");
    let hooks = store.join("acme-1/hooks");
    World::write_hook(&hooks, "a", "trigger: Stop\npriority: 999", "");
    let places = Places::default()
        .bundled(hooks.clone())
        .cached_in(Some(world.dir.path().join("cache")));
    let priority = || ahp::hook_md::discover(&places).all()[0].front.priority;
    // The file must have come to rest before what is kept of it holds.
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(priority(), 999);
    assert!(!world.dir.path().join("cache").exists());
    let kept = fs::read_dir(&store).unwrap();
    let kept = kept.map(|entry| entry.unwrap().path());
    let kept = kept.filter(|path| path.is_file()).collect::<Vec<_>>();
    assert_eq!(kept.len(), 1, "{kept:?}");
    // It is what is taken: 999, as it is kept there, becomes 1000.
    let mut other = fs::read(&kept[0]).unwrap();
    let at = other.windows(2).position(|two| two == [0xe7, 0x07]);
    other[at.unwrap()] = 0xe8;
    fs::write(&kept[0], other).unwrap();
    assert_eq!(priority(), 1000);
    // A file that changed is read again.
    World::write_hook(&hooks, "a", "trigger: Stop\npriority: 333", "");
    assert_eq!(priority(), 333);
}

#[test]
fn what_people_read_of_a_hook_may_hold_any_bytes() {
    let world = World::new("");
    let user = world.user_hooks();
    for (name, before) in [("sound", true), ("garbled", false)] {
        World::write_hook(&user, name, "trigger: Stop", "");
        let file = user.join(name).join("HOOK.md");
        let mut text = fs::read(&file).unwrap();
        if before {
            text.extend(b"caf\xe9\n");
        } else {
            text.splice(4..4, *b"# caf\xe9\n");
        }
        fs::write(&file, text).unwrap();
    }
    let hooks = world.hooks();
    let found: Vec<_> = hooks.all().iter().map(|hook| hook.name()).collect();
    assert_eq!(found, ["sound"]);
    assert!(hooks.broken()[0].faults[0].contains("not UTF-8 text, from byte 9 on"));
}

#[test]
fn hooks_of_a_project_without_git_are_found_from_below() {
    let world = World::new("");
    fs::remove_dir_all(world.path(".ahp")).unwrap();
    World::write_hook(&world.project_hooks(), "guard", "trigger: Stop", "");
    let below = world.path("src/deep");
    fs::create_dir_all(&below).unwrap();
    let home = world.home();
    let set = [("HOME", home.to_str().unwrap())];
    let found = ahp::config::Locations::find(&ahp::config::Environment::of(&below, set), None);
    assert_eq!(found.project_root, world.root());
}
