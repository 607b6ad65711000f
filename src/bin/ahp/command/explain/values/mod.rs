//! The values in force, of a binding or of the settings, each with the places that gave it.

pub(super) mod marks;

use ahp::config::{BindingKey, BindingSpec, Node, Provenance, format_duration};
use ahp::diagnostic::SourceMap;
use ahp::policy::Policy;
use serde_json::{Value, json};

/// Returns the values that were given to a binding, in the order in which they were first given.
pub(super) fn of_binding(spec: &BindingSpec, sources: &SourceMap) -> Value {
    let config = json!({"config": spec.config.to_json()});
    given(&spec.provenance, sources, |key| {
        binding_value(spec, &config, key)
    })
}

/// Returns the settings that a layer gives; all others have their defaults.
pub(super) fn of_settings(policy: &Policy) -> Value {
    let settings = policy.settings();
    let all = json!(settings);
    given(
        policy.setting_origins(),
        policy.sources(),
        |key| match key {
            "timeout" => format_duration(settings.timeout).into(),
            "labels.team" => json!(settings.team),
            "agent_hooks" if !settings.agent_hook_dirs.is_empty() => {
                json!(settings.agent_hook_dirs)
            }
            _ => walk(&all, key),
        },
    )
}

/// Returns each key once: its value in force, the place that gave it, and the places that it overrides.
fn given(provenance: &[Provenance], sources: &SourceMap, value: impl Fn(&str) -> Value) -> Value {
    let mut keys: Vec<&str> = Vec::new();
    for origin in provenance {
        if !keys.contains(&origin.key.as_str()) {
            keys.push(&origin.key);
        }
    }
    let row = |key: &&str| {
        let mut origins = provenance.iter().rev().filter(|p| p.key == **key);
        let last = origins.next()?;
        let overridden: Vec<String> = origins
            .map(|origin| sources.position(origin.span))
            .collect();
        Some(json!({
            "key": key,
            "value": value(key),
            "layer": last.layer,
            "source": sources.position(last.span),
            "overrides": overridden,
        }))
    };
    keys.iter().filter_map(row).collect()
}

fn binding_value(spec: &BindingSpec, config: &Value, key: &str) -> Value {
    match (BindingKey::find(key), key) {
        (Some(known), _) => (known.value)(spec),
        (None, "oracles.when") => json!(spec.group_when.as_ref().map(Node::to_json)),
        (None, _) => walk(config, key),
    }
}

/// Finds a value by its dotted path; a name may itself hold dots.
fn walk(value: &Value, path: &str) -> Value {
    let Value::Object(map) = value else {
        return Value::Null;
    };
    map.iter()
        .find_map(|(name, inner)| match path.strip_prefix(name.as_str())? {
            "" => Some(inner.clone()),
            rest => Some(walk(inner, rest.strip_prefix('.')?)).filter(|found| !found.is_null()),
        })
        .unwrap_or_default()
}
