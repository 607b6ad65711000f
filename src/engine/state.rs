//! State: the policy in force with all that hangs on it, until a file that it came from changes.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use chrono::DateTime;
use chrono::Utc;

use super::Clock;
use super::builder::Shared;
use super::builder::project_dir;
use super::lookup::Finder;
use super::origins::Origins;
use crate::config::Config;
use crate::config::LayerSource;
use crate::config::Loaded;
use crate::config::Locations;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::SourceMap;
use crate::event::Trigger;
use crate::fact::Facts;
use crate::hook_md::Hooks;
use crate::oracle::Lookup;
use crate::policy::Binding;
use crate::policy::Policy;
use crate::policy::lint;
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
use crate::verdict::Decision;
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
    origins: Origins,
    layers: Vec<String>,
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
            (Origin::Files(locations), None) => Config::load(locations),
            (Origin::Text(text), _) => {
                let layer = [(LayerSource::Project, "hooks.yaml", text.as_str())];
                Config::from_layers(&layer, shared.root())
            }
        };
        let is_cached = loaded.is_cached;
        let state = Self::of(shared, loaded, layers.clone());
        match &shared.origin {
            // What is wrong is to be shown with the lines that it stands on.
            Origin::Files(locations) if is_cached && !state.faults.is_empty() => {
                Self::of(shared, Config::load(locations), layers)
            }
            _ => state,
        }
    }

    fn of(shared: &Shared, loaded: Loaded, mut origins: Origins) -> Self {
        let (cache_entry, allow_when_broken) = match &shared.origin {
            Origin::Files(locations) => (loaded.cache_entry(locations), locations.allow_broken),
            Origin::Text(_) => (None, false),
        };
        let Loaded {
            mut config,
            mut sources,
            diagnostics,
            is_cached,
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
        if faults.is_empty() {
            let found = if is_cached {
                policy.check_changed(&finder)
            } else {
                policy.check(&finder)
            };
            faults.extend(found.into_iter().filter(Diagnostic::is_error));
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
            root: shared.root().into(),
            issues_dir,
            allow_when_broken,
            origins,
            layers,
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
            lint(&self.policy, &self.finder, &self.finder.own_scripts())
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

    /// Makes the workspace of an event.
    pub(super) fn workspace(&self) -> DiskWorkspace {
        DiskWorkspace::new(self.root.clone(), self.issues_dir.clone())
    }

    /// Returns the log; none where nothing is logged.
    pub const fn signal_log(&self) -> Option<&SignalLog> {
        self.log.as_ref()
    }

    /// Returns the verdict of a policy with these faults; none where there is none (spec §3.5).
    pub(super) fn broken(
        &self,
        faults: &[Diagnostic],
        trigger: Trigger,
        clock: &dyn Clock,
    ) -> Option<Verdict> {
        let first = faults.first()?;
        let sources = self.policy.sources();
        let others = match faults.len() - 1 {
            0 => String::new(),
            1 => " (and 1 more fault)".to_owned(),
            n => format!(" (and {n} more faults)"),
        };
        let text = format!(
            "the policy is broken, so nothing can be judged by it: {}{others}",
            first.one_line(sources)
        );
        let mut steps: Vec<String> = faults
            .iter()
            .take(10)
            .map(|fault| format!("Mend {}", fault.one_line(sources)))
            .collect();
        steps.push("Look at every fault with its line: `ahp check`".to_owned());
        let mut signal = if trigger.is_pre() && !self.allow_when_broken {
            Signal::block("config-error", text)
        } else {
            Signal::prompt("config-error", text).severity(crate::signal::Severity::High)
        }
        .steps(steps);
        signal.header.id = clock.new_id();
        signal.header.timestamp = clock.now();
        "config".clone_into(&mut signal.header.source);
        signal.header.correlation_id = Some(signal.header.id);
        trigger.name().clone_into(&mut signal.context.hook);
        "config".clone_into(&mut signal.origin.binding);
        if let Some(label) = &first.label {
            signal.origin.source = sources.line(label.span);
        }
        let signals = vec![signal];
        Some(Verdict {
            decision: Decision::of(&signals),
            signals,
            ..Verdict::none(trigger)
        })
    }

    /// Whether judging an event only computes: no program is run, no thread is started, no file of the project is read.
    pub(super) fn only_computes(&self, facts: &Facts) -> bool {
        if !self.faults.is_empty() {
            return true;
        }
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
