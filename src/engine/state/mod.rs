//! State: the policy in force with all that hangs on it, until a file that it came from changes.

mod guards;
mod load;
mod own_signals;
mod reviewed;
mod scripts;
mod trusted;

pub(super) use self::own_signals::lost_past;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use chrono::{DateTime, Utc};

use super::clock::Clock;
use super::lookup::Finder;
use super::origins::Origins;
use crate::config::{BreakGlass, Bundle, LayerRead, Override, Reviewed};
use crate::diagnostic::{Code, Diagnostic, Source, SourceMap};
use crate::event::Trigger;
use crate::fact::Facts;
use crate::guard::Guards;
use crate::hook_md::Hooks;
use crate::host::asks_person;
use crate::machine_key::ProjectKey;
use crate::oracle::Lookup;
use crate::policy::{Binding, Mark, Policy, lint};
use crate::signal::Signal;
use crate::signal_log::{
    AskedAbout, Body, EmptyHistory, Evaluation, History, LogHistory, SignalLog, SignalRecord,
    answers_of_host, inferred_responses, note_log,
};
use crate::trust::Trust;
use crate::verdict::Verdict;
use crate::workspace::{DiskWorkspace, ToldBase};

/// The policy in force, its faults, and what it logs to.
#[derive(Debug)]
pub struct State {
    policy: Policy,
    faults: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    finder: Finder,
    given_history: Option<Arc<dyn History>>,
    log: Option<SignalLog>,
    /// What tells the evidence of this machine from what came with a clone.
    key: Option<ProjectKey>,
    /// The root of the project, and the folder of its issues: what the workspace of each event is made of.
    root: Arc<Path>,
    issues_dir: Arc<Path>,
    base: Arc<ToldBase>,
    allow_when_broken: bool,
    /// The variables that are set and that the system layer forbids.
    ignored: Vec<Override>,
    /// What is held of what the project has weakened, and nobody has approved.
    held: Vec<String>,
    /// What a change is held to that it does not review itself.
    reviewed: Option<Arc<Reviewed>>,
    /// The bindings that it adds to that, and the files of that which it has changed.
    added: BTreeSet<(Trigger, String)>,
    changed: Vec<String>,
    /// Which policy it is, for the log.
    digest: String,
    /// Where the logs of this user are noted.
    user_state_dir: Option<PathBuf>,
    /// The signed policy in force.
    bundle: Option<Bundle>,
    /// Who has had locked bindings only advise.
    break_glass: Option<BreakGlass>,
    origins: Origins,
    layers: Vec<String>,
    layers_read: Vec<LayerRead>,
    guards: Arc<Guards>,
    /// Whether somebody has seen to it that what the first event finds is kept, or the project has nothing to be kept.
    is_first_seen: AtomicBool,
}

impl State {
    /// Whether the files that it came from are still as they were, and what was for some hours still is.
    pub(super) fn is_current(&self, clock: &dyn Clock) -> bool {
        let glass = self.break_glass.as_ref();
        glass.is_none_or(|glass| glass.until > clock.now())
            && self.origins.are_current()
            && self.finder.is_current()
    }

    /// Returns the signed policy in force.
    pub const fn bundle(&self) -> Option<&Bundle> {
        self.bundle.as_ref()
    }

    /// Returns what is set and loosens nothing, because the machine's layers forbid it.
    pub fn ignored(&self) -> &[Override] {
        &self.ignored
    }

    /// Returns who has had locked bindings only advise.
    pub const fn break_glass(&self) -> Option<&BreakGlass> {
        self.break_glass.as_ref()
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

    #[doc(hidden)]
    /// Returns the names of the files that lie there with faults, as they are shown, and of the layers that are left out for
    /// them; those of all files where a fault stands in none, as then it cannot be told which are sound.
    pub fn faulty_files(&self) -> Vec<String> {
        let file = |fault: &Diagnostic| self.source_of(fault).map(|source| source.name.to_string());
        let faults = self
            .faults
            .iter()
            .filter(|fault| !self.is_of_approved(fault));
        let files: Option<Vec<String>> = faults.map(file).collect();
        let Some(mut files) = files else {
            return self.layers.clone();
        };
        let left_out = self.layers_read.iter().filter(|layer| layer.is_left_out);
        files.extend(left_out.map(|layer| layer.name.clone()));
        files
    }

    fn source_of(&self, fault: &Diagnostic) -> Option<&Source> {
        self.sources().get(fault.label.as_ref()?.span.file)
    }

    /// Whether a fault stands in a text that was approved, and not in what lies there now.
    fn is_of_approved(&self, fault: &Diagnostic) -> bool {
        self.source_of(fault).is_some_and(Source::is_approved)
    }

    /// Whether it is known that nothing is left to be kept of the project's first event; whoever asks is to see to it.
    pub(super) fn knows_first_kept(&self) -> bool {
        self.is_first_seen.swap(true, Ordering::Relaxed)
    }

    /// Returns the warnings of the configuration.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Looks the policy over for what is no error and yet not meant; nothing where it has errors.
    pub fn lint(&self) -> Vec<Diagnostic> {
        if self.faults.is_empty() {
            let mut warnings = lint(
                &self.policy,
                &self.finder,
                &self.finder.own_scripts(),
                self.sources(),
            );
            warnings.extend(self.untrusted());
            let held = self.held().into_iter().map(|held| {
                let told = format!("{held}, and what was approved stays in force");
                let fault = Diagnostic::unplaced(Code::Untrusted, told);
                Diagnostic {
                    severity: crate::diagnostic::Severity::Warning,
                    ..fault
                }
                .help("`ahp trust` shows and approves the change")
            });
            warnings.extend(held);
            warnings
        } else {
            Vec::new()
        }
    }

    /// Returns what the project has weakened and nobody has approved: what was in force stays so.
    pub fn held(&self) -> Vec<String> {
        let scripts = self.finder.held_scripts().into_iter();
        let scripts = scripts.map(|file| format!("the script `{file}` says something else"));
        self.held.iter().cloned().chain(scripts).collect()
    }

    /// Returns what finds oracles by their names.
    pub fn lookup(&self) -> &dyn Lookup {
        &self.finder
    }

    /// Returns the past as it is now: what is asked of it is read once and then stands still.
    pub fn history(&self) -> Arc<dyn History> {
        match (&self.given_history, &self.log) {
            (Some(history), _) => history.clone(),
            (None, Some(log)) => Arc::new(LogHistory::new(log.place())),
            (None, None) => Arc::new(EmptyHistory),
        }
    }

    /// Whether the past tells how often a stop was blocked.
    pub(super) fn counts_stops(&self) -> bool {
        let is_known = |log: &SignalLog| log.place().is_known();
        self.given_history.is_some() || self.log.as_ref().is_some_and(is_known)
    }

    /// Makes the workspace of an event.
    pub(super) fn workspace(&self) -> DiskWorkspace {
        DiskWorkspace::new(self.root.clone(), self.issues_dir.clone())
            .keyed(self.key.clone())
            .with_base(self.base.clone())
    }

    /// Returns the log; none where nothing is logged.
    pub const fn signal_log(&self) -> Option<&SignalLog> {
        self.log.as_ref()
    }

    /// Whether judging an event only computes: no program is run, no thread is started, no file of the project is read.
    pub(super) fn only_computes(&self, facts: &Facts) -> bool {
        self.all_judge(facts, Binding::only_computes)
    }

    /// Whether all that would judge an event can judge one of the past.
    pub(super) fn can_judge_the_past(&self, facts: &Facts) -> bool {
        self.all_judge(facts, Binding::can_judge_the_past)
    }

    fn all_judge(&self, facts: &Facts, so: fn(&Binding, &Facts) -> bool) -> bool {
        let trigger = facts.event().trigger;
        let bindings = self.policy.trigger(trigger, &self.finder);
        self.policy.marks().iter().all(Mark::only_computes)
            && bindings.is_none_or(|policy| policy.candidates(facts).all(|b| so(b, facts)))
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

    /// Returns what no agent may change.
    pub const fn guards(&self) -> &Arc<Guards> {
        &self.guards
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
        let event = facts.event();
        let asked = AskedAbout::of(event, verdict, asks_person(event));
        let record = |signal| {
            let asked = asked.clone();
            let record = SignalRecord::of(event, signal);
            Body::Signal(Box::new(SignalRecord { asked, ..record }))
        };
        let mut further: Vec<Body> = verdict.signals.iter().map(record).collect();
        // Trying an issue's step or a stop again is an answer to what stopped it; the next tool call is not.
        let trigger = verdict.trigger;
        if trigger.is_issue() || trigger == Trigger::PreAgentTurnStop {
            let history = &**facts.history();
            further.extend(inferred_responses(history, event, verdict, now));
        }
        further.extend(answers_of_host(
            &**facts.history(),
            event,
            asks_person(event),
            now,
        ));
        let evaluation = Evaluation {
            event: facts.event(),
            verdict,
            skipped,
            policy: &self.digest,
            note: self.break_glass.as_ref().map(|_| "break-glass"),
        };
        match log
            .append_evaluation(evaluation, further, now, deadline)
            .await
        {
            Ok(appended) => {
                if appended.begins_file
                    && let Some(state_dir) = &self.user_state_dir
                {
                    // Whoever carries logs finds this one by it; what is judged does not depend on it.
                    note_log(state_dir, log.path(), &self.root).ok();
                }
                let damage = appended.notice.and_then(|notice| notice.damage());
                let damage = damage.map(|damage| format!("the signal log was damaged: {damage}"));
                Ok(damage.into_iter().chain(appended.warnings).collect())
            }
            Err(error) => Err(format!("the signal log cannot be written: {error}")),
        }
    }
}
