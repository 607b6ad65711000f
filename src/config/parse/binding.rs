//! One binding of one layer as written: each key that is given, typed, with its place.

use std::time::Duration;

use super::checker::Checker;
use super::settings::ON_ERROR;
use crate::config::Ceiling;
use crate::config::Escalation;
use crate::config::LayerSource;
use crate::config::LockedOnError;
use crate::config::Node;
use crate::config::OnError;
use crate::config::Provenance;
use crate::config::Target;
use crate::config::Value;
use crate::config::name::default_id;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::Span;
use crate::signal::Strength;

/// The keys of a binding.
const KEYS: &[&str] = &[
    "oracle",
    "hook",
    "id",
    "config",
    "when",
    "priority",
    "enabled",
    "async",
    "timeout",
    "on_error",
    "intensity",
    "escalate",
    "override",
    "locked",
];

/// The keys of `escalate:`.
const ESCALATE_KEYS: &[&str] = &["steps", "per", "reset_after"];

/// The words of intensities.
const INTENSITIES: &[(&str, Strength)] = &[
    ("block", Strength::Block),
    ("ask", Strength::Ask),
    ("control", Strength::Control),
    ("prompt", Strength::Prompt),
    ("aid", Strength::Aid),
];

/// The longest id.
const MAX_ID: usize = 100;

/// A binding as one layer writes it; what it does not give is inherited or has a default.
#[derive(Clone, Debug)]
pub(in crate::config) struct Entry {
    pub(in crate::config) id: String,
    /// The layer that named it first.
    pub(in crate::config) layer: LayerSource,
    /// Where it stands, in the layer that touched it last.
    pub(in crate::config) span: Span,
    pub(in crate::config) target: Option<Target>,
    pub(in crate::config) config: Option<Node>,
    pub(in crate::config) group_when: Option<Node>,
    pub(in crate::config) when: Option<Node>,
    pub(in crate::config) priority: Option<i64>,
    pub(in crate::config) enabled: Option<bool>,
    pub(in crate::config) is_async: Option<bool>,
    pub(in crate::config) timeout: Option<Duration>,
    pub(in crate::config) on_error: Option<OnError>,
    /// What the settings said of failures when the binding was locked.
    pub(in crate::config) on_failure: Option<LockedOnError>,
    pub(in crate::config) intensity: Option<Ceiling>,
    pub(in crate::config) escalate: Option<Escalation>,
    pub(in crate::config) overridable: Option<bool>,
    /// The place of `locked: true`.
    pub(in crate::config) locked: Option<Span>,
    pub(in crate::config) provenance: Vec<Provenance>,
}

/// Reads one binding; none where it has no name by which it could be known.
pub(super) fn binding(
    node: &Node,
    group_when: Option<&Node>,
    checker: &mut Checker<'_>,
) -> Option<Entry> {
    if !matches!(node.value, Value::Map(_)) {
        checker.wrong(node, "a binding, `oracle: NAME` with its keys");
        return None;
    }
    let mut entry = Entry {
        id: String::new(),
        layer: checker.source,
        span: node.span,
        target: None,
        config: None,
        group_when: group_when.cloned(),
        when: None,
        priority: None,
        enabled: None,
        is_async: None,
        timeout: None,
        on_error: None,
        on_failure: None,
        intensity: None,
        escalate: None,
        overridable: None,
        locked: None,
        provenance: Vec::new(),
    };
    if let Some(when) = group_when {
        entry.note("oracles.when", when.span, checker.source);
    }
    // A name that is there and wrong has been reported; that it is missing would be a second, false report.
    let mut named = false;
    for (key, value) in checker.map(node, "a binding", KEYS) {
        let key = key.name.as_str();
        match key {
            "oracle" | "hook" => {
                named = true;
                target(key, value, &mut entry, checker);
            }
            "id" => {
                named = true;
                entry.id = id(value, checker).unwrap_or_default();
            }
            "config" => config(value, &mut entry, checker),
            "when" => entry.when = checker.condition(value),
            "priority" => entry.priority = checker.integer(value, -1_000_000..=1_000_000),
            "enabled" => entry.enabled = checker.boolean(value),
            "async" => entry.is_async = checker.boolean(value),
            "timeout" => entry.timeout = checker.duration(value),
            "on_error" => entry.on_error = checker.choice(value, ON_ERROR),
            "intensity" => entry.intensity = ceiling(value, checker),
            "escalate" => entry.escalate = escalation(value, checker),
            "override" => entry.overridable = checker.boolean(value),
            "locked" => entry.locked = lock(value, checker),
            _ => continue,
        }
        if key != "config" {
            entry.note(key, value.span, checker.source);
        }
    }
    if entry.id.is_empty()
        && let Some(target) = &entry.target
    {
        entry.id = default_id(target);
    }
    if !entry.id.is_empty() {
        return Some(entry);
    }
    if !named {
        checker.push(
            Diagnostic::error(Code::MissingKey, "the binding names no oracle", node.span)
                .help("add `oracle: NAME`; `ahp oracle list` shows all"),
        );
    }
    None
}

impl Entry {
    fn note(&mut self, key: &str, span: Span, layer: LayerSource) {
        self.provenance.push(Provenance {
            key: key.to_owned(),
            layer,
            span,
        });
    }

    /// Notes the place of every leaf of a configuration.
    fn note_leaves(&mut self, key: &str, node: &Node, layer: LayerSource) {
        let entries = node.entries();
        if entries.is_empty() {
            self.note(key, node.span, layer);
        }
        for (name, value) in entries {
            self.note_leaves(&format!("{key}.{}", name.name), value, layer);
        }
    }
}

fn target(key: &str, node: &Node, entry: &mut Entry, checker: &mut Checker<'_>) {
    let is_oracle = key == "oracle";
    let expected = if is_oracle {
        "the name of an oracle"
    } else {
        "the name of a HOOK.md hook"
    };
    let Some(name) = checker.text(node, expected) else {
        return;
    };
    if entry.target.is_some() {
        checker.push(
            Diagnostic::error(
                Code::BadValue,
                "a binding names an oracle or a hook, not both",
                node.span,
            )
            .help("make two bindings of it"),
        );
        return;
    }
    entry.target = Some(if is_oracle {
        Target::Oracle(name)
    } else {
        Target::Hook(name)
    });
}

fn id(node: &Node, checker: &mut Checker<'_>) -> Option<String> {
    let id = checker.text(node, "an id")?;
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    if id.chars().count() <= MAX_ID && id.chars().all(fits) {
        return Some(id);
    }
    checker.push(
        Diagnostic::error(Code::BadValue, format!("`{id}` cannot be an id"), node.span).help(
            format!("use letters, digits, `-`, `_`, `.` and `:`, at most {MAX_ID} of them"),
        ),
    );
    None
}

fn config(node: &Node, entry: &mut Entry, checker: &mut Checker<'_>) {
    match node.value {
        Value::Map(_) => {
            entry.note_leaves("config", node, checker.source);
            entry.config = Some(node.clone());
        }
        Value::Null => {}
        _ => checker.wrong(node, "a map of the oracle's own keys"),
    }
}

fn lock(node: &Node, checker: &mut Checker<'_>) -> Option<Span> {
    checker.boolean(node)?.then_some(node.span)
}

/// Reads `intensity`: one word, or a map `by:` a fact whose other values are such words.
fn ceiling(node: &Node, checker: &mut Checker<'_>) -> Option<Ceiling> {
    let Value::Map(entries) = &node.value else {
        return checker.choice(node, INTENSITIES).map(Ceiling::Fixed);
    };
    let mut sound = true;
    for (key, value) in entries {
        sound &= if key.name == "by" {
            checker.text(value, "the name of a fact").is_some()
        } else {
            checker.choice(value, INTENSITIES).is_some()
        };
    }
    if node.get("by").is_none() {
        checker.push(
            Diagnostic::error(
                Code::MissingKey,
                "the fact by which the intensity is chosen is missing",
                node.span,
            )
            .help("add `by: environment`, or another fact"),
        );
        return None;
    }
    sound.then(|| Ceiling::By(node.clone()))
}

fn escalation(node: &Node, checker: &mut Checker<'_>) -> Option<Escalation> {
    let mut steps = None;
    let mut per_issue = true;
    for (key, value) in checker.map(node, "a map with `steps`", ESCALATE_KEYS) {
        match key.name.as_str() {
            "steps" => {
                let Value::Seq(items) = &value.value else {
                    checker.wrong(value, "a list of intensities");
                    return None;
                };
                let words = items.iter().map(|item| checker.choice(item, INTENSITIES));
                steps = Some(words.collect::<Option<Vec<_>>>()?);
            }
            "per" => per_issue = checker.choice(value, &[("issue", true), ("session", false)])?,
            "reset_after" => checker.choice(value, &[("accept", ())])?,
            _ => {}
        }
    }
    let (problem, help) = match steps {
        Some(steps) if steps.is_empty() => (
            "`steps` has no step",
            "write `steps: [prompt, control, block]`",
        ),
        Some(steps) if !steps.is_sorted() => (
            "`steps` grows weaker",
            "order them from the weakest to the strongest: aid, prompt, control, ask, block",
        ),
        Some(steps) => return Some(Escalation { steps, per_issue }),
        None => (
            "`steps` is missing",
            "write `steps: [prompt, control, block]`",
        ),
    };
    let span = node.get("steps").map_or(node.span, |steps| steps.span);
    checker.push(Diagnostic::error(Code::BadValue, problem, span).help(help));
    None
}
