//! Bindings whose result is not waited for.

use std::sync::Arc;
use std::time::Instant;

use super::evaluation::{judged_report, micros, permitted};
use super::{Engine, State, adjust, block_on, schedule};
use crate::fact::Facts;
use crate::oracle::OracleError;
use crate::policy::Binding;
use crate::signal::Intensity;
use crate::verdict::{Decision, Verdict};

impl Engine {
    /// Starts a binding whose result is not waited for: by the host program's own way, else on a thread.
    ///
    /// # Errors
    /// It may not run.
    pub(super) fn start_in_background(
        &self,
        state: &Arc<State>,
        facts: &Arc<Facts>,
        binding: &Arc<Binding>,
    ) -> Result<(), OracleError> {
        if let Some(signal) = state.program_changed(binding, facts.event().trigger) {
            return Err(OracleError::CannotTell(signal.payload.said().into_owned()));
        }
        if binding.runs_programs {
            // It is asked again where it runs, which is later.
            state.trusts(binding)?;
        }
        if let Some(start) = &self.shared.background {
            start(facts.event(), &binding.id);
            return Ok(());
        }
        let (engine, state, facts, binding) =
            (self.clone(), state.clone(), facts.clone(), binding.clone());
        let run = move || block_on(run(engine, state, facts, binding));
        // Without a thread the binding is not run; the log then has it as started and never ended.
        std::thread::Builder::new().spawn(run).ok();
        Ok(())
    }
}

/// Runs an async binding, or what another leaves to be done without being waited for, to its end and logs what it found as aid.
pub(super) async fn run(
    engine: Engine,
    state: Arc<State>,
    facts: Arc<Facts>,
    binding: Arc<Binding>,
) {
    let started = Instant::now();
    let context = schedule::StageContext {
        facts: facts.clone(),
        state_dir: engine.shared.state_dir.clone(),
        trust: state.trust().clone(),
        guards: state.guards().clone(),
        deadline: None,
        is_unawaited: false,
    };
    let clock = &*engine.shared.clock;
    let mut all = Vec::new();
    if binding.is_async {
        all = permitted(&state, vec![binding.clone()], &context).await;
    }
    let rest = schedule::StageContext {
        is_unawaited: true,
        ..context
    };
    all.extend(permitted(&state, vec![binding.clone()], &rest).await);
    for judged in all {
        let (found, error) = match judged.result {
            Ok(found) => (found, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let found = found
            .into_iter()
            .map(|signal| signal.with_intensity(Intensity::Aid))
            .collect();
        let adjusted = adjust::adjust_settled(found, &binding, &facts, clock);
        let report = judged_report(&binding, error, judged.duration, &adjusted);
        let verdict = Verdict {
            decision: Decision::of(&adjusted.signals),
            signals: adjusted.signals,
            bindings: vec![report],
            duration_us: micros(started.elapsed()),
            ..Verdict::none(facts.event().trigger)
        };
        // The host has its answer: there is nobody left to warn of a log that cannot be written.
        let logged = state.log(&facts, &verdict, 0, clock.now(), None).await;
        logged.ok();
    }
}
