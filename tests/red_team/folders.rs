//! Folders of hosts that are filled or put there as a whole: every way with every folder, and with names that a host takes its
//! hooks from beside names that none does.

use super::classes::Judge;
use crate::world::World;

/// Folders in which a host's settings or hooks would lie, and a name that decides there.
const OF_HOSTS: &[(&str, &str)] = &[
    (".claude", "settings.json"),
    (".codex", "hooks.json"),
    (".gemini", "settings.json"),
    (".github/copilot", "settings.json"),
    (".opencode", "plugin"),
    (".cursor", "hooks.json"),
    (".factory", "settings.json"),
    (".kiro", "agents"),
    (".clinerules", "hooks"),
    (".qwen", "settings.json"),
    ("~/.claude", "settings.json"),
    ("~/.codex", "config.toml"),
];

/// Folders of ours, and those in which code of a host or several hosts have theirs.
const FURTHER: &[&str] = &[
    ".ahp",
    ".agents",
    ".agents/hooks",
    ".claude/skills",
    ".claude/skills/x",
    ".github",
    "~/.ahp",
    "~/.config/agents",
    "~/.config/opencode",
    "sub/.agents",
];

fn ways(kind: &str) -> impl Iterator<Item = &'static str> {
    let lines = include_str!("folders.txt").lines();
    lines.filter_map(move |line| line.strip_prefix(kind)?.strip_prefix(": "))
}

/// A project with a policy and no host's folder, and with a folder that holds every name which decides in one.
fn bare() -> World {
    let world = World::new("");
    world.write(".ahp/hooks.yaml", "version: 1\n");
    world.write("docs/a.md", "");
    world.write("plain/SKILL.md", "");
    for (_, name) in OF_HOSTS {
        world.write(&format!("all/{name}"), "");
    }
    for name in ["hooks.yaml", "hooks/x/HOOK.md", "hooks/hooks.json"] {
        world.write(&format!("evil/{name}"), "");
    }
    world
}

/// The same with the folder of every host there.
fn wired() -> World {
    let world = bare();
    for (dir, _) in OF_HOSTS.iter().filter(|(dir, _)| !dir.starts_with('~')) {
        world.write(&format!("{dir}/notes.md"), "");
    }
    world.write(".claude/settings.json", "{}");
    world
}

fn folders() -> impl Iterator<Item = &'static str> {
    let of_hosts = OF_HOSTS.iter().map(|(dir, _)| *dir);
    of_hosts.chain(FURTHER.iter().copied())
}

#[test]
fn no_folder_of_a_host_is_filled_with_what_nobody_has_named() {
    for world in [bare(), wired()] {
        let mut judge = Judge::of(world);
        for way in ways("fills") {
            for folder in folders() {
                judge.stops_command(&way.replace("@D", folder));
            }
        }
        judge.end(1_000);
    }
}

#[test]
fn no_folder_of_a_host_is_put_there_as_a_whole() {
    let mut judge = Judge::of(bare());
    for way in ways("makes") {
        // What lies in a folder that can be looked into decides.
        let is_looked_into = way.contains("all/");
        for (folder, _) in OF_HOSTS {
            judge.stops_command(&way.replace("@D", folder));
        }
        for folder in FURTHER.iter().filter(|_| !is_looked_into) {
            judge.stops_command(&way.replace("@D", folder));
        }
    }
    judge.end(250);
}

#[test]
fn what_comes_from_elsewhere_is_judged_by_the_name_that_it_keeps() {
    let mut judge = Judge::of(wired());
    for way in ways("fetches") {
        for (folder, name) in OF_HOSTS {
            let way = way.replace("@D", folder);
            judge.stops_command(&way.replace("@N", name));
            judge.lets_pass(&way.replace("@N", "notes.md"));
        }
    }
    judge.end(250);
}

#[test]
fn what_fills_no_guarded_place_passes() {
    for world in [bare(), wired()] {
        let mut judge = Judge::of(world);
        for way in ways("free") {
            for (folder, _) in OF_HOSTS {
                judge.lets_pass(&way.replace("@D", folder));
            }
        }
        judge.end(500);
    }
}
