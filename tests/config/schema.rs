//! The JSON Schema agrees with the reader on every configuration of these tests.

use ahp::config::DEFAULT_POLICY;
use ahp::config::PACKS;
use ahp::config::parse_yaml;
use ahp::diagnostic::FileId;
use ahp::oracle::builtin::BUILTINS;
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

/// Returns a text as JSON; none where it is no YAML.
fn json(text: &str) -> Option<Value> {
    let mut faults = Vec::new();
    let node = parse_yaml(text, FileId(0), &mut faults)?;
    faults.is_empty().then(|| node.to_json())
}

#[test]
fn it_takes_what_is_valid_and_every_pack() {
    let validator = jsonschema::draft7::new(&schema(BUILTINS)).unwrap();
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
    let validator = jsonschema::draft7::new(&schema(BUILTINS)).unwrap();
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
    let validator = jsonschema::draft7::new(&schema(BUILTINS)).unwrap();
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
