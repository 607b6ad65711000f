//! Settings of a machine: what its administrator writes for everybody, and that nobody else's settings reach it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use ahp::install::{InstallError, Installer, Needs, Patience, Places};
use ahp::place::Scope;
use serde_json::{Value, json};

use super::{install, places, uninstall, world};
use crate::world::World;

fn find(host: &str) -> Installer {
    Installer::find(host).unwrap()
}

fn file(world: &World, host: &str) -> PathBuf {
    find(host).file(&places(world), Scope::System).unwrap()
}

fn put(world: &World, host: &str, text: &str) {
    let file = file(world, host);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn json_of(world: &World, host: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(file(world, host)).unwrap()).unwrap()
}

#[test]
fn codex_gets_requirements_that_it_reads_without_trust() {
    let world = world();
    install(&world, &find("codex"), Scope::System, &Needs::All);
    let text = fs::read_to_string(file(&world, "codex")).unwrap();
    let requirements: toml_edit::DocumentMut = text.parse().unwrap();
    assert_eq!(requirements["features"]["hooks"].as_bool(), Some(true));
    let managed = requirements["hooks"]["managed_dir"].as_str();
    assert_eq!(managed, Some("/opt/my tools"));
    let group = requirements["hooks"]["PreToolUse"].as_array_of_tables();
    let group = group.unwrap().get(0).unwrap();
    let hook = group["hooks"].as_array_of_tables().unwrap().get(0).unwrap();
    assert_eq!(hook["type"].as_str(), Some("command"));
    let call = "'/opt/my tools/ahp' hook --host codex --event PreToolUse --timeout 54 && exit 0; ";
    let command = hook["command"].as_str().unwrap();
    assert!(command.starts_with(call) && command.ends_with("' >&2; exit 2"));
    assert_eq!(hook["timeout"].as_integer(), Some(60));
    assert!(requirements.get("allow_managed_hooks_only").is_none());
    assert!(!world.home().join(".codex/config.toml").exists());
}

#[test]
fn the_hooks_of_the_machine_can_be_the_only_ones() {
    for (host, key) in [
        ("claude-code", "allowManagedHooksOnly"),
        ("codex", "allow_managed_hooks_only"),
    ] {
        let world = world();
        let installer = find(host);
        let patience = Patience::for_bindings(Duration::ZERO);
        let only = installer.only().unwrap();
        let changes = || {
            let places = places(&world);
            let changes = only.install(&places, Scope::System, &Needs::All, patience, None);
            let changes = changes.unwrap();
            for change in &changes {
                change.apply().unwrap();
            }
            changes
        };
        assert_eq!(changes().len(), 1, "{host}");
        assert_eq!(changes(), [], "{host}: a second time");
        let text = fs::read_to_string(file(&world, host)).unwrap();
        assert!(text.contains(key), "{host}: {text}");
        // What was made the rule stays it where the wires are only brought up to date.
        assert_eq!(install(&world, &installer, Scope::System, &Needs::All), []);
        uninstall(&world, &installer, Scope::System);
        assert!(!file(&world, host).exists(), "{host}");
    }
    let refused = find("gemini-cli").only().unwrap_err();
    assert!(matches!(refused, InstallError::NotOnly("gemini-cli")));
}

#[test]
fn what_an_administrator_has_set_comes_back() {
    let claude = "{\n  \"allowManagedHooksOnly\": false,\n  \"model\": \"opus\"\n}\n";
    let codex = "allow_managed_hooks_only = false\n\n[features]\nhooks = false\n";
    let vscode = "{\"ChatHooks\": false, \"UpdateMode\": \"none\"}\n";
    for (host, text) in [
        ("claude-code", claude),
        ("codex", codex),
        ("vscode", vscode),
    ] {
        let world = world();
        put(&world, host, text);
        let installer = find(host);
        let installer = installer.only().unwrap_or(installer);
        install(&world, &installer, Scope::System, &Needs::All);
        let during = fs::read_to_string(file(&world, host)).unwrap();
        assert!(!during.contains("false"), "{host}: {during}");
        // A line of somebody else's comes in between.
        let more = match host {
            "codex" => during.replace("[features]", "[features]\nweb_search = true"),
            _ => during.replacen('{', "{\"more\": 1,", 1),
        };
        fs::write(file(&world, host), more).unwrap();
        uninstall(&world, &installer, Scope::System);
        let after = fs::read_to_string(file(&world, host)).unwrap();
        let times = |text: &str| text.matches("false").count();
        assert_eq!(times(&after), times(text), "{host}: {after}");
        assert!(
            after.contains("more") || after.contains("web_search"),
            "{after}"
        );
        assert!(!after.contains("ahp"), "{host}: {after}");
    }
}

#[test]
fn vs_code_is_kept_from_being_switched_off() {
    let world = world();
    let vscode = find("vscode");
    let off = || vscode.switched_off(&places(&world)).unwrap();
    put(&world, "vscode", r#"{"ChatHooks": false}"#);
    assert_eq!(off(), Some(("ChatHooks", file(&world, "vscode"))));
    install(&world, &vscode, Scope::System, &Needs::All);
    assert_eq!(json_of(&world, "vscode"), json!({"ChatHooks": true}));
    assert_eq!(off(), None);
}

#[test]
fn only_the_machines_own_settings_reach_its_hooks() {
    let world = world();
    let claude = find("claude-code");
    let off = || claude.switched_off(&places(&world)).unwrap();
    let own = world.home().join(".claude/settings.json");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, r#"{"disableAllHooks": true}"#).unwrap();
    assert_eq!(off(), Some(("disableAllHooks", own)));
    install(&world, &claude, Scope::System, &Needs::All);
    assert_eq!(off(), None);
    let machine = file(&world, "claude-code");
    let mut settings = json_of(&world, "claude-code");
    settings["disableAllHooks"] = json!(true);
    fs::write(&machine, settings.to_string()).unwrap();
    assert_eq!(off(), Some(("disableAllHooks", machine)));
}

#[test]
fn where_only_the_machines_hooks_run_others_are_told_that_they_do_not() {
    for (host, text, key) in [
        (
            "claude-code",
            r#"{"allowManagedHooksOnly": true}"#,
            "allowManagedHooksOnly",
        ),
        (
            "codex",
            "allow_managed_hooks_only = true\n",
            "allow_managed_hooks_only",
        ),
    ] {
        let world = world();
        put(&world, host, text);
        let installer = find(host);
        install(&world, &installer, Scope::User, &Needs::All);
        let off = installer.switched_off(&places(&world)).unwrap();
        assert_eq!(off, Some((key, file(&world, host))), "{host}");
    }
}

#[test]
fn a_file_of_the_machine_that_is_no_table_is_refused_by_name() {
    for (text, told) in [
        ("hooks = 1\n", "`hooks` is not a table"),
        ("features = []\n", "`features` is not a table"),
        (
            "[hooks]\nPreToolUse = 1\n",
            "`hooks.PreToolUse` is not written as `[[…]]` tables",
        ),
        ("[hooks\n", "not TOML"),
    ] {
        let world = world();
        put(&world, "codex", text);
        let patience = Patience::for_bindings(Duration::ZERO);
        let places: Places = places(&world);
        let refused = find("codex").install(&places, Scope::System, &Needs::All, patience, None);
        let told_of = refused.unwrap_err().to_string();
        assert!(told_of.contains(told), "{text}: {told_of}");
        assert_eq!(fs::read_to_string(file(&world, "codex")).unwrap(), text);
    }
}
