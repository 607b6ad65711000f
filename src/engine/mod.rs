//! Engine: event in, verdict out; the library's main call.

mod builder;
mod clock;
mod derive;
mod failure;
mod lookup;
mod modify;
mod prepared;
mod record;
mod schedule;
mod state;
mod weigh;

pub use self::builder::Background;
pub use self::builder::EngineBuilder;
pub use self::builder::MakeWorkspace;
pub use self::clock::Clock;
pub use self::clock::FixedClock;
pub use self::clock::SystemClock;
pub use self::prepared::Prepared;
pub use self::schedule::block_on;
pub use self::state::EngineError;
pub use self::state::State;
pub use self::state::log_path;

use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use crate::config::OnBlock;
use crate::event::Event;
use crate::event::ToolCall;
use crate::fact::Facts;
use crate::fact::FactsSeed;
use crate::oracle::OracleError;
use crate::policy::Binding;
use crate::signal::Intensity;
use crate::signal::Modification;
use crate::signal::Signal;
use crate::verdict::BindingReport;
use crate::verdict::Decision;
use crate::verdict::Outcome;
use crate::verdict::Verdict;

/// Evaluates events against the policy of one project.
///
/// Cheap to clone, and usable from many tasks and threads at once. It never prints, never exits and has no
/// global state.
///
/// ```
/// use ahp::engine::Engine;
/// use ahp::event::{Event, Trigger};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::builder()
///     .policy_text("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}")
///     .build()?;
/// let mut event = Event::new(Trigger::PreToolUse);
/// event.tool = Some(ahp::event::ToolCall {
///     name: "Bash".to_owned(),
///     input: serde_json::json!({"command": "git status"}),
///     ..Default::default()
/// });
/// let verdict = ahp::engine::block_on(engine.evaluate(event));
/// assert_eq!(verdict.decision.name(), "none");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Engine {
    shared: Arc<builder::Shared>,
}

/// An event with what it came to.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The event: the one that was given, or one that it brought with it.
    pub event: Arc<Event>,
    /// What it came to.
    pub verdict: Verdict,
}

impl Engine {
    /// Begins to make an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Returns the policy in force, read again if a file that it came from has changed.
    pub fn state(&self) -> Arc<State> {
        self.shared.state()
    }

    /// Evaluates an event.
    ///
    /// The future is `Send`. Inside a tokio runtime it never blocks its thread for long; outside one it may be
    /// driven by [`block_on`].
    pub async fn evaluate(&self, event: Event) -> Verdict {
        self.evaluate_until(event, None).await
    }

    /// Evaluates an event and answers before `deadline`: what has not judged by then has failed by timeout.
    pub async fn evaluate_until(&self, event: Event, deadline: Option<Instant>) -> Verdict {
        let state = self.state();
        let event = Arc::new(event);
        let facts = self.facts(&state, event);
        self.judge(&state, facts, Vec::new(), deadline).await
    }

    /// Evaluates an event and the issue events that its command line brings with it: `monoco issue submit` inside
    /// a shell tool fires `pre-issue-submit` too. After a stop the later ones are not evaluated.
    pub async fn evaluate_all(&self, event: Event, deadline: Option<Instant>) -> Vec<Evaluated> {
        self.prepare(event).evaluate(deadline).await
    }

    /// Evaluates an event whose command skips hooks by a flag, which is itself answered by `settings.bypass`.
    pub async fn evaluate_bypassed(&self, event: Event, flag: &str) -> Verdict {
        let state = self.state();
        let extra = vec![derive::bypass_signal(
            flag,
            state.policy().settings().bypass,
            &event,
        )];
        let facts = self.facts(&state, Arc::new(event));
        self.judge(&state, facts, extra, None).await
    }

    /// Evaluates one binding alone, and logs what it finds as aid: the work of an `async: true` binding.
    pub async fn evaluate_in_background(&self, event: Event, binding_id: &str) {
        let state = self.state();
        let event = Arc::new(event);
        let facts = self.facts(&state, event.clone());
        let binding = Self::bindings(&state, &facts)
            .selected
            .into_iter()
            .find(|binding| &*binding.id == binding_id);
        if let Some(binding) = binding {
            background(self.clone(), state, facts, binding).await;
        }
    }

    /// Makes the facts of an event.
    pub fn facts(&self, state: &State, event: Arc<Event>) -> Arc<Facts> {
        let shared = &self.shared;
        let settings = state.policy().settings();
        Arc::new(Facts::new(FactsSeed {
            environment: event
                .environment
                .clone()
                .or_else(|| settings.environment.clone())
                .or_else(|| shared.environment.clone())
                .unwrap_or_else(|| "development".to_owned()),
            time: event.timestamp.unwrap_or_else(|| shared.clock.now()),
            home: shared.home.clone(),
            workspace: shared.workspace(settings),
            history: state.history(),
            event,
        }))
    }

    fn bindings(state: &State, facts: &Facts) -> crate::policy::Selection {
        let mut selection = state
            .policy()
            .trigger(facts.event().trigger, state.lookup())
            .map(|policy| policy.select(facts))
            .unwrap_or_default();
        let guard = state.self_protection(facts.event().trigger, &selection.selected);
        selection.selected.extend(guard);
        selection.selected.extend(state.hooks_for(facts));
        selection
    }

    async fn judge(
        &self,
        state: &Arc<State>,
        facts: Arc<Facts>,
        extra: Vec<Signal>,
        deadline: Option<Instant>,
    ) -> Verdict {
        let started = Instant::now();
        let trigger = facts.event().trigger;
        if let Some(verdict) = state.broken(trigger, &*self.shared.clock) {
            return self
                .finish(state, &facts, verdict, 0, started, deadline)
                .await;
        }
        let mut round = Round::new(self, state, facts, deadline);
        round.add_extra(extra, "bypass", "settings.bypass");
        round.add_extra(state.invalid_hooks(trigger), "hook-md", ".agents/hooks");
        let selection = Self::bindings(state, &round.facts);
        round.run(&selection.selected).await;
        round.report_unrun(&selection);
        let skipped = selection.skipped;
        let (verdict, facts) = round.verdict(&selection);
        self.finish(state, &facts, verdict, skipped, started, deadline)
            .await
    }

    /// Puts the time and the log to a verdict.
    async fn finish(
        &self,
        state: &State,
        facts: &Facts,
        mut verdict: Verdict,
        skipped: usize,
        started: Instant,
        deadline: Option<Instant>,
    ) -> Verdict {
        verdict.duration_us = micros(started.elapsed());
        let required = state.policy().settings().log.required && verdict.trigger.is_pre();
        let now = self.shared.clock.now();
        match state.log(facts, &verdict, skipped, now, deadline).await {
            Ok(warnings) => verdict.warnings.extend(warnings),
            Err(failure) if required => {
                let mut signal = Signal::block("log-unwritable", &failure)
                    .steps([
                        "Make the signal log writable",
                        "Or set `settings.log.required: false`",
                    ])
                    .unresolvable();
                signal.header.id = self.shared.clock.new_id();
                signal.header.timestamp = self.shared.clock.now();
                "signal-log".clone_into(&mut signal.header.source);
                verdict.trigger.name().clone_into(&mut signal.context.hook);
                verdict.signals.push(signal);
                verdict.decision = Decision::Block;
            }
            Err(failure) => verdict.warnings.push(failure),
        }
        verdict
    }
}

/// The evaluation of one event, as it goes from stage to stage.
struct Round<'a> {
    engine: &'a Engine,
    state: &'a Arc<State>,
    /// The facts, with the controls of earlier stages applied.
    facts: Arc<Facts>,
    deadline: Option<Instant>,
    /// What became of each binding that ran, by its id.
    reports: Vec<BindingReport>,
    /// The signals, each with the place of its binding in the configuration.
    signals: Vec<(usize, Signal)>,
    modifications: Vec<Modification>,
    blocked: bool,
}

impl<'a> Round<'a> {
    const fn new(
        engine: &'a Engine,
        state: &'a Arc<State>,
        facts: Arc<Facts>,
        deadline: Option<Instant>,
    ) -> Self {
        Self {
            engine,
            state,
            facts,
            deadline,
            reports: Vec::new(),
            signals: Vec::new(),
            modifications: Vec::new(),
            blocked: false,
        }
    }

    /// Takes signals of the engine's own, which stand before those of the bindings.
    fn add_extra(&mut self, extra: Vec<Signal>, name: &str, source: &str) {
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
    async fn run(&mut self, selected: &[Arc<Binding>]) {
        let mut priorities: Vec<i64> = selected.iter().map(|b| b.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        for priority in priorities {
            if self.blocked && self.state.policy().settings().on_block == OnBlock::Stop {
                break;
            }
            let stage: Vec<_> = selected
                .iter()
                .filter(|b| b.priority == priority)
                .cloned()
                .collect();
            self.run_stage(&stage, selected).await;
        }
    }

    async fn run_stage(&mut self, stage: &[Arc<Binding>], selected: &[Arc<Binding>]) {
        let place = |binding: &Binding| {
            selected
                .iter()
                .position(|b| b.id == binding.id)
                .map_or(0, |n| n + 1)
        };
        let (later, now): (Vec<_>, Vec<_>) = stage.iter().cloned().partition(|b| b.is_async);
        let context = schedule::StageContext {
            facts: self.facts.clone(),
            state_dir: self.engine.shared.state_dir.clone(),
            trust: self.state.trust().clone(),
            deadline: self.deadline,
        };
        let mut judged = permitted(self.state, now, &context).await;
        judged.sort_by_key(|j| place(&j.binding));
        let clock = &*self.engine.shared.clock;
        let mut found: Vec<(usize, Signal)> = Vec::new();
        for judged in judged {
            let binding = &judged.binding;
            let (signals, error) = match judged.result {
                Ok(signals) => (signals, None),
                Err(error) => (
                    failure::signal(binding, &error).into_iter().collect(),
                    Some(error.to_string()),
                ),
            };
            let weighed = weigh::weigh(signals, binding, &self.facts, clock);
            self.reports.push(BindingReport {
                outcome: match (&error, weighed.signals.is_empty()) {
                    (Some(_), _) => Outcome::Failed,
                    (None, true) => Outcome::Accepted,
                    (None, false) => Outcome::Signalled,
                },
                duration_us: micros(judged.duration),
                error,
                waived: weighed.waived,
                ..report(binding)
            });
            found.extend(weighed.signals.into_iter().map(|s| (place(binding), s)));
        }
        for binding in later {
            let refused = self
                .engine
                .start_in_background(self.state, &self.facts, &binding)
                .err();
            if let Some(error) = &refused {
                // It asks for trust like any other; only what it finds can no longer be waited for.
                let signals = failure::signal(&binding, error).into_iter().collect();
                let weighed = weigh::weigh(signals, &binding, &self.facts, clock);
                found.extend(weighed.signals.into_iter().map(|s| (place(&binding), s)));
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
    fn report_unrun(&mut self, selection: &crate::policy::Selection) {
        let not_run: Vec<_> = selection
            .selected
            .iter()
            .filter(|b| !self.reports.iter().any(|r| r.id == *b.id))
            .map(|binding| BindingReport {
                outcome: Outcome::NotRun,
                ..report(binding)
            })
            .collect();
        self.reports.extend(not_run);
        self.reports
            .extend(selection.disabled.iter().map(|binding| BindingReport {
                outcome: Outcome::Disabled,
                ..report(binding)
            }));
        if self.engine.shared.report_skipped && selection.skipped > 0 {
            let trigger = self.facts.event().trigger;
            let all = self.state.policy().trigger(trigger, self.state.lookup());
            for binding in all.iter().flat_map(|policy| &policy.bindings) {
                if !self.reports.iter().any(|r| r.id == *binding.id) {
                    self.reports.push(BindingReport {
                        outcome: Outcome::Skipped,
                        ..report(binding)
                    });
                }
            }
        }
    }

    fn verdict(mut self, selection: &crate::policy::Selection) -> (Verdict, Arc<Facts>) {
        let trigger = self.facts.event().trigger;
        self.signals.sort_by_key(|(place, _)| *place);
        let order = |id: &str| {
            selection
                .selected
                .iter()
                .position(|b| &*b.id == id)
                .unwrap_or(usize::MAX)
        };
        self.reports.sort_by_key(|r| order(&r.id));
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

impl Engine {
    /// Starts a binding whose result is not waited for: by the host program's own way, else on a thread.
    ///
    /// # Errors
    /// It may not run.
    fn start_in_background(
        &self,
        state: &Arc<State>,
        facts: &Arc<Facts>,
        binding: &Arc<Binding>,
    ) -> Result<(), OracleError> {
        if binding.needs_trust {
            // It is asked again where it runs, which is later.
            state.trusts(binding).map_err(OracleError::Untrusted)?;
        }
        if let Some(start) = &self.shared.background {
            start(facts.event(), &binding.id);
            return Ok(());
        }
        let (engine, state, facts, binding) =
            (self.clone(), state.clone(), facts.clone(), binding.clone());
        let run = move || block_on(background(engine, state, facts, binding));
        // Without a thread the binding is not run; the log then has it as started and never ended.
        std::thread::Builder::new().spawn(run).ok();
        Ok(())
    }
}

/// Runs the bindings of a stage that may run what they run; the others, and those whose programs were changed while
/// they ran, have failed.
async fn permitted(
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

/// Runs an async binding to its end and logs what it found as aid.
async fn background(engine: Engine, state: Arc<State>, facts: Arc<Facts>, binding: Arc<Binding>) {
    let started = Instant::now();
    let context = schedule::StageContext {
        facts: facts.clone(),
        state_dir: engine.shared.state_dir.clone(),
        trust: state.trust().clone(),
        deadline: None,
    };
    let clock = &*engine.shared.clock;
    for judged in permitted(&state, vec![binding.clone()], &context).await {
        let (found, error) = match judged.result {
            Ok(found) => (found, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let found = found
            .into_iter()
            .map(|signal| signal.with_intensity(Intensity::Aid))
            .collect();
        let weighed = weigh::weigh(found, &binding, &facts, clock);
        let report = BindingReport {
            outcome: match (&error, weighed.signals.is_empty()) {
                (Some(_), _) => Outcome::Failed,
                (None, true) => Outcome::Accepted,
                (None, false) => Outcome::Signalled,
            },
            duration_us: micros(judged.duration),
            error,
            ..report(&binding)
        };
        let verdict = Verdict {
            decision: Decision::of(&weighed.signals),
            signals: weighed.signals,
            bindings: vec![report],
            duration_us: micros(started.elapsed()),
            ..Verdict::none(facts.event().trigger)
        };
        // The host has its answer: there is nobody left to warn of a log that cannot be written.
        let logged = state.log(&facts, &verdict, 0, clock.now(), None).await;
        logged.ok();
    }
}

fn report(binding: &Binding) -> BindingReport {
    BindingReport {
        id: binding.id.to_string(),
        oracle: binding.oracle_name.to_string(),
        outcome: Outcome::NotRun,
        source: binding.source.to_string(),
        duration_us: 0,
        error: None,
        waived: Vec::new(),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
