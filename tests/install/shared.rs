//! Wires that a project shares name no place of one machine, and all wires refuse what they gate where there is no `ahp`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use ahp::event::Trigger;
use ahp::host::{HostEvent, Reply};
use ahp::install::{Installer, Needs, Patience};
use ahp::place::Scope;

use super::world;
use crate::world::{Ran, World};

/// Wires a host for a project whose `ahp` is in the search path.
fn wire(world: &World, installer: Installer) -> Vec<(String, String)> {
    let places = super::places(world);
    let patience = Patience::for_bindings(std::time::Duration::ZERO);
    let hooks = super::git_hooks(world);
    let changes = installer
        .install(&places, Scope::Project, &Needs::All, patience, Some(&hooks))
        .unwrap();
    for change in &changes {
        change.apply().unwrap();
    }
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    changes
        .iter()
        .map(|change| (change.path().display().to_string(), text(change.path())))
        .collect()
}

#[test]
fn shared_files_carry_no_path_of_a_machine() {
    for installer in Installer::all().filter(|i| i.host.name != "git") {
        if installer.host.file(Scope::Project).is_none() {
            continue;
        }
        let world = world();
        for (file, text) in wire(&world, installer) {
            // Codex keeps what it trusts in the person's own file, by the path of the hooks.
            if file.ends_with("config.toml") {
                continue;
            }
            assert!(!text.contains("/opt/my tools"), "{file}: {text}");
            assert!(
                text.contains("ahp hook --host ") || text.contains("exec ahp exec "),
                "{file}: {text}"
            );
        }
        let wires = installer
            .wires(&super::places(&world), Scope::Project, None)
            .unwrap();
        assert_eq!(
            wires.is_empty(),
            installer.is_shim(),
            "{}",
            installer.host.name
        );
    }
}

#[expect(clippy::disallowed_methods, reason = "a test starts real processes")]
fn run(command: &str, path: &Path) -> Ran {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).env_clear().env("PATH", path);
    Ran::of(&shell.output().unwrap())
}

#[test]
fn without_the_program_what_a_host_asks_about_is_refused_in_its_own_form() {
    let mut tried = 0;
    for (installer, scope) in super::every_pair() {
        // Git stops at every exit code, and OpenCode's plugin at all that it gets no answer for.
        let host = installer.host.name;
        if ["git", "monoco", "opencode"].contains(&host) {
            continue;
        }
        let world = world();
        let places = super::places(&world);
        super::install(&world, &installer, scope, &Needs::All);
        let empty = world.path("nothing");
        fs::create_dir_all(&empty).unwrap();
        for wire in installer.wires(&places, scope, None).unwrap() {
            let named =
                |m: &&HostEvent| m.names.iter().any(|n| n.eq_ignore_ascii_case(&wire.event));
            // Two that read one file have it in the names of the first.
            let Some(gates) = installer.host.events.iter().find(named) else {
                continue;
            };
            let is_tool = gates.trigger == Some(Trigger::PreToolUse);
            if !gates.gates() || (host == "cline" && !is_tool) {
                continue;
            }
            tried += 1;
            let command = if host == "cline" {
                let file = installer.file(&places, scope).unwrap().join(&wire.event);
                format!("/bin/sh '{}'", file.display())
            } else {
                wire.command.clone()
            };
            let ran = run(&command, &empty);
            let reply = Reply {
                stdout: ran.stdout.clone(),
                stderr: ran.stderr.clone(),
                blocks: ran.code == 2,
            };
            assert!(installer.host.obeys(&reply), "{host} {command}: {ran:?}");
            let says = host == "cline" || ran.stderr.contains("pipx install ahp-hooks");
            assert!(says, "{host} {command}: {ran:?}");
            assert_eq!(wire.weakness(installer.host), None, "{host} {command}");
        }
    }
    assert!(tried > 40, "{tried}");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "programs of this machine stay findable"
)]
fn the_program_in_the_search_path_is_called_by_its_name() {
    let world = World::new("extends: [ahp:standard]\n");
    let bin = world.path("tools");
    fs::create_dir_all(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_ahp"), bin.join("ahp")).unwrap();
    let path = format!(
        "{}:{}",
        bin.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let ahp = |words: &[&str]| {
        Ran::of(
            &world
                .ahp_command()
                .env("PATH", &path)
                .args(words)
                .output()
                .unwrap(),
        )
    };
    ahp(&["install", "claude", "--project"]);
    let text = world.read(".claude/settings.json");
    assert!(
        text.contains("\"ahp hook --host claude-code --event PreToolUse"),
        "{text}"
    );
    assert!(text.contains(" >&2; exit 2\""), "{text}");
    let examined = ahp(&["doctor", "claude"]);
    assert_eq!(examined.code, 0, "{}", examined.stdout);
    ahp(&["install", "claude", "--user"]);
    let own = fs::read_to_string(world.home().join(".claude/settings.json")).unwrap();
    assert!(
        own.contains(&format!("{}/ahp hook --host", bin.display())),
        "{own}"
    );
}
