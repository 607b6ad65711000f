//! Each file of `invalid/` is refused, with every fault shown in place; each of `valid/` is accepted.

use ahp::config::{Config, DEFAULT_POLICY, LayerSource, Locations, PACKS, Settings};
use ahp::diagnostic::render;

use super::{assert_snapshot, cases, data, shown};

fn load(folder: &str, name: &str, text: &str) -> ahp::config::Loaded {
    let file = format!("{name}.yaml");
    Config::from_layers(&[(LayerSource::Project, &file, text)], &data(folder))
}

#[test]
fn every_fault_is_shown_in_its_place() {
    for (name, text) in cases("invalid") {
        let loaded = load("invalid", &name, &text);
        assert!(loaded.is_broken(), "{name} was accepted");
        for diagnostic in &loaded.diagnostics {
            let drawn = render(diagnostic, &loaded.sources, false);
            assert!(drawn.contains("--> "), "{name} has no place:\n{drawn}");
            assert!(drawn.contains("help: "), "{name} offers no help:\n{drawn}");
            let line = diagnostic.one_line(&loaded.sources);
            assert!(!line.contains('\n'), "{line}");
        }
        assert_snapshot("invalid", &name, &shown(&loaded));
    }
}

#[test]
fn all_faults_of_a_file_are_shown_in_one_run() {
    let text = cases("invalid")
        .into_iter()
        .find(|(name, _)| name == "many")
        .unwrap()
        .1;
    assert_eq!(load("invalid", "many", &text).diagnostics.len(), 8);
}

#[test]
fn what_is_valid_is_accepted_without_a_word() {
    for (name, text) in cases("valid") {
        let loaded = load("valid", &name, &text);
        assert!(loaded.diagnostics.is_empty(), "{name}:\n{}", shown(&loaded));
    }
}

#[test]
fn every_pack_is_valid() {
    for pack in PACKS {
        let loaded = load("valid", pack.name, pack.text);
        assert!(
            loaded.diagnostics.is_empty(),
            "{}:\n{}",
            pack.name,
            shown(&loaded)
        );
        assert!(!loaded.config.bindings.is_empty(), "{}", pack.name);
    }
}

#[test]
fn the_default_policy_says_the_defaults() {
    let layers = [(LayerSource::User, "default.yaml", DEFAULT_POLICY)];
    let loaded = Config::from_layers(&layers, &data("valid"));
    assert!(loaded.diagnostics.is_empty(), "{}", shown(&loaded));
    assert_eq!(loaded.config.settings, Settings::default());
    assert!(loaded.config.bindings.is_empty());
}

#[test]
fn no_configuration_is_not_broken() {
    let empty = tempfile::tempdir().unwrap();
    let loaded = Config::load(&Locations::of_project(empty.path()));
    assert!(loaded.diagnostics.is_empty());
    assert_eq!(loaded.config.settings, Settings::default());
}
