//! What holds for every set of layers: merging is associative and repeatable, what is locked stays, nothing panics.

use std::fs;

use ahp::config::{BindingSpec, Config, LayerSource, Locations};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::cases;

/// One binding with a few of its keys; few ids, so that layers meet often.
fn binding(may_lock: bool) -> impl Strategy<Value = String> {
    let id = prop_oneof!["alpha", "beta", "gamma"];
    let config = prop_oneof![
        Just(String::new()),
        "config: \\{(a|b): [0-9]\\}".prop_map(|text| text),
        Just("config: {m: {x: 1, y: [1, 2]}}".to_owned()),
        Just("config: {m: {y: [3]}, a: 2}".to_owned()),
    ];
    let rest = proptest::sample::subsequence(
        vec![
            "priority: 3",
            "priority: -1",
            "enabled: false",
            "enabled: true",
            "timeout: 5s",
            "on_error: block",
            "on_error: allow",
            "intensity: prompt",
            "intensity: aid",
            "async: true",
            "override: true",
            "when: {tool: Bash}",
            "when: {issue.type: fix}",
        ],
        0..4,
    );
    let lock = if may_lock { 0.5 } else { 0.0 };
    (id, config, rest, proptest::bool::weighted(lock)).prop_map(|(id, config, rest, lock)| {
        let mut keys = vec![format!("id: {id}"), format!("oracle: Check{id}")];
        keys.extend((!config.is_empty()).then_some(config));
        // A key twice would be a fault; the first of its kind stays.
        let mut seen = Vec::new();
        for key in rest {
            let name = key.split(':').next().unwrap();
            if !seen.contains(&name) {
                seen.push(name);
                keys.push(key.to_owned());
            }
        }
        keys.extend(lock.then(|| "locked: true".to_owned()));
        format!("    - {}\n", keys.join("\n      "))
    })
}

fn layer(may_lock: bool) -> impl Strategy<Value = String> {
    let settings = prop_oneof![
        Just("settings: {}\n"),
        Just("settings: {timeout: 9s, on_error: allow}\n"),
        Just("settings: {on_error: block, log: {keep: 2}}\n"),
    ];
    (settings, proptest::collection::vec(binding(may_lock), 0..4)).prop_map(
        |(settings, bindings)| {
            let mut ids = Vec::new();
            let unique: String = bindings
                .into_iter()
                .filter(|binding| {
                    let id = binding.lines().next().unwrap().to_owned();
                    let new = !ids.contains(&id);
                    ids.push(id);
                    new
                })
                .collect();
            format!("{settings}hooks:\n  pre-tool-use:\n{unique}")
        },
    )
}

fn essence(binding: &BindingSpec) -> Value {
    json!({
        "id": binding.id,
        "target": binding.target.to_string(),
        "config": binding.config.to_json(),
        "when": binding.when.as_ref().map(ahp::config::Node::to_json),
        "priority": binding.priority,
        "enabled": binding.enabled,
        "async": binding.is_async,
        "timeout": binding.timeout,
        "on_error": binding.on_error,
        "intensity": format!("{:?}", binding.intensity.as_ref().map(|c| match c {
            ahp::config::Ceiling::Fixed(intensity) => intensity.name().to_owned(),
            ahp::config::Ceiling::By(node) => node.to_json().to_string(),
        })),
        "override": binding.overridable,
        "locked": binding.locked,
    })
}

/// Whether a binding is another, but for values that have an order and have risen.
fn is_as_strict(after: &Value, before: &Value) -> bool {
    let rank = |value: &Value, order: &[&str]| {
        let text = value.as_str().unwrap_or_default().to_lowercase();
        order.iter().position(|word| text.contains(word))
    };
    let keys = before.as_object().unwrap().keys();
    keys.map(|key| (key.as_str(), &after[key], &before[key]))
        .filter(|(_, now, then)| now != then)
        .all(|(key, now, then)| match key {
            "enabled" => now == true,
            "async" | "override" => now == false,
            "intensity" => {
                let order = ["aid", "prompt", "control", "ask", "block"];
                let (now, then) = (rank(now, &order), rank(then, &order));
                now.is_some() && then.is_some() && now > then
            }
            "on_error" => {
                let order = ["allow", "prompt", "block"];
                let now = rank(now, &order);
                now.is_some() && (now > rank(then, &order)) && (!then.is_null() || now == Some(2))
            }
            _ => false,
        })
}

fn policy(config: &Config) -> Value {
    let bindings: Vec<_> = config.bindings.values().flatten().map(essence).collect();
    json!({"settings": config.settings, "bindings": bindings})
}

/// Stacks layers that have the same say: settings of one with more say would hold for its own bindings.
fn three(a: &str, b: &str, c: &str) -> ahp::config::Loaded {
    let layers = [
        (LayerSource::Project, "a.yaml", a),
        (LayerSource::Project, "b.yaml", b),
        (LayerSource::Local, "c.yaml", c),
    ];
    Config::from_layers(&layers, std::path::Path::new("."))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn three_layers_are_one_that_extends_one_that_extends_one(
        a in layer(false), b in layer(false), c in layer(false),
    ) {
        let stacked = three(&a, &b, &c);
        prop_assert!(stacked.diagnostics.is_empty(), "{:?}", stacked.diagnostics);
        prop_assert_eq!(policy(&stacked.config), policy(&three(&a, &b, &c).config));

        let project = tempfile::tempdir().unwrap();
        let ahp = project.path().join(".ahp");
        fs::create_dir(&ahp).unwrap();
        fs::write(ahp.join("a.yml"), &a).unwrap();
        fs::write(ahp.join("b.yml"), format!("extends: a.yml\n{b}")).unwrap();
        fs::write(ahp.join("hooks.yaml"), format!("extends: b.yml\n{c}")).unwrap();
        let extended = Config::load(&Locations::of_project(project.path()));
        prop_assert!(extended.diagnostics.is_empty(), "{:?}", extended.diagnostics);
        prop_assert_eq!(policy(&stacked.config), policy(&extended.config));
    }

    #[test]
    fn no_later_layer_changes_what_is_locked(
        a in layer(true), b in layer(true), c in layer(true),
    ) {
        let stack = |a: &str, b: &str, c: &str| {
            let layers = [
                (LayerSource::System, "a.yaml", a),
                (LayerSource::User, "b.yaml", b),
                (LayerSource::Project, "c.yaml", c),
            ];
            Config::from_layers(&layers, std::path::Path::new("."))
        };
        let alone = stack(&a, "", "");
        let stacked = stack(&a, &b, &c);
        for binding in alone.config.bindings.values().flatten().filter(|b| b.locked) {
            let after = stacked.config.bindings.values().flatten().find(|b| b.id == binding.id);
            let (before, after) = (essence(binding), essence(after.unwrap()));
            prop_assert!(is_as_strict(&after, &before), "{before}\n{after}");
        }
        prop_assert_eq!(policy(&stacked.config), policy(&stack(&a, &b, &c).config));
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}") {
        Config::parse_str(&text);
    }

    #[test]
    fn no_damage_makes_it_panic(at in any::<prop::sample::Index>(), len in 0..9usize, with in "[-:{}\\[\\]\"'&*!|>#\n\t a1]{0,4}") {
        for folder in ["valid", "invalid"] {
            for (_, text) in cases(folder) {
                let mut characters: Vec<char> = text.chars().collect();
                let at = at.index(characters.len() + 1);
                let end = (at + len).min(characters.len());
                characters.splice(at..end, with.chars());
                let loaded = Config::parse_str(&characters.into_iter().collect::<String>());
                for diagnostic in &loaded.diagnostics {
                    ahp::diagnostic::render(diagnostic, &loaded.sources, false);
                }
            }
        }
    }
}
