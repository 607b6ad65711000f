//! Files that are not a configuration: too large, not text, not a file, not readable.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use ahp::config::{Config, Loaded, Locations};
use ahp::diagnostic::{Code, render};

/// Makes a project with a layer file by `make` and loads it.
fn load(make: impl FnOnce(&Path)) -> Loaded {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir(project.path().join(".ahp")).unwrap();
    make(&project.path().join(".ahp/hooks.yaml"));
    Config::load(&Locations::of_project(project.path()))
}

fn assert_refused(loaded: &Loaded, code: Code, place: &str) {
    assert_eq!(loaded.diagnostics.len(), 1, "{:?}", loaded.diagnostics);
    let diagnostic = &loaded.diagnostics[0];
    assert_eq!(diagnostic.code, code, "{}", diagnostic.message);
    let drawn = render(diagnostic, &loaded.sources, false);
    assert!(drawn.contains(place), "{drawn}");
    assert!(loaded.is_broken() && !diagnostic.help.is_empty());
}

#[test]
fn a_large_file_is_refused_unread() {
    let loaded = load(|path| fs::write(path, vec![b'#'; 10 << 20]).unwrap());
    assert_refused(&loaded, Code::TooLarge, ".ahp/hooks.yaml");
}

#[test]
fn text_that_is_not_utf8_is_shown_at_the_first_wrong_byte() {
    let loaded = load(|path| fs::write(path, b"hooks: {}\n# caf\xe9\n").unwrap());
    assert_refused(&loaded, Code::NotUtf8, ".ahp/hooks.yaml:2:6");
}

#[test]
fn a_directory_a_pipe_and_a_dangling_link_are_refused() {
    let loaded = load(|path| fs::create_dir(path).unwrap());
    assert_refused(&loaded, Code::Unreadable, ".ahp/hooks.yaml");
    let loaded = load(|path| symlink("/dev/null", path).unwrap());
    assert_refused(&loaded, Code::Unreadable, ".ahp/hooks.yaml");
    let loaded = load(|path| symlink("nowhere", path).unwrap());
    assert_refused(&loaded, Code::Unreadable, ".ahp/hooks.yaml");
}

#[test]
fn a_file_in_place_of_the_directory_is_refused() {
    let project = tempfile::tempdir().unwrap();
    fs::write(project.path().join(".ahp"), "").unwrap();
    let loaded = Config::load(&Locations::of_project(project.path()));
    assert!(loaded.is_broken());
    assert!(
        loaded
            .diagnostics
            .iter()
            .all(|d| d.code == Code::Unreadable)
    );
}

#[test]
fn an_unreadable_file_is_refused() {
    let mut readable_by_all = false;
    let loaded = load(|path| {
        fs::write(path, "hooks: {}").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser reads everything.
        readable_by_all = fs::read(path).is_ok();
    });
    if !readable_by_all {
        assert_refused(&loaded, Code::Unreadable, ".ahp/hooks.yaml");
    }
}

#[test]
fn windows_files_are_read() {
    let loaded = load(|path| {
        fs::write(
            path,
            "\u{feff}settings:\r\n  on_block: continue\r\nhooks: {}\r\n",
        )
        .unwrap();
    });
    assert!(loaded.diagnostics.is_empty());
    assert_eq!(
        loaded.config.settings.on_block,
        ahp::config::OnBlock::Continue
    );
}
