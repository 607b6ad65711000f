//! What an installation writes is what self-protection guards, wherever the variables of a host have moved it.

use std::path::Path;

use ahp::config::{Environment, Locations};
use ahp::engine::{Engine, block_on};
use ahp::event::Event;
use ahp::guard;
use ahp::install::{Installer, Places};
use ahp::place::Scope;
use ahp::verdict::Decision;
use serde_json::json;

use crate::world::World;

fn locations(world: &World, variable: Option<(&str, &Path)>) -> Locations {
    let home = world.home();
    let set = variable.map(|(name, dir)| (name, dir.to_str().unwrap()));
    let variables = [("HOME", home.to_str().unwrap())].into_iter().chain(set);
    Locations::find(&Environment::of(world.root(), variables), None)
}

/// Whether an agent may write a file.
fn is_stopped(locations: &Locations, file: &Path) -> bool {
    let engine = Engine::builder()
        .locations(locations.clone())
        .without_log()
        .build()
        .unwrap();
    let event = Event::tool_use("Write", json!({"file_path": file, "content": "{}"}));
    block_on(engine.evaluate(event)).decision == Decision::Block
}

fn world() -> World {
    World::new("hooks:\n  pre-tool-use:\n    - oracle: FileChangeLimiter\n")
}

#[test]
fn every_file_that_an_installation_writes_is_guarded_wherever_a_variable_moves_it() {
    let world = world();
    let moved = world.path("moved/here");
    let mut tried = 0;
    for installer in Installer::all() {
        let variables = installer
            .host
            .places()
            .filter_map(ahp::place::Place::variable);
        for variable in variables.map(Some).chain([None]) {
            let locations = locations(&world, variable.map(|name| (name, moved.as_path())));
            let places = Places {
                roots: locations.roots(),
                program: "/opt/ahp".into(),
                by_name: ahp::install::ByName::This,
            };
            for scope in Scope::ALL {
                let Ok(file) = installer.file(&places, scope) else {
                    continue;
                };
                tried += 1;
                let host = installer.host.name;
                assert!(
                    is_stopped(&locations, &file),
                    "{host} {scope} {variable:?}: {file:?}"
                );
            }
        }
    }
    assert!(tried > 40, "{tried}");
}

#[test]
fn every_known_place_is_guarded_wherever_its_variable_moves_it() {
    let world = world();
    let moved = world.path("moved/here");
    for place in guard::known() {
        let locations = locations(&world, place.variable().map(|name| (name, moved.as_path())));
        for (dir, name) in locations.roots().all(place) {
            let file = dir.join(name.replace('*', "some"));
            assert!(is_stopped(&locations, &file), "{place:?}: {file:?}");
        }
    }
    // Where nothing of it lies, the directory is anybody's.
    let usual = locations(&world, None);
    assert!(!is_stopped(&usual, &moved.join("hooks.json")));
    assert!(!is_stopped(
        &usual,
        &world.home().join(".claude/skills/some/SKILL.md")
    ));
    assert!(!is_stopped(
        &usual,
        &world.path(".claude/skills/some/SKILL.md")
    ));
}

#[test]
fn what_a_policy_is_made_of_is_guarded_wherever_it_lies() {
    let world = world();
    world.write("policies/team.yaml", "hooks: {}\n");
    world.write(
        ".ahp/hooks.yaml",
        "extends: [../policies/team.yaml]\nsettings:\n  log: {path: logs/agent.jsonl}\n  oracles: [checks]\n  \
         agent_hooks: [more-hooks]\nhooks:\n  pre-tool-use:\n    - oracle: FileChangeLimiter\n",
    );
    let locations = locations(&world, None);
    for file in [
        "policies/team.yaml",
        "logs/agent.jsonl",
        "logs/agent-1.jsonl.zst",
        "checks/mine.rhai",
        "more-hooks/guard/scripts/run.sh",
    ] {
        assert!(is_stopped(&locations, &world.path(file)), "{file}");
    }
    for file in [
        "policies/notes.md",
        "logs/agents.md",
        "checks/mine.py",
        "src/main.rs",
    ] {
        assert!(!is_stopped(&locations, &world.path(file)), "{file}");
    }
}
