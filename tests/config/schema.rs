//! The JSON Schema agrees with the reader on every configuration of these tests.

use std::fs;
use std::path::Path;

use ahp::config::{BindingKey, DEFAULT_POLICY, PACKS, parse_yaml};
use ahp::diagnostic::FileId;
use ahp::oracle::builtin::BUILTINS;
use ahp::oracle::rhai::{BUNDLED, Library, Script};
use ahp::policy::schema;
use serde_json::Value;

use super::cases;

/// Faults that no schema can see: they lie between two values, or in another file.
const UNSEEN: &[&str] = &[
    "bad-escalation",
    "broken-pack",
    "circle",
    "duplicate-id",
    "trigger-twice",
];

/// Returns the schema with every oracle that comes along, built-in or script.
fn whole_schema() -> Value {
    let library = Library::new(Path::new("/nowhere"), []);
    let scripts = library.all().into_iter();
    let scripts: Vec<_> = scripts.map(|found| library.load(&found).unwrap()).collect();
    schema(BUILTINS, &scripts)
}

/// Returns the YAML of a folder of this project and of all that are in it, by path, without what is there to be wrong.
fn yaml_below(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.extension().is_some_and(|e| e == "yaml") {
            found.push((
                path.display().to_string(),
                fs::read_to_string(&path).unwrap(),
            ));
        }
    }
    found.sort();
    found
}

/// Lays one map over another, as a test's setup lies over that of its file.
fn over(below: &Value, above: &Value) -> Value {
    let mut whole = below.as_object().cloned().unwrap_or_default();
    whole.extend(above.as_object().cloned().unwrap_or_default());
    Value::Object(whole)
}

#[test]
fn it_agrees_with_every_test_of_an_oracle_or_policy() {
    let validator = jsonschema::draft7::new(&whole_schema()).unwrap();
    let mut count = 0;
    for (path, text) in yaml_below("tests/cases") {
        let Some(file) = json(&text).filter(|file| file["tests"].is_array()) else {
            continue;
        };
        for test in file["tests"].as_array().unwrap() {
            let either = |key: &str| test.get(key).or(file.get(key)).cloned().unwrap_or_default();
            let policy = match either("policy") {
                Value::String(text) => json(&text),
                Value::Object(policy) => Some(Value::Object(policy)),
                _ => None,
            };
            let (oracle, trigger) = (either("oracle"), either("trigger"));
            let config = over(&file["config"], &test["config"]);
            // The rows of a table put their values in later.
            let is_table = test.get("table").is_some();
            let policy = match (policy, oracle.as_str(), trigger.as_str()) {
                (Some(policy), _, _) => policy,
                (None, Some(oracle), Some(trigger)) if !is_table => {
                    serde_json::json!({"hooks": {trigger: [{"oracle": oracle, "config": config}]}})
                }
                _ => continue,
            };
            count += 1;
            let faulty = test["expect"].get("fault").is_some();
            let faults: Vec<_> = validator
                .iter_errors(&policy)
                .map(|fault| format!("{}: {fault}", fault.instance_path()))
                .collect();
            assert_eq!(
                faults.is_empty(),
                !faulty,
                "{path}: {}: {faults:#?}",
                test["name"]
            );
        }
    }
    assert!(count > 80, "{count}");
}

#[test]
fn it_takes_every_layer_of_the_tests() {
    let validator = jsonschema::draft7::new(&whole_schema()).unwrap();
    let layers = yaml_below("tests/config/layers");
    assert!(layers.len() > 5);
    for (path, text) in layers {
        let value = json(&text).unwrap();
        let faults: Vec<_> = validator
            .iter_errors(&value)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{path}: {faults:#?}");
    }
}

#[test]
fn it_knows_the_configuration_of_every_script() {
    let validator = jsonschema::draft7::new(&whole_schema()).unwrap();
    let with = |oracle: &str, config: Value| {
        validator.is_valid(&serde_json::json!({
            "hooks": {"pre-tool-use": [{"oracle": oracle, "config": config}]}
        }))
    };
    for bundled in BUNDLED {
        let script = Script::compile(bundled.name, bundled.name, bundled.source).unwrap();
        assert!(with(bundled.name, script.defaults()), "{}", bundled.name);
        let unknown = serde_json::json!({"no_such_key": 1});
        assert!(!with(bundled.name, unknown), "{}", bundled.name);
        for (key, _) in script.choices().as_object().unwrap() {
            let wrong = serde_json::json!({key: "no such choice"});
            assert!(!with(bundled.name, wrong), "{}: {key}", bundled.name);
        }
    }
    assert!(!with("branch-guard", serde_json::json!({"branches": 3})));
}

/// Returns a text as JSON; none where it is not YAML.
fn json(text: &str) -> Option<Value> {
    let mut faults = Vec::new();
    let node = parse_yaml(text, FileId(0), &mut faults)?;
    faults.is_empty().then(|| node.to_json())
}

#[test]
fn it_takes_what_is_valid_and_every_pack() {
    let validator = jsonschema::draft7::new(&whole_schema()).unwrap();
    let packs = PACKS
        .iter()
        .map(|pack| (pack.name.to_owned(), pack.text.to_owned()));
    let default = ("default".to_owned(), DEFAULT_POLICY.to_owned());
    for (name, text) in cases("valid").into_iter().chain(packs).chain([default]) {
        let value = json(&text).unwrap();
        let faults: Vec<_> = validator
            .iter_errors(&value)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{name}: {faults:#?}");
    }
}

#[test]
fn it_refuses_what_is_invalid() {
    let validator = jsonschema::draft7::new(&whole_schema()).unwrap();
    for (name, text) in cases("invalid") {
        if let Some(value) = json(&text)
            && !UNSEEN.contains(&name.as_str())
        {
            assert!(!validator.is_valid(&value), "{name} passes");
        }
    }
}

#[test]
fn it_knows_the_configuration_of_every_oracle() {
    let validator = jsonschema::draft7::new(&whole_schema()).unwrap();
    for oracle in BUILTINS {
        let with = |config: &str| {
            let text = format!(
                "hooks: {{pre-tool-use: [{{oracle: {}, config: {config}}}]}}",
                oracle.name
            );
            validator.is_valid(&json(&text).unwrap())
        };
        assert!(!with("{no_such_key: 1}"), "{}", oracle.name);
    }
    let limiter = |config: &str| {
        let text = format!(
            "hooks: {{pre-issue-submit: [{{oracle: file-change-limiter, config: {config}}}]}}"
        );
        validator.is_valid(&json(&text).unwrap())
    };
    assert!(limiter("{max_files: 10}"));
    assert!(limiter(
        "{max_files: {by: environment, production: 10, default: 30}}"
    ));
    assert!(!limiter("{max_files: many}"));
}

#[test]
fn every_key_of_a_binding_is_in_the_schema_and_in_the_documents() {
    let page = include_str!("../../docs/configuration.md");
    let schema = whole_schema();
    let known: Vec<_> = BindingKey::ALL.iter().map(|key| key.name).collect();
    let keys = schema["definitions"]["binding"]["properties"].as_object();
    assert_eq!(keys.unwrap().keys().collect::<Vec<_>>(), known);
    let block = page.split("## Bindings").nth(1).unwrap();
    let block = block.split("```").nth(1).unwrap();
    for key in known {
        let is_shown = block.contains(&format!(" {key}: ")) || block.contains(&format!("`{key}: "));
        assert!(is_shown, "docs/configuration.md does not show `{key}`");
    }
}
