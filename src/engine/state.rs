//! State: the policy in force with all that hangs on it, until a file that it came from changes.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use chrono::DateTime;
use chrono::Utc;

use super::builder::Shared;
use super::builder::project_dir;
use super::failure::TO_TRUST;
use super::lookup::Finder;
use super::origins::Origins;
use crate::config::Config;
use crate::config::LayerRead;
use crate::config::LayerSource;
use crate::config::Loaded;
use crate::config::Locations;
use crate::config::Override;
use crate::config::Target;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::SourceMap;
use crate::diagnostic::Span;
use crate::event::Trigger;
use crate::fact::Facts;
use crate::hook_md::BrokenHook;
use crate::hook_md::Hooks;
use crate::oracle::InPlace;
use crate::oracle::Lookup;
use crate::oracle::NotJudged;
use crate::oracle::Standing;
use crate::policy::Binding;
use crate::policy::Policy;
use crate::policy::lint;
use crate::signal::Intensity;
use crate::signal::Severity;
use crate::signal::Signal;
use crate::signal_log::Body;
use crate::signal_log::EmptyHistory;
use crate::signal_log::Evaluation;
use crate::signal_log::History;
use crate::signal_log::LogHistory;
use crate::signal_log::SignalLog;
use crate::signal_log::SignalRecord;
use crate::signal_log::inferred_responses;
use crate::trust::Permit;
use crate::trust::Trust;
use crate::verdict::Verdict;
use crate::workspace::DiskWorkspace;

/// Why an engine cannot be made.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Neither locations nor a text were given.
    #[error("an engine needs a policy: give it locations or a text")]
    NoPolicy,
}

/// Where the policy comes from.
#[derive(Debug)]
pub(super) enum Origin {
    Files(Box<Locations>),
    Text(String),
}

/// Where the log goes.
#[derive(Clone, Debug, Default)]
pub(super) enum LogTarget {
    #[default]
    AsSettings,
    File(PathBuf),
    Nowhere,
}

/// The policy in force, its faults, and what it logs to.
#[derive(Debug)]
pub struct State {
    policy: Policy,
    faults: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    finder: Finder,
    given_history: Option<Arc<dyn History>>,
    log: Option<SignalLog>,
    /// The root of the project, and the folder of its issues: what the workspace of each event is made of.
    root: Arc<Path>,
    issues_dir: Arc<Path>,
    allow_when_broken: bool,
    /// The variables that are set and that the system layer forbids.
    ignored: Vec<Override>,
    /// What is held of what the project has weakened, and nobody has approved.
    held: Vec<String>,
    origins: Origins,
    layers: Vec<String>,
    layers_read: Vec<LayerRead>,
}

impl State {
    pub(super) fn load(shared: &Shared) -> Self {
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
            let is_told = |fault: &Diagnostic| {
                known
                    .iter()
                    .any(|k| k.message == fault.message && place(k) == place(fault))
            };
            let further: Vec<_> = std::mem::take(&mut state.faults)
                .into_iter()
                .filter(|f| !is_told(f))
                .collect();
            state.faults = known;
            state.faults.extend(further);
        }
    }

    fn of(shared: &Shared, loaded: Loaded, mut origins: Origins) -> Self {
        let cache_entry = match &shared.origin {
            Origin::Files(locations) => loaded.cache_entry(locations),
            Origin::Text(_) => None,
        };
        let Loaded {
            mut config,
            mut sources,
            diagnostics,
            is_cached,
            layers: layers_read,
            held,
            ..
        } = loaded;
        let layers: Vec<String> = sources.files().iter().map(|f| f.name.to_string()).collect();
        if let Origin::Files(locations) = &shared.origin {
            origins.add_extended(locations, &sources);
        }
        let (mut faults, warnings): (Vec<_>, Vec<_>) =
            diagnostics.into_iter().partition(Diagnostic::is_error);
        let locations = match &shared.origin {
            Origin::Files(locations) => Some(&**locations),
            Origin::Text(_) => None,
        };
        // Of an organisation's layer that cannot be read nobody knows what it forbids.
        let is_system =
            |layer: &LayerRead| layer.is_left_out && layer.source == LayerSource::System;
        let forbids_all = layers_read.iter().any(is_system);
        if forbids_all {
            config.settings.forbid = Override::ALL.to_vec();
        }
        let is_free = |variable| !config.settings.forbid.contains(&variable);
        let allow_when_broken =
            locations.is_some_and(|l| l.allow_broken) && is_free(Override::OnConfigError);
        let ignored = locations.map_or_else(Vec::new, |l| {
            let given = [
                (Override::OnConfigError, l.allow_broken),
                (Override::Trust, l.trust_all),
                (Override::Env, l.environment.is_some()),
            ];
            let ignored = given
                .into_iter()
                .filter(|(variable, is_set)| *is_set && !is_free(*variable));
            ignored.map(|(variable, _)| variable).collect()
        });
        let finder = Finder::new(
            shared.catalog.clone(),
            shared.root.clone(),
            locations,
            &shared.script_dirs,
            &config,
        );
        let log_path = match &shared.log {
            LogTarget::File(path) => Some(path.clone()),
            LogTarget::Nowhere => None,
            LogTarget::AsSettings => match &shared.origin {
                // Nobody has asked for anything: nothing is written, not even an empty folder.
                Origin::Files(_) if layers.is_empty() && !finder.has_hooks() => None,
                Origin::Files(locations) => Some(log_path(locations, &config.settings.log.path)),
                Origin::Text(_) => None,
            },
        };
        let log = match log_path.map(|path| SignalLog::open(path, &config.settings.log)) {
            Some(Ok(log)) => Some(log),
            Some(Err(error)) => {
                faults.push(Diagnostic::unplaced(Code::BadRegex, error.to_string()));
                None
            }
            None => None,
        };
        let issues_dir = shared.root().join(&config.settings.issues).into();
        let triggers = shared.only.map(with_issue_triggers);
        finder.add_unwritten(&mut config, &mut sources, triggers.as_deref());
        let policy = Policy::new(config, Arc::new(sources), shared.root.clone());
        let found = if is_cached {
            policy.check_changed(&finder)
        } else {
            policy.check(&finder)
        };
        faults.extend(found.into_iter().filter(Diagnostic::is_error));
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
            root: shared.root().into(),
            issues_dir,
            allow_when_broken,
            ignored,
            held,
            origins,
            layers,
            layers_read,
        }
    }

    /// Whether the files that it came from are still as they were.
    pub(super) fn is_current(&self) -> bool {
        self.origins.are_current() && self.finder.is_current()
    }

    /// Returns the policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the files that the policy came from.
    pub const fn sources(&self) -> &Arc<SourceMap> {
        self.policy.sources()
    }

    /// Returns the names of the layers and of the packs and files that they extend.
    pub fn layers(&self) -> &[String] {
        &self.layers
    }

    /// Returns every error of the configuration; the policy is in force only where there is none.
    pub fn faults(&self) -> &[Diagnostic] {
        &self.faults
    }

    /// Returns the warnings of the configuration.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Looks the policy over for what is no error and yet not meant; nothing where it has errors.
    pub fn lint(&self) -> Vec<Diagnostic> {
        if self.faults.is_empty() {
            let mut warnings = lint(&self.policy, &self.finder, &self.finder.own_scripts());
            warnings.extend(self.untrusted());
            warnings
        } else {
            Vec::new()
        }
    }

    /// Returns what finds oracles by their names.
    pub fn lookup(&self) -> &dyn Lookup {
        &self.finder
    }

    /// Returns the past as it is now: what is asked of it is read once and then stands still.
    pub fn history(&self) -> Arc<dyn History> {
        match (&self.given_history, &self.log) {
            (Some(history), _) => history.clone(),
            (None, Some(log)) => Arc::new(LogHistory::new(log.path())),
            (None, None) => Arc::new(EmptyHistory),
        }
    }

    /// Whether the past tells how often a stop was blocked.
    pub(super) const fn counts_stops(&self) -> bool {
        self.given_history.is_some() || self.log.is_some()
    }

    /// Makes the workspace of an event.
    pub(super) fn workspace(&self) -> DiskWorkspace {
        DiskWorkspace::new(self.root.clone(), self.issues_dir.clone())
    }

    /// Returns the log; none where nothing is logged.
    pub const fn signal_log(&self) -> Option<&SignalLog> {
        self.log.as_ref()
    }

    /// Returns what stands in the place of the layers that are left out, and what is to be told of variables that are
    /// ignored: each with the name under which it is logged.
    pub(super) fn own_signals(&self, facts: &Facts) -> Vec<(&'static str, Signal)> {
        let trigger = facts.event().trigger;
        let was_told = |name: &str| {
            let subject = facts.event().subject().unwrap_or_default();
            facts.history().chain(trigger, name, subject).violations > 0
        };
        let mut signals = Vec::new();
        for layer in self.layers_read.iter().filter(|layer| layer.is_left_out) {
            let gates = trigger.is_pre() && layer.may_bind(trigger);
            let faults: Vec<_> = self
                .faults
                .iter()
                .filter(|fault| layer.holds(fault))
                .collect();
            let is_final = layer.source == LayerSource::System || !self.allow_when_broken;
            signals.extend(self.config_error(
                &faults,
                &layer.to_string(),
                trigger,
                gates && is_final,
                &was_told,
            ));
        }
        let is_of_layer = |fault: &Diagnostic| {
            self.layers_read
                .iter()
                .any(|l| l.is_left_out && l.holds(fault))
        };
        let others: Vec<_> = self
            .faults
            .iter()
            .filter(|fault| !is_of_layer(fault))
            .collect();
        if !others.is_empty() {
            let gates = trigger.is_pre() && !self.allow_when_broken;
            signals.extend(self.config_error(&others, "the policy", trigger, gates, &was_told));
        }
        let mut signals: Vec<_> = signals
            .into_iter()
            .map(|signal| ("config", signal))
            .collect();
        if !self.held.is_empty() && !was_told("ratchet") {
            let text = format!(
                "the project's policy was weakened, and what was in force stays in force until a person approves the change: {}",
                self.held.join(", ")
            );
            let signal = Signal::prompt("policy-weakened", text)
                .steps([
                    "Look at the change: `ahp trust --diff`",
                    "Then approve it: `ahp trust`",
                ])
                .fingerprint(self.held.iter().map(String::as_str));
            signals.push(("ratchet", signal));
        }
        for variable in &self.ignored {
            if !was_told("settings.forbid") {
                let text = format!(
                    "`{}` is ignored: the system layer forbids it",
                    variable.name()
                );
                let signal = Signal::aid("override-ignored", text).fingerprint([variable.name()]);
                signals.push(("settings.forbid", signal));
            }
        }
        signals
    }

    /// Returns what is said of faults at an event; nothing where it was said in this session, and there is nothing to stop.
    fn config_error(
        &self,
        faults: &[&Diagnostic],
        what: &str,
        trigger: Trigger,
        gates: bool,
        was_told: &dyn Fn(&str) -> bool,
    ) -> Option<Signal> {
        let sources = self.policy.sources();
        let first = faults
            .first()
            .map_or_else(String::new, |fault| fault.one_line(sources));
        let others = match faults.len().saturating_sub(1) {
            0 => String::new(),
            1 => " (and 1 more fault)".to_owned(),
            n => format!(" (and {n} more faults)"),
        };
        let text = format!("the policy is broken: {what} cannot be used: {first}{others}");
        let mut steps: Vec<String> = faults
            .iter()
            .take(10)
            .map(|fault| format!("Correct {}", fault.one_line(sources)))
            .collect();
        steps.push("Look at every fault with its line: `ahp check`".to_owned());
        let standing = Standing {
            trigger,
            gates,
            locked: false,
            is_hook: false,
        };
        let signal = match NotJudged::LayerFaulty.gives(standing) {
            InPlace::Block => Signal::block("config-error", text),
            InPlace::BlockOnce if !was_told("config") => Signal::block("config-error", text),
            InPlace::PromptOnce if was_told("config") => return None,
            _ => Signal::prompt("config-error", text).severity(Severity::High),
        };
        let places = faults.iter().map(|fault| fault.one_line(sources));
        let mut signal = signal;
        if let Some(label) = faults.first().and_then(|fault| fault.label.as_ref()) {
            signal.origin.source = sources.line(label.span);
        }
        Some(
            signal
                .steps(steps)
                .fingerprint(std::iter::once("config-error".to_owned()).chain(places)),
        )
    }

    /// Whether judging an event only computes: no program is run, no thread is started, no file of the project is read.
    pub(super) fn only_computes(&self, facts: &Facts) -> bool {
        let trigger = facts.event().trigger;
        let bindings = self.policy.trigger(trigger, &self.finder);
        bindings.is_none_or(|policy| policy.candidates(facts).all(|b| b.only_computes(facts)))
    }

    /// Returns a prompt for each HOOK.md hook of a trigger that cannot run.
    pub(super) fn invalid_hooks(&self, trigger: Trigger) -> Vec<Signal> {
        self.finder.invalid_hooks(trigger)
    }

    /// Returns the HOOK.md hooks of the project and its user; none where they are switched off.
    pub fn hooks(&self) -> Option<&Hooks> {
        self.finder.hooks()
    }

    /// Returns what of the project may run.
    pub const fn trust(&self) -> &Trust {
        self.finder.trust()
    }

    /// Whether a binding may run the programs that its project brings.
    ///
    /// # Errors
    /// Why it may not.
    pub(super) fn trusts(&self, binding: &Binding) -> Result<Permit, String> {
        self.finder.trusts(binding)
    }

    /// Takes the controls from what a script of the project gave that nobody has approved: it may warn and stop, and may
    /// not choose what runs.
    pub(super) fn refuse_controls(&self, binding: &Binding, signals: &mut [Signal]) {
        let is_control = |signal: &Signal| signal.intensity() == Intensity::Control;
        let Some(file) = binding.oracle.factory().own_file() else {
            return;
        };
        if !signals.iter().any(is_control) {
            return;
        }
        let Err(why) = self.trust().verified(&self.root.join(file)) else {
            return;
        };
        for signal in signals.iter_mut().filter(|signal| is_control(signal)) {
            let text = format!(
                "`{}` would change what runs, which it may not do before it is trusted: {why}",
                binding.oracle_name
            );
            *signal = Signal::prompt("not-trusted", text)
                .severity(Severity::High)
                .steps(TO_TRUST)
                .fingerprint(["not-trusted", "control", &binding.id]);
        }
    }

    /// Returns the faults of HOOK.md hooks, which keep those alone from running.
    pub fn hook_faults(&self) -> Vec<Diagnostic> {
        let broken = self.hooks().map(Hooks::broken).unwrap_or_default();
        let fault = |hook: &BrokenHook| {
            let told = hook.faults.join("; ");
            let message = format!(
                "the hook `{}` is not valid and does not run: {told}",
                hook.name
            );
            let shown = hook.dir.display();
            Diagnostic::unplaced(Code::BadHook, message).help(format!(
                "`ahp hook-md validate {shown}` shows every fault with its line"
            ))
        };
        broken.iter().map(fault).collect()
    }

    /// Returns what of the policy may not run before the project is trusted: a warning for each binding.
    pub fn untrusted(&self) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        for trigger in self.policy.triggers() {
            for (binding, spec) in self.policy.enabled(trigger, &self.finder) {
                let refused = if let Target::Found { dir, .. } = &spec.target {
                    let is_own = !spec.layer.is_of_project();
                    (!is_own)
                        .then(|| self.trust().verified_of_project(dir).err())
                        .flatten()
                } else if binding.needs_trust {
                    self.trust().permits_binding(binding.oracle.config()).err()
                } else {
                    None
                };
                if let Some(why) = refused {
                    let gives = binding.in_place(NotJudged::NotTrusted, trigger).name();
                    let told = format!("`{}` at `{trigger}` may not run yet: {why}", spec.id);
                    let warning = Diagnostic::warning(Code::Untrusted, told, spec.span).help(
                        format!("until then it gives: {gives}; `ahp trust` shows and allows it"),
                    );
                    warnings.push(warning);
                }
            }
        }
        warnings
    }

    /// Writes a verdict to the log before the deadline; returns what a person should know of a log that was written.
    ///
    /// # Errors
    /// Why it could not be written.
    pub(super) async fn log(
        &self,
        facts: &Facts,
        verdict: &Verdict,
        skipped: usize,
        now: DateTime<Utc>,
        deadline: Option<Instant>,
    ) -> Result<Vec<String>, String> {
        let Some(log) = &self.log else {
            return Ok(Vec::new());
        };
        let record = |signal| Body::Signal(Box::new(SignalRecord::of(facts.event(), signal)));
        let mut further: Vec<Body> = verdict.signals.iter().map(record).collect();
        // Trying an issue's step or a stop again is an answer to what stopped it; the next tool call is not.
        let trigger = verdict.trigger;
        if trigger.is_issue() || trigger == Trigger::PreAgentTurnStop {
            let history = &**facts.history();
            further.extend(inferred_responses(history, facts.event(), verdict, now));
        }
        let evaluation = Evaluation {
            event: facts.event(),
            verdict,
            skipped,
        };
        match log
            .append_evaluation(evaluation, further, now, deadline)
            .await
        {
            Ok(appended) => {
                let damage = appended.notice.and_then(|notice| notice.damage());
                let damage = damage.map(|damage| format!("the signal log was damaged: {damage}"));
                Ok(damage.into_iter().chain(appended.warnings).collect())
            }
            Err(error) => Err(format!("the signal log cannot be written: {error}")),
        }
    }
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

/// Returns where the log lies: as the settings say, and with `.ahp/` standing for the project's own folder.
pub fn log_path(locations: &Locations, path: &Path) -> PathBuf {
    match path.strip_prefix(".ahp") {
        Ok(inside) => project_dir(locations).join(inside),
        Err(_) => locations.project_root.join(path),
    }
}

/// Returns the triggers of all events that one event can bring about: a shell tool may run issue commands.
fn with_issue_triggers(trigger: Trigger) -> Vec<Trigger> {
    let issue = Trigger::ALL.iter().copied().filter(|other| {
        trigger.is_tool() && other.is_issue() && other.is_pre() == trigger.is_pre()
    });
    std::iter::once(trigger).chain(issue).collect()
}
