//! Config: the layers, read, checked and merged; system, then user, then project, then local (spec §3).

mod approved;
mod binding;
mod cache;
mod decode;
mod discovery;
mod file;
mod insert;
mod layer;
mod load;
mod merge;
mod name;
mod node;
mod pack;
mod parse;
mod quantity;
mod ratchet;
mod settings;
mod yaml;

pub use self::approved::Approved;
pub use self::binding::BindingSpec;
pub use self::binding::Ceiling;
pub use self::binding::Escalation;
pub use self::binding::LockedOnError;
pub use self::binding::Provenance;
pub use self::binding::Target;
pub use self::cache::CacheEntry;
pub use self::decode::DecodeError;
pub use self::decode::decode;
pub use self::discovery::Environment;
pub use self::discovery::Locations;
pub use self::insert::with_binding;
pub use self::layer::LayerRead;
pub use self::layer::LayerSource;
pub use self::name::default_id;
pub use self::name::former_names;
pub use self::name::kebab_case;
pub use self::node::Key;
pub use self::node::Node;
pub use self::node::Value;
pub use self::pack::DEFAULT_POLICY;
pub use self::pack::PACKS;
pub use self::pack::Pack;
pub use self::quantity::parse_duration;
pub use self::quantity::parse_size;
pub use self::settings::Bypass;
pub use self::settings::Fsync;
pub use self::settings::LogEvents;
pub use self::settings::LogSettings;
pub use self::settings::OnBlock;
pub use self::settings::OnError;
pub use self::settings::Override;
pub use self::settings::Settings;
pub use self::yaml::parse_yaml;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::Serialize;

use self::file::Inputs;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::SourceMap;
use crate::event::Trigger;

/// All layers merged: what is in force, before names of oracles and facts are resolved.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Config {
    /// The settings, every default filled in.
    pub settings: Settings,
    /// Where each setting that is written came from; later entries override earlier ones.
    pub setting_provenance: Vec<Provenance>,
    /// The bindings of each trigger, in the order of the layers; those that are switched off too.
    pub bindings: BTreeMap<Trigger, Vec<BindingSpec>>,
}

/// A configuration with what is wrong in it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What is sound: a layer with a fault is left out.
    pub config: Config,
    /// The layers that were read; none where it comes from the cache, which holds only what has no fault.
    pub layers: Vec<LayerRead>,
    /// The files that it came from.
    pub sources: SourceMap,
    /// Every fault of every layer.
    pub diagnostics: Vec<Diagnostic>,
    /// What is held of earlier bindings and settings that the project has weakened since, and nobody has approved.
    pub held: Vec<String>,
    /// Whether it comes from the cache: checked already, with the bindings of the triggers that were asked for alone,
    /// and with the names of its sources, not their texts.
    pub is_cached: bool,
    inputs: Inputs,
}

impl Loaded {
    /// Whether anything is wrong that keeps a layer from being used.
    pub fn is_broken(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Returns what to put into the user's cache, from which [`Config::load_for`] takes it; to be written once
    /// everything that can be wrong with the configuration has been checked.
    pub fn cache_entry(&self, locations: &Locations) -> Option<CacheEntry> {
        CacheEntry::of(self, locations)
    }
}

impl Config {
    /// Reads and merges the layers, and holds the project's to what was approved of them; no file at all is an empty configuration.
    pub fn load(locations: &Locations) -> Loaded {
        Self::load_without(locations, &[])
    }

    /// Reads and merges the layers but those of these names, which have faults that loading does not see.
    pub fn load_without(locations: &Locations, left_out: &[String]) -> Loaded {
        let now = load::from_locations(locations, left_out);
        ratchet::hold(now, locations, left_out)
    }

    /// Loads what is in force at some triggers: from the cache where it has been checked before, else from the layers.
    pub fn load_for(locations: &Locations, triggers: &[Trigger]) -> Loaded {
        cache::read(locations, triggers).unwrap_or_else(|| Self::load(locations))
    }

    /// Reads one text as a project's layer; paths in `extends` stand against the current directory.
    pub fn parse_str(text: &str) -> Loaded {
        Self::from_layers(
            &[(LayerSource::Project, "hooks.yaml", text)],
            Path::new("."),
        )
    }

    /// Reads and merges layers from text, outermost first: source, name as shown, text.
    ///
    /// Paths in `extends` stand against `root`.
    pub fn from_layers(layers: &[(LayerSource, &str, &str)], root: &Path) -> Loaded {
        load::from_texts(layers, &Locations::of_project(root), &[])
    }

    /// As [`Self::from_layers`], without the layers of these names.
    pub fn from_layers_without(
        layers: &[(LayerSource, &str, &str)],
        root: &Path,
        left_out: &[String],
    ) -> Loaded {
        load::from_texts(layers, &Locations::of_project(root), left_out)
    }

    /// Returns the last place that gave a setting; none where it has its default.
    pub fn setting_origin(&self, key: &str) -> Option<&Provenance> {
        self.setting_provenance
            .iter()
            .rev()
            .find(|provenance| provenance.key == key)
    }
}
