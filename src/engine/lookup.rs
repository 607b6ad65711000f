//! Finder: oracles by name, in the catalog, among scripts and among HOOK.md hooks, and what of them may run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::hook_places::hook_places;
use crate::config::{
    BindingSpec, Config, LayerSource, Locations, OnError, Override, Provenance, Settings, Target,
};
use crate::diagnostic::{Code, Diagnostic, SourceMap, Span};
use crate::event::Trigger;
use crate::guard::GuardedDir;
use crate::hook_md;
use crate::hook_md::{Hook, Hooks, Places};
use crate::oracle::external::HookFactory;
use crate::oracle::rhai::Library;
use crate::oracle::{Catalog, Factory, Lookup, OracleError};
use crate::policy::Binding;
use crate::signal::Signal;
use crate::trust::{Permit, Trust};

/// HOOK.md hooks run after all bindings, each in a stage of its own: the first that blocks stops the rest.
const AFTER_ALL: i64 = i64::MAX / 2;

/// The oracle that keeps an agent from changing what guards it.
const SELF_PROTECTION: &str = "self-protection";
/// The id of its built-in binding, which no layer can name.
const SELF_PROTECTION_ID: &str = "(self-protection)";

/// Finds whatever a policy names.
#[derive(Debug)]
pub(super) struct Finder {
    catalog: Catalog,
    scripts: Library,
    /// Those of the user and the machine: where the user's layer looks.
    scripts_of_user: Library,
    /// Those of the machine alone: where the bundle and the system layer look.
    scripts_of_machine: Library,
    /// Where hooks are looked for; none where they are switched off.
    places: Option<Places>,
    hooks: OnceLock<Hooks>,
    trust: Trust,
    root: PathBuf,
}

impl Finder {
    /// Makes the finder of a project's policy; without locations the policy is the host program's own, and trusted.
    pub(super) fn new(
        catalog: Catalog,
        root: PathBuf,
        locations: Option<&Locations>,
        script_dirs: &[PathBuf],
        config: &Config,
        programs: &[PathBuf],
        bundle: Option<&Path>,
    ) -> Self {
        let settings = &config.settings;
        let directories = settings.oracles.iter().chain(script_dirs).cloned();
        let of_user = locations
            .and_then(|l| l.user_dir.as_ref())
            .map(|dir| dir.join("oracles"));
        let places = locations.and_then(|l| hook_places(l, &root, config, bundle));
        let trust = match locations {
            Some(l) if !l.trust_all || settings.forbid.contains(&Override::Trust) => {
                Trust::of(&root, l.state_dir.as_deref()).covering(
                    settings.agent_hook_dirs.iter().chain(programs),
                    &settings.issues,
                )
            }
            _ => Trust::everything(),
        };
        let of_bundle = bundle.map(|dir| dir.join("oracles"));
        // What a layer names relative to the project comes with the project.
        let named_by = |layer| {
            let named = config.oracle_dirs.get(&layer).into_iter().flatten();
            named.filter(|dir| dir.is_absolute()).cloned()
        };
        let of_machine = of_bundle
            .iter()
            .cloned()
            .chain(named_by(LayerSource::Bundle))
            .chain(named_by(LayerSource::System))
            .chain(script_dirs.iter().cloned());
        let outside = of_machine
            .clone()
            .chain(named_by(LayerSource::User))
            .chain(of_user.clone());
        let further = of_bundle.iter().cloned().chain(of_user);
        let scripts = Library::new(&root, directories.chain(further));
        let is_held = |l: &Locations| {
            let trusts_all =
                l.trust_all && l.reviewed.is_none() && !settings.forbid.contains(&Override::Trust);
            settings.ratchet && !trusts_all
        };
        Self {
            catalog,
            scripts_of_machine: Library::new(&root, of_machine),
            scripts_of_user: Library::new(&root, outside),
            scripts: match locations.filter(|l| is_held(l)) {
                Some(locations) => scripts.held_to_approved(locations),
                None => scripts,
            },
            places,
            hooks: OnceLock::new(),
            trust,
            root,
        }
    }

    /// Returns the scripts that were asked for and speak as they were approved.
    pub(super) fn held_scripts(&self) -> Vec<String> {
        self.scripts.held()
    }

    /// Returns what of the project may run.
    pub(super) const fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Returns where the scripts and hooks of this policy lie.
    pub(super) fn guarded(&self) -> impl Iterator<Item = GuardedDir> {
        let scripts = self.script_dirs();
        let hooks = self.places.iter().flat_map(|places| &places.dirs);
        scripts
            .map(|dir| GuardedDir::of(dir, "*.rhai"))
            .chain(hooks.map(|place| GuardedDir::whole(&place.dir)))
    }

    /// Returns the folders of the HOOK.md hooks; none where there is no hook.
    pub(super) fn hook_dirs(&self) -> Vec<PathBuf> {
        let places = self.places.iter().filter(|_| self.has_hooks());
        let dirs = places.flat_map(|places| &places.dirs);
        dirs.map(|place| place.dir.clone()).collect()
    }

    /// Whether the trust, the hooks and the scripts that were read are still as they were.
    pub(super) fn is_current(&self) -> bool {
        let places = self.places.as_ref();
        let hooks = places.and_then(|places| Some((places, self.hooks.get()?)));
        self.trust.is_current()
            && self.scripts.is_current()
            && hooks.is_none_or(|(places, hooks)| hook_md::is_current(hooks, places))
    }

    /// Returns the HOOK.md hooks; none where they are switched off.
    pub(super) fn hooks(&self) -> Option<&Hooks> {
        let places = self.places.as_ref()?;
        Some(self.hooks.get_or_init(|| hook_md::discover(places)))
    }

    /// Whether there is any HOOK.md hook, valid or not.
    pub(super) fn has_hooks(&self) -> bool {
        self.hooks().is_some_and(|hooks| !hooks.is_empty())
    }

    /// Adds the bindings that no layer writes: self-protection before all others, and the HOOK.md hooks behind them.
    pub(super) fn add_unwritten(
        &self,
        config: &mut Config,
        sources: &mut SourceMap,
        only: Option<&[Trigger]>,
    ) {
        let is_asked = |trigger| only.is_none_or(|only| only.contains(&trigger));
        for &trigger in Trigger::ALL.iter().filter(|trigger| is_asked(**trigger)) {
            let found = self.hook_bindings(trigger, config, sources);
            if !found.is_empty() {
                config.bindings.entry(trigger).or_default().extend(found);
            }
        }
        if is_asked(Trigger::PreToolUse) {
            let at_tools = config.bindings.entry(Trigger::PreToolUse).or_default();
            at_tools.insert(0, self_protection(&config.settings, sources));
        }
    }

    /// Returns the hooks of a trigger as bindings in their order; those that a binding names are left to it.
    fn hook_bindings(
        &self,
        trigger: Trigger,
        config: &Config,
        sources: &mut SourceMap,
    ) -> Vec<BindingSpec> {
        let Some(hooks) = self.hooks().filter(|hooks| !hooks.is_empty()) else {
            return Vec::new();
        };
        let written = config.bindings.get(&trigger).map_or(&[][..], Vec::as_slice);
        let is_bound = |hook: &Hook| {
            let named = |spec: &&BindingSpec| spec.target == Target::Hook(hook.name().to_owned());
            written.iter().filter(named).any(|spec| {
                let meant = self.hook_meant(hook.name(), spec);
                !spec.enabled || meant.is_some_and(|meant| meant.dir == hook.dir)
            })
        };
        let mut due = hooks.at(trigger, &|hook| hook.is_trusted(&self.trust));
        due.retain(|hook| !is_bound(hook));
        let is_taken = |hook: &Hook| {
            let of_user =
                |other: &Arc<Hook>| other.name() == hook.name() && !other.origin.is_of_project();
            written.iter().any(|spec| spec.id == hook.name())
                || (hook.origin.is_of_project() && due.iter().any(of_user))
        };
        let bindings = due.iter().enumerate().map(|(n, hook)| {
            let id = match hook.name() {
                name if is_taken(hook) => format!("{}:{name}", hook.origin.name()),
                name => name.to_owned(),
            };
            let file = SourceMap::display_name(&hook.file(), &self.root);
            let span = Span {
                file: sources.add(file, ""),
                line: 1,
                column: 1,
                ..Span::default()
            };
            let target = Target::Found {
                name: hook.name().to_owned(),
                dir: hook.dir.clone(),
            };
            let layer = hook.origin.layer();
            BindingSpec {
                priority: AFTER_ALL.saturating_add(i64::try_from(n).unwrap_or(i64::MAX)),
                is_async: hook.front.is_async,
                timeout: Some(hook.front.timeout),
                locked: hook.is_locked(),
                ..BindingSpec::unwritten(id, target, layer, span)
            }
        });
        bindings.collect()
    }

    /// Finds the hook that a binding means. One of the project does not take the place of the user's of its name before
    /// it is trusted. A binding that no later layer may change means a hook of its own layer or of an earlier one, if there
    /// is one: whoever comes later does not replace what it runs.
    fn hook_meant(&self, name: &str, bound_by: &BindingSpec) -> Option<&Arc<Hook>> {
        let hooks = self.hooks()?;
        let is_for_ever = bound_by.locked && !bound_by.layer.is_of_project();
        if let Some(own) = hooks.find_of(name, bound_by.layer).filter(|_| is_for_ever) {
            return Some(own);
        }
        let hook = hooks.find(name)?;
        let stays = || is_for_ever || !hook.is_trusted(&self.trust);
        let of_user = hooks.find_replaced(name).filter(|_| stays());
        Some(of_user.unwrap_or(hook))
    }

    /// Returns the script of each binding that is switched on and names one that does not come with the program: the binding,
    /// the file, the text.
    pub(super) fn scripts_bound<'c>(
        &self,
        config: &'c Config,
    ) -> Vec<(&'c BindingSpec, PathBuf, Arc<str>)> {
        let mut known = BTreeMap::new();
        let enabled = config.bindings.values().flatten();
        let bound = enabled.filter(|spec| spec.enabled).filter_map(|spec| {
            let Target::Oracle(name) = &spec.target else {
                return None;
            };
            if self.catalog.find(name).is_some() {
                return None;
            }
            let script = known.entry((name, spec.layer)).or_insert_with(|| {
                let (path, text) = self.library(spec.layer).own(name)?;
                Some((path, Arc::from(text)))
            });
            let (path, text) = script.clone()?;
            Some((spec, path, text))
        });
        bound.collect()
    }

    /// Returns the directories of the machine's HOOK.md hooks.
    pub(super) fn hook_dirs_of_machine(&self) -> impl Iterator<Item = &Path> {
        let places = self.places.iter().flat_map(|places| &places.dirs);
        let of_machine = places.filter(|place| place.origin.layer().is_of_machine());
        of_machine.map(|place| place.dir.as_path())
    }

    /// Returns where the script of a layer is looked for: not in the places of a later one, which could put another gate in the
    /// place of its own.
    const fn library(&self, named_by: LayerSource) -> &Library {
        match named_by {
            LayerSource::Project | LayerSource::Local => &self.scripts,
            LayerSource::User => &self.scripts_of_user,
            LayerSource::BuiltIn | LayerSource::Bundle | LayerSource::System => {
                &self.scripts_of_machine
            }
        }
    }

    /// Returns the directories in which scripts are looked for.
    pub(super) fn script_dirs(&self) -> impl Iterator<Item = &Path> {
        // Where the machine's layers look the user's does too.
        let libraries = [&self.scripts, &self.scripts_of_user];
        libraries.into_iter().flat_map(Library::directories)
    }

    /// Returns the names and files of the script oracles that do not come with the program.
    pub(super) fn own_scripts(&self) -> Vec<(String, PathBuf)> {
        self.scripts
            .all()
            .into_iter()
            .filter_map(|found| Some((found.name, found.path?)))
            .collect()
    }

    /// Returns a prompt for each folder of a trigger that should be a hook and is none.
    pub(super) fn invalid_hooks(&self, trigger: Trigger) -> Vec<Signal> {
        self.hooks()
            .map(|hooks| hooks.invalid(trigger))
            .unwrap_or_default()
    }

    /// Whether a binding may run the programs that its project brings.
    pub(super) fn trusts(&self, binding: &Binding) -> Result<Permit, OracleError> {
        let (config, is_of_project) = (binding.oracle.config(), binding.is_of_project);
        let permitted = self.trust.permits_binding(config, is_of_project);
        permitted.map_err(|why| OracleError::Untrusted(why.to_string()))
    }
}

impl Lookup for Finder {
    fn oracle(
        &self,
        name: &str,
        named_by: LayerSource,
        at: Span,
    ) -> Result<Arc<dyn Factory>, Box<Diagnostic>> {
        if let Some(factory) = self.catalog.find(name) {
            return Ok(factory);
        }
        let library = self.library(named_by);
        match library.find(name) {
            Ok(Some(script)) => return Ok(Arc::new(script)),
            Ok(None) => {}
            Err(error) => {
                let told = error.one_line();
                let told = format!("the script oracle `{name}` cannot be used: {told}");
                let fault = Diagnostic::error(Code::BadScript, told, at);
                let fault = match &error.source_line {
                    Some(line) => fault.help(format!("line {}: `{}`", error.line, line.trim())),
                    None => fault,
                };
                return Err(Box::new(fault.help(format!(
                    "`ahp oracle show {name}` shows the place; `ahp oracle new` writes a script that defines all that one must"
                ))));
            }
        }
        let scripts = library.all();
        let names: Vec<&str> = self
            .catalog
            .names()
            .into_iter()
            .chain(scripts.iter().map(|script| script.name.as_str()))
            .collect();
        Err(Box::new(
            Diagnostic::error(
                Code::UnknownOracle,
                format!("no oracle is called `{name}`"),
                at,
            )
            .did_you_mean(name, names)
            .help(match self.scripts.locate(name) {
                Some(_) => format!("there is a script `{name}` in a place of a later layer; the {named_by} layer finds those of its own and of earlier layers alone: name its directory there by `settings.oracles`"),
                None => "`ahp oracle list` shows every oracle".to_owned(),
            }),
        ))
    }

    fn hook(&self, bound_by: &BindingSpec) -> Result<Arc<dyn Factory>, Box<Diagnostic>> {
        let (name, at) = (bound_by.target.name(), bound_by.span_of("hook"));
        if let Target::Found { dir, .. } = &bound_by.target
            && let Some(hook) = self.hooks().and_then(|hooks| hooks.find_in(dir))
        {
            return Ok(Arc::new(HookFactory::new(hook.clone())));
        }
        if let Some(hook) = self.hook_meant(name, bound_by) {
            return match bound_by.provenance.iter().find(|p| p.layer.is_of_project()) {
                Some(by) if hook.is_locked() && !hook.origin.is_of_project() => {
                    Err(Box::new(locked(hook, by)))
                }
                _ => Ok(Arc::new(HookFactory::new(hook.clone()))),
            };
        }
        let hooks = self.hooks();
        if let Some(broken) = hooks.and_then(|hooks| hooks.find_broken(name)) {
            return Err(Box::new(
                Diagnostic::error(
                    Code::BadHook,
                    format!(
                        "the hook `{name}` is not valid: {}",
                        broken.faults.join("; ")
                    ),
                    at,
                )
                .help("`ahp hook-md validate` tells every fault of a hook"),
            ));
        }
        let names: Vec<&str> = hooks
            .map(|hooks| hooks.all().iter().map(|hook| hook.name()).collect())
            .unwrap_or_default();
        Err(Box::new(
            Diagnostic::error(
                Code::UnknownHook,
                format!("no HOOK.md hook is called `{name}`"),
                at,
            )
            .did_you_mean(name, names)
            .help("`ahp hook-md list` shows every hook"),
        ))
    }
}

/// Returns the locked binding that keeps an agent from changing what governs it. It stands in a layer before all others
/// and judges before all other bindings; only a person's own settings switch it off.
fn self_protection(settings: &Settings, sources: &mut SourceMap) -> BindingSpec {
    let span = Span {
        file: sources.add(LayerSource::BuiltIn.name(), ""),
        ..Span::default()
    };
    let target = Target::Oracle(SELF_PROTECTION.to_owned());
    BindingSpec {
        priority: i64::MIN,
        enabled: settings.self_protection,
        on_error: Some(OnError::Block),
        locked: true,
        ..BindingSpec::unwritten(SELF_PROTECTION_ID, target, LayerSource::BuiltIn, span)
    }
}

/// Says that a project binds a hook that its user has locked: a binding could weaken it or switch it off.
fn locked(hook: &Hook, by: &Provenance) -> Diagnostic {
    let told = format!(
        "the {} layer binds the hook `{}`, which {} locks",
        by.layer,
        hook.name(),
        hook.file().display()
    );
    Diagnostic::error(Code::Locked, told, by.span)
        .saying("bound here")
        .help("remove it here: the hook runs by itself, as its `HOOK.md` says")
}
