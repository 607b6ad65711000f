//! The manual of scripts, written from the code: facts, functions, limits, and the library.

use super::api::GROUPS;
use super::bundled::BUNDLED;
use super::extra::EXTRAS;
use super::limits;
use super::script::MAX_SOURCE;
use crate::fact::{Fact, FactType};

/// Returns what a script can ask and call, as Markdown.
pub fn reference() -> String {
    let mut page = String::new();
    let mut line = |text: String| {
        page.push_str(&text);
        page.push('\n');
    };
    line("### What a script can ask\n".to_owned());
    line("Each is asked for when the script first reads it, once per event. What the event or the project does not have is `()`; a list is then empty.\n".to_owned());
    line("| `ctx.` | type | what it is |\n|---|---|---|".to_owned());
    for (name, kind, summary) in facts() {
        line(format!("| `{name}` | {kind} | {summary} |"));
    }
    line("\n### What a script can call\n".to_owned());
    line("A function can be called as a method of its first argument: `matches(text, regex)` is `text.matches(regex)`. The examples are true in a project with a change that touches `README.md`, `src/api/users.rs` and `src/main.rs`.".to_owned());
    for group in GROUPS.iter() {
        line(format!("\n#### {}\n", group.title));
        if !group.doc.is_empty() {
            line(format!("{}\n", group.doc));
        }
        for function in &group.functions {
            line(format!("- **`{}`**: {}", function.signature, function.doc));
            line(format!("  ```rhai\n  {}\n  ```", function.example));
        }
    }
    line("\n### Limits\n".to_owned());
    line("A script that passes one of them fails, and its binding's `on_error` says what that means.\n".to_owned());
    line(format!(
        "| what | at most |\n|---|---|\n\
         | the script's file | {} KiB |\n\
         | operations of one run | {} |\n\
         | operations of all runs about one event | {} |\n\
         | functions that call each other | {} deep |\n\
         | a text, or all texts of one list or map | {} MiB |\n\
         | values of one list or map, in all its depth | {} |\n\
         | memory | about 24 MiB more than before |\n\
         | time | the binding's `timeout` |",
        MAX_SOURCE >> 10,
        limits::MAX_OPERATIONS,
        limits::MOST_OPERATIONS,
        limits::MAX_CALLS,
        limits::MAX_TEXT >> 20,
        limits::MAX_ITEMS,
    ));
    page
}

/// Returns the pages of the scripts that come along, as Markdown.
pub fn library() -> String {
    let mut page = String::new();
    for bundled in BUNDLED {
        let head: Vec<_> = bundled
            .source
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        page.push_str(&format!("## {}\n\n{}\n\n", bundled.name, head.join("\n")));
        let defaults = bundled
            .source
            .lines()
            .skip_while(|line| !line.starts_with("const DEFAULTS"))
            .take_while(|line| !line.is_empty())
            .collect::<Vec<_>>();
        if !defaults.is_empty() {
            page.push_str(&format!(
                "Its configuration, with the defaults:\n\n```rhai\n{}\n```\n\n",
                defaults.join("\n")
            ));
        }
    }
    page
}

/// Returns every fact: name, type, one line.
fn facts() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut facts: Vec<_> = Fact::ALL
        .iter()
        .filter(|fact| **fact != Fact::Tool)
        .map(|fact| {
            let kind = match fact.value_type() {
                FactType::Text => "text",
                FactType::Integer => "whole number",
                FactType::Number => "number",
                FactType::Boolean => "true or false",
                FactType::List => "list of texts",
                FactType::Time => "time, as text",
                FactType::Duration => "number of seconds",
            };
            (fact.name(), kind, fact.summary())
        })
        .chain(
            EXTRAS
                .iter()
                .map(|extra| (extra.name, "value", extra.summary)),
        )
        .collect();
    facts.sort_unstable();
    facts
}
