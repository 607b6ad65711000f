//! Round: the evaluation of one event, from stage to stage.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use foldhash::fast::RandomState;

use super::Engine;
use super::State;
use super::failure;
use super::modify;
use super::schedule;
use super::weigh;
use super::weigh::Weighed;
use crate::config::OnBlock;
use crate::event::Event;
use crate::event::ToolCall;
use crate::fact::Facts;
use crate::oracle::OracleError;
use crate::policy::Binding;
use crate::policy::Selection;
use crate::policy::TriggerPolicy;
use crate::signal::Intensity;
use crate::signal::Modification;
use crate::signal::Signal;
use crate::verdict::BindingReport;
use crate::verdict::Decision;
use crate::verdict::Outcome;
use crate::verdict::Verdict;

/// The evaluation of one event, as it goes from stage to stage.
pub(super) struct Round<'a> {
    engine: &'a Engine,
    state: &'a Arc<State>,
    /// The facts, with the controls of earlier stages applied.
    facts: Arc<Facts>,
    selection: &'a Selection,
    /// The place of each binding in the configuration, from 1; the engine's own signals stand at 0.
    places: HashMap<&'a str, usize, RandomState>,
    deadline: Option<Instant>,
    /// What became of each binding that ran, by its id.
    reports: Vec<BindingReport>,
    /// The signals, each with the place of its binding in the configuration.
    signals: Vec<(usize, Signal)>,
    modifications: Vec<Modification>,
    blocked: bool,
}

type Names<'a> = HashSet<&'a str, RandomState>;

impl<'a> Round<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        state: &'a Arc<State>,
        facts: Arc<Facts>,
        selection: &'a Selection,
        deadline: Option<Instant>,
    ) -> Self {
        let mut places =
            HashMap::with_capacity_and_hasher(selection.selected.len(), RandomState::default());
        for (n, binding) in selection.selected.iter().enumerate() {
            places.entry(&*binding.id).or_insert(n + 1);
        }
        Self {
            engine,
            state,
            facts,
            selection,
            places,
            deadline,
            reports: Vec::new(),
            signals: Vec::new(),
            modifications: Vec::new(),
            blocked: false,
        }
    }

    /// Takes signals of the engine's own, which stand before those of the bindings.
    pub(super) fn add_extra(&mut self, extra: Vec<Signal>, name: &str, source: &str) {
        let clock = &*self.engine.shared.clock;
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
            source.clone_into(&mut signal.origin.source);
            self.blocked |= signal.intensity() == Intensity::Block;
            self.signals.push((0, signal));
        }
    }

    /// Runs the stages in ascending order of priority.
    pub(super) async fn run(&mut self) {
        let selected = &self.selection.selected;
        let mut priorities: Vec<i64> = selected.iter().map(|b| b.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        for priority in priorities {
            if self.blocked && self.state.policy().settings().on_block == OnBlock::Stop {
                break;
            }
            let stage = selected.iter().filter(|b| b.priority == priority);
            let (later, now) = stage.cloned().partition(|b| b.is_async);
            self.run_stage(now, later).await;
        }
    }

    fn place(&self, id: &str) -> usize {
        self.places.get(id).copied().unwrap_or_default()
    }

    /// Runs the bindings of a stage: those that are waited for, and then, in the background, those that are not.
    async fn run_stage(&mut self, now: Vec<Arc<Binding>>, later: Vec<Arc<Binding>>) {
        let context = schedule::StageContext {
            facts: self.facts.clone(),
            state_dir: self.engine.shared.state_dir.clone(),
            trust: self.state.trust().clone(),
            deadline: self.deadline,
        };
        let mut judged = permitted(self.state, now, &context).await;
        judged.sort_by_key(|j| self.place(&j.binding.id));
        let clock = &*self.engine.shared.clock;
        let mut found: Vec<(usize, Signal)> = Vec::new();
        for judged in judged {
            let binding = &judged.binding;
            let fitted = judged.result.and_then(|mut signals| {
                modify::fit(&mut signals, &self.facts)?;
                Ok(signals)
            });
            let (weighed, error) = match fitted {
                Ok(signals) => (weigh::weigh(signals, binding, &self.facts, clock), None),
                Err(error) => {
                    let signals = failure::signal(binding, &error).into_iter().collect();
                    let weighed = weigh::weigh_settled(signals, binding, &self.facts, clock);
                    (weighed, Some(error.to_string()))
                }
            };
            self.reports
                .push(judged_report(binding, error, judged.duration, &weighed));
            let place = self.place(&binding.id);
            found.extend(weighed.signals.into_iter().map(|s| (place, s)));
        }
        for binding in later {
            let refused = self
                .engine
                .start_in_background(self.state, &self.facts, &binding)
                .err();
            if let Some(error) = &refused {
                // It asks for trust like any other; only what it finds can no longer be waited for.
                let signals = failure::signal(&binding, error).into_iter().collect();
                let weighed = weigh::weigh_settled(signals, &binding, &self.facts, clock);
                let place = self.place(&binding.id);
                found.extend(weighed.signals.into_iter().map(|s| (place, s)));
            }
            self.reports.push(BindingReport {
                outcome: if refused.is_some() {
                    Outcome::Failed
                } else {
                    Outcome::Started
                },
                error: refused.map(|error| error.to_string()),
                ..report(&binding)
            });
        }
        self.take(found);
    }

    /// Takes the signals of a stage: settles its controls and applies them for the stages after it.
    fn take(&mut self, found: Vec<(usize, Signal)>) {
        let (places, mut signals): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let standing = modify::settle(&mut signals);
        let most = self.state.policy().settings().max_stop_blocks;
        weigh::limit_stop_blocks(&mut signals, &self.facts, most);
        self.blocked |= signals.iter().any(|s| s.intensity() == Intensity::Block);
        self.signals.extend(places.into_iter().zip(signals));
        if standing.is_empty() {
            return;
        }
        let event = self.facts.event();
        if let Some(tool) = &event.tool {
            let mut input = tool.input.clone();
            if modify::apply(&mut input, &standing) {
                let event = Event {
                    tool: Some(ToolCall {
                        input,
                        ..tool.clone()
                    }),
                    ..event.clone()
                };
                self.facts = self.engine.facts(self.state, Arc::new(event));
            }
        }
        self.modifications.extend(standing);
    }

    /// Reports the bindings that an earlier block stopped, that are switched off, or whose `when` does not hold.
    fn report_unrun(&mut self) {
        let selection = self.selection;
        // A binding that was selected is reported once.
        if self.reports.len() < selection.selected.len() {
            let reported: Names<'_> = self.reports.iter().map(|r| r.id.as_str()).collect();
            let not_run: Vec<_> = selection
                .selected
                .iter()
                .filter(|b| !reported.contains(&*b.id))
                .map(|binding| BindingReport {
                    outcome: Outcome::NotRun,
                    ..report(binding)
                })
                .collect();
            self.reports.extend(not_run);
        }
        self.reports
            .extend(selection.disabled.iter().map(|binding| BindingReport {
                outcome: Outcome::Disabled,
                ..report(binding)
            }));
        if self.engine.shared.report_skipped && selection.skipped > 0 {
            let trigger = self.facts.event().trigger;
            let all = self.state.policy().trigger(trigger, self.state.lookup());
            let reported: Names<'_> = self.reports.iter().map(|r| r.id.as_str()).collect();
            let skipped: Vec<_> = all
                .into_iter()
                .flat_map(TriggerPolicy::bindings)
                .filter(|(binding, _)| !reported.contains(&*binding.id))
                .map(|(binding, _)| BindingReport {
                    outcome: Outcome::Skipped,
                    ..report(binding)
                })
                .collect();
            self.reports.extend(skipped);
        }
    }

    /// Adds up what was found; with it come the facts as the controls have left them.
    pub(super) fn verdict(mut self) -> (Verdict, Arc<Facts>) {
        self.report_unrun();
        let trigger = self.facts.event().trigger;
        self.signals.sort_by_key(|(place, _)| *place);
        let places = &self.places;
        self.reports
            .sort_by_key(|r| places.get(r.id.as_str()).copied().unwrap_or(usize::MAX));
        let signals: Vec<_> = self.signals.into_iter().map(|(_, s)| s).collect();
        let decision = Decision::of(&signals);
        let inside = self
            .modifications
            .iter()
            .any(|m| m.target.starts_with('/') || m.target.starts_with("tool.input"));
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
            bindings: self.reports,
            ..Verdict::none(trigger)
        };
        (verdict, self.facts)
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
    for binding in bindings {
        if binding.needs_trust {
            match state.trusts(&binding) {
                Ok(permit) => permits.push((binding.id.clone(), permit)),
                Err(why) => {
                    refused.push(schedule::Judged {
                        binding,
                        result: Err(OracleError::Untrusted(why)),
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
    judged
}

/// Reports a binding that has judged, or has failed to.
pub(super) fn judged_report(
    binding: &Binding,
    error: Option<String>,
    took: Duration,
    weighed: &Weighed,
) -> BindingReport {
    BindingReport {
        outcome: match (&error, weighed.signals.is_empty()) {
            (Some(_), _) => Outcome::Failed,
            (None, true) => Outcome::Accepted,
            (None, false) => Outcome::Signalled,
        },
        duration_us: micros(took),
        error,
        waived: weighed.waived.clone(),
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
