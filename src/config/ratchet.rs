//! Ratchet: what holds of a project's bindings and settings stays in force until a person approves something weaker.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::BindingSpec;
use super::Ceiling;
use super::Config;
use super::LayerRead;
use super::Loaded;
use super::Locations;
use super::OnError;
use super::Override;
use super::approved::Approved;
use super::load;

/// Holds what was loaded to what was approved before, and to what the layers with more say bind without the project.
///
/// A project that was never approved cannot weaken what its user or organisation bind, and what its first event found is
/// held like what was approved.
pub(super) fn hold(mut now: Loaded, locations: &Locations, left_out: &[String]) -> Loaded {
    let settings = &now.config.settings;
    let trusts_all = locations.trust_all && !settings.forbid.contains(&Override::Trust);
    let is_of_project = |layer: &LayerRead| layer.source.is_of_project();
    let approved = Approved::read(locations);
    if trusts_all || (approved.is_none() && !now.layers.iter().any(is_of_project)) {
        return now;
    }
    let is_by_person = approved.as_ref().is_some_and(|approved| approved.by_person);
    let floor = |now: &mut Loaded, texts: &BTreeMap<PathBuf, String>, mark: &str| {
        let sources = std::mem::take(&mut now.sources);
        let mut floor = load::from_approved(locations, left_out, texts, sources);
        now.sources = std::mem::take(&mut floor.sources);
        if floor.config.settings.ratchet {
            now.config.hold(&floor.config, mark, &mut now.held);
        }
    };
    // Whoever approved the project's layers has approved what they do to those of others.
    if !is_by_person && touches_others(&now.config) {
        floor(&mut now, &BTreeMap::new(), "user");
    }
    if let Some(approved) = approved.filter(|a| a.texts != Approved::of(locations, false).texts) {
        floor(&mut now, &approved.texts, "approved");
    }
    now
}

/// Whether a project changes a binding that a layer with more say has made.
fn touches_others(config: &Config) -> bool {
    let mut specs = config.bindings.values().flatten();
    specs.any(|spec| {
        !spec.layer.is_of_project() && spec.provenance.iter().any(|p| p.layer.is_of_project())
    })
}

impl Config {
    /// Keeps what another configuration holds and this one has weakened: its bindings stand beside those of this one, and
    /// its settings in their place. What that concerns is added to `held`.
    fn hold(&mut self, floor: &Self, mark: &str, held: &mut Vec<String>) {
        for (trigger, specs) in &floor.bindings {
            let now = self.bindings.entry(*trigger).or_default();
            for spec in specs.iter().filter(|spec| spec.enabled) {
                let mut same = now.iter().filter(|n| n.id == spec.id);
                if same.any(|n| n.is_as_strict_as(spec)) {
                    continue;
                }
                held.push(format!("`{}` at `{trigger}`", spec.id));
                let is_taken = now.iter().any(|n| n.id == spec.id);
                let mut kept = spec.clone();
                if is_taken {
                    kept.id = format!("{}@{mark}", spec.id);
                }
                now.push(kept);
            }
        }
        self.bindings.retain(|_, specs| !specs.is_empty());
        if self.settings.is_looser_than(&floor.settings) {
            let now = &mut self.settings;
            let then = &floor.settings;
            now.environment.clone_from(&then.environment);
            now.max_stop_blocks = now.max_stop_blocks.max(then.max_stop_blocks);
            now.bypass = now.bypass.min(then.bypass);
            now.on_block = now.on_block.min(then.on_block);
            now.timeout = now.timeout.max(then.timeout);
            now.on_error = then.on_error;
            now.log.required |= then.log.required;
            now.self_protection |= then.self_protection;
            held.push("the settings".to_owned());
        }
    }
}

impl BindingSpec {
    /// Whether it holds all that another one does: it is the same, but for values that have an order and have risen.
    fn is_as_strict_as(&self, other: &Self) -> bool {
        let mut risen = other.clone();
        risen.enabled |= self.enabled;
        risen.locked |= self.locked;
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
        self.enabled == risen.enabled && self.meaning() == risen.meaning()
    }

    /// Returns what it says, wherever it stands.
    fn meaning(&self) -> impl PartialEq {
        let ceiling = match &self.intensity {
            None => serde_json::Value::Null,
            Some(Ceiling::Fixed(intensity)) => serde_json::json!(intensity),
            Some(Ceiling::By(node)) => node.to_json(),
        };
        let nodes = [
            Some(&self.config),
            self.when.as_ref(),
            self.group_when.as_ref(),
        ];
        (
            (
                self.target.clone(),
                self.priority,
                self.is_async,
                self.timeout,
            ),
            (
                self.on_error,
                self.overridable,
                self.locked,
                self.escalate.clone(),
            ),
            (ceiling, nodes.map(|node| node.map(super::Node::to_json))),
        )
    }
}
