//! Engine: event in, verdict out; the library's main call.

mod adjust;
mod background;
mod builder;
mod clock;
mod derive;
mod evaluation;
mod failure;
mod found;
mod given;
mod hook_places;
mod lookup;
mod modify;
mod names;
mod origins;
mod past;
mod places;
mod prepared;
mod pushed;
mod schedule;
mod signed;
mod state;

pub use self::builder::EngineBuilder;
pub use self::clock::{Clock, FixedClock, SystemClock};
pub use self::found::Found;
pub use self::given::{Background, EngineError, MakeWorkspace};
pub use self::past::{Keeper, MarkNow, Memory};
pub use self::places::log_place;
pub use self::prepared::Prepared;
pub use self::schedule::block_on;
pub use self::state::State;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use self::evaluation::{Evaluation, micros};
use self::given::Origin;
use self::past::EventPast;
use crate::config::{Approved, Config, Environment, Locations, Override};
use crate::event::Event;
use crate::fact::{Facts, FactsSeed};
use crate::policy::Selection;
use crate::session::Going;
use crate::signal::{Action, Actor, Response, Signal};
use crate::signal_log::{Answer, RespondError, respond};
use crate::verdict::{Decision, Verdict};

/// Evaluates events against the policy of one project.
///
/// Cheap to clone, and usable from many tasks and threads at once. It never prints, never exits and has no
/// global state.
///
/// ```
/// use ahp::Decision;
/// use ahp::Engine;
/// use ahp::Event;
/// use ahp::serde_json::json;
///
/// # fn main() -> Result<(), ahp::EngineError> {
/// let engine = Engine::builder()
///     .policy_text("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}")
///     .build()?;
/// let event = Event::tool_use("Bash", json!({"command": "git status"}));
/// let verdict = ahp::block_on(engine.evaluate(event));
/// assert_eq!(verdict.decision, Decision::None);
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

/// An event that was judged, and of which nobody has noted yet what came of it.
struct Judged {
    facts: Arc<Facts>,
    verdict: Verdict,
}

impl Judged {
    /// Notes what came of the event; whether what it brought along was stopped, so that it does not happen either.
    fn settled(self, is_stopped: bool) -> Verdict {
        if let Some(past) = self.facts.past() {
            let going = going(self.verdict.decision);
            past.settle(&self.facts, going.filter(|_| !is_stopped));
        }
        self.verdict
    }
}

/// Returns how far an event comes that was decided upon; none where it was stopped.
const fn going(decision: Decision) -> Option<Going> {
    match decision {
        Decision::None | Decision::Allow => Some(Going::Gone),
        Decision::Ask => Some(Going::Asked),
        Decision::Block => None,
    }
}

impl Engine {
    /// Begins to make an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Makes the engine of the project around a directory: its layers, its trust and its log, as `ahp hook` has them.
    ///
    /// It reads `HOME`, `AHP_HOME` and the other variables of `docs/configuration.md` from the environment.
    ///
    /// # Errors
    /// None today: a policy with faults makes an engine that blocks, and says why.
    pub fn for_project(dir: impl AsRef<Path>) -> Result<Self, EngineError> {
        let locations = Locations::find(&Environment::of_process(), Some(dir.as_ref()));
        let engine = Self::builder().locations(locations).build()?;
        engine.keep_first(&engine.state());
        Ok(engine)
    }

    #[doc(hidden)]
    /// Keeps what the first event of a project finds of its policy, as far as it has no faults.
    pub fn keep_first(&self, state: &State) {
        let Origin::Files(locations) = &self.shared.origin else {
            return;
        };
        if !state.knows_first_kept() && !Approved::is_first_kept(locations) {
            Config::keep_first(locations, &state.faulty_files(), !state.held().is_empty());
        }
    }

    /// Answers a signal of the project's log, as the agent: by the signal's id, four or more digits of it, or `last`, which
    /// means all that are open of the newest verdict.
    ///
    /// # Errors
    /// There is no log, no such signal, or the action does not answer signals of that intensity.
    pub fn respond(
        &self,
        signal: &str,
        action: Action,
        details: Map<String, Value>,
    ) -> Result<Vec<Response>, RespondError> {
        let state = self.state();
        let log = state.signal_log().ok_or(RespondError::Nothing)?;
        let answer = Answer {
            action,
            details,
            by: Actor::Agent,
        };
        let records = respond(log, signal, answer, self.shared.clock.now())?;
        Ok(records.into_iter().map(|record| record.response).collect())
    }

    /// Returns the policy in force, read again if a file that it came from has changed.
    pub fn state(&self) -> Arc<State> {
        self.shared.state()
    }

    /// Evaluates an event.
    ///
    /// The future is `Send`. Inside a tokio runtime it never blocks its thread for long; outside one it may be
    /// driven by [`block_on`].
    ///
    /// # Panics
    /// Inside a tokio runtime that was built without its clock (`enable_time`), where an oracle must be waited for: without
    /// one no timeout can be kept.
    pub fn evaluate(&self, event: Event) -> impl Future<Output = Verdict> + Send {
        self.evaluate_until(event, None)
    }

    #[doc(hidden)]
    /// Evaluates an event and answers before `deadline`: what has not judged by then has failed by timeout.
    pub async fn evaluate_until(&self, event: Event, deadline: Option<Instant>) -> Verdict {
        let state = self.state();
        let event = Arc::new(event);
        let facts = self.facts(&state, event);
        let judged = self
            .judge(&state, facts, Vec::new(), deadline, &Found::default())
            .await;
        judged.settled(false)
    }

    /// Evaluates an event and the issue events that its command line brings with it: `monoco issue submit` inside
    /// a shell tool fires `pre-issue-submit` too. After a stop the later ones are not evaluated.
    pub async fn evaluate_all(&self, event: Event, deadline: Option<Instant>) -> Vec<Evaluated> {
        self.prepare(self.state(), event).evaluate(deadline).await
    }

    #[doc(hidden)]
    /// Evaluates an event whose command skips hooks by a flag, which is itself answered by `settings.bypass`.
    pub async fn evaluate_bypassed(&self, event: Event, flag: &str) -> Verdict {
        let state = self.state();
        let extra = vec![derive::bypass_signal(
            flag,
            state.policy().settings().bypass,
            &event,
        )];
        let facts = self.facts(&state, Arc::new(event));
        let judged = self
            .judge(&state, facts, extra, None, &Found::default())
            .await;
        judged.settled(false)
    }

    #[doc(hidden)]
    /// Evaluates an event of which a program that calls the engine knows something itself: `told` stands before what the policy
    /// finds, and is logged with it under the name `source`.
    pub async fn evaluate_told(&self, event: Event, told: Vec<Signal>, source: &str) -> Verdict {
        let state = self.state();
        let facts = self.facts(&state, Arc::new(event));
        let found = Found::default();
        let judged = self
            .judge_told(&state, facts, (told, source, source), None, &found)
            .await;
        judged.settled(false)
    }

    #[doc(hidden)]
    /// Has marks count an event that nobody judges: one of the past, of which it is known that it happened.
    pub fn note(&self, event: Event) {
        let facts = self.facts(&self.state(), Arc::new(event));
        if let Some(past) = facts.past() {
            past.begin(&facts);
            past.settle(&facts, Some(Going::Gone));
        }
    }

    #[doc(hidden)]
    /// Forgets what marks have counted in this process: some of what happened cannot be told any more.
    pub fn lose_past(&self) {
        self.shared.keeper.lose();
    }

    #[doc(hidden)]
    /// Takes it that a result was not read, of a session or of one that cannot be told, where something asks where words
    /// come from.
    ///
    /// # Errors
    /// That cannot be noted.
    pub fn lose_result(&self, session: Option<&str>) -> std::io::Result<()> {
        if self.state().policy().asks_origins() {
            self.shared.keeper.lose_origins(session)?;
        }
        Ok(())
    }

    #[doc(hidden)]
    /// Returns what each mark is now, for an event that asks.
    pub fn marks_at(&self, event: Event) -> Vec<MarkNow> {
        let state = self.state();
        let facts = self.facts(&state, Arc::new(event));
        let marks = state.policy().marks().iter();
        marks.map(|mark| MarkNow::of(mark, &facts)).collect()
    }

    #[doc(hidden)]
    /// Evaluates one binding alone, and logs what it finds as aid: the work of an `async: true` binding, and
    /// what another leaves to be done.
    pub async fn evaluate_in_background(&self, event: Event, binding_id: &str) {
        let state = self.state();
        let event = Arc::new(event);
        let facts = self.facts(&state, event.clone());
        let binding = Self::bindings(&state, &facts)
            .selected
            .into_iter()
            .find(|binding| &*binding.id == binding_id);
        if let Some(binding) = binding {
            background::run(self.clone(), state, facts, binding).await;
        }
    }

    #[doc(hidden)]
    /// Makes the facts of an event.
    pub fn facts(&self, state: &State, event: Arc<Event>) -> Arc<Facts> {
        let event = pushed::with_force(event, |event| self.shared.workspace(state, event));
        let policy = state.policy();
        if policy.marks().is_empty() && !policy.asks_age() && !policy.asks_origins() {
            return Arc::new(self.facts_alone(state, event));
        }
        let clock = &self.shared.clock;
        let told = event.timestamp.filter(|_| self.shared.by_event_time);
        let past = EventPast::new(
            policy.marks().clone(),
            policy.asks_age(),
            (policy.asks_origins()).then(|| policy.settings().provenance.clone()),
            self.shared.keeper.clone(),
            clock.clone(),
            told.unwrap_or_else(|| clock.now()),
        );
        Arc::new(self.facts_alone(state, event).with_past(Arc::new(past)))
    }

    /// Makes the facts of an event as a control has left it: what happened before is what it was.
    fn facts_again(&self, state: &State, event: Arc<Event>, before: &Facts) -> Arc<Facts> {
        let facts = self.facts_alone(state, event);
        Arc::new(match before.past() {
            Some(past) => facts.with_past(past.clone()),
            None => facts,
        })
    }

    /// Makes the facts of an event without what happened before.
    fn facts_alone(&self, state: &State, event: Arc<Event>) -> Facts {
        let shared = &self.shared;
        let event = names::bounded(event);
        let settings = state.policy().settings();
        Facts::new(FactsSeed {
            environment: event
                .environment
                .clone()
                .or_else(|| settings.environment.clone())
                .or_else(|| {
                    let is_free = !settings.forbid.contains(&Override::Env);
                    shared.environment.clone().filter(|_| is_free)
                })
                .unwrap_or_else(|| "development".to_owned()),
            time: event.timestamp.unwrap_or_else(|| shared.clock.now()),
            home: shared.home.clone(),
            trusted_hosts: [&*settings.trusted_hosts, &*settings.project_hosts].concat(),
            workspace: shared.workspace(state, &event),
            history: state.history(),
            event,
        })
    }

    /// Returns the bindings that an event is to meet.
    fn bindings(state: &State, facts: &Facts) -> Selection {
        let policy = state
            .policy()
            .trigger(facts.event().trigger, state.lookup());
        policy
            .map(|policy| policy.select(facts))
            .unwrap_or_default()
    }

    async fn judge(
        &self,
        state: &Arc<State>,
        facts: Arc<Facts>,
        bypass: Vec<Signal>,
        deadline: Option<Instant>,
        found: &Found,
    ) -> Judged {
        let extra = (bypass, "bypass", "settings.bypass");
        self.judge_told(state, facts, extra, deadline, found).await
    }

    async fn judge_told(
        &self,
        state: &Arc<State>,
        facts: Arc<Facts>,
        (extra, name, source): (Vec<Signal>, &str, &str),
        deadline: Option<Instant>,
        found: &Found,
    ) -> Judged {
        let started = Instant::now();
        let trigger = facts.event().trigger;
        if let Some(past) = facts.past() {
            past.begin(&facts);
        }
        let selection = Self::bindings(state, &facts);
        let own = state.own_signals(&facts);
        let lost = facts
            .past()
            .and_then(|past| state::lost_past(&facts, &**past));
        let mut evaluation = Evaluation::new(self, state, facts, selection, deadline, found);
        evaluation.add_faults();
        for (name, signal) in own {
            evaluation.add_extra(vec![signal], name, "configuration");
        }
        evaluation.add_extra(extra, name, source);
        evaluation.add_extra(lost.into_iter().collect(), "session-state", "sessions");
        evaluation.add_extra(state.invalid_hooks(trigger), "hook-md", ".agents/hooks");
        evaluation.run().await;
        let (mut verdict, facts, skipped) = evaluation.verdict();
        if let Some(past) = facts.past() {
            verdict.marks = past.record(&facts, going(verdict.decision));
        }
        let verdict = self
            .finish(state, &facts, verdict, skipped, started, deadline)
            .await;
        Judged { facts, verdict }
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
                adjust::limit_uncounted_stop_blocks(
                    std::slice::from_mut(&mut signal),
                    facts.event(),
                );
                verdict.signals.push(signal);
                verdict.decision = Decision::of(&verdict.signals);
            }
            Err(failure) => verdict.warnings.push(failure),
        }
        verdict
    }
}
