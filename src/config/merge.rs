//! Stacks layers into one policy: settings key by key, bindings by trigger and id; what is locked stays as it is.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use super::parse::{Entry, Group, Layer};
use super::{
    BindingSpec, Ceiling, Config, Key, LayerSource, LockedOnError, MarkSpec, Node, Provenance,
    Settings, Value, mark,
};
use crate::diagnostic::{Code, Diagnostic, SourceMap, Span};
use crate::event::Trigger;

/// The settings that have an order: where they are locked, a later layer may still make them stricter.
const NARROWED: &[&str] = &[
    "bypass",
    "log.required",
    "max_stop_blocks",
    "on_block",
    "policy_changed",
    "on_error",
    "self_protection",
];

/// How many bindings are named to whoever names one that is not there.
const MOST_SHOWN: usize = 8;

/// The layers so far, from the outermost inwards.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    settings: Settings,
    setting_provenance: Vec<Provenance>,
    oracle_dirs: BTreeMap<LayerSource, Vec<PathBuf>>,
    hook_dirs: BTreeMap<LayerSource, Vec<PathBuf>>,
    /// The settings that no later layer may give, with the place where they were locked.
    locked_settings: BTreeMap<&'static str, (LayerSource, Span)>,
    marks: BTreeMap<String, MarkSpec>,
    bindings: BTreeMap<Trigger, Bindings>,
}

/// The bindings of one trigger, in the order in which they were first named.
#[derive(Clone, Debug, Default)]
struct Bindings {
    specs: Vec<BindingSpec>,
    by_id: HashMap<String, usize>,
    /// Which layer locked it first.
    locked_by: HashMap<String, LayerSource>,
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
            let mut settings = self.settings.clone();
            given.apply(&mut settings);
            let lock = self.locked_settings.get(key).copied();
            // Whoever locks may still change it, and whoever comes later may narrow it.
            if let Some((by, first)) = lock.filter(|(by, _)| *by < source) {
                // The same pack named by two layers says the same twice.
                if sources.name(first.file) == sources.name(span.file) {
                    continue;
                }
                let narrows = NARROWED.contains(&key)
                    && settings.clone().raise_to(&self.settings, false).is_empty();
                if !narrows {
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
                    continue;
                }
            }
            // A team that the machine's owner names is not another one in some project.
            let is_of_machine =
                |given: &Provenance| given.key == key && given.layer.is_of_machine();
            if key == "labels.team"
                && !source.is_of_machine()
                && self.setting_provenance.iter().any(is_of_machine)
            {
                continue;
            }
            // A later layer makes more of a change of the policy, never less.
            if settings.policy_changed < self.settings.policy_changed {
                continue;
            }
            // These the layers of the machine give together, and nobody else does.
            let is_shared = matches!(key, "fleet" | "forbid");
            if let Some(lock) = layer.settings_locked.filter(|_| !is_shared) {
                newly_locked.push((key, (source, lock)));
            }
            // For what an earlier layer binds its own settings hold where a later one would loosen them.
            if self.binds_before(source, key)
                && !settings.clone().raise_to(&self.settings, false).is_empty()
            {
                continue;
            }
            self.settings = settings;
            for (named, given, known) in [
                ("oracles", &self.settings.oracles, &mut self.oracle_dirs),
                (
                    "agent_hooks",
                    &self.settings.agent_hook_dirs,
                    &mut self.hook_dirs,
                ),
            ] {
                if key == named {
                    known.insert(source, given.clone());
                }
            }
            self.setting_provenance.push(Provenance {
                key: key.to_owned(),
                layer: source,
                span,
            });
        }
        for (key, lock) in newly_locked {
            self.locked_settings.entry(key).or_insert(lock);
        }
        for given in layer.marks {
            self.overlay_mark(given, sources, diagnostics);
        }
        for (trigger, Group { entries, when }) in layer.bindings {
            let below = self.bindings.entry(trigger).or_default();
            // Its own have the condition by themselves.
            let own: Vec<String> = entries.iter().map(|entry| entry.id.clone()).collect();
            for entry in entries {
                below.overlay(entry, trigger, sources, diagnostics);
            }
            if let Some(when) = when
                && !below.filter(&when, &own, source)
                && own.is_empty()
            {
                let message = format!("no binding of `{trigger}` is there to be filtered");
                diagnostics.push(
                    Diagnostic::warning(Code::NeverFires, message, when.span)
                        .help("a `when` of its own holds for the bindings of this layer, of its packs and of earlier layers that are not locked"),
                );
            }
        }
        self.settle_locks();
    }

    /// Locks what the bundle binds and does not leave open.
    pub(super) fn lock_bundle(&mut self) {
        for below in self.bindings.values_mut() {
            for spec in &mut below.specs {
                if spec.provenance.iter().all(|given| given.key != "locked") {
                    spec.locked = true;
                    below.locked_by.insert(spec.id.clone(), LayerSource::Bundle);
                }
            }
        }
        self.settle_locks();
    }

    /// Whether signed policy is asked for.
    pub(super) fn asks_for_bundle(&self) -> bool {
        let bundle = self.settings.fleet.bundle.as_ref();
        bundle.is_some_and(|bundle| !bundle.keys.is_empty())
    }

    /// Locks with a binding what hangs on it.
    fn settle_locks(&mut self) {
        // What a locked binding leaves to the settings is locked with it, as the settings stand here. A HOOK.md
        // hook has a timeout of its own, and fails open by its own standard, whatever the settings say.
        let specs = self
            .bindings
            .values_mut()
            .flat_map(|below| &mut below.specs);
        for spec in specs.filter(|spec| spec.locked && !spec.target.is_hook()) {
            spec.timeout.get_or_insert(self.settings.timeout);
            let on_error = LockedOnError(self.settings.on_error);
            spec.on_failure.get_or_insert(on_error);
        }
        self.lock_asked_marks();
    }

    /// Lays one mark over that of its name; one that is locked stays as it is.
    fn overlay_mark(
        &mut self,
        given: MarkSpec,
        sources: &SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let Some(base) = self.marks.get_mut(&given.name) else {
            self.marks.insert(given.name.clone(), given);
            return;
        };
        match base.locked {
            None => base.merge(given),
            // The same pack named by two layers says the same twice.
            Some(lock) if sources.name(base.span.file) != sources.name(given.span.file) => {
                let (by, at) = (given.layer, given.span);
                diagnostics.push(mark::is_locked(base, lock, by, at));
            }
            Some(_) => {}
        }
    }

    /// Locks the marks that the conditions of locked bindings ask for: who could change them could open the gate. Those for
    /// which their scripts ask are looked for once the scripts are read ([`mark::changes_of_locked`]).
    fn lock_asked_marks(&mut self) {
        let specs = self.bindings.values().flat_map(|below| &below.specs);
        for spec in specs.filter(|spec| spec.locked) {
            for asked in mark::marks_asked(spec) {
                if let Some(mark) = self.marks.get_mut(&asked.name) {
                    mark.locked.get_or_insert(spec.span_of("locked"));
                }
            }
        }
    }

    /// Whether a layer with more say than this one has a binding that a setting is for; the two of a project have the same.
    fn binds_before(&self, source: LayerSource, key: &str) -> bool {
        let specs = self.bindings.values().flat_map(|below| &below.specs);
        let has_more_say = |layer: LayerSource| {
            layer < source && !(layer.is_of_project() && source.is_of_project())
        };
        let mut earlier = specs.filter(|spec| has_more_say(spec.layer));
        match key {
            // Only what asks for the environment can be loosened by it.
            "environment" => earlier.any(|spec| {
                let ceiling = match &spec.intensity {
                    Some(Ceiling::By(map)) => Some(map),
                    _ => None,
                };
                let conditions = spec.group_when.iter().chain(&spec.when);
                let mut nodes = conditions.chain(ceiling).chain([&spec.config]);
                nodes.any(|node| node.to_json().to_string().contains("environment"))
            }),
            _ => earlier.next().is_some(),
        }
    }

    /// Returns the result, every default filled in.
    pub(super) fn finish(self) -> Config {
        let bindings = self
            .bindings
            .into_iter()
            .map(|(trigger, below)| (trigger, below.specs))
            .filter(|(_, specs)| !specs.is_empty())
            .collect();
        Config {
            digest: String::new(),
            settings: self.settings,
            setting_provenance: self.setting_provenance,
            oracle_dirs: self.oracle_dirs,
            hook_dirs: self.hook_dirs,
            marks: self.marks,
            asks_age: false,
            asks_origins: false,
            bindings,
        }
    }
}

impl Bindings {
    /// Lets the bindings fire only where a condition holds too, but for some, for locked ones and for what the program
    /// brings; whether there is one.
    fn filter(&mut self, when: &Node, but: &[String], layer: LayerSource) -> bool {
        let mut is_any = false;
        for spec in &mut self.specs {
            if spec.locked || spec.layer == LayerSource::BuiltIn || but.contains(&spec.id) {
                continue;
            }
            let both = match spec.group_when.take() {
                None => when.clone(),
                Some(group) => {
                    let all = Node::new(Value::Seq(vec![group, when.clone()]), when.span);
                    let (name, span) = ("all".to_owned(), when.span);
                    Node::new(Value::Map(vec![(Key { name, span }, all)]), when.span)
                }
            };
            spec.group_when = Some(both);
            spec.provenance.push(Provenance {
                key: "oracles.when".to_owned(),
                layer,
                span: when.span,
            });
            is_any = true;
        }
        is_any
    }

    /// Lays one binding over those of its trigger: into the one of its id, else behind all others.
    fn overlay(
        &mut self,
        entry: Entry,
        trigger: Trigger,
        sources: &SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let place = self.by_id.get(&entry.id).copied();
        let Some(base) = place.and_then(|n| self.specs.get_mut(n)) else {
            if let Some(target) = &entry.target {
                let (id, target) = (entry.id.clone(), target.clone());
                let mut spec = BindingSpec::unwritten(id, target, entry.layer, entry.span);
                self.by_id.insert(spec.id.clone(), self.specs.len());
                let layer = entry.layer;
                entry.apply(&mut spec);
                if spec.locked {
                    self.locked_by.insert(spec.id.clone(), layer);
                }
                self.specs.push(spec);
                return;
            }
            let known: Vec<&str> = self.specs.iter().map(|base| base.id.as_str()).collect();
            let mut help = "add `oracle: NAME` for a new binding".to_owned();
            if !known.is_empty() {
                let shown = known.iter().take(MOST_SHOWN);
                let ids: Vec<String> = shown.map(|id| format!("`{id}`")).collect();
                help = format!("{help}; earlier layers have {}", ids.join(", "));
            }
            let diagnostic = Diagnostic::error(
                Code::MissingKey,
                format!(
                    "no earlier layer has a binding `{}` at `{trigger}`",
                    entry.id
                ),
                entry.span,
            )
            .did_you_mean(&entry.id, known)
            .help(help);
            diagnostics.push(diagnostic);
            return;
        };
        let (id, layer, span) = (entry.id.clone(), entry.layer, entry.span);
        let by = self.locked_by.get(&id).copied().unwrap_or(base.layer);
        let is_locked = base.locked && by < layer;
        let lock = base.span_of("locked");
        let mut places = base.provenance.iter().map(|given| given.span).chain([lock]);
        // The same pack named by two layers says the same twice.
        if is_locked && places.any(|place| sources.name(place.file) == sources.name(span.file)) {
            return;
        }
        let old = &base.target;
        let other = entry.target.as_ref().filter(|new| !old.is_same(new));
        let is_other = other.is_some();
        if let Some(new) = other.filter(|_| !is_locked) {
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
        let before = base.clone();
        entry.apply(base);
        // Whoever locks may still change it, and whoever comes later may narrow it.
        let mut loosened = if is_locked {
            base.loosened(&before, &before.open)
        } else {
            Vec::new()
        };
        if is_locked && is_other && !loosened.contains(&"oracle") {
            loosened.push("oracle");
        }
        if !loosened.is_empty() {
            let changed = base.given_by(layer, &before, &loosened);
            *base = before;
            let keys: Vec<&str> = match &*changed {
                [] => loosened,
                given => given.iter().map(|given| given.key.as_str()).collect(),
            };
            let message = format!(
                "the {layer} layer changes `{}` of `{id}` at `{trigger}`, which the {by} layer locks",
                keys.join("`, `")
            );
            let mut places = changed.iter().map(|given| given.span);
            let mut diagnostic =
                Diagnostic::error(Code::Locked, message, places.next().unwrap_or(span))
                    .saying("changed here");
            for place in places {
                diagnostic = diagnostic.related(place, "changed here");
            }
            diagnostics.push(
                diagnostic
                    .related(lock, "locked here")
                    .help("remove it here, or give a binding of your own another `id`; what makes it stricter is taken"),
            );
        } else if base.locked {
            self.locked_by.entry(id).or_insert(layer);
        } else {
            self.locked_by.remove(&id);
        }
    }
}
