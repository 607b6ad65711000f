//! The JSON Schema of `hooks.yaml`, made of the same tables as the reader: triggers, facts, packs and every oracle.

use std::sync::Arc;

use schemars::generate::SchemaSettings;
use serde_json::json;
use serde_json::{Map, Value};

use crate::config::{BindingKey, FleetSettings, Override, PACKS};
use crate::event::Trigger;
use crate::fact::{Fact, FactType, OF_MCP};
use crate::oracle::Definition;
use crate::oracle::rhai::Script;
use crate::signal::Strength;

/// An oracle that a binding can name, with the schema of its configuration.
struct Named {
    name: String,
    kebab: String,
    config: Value,
}

/// Returns the schema (draft-07, which editors read) of a layer whose bindings name these oracles and scripts.
///
/// It is as strict as a schema can be; what it cannot see, such as one id twice, `ahp check` tells.
pub fn schema(oracles: &[&Definition], scripts: &[Arc<Script>]) -> Value {
    let built_in = oracles.iter().map(|oracle| Named {
        name: oracle.name.to_owned(),
        kebab: oracle.kebab.to_owned(),
        config: (oracle.schema)().to_value(),
    });
    let scripts = scripts.iter().map(|script| Named {
        name: script.name().to_owned(),
        kebab: script.name().to_owned(),
        config: script.schema(),
    });
    let oracles: Vec<_> = built_in.chain(scripts).collect();
    let mut definitions = Map::new();
    definitions.insert("duration".to_owned(), duration());
    definitions.insert("when".to_owned(), when());
    definitions.insert("on".to_owned(), on());
    definitions.insert("mark".to_owned(), mark());
    definitions.insert("by".to_owned(), by());
    definitions.insert("intensity".to_owned(), intensity());
    let names: Vec<&str> = oracles.iter().map(|oracle| &*oracle.name).collect();
    let oracle = json!({"anyOf": [{"enum": names}, {"type": "string", "minLength": 1}]});
    definitions.insert("oracle".to_owned(), oracle);
    definitions.insert("settings".to_owned(), settings());
    definitions.insert("binding".to_owned(), binding(&oracles));
    definitions.insert("trigger".to_owned(), trigger());
    for oracle in oracles {
        config(oracle, &mut definitions);
    }
    let hooks: Map<String, Value> = Trigger::ALL
        .iter()
        .flat_map(|trigger| {
            let names = std::iter::once(trigger.name()).chain(trigger.aliases().iter().copied());
            names.map(|name| {
                let value = described(trigger.summary(), &json!({"$ref": "#/definitions/trigger"}));
                (name.to_owned(), value)
            })
        })
        .collect();
    let names: Vec<&str> = hooks.keys().map(String::as_str).collect();
    let name = names.join("|");
    let several = format!("^\\s*({name})(\\s*,\\s*({name}))+\\s*$");
    let packs: Vec<String> = PACKS
        .iter()
        .map(|pack| format!("ahp:{}", pack.name))
        .collect();
    let pack = json!({"anyOf": [{"enum": packs}, {"type": "string", "not": {"pattern": "^ahp:"}}]});
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "AHP hooks.yaml",
        "description": "One layer of the policy between an AI coding agent and its work.",
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": {
            "$schema": {"type": "string"},
            "version": {"description": "The version of the format.", "const": 1},
            "extends": {
                "description": "Policy packs and files that lie just below this layer.",
                "anyOf": [pack, {"type": "array", "items": pack}, {"type": "null"}],
            },
            "settings": {"anyOf": [{"$ref": "#/definitions/settings"}, {"type": "null"}]},
            "marks": {
                "description": "What is counted, for conditions that ask `marks.NAME`.",
                "type": ["object", "null"],
                "additionalProperties": false,
                "patternProperties": {"^[a-z][a-z0-9_]{0,63}$": {"$ref": "#/definitions/mark"}},
            },
            "hooks": {
                "description": "The bindings of each trigger.",
                "type": ["object", "null"],
                "additionalProperties": false,
                "properties": hooks,
                // A key may name several triggers.
                "patternProperties": {several: {"$ref": "#/definitions/trigger"}},
            },
        },
        "definitions": definitions,
    })
}

fn described(description: &str, schema: &Value) -> Value {
    // Beside a `$ref`, draft-07 reads nothing.
    json!({"description": description, "allOf": [schema]})
}

fn duration() -> Value {
    json!({
        "description": "A duration: `500ms`, `30s`, `2m`, `1h`, or a number of seconds; at most 24 hours.",
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0, "maximum": 86400},
            {"type": "string", "pattern": "^\\s*[0-9]+(\\.[0-9]+)?\\s*(ms|s|m|min|h)?\\s*$"},
        ],
    })
}

/// A value that is chosen by a fact.
fn by() -> Value {
    json!({
        "description": "A value by one fact: its values as keys, and `default`.",
        "type": "object",
        "required": ["by"],
        "properties": {"by": {"enum": fact_names()}},
    })
}

fn fact_names() -> Vec<&'static str> {
    Fact::ALL.iter().map(|fact| fact.name()).collect()
}

fn when() -> Value {
    let scalar = json!({"type": ["string", "number", "boolean"]});
    let expected = json!({"anyOf": [scalar, {"type": "array", "items": scalar}]});
    let mut properties: Map<String, Value> = Fact::ALL
        .iter()
        .map(|fact| (fact.name().to_owned(), described(fact.summary(), &expected)))
        .collect();
    let this = json!({"$ref": "#/definitions/when"});
    for (name, description, schema) in [
        (
            "any",
            "At least one of these holds.",
            json!({"type": "array", "items": this}),
        ),
        (
            "all",
            "All of these hold.",
            json!({"type": "array", "items": this}),
        ),
        ("not", "This does not hold.", this),
        (
            "expr",
            "A rhai expression over the facts.",
            json!({"type": "string"}),
        ),
    ] {
        properties.insert(name.to_owned(), described(description, &schema));
    }
    let mark = properties.remove(Fact::Mark.name());
    json!({
        "description": "Facts and what they must be; all must hold.",
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": properties,
        "patternProperties": {
            "^marks\\.[a-z][a-z0-9_]*$": mark,
            (format!("^{}[a-z_]+$", OF_MCP.replace('.', "\\."))): expected,
        },
    })
}

/// The triggers of the events that a mark counts.
fn on() -> Value {
    let names = Trigger::ALL.iter().flat_map(|trigger| {
        std::iter::once(trigger.name()).chain(trigger.aliases().iter().copied())
    });
    let name = json!({"enum": names.collect::<Vec<_>>()});
    json!({
        "description": "A trigger, or a list of them; `post-tool-use` takes `post-tool-use-failure` too.",
        "anyOf": [name, {"type": "array", "items": name}],
    })
}

/// One mark.
fn mark() -> Value {
    let on = json!({"$ref": "#/definitions/on"});
    let when = json!({"$ref": "#/definitions/when"});
    let end = json!({
        "type": "object",
        "required": ["on"],
        "additionalProperties": false,
        "properties": {"on": on, "when": when},
    });
    let numbers = Fact::ALL.iter().filter(|fact| {
        matches!(
            fact.value_type(),
            FactType::Integer | FactType::Number | FactType::Duration
        )
    });
    let numbers: Vec<_> = numbers.map(|fact| fact.name()).collect();
    json!({
        "description": "What is counted: events of some triggers, until others set it back to 0.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "on": on,
            "when": when,
            "until": {
                "description": "Any of these sets it back to 0.",
                "anyOf": [end, {"type": "array", "items": end}],
            },
            "within": described("Only the events of so long are counted; not with `add`.", &json!({"$ref": "#/definitions/duration"})),
            "by": {"description": "The fact by which it is counted for each value.", "enum": fact_names()},
            "add": {"description": "The fact that is added in the place of 1.", "enum": numbers},
            "per": {"description": "Whose events are counted together.", "enum": ["session", "issue", "project"]},
            "locked": {"description": "Whether later layers may not touch it.", "type": "boolean"},
        },
    })
}

/// The schema of `settings.fleet`, which is that of its type.
fn fleet() -> Value {
    let mut made = SchemaSettings::draft07()
        .with(|s| s.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<FleetSettings>();
    made.remove("$schema");
    made.remove("title");
    made.into()
}

fn settings() -> Value {
    let on_error = json!(["allow", "prompt", "block"]);
    let forbidden: Vec<&str> = Override::ALL
        .iter()
        .map(|variable| variable.name())
        .collect();
    let mut shape = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "environment": {"description": "The environment, where the event names none; $AHP_ENV counts where this is not set.", "type": "string", "minLength": 1},
            "on_error": {"description": "What an oracle that fails gives.", "enum": on_error},
            "timeout": described("How long one oracle may take.", &json!({"$ref": "#/definitions/duration"})),
            "on_block": {"description": "Whether later stages still run after a block.", "enum": ["stop", "continue"]},
            "max_stop_blocks": {"description": "After how many blocks in a row a stop is let through.", "type": "integer", "minimum": 0, "maximum": 1000},
            "bypass": {"description": "What an agent gets that passes --no-hooks or --force to an issue command.", "enum": ["block", "prompt", "allow"]},
            "issues": {"description": "Where the issue files live.", "type": "string", "minLength": 1},
            "agent_hooks": {
                "description": "Whether HOOK.md hooks are discovered, or further directories of them.",
                "anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "string"}}],
            },
            "oracles": {"description": "Where script oracles are looked for.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "trusted_hosts": {"description": "Destinations that what leaves the machine may go to: `host`, `host:port` or `host/path/prefix`.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "self_protection": {"description": "Whether agents are kept from changing what governs them; only system and user layers may say `false`.", "type": "boolean"},
            "ratchet": {"description": "Whether a project is held to what was approved of it; only system and user layers may say `false`.", "type": "boolean"},
            "forbid": {
                "description": "The variables that count as not set; only the system layer or a signed bundle may say so.",
                "anyOf": [{"enum": forbidden}, {"type": "array", "items": {"enum": forbidden}}],
            },
            "labels": {
                "description": "By what figures of many machines are told apart.",
                "type": "object",
                "additionalProperties": false,
                "properties": {"team": {"description": "The team.", "type": "string", "minLength": 1}},
            },
            "fleet": described(
                "What may leave this machine, and from where policy comes to it; only the system layer may say so.",
                &fleet(),
            ),
            "shield": {
                "description": "What an agent may reach that `ahp shield` starts; only system and user layers may say so.",
                "type": ["object", "null"],
                "additionalProperties": false,
                "properties": {
                    "write": {"description": "Further folders and files that may be written.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                    "sockets": {"description": "Sockets that may be reached: paths, and `ssh-agent`.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                    "devices": {"description": "Devices that may be used.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                    "deny_read": {"description": "Folders and files that may not even be read.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                    "network": {"description": "Whether servers may be reached.", "type": "boolean"},
                },
            },
            "provenance": {
                "description": "Which results are the project's own, for `tool.arguments_from`.",
                "type": ["object", "null"],
                "additionalProperties": false,
                "properties": {
                    "trusted_mcp": {"description": "MCP servers of which the results are believed; those that a project names count after `ahp trust`.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                    "untrusted_paths": {"description": "Globs of files that hold what somebody else wrote.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                },
            },
            "locked": {"description": "Whether later layers may not change what is set here.", "type": "boolean"},
            "log": {
                "type": ["object", "null"],
                "additionalProperties": false,
                "properties": {
                    "path": {"description": "Where the log lies.", "type": "string", "minLength": 1},
                    "max_size": {
                        "description": "The size at which it is rotated: `64MiB`, or a number of bytes.",
                        "anyOf": [{"type": "integer", "minimum": 4096}, {"type": "string", "pattern": "^\\s*[0-9]+\\s*(B|KiB|MiB|GiB)?\\s*$"}],
                    },
                    "keep": {"description": "How many rotated files are kept.", "type": "integer", "minimum": 0, "maximum": 1_000_000},
                    "events": {"description": "How much of an event is kept.", "enum": ["none", "redacted", "full"]},
                    "fsync": {"description": "When the log is forced to the disk.", "enum": ["always", "signals", "never"]},
                    "required": {"description": "Whether an event that cannot be logged must not pass.", "type": "boolean"},
                    "redact": {"description": "Further regular expressions; what they match is cut.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                },
            },
        },
    });
    // The macro takes no more keys at once.
    let properties = shape.pointer_mut("/properties");
    if let Some(properties) = properties.and_then(Value::as_object_mut) {
        let policy_changed = json!({"description": "What `ahp ci` gives for a change of the policy.", "enum": ["prompt", "ask", "block"]});
        properties.insert("policy_changed".to_owned(), policy_changed);
    }
    shape
}

fn trigger() -> Value {
    let bindings = json!({"type": "array", "items": {"$ref": "#/definitions/binding"}});
    json!({
        "anyOf": [
            {"type": "null"},
            bindings,
            {
                "type": "object",
                "additionalProperties": false,
                "anyOf": [{"required": ["oracles"]}, {"required": ["when"]}],
                "properties": {
                    "when": {"$ref": "#/definitions/when"},
                    "oracles": {"anyOf": [bindings, {"type": "null"}]},
                },
            },
        ],
    })
}

/// A ceiling: one for all contexts, or one chosen by a fact or by the severity of what was found.
fn intensity() -> Value {
    let intensities: Vec<&str> = Strength::ALL.iter().map(|i| i.name()).collect();
    let mut choosers = fact_names();
    choosers.push("severity");
    json!({
        "anyOf": [
            {"enum": intensities},
            {
                "type": "object",
                "required": ["by"],
                "properties": {"by": {"enum": choosers}},
                "additionalProperties": {"enum": intensities},
            },
        ],
    })
}

fn binding(oracles: &[Named]) -> Value {
    let properties: Map<String, Value> = BindingKey::ALL
        .iter()
        .map(|key| {
            (
                key.name.to_owned(),
                described(key.description, &(key.schema)()),
            )
        })
        .collect();
    let configs: Vec<Value> = oracles
        .iter()
        .map(|oracle| {
            let mut spelt = vec![
                oracle.name.clone(),
                oracle.kebab.clone(),
                oracle.kebab.replace('-', "_"),
            ];
            spelt.dedup();
            json!({
                "if": {"required": ["oracle"], "properties": {"oracle": {"enum": spelt}}},
                "then": {"properties": {"config": {"anyOf": [
                    {"$ref": format!("#/definitions/{}", oracle.kebab)},
                    {"type": "null"},
                ]}}},
            })
        })
        .collect();
    json!({
        "description": "One oracle, with its configuration and conditions.",
        "type": "object",
        "additionalProperties": false,
        "anyOf": [{"required": ["oracle"]}, {"required": ["hook"]}, {"required": ["id"]}],
        "not": {"required": ["oracle", "hook"]},
        "properties": properties,
        "allOf": configs,
    })
}

/// Adds the schema of an oracle's configuration, and what it refers to, under names of the oracle's own.
fn config(oracle: Named, definitions: &mut Map<String, Value>) {
    let Value::Object(mut schema) = oracle.config else {
        return;
    };
    schema.remove("$schema");
    let own = match schema.remove("$defs") {
        Some(Value::Object(own)) => own,
        _ => Map::new(),
    };
    for (name, mut part) in own {
        adopt(&mut part, &oracle.kebab);
        definitions.insert(format!("{}-{name}", oracle.kebab), part);
    }
    let mut schema = Value::Object(schema);
    adopt(&mut schema, &oracle.kebab);
    definitions.insert(oracle.kebab, schema);
}

/// Turns a part of an oracle's schema into draft-07, and lets every value be chosen `by:` a fact.
fn adopt(part: &mut Value, prefix: &str) {
    match part {
        Value::Array(items) => items.iter_mut().for_each(|item| adopt(item, prefix)),
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                match (key.as_str(), value) {
                    ("$ref", Value::String(target)) => {
                        if let Some(name) = target.strip_prefix("#/$defs/") {
                            *target = format!("#/definitions/{prefix}-{name}");
                        }
                    }
                    ("default" | "const" | "enum", _) => {}
                    ("properties", Value::Object(properties)) => {
                        for property in properties.values_mut() {
                            adopt(property, prefix);
                            *property = or_by(property.take());
                        }
                    }
                    (_, value) => adopt(value, prefix),
                }
            }
            if let (Some(target), true) = (object.get("$ref").cloned(), object.len() > 1) {
                object.remove("$ref");
                object.insert("allOf".to_owned(), json!([{"$ref": target}]));
            }
        }
        _ => {}
    }
}

fn or_by(mut property: Value) -> Value {
    let mut whole = Map::new();
    if let Value::Object(object) = &mut property {
        for key in ["description", "default"] {
            if let Some(value) = object.remove(key) {
                whole.insert(key.to_owned(), value);
            }
        }
    }
    let by = json!({"$ref": "#/definitions/by"});
    whole.insert("anyOf".to_owned(), json!([property, by]));
    Value::Object(whole)
}
