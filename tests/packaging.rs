//! What is packed: one version everywhere, every maker knows every target, and what is fetched at installation is nothing.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::world::{Ran, World, executable};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

/// The text behind a mark, up to a quote or white space.
fn behind(text: &str, mark: &str) -> String {
    let (_, rest) = text
        .split_once(mark)
        .unwrap_or_else(|| panic!("no `{mark}`"));
    rest.split(|c: char| c == '"' || c.is_whitespace())
        .next()
        .unwrap()
        .to_owned()
}

/// The versions of three numbers in a text.
fn versions(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let words = words.map(|word| word.trim_matches('.'));
    words
        .filter(|word| word.split('.').count() == 3)
        .filter(|word| word.split('.').all(|part| !part.is_empty()))
        .map(str::to_owned)
}

#[test]
fn the_version_is_one() {
    let version = env!("CARGO_PKG_VERSION");
    let wheel = read("packaging/python/pyproject.toml");
    assert_eq!(behind(&wheel, "\nversion = \""), version);
    assert_eq!(json("packaging/npm/package.json")["version"], version);
    let hooks = read("pyproject.toml");
    assert_eq!(behind(&hooks, "\nversion = \""), version);
    assert_eq!(behind(&hooks, "\"ahp-hooks=="), version);
    assert_eq!(
        json("packaging/plugin/.claude-plugin/plugin.json")["version"],
        version
    );
    let fleet = read("fleet/Cargo.toml");
    assert_eq!(behind(&fleet, "\nversion = \""), version);
    assert_eq!(behind(&fleet, "path = \"..\", version = \""), version);
    // What they tell people to install, but for the versions of other things.
    for (file, others) in [
        ("packaging/gitlab.yml", &[][..]),
        ("action.yml", &[]),
        ("docs/how-to/install.md", &[]),
        ("docs/how-to/ci.md", &["SARIF 2.1.0"]),
    ] {
        let mut text = read(file);
        for other in others {
            text = text.replace(other, "");
        }
        let versions: Vec<_> = versions(&text).collect();
        assert!(!versions.is_empty(), "{file} names no version");
        assert!(
            versions.iter().all(|v| v == version),
            "{file}: {versions:?}"
        );
    }
}

#[test]
fn every_maker_knows_every_target() {
    let targets = json("packaging/targets.json");
    let targets = targets.as_array().unwrap();
    let (script, formula) = (
        read("packaging/install.sh"),
        read("packaging/homebrew/ahp.rb"),
    );
    let release = read(".github/workflows/release.yml");
    let action = read("action.yml");
    for target in targets {
        let triple = target["triple"].as_str().unwrap();
        assert!(
            script.contains(&format!("triple={triple} ")),
            "install.sh: {triple}"
        );
        for mark in ["URL", "SUM"] {
            assert!(
                formula.contains(&format!("@{mark}:{triple}@")),
                "ahp.rb: {triple}"
            );
        }
        let is_linux = triple.contains("linux");
        assert_eq!(target["static"], is_linux, "{triple}");
        assert_eq!(target["deb"].is_string(), is_linux, "{triple}");
        assert_eq!(target["npm"]["os"] == "linux", is_linux, "{triple}");
        let (cpu, system) = triple.split_once('-').unwrap();
        for part in [cpu, system] {
            assert!(
                action.contains(&format!("={part} ;;")),
                "action.yml: {part}"
            );
        }
        assert!(target["wheel"].as_str().unwrap().contains(if is_linux {
            "manylinux"
        } else {
            "macosx"
        }));
    }
    assert_eq!(targets.len(), script.matches("triple=").count());
    // The workflow takes its machines from the same table.
    assert!(release.contains("packaging/targets.json"));
}

#[test]
fn a_system_without_a_program_is_told_the_way_out() {
    let way_out = "on Windows, install it in WSL";
    assert!(read("src/lib.rs").contains("#[cfg(not(unix))]\ncompile_error!("));
    for file in [
        "src/lib.rs",
        "packaging/install.sh",
        "packaging/npm/lib/program.js",
    ] {
        assert!(read(file).contains(way_out), "{file}");
    }
}

#[test]
fn nothing_runs_or_is_fetched_at_installation() {
    let manifest = json("packaging/npm/package.json");
    assert!(manifest.get("scripts").is_none());
    assert!(manifest.get("dependencies").is_none());
    assert!(!read("packaging/pack").contains("\"scripts\""));
    assert!(!read("packaging/python/pyproject.toml").contains("\ndependencies"));
}

#[test]
fn the_plugin_asks_at_the_events_that_install_would_wire() {
    let host = ahp::host::Host::find("claude-code").unwrap();
    let hooks = json("packaging/plugin/hooks/hooks.json");
    let events = hooks["hooks"].as_object().unwrap();
    for (event, entries) in events {
        let wired_event = host.event(event).unwrap_or_else(|| panic!("{event}"));
        let trigger = wired_event
            .trigger
            .unwrap_or_else(|| panic!("{event} is ignored"));
        let command = entries[0]["hooks"][0]["command"].as_str().unwrap();
        assert_eq!(
            command,
            ahp::install::Installer::plugin_command(wired_event),
            "{event}"
        );
        assert_eq!(
            entries[0]["hooks"][0]["onFailure"] == "block",
            wired_event.gates(),
            "{event}"
        );
        assert_eq!(
            entries[0].get("matcher").is_some(),
            trigger.is_tool() && !wired_event.is_settings,
            "{event}"
        );
    }
    // What can hold something, and the beginning and end of what a session counts.
    for needed in [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
    ] {
        assert!(events.contains_key(needed), "{needed}");
    }
}

/// In every shell by which a host may run it, an end of the program other than its own answer is a refusal with words where
/// the event gates something, and words alone where it does not.
#[test]
fn the_plugin_answers_where_its_program_is_missing_or_dies_or_is_another() {
    let host = ahp::host::Host::find("claude-code").unwrap();
    let hooks = json("packaging/plugin/hooks/hooks.json");
    let world = World::new("");
    fs::create_dir(world.path("absent")).unwrap();
    let programs = [
        ("killed", "kill -9 $$"),
        ("another", "exit 1"),
        ("refuses", "echo because >&2; exit 2"),
        ("passes", "echo noted >&2; exit 0"),
    ];
    for (name, text) in programs {
        fs::create_dir(world.path(name)).unwrap();
        executable(
            &world.path(name).join("ahp"),
            &format!("#!/bin/sh\n{text}\n"),
        );
    }
    let names = programs.map(|(name, _)| name).into_iter();
    let shells: &[&[&str]] = &[
        &["/bin/sh"],
        &["/bin/bash"],
        &["/bin/dash"],
        &["/bin/busybox", "sh"],
        &["/bin/mksh"],
        &["/bin/zsh"],
        &["/usr/bin/fish"],
    ];
    for shell in shells.iter().filter(|shell| Path::new(shell[0]).exists()) {
        for (event, entries) in hooks["hooks"].as_object().unwrap() {
            let command = entries[0]["hooks"][0]["command"].as_str().unwrap();
            let gates = host.event(event).unwrap().gates();
            for name in names.clone().chain(["absent"]) {
                let mut run = world.command(shell[0]);
                let run = run.args(&shell[1..]).args(["-c", command]);
                let ran = Ran::of(&run.env("PATH", world.path(name)).output().unwrap());
                let at = format!("{shell:?} {event} {name}: {ran:?}");
                let is_fish = shell[0].ends_with("fish");
                match name {
                    "passes" => assert_eq!((ran.code, &*ran.stderr), (0, "noted\n"), "{at}"),
                    // It cannot be asked there how the program ended.
                    "refuses" if is_fish => assert_eq!(ran.code == 2, gates, "{at}"),
                    "refuses" => assert_eq!((ran.code, &*ran.stderr), (2, "because\n"), "{at}"),
                    _ => {
                        assert_eq!(ran.code, if gates { 2 } else { 0 }, "{at}");
                        let words = if gates {
                            "ahp did not answer, so this is refused; to install it: pipx"
                        } else {
                            "ahp did not answer, so nothing was judged; to install it: pipx"
                        };
                        assert!(ran.stderr.contains(words), "{at}");
                    }
                }
            }
        }
    }
}

/// What is installed is the very file that was verified, and nothing of it runs before.
#[test]
fn the_action_verifies_what_is_attested_before_it_runs_any_of_it() {
    let (action, release) = (read("action.yml"), read(".github/workflows/release.yml"));
    assert!(release.contains("subject-path: dist/*"));
    let at = |text: &str| action.find(text).unwrap_or_else(|| panic!("no `{text}`"));
    let verified = at("gh attestation verify \"$release/$file\"");
    let files = at("for file in install.sh SHA256SUMS \"ahp-$version-$cpu-$system.tar.gz\"");
    let run = at("AHP_BASE_URL=file://$release");
    assert!(files < verified && verified < run);
    assert_eq!(action.matches("sh \"$release/install.sh\"").count(), 1);
    assert!(action.contains("ahp test --report github"));
}

/// Not every package has the pages: a message names a command that tells, or tells itself.
#[test]
fn no_message_names_a_page() {
    let mut open = vec!["src".into(), "fleet/src".into()];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        let path: std::path::PathBuf = path;
        let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join(&path);
        if whole.is_dir() {
            let entries = fs::read_dir(&whole).unwrap();
            open.extend(entries.map(|entry| path.join(entry.unwrap().file_name())));
            continue;
        }
        if path.extension().is_none_or(|kind| kind != "rs") {
            continue;
        }
        let text = fs::read_to_string(&whole).unwrap();
        for (number, line) in text.lines().enumerate() {
            let shown = line.trim_start();
            let said = !shown.starts_with("//") && !shown.starts_with("#[doc");
            let mut pages = line
                .split(|c: char| !(c.is_ascii_alphanumeric() || "/-_.".contains(c)))
                .filter(|word| {
                    word.starts_with("docs/")
                        && Path::new(word).extension().is_some_and(|e| e == "md")
                });
            // Examples name pages too, but of other projects.
            if said && pages.any(|page| Path::new(env!("CARGO_MANIFEST_DIR")).join(page).is_file())
            {
                found.push(format!("{}:{}: {shown}", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
