//! What stands in a settings file before an installation: who may read it, where it is kept, and links to it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;

use ahp::install::Installer;
use ahp::install::Needs;
use ahp::install::Scope;
use ahp::install::backup_of;

use super::install;
use super::places;
use super::uninstall;
use super::world;
use crate::world::World;

/// Every installer of one settings file, with its user's file and a text that a person may have there.
fn settings(world: &World) -> Vec<(&'static Installer, PathBuf, &'static str)> {
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
        install(&world, installer, Scope::User, &Needs::All);
        let backup = backup_of(&file);
        assert_eq!(fs::read_to_string(&backup).unwrap(), text);
        assert_eq!(
            (mode(&file), mode(&backup)),
            (0o600, 0o600),
            "{}",
            installer.host
        );
    }
}

#[test]
fn a_link_to_what_is_not_there_yet_stays_a_link() {
    let world = world();
    for (installer, file, _) in settings(&world) {
        let dots = Path::new("../dots").join(installer.host);
        symlink(&dots, &file).unwrap();
        install(&world, installer, Scope::User, &Needs::All);
        assert_eq!(fs::read_link(&file).unwrap(), dots, "{}", installer.host);
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
    let first = Needs::Triggers(std::collections::BTreeSet::new());
    for (installer, file, text) in settings(&world) {
        let config = world.home().join(".codex/config.toml");
        fs::write(&file, text).unwrap();
        if installer.host == "codex" {
            fs::write(&config, "mine = 2\n").unwrap();
        }
        install(&world, installer, Scope::User, &first);
        install(&world, installer, Scope::User, &Needs::All);
        uninstall(&world, installer, Scope::User);
        let kept = fs::read_to_string(backup_of(&file)).unwrap();
        assert_eq!(kept, text, "{}", installer.host);
        if installer.host == "codex" {
            let kept = fs::read_to_string(backup_of(&config)).unwrap();
            assert_eq!(kept, "mine = 2\n");
        }
        // What is changed between two installations is not lost either.
        let later = format!("{text}\n");
        fs::write(&file, &later).unwrap();
        install(&world, installer, Scope::User, &first);
        let kept = fs::read_to_string(backup_of(&file)).unwrap();
        assert_eq!(kept, later, "{}", installer.host);
    }
}

#[test]
fn wires_behind_a_link_are_taken_out_and_the_link_stays() {
    let world = world();
    for (installer, file, _) in settings(&world) {
        install(&world, installer, Scope::User, &Needs::All);
        let real = world.path(installer.host);
        fs::rename(&file, &real).unwrap();
        symlink(&real, &file).unwrap();
        uninstall(&world, installer, Scope::User);
        assert_eq!(fs::read_link(&file).unwrap(), real, "{}", installer.host);
        let left = fs::read_to_string(&real).unwrap();
        assert!(!left.contains("ahp"), "{}: {left}", installer.host);
        assert_eq!(uninstall(&world, installer, Scope::User), []);
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
    install(&world, kimi, Scope::User, &Needs::All);
    let wired = fs::read_to_string(&file).unwrap();
    assert!(wired.lines().count() > 10);
    assert_eq!(wired.matches('\n').count(), wired.matches("\r\n").count());
    uninstall(&world, kimi, Scope::User);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_file_that_an_installation_made_goes_away_with_it() {
    let world = world();
    let codex = Installer::find("codex").unwrap();
    install(&world, codex, Scope::User, &Needs::All);
    let config = world.home().join(".codex/config.toml");
    assert!(config.exists());
    uninstall(&world, codex, Scope::User);
    assert!(!config.exists());
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
    }
}
