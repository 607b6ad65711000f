//! One binding of one layer as written: each key that is given, typed, with its place.

use std::ops::RangeInclusive;

use serde_json::json;

use super::checker::Checker;
use super::settings::ON_ERROR;
use crate::config::name::default_id;
use crate::config::quantity::format_duration;
use crate::config::{
    BindingSpec, Ceiling, Escalation, LayerSource, Node, Provenance, Target, Value,
};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::signal::Strength;

/// What a key changes in a binding.
type Change = Box<dyn FnOnce(&mut BindingSpec)>;

/// All that is known of one key of a binding: it is read, merged, explained, compared and put into the schema by this.
#[derive(Debug)]
pub struct BindingKey {
    /// The key as it is written.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// Makes the schema of its value (draft-07), which refers to `definitions` of the whole schema.
    pub schema: fn() -> serde_json::Value,
    /// Returns its value in a binding; null where it has none.
    pub value: fn(&BindingSpec) -> serde_json::Value,
    /// Reads it; none where it changes nothing, or is wrong, which is then told.
    read: fn(&Node, &mut Checker<'_>) -> Option<Change>,
}

impl BindingKey {
    /// Every key.
    pub const ALL: &[Self] = &[
        Self {
            name: "oracle",
            description: "The oracle: a built-in one, a script by its name or path, or one of the host program.",
            schema: || json!({"$ref": "#/definitions/oracle"}),
            value: |spec| json!((!spec.target.is_hook()).then(|| spec.target.name())),
            // A target and an id are what a binding is known by, and are read before it is merged.
            read: |_, _| None,
        },
        Self {
            name: "hook",
            description: "A HOOK.md hook by its name.",
            schema: || json!({"type": "string", "minLength": 1}),
            value: |spec| json!(spec.target.is_hook().then(|| spec.target.name())),
            read: |_, _| None,
        },
        Self {
            name: "id",
            description: "Unique in its trigger; by default the oracle's name in kebab-case.",
            schema: || {
                json!({
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_ID,
                    "not": {"pattern": "[\\s/\\\\,;!?\"'(){}\\[\\]<>|&$*]"},
                })
            },
            value: |spec| json!(spec.id),
            read: |_, _| None,
        },
        Self {
            name: "config",
            description: "The oracle's own keys.",
            schema: || json!({"type": ["object", "null"]}),
            value: |spec| spec.config.to_json(),
            read: config,
        },
        Self {
            name: "when",
            description: "Under which conditions it runs.",
            schema: || json!({"$ref": "#/definitions/when"}),
            value: |spec| json!(spec.when.as_ref().map(Node::to_json)),
            read: |node, checker| {
                let when = checker.condition(node)?;
                change(|spec| spec.when = Some(when))
            },
        },
        Self {
            name: "priority",
            description: "The stage: lower numbers run first.",
            schema: || json!({"type": "integer", "minimum": PRIORITIES.start(), "maximum": PRIORITIES.end()}),
            value: |spec| json!(spec.priority),
            read: |node, checker| {
                let priority = checker.integer(node, PRIORITIES)?;
                change(move |spec| spec.priority = priority)
            },
        },
        Self {
            name: "enabled",
            description: "Whether it runs at all.",
            schema: || json!({"type": "boolean"}),
            value: |spec| json!(spec.enabled),
            read: |node, checker| {
                let enabled = checker.boolean(node)?;
                change(move |spec| spec.enabled = enabled)
            },
        },
        Self {
            name: "async",
            description: "Whether its result is not waited for.",
            schema: || json!({"type": "boolean"}),
            value: |spec| json!(spec.is_async),
            read: |node, checker| {
                let is_async = checker.boolean(node)?;
                change(move |spec| spec.is_async = is_async)
            },
        },
        Self {
            name: "timeout",
            description: "How long its oracle may take.",
            schema: || json!({"$ref": "#/definitions/duration"}),
            value: |spec| json!(spec.timeout.map(format_duration)),
            read: |node, checker| {
                let timeout = checker.duration(node)?;
                change(move |spec| spec.timeout = Some(timeout))
            },
        },
        Self {
            name: "on_error",
            description: "What its failure gives.",
            schema: || json!({"enum": words(ON_ERROR)}),
            value: |spec| json!(spec.on_error),
            read: |node, checker| {
                let on_error = checker.choice(node, ON_ERROR)?;
                change(move |spec| spec.on_error = Some(on_error))
            },
        },
        Self {
            name: "intensity",
            description: "What it gives is weakened to this.",
            schema: || json!({"$ref": "#/definitions/intensity"}),
            value: |spec| match &spec.intensity {
                Some(Ceiling::Fixed(intensity)) => json!(intensity),
                Some(Ceiling::By(map)) => map.to_json(),
                None => serde_json::Value::Null,
            },
            read: |node, checker| {
                let ceiling = ceiling(node, checker)?;
                change(|spec| spec.intensity = Some(ceiling))
            },
        },
        Self {
            name: "escalate",
            description: "How repeated violations grow stronger.",
            schema: || {
                json!({
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["steps"],
                    "properties": {
                        "steps": {"type": "array", "minItems": 1, "items": {"enum": words(INTENSITIES)}},
                        "per": {"enum": words(PER)},
                        "reset_after": {"enum": ["accept"]},
                    },
                })
            },
            value: |spec| {
                json!(spec.escalate.as_ref().map(|escalation| {
                    json!({
                        "steps": escalation.steps,
                        "per": if escalation.per_issue { "issue" } else { "session" },
                    })
                }))
            },
            read: |node, checker| {
                let escalation = escalation(node, checker)?;
                change(|spec| spec.escalate = Some(escalation))
            },
        },
        Self {
            name: "override",
            description: "Whether `proceed_with_risk` may lift its block.",
            schema: || json!({"type": "boolean"}),
            value: |spec| json!(spec.overridable),
            read: |node, checker| {
                let overridable = checker.boolean(node)?;
                change(move |spec| spec.overridable = overridable)
            },
        },
        Self {
            name: "outside",
            description: "Whether what it starts runs outside of a shield; only system and user layers may say so.",
            schema: || json!({"type": "boolean"}),
            value: |spec| json!(spec.outside),
            read: |node, checker| {
                let outside = checker.boolean(node)?;
                if outside && checker.source.is_of_project() {
                    let message = format!(
                        "the {} layer cannot let a binding out of the shield",
                        checker.source
                    );
                    checker.push(
                        Diagnostic::error(Code::Locked, message, node.span)
                            .help(super::settings::NOT_OF_A_CLONE),
                    );
                    return None;
                }
                change(move |spec| spec.outside = outside)
            },
        },
        Self {
            name: "locked",
            description: "Whether later layers may only make it stricter.",
            schema: || {
                json!({
                    "anyOf": [
                        {"type": "boolean"},
                        {
                            "description": "Locked but for some keys; only the bundle and the system layer may say so.",
                            "type": "object",
                            "additionalProperties": false,
                            "required": ["open"],
                            "properties": {"open": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}},
                        },
                    ],
                })
            },
            value: |spec| match spec.open.as_slice() {
                [] => json!(spec.locked),
                open => json!({"open": open}),
            },
            read: |node, checker| {
                let (locked, open) = lock(node, checker)?;
                change(move |spec| (spec.locked, spec.open) = (locked, open))
            },
        },
    ];

    /// Finds a key by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|key| key.name == name)
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the last step of each way in which a key is read"
)]
fn change(change: impl FnOnce(&mut BindingSpec) + 'static) -> Option<Change> {
    Some(Box::new(change))
}

/// Returns the words of a choice.
fn words<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(word, _)| *word).collect()
}

/// Reads `locked:`: whether it is, and which keys are open all the same.
fn lock(node: &Node, checker: &mut Checker<'_>) -> Option<(bool, Vec<String>)> {
    if !matches!(node.value, Value::Map(_)) {
        return Some((checker.boolean(node)?, Vec::new()));
    }
    super::settings::of_the_machine(node, checker, "open keys of a lock")?;
    let mut open = Vec::new();
    for (_, value) in checker.map(node, "`true`, `false` or `{open: [KEY, …]}`", &["open"]) {
        for (name, span) in checker.texts(value, "the name of a key") {
            // What a binding is known by, and the lock itself, are nobody's to change.
            let mut known = BindingKey::ALL.iter().map(|key| key.name);
            let is_key = known.any(|key| key == name)
                && !matches!(&*name, "oracle" | "hook" | "id" | "locked");
            if is_key
                || name
                    .strip_prefix("config.")
                    .is_some_and(|key| !key.is_empty())
            {
                open.push(name);
                continue;
            }
            let message = format!("`{name}` is not a key that can be open");
            checker.push(
                Diagnostic::error(Code::BadValue, message, span).help(
                    "a key of the binding like `timeout` or `intensity`, or one of its oracle like `config.allow_commands`",
                ),
            );
        }
    }
    Some((true, open))
}

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

/// What violations are counted by: whether it is the issue.
const PER: &[(&str, bool)] = &[("issue", true), ("session", false)];

/// The stages that a binding may name.
const PRIORITIES: RangeInclusive<i64> = -1_000_000..=1_000_000;

/// The longest id.
const MAX_ID: usize = 100;

/// A binding as one layer writes it; what it does not give is inherited or has a default.
pub(in crate::config) struct Entry {
    pub(in crate::config) id: String,
    pub(in crate::config) target: Option<Target>,
    pub(in crate::config) layer: LayerSource,
    pub(in crate::config) span: Span,
    changes: Vec<Change>,
    provenance: Vec<Provenance>,
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
        target: None,
        layer: checker.source,
        span: node.span,
        changes: Vec::new(),
        provenance: Vec::new(),
    };
    if let Some(when) = group_when {
        let node = when.clone();
        entry
            .changes
            .extend(change(|spec| spec.group_when = Some(node)));
        entry.note("oracles.when", when.span);
    }
    // A name that is there and wrong has been reported; that it is missing would be a second, false report.
    let mut named = false;
    let names: Vec<_> = BindingKey::ALL.iter().map(|key| key.name).collect();
    for (key, value) in checker.map(node, "a binding", &names) {
        let Some(key) = BindingKey::find(&key.name) else {
            continue;
        };
        match key.name {
            "oracle" | "hook" => {
                named = true;
                target(key.name, value, &mut entry, checker);
            }
            "id" => {
                named = true;
                entry.id = id(value, checker).unwrap_or_default();
            }
            _ => entry.changes.extend((key.read)(value, checker)),
        }
        if key.name != "config" {
            entry.note(key.name, value.span);
        } else if matches!(value.value, Value::Map(_)) {
            entry.note_leaves("config", value);
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
    /// Changes a binding of earlier layers, or one with every default, to what this layer writes.
    pub(in crate::config) fn apply(self, spec: &mut BindingSpec) {
        spec.span = self.span;
        for change in self.changes {
            change(spec);
        }
        // What a clone has a part in stays in the shield.
        spec.outside &= !self.layer.is_of_project();
        spec.provenance.extend(self.provenance);
    }

    fn note(&mut self, key: &str, span: Span) {
        self.provenance.push(Provenance {
            key: key.to_owned(),
            layer: self.layer,
            span,
        });
    }

    /// Notes the place of every leaf of a configuration.
    fn note_leaves(&mut self, key: &str, node: &Node) {
        let entries = node.entries();
        if entries.is_empty() {
            self.note(key, node.span);
        }
        for (name, value) in entries {
            self.note_leaves(&format!("{key}.{}", name.name), value);
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

/// Reads `config`, which is merged key by key.
fn config(node: &Node, checker: &mut Checker<'_>) -> Option<Change> {
    match node.value {
        Value::Map(_) => {
            let config = node.clone();
            change(|spec| spec.config.overlay(config))
        }
        Value::Null => None,
        _ => {
            checker.wrong(node, "a map of the oracle's own keys");
            None
        }
    }
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
            "per" => per_issue = checker.choice(value, PER)?,
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
