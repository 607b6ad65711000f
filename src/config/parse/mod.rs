//! One layer's node to typed entries; every fault is reported, and what is sound goes on.

mod binding;
mod checker;
mod mark;
mod settings;

pub use self::binding::BindingKey;
pub(super) use self::binding::Entry;
pub(super) use self::settings::GivenSetting;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use self::binding::binding;
use self::checker::Checker;
use super::{Key, LayerSource, MarkSpec, Node, Value};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::event::Trigger;

/// The keys of a layer.
const LAYER_KEYS: &[&str] = &[
    "version", "extends", "settings", "marks", "hooks", "$schema",
];

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
    /// Its marks, in the order of the file.
    pub(super) marks: Vec<MarkSpec>,
    /// Its bindings by trigger.
    pub(super) bindings: BTreeMap<Trigger, Group>,
}

/// What stands under one trigger.
#[derive(Default)]
pub(super) struct Group {
    pub(super) entries: Vec<Entry>,
    /// What must hold for all bindings of the trigger, those of earlier layers too.
    pub(super) when: Option<Node>,
}

/// Reads a layer; what is wrong in it is added to `diagnostics`.
pub(super) fn layer(
    node: &Node,
    source: LayerSource,
    home: Option<&Path>,
    pack_dir: Option<&Path>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Layer {
    let mut checker = Checker {
        source,
        home,
        pack_dir,
        diagnostics,
    };
    let mut layer = Layer {
        extends: Vec::new(),
        settings: Vec::new(),
        settings_locked: None,
        marks: Vec::new(),
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
            "marks" => layer.marks = mark::marks(value, &mut checker),
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

fn hooks(node: &Node, checker: &mut Checker<'_>) -> BTreeMap<Trigger, Group> {
    let mut bindings = BTreeMap::new();
    let mut places: BTreeMap<Trigger, (&Key, bool)> = BTreeMap::new();
    for (key, value) in checker.entries(node, "a map from triggers to bindings") {
        let names: Vec<&str> = key.name.split(',').map(str::trim).collect();
        let is_list = names.len() > 1;
        for (n, name) in names.into_iter().enumerate() {
            let Some(trigger) = Trigger::find(name) else {
                checker.push(unknown_trigger(name, key.span));
                // What is wrong with its bindings is told in the same run.
                if let Some(meant) = Trigger::nearest(name).and_then(Trigger::find)
                    && n == 0
                {
                    trigger_value(value, meant, checker);
                }
                continue;
            };
            let before = places.insert(trigger, (key, is_list));
            if let Some((first, _)) = before.filter(|(_, was_list)| !is_list && !was_list) {
                checker.push(one_trigger(key, first));
                continue;
            }
            let known = checker.diagnostics.len();
            let given = trigger_value(value, trigger, checker);
            if n > 0 {
                // What is wrong below the key is told once.
                checker.diagnostics.truncate(known);
            }
            let group: &mut Group = bindings.entry(trigger).or_default();
            join(group, given, trigger, checker);
        }
    }
    bindings
}

/// Adds what another key says of a trigger: one that names several beside one that names it alone.
fn join(group: &mut Group, given: Group, trigger: Trigger, checker: &mut Checker<'_>) {
    for entry in given.entries {
        if let Some(first) = group.entries.iter().find(|first| first.id == entry.id) {
            checker.push(two_of(trigger, &entry, first.span));
        } else {
            group.entries.push(entry);
        }
    }
    group.when = match (group.when.take(), given.when) {
        (Some(_), Some(second)) => {
            let text = format!("`{trigger}` has a `when` for all of its bindings already");
            let fault = Diagnostic::error(Code::DuplicateKey, text, second.span);
            checker.push(fault.help("write one of them on each of its bindings"));
            Some(second)
        }
        (first, second) => first.or(second),
    };
}

fn one_trigger(key: &Key, first: &Key) -> Diagnostic {
    Diagnostic::error(
        Code::DuplicateKey,
        format!("`{}` and `{}` are one trigger", key.name, first.name),
        key.span,
    )
    .saying("again here")
    .related(first.span, "first here")
    .help("put all of its bindings under one of them")
}

fn two_of(trigger: Trigger, entry: &Entry, first: Span) -> Diagnostic {
    Diagnostic::error(
        Code::DuplicateId,
        format!("two bindings of `{trigger}` have the id `{}`", entry.id),
        entry.span,
    )
    .saying("again here")
    .related(first, "first here")
    .help("give one of them another `id`")
}

fn unknown_trigger(name: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::UnknownTrigger,
        format!("unknown trigger `{name}`"),
        span,
    );
    if let Some(name) = Trigger::nearest(name) {
        return diagnostic.help(format!("did you mean `{name}`?"));
    }
    let names: Vec<_> = Trigger::ALL.iter().map(|t| format!("`{t}`")).collect();
    diagnostic.help(format!("the triggers are {}", names.join(", ")))
}

/// Reads what stands under a trigger: a list of bindings, or a map with `when` and `oracles`.
fn trigger_value(node: &Node, trigger: Trigger, checker: &mut Checker<'_>) -> Group {
    let (items, when) = match &node.value {
        Value::Null => return Group::default(),
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
                return Group::default();
            }
            let mut items: &[Node] = &[];
            let mut when = None;
            let mut given = node.get("when").is_some();
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
                    .help("add `oracles:` with a list of bindings, or `when:` for those of earlier layers"),
                );
            }
            (items, when)
        }
        _ => {
            checker.wrong(
                node,
                "a list of bindings, or a map with `when` and `oracles`",
            );
            return Group::default();
        }
    };
    let mut entries: Vec<Entry> = Vec::with_capacity(items.len());
    let mut places: HashMap<String, Span> = HashMap::with_capacity(items.len());
    for item in items {
        let Some(entry) = binding(item, when.as_ref(), checker) else {
            continue;
        };
        if let Some(&first) = places.get(&entry.id) {
            checker.push(two_of(trigger, &entry, first));
            continue;
        }
        places.insert(entry.id.clone(), entry.span);
        entries.push(entry);
    }
    Group { entries, when }
}
