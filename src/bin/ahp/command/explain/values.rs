//! The values in force, of a binding or of the settings, each with the places that gave it.

use std::time::Duration;

use ahp::config::BindingSpec;
use ahp::config::Ceiling;
use ahp::config::Node;
use ahp::config::Provenance;
use ahp::diagnostic::SourceMap;
use ahp::policy::Policy;
use serde_json::Value;
use serde_json::json;

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
            "timeout" => duration(settings.timeout),
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
    match key {
        "id" => spec.id.as_str().into(),
        "oracle" | "hook" => spec.target.name().into(),
        "when" => spec.when.as_ref().map_or(Value::Null, Node::to_json),
        "oracles.when" => spec.group_when.as_ref().map_or(Value::Null, Node::to_json),
        "priority" => spec.priority.into(),
        "enabled" => spec.enabled.into(),
        "async" => spec.is_async.into(),
        "timeout" => spec.timeout.map_or(Value::Null, duration),
        "on_error" => json!(spec.on_error),
        "intensity" => match &spec.intensity {
            Some(Ceiling::Fixed(intensity)) => json!(intensity),
            Some(Ceiling::By(map)) => map.to_json(),
            None => Value::Null,
        },
        "escalate" => spec.escalate.as_ref().map_or(Value::Null, |escalation| {
            json!({
                "steps": escalation.steps,
                "per": if escalation.per_issue { "issue" } else { "session" },
            })
        }),
        "override" => spec.overridable.into(),
        "locked" => spec.locked.into(),
        _ => walk(config, key),
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

fn duration(duration: Duration) -> Value {
    if duration.subsec_nanos() == 0 {
        format!("{}s", duration.as_secs()).into()
    } else {
        format!("{}ms", duration.as_millis()).into()
    }
}
