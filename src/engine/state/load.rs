//! Reads the policy with all that hangs on it, and leaves out the layers that are faulty.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::State;
use super::guards::guards;
use super::scripts::{self, Beside};
use crate::config::{BreakGlass, Config, LayerRead, LayerSource, Loaded, Locations, Override};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::engine::builder::Shared;
use crate::engine::given::{LogTarget, Origin};
use crate::engine::lookup::Finder;
use crate::engine::origins::Origins;
use crate::engine::places::{place_of_log, project_key};
use crate::engine::signed;
use crate::event::Trigger;
use crate::machine_key::ProjectKey;
use crate::pattern;
use crate::policy::Policy;
use crate::signal_log::SignalLog;
use crate::trust::hook_files_of;

impl State {
    pub(in crate::engine) fn load(shared: &Shared) -> Self {
        // Taken before anything is read: what is written meanwhile is then seen as a change.
        let layers = match &shared.origin {
            Origin::Files(locations) => Origins::layers(locations),
            Origin::Text(_) => Origins::default(),
        };
        let loaded = match (&shared.origin, shared.only) {
            (Origin::Files(locations), Some(trigger)) => {
                Config::load_for(locations, &with_issue_triggers(trigger))
            }
            _ => load(shared, &[]),
        };
        let is_cached = loaded.is_cached;
        let state = Self::of(shared, loaded, layers.clone());
        // What is wrong is to be shown with the lines that it stands on.
        let state = if is_cached && !state.faults.is_empty() {
            Self::of(shared, load(shared, &[]), layers.clone())
        } else {
            state
        };
        state.without_faulty_layers(shared, &layers)
    }

    /// Leaves out the layers whose faults only compiling has shown, until those that are left are sound.
    fn without_faulty_layers(self, shared: &Shared, origins: &Origins) -> Self {
        let mut state = self;
        loop {
            let is_new = |layer: &&LayerRead| {
                !layer.is_left_out && state.faults.iter().any(|fault| layer.holds(fault))
            };
            if !state.layers_read.iter().any(|layer| is_new(&layer)) {
                return state;
            }
            let out = |layer: &&LayerRead| layer.is_left_out || is_new(layer);
            let out: Vec<String> = state
                .layers_read
                .iter()
                .filter(out)
                .map(|l| l.name.clone())
                .collect();
            let known = std::mem::take(&mut state.faults);
            let (triggers, sound) = (state.layers_read, load(shared, &out));
            state = Self::of(shared, sound, origins.clone());
            // What they bind is known from the load that took them in.
            for (layer, before) in state.layers_read.iter_mut().zip(triggers) {
                layer.triggers = before.triggers;
            }
            let further: Vec<_> = std::mem::take(&mut state.faults)
                .into_iter()
                .filter(|fault| !is_told(&known, fault))
                .collect();
            state.faults = known;
            state.faults.extend(further);
        }
    }

    fn of(shared: &Shared, loaded: Loaded, origins: Origins) -> Self {
        pattern::within_bounds(|| Self::compiled(shared, loaded, origins))
    }

    fn compiled(shared: &Shared, mut loaded: Loaded, mut origins: Origins) -> Self {
        let locations = match &shared.origin {
            Origin::Files(locations) => Some(&**locations),
            Origin::Text(_) => None,
        };
        // Of an organisation's layer that cannot be read nobody knows what it forbids.
        let is_lost = |layer: &LayerRead| layer.is_left_out && layer.source.is_of_machine();
        if loaded.layers.iter().any(is_lost) {
            loaded.config.settings.forbid = Override::ALL.to_vec();
        }
        let finder = Finder::new(
            shared.catalog.clone(),
            shared.root.clone(),
            locations,
            &shared.script_dirs,
            &loaded.config,
            &loaded.programs,
            loaded.bundle.as_ref().map(|bundle| &*bundle.dir),
        );
        // What comes from the cache was written with it.
        let beside = if loaded.is_cached {
            Beside::default()
        } else {
            scripts::take_in(&finder, &mut loaded)
        };
        origins.add(beside.files.into_iter());
        let may_extend = loaded.may_extend();
        let cache_entry = locations.and_then(|locations| loaded.cache_entry(locations));
        let is_of_project = locations.is_some_and(|locations| loaded.is_of_project(locations));
        let Loaded {
            mut config,
            mut sources,
            diagnostics,
            is_cached,
            layers: layers_read,
            faulty,
            held,
            programs,
            added,
            bundle,
            ..
        } = loaded;
        let mut layers: Vec<String> = Vec::new();
        for file in sources.files() {
            // What stands beside it as it was approved has the same packs.
            if layers.iter().all(|name| **name != *file.name) {
                layers.push(file.name.to_string());
            }
        }
        if let Origin::Files(locations) = &shared.origin {
            origins.add_extended(locations, &sources);
        }
        let (mut faults, warnings): (Vec<_>, Vec<_>) =
            diagnostics.into_iter().partition(Diagnostic::is_error);
        faults.extend(beside.faults);
        let is_free = |variable| !config.settings.forbid.contains(&variable);
        let allow_when_broken =
            locations.is_some_and(|l| l.allow_broken) && is_free(Override::OnConfigError);
        let glass = locations.and_then(BreakGlass::find);
        let glass = glass.filter(|glass| glass.until > shared.clock.now());
        let ignored = locations.map_or_else(Vec::new, |l| {
            let given = [
                (Override::OnConfigError, l.allow_broken),
                (Override::Trust, l.trust_all),
                (Override::Env, l.environment.is_some()),
                (Override::BreakGlass, glass.is_some()),
            ];
            let ignored = given
                .into_iter()
                .filter(|(variable, is_set)| *is_set && !is_free(*variable));
            let ignored = ignored.map(|(variable, _)| variable);
            l.ignored.iter().copied().chain(ignored).collect()
        });
        let break_glass = glass.filter(|_| is_free(Override::BreakGlass));
        if let Some(glass) = &break_glass {
            signed::weaken(&mut config, glass);
        }
        // Nobody has asked for anything: nothing is written, not even an empty folder.
        let is_asked = !layers.is_empty() || finder.has_hooks();
        let own_key = |l: &Locations| {
            if is_asked {
                project_key(l)
            } else {
                Some(ProjectKey::none())
            }
        };
        let key = locations.and_then(own_key);
        let place = match &shared.log {
            LogTarget::File(path) => Some(Ok(path.into())),
            LogTarget::Nowhere => None,
            LogTarget::AsSettings => match &shared.origin {
                Origin::Files(_) if !is_asked => None,
                Origin::Files(locations) => Some(place_of_log(locations, &config, key.clone())),
                Origin::Text(_) => None,
            },
        };
        let log = place.and_then(|place| {
            let opened = place.and_then(|place| {
                SignalLog::open(place, &config.settings.log).map_err(|error| {
                    let error = error.to_string();
                    Box::new(match config.setting_origin("log.redact") {
                        Some(origin) => Diagnostic::error(Code::BadRegex, error, origin.span),
                        None => Diagnostic::unplaced(Code::BadRegex, error),
                    })
                })
            });
            opened.map_err(|fault| faults.push(*fault)).ok()
        });
        let guards = guards(shared, &origins, &finder, &config, (&programs, may_extend)).into();
        // What they name is guarded as they say it now.
        let outside = programs
            .iter()
            .filter(|path| !path.starts_with(shared.root()));
        origins.add(outside.flat_map(|path| hook_files_of(path).into_iter().chain([path.clone()])));
        let issues_dir = shared.root().join(&config.settings.issues).into();
        let triggers = shared.only.map(with_issue_triggers);
        finder.add_unwritten(&mut config, &mut sources, triggers.as_deref());
        let user_state_dir = locations.and_then(|l| l.state_dir.clone());
        let digest = std::mem::take(&mut config.digest);
        let policy = Policy::new(config, Arc::new(sources), shared.root.clone());
        let reviewed = locations.and_then(|l| Some((l, l.reviewed.clone()?)));
        let changed = reviewed.as_ref().map_or_else(Vec::new, |(l, reviewed)| {
            super::reviewed::changed(l, reviewed, &policy, &added)
        });
        let found = if is_cached {
            policy.check_changed(&finder)
        } else {
            policy.check(&finder)
        };
        faults.extend(found.into_iter().filter(Diagnostic::is_error));
        for config in faulty {
            let further = further(config, &policy, &finder, &faults);
            faults.extend(further);
        }
        if let Some(entry) = cache_entry.filter(|_| faults.is_empty()) {
            entry.write();
        }
        Self {
            policy,
            faults,
            warnings,
            finder,
            given_history: shared.history.clone(),
            log,
            key,
            root: shared.root().into(),
            issues_dir,
            base: locations.map(|l| l.base.clone()).unwrap_or_default(),
            allow_when_broken,
            ignored,
            held,
            reviewed: reviewed.map(|(_, reviewed)| reviewed),
            added,
            changed,
            digest,
            user_state_dir,
            bundle,
            break_glass,
            origins,
            layers,
            layers_read,
            guards,
            is_first_seen: AtomicBool::new(!is_of_project),
        }
    }
}

/// Returns what else is wrong with a layer that has faults, as if it were in force over the layers that are.
fn further(
    config: Config,
    sound: &Policy,
    finder: &Finder,
    known: &[Diagnostic],
) -> Vec<Diagnostic> {
    // Where its own scripts and hooks lie was not looked.
    let looks_elsewhere = !config.oracle_dirs.is_empty() || !config.hook_dirs.is_empty();
    let is_lost = |fault: &Diagnostic| {
        looks_elsewhere && matches!(fault.code, Code::UnknownOracle | Code::UnknownHook)
    };
    let policy = Policy::new(config, sound.sources().clone(), sound.root().clone());
    let mut found = policy.check(finder);
    found.retain(|fault| fault.is_error() && !is_lost(fault) && !is_told(known, fault));
    found
}

fn is_told(known: &[Diagnostic], fault: &Diagnostic) -> bool {
    let same = |k: &Diagnostic| k.message == fault.message && place(k) == place(fault);
    known.iter().any(same)
}

/// Reads the layers, but those of these names.
fn load(shared: &Shared, left_out: &[String]) -> Loaded {
    match &shared.origin {
        Origin::Files(locations) => Config::load_without(locations, left_out),
        Origin::Text(text) => {
            let layer = [(LayerSource::Project, "hooks.yaml", text.as_str())];
            Config::from_layers_without(&layer, shared.root(), left_out)
        }
    }
}

fn place(fault: &Diagnostic) -> Option<Span> {
    fault.label.as_ref().map(|label| label.span)
}

/// Returns the triggers of all events that one event can bring about: a shell tool may run issue commands.
fn with_issue_triggers(trigger: Trigger) -> Vec<Trigger> {
    let issue = Trigger::ALL.iter().copied().filter(|other| {
        trigger.is_tool() && other.is_issue() && other.is_pre() == trigger.is_pre()
    });
    std::iter::once(trigger).chain(issue).collect()
}
