//! Each folder of `layers/` is a story: its layers, and the policy that they add up to.

use std::fs;
use std::path::Path;

use ahp::config::{BindingSpec, Config, LayerSource, Loaded};

use super::{assert_snapshot, data, shown};

const LAYERS: [(LayerSource, &str); 4] = [
    (LayerSource::System, "system.yaml"),
    (LayerSource::User, "user.yaml"),
    (LayerSource::Project, "project.yaml"),
    (LayerSource::Local, "local.yaml"),
];

fn load(story: &Path) -> Loaded {
    let texts: Vec<_> = LAYERS
        .iter()
        .filter_map(|(source, name)| {
            Some((*source, *name, fs::read_to_string(story.join(name)).ok()?))
        })
        .collect();
    let layers: Vec<_> = texts
        .iter()
        .map(|(source, name, text)| (*source, *name, text.as_str()))
        .collect();
    Config::from_layers(&layers, story)
}

/// Writes a policy with the place of every value.
fn written(loaded: &Loaded) -> String {
    let sources = &loaded.sources;
    let mut text = String::new();
    for origin in &loaded.config.setting_provenance {
        text.push_str(&format!(
            "settings.{} <- {} {}\n",
            origin.key,
            origin.layer,
            sources.line(origin.span)
        ));
    }
    for (trigger, bindings) in &loaded.config.bindings {
        text.push_str(&format!("\n{trigger}\n"));
        for binding in bindings {
            text.push_str(&binding_line(binding));
            for origin in &binding.provenance {
                text.push_str(&format!(
                    "    {} <- {} {}\n",
                    origin.key,
                    origin.layer,
                    sources.position(origin.span)
                ));
            }
        }
    }
    text
}

fn binding_line(binding: &BindingSpec) -> String {
    let mut line = format!(
        "  {} = {} {}",
        binding.id,
        binding.target,
        binding.config.to_json()
    );
    for (name, when) in [("group", &binding.group_when), ("when", &binding.when)] {
        if let Some(when) = when {
            line.push_str(&format!(" {name} {}", when.to_json()));
        }
    }
    line.push_str(&format!(" priority {}", binding.priority));
    if let Some(timeout) = binding.timeout {
        line.push_str(&format!(" timeout {timeout:?}"));
    }
    if let Some(on_error) = binding.on_error {
        line.push_str(&format!(" on_error {on_error:?}"));
    }
    if !binding.enabled {
        line.push_str(" off");
    }
    if binding.locked {
        line.push_str(" locked");
    }
    line.push('\n');
    line
}

#[test]
fn every_story_has_its_end() {
    let mut stories: Vec<_> = fs::read_dir(data("layers"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    stories.sort();
    assert!(!stories.is_empty());
    for story in stories {
        let loaded = load(&story);
        let faults = shown(&loaded);
        let separator = if faults.is_empty() { "" } else { "\n\n" };
        let text = format!("{faults}{separator}{}", written(&loaded));
        assert_snapshot(
            "layers",
            story.file_name().unwrap().to_str().unwrap(),
            &text,
        );
    }
}
