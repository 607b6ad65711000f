//! The manual page of an oracle, made of its definition: what it does, when it speaks, each key of its configuration.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Definition, Programs};
use crate::fact::FactSource;

/// Writes the page of an oracle as Markdown.
pub fn page(definition: &Definition) -> String {
    let schema = (definition.schema)().to_value();
    let mut out = format!("# {}\n\n", definition.name);
    let description = text(&schema, "description");
    out.push_str(description.unwrap_or(definition.summary).trim());
    out.push_str("\n\n## At a glance\n\n| | |\n|---|---|\n");
    row(&mut out, "name in logs", &code([definition.kebab]));
    let former = code(definition.names().skip(1));
    if !former.is_empty() {
        row(&mut out, "also known as", &former);
    }
    row(
        &mut out,
        "gives",
        &code(definition.intensities.iter().map(|i| i.name())),
    );
    let triggers = match definition.triggers {
        [] => "every trigger".to_owned(),
        some => code(some.iter().map(|trigger| trigger.name())),
    };
    row(&mut out, "meant for", &triggers);
    let asks: Vec<&str> = definition
        .needs
        .iter()
        .map(|source| asked(*source))
        .collect();
    let asks = match asks.as_slice() {
        [] => "nothing but the event".to_owned(),
        some => some.join(", "),
    };
    row(&mut out, "asks", &asks);
    let programs = match definition.programs {
        Programs::None => "no",
        Programs::Always => "yes: where a project's own layer binds it, that needs `ahp trust`",
        Programs::WithKeys(_) => {
            "where it is configured to: where a project's own layer binds it so, that needs `ahp trust`"
        }
    };
    row(&mut out, "runs programs", programs);
    write_config(&mut out, &schema);
    out
}

fn row(out: &mut String, name: &str, value: &str) {
    writeln!(out, "| {name} | {value} |").ok();
}

fn code<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

const fn asked(source: FactSource) -> &'static str {
    match source {
        FactSource::Event => "the event",
        FactSource::Shell => "the parsed command line",
        FactSource::Issue => "the issue's file",
        FactSource::Git => "git",
        FactSource::Tests => "reports of tests",
        FactSource::Log => "the signal log",
        FactSource::Session => "what was counted in the session",
    }
}

fn write_config(out: &mut String, schema: &Value) {
    out.push_str("\n## Configuration\n\n");
    let properties = schema.get("properties").and_then(Value::as_object);
    let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
        out.push_str("It has none.\n");
        return;
    };
    out.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    let mut choices = Vec::new();
    for (key, property) in properties {
        let property_type = resolved(property, schema);
        choices.extend(choices_of(key, property_type));
        let default = default_of(property);
        let meaning = text(property, "description").unwrap_or_default();
        writeln!(
            out,
            "| `{key}` | {} | {} | {} |",
            type_of(property_type, schema),
            cell(&default),
            cell(meaning)
        )
        .ok();
    }
    for line in choices {
        out.push_str(&line);
    }
}

/// Says what holds where the key is not written.
fn default_of(property: &Value) -> String {
    match property.get("default") {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::Array(items)) if items.is_empty() => "none".to_owned(),
        Some(Value::Object(fields)) if fields.is_empty() => "none".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "none".to_owned(),
        Some(Value::Array(items)) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| format!("`{}`", plain(item)))
                .collect();
            items.join(", ")
        }
        Some(value) => format!("`{}`", plain(value)),
    }
}

/// Writes a value as it stands in YAML: a text without quotes.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Follows a reference to the definition of a type, and leaves out that nothing may stand there too.
fn resolved<'a>(property: &'a Value, schema: &'a Value) -> &'a Value {
    let alternatives = property.get("anyOf").and_then(Value::as_array);
    let inner = alternatives
        .into_iter()
        .flatten()
        .find(|alternative| alternative.get("type").and_then(Value::as_str) != Some("null"));
    let property = inner.unwrap_or(property);
    let name = text(property, "$ref").and_then(|path| path.strip_prefix("#/$defs/"));
    name.and_then(|name| schema.get("$defs")?.get(name))
        .unwrap_or(property)
}

/// Says what may stand there.
fn type_of(property: &Value, schema: &Value) -> String {
    let choices = choices(property);
    if !choices.is_empty() {
        return code(choices.iter().map(|(name, _)| *name));
    }
    let types: Vec<&str> = match property.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let item = || {
        let items = property.get("items").map(|items| resolved(items, schema));
        items.map_or(String::new(), |items| {
            format!(" of {}", type_of(items, schema))
        })
    };
    let words: Vec<String> = types
        .iter()
        .filter(|name| **name != "null")
        .map(|name| match *name {
            "string" => "text".to_owned(),
            "integer" => "whole number".to_owned(),
            "number" => "number".to_owned(),
            "boolean" => "`true`, `false`".to_owned(),
            "array" => format!("list{}", item()),
            "object" => "map".to_owned(),
            other => other.to_owned(),
        })
        .collect();
    if words.is_empty() {
        "any".to_owned()
    } else {
        words.join(", or ")
    }
}

/// Returns the values that a closed type offers, with what each means.
fn choices(property: &Value) -> Vec<(&str, &str)> {
    if let Some(names) = property.get("enum").and_then(Value::as_array) {
        return names
            .iter()
            .filter_map(Value::as_str)
            .map(|name| (name, ""))
            .collect();
    }
    let variants = property.get("oneOf").and_then(Value::as_array);
    let of = |variant| {
        Some((
            text(variant, "const")?,
            text(variant, "description").unwrap_or(""),
        ))
    };
    variants.into_iter().flatten().filter_map(of).collect()
}

/// Explains each value of a closed type, where it is documented.
fn choices_of(key: &str, property: &Value) -> Option<String> {
    let choices = choices(property);
    if choices.iter().all(|(_, meaning)| meaning.is_empty()) {
        return None;
    }
    let mut out = format!("\nThe values of `{key}`:\n\n");
    for (name, meaning) in choices {
        writeln!(out, "- `{name}`: {}", meaning.replace('\n', " ")).ok();
    }
    Some(out)
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// Makes a text fit into one cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
