//! One layer's node to typed entries; every fault is reported, and what is sound goes on.

mod binding;
mod checker;
mod settings;

pub(super) use self::binding::Entry;
pub(super) use self::settings::GivenSetting;

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::Path;

use self::binding::binding;
use self::checker::Checker;
use super::Key;
use super::LayerSource;
use super::Node;
use super::Value;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::Span;
use crate::event::Trigger;

/// The keys of a layer.
const LAYER_KEYS: &[&str] = &["version", "extends", "settings", "hooks", "$schema"];

/// The keys of a trigger's map form.
const GROUP_KEYS: &[&str] = &["when", "oracles"];

/// One layer, or one pack, as written.
pub(super) struct Layer {
    /// The packs and files that it names, in order, each with its place.
    pub(super) extends: Vec<(String, Span)>,
    /// Its settings, in the order of the file.
    pub(super) settings: Vec<GivenSetting>,
    /// Where it locks its settings, if it does.
    pub(super) settings_locked: Option<Span>,
    /// Its bindings by trigger.
    pub(super) bindings: BTreeMap<Trigger, Vec<Entry>>,
}

/// Reads a layer; what is wrong in it is added to `diagnostics`.
pub(super) fn layer(
    node: &Node,
    source: LayerSource,
    home: Option<&Path>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Layer {
    let mut checker = Checker {
        source,
        home,
        diagnostics,
    };
    let mut layer = Layer {
        extends: Vec::new(),
        settings: Vec::new(),
        settings_locked: None,
        bindings: BTreeMap::new(),
    };
    for (key, value) in checker.map(
        node,
        "a map of `settings`, `hooks` and the like",
        LAYER_KEYS,
    ) {
        match key.name.as_str() {
            "version" => version(value, &mut checker),
            "extends" => layer.extends = checker.texts(value, "a pack, `ahp:NAME`, or a file"),
            "settings" => {
                (layer.settings, layer.settings_locked) = settings::settings(value, &mut checker);
            }
            "hooks" => layer.bindings = hooks(value, &mut checker),
            // `$schema` is for editors.
            _ => {}
        }
    }
    layer
}

fn version(node: &Node, checker: &mut Checker<'_>) {
    if !matches!(node.value, Value::Int(1)) {
        checker.push(
            Diagnostic::error(
                Code::BadValue,
                format!("{} is not a version of the format", node.describe()),
                node.span,
            )
            .help("write `version: 1`, or leave it out"),
        );
    }
}

fn hooks(node: &Node, checker: &mut Checker<'_>) -> BTreeMap<Trigger, Vec<Entry>> {
    let mut bindings = BTreeMap::new();
    let mut places: BTreeMap<Trigger, (String, Span)> = BTreeMap::new();
    for (key, value) in checker.entries(node, "a map from triggers to bindings") {
        let Some(trigger) = Trigger::find(&key.name) else {
            checker.push(unknown_trigger(key));
            continue;
        };
        if let Some((other, first)) = places.get(&trigger) {
            checker.push(
                Diagnostic::error(
                    Code::DuplicateKey,
                    format!("`{}` and `{other}` are one trigger", key.name),
                    key.span,
                )
                .saying("again here")
                .related(*first, "first here")
                .help("put all of its bindings under one of them"),
            );
            continue;
        }
        places.insert(trigger, (key.name.clone(), key.span));
        bindings.insert(trigger, trigger_value(value, trigger, checker));
    }
    bindings
}

fn unknown_trigger(key: &Key) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::UnknownTrigger,
        format!("unknown trigger `{}`", key.name),
        key.span,
    );
    if let Some(name) = Trigger::nearest(&key.name) {
        return diagnostic.help(format!("did you mean `{name}`?"));
    }
    let names: Vec<_> = Trigger::ALL.iter().map(|t| format!("`{t}`")).collect();
    diagnostic.help(format!("the triggers are {}", names.join(", ")))
}

/// Reads what stands under a trigger: a list of bindings, or a map with `when` and `oracles`.
fn trigger_value(node: &Node, trigger: Trigger, checker: &mut Checker<'_>) -> Vec<Entry> {
    let (items, when) = match &node.value {
        Value::Null => return Vec::new(),
        Value::Seq(items) => (items.as_slice(), None),
        Value::Map(entries) => {
            if entries
                .iter()
                .any(|(key, _)| matches!(key.name.as_str(), "oracle" | "hook"))
            {
                checker.push(
                    Diagnostic::error(
                        Code::WrongType,
                        format!("expected a list of bindings under `{trigger}`, found one binding"),
                        node.span,
                    )
                    .help("put `- ` before its first key, and indent the others by two"),
                );
                return Vec::new();
            }
            let mut items: &[Node] = &[];
            let mut when = None;
            let mut given = false;
            for (key, value) in checker.map(node, "a list of bindings", GROUP_KEYS) {
                match (key.name.as_str(), &value.value) {
                    ("when", _) => when = checker.condition(value),
                    ("oracles", Value::Seq(found)) => (items, given) = (found, true),
                    ("oracles", Value::Null) => given = true,
                    ("oracles", _) => {
                        given = true;
                        checker.wrong(value, "a list of bindings");
                    }
                    _ => {}
                }
            }
            if !given {
                checker.push(
                    Diagnostic::error(
                        Code::MissingKey,
                        format!("the bindings of `{trigger}` are missing"),
                        node.span,
                    )
                    .help("add `oracles:` with a list of bindings"),
                );
            }
            (items, when)
        }
        _ => {
            checker.wrong(
                node,
                "a list of bindings, or a map with `when` and `oracles`",
            );
            return Vec::new();
        }
    };
    let mut entries: Vec<Entry> = Vec::with_capacity(items.len());
    let mut places: HashMap<String, Span> = HashMap::with_capacity(items.len());
    for item in items {
        let Some(entry) = binding(item, when.as_ref(), checker) else {
            continue;
        };
        if let Some(&first) = places.get(&entry.id) {
            checker.push(
                Diagnostic::error(
                    Code::DuplicateId,
                    format!("two bindings of `{trigger}` have the id `{}`", entry.id),
                    entry.span,
                )
                .saying("again here")
                .related(first, "first here")
                .help("give one of them another `id`"),
            );
            continue;
        }
        places.insert(entry.id.clone(), entry.span);
        entries.push(entry);
    }
    entries
}
