//! Evaluation: one event, from stage to stage.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;

use super::adjust::Adjusted;
use super::modify::Change;
use super::{Engine, Found, State, adjust, failure, modify, schedule};
use crate::config::OnBlock;
use crate::event::{Event, ToolCall};
use crate::fact::Facts;
use crate::oracle::OracleError;
use crate::policy::{Binding, Selection, TriggerPolicy};
use crate::signal::{Intensity, Modification, Signal};
use crate::verdict::{BindingReport, Decision, Outcome, Verdict};

/// The evaluation of one event, as it goes from stage to stage.
pub(super) struct Evaluation<'a> {
    engine: &'a Engine,
    state: &'a Arc<State>,
    /// The facts, with the controls of earlier stages applied.
    facts: Arc<Facts>,
    /// The bindings that fire for the input as it is now.
    selection: Selection,
    deadline: Option<Instant>,
    /// What became of each binding that ran, with its place in the configuration.
    reports: Vec<(usize, BindingReport)>,
    /// The signals, each with the place of its binding in the configuration; the engine's own stand at 0.
    signals: Vec<(usize, Signal)>,
    modifications: Vec<Change>,
    /// How often the input was changed, and by which binding last.
    changes: usize,
    changed_by: Option<Arc<str>>,
    /// The input that each binding has judged, by how often it had been changed.
    judged: HashMap<Arc<str>, usize, RandomState>,
    /// Whether what will run is judged once more, after the last stage.
    is_second: bool,
    blocked: bool,
    found: &'a Found,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        state: &'a Arc<State>,
        facts: Arc<Facts>,
        selection: Selection,
        deadline: Option<Instant>,
        found: &'a Found,
    ) -> Self {
        Self {
            engine,
            state,
            facts,
            selection,
            deadline,
            reports: Vec::new(),
            signals: Vec::new(),
            modifications: Vec::new(),
            changes: 0,
            changed_by: None,
            judged: HashMap::default(),
            is_second: false,
            blocked: false,
            found,
        }
    }

    /// Takes signals of the engine's own, which stand before those of the bindings.
    pub(super) fn add_extra(&mut self, mut extra: Vec<Signal>, name: &str, source: &str) {
        let clock = &*self.engine.shared.clock;
        self.limit_stop_blocks(&mut extra);
        for mut signal in extra {
            signal.header.id = clock.new_id();
            signal.header.timestamp = clock.now();
            name.clone_into(&mut signal.header.source);
            signal.header.correlation_id = Some(signal.header.id);
            self.facts
                .event()
                .trigger
                .name()
                .clone_into(&mut signal.context.hook);
            signal
                .context
                .issue_id
                .clone_from(&self.facts.event().issue_id);
            name.clone_into(&mut signal.origin.binding);
            if signal.origin.source.is_empty() {
                source.clone_into(&mut signal.origin.source);
            }
            self.blocked |= signal.intensity() == Intensity::Block;
            self.signals.push((0, signal));
        }
    }

    /// Runs the stages in ascending order of priority, each with the bindings that fire for what earlier ones have made of
    /// the input; then has what will run judged by those that nothing may pass by.
    pub(super) async fn run(&mut self) {
        let mut last = None;
        while let Some(priority) = self.next_stage(last) {
            last = Some(priority);
            let stage = self.stage(priority, |_| true);
            let (later, now) = stage.into_iter().partition(|b| b.is_async);
            self.run_stage(now, later).await;
        }
        if self.changes == 0 {
            return;
        }
        self.is_second = true;
        let now = self.changes;
        last = None;
        while let Some(priority) = self.next_stage(last) {
            last = Some(priority);
            let again = self.stage(priority, |binding| {
                binding.judges_what_runs()
                    && self.judged.get(&binding.id) != Some(&now)
                    && self.changed_by.as_ref() != Some(&binding.id)
            });
            self.run_stage(again, Vec::new()).await;
        }
    }

    /// Returns the stage after `last`; none where there is no further one, or a block stops it.
    fn next_stage(&self, last: Option<i64>) -> Option<i64> {
        if self.blocked && self.state.policy().settings().on_block == OnBlock::Stop {
            return None;
        }
        let selected = self.selection.selected.iter().map(|b| b.priority);
        selected.filter(|p| last.is_none_or(|last| *p > last)).min()
    }

    fn stage(&self, priority: i64, is_due: impl Fn(&Binding) -> bool) -> Vec<Arc<Binding>> {
        let selected = self.selection.selected.iter();
        let stage = selected.filter(|b| b.priority == priority && is_due(b));
        stage.cloned().collect()
    }

    /// Runs the bindings of a stage: those that are waited for, and then, in the background, those that are not.
    async fn run_stage(&mut self, now: Vec<Arc<Binding>>, later: Vec<Arc<Binding>>) {
        let context = schedule::StageContext {
            facts: self.facts.clone(),
            state_dir: self.engine.shared.state_dir.clone(),
            trust: self.state.trust().clone(),
            guards: self.state.guards().clone(),
            deadline: self.deadline,
            is_unawaited: false,
        };
        // What is judged again has left the same to be done before.
        let leaves = |binding: &&Arc<Binding>| {
            let oracle = binding.oracle.oracle(&self.facts);
            !self.is_second && oracle.is_ok_and(|oracle| oracle.unawaited(&self.facts).is_some())
        };
        let left: Vec<_> = now.iter().filter(leaves).cloned().collect();
        let mut judged = permitted(self.state, now, &context).await;
        judged.sort_by_key(|j| j.binding.place);
        let clock = &*self.engine.shared.clock;
        let mut found: Vec<(usize, Signal)> = Vec::new();
        for judged in judged {
            let binding = &judged.binding;
            self.judged.insert(binding.id.clone(), self.changes);
            let fitted = judged.result.and_then(|mut signals| {
                self.state.refuse_controls(binding, &mut signals);
                modify::fit(&mut signals, &self.facts)?;
                Ok(signals)
            });
            let (mut adjusted, error) = match fitted {
                Ok(signals) => {
                    if binding.blocks_as_found() {
                        self.found.keep(&signals);
                    }
                    let adjusted = adjust::adjust(signals, binding, &self.facts, clock);
                    (adjusted, None)
                }
                Err(error) => (self.failed(binding, &error), Some(error.to_string())),
            };
            adjust::name_grounds(binding, &self.facts, &mut adjusted.signals);
            self.found.keep(&adjusted.signals);
            let report = judged_report(binding, error, judged.duration, &adjusted);
            self.report(binding.place, report);
            found.extend(adjusted.signals.into_iter().map(|s| (binding.place, s)));
        }
        for binding in left {
            let started = self
                .engine
                .start_in_background(self.state, &self.facts, &binding);
            // Whoever may not run anything has failed to judge above.
            started.ok();
        }
        for binding in later {
            let refused = self
                .engine
                .start_in_background(self.state, &self.facts, &binding)
                .err();
            if let Some(error) = &refused {
                // It asks for trust like any other; only what it finds can no longer be waited for.
                let adjusted = self.failed(&binding, error);
                found.extend(adjusted.signals.into_iter().map(|s| (binding.place, s)));
            }
            let report = BindingReport {
                outcome: if refused.is_some() {
                    Outcome::Failed
                } else {
                    Outcome::Started
                },
                error: refused.map(|error| error.to_string()),
                ..report(&binding)
            };
            self.report(binding.place, report);
        }
        self.take(found);
    }

    /// Returns what stands for a judgement that was not made.
    fn failed(&self, binding: &Binding, error: &OracleError) -> Adjusted {
        let trigger = self.facts.event().trigger;
        let told_before = |identity: &str| adjust::was_told(binding, &self.facts, identity);
        let signal = failure::signal(binding, error, trigger, told_before);
        let clock = &*self.engine.shared.clock;
        adjust::adjust_settled(signal.into_iter().collect(), binding, &self.facts, clock)
    }

    /// Takes a report; what a binding says of the input as it was counts less than what it says of what will run.
    fn report(&mut self, place: usize, report: BindingReport) {
        let mut reports = self.reports.iter_mut().map(|(_, report)| report);
        match reports.find(|earlier| earlier.id == report.id) {
            Some(earlier) if report.outcome != Outcome::Accepted => *earlier = report,
            Some(_) => {}
            None => self.reports.push((place, report)),
        }
    }

    /// Takes the signals of a stage: settles its controls and applies them for the stages after it.
    fn take(&mut self, found: Vec<(usize, Signal)>) {
        let (places, mut signals): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        if self.is_second {
            modify::refuse_conflicts(&mut signals, &self.modifications);
        }
        let standing = modify::settle(&mut signals);
        self.limit_stop_blocks(&mut signals);
        self.blocked |= signals.iter().any(|s| s.intensity() == Intensity::Block);
        let changed_by = signals
            .iter()
            .rev()
            .find(|s| s.intensity() == Intensity::Control);
        let changed_by = changed_by.map(|signal| signal.origin.binding.as_str().into());
        for (place, signal) in places.into_iter().zip(signals) {
            // What was found before, and is found again in what will run, is told once.
            let is_known = |(_, known): &(usize, Signal)| {
                known.origin.binding == signal.origin.binding
                    && known.fingerprint == signal.fingerprint
                    && known.intensity() == signal.intensity()
            };
            if !self.is_second || !self.signals.iter().any(is_known) {
                self.signals.push((place, signal));
            }
        }
        if standing.is_empty() {
            return;
        }
        let event = self.facts.event();
        if let Some(tool) = &event.tool {
            let mut input = tool.input.clone();
            let changes: Vec<Modification> = standing.iter().map(|c| c.what.clone()).collect();
            if modify::apply(&mut input, &changes) && input != tool.input {
                let event = Event {
                    tool: Some(ToolCall {
                        input,
                        ..tool.clone()
                    }),
                    ..event.clone()
                };
                self.facts = self
                    .engine
                    .facts_again(self.state, Arc::new(event), &self.facts);
                self.changes += 1;
                self.changed_by = changed_by;
                self.select_again();
            }
        }
        self.modifications.extend(standing);
    }

    /// Finds the bindings that fire for the input as it is now.
    fn select_again(&mut self) {
        self.selection = Engine::bindings(self.state, &self.facts);
        self.add_faults();
    }

    /// Stops at the faults of bindings that may fire and that could not be made ready.
    pub(super) fn add_faults(&mut self) {
        let Some(fault) = self
            .selection
            .faults
            .first()
            .filter(|_| self.state.faults().is_empty())
        else {
            return;
        };
        let text = fault.one_line(self.state.sources());
        let text = format!("the policy is broken: {text}");
        let signal = if self.facts.event().trigger.is_pre() {
            Signal::block("config-error", text)
        } else {
            Signal::prompt("config-error", text)
        };
        let signal = signal.steps(["Look at every fault with its line: `ahp check`"]);
        self.add_extra(vec![signal], "config", "configuration");
    }

    /// Lets a stop through that has been blocked often enough; where no log counts, after one block.
    fn limit_stop_blocks(&self, signals: &mut [Signal]) {
        if self.state.counts_stops() {
            let most = self.state.policy().settings().max_stop_blocks;
            adjust::limit_stop_blocks(signals, &self.facts, most);
        } else {
            adjust::limit_uncounted_stop_blocks(signals, self.facts.event());
        }
    }

    /// Reports the bindings that an earlier block stopped, that are switched off, or whose `when` does not hold.
    fn report_unrun(&mut self) {
        let with = |outcome: Outcome, binding: &Arc<Binding>| {
            let report = BindingReport {
                outcome,
                ..report(binding)
            };
            (binding.place, report)
        };
        let is_new = |reports: &[(usize, BindingReport)], binding: &Arc<Binding>| {
            reports
                .binary_search_by_key(&binding.place, |(place, _)| *place)
                .is_err()
        };
        self.reports.sort_by_key(|(place, _)| *place);
        let mut unrun: Vec<(usize, BindingReport)> = Vec::new();
        for binding in &self.selection.selected {
            if is_new(&self.reports, binding) {
                unrun.push(with(Outcome::NotRun, binding));
            }
        }
        let disabled = self.selection.disabled.iter();
        unrun.extend(disabled.map(|binding| with(Outcome::Disabled, binding)));
        self.reports.extend(unrun);
        self.reports.sort_by_key(|(place, _)| *place);
        if self.engine.shared.report_skipped && self.selection.skipped > 0 {
            let trigger = self.facts.event().trigger;
            let all = self.state.policy().trigger(trigger, self.state.lookup());
            let skipped: Vec<_> = all
                .into_iter()
                .flat_map(TriggerPolicy::bindings)
                .filter(|(binding, _)| is_new(&self.reports, binding))
                .map(|(binding, _)| with(Outcome::Skipped, binding))
                .collect();
            self.reports.extend(skipped);
        }
    }

    /// Adds up what was found; with it come the facts as the controls have left them, and how many bindings did not fire.
    pub(super) fn verdict(mut self) -> (Verdict, Arc<Facts>, usize) {
        self.report_unrun();
        let trigger = self.facts.event().trigger;
        self.signals.sort_by_key(|(place, _)| *place);
        // Those that did not fire stand behind those that did.
        self.reports.sort_by_key(|(place, report)| {
            let is_asked = !matches!(report.outcome, Outcome::Disabled | Outcome::Skipped);
            (!is_asked, *place)
        });
        let signals: Vec<_> = self.signals.into_iter().map(|(_, s)| s).collect();
        let decision = Decision::of(&signals);
        let inside = self
            .modifications
            .iter()
            .any(|change| change.what.is_of_input());
        let modified_input = self
            .facts
            .event()
            .tool
            .as_ref()
            .filter(|_| inside)
            .map(|tool| tool.input.clone());
        let verdict = Verdict {
            decision,
            modified_input,
            signals,
            bindings: self.reports.into_iter().map(|(_, report)| report).collect(),
            ..Verdict::none(trigger)
        };
        (verdict, self.facts, self.selection.skipped)
    }
}

/// Runs the bindings of a stage that may run what they run; the others, and those whose programs were changed while
/// they ran, have failed.
pub(super) async fn permitted(
    state: &State,
    bindings: Vec<Arc<Binding>>,
    context: &schedule::StageContext,
) -> Vec<schedule::Judged> {
    let mut permits = Vec::new();
    let mut refused = Vec::new();
    let mut due = Vec::with_capacity(bindings.len());
    let trigger = context.facts.event().trigger;
    for binding in bindings {
        if let Some(signal) = state.program_changed(&binding, trigger) {
            refused.push(schedule::Judged {
                binding,
                result: Ok(vec![signal]),
                duration: Duration::ZERO,
            });
            continue;
        }
        if binding.runs_programs {
            match state.trusts(&binding) {
                Ok(permit) => permits.push((binding.id.clone(), permit)),
                Err(why) => {
                    refused.push(schedule::Judged {
                        binding,
                        result: Err(why),
                        duration: Duration::ZERO,
                    });
                    continue;
                }
            }
        }
        due.push(binding);
    }
    let mut judged = schedule::stage(&due, context).await;
    for (id, permit) in permits {
        let Err(why) = permit.still_holds() else {
            continue;
        };
        for judged in judged.iter_mut().filter(|judged| judged.binding.id == id) {
            judged.result = Err(OracleError::Untrusted(why.to_string()));
        }
    }
    judged.extend(refused);
    for judged in &mut judged {
        if matches!(judged.result, Err(OracleError::Absent(_))) && !judged.binding.insists() {
            judged.result = Ok(Vec::new());
        }
    }
    judged
}

/// Reports a binding that has judged, or has failed to.
pub(super) fn judged_report(
    binding: &Binding,
    error: Option<String>,
    took: Duration,
    adjusted: &Adjusted,
) -> BindingReport {
    BindingReport {
        outcome: match (&error, adjusted.signals.is_empty()) {
            (Some(_), _) => Outcome::Failed,
            (None, true) => Outcome::Accepted,
            (None, false) => Outcome::Signalled,
        },
        duration_us: micros(took),
        error,
        waived: adjusted.waived.clone(),
        ..report(binding)
    }
}

fn report(binding: &Binding) -> BindingReport {
    BindingReport {
        id: String::from(&*binding.id),
        oracle: String::from(&*binding.oracle_name),
        outcome: Outcome::NotRun,
        source: String::from(&*binding.source),
        duration_us: 0,
        error: None,
        waived: Vec::new(),
    }
}

pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
