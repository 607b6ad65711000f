//! What is packed: one version everywhere, every maker knows every target, and what is fetched at installation is nothing.

use std::fs;
use std::path::Path;

use serde_json::Value;

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
    for file in ["src/lib.rs", "packaging/install.sh"] {
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
        assert!(
            command.starts_with("command -v ahp >/dev/null || {"),
            "{command}"
        );
        // A stop that is refused where nobody counts would make the agent go on for ever.
        let stops_nothing = !trigger.is_pre() || event == "Stop";
        assert_eq!(
            command.contains("exit 0; }"),
            stops_nothing,
            "{event}: {command}"
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
