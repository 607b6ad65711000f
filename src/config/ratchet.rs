//! Ratchet: what holds of a project's bindings and settings stays in force until a person approves something weaker.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::path::{Component, PathBuf};

use super::approved::Approved;
use super::{
    BindingKey, BindingSpec, Ceiling, Config, LayerRead, LayerSource, Loaded, Locations, Node,
    OnError, Override, Provenance, Settings, load,
};
use crate::event::Trigger;

/// The mark of what is held of the project's own policy as it was approved.
const APPROVED: &str = "approved";

/// Holds what was loaded to what was approved before, and to what the layers with more say bind without the project.
///
/// A project that was never approved cannot weaken what its user or organisation bind, and what its first event found is
/// held like what was approved.
pub(super) fn hold(mut now: Loaded, locations: &Locations, left_out: &[String]) -> Loaded {
    let settings = &now.config.settings;
    // That programs may run does not make a change its own reviewer.
    let trusts_all = locations.trust_all
        && locations.reviewed.is_none()
        && !settings.forbid.contains(&Override::Trust);
    let is_of_project = |layer: &LayerRead| layer.source.is_of_project();
    let approved = Approved::read(locations);
    if trusts_all
        || !locations.drafts.is_empty()
        || (approved.is_none() && !now.layers.iter().any(is_of_project))
    {
        return now;
    }
    let is_by_person = approved.as_ref().is_some_and(Approved::is_by_person);
    if !is_by_person {
        let no_trust = Settings::default();
        now.config.settings.hold_trust(&no_trust, &mut now.held);
    }
    let floor = |now: &mut Loaded, texts: &BTreeMap<PathBuf, String>, mark: &str| {
        let sources = std::mem::take(&mut now.sources);
        let mut floor = load::from_approved(locations, left_out, texts, sources);
        now.sources = std::mem::take(&mut floor.sources);
        now.programs.append(&mut floor.programs);
        if floor.config.settings.ratchet {
            let standing = now.config.hold(&floor.config, mark, &mut now.held);
            if locations.reviewed.is_some() && mark == APPROVED {
                now.added = now.config.beside(&standing);
            }
        }
    };
    // Whoever approved the project's layers has approved what they do to those of others.
    if !is_by_person && touches_others(&now.config) {
        floor(&mut now, &BTreeMap::new(), "user");
    }
    if let Some(approved) = approved.filter(|approved| !approved.is_of(&now, locations)) {
        floor(&mut now, &approved.texts, APPROVED);
    }
    now
}

/// Whether a project changes a binding or a mark that a layer with more say has made.
fn touches_others(config: &Config) -> bool {
    let specs = config.bindings.values().flatten();
    let specs = specs.map(|spec| (spec.layer, &spec.provenance));
    let marks = config.marks.values();
    let marks = marks.map(|mark| (mark.layer, &mark.provenance));
    specs.chain(marks).any(|(layer, given)| {
        !layer.is_of_project() && given.iter().any(|p| p.layer.is_of_project())
    })
}

impl Config {
    /// Returns what of this configuration is weaker than in another one, in words.
    pub fn weaker_than(mut self, other: &Self) -> Vec<String> {
        let mut weaker = Vec::new();
        self.hold(other, APPROVED, &mut weaker);
        weaker
    }

    /// Keeps what another configuration holds and this one has weakened: its bindings stand beside those of this one, and
    /// its settings in their place. What that concerns is added to `held`. Returns the bindings that stand for those of the other.
    fn hold(
        &mut self,
        floor: &Self,
        mark: &str,
        held: &mut Vec<String>,
    ) -> BTreeSet<(Trigger, String)> {
        let mut standing = BTreeSet::new();
        for (trigger, specs) in &floor.bindings {
            let now = self.bindings.entry(*trigger).or_default();
            for spec in specs.iter().filter(|spec| spec.enabled) {
                let mut same = now.iter().filter(|n| n.id == spec.id);
                // What an organisation leaves open to its projects a person still approves.
                if same.any(|n| n.is_as_strict_as(spec)) {
                    standing.insert((*trigger, spec.id.clone()));
                    continue;
                }
                let now_so = now.iter().find(|n| n.id == spec.id);
                let changed = now_so.map_or_else(|| "is gone".to_owned(), |n| n.differs_from(spec));
                held.push(format!("`{}` at `{trigger}` {changed}", spec.id));
                let is_taken = now.iter().any(|n| n.id == spec.id);
                let mut kept = spec.clone();
                if is_taken {
                    kept.id = format!("{}@{mark}", spec.id);
                }
                standing.insert((*trigger, kept.id.clone()));
                now.push(kept);
            }
        }
        self.bindings.retain(|_, specs| !specs.is_empty());
        self.settings.hold_trust(&floor.settings, held);
        let mut then = floor.settings.clone();
        // A place that a project's layer may not name was never in force.
        let by_project = floor
            .setting_origin("log.path")
            .filter(|o| o.layer.is_of_project());
        let leaves = then
            .log
            .path
            .components()
            .any(|part| part == Component::ParentDir);
        if by_project.is_some() && (leaves || then.log.path.is_absolute()) {
            then.log.path.clone_from(&self.settings.log.path);
        }
        let changed = self.settings.raise_to(&then, mark == APPROVED);
        held.extend(changed.iter().map(|key| format!("`settings.{key}`")));
        // What an approved binding asks for is a part of it, and a script may ask for any mark by its name.
        for mark in floor.marks.values() {
            let now = self.marks.get(&mark.name);
            if now.is_none_or(|now| now.meaning() != mark.meaning()) {
                held.push(format!("the mark `{}`", mark.name));
                self.marks.insert(mark.name.clone(), mark.clone());
            }
        }
        // It was sound before, and so is what is held.
        self.settle_marks();
        standing
    }

    /// Returns the bindings of the project's layers that are none of those.
    fn beside(&self, standing: &BTreeSet<(Trigger, String)>) -> BTreeSet<(Trigger, String)> {
        let all = self.bindings.iter();
        let all = all.flat_map(|(trigger, specs)| specs.iter().map(|spec| (*trigger, spec)));
        all.filter(|(_, spec)| spec.layer.is_of_project())
            .map(|(trigger, spec)| (trigger, spec.id.clone()))
            .filter(|named| !standing.contains(named))
            .collect()
    }
}

impl Settings {
    /// Takes back what the project trusts and other settings do not. What that concerns is added to `held`.
    fn hold_trust(&mut self, approved: &Self, held: &mut Vec<String>) {
        let (servers, known) = (
            &mut self.provenance.project_mcp,
            &approved.provenance.project_mcp,
        );
        for (given, known, what) in [
            (
                &mut self.project_hosts,
                &approved.project_hosts,
                "the trusted hosts",
            ),
            (servers, known, "the trusted MCP servers"),
        ] {
            let before = given.len();
            given.retain(|name| known.contains(name));
            if given.len() < before {
                held.push(what.to_owned());
            }
        }
    }
}

impl BindingSpec {
    /// Whether it holds all that another one does.
    fn is_as_strict_as(&self, other: &Self) -> bool {
        self.loosened(other, &[]).is_empty()
    }

    /// Returns the keys by which it does not hold all that another one does: those that are not the same, but for values that
    /// have an order and have risen, and for keys that are open.
    pub(super) fn loosened(&self, other: &Self, open: &[String]) -> Vec<&'static str> {
        let mut risen = other.clone();
        risen.enabled |= self.enabled;
        risen.locked |= self.locked;
        if self.open.iter().all(|key| risen.open.contains(key)) {
            risen.open.clone_from(&self.open);
        }
        risen.is_async &= self.is_async;
        risen.overridable &= self.overridable;
        match (&self.intensity, &other.intensity) {
            (None, _) => risen.intensity = None,
            (Some(Ceiling::Fixed(now)), Some(Ceiling::Fixed(then))) if now >= then => {
                risen.intensity = Some(Ceiling::Fixed(*now));
            }
            _ => {}
        }
        let rises = match (self.on_error, other.on_error) {
            (Some(now), Some(then)) => now >= then,
            (Some(now), None) => now == OnError::Block,
            _ => false,
        };
        if rises {
            risen.on_error = self.on_error;
        }
        let (mine, mut theirs) = (self.meaning(), risen.meaning());
        for name in open {
            let (name, within) = name.split_once('.').unwrap_or((name, ""));
            let place = BindingKey::ALL.iter().position(|key| key.name == name);
            let both = place.and_then(|place| Some((mine.get(place)?, theirs.get_mut(place)?)));
            if let Some((mine, theirs)) = both {
                take_over(theirs, mine, within);
            }
        }
        let keys = BindingKey::ALL.iter().map(|key| key.name);
        // A condition of the trigger's map form stands in no key of the binding.
        let keys = keys.chain(iter::once("when"));
        keys.zip(mine.iter().zip(&theirs))
            .filter_map(|(key, (mine, theirs))| (mine != theirs).then_some(key))
            .collect()
    }

    /// Returns where a layer gives some keys another value than they had before.
    pub(super) fn given_by(
        &self,
        layer: LayerSource,
        before: &Self,
        keys: &[&str],
    ) -> Vec<Provenance> {
        let is_other = |given: &&Provenance| {
            let (name, within) = given.key.split_once('.').unwrap_or((&given.key, ""));
            let Some(key) = BindingKey::find(name).filter(|_| !within.is_empty()) else {
                return true;
            };
            let place = format!("/{}", within.replace('.', "/"));
            let (now, then) = ((key.value)(self), (key.value)(before));
            now.pointer(&place).is_none() || now.pointer(&place) != then.pointer(&place)
        };
        let is_below = |given: &&Provenance| {
            let name = given.key.split('.').next().unwrap_or_default();
            given.layer == layer && keys.contains(&name)
        };
        let given = self.provenance.iter().filter(is_below);
        given.filter(is_other).cloned().collect()
    }

    /// Says what of an earlier binding this one changes.
    fn differs_from(&self, earlier: &Self) -> String {
        if !self.enabled {
            return "is switched off".to_owned();
        }
        let keys = BindingKey::ALL.iter();
        let keys = keys.filter(|key| (key.value)(self) != (key.value)(earlier));
        let changed: Vec<&str> = keys.map(|key| key.name).collect();
        if changed.is_empty() {
            return "has another `when`".to_owned();
        }
        format!("has another `{}`", changed.join("`, `"))
    }

    /// Returns what it says, wherever it stands: the value of each key, and the condition of its trigger's map form.
    fn meaning(&self) -> Vec<serde_json::Value> {
        let group_when = self.group_when.as_ref().map(Node::to_json);
        let values = BindingKey::ALL.iter().map(|key| (key.value)(self));
        values.chain([group_when.unwrap_or_default()]).collect()
    }
}

/// Takes what stands under a dotted path over from another value; the whole of it where the path is empty.
fn take_over(to: &mut serde_json::Value, from: &serde_json::Value, path: &str) {
    if path.is_empty() {
        to.clone_from(from);
        return;
    }
    let (key, rest) = path.split_once('.').unwrap_or((path, ""));
    let (Some(to), Some(from)) = (to.as_object_mut(), from.as_object()) else {
        return;
    };
    match (to.get_mut(key), from.get(key)) {
        (Some(to), Some(from)) if !rest.is_empty() => take_over(to, from, rest),
        (_, Some(from)) if rest.is_empty() => {
            to.insert(key.to_owned(), from.clone());
        }
        _ => {}
    }
}
