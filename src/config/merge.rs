//! Stacks layers into one policy: settings key by key, bindings by trigger and id; what is locked stays as it is.

use std::collections::BTreeMap;
use std::collections::HashMap;

use super::BindingSpec;
use super::Ceiling;
use super::LayerSource;
use super::LockedOnError;
use super::Node;
use super::Provenance;
use super::Settings;
use super::Target;
use super::Value;
use super::parse::Entry;
use super::parse::Layer;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::SourceMap;
use crate::diagnostic::Span;
use crate::event::Trigger;

/// The layers so far, from the outermost inwards.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    settings: Settings,
    setting_provenance: Vec<Provenance>,
    /// The settings that no later layer may give, with the place where they were locked.
    locked_settings: BTreeMap<&'static str, (LayerSource, Span)>,
    bindings: BTreeMap<Trigger, Bindings>,
}

/// The bindings of one trigger, in the order in which they were first named.
#[derive(Clone, Debug, Default)]
struct Bindings {
    entries: Vec<Entry>,
    by_id: HashMap<String, usize>,
}

impl Stack {
    /// Lays one layer on top.
    pub(super) fn add(
        &mut self,
        layer: Layer,
        source: LayerSource,
        sources: &SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut newly_locked = Vec::new();
        for given in layer.settings {
            let (key, span) = (given.key, given.span);
            if let Some(&(by, first)) = self.locked_settings.get(key) {
                if sources.name(first.file) != sources.name(span.file) {
                    diagnostics.push(
                        Diagnostic::error(
                            Code::Locked,
                            format!("the {source} layer changes `settings.{key}`, which the {by} layer locks"),
                            span,
                        )
                        .saying("changed here")
                        .related(first, "locked here")
                        .help("remove it here, or ask whoever keeps the locked layer"),
                    );
                }
                continue;
            }
            if let Some(lock) = layer.settings_locked {
                newly_locked.push((key, (source, lock)));
            }
            let mut settings = self.settings.clone();
            given.apply(&mut settings);
            // For what an earlier layer binds its own settings hold where a later one would loosen them.
            if self.binds_before(source, key) && settings.is_looser_than(&self.settings) {
                continue;
            }
            self.settings = settings;
            self.setting_provenance.push(Provenance {
                key: key.to_owned(),
                layer: source,
                span,
            });
        }
        self.locked_settings.extend(newly_locked);
        for (trigger, entries) in layer.bindings {
            let below = self.bindings.entry(trigger).or_default();
            for entry in entries {
                below.overlay(entry, trigger, sources, diagnostics);
            }
            for entry in below
                .entries
                .iter_mut()
                .filter(|entry| entry.locked.is_some())
            {
                // What a locked binding leaves to the settings is locked with it, as the settings stand here. A HOOK.md
                // hook has a timeout of its own, and fails open by its own standard, whatever the settings say.
                if !entry.target.as_ref().is_some_and(Target::is_hook) {
                    entry.timeout.get_or_insert(self.settings.timeout);
                    entry
                        .on_failure
                        .get_or_insert(LockedOnError(self.settings.on_error));
                }
            }
        }
    }

    /// Whether a layer with more say than this one has a binding that a setting is for; the two of a project have the same.
    fn binds_before(&self, source: LayerSource, key: &str) -> bool {
        let entries = self.bindings.values().flat_map(|below| &below.entries);
        let has_more_say = |layer: LayerSource| {
            layer < source && !(layer.is_of_project() && source.is_of_project())
        };
        let mut earlier = entries.filter(|entry| has_more_say(entry.layer));
        match key {
            // Only what asks for the environment can be loosened by it.
            "environment" => earlier.any(|entry| {
                let nodes = [&entry.config, &entry.when, &entry.group_when];
                let ceiling = match &entry.intensity {
                    Some(Ceiling::By(node)) => Some(node),
                    _ => None,
                };
                let mut nodes = nodes.into_iter().filter_map(Option::as_ref).chain(ceiling);
                nodes.any(|node| node.to_json().to_string().contains("environment"))
            }),
            _ => earlier.next().is_some(),
        }
    }

    /// Returns the result, every default filled in.
    pub(super) fn finish(
        self,
    ) -> (
        Settings,
        Vec<Provenance>,
        BTreeMap<Trigger, Vec<BindingSpec>>,
    ) {
        let bindings = self
            .bindings
            .into_iter()
            .map(|(trigger, below)| {
                let specs = below.entries.into_iter().filter_map(spec);
                (trigger, specs.collect())
            })
            .filter(|(_, specs): &(_, Vec<_>)| !specs.is_empty())
            .collect();
        (self.settings, self.setting_provenance, bindings)
    }
}

impl Bindings {
    /// Lays one binding over those of its trigger: into the one of its id, else behind all others.
    fn overlay(
        &mut self,
        entry: Entry,
        trigger: Trigger,
        sources: &SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let place = self.by_id.get(&entry.id).copied();
        let Some(base) = place.and_then(|n| self.entries.get_mut(n)) else {
            if entry.target.is_some() {
                self.by_id.insert(entry.id.clone(), self.entries.len());
                self.entries.push(entry);
                return;
            }
            let known: Vec<&str> = self.entries.iter().map(|base| base.id.as_str()).collect();
            let diagnostic = Diagnostic::error(
                Code::MissingKey,
                format!(
                    "no earlier layer has a binding `{}` at `{trigger}`",
                    entry.id
                ),
                entry.span,
            )
            .did_you_mean(&entry.id, known)
            .help("add `oracle: NAME` for a new binding");
            diagnostics.push(diagnostic);
            return;
        };
        if let Some(lock) = base.locked {
            // The same pack named by two layers says the same twice.
            if sources.name(lock.file) != sources.name(entry.span.file) {
                diagnostics.push(
                    Diagnostic::error(
                        Code::Locked,
                        format!(
                            "the {} layer changes `{}` at `{trigger}`, which the {} layer locks",
                            entry.layer, entry.id, base.layer
                        ),
                        entry.span,
                    )
                    .saying("changed here")
                    .related(lock, "locked here")
                    .help("remove it here, or give a binding of your own another `id`"),
                );
            }
            return;
        }
        if let (Some(old), Some(new)) = (&base.target, &entry.target)
            && !old.is_same(new)
        {
            diagnostics.push(
            Diagnostic::error(
                Code::DuplicateId,
                format!("`{}` at `{trigger}` is a binding of {old} already", entry.id),
                entry.span,
            )
            .saying(format!("{new} here"))
            .related(base.span, format!("{old} here"))
            .help("give the new binding an `id` of its own, and switch the old one off by `enabled: false` if that is meant"),
        );
            return;
        }
        merge(base, entry);
    }
}

/// Merges a later entry of the same id into an earlier one: `config` by key, every other given key replaces.
fn merge(base: &mut Entry, over: Entry) {
    base.span = over.span;
    base.target = base.target.take().or(over.target);
    base.config = match (base.config.take(), over.config) {
        (Some(base), Some(over)) => Some(deep(base, over)),
        (base, over) => over.or(base),
    };
    base.group_when = over.group_when.or(base.group_when.take());
    base.when = over.when.or(base.when.take());
    base.priority = over.priority.or(base.priority);
    base.enabled = over.enabled.or(base.enabled);
    base.is_async = over.is_async.or(base.is_async);
    base.timeout = over.timeout.or(base.timeout);
    base.on_error = over.on_error.or(base.on_error);
    base.intensity = over.intensity.or(base.intensity.take());
    base.escalate = over.escalate.or(base.escalate.take());
    base.overridable = over.overridable.or(base.overridable);
    base.locked = over.locked.or(base.locked);
    base.provenance.extend(over.provenance);
}

/// Merges maps key by key, as deep as both are maps; anything else is replaced.
fn deep(base: Node, over: Node) -> Node {
    let (Value::Map(mut entries), Value::Map(later)) = (base.value, over.value.clone()) else {
        return over;
    };
    for (key, value) in later {
        match entries.iter_mut().find(|(known, _)| known.name == key.name) {
            Some((known, slot)) => {
                let old = std::mem::replace(slot, Node::new(Value::Null, value.span));
                *slot = deep(old, value);
                *known = key;
            }
            None => entries.push((key, value)),
        }
    }
    Node::new(Value::Map(entries), over.span)
}

/// Fills the defaults in.
fn spec(entry: Entry) -> Option<BindingSpec> {
    Some(BindingSpec {
        id: entry.id,
        target: entry.target?,
        config: entry.config.unwrap_or(Node::empty_map(entry.span)),
        group_when: entry.group_when,
        when: entry.when,
        priority: entry.priority.unwrap_or(0),
        enabled: entry.enabled.unwrap_or(true),
        is_async: entry.is_async.unwrap_or(false),
        timeout: entry.timeout,
        on_error: entry.on_error,
        on_failure: entry.on_failure,
        intensity: entry.intensity,
        escalate: entry.escalate,
        overridable: entry.overridable.unwrap_or(false),
        locked: entry.locked.is_some(),
        layer: entry.layer,
        span: entry.span,
        provenance: entry.provenance,
    })
}
