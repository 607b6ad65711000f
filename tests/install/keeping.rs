//! What stands in a settings file before an installation: who may read it, where it is kept, and links to it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use ahp::install::{Installer, Needs, backup_of};
use ahp::place::Scope;

use super::{install, places, uninstall, world};
use crate::world::World;

/// Every installer of one settings file, with its user's file and a text that a person may have there.
fn settings(world: &World) -> Vec<(Installer, PathBuf, &'static str)> {
    [
        ("claude-code", "{\"mine\": 1}\n"),
        ("codex", "{\"mine\": 1}\n"),
        ("kimi-cli", "mine = 1\n"),
    ]
    .into_iter()
    .map(|(host, text)| {
        let installer = Installer::find(host).unwrap();
        let file = installer.file(&places(world), Scope::User).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        (installer, file, text)
    })
    .collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_only_its_owner_may_read_stays_so_where_it_is_kept() {
    let world = world();
    for (installer, file, text) in settings(&world) {
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        install(&world, &installer, Scope::User, &Needs::All);
        let backup = backup_of(&file);
        assert_eq!(fs::read_to_string(&backup).unwrap(), text);
        assert_eq!(
            (mode(&file), mode(&backup)),
            (0o600, 0o600),
            "{}",
            installer.host.name
        );
    }
}

#[test]
fn a_link_to_what_is_not_there_yet_stays_a_link() {
    let world = world();
    for (installer, file, _) in settings(&world) {
        let dots = Path::new("../dots").join(installer.host.name);
        symlink(&dots, &file).unwrap();
        install(&world, &installer, Scope::User, &Needs::All);
        assert_eq!(
            fs::read_link(&file).unwrap(),
            dots,
            "{}",
            installer.host.name
        );
        let written = fs::read_to_string(file.parent().unwrap().join(&dots)).unwrap();
        assert!(written.contains(" hook --host "), "{written}");
    }
}

#[test]
fn links_in_a_ring_are_refused() {
    let world = world();
    let claude = Installer::find("claude-code").unwrap();
    let file = claude.file(&places(&world), Scope::User).unwrap();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    symlink("settings.json", &file).unwrap();
    let patience = ahp::install::Patience::for_bindings(std::time::Duration::ZERO);
    claude
        .install(&places(&world), Scope::User, &Needs::All, patience, None)
        .unwrap_err();
}

#[test]
fn the_text_without_wires_is_kept_whatever_is_done_after() {
    let world = world();
    let first = Needs::Policy {
        asks_again: false,
        elicited: [].into(),
        triggers: [].into(),
        tasks: [].into(),
    };
    for (installer, file, text) in settings(&world) {
        let config = world.home().join(".codex/config.toml");
        fs::write(&file, text).unwrap();
        if installer.host.name == "codex" {
            fs::write(&config, "mine = 2\n").unwrap();
        }
        install(&world, &installer, Scope::User, &first);
        install(&world, &installer, Scope::User, &Needs::All);
        let kept = fs::read_to_string(backup_of(&file)).unwrap();
        assert_eq!(kept, text, "{}", installer.host.name);
        if installer.host.name == "codex" {
            let kept = fs::read_to_string(backup_of(&config)).unwrap();
            assert_eq!(kept, "mine = 2\n");
        }
        uninstall(&world, &installer, Scope::User);
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            text,
            "{}",
            installer.host.name
        );
        assert!(!backup_of(&file).exists());
        assert!(installer.host.name != "codex" || !backup_of(&config).exists());
        // What is changed between two installations is not lost either.
        let later = format!("{text}\n");
        fs::write(&file, &later).unwrap();
        install(&world, &installer, Scope::User, &first);
        let kept = fs::read_to_string(backup_of(&file)).unwrap();
        assert_eq!(kept, later, "{}", installer.host.name);
    }
}

#[test]
fn wires_behind_a_link_are_taken_out_and_the_link_stays() {
    let world = world();
    for (installer, file, _) in settings(&world) {
        install(&world, &installer, Scope::User, &Needs::All);
        let real = world.path(installer.host.name);
        fs::rename(&file, &real).unwrap();
        symlink(&real, &file).unwrap();
        uninstall(&world, &installer, Scope::User);
        assert_eq!(
            fs::read_link(&file).unwrap(),
            real,
            "{}",
            installer.host.name
        );
        let left = fs::read_to_string(&real).unwrap();
        assert!(!left.contains("ahp"), "{}: {left}", installer.host.name);
        assert_eq!(uninstall(&world, &installer, Scope::User), []);
    }
}

#[test]
fn line_ends_of_toml_stay_as_they_are() {
    let world = world();
    let kimi = Installer::find("kimi-cli").unwrap();
    let file = kimi.file(&places(&world), Scope::User).unwrap();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = "# mine\r\nmodel = \"x\"\r\n\r\n[models.x]\r\nmodel = \"y\"\r\n";
    fs::write(&file, text).unwrap();
    install(&world, &kimi, Scope::User, &Needs::All);
    let wired = fs::read_to_string(&file).unwrap();
    assert!(wired.lines().count() > 10);
    assert_eq!(wired.matches('\n').count(), wired.matches("\r\n").count());
    uninstall(&world, &kimi, Scope::User);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_file_that_an_installation_made_goes_away_with_it() {
    let world = world();
    let codex = Installer::find("codex").unwrap();
    install(&world, &codex, Scope::User, &Needs::All);
    let config = world.home().join(".codex/config.toml");
    assert!(config.exists());
    uninstall(&world, &codex, Scope::User);
    assert!(!config.exists());
}

/// The marks of both scopes stand in one file.
#[test]
fn codex_trusts_the_hooks_of_two_scopes_at_once() {
    let world = world();
    let codex = Installer::find("codex").unwrap();
    let scopes = [Scope::Project, Scope::User];
    for scope in scopes {
        install(&world, &codex, scope, &Needs::All);
    }
    for scope in scopes {
        assert!(codex.is_trusted(&places(&world), scope), "{scope}");
        assert_eq!(install(&world, &codex, scope, &Needs::All), [], "{scope}");
    }
    let config = world.home().join(".codex/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    let stale = text.replacen("sha256:", "sha256:0", 1);
    fs::write(&config, stale).unwrap();
    let is_trusted = |scope: &Scope| codex.is_trusted(&places(&world), *scope);
    assert_eq!(scopes.iter().filter(|scope| is_trusted(scope)).count(), 1);
    for scope in scopes {
        install(&world, &codex, scope, &Needs::All);
    }
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
}

#[test]
fn settings_of_another_shape_are_refused_by_name() {
    let world = world();
    let claude = Installer::find("claude-code").unwrap();
    let file = claude.file(&places(&world), Scope::User).unwrap();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let patience = ahp::install::Patience::for_bindings(std::time::Duration::ZERO);
    for (text, told) in [
        ("[]", "the whole of it is not an object"),
        (r#"{"hooks": null}"#, "`hooks` is not an object"),
        (
            r#"{"hooks": {"PreToolUse": 1}}"#,
            "`hooks.PreToolUse` is not a list",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let error = claude
            .install(&places(&world), Scope::User, &Needs::All, patience, None)
            .unwrap_err()
            .to_string();
        assert!(error.contains(told), "{text}: {error}");
        assert!(
            error.contains(&file.display().to_string()),
            "{text}: {error}"
        );
    }
}

#[test]
fn a_first_text_of_ours_is_not_kept_as_if_it_were_a_persons() {
    let world = world();
    let first = Needs::Policy {
        asks_again: false,
        elicited: [].into(),
        triggers: [].into(),
        tasks: [].into(),
    };
    for name in ["claude-code", "codex", "kimi-cli"] {
        let installer = Installer::find(name).unwrap();
        install(&world, &installer, Scope::User, &first);
        install(&world, &installer, Scope::User, &Needs::All);
        let file = installer.file(&places(&world), Scope::User).unwrap();
        assert!(!backup_of(&file).exists(), "{name}");
        uninstall(&world, &installer, Scope::User);
        assert!(!file.exists() && !backup_of(&file).exists(), "{name}");
    }
}

/// Settings in every form that a person may have given them.
const FORMS: &[&str] = &[
    "{}",
    "{\"mine\": 1}",
    "{\"hooks\": {}}\n",
    "{\"hooks\": {\"Stop\": [], \"PreToolUse\": [{\"hooks\": []}]}}\n",
    "{\r\n \"hooks\": {\r\n  \"Stop\": [\r\n  ]\r\n }\r\n}\r\n",
    "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"./x\"},]},\n\t\t],\n\t},\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": []} // one\n      // end\n    ]\n  }\n}",
    "\u{feff}{\n  \"mine\": 1 // with a mark\n}\n",
    "// above\n{ /* inside */ }\n// below\n",
];

#[test]
fn settings_of_every_form_come_back_as_they_were() {
    for form in FORMS {
        let world = world();
        let claude = Installer::find("claude-code").unwrap();
        let file = claude.file(&places(&world), Scope::User).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, form).unwrap();
        install(&world, &claude, Scope::User, &Needs::All);
        let wires = claude.wires(&places(&world), Scope::User, None).unwrap();
        assert!(wires.len() > 5, "{form}: {wires:?}");
        assert_eq!(
            install(&world, &claude, Scope::User, &Needs::All),
            [],
            "{form}"
        );
        uninstall(&world, &claude, Scope::User);
        assert_eq!(fs::read_to_string(&file).unwrap(), *form);
        assert!(!backup_of(&file).exists(), "{form}");
    }
}

#[test]
fn what_a_person_writes_between_installation_and_its_end_stays() {
    let world = world();
    let claude = Installer::find("claude-code").unwrap();
    let file = claude.file(&places(&world), Scope::User).unwrap();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\n  \"mine\": 1\n}\n").unwrap();
    install(&world, &claude, Scope::User, &Needs::All);
    let wired = fs::read_to_string(&file).unwrap();
    fs::write(&file, wired.replace("\"mine\": 1", "// why\n  \"mine\": 2")).unwrap();
    uninstall(&world, &claude, Scope::User);
    let left = fs::read_to_string(&file).unwrap();
    assert_eq!(left, "{\n  // why\n  \"mine\": 2\n}\n");
    assert!(!backup_of(&file).exists());
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    let world = world();
    let claude = Installer::find("claude-code").unwrap();
    let file = claude.file(&places(&world), Scope::User).unwrap();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let patience = ahp::install::Patience::for_bindings(std::time::Duration::ZERO);
    let deep = "[".repeat(10_000);
    for text in [
        "{\"a\" 1}",
        "{\"a\": \"x}",
        "{a: 1}",
        "{'a': 1}",
        "{\"a\": 1 \"b\": 2}",
        "{} {}",
        &deep,
    ] {
        fs::write(&file, text).unwrap();
        let refused = claude.install(&places(&world), Scope::User, &Needs::All, patience, None);
        let told = refused.unwrap_err().to_string();
        assert!(
            told.contains("is not JSON; line 1, column "),
            "{text}: {told}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}
