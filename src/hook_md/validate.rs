//! The rules of the fields of a `HOOK.md`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use super::Matcher;
use crate::config::{Key, Node, Value};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::event::Trigger;
use crate::pattern::Pattern;
use crate::words::words;

const FIELDS: &[&str] = words!("hook-md-fields");

/// The fields of a valid `HOOK.md`, with every default filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontMatter {
    /// The name: lower-case letters, digits and single hyphens; the name of the folder.
    pub name: String,
    /// What it does.
    pub description: String,
    /// When it runs.
    pub trigger: Trigger,
    /// The trigger as it is written, which is what the hook is told.
    pub event_type: String,
    /// The tool calls for which it runs; all where there is none.
    pub matcher: Matcher,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether it is not waited for.
    pub is_async: bool,
    /// 0 to 1000; higher runs earlier.
    pub priority: u32,
    /// What else its author says.
    pub metadata: BTreeMap<String, String>,
}

impl FrontMatter {
    /// Whether a hook of the same name that comes later may not take its place.
    pub fn is_locked(&self) -> bool {
        self.metadata
            .get("locked")
            .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
    }
}

/// Checks the fields; the trigger is given also where something else is wrong.
pub(super) fn validate(
    node: &Node,
    folder: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Option<FrontMatter>, Option<Trigger>) {
    if !matches!(node.value, Value::Map(_)) {
        let message = format!("the front matter is {}, not a map", node.type_name());
        diagnostics.push(Diagnostic::error(Code::BadHook, message, node.span));
        return (None, None);
    }
    let mut fields = Fields {
        whole: node.span,
        diagnostics,
    };
    let name = fields.name(node.get("name"), folder);
    let description = fields.description(node.get("description"));
    let event_type = fields.text(node.get("trigger"), "trigger");
    let trigger = event_type
        .as_ref()
        .and_then(|(text, span)| fields.trigger(text, *span));
    let matcher = node.get("matcher").map_or_else(Matcher::default, |node| {
        if trigger.is_some_and(|trigger| !trigger.is_tool()) {
            fields.warn(
                "`matcher` has no effect: the trigger has no tool",
                node.span,
            );
        }
        fields.matcher(node)
    });
    let timeout = fields.number(node.get("timeout"), "timeout", 100..=600_000, 30_000);
    let priority = fields.number(node.get("priority"), "priority", 0..=1000, 100);
    let is_async = fields.truth(node);
    let metadata = fields.metadata(node.get("metadata"));
    for (key, _) in node.entries() {
        if !FIELDS.contains(&key.name.as_str()) && key.name != "async_" {
            fields.unknown(key, FIELDS);
        }
    }
    let front = name.zip(description).zip(event_type).zip(trigger).map(
        |(((name, description), (event_type, _)), trigger)| FrontMatter {
            name,
            description,
            trigger,
            event_type,
            matcher,
            timeout: Duration::from_millis(timeout.into()),
            is_async,
            priority,
            metadata,
        },
    );
    (front, trigger)
}

struct Fields<'a> {
    whole: Span,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Fields<'_> {
    fn fault(&mut self, message: impl Into<String>, span: Span) -> &mut Diagnostic {
        self.diagnostics
            .push(Diagnostic::error(Code::BadHook, message, span));
        // The element that was just pushed.
        let last = self.diagnostics.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the vector was just pushed to")]
        &mut self.diagnostics[last]
    }

    fn warn(&mut self, message: impl Into<String>, span: Span) {
        self.diagnostics
            .push(Diagnostic::warning(Code::BadHook, message, span));
    }

    fn unknown(&mut self, key: &Key, known: &[&str]) {
        let message = format!("unknown field `{}`", key.name);
        let fault = Diagnostic::error(Code::UnknownKey, message, key.span)
            .did_you_mean(&key.name, known.iter().copied())
            .help(format!("the fields are `{}`", known.join("`, `")));
        self.diagnostics.push(fault);
    }

    /// Returns the text of a required field.
    fn text(&mut self, node: Option<&Node>, field: &str) -> Option<(String, Span)> {
        let Some(node) = node.filter(|node| !matches!(node.value, Value::Null)) else {
            let (message, whole) = (format!("the field `{field}` is missing"), self.whole);
            self.fault(message, whole);
            return None;
        };
        let Some(text) = scalar(node) else {
            let message = format!("`{field}` is {}, not text", node.type_name());
            self.fault(message, node.span);
            return None;
        };
        let text = text.trim().to_owned();
        if text.is_empty() {
            self.fault(format!("`{field}` is empty"), node.span);
            return None;
        }
        Some((text, node.span))
    }

    fn name(&mut self, node: Option<&Node>, folder: &str) -> Option<String> {
        let (written, span) = self.text(node, "name")?;
        let name: String = written.nfkc().collect::<String>().trim().to_owned();
        let before = self.diagnostics.len();
        let length = name.chars().count();
        if length > 64 {
            self.fault(
                format!("`name` has {length} characters; at most 64 are allowed"),
                span,
            );
        }
        if name.to_lowercase() != name {
            self.fault(format!("`name` must be lower case: `{name}`"), span);
        }
        if name.starts_with('-') || name.ends_with('-') {
            self.fault("`name` may neither start nor end with a hyphen", span);
        }
        if name.contains("--") {
            self.fault("`name` may not have two hyphens in a row", span);
        }
        if let Some(c) = name.chars().find(|c| !c.is_alphanumeric() && *c != '-') {
            let message = format!(
                "`name` holds `{}`; only letters, digits and hyphens are allowed",
                c.escape_debug()
            );
            self.fault(message, span);
        }
        if folder.nfkc().collect::<String>() != name {
            let message = format!("`name` is `{name}`, but the folder is `{folder}`");
            self.fault(message, span)
                .help
                .push("give both one name".to_owned());
        }
        (self.diagnostics.len() == before).then_some(name)
    }

    fn description(&mut self, node: Option<&Node>) -> Option<String> {
        let (text, span) = self.text(node, "description")?;
        let length = text.chars().count();
        if length > 1024 {
            let message =
                format!("`description` has {length} characters; at most 1024 are allowed");
            self.fault(message, span);
            return None;
        }
        Some(text)
    }

    fn trigger(&mut self, text: &str, span: Span) -> Option<Trigger> {
        let found = Trigger::find(text);
        if found.is_none() {
            let names = Trigger::ALL
                .iter()
                .flat_map(|t| std::iter::once(t.name()).chain(t.aliases().iter().copied()));
            let fault = Diagnostic::error(
                Code::UnknownTrigger,
                format!("unknown trigger `{text}`"),
                span,
            )
            .did_you_mean(text, names);
            self.diagnostics.push(fault);
        }
        found
    }

    fn matcher(&mut self, node: &Node) -> Matcher {
        let mut matcher = Matcher::default();
        match &node.value {
            Value::Null => return matcher,
            Value::Map(_) => {}
            _ => {
                let message = format!("`matcher` is {}, not a map", node.type_name());
                self.fault(message, node.span)
                    .help
                    .push("write `matcher: {tool: Shell, pattern: 'rm -rf'}`".to_owned());
                return matcher;
            }
        }
        for (key, value) in node.entries() {
            let field = match key.name.as_str() {
                "tool" => &mut matcher.tool,
                "pattern" => &mut matcher.pattern,
                _ => {
                    self.unknown(key, &["tool", "pattern"]);
                    continue;
                }
            };
            let Some(text) = scalar(value) else {
                let message = format!("`matcher.{}` is {}, not text", key.name, value.type_name());
                self.fault(message, value.span);
                continue;
            };
            if let Err(error) = Pattern::new(&text) {
                let message = format!(
                    "`matcher.{}` is not a regular expression: {error}",
                    key.name
                );
                self.diagnostics
                    .push(Diagnostic::error(Code::BadRegex, message, value.span));
            }
            if text.contains('\u{8}') {
                self.warn(
                    "holds a backspace: in double quotes `\\b` means that; single quotes make it a word boundary",
                    value.span,
                );
            }
            *field = Some(text);
        }
        matcher
    }

    fn number(
        &mut self,
        node: Option<&Node>,
        field: &str,
        range: std::ops::RangeInclusive<u32>,
        default: u32,
    ) -> u32 {
        let Some(node) = node.filter(|node| !matches!(node.value, Value::Null)) else {
            return default;
        };
        let number = match &node.value {
            Value::Int(n) => Some(*n),
            Value::Str(text) => text.trim().parse().ok(),
            _ => None,
        };
        let Some(number) = number else {
            let found = scalar(node).unwrap_or_else(|| node.type_name().to_owned());
            let message = format!("`{field}` is `{found}`, not a whole number");
            let fault = self.fault(message, node.span);
            if field == "timeout" {
                fault
                    .help
                    .push("the unit is the millisecond: five seconds are `5000`".to_owned());
            }
            return default;
        };
        if let Some(number) = u32::try_from(number).ok().filter(|n| range.contains(n)) {
            return number;
        }
        let message = format!(
            "`{field}` is {number}; it must lie between {} and {}",
            range.start(),
            range.end()
        );
        self.fault(message, node.span);
        default
    }

    fn truth(&mut self, whole: &Node) -> bool {
        let given: Vec<&Node> = ["async", "async_"]
            .iter()
            .filter_map(|key| whole.get(key))
            .filter(|node| !matches!(node.value, Value::Null))
            .collect();
        if let [_, second] = given.as_slice() {
            self.fault("`async` and `async_` are both given", second.span);
        }
        let Some(node) = given.first() else {
            return false;
        };
        match scalar(node)
            .map(|text| text.trim().to_lowercase())
            .as_deref()
        {
            Some("true" | "yes" | "1") => true,
            Some("false" | "no" | "0") => false,
            _ => {
                self.fault("`async` is neither `true` nor `false`", node.span);
                false
            }
        }
    }

    fn metadata(&mut self, node: Option<&Node>) -> BTreeMap<String, String> {
        let mut metadata = BTreeMap::new();
        let Some(node) = node.filter(|node| !matches!(node.value, Value::Null)) else {
            return metadata;
        };
        if !matches!(node.value, Value::Map(_)) {
            let message = format!("`metadata` is {}, not a map", node.type_name());
            self.fault(message, node.span);
        }
        for (key, value) in node.entries() {
            if let Some(text) = scalar(value) {
                metadata.insert(key.name.clone(), text);
            } else {
                let message = format!("`metadata.{}` is {}, not text", key.name, value.type_name());
                self.fault(message, value.span);
            }
        }
        metadata
    }
}

/// Returns the text of a scalar, whatever YAML makes of it: a name such as `123` is a name.
fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::Str(text) => Some(text.clone()),
        Value::Int(n) => Some(n.to_string()),
        Value::Float(n) => Some(n.to_string()),
        Value::Bool(b) => Some(b.to_string()),
        Value::Null => Some(String::new()),
        Value::Seq(_) | Value::Map(_) => None,
    }
}
