//! Config: the layers, read, checked and merged; system, then user, then project, then local (spec §3).

mod approved;
mod base;
mod base_root;
mod binding;
mod bundle;
mod cache;
mod ci;
mod commands;
mod decode;
mod discovery;
mod file;
mod fleet;
mod forbidden;
mod insert;
mod layer;
mod load;
mod mark;
mod merge;
mod name;
mod node;
mod pack;
mod parse;
mod quantity;
mod ratchet;
mod reviewed;
mod settings;
mod yaml;

pub use self::approved::Approved;
pub use self::base::BaseError;
pub use self::binding::{BindingSpec, Ceiling, Escalation, LockedOnError, Provenance, Target};
pub use self::bundle::{BreakGlass, Bundle};
pub use self::cache::CacheEntry;
pub(crate) use self::commands::{commands, may_name_commands};
pub use self::decode::{DecodeError, decode};
pub(crate) use self::discovery::{CACHE_DIR, SOCKET_DIR, STATE_DIR};
pub use self::discovery::{Environment, Locations, OWN_PLACES, OWN_VARIABLES, SERVE_TOKEN, UNREAD};
pub use self::fleet::{BundleSettings, Detail, FleetSettings, ShipSettings};
pub use self::insert::with_binding;
pub use self::layer::{LayerRead, LayerSource};
pub use self::mark::{
    MOST_IN_WINDOW, MOST_MARKS, MarkAsked, MarkEnd, MarkSpec, covers, marks_asked, may_ask,
};
pub use self::name::{default_id, former_names, kebab_case};
pub use self::node::{Key, Node, Value};
pub use self::pack::{DEFAULT_POLICY, PACKS, Pack};
pub use self::parse::BindingKey;
pub use self::quantity::{format_duration, parse_duration, parse_size};
pub use self::reviewed::Reviewed;
pub use self::settings::{
    Bypass, Fsync, LogEvents, LogSettings, OnBlock, OnError, Override, PolicyChanged,
    ProvenanceSettings, Settings, ShieldSettings,
};
pub use self::yaml::parse_yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::file::Inputs;
use crate::diagnostic::{Diagnostic, SourceMap};
use crate::event::Trigger;
use crate::stamp::Stamp;

/// Facts that ask in which texts of a session words have stood.
const ORIGIN_FACTS: [&str; 4] = [
    "tool.arguments_from",
    "tool.outward",
    "tool.asked",
    "tool.injection_score",
];

/// All layers merged: what is in force, before names of oracles and facts are resolved.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Config {
    /// The settings, every default filled in.
    pub settings: Settings,
    /// Where each setting that is written came from; later entries override earlier ones.
    pub setting_provenance: Vec<Provenance>,
    /// The directories with script oracles that each layer names, whatever later layers name instead.
    pub oracle_dirs: BTreeMap<LayerSource, Vec<PathBuf>>,
    /// The directories with HOOK.md hooks that each layer names, whatever later layers name instead.
    pub hook_dirs: BTreeMap<LayerSource, Vec<PathBuf>>,
    /// The marks by their names, those that nothing asks for too.
    pub marks: BTreeMap<String, MarkSpec>,
    /// Whether a condition asks for the age of the session.
    pub asks_age: bool,
    /// Whether a condition asks where the arguments of a call come from, or whether it goes out.
    pub asks_origins: bool,
    /// The bindings of each trigger, in the order of the layers; those that are switched off too.
    pub bindings: BTreeMap<Trigger, Vec<BindingSpec>>,
    /// Which policy it is: 16 hexadecimal digits of a hash over all layers, packs and scripts, and over the hooks and programs
    /// of the machine's layers.
    pub digest: String,
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
    /// What would be in force with each layer that has faults: what else is wrong with it is found by compiling that.
    pub faulty: Vec<Config>,
    /// What is held of earlier bindings and settings that the project has weakened since, and nobody has approved.
    pub held: Vec<String>,
    /// The bindings that a change adds to the reviewed policy that it is held to.
    pub added: BTreeSet<(Trigger, String)>,
    /// The signed policy in force.
    pub bundle: Option<Bundle>,
    /// The files that the bindings of all triggers would run, and files with commands that they name.
    pub programs: Vec<PathBuf>,
    /// Whether it comes from the cache: checked already, with the bindings of the triggers that were asked for alone,
    /// and with the names of its sources, not their texts.
    pub is_cached: bool,
    inputs: Inputs,
    /// The marks as the layers make them, whatever is held of them.
    marks: BTreeMap<String, MarkSpec>,
}

impl Loaded {
    /// Whether anything is wrong that keeps a layer from being used.
    pub fn is_broken(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Returns what is wrong where layers change marks for which the script of an earlier layer's locked binding may ask.
    pub(crate) fn changes_asked_by(&self, script: &str, spec: &BindingSpec) -> Vec<Diagnostic> {
        mark::changes_of_locked(script, spec, &self.marks, &self.sources)
    }

    /// Takes in what the policy runs beside its layers: it is another policy where one of these contents differs, and where
    /// one of these files or folders has changed it is to be read again.
    pub(crate) fn add_content(
        &mut self,
        contents: impl IntoIterator<Item = [u8; 32]>,
        watched: impl IntoIterator<Item = PathBuf>,
    ) {
        self.inputs.beside.extend(contents);
        self.inputs.watched.extend(watched.into_iter().map(|path| {
            let stamp = Stamp::at(&path);
            (path, stamp)
        }));
        self.config.digest = self.inputs.digest(self.bundle.as_ref());
    }

    /// Returns the programs that the bindings of the machine's layers run, wherever a project is.
    pub(crate) fn programs_of_machine(&self) -> &[PathBuf] {
        &self.inputs.programs
    }

    /// Whether a layer may extend a file. What comes from the cache was read whole and had no fault, and its layers have not changed.
    pub(crate) fn may_extend(&self) -> bool {
        !self.is_cached || !self.inputs.extended.is_empty()
    }

    /// Whether a layer of the project was read, or a file of it that a layer extends.
    pub fn is_of_project(&self, locations: &Locations) -> bool {
        approved::own(self, locations).next().is_some()
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

    /// Notes what of the marks is asked for; returns what is wrong with the marks and with what asks for them.
    fn settle_marks(&mut self) -> Vec<Diagnostic> {
        // A name that stands anywhere is enough: a script may ask for it.
        let names = |text: &str| {
            let of_marks = self.marks.values().any(|mark| mark.names(text));
            let mut enabled = self.bindings.values().flatten().filter(|spec| spec.enabled);
            let is_named = enabled.any(|spec| {
                let ceiling = match &spec.intensity {
                    Some(Ceiling::By(node)) => Some(node),
                    _ => None,
                };
                let nodes = spec.group_when.iter().chain(&spec.when).chain(ceiling);
                nodes.chain([&spec.config]).any(|node| node.names(text))
            });
            is_named || of_marks
        };
        let (age, origins) = (names("session.age"), ORIGIN_FACTS.into_iter().any(names));
        self.asks_age = age;
        self.asks_origins = origins;
        mark::settle(&mut self.marks, self.bindings.values().flatten())
    }

    /// Has all that kept for which a script may ask.
    pub fn ask_by(&mut self, script: &str) {
        let names = |name: &str| {
            let ways = [format!(".{name}"), format!("\"{name}\"")];
            ways.iter().any(|way| script.contains(way))
        };
        self.asks_age |= script.contains("session") && names("age");
        let mut origins = ORIGIN_FACTS.iter();
        self.asks_origins |= origins.any(|fact| fact.strip_prefix("tool.").is_some_and(names));
        mark::ask_by(script, &mut self.marks);
    }

    /// Keeps what the first event of a project finds of its policy, but the files of these names, which have faults; what is kept
    /// already stays. What has been corrected since is added, if nothing `is_held`.
    pub fn keep_first(locations: &Locations, faulty: &[String], is_held: bool) {
        cache::keep_first(locations, faulty, is_held);
    }

    /// Returns the last place that gave a setting; none where it has its default.
    pub fn setting_origin(&self, key: &str) -> Option<&Provenance> {
        self.setting_provenance
            .iter()
            .rev()
            .find(|provenance| provenance.key == key)
    }
}
