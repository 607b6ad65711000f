//! Engine: event in, verdict out; the library's main call.

mod adjust;
mod background;
mod builder;
mod clock;
mod derive;
mod evaluation;
mod failure;
mod found;
mod lookup;
mod modify;
mod origins;
mod prepared;
mod schedule;
mod state;

pub use self::builder::Background;
pub use self::builder::EngineBuilder;
pub use self::builder::MakeWorkspace;
pub use self::clock::Clock;
pub use self::clock::FixedClock;
pub use self::clock::SystemClock;
pub use self::found::Found;
pub use self::prepared::Prepared;
pub use self::schedule::block_on;
pub use self::state::EngineError;
pub use self::state::State;
pub use self::state::log_path;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Map;
use serde_json::Value;

use self::evaluation::Evaluation;
use self::evaluation::micros;
use crate::config::Environment;
use crate::config::Locations;
use crate::config::Override;
use crate::event::Event;
use crate::fact::Facts;
use crate::fact::FactsSeed;
use crate::policy::Selection;
use crate::signal::Action;
use crate::signal::Actor;
use crate::signal::Response;
use crate::signal::Signal;
use crate::signal_log::Answer;
use crate::signal_log::RespondError;
use crate::signal_log::respond;
use crate::verdict::Decision;
use crate::verdict::Verdict;

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
        Self::builder().locations(locations).build()
    }

    /// Answers a signal of the project's log, as the agent: by the signal's id, four or more digits of it, or `last`.
    ///
    /// # Errors
    /// There is no log, no such signal, or the action does not answer signals of that intensity.
    pub fn respond(
        &self,
        signal: &str,
        action: Action,
        details: Map<String, Value>,
    ) -> Result<Response, RespondError> {
        let state = self.state();
        let log = state.signal_log().ok_or(RespondError::Nothing)?;
        let answer = Answer {
            action,
            details,
            by: Actor::Agent,
        };
        let record = respond(log, signal, answer, self.shared.clock.now())?;
        Ok(record.response)
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
        self.judge(&state, facts, Vec::new(), deadline, &Found::default())
            .await
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
        self.judge(&state, facts, extra, None, &Found::default())
            .await
    }

    #[doc(hidden)]
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
            background::run(self.clone(), state, facts, binding).await;
        }
    }

    #[doc(hidden)]
    /// Makes the facts of an event.
    pub fn facts(&self, state: &State, event: Arc<Event>) -> Arc<Facts> {
        let shared = &self.shared;
        let settings = state.policy().settings();
        Arc::new(Facts::new(FactsSeed {
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
            workspace: shared.workspace(state),
            history: state.history(),
            event,
        }))
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
        extra: Vec<Signal>,
        deadline: Option<Instant>,
        found: &Found,
    ) -> Verdict {
        let started = Instant::now();
        let trigger = facts.event().trigger;
        let selection = Self::bindings(state, &facts);
        let own = state.own_signals(&facts);
        let mut evaluation = Evaluation::new(self, state, facts, selection, deadline, found);
        evaluation.add_faults();
        for (name, signal) in own {
            evaluation.add_extra(vec![signal], name, "configuration");
        }
        evaluation.add_extra(extra, "bypass", "settings.bypass");
        evaluation.add_extra(state.invalid_hooks(trigger), "hook-md", ".agents/hooks");
        evaluation.run().await;
        let (verdict, facts, skipped) = evaluation.verdict();
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
