//! Prepared: an event whose facts are made and whose bindings are known, on the way to its verdicts.

use std::sync::Arc;
use std::time::Instant;

use super::derive::Derived;
use super::{Engine, Evaluated, Found, State, derive};
use crate::event::Event;
use crate::fact::Facts;
use crate::signal::Signal;
use crate::verdict::Decision;

/// An event that is about to be evaluated, with the issue events that its command line brings along.
#[derive(Debug)]
pub struct Prepared {
    engine: Engine,
    state: Arc<State>,
    facts: Arc<Facts>,
    derived: Vec<Derived>,
    found: Found,
}

impl Engine {
    /// Prepares an event and the issue events that its command line brings with it: `monoco issue submit` inside a
    /// shell tool fires `pre-issue-submit` too.
    ///
    /// The policy is given, as [`Self::state`] returns it, because every call of that looks at all its files again.
    pub fn prepare(&self, state: Arc<State>, event: Event) -> Prepared {
        let facts = self.facts(&state, Arc::new(event));
        Prepared {
            engine: self.clone(),
            derived: derive::issue_events(&facts),
            facts,
            state,
            found: Found::default(),
        }
    }
}

impl Prepared {
    /// Whether the evaluation only computes: no program is run, no thread is started, and nothing is read but what is
    /// `ahp`'s own. A caller that must answer in time then need not evaluate on a thread that it can give up.
    pub fn only_computes(&self) -> bool {
        self.derived.is_empty() && self.state.only_computes(&self.facts)
    }

    /// Whether it may be of the past: no program is run, and nothing is asked for that was another then.
    pub fn can_judge_the_past(&self) -> bool {
        self.derived.is_empty() && self.state.can_judge_the_past(&self.facts)
    }

    /// Returns what the evaluation will have found, to be looked at by whoever stops waiting for it.
    pub fn found(&self) -> Found {
        self.found.clone()
    }

    /// Evaluates the event, then those that it brings along; after a stop the later ones are not evaluated.
    pub async fn evaluate(self, deadline: Option<Instant>) -> Vec<Evaluated> {
        let Self {
            engine,
            state,
            facts,
            derived,
            found,
        } = self;
        let event = facts.shared_event();
        let judged = engine
            .judge(&state, facts, Vec::new(), deadline, &found)
            .await;
        let mut stopped = judged.verdict.decision == Decision::Block;
        let mut all = vec![(event, judged)];
        for issue in derived {
            if stopped {
                break;
            }
            let event = Arc::new(issue.event);
            let extra: Vec<Signal> = issue
                .bypass
                .iter()
                .filter(|_| event.trigger.is_pre())
                .map(|flag| derive::bypass_signal(flag, state.policy().settings().bypass, &event))
                .collect();
            let facts = engine.facts(&state, event.clone());
            let judged = engine.judge(&state, facts, extra, deadline, &found).await;
            stopped = judged.verdict.decision == Decision::Block;
            all.push((event, judged));
        }
        // What is stopped for one of them does not happen at all.
        all.into_iter()
            .map(|(event, judged)| Evaluated {
                event,
                verdict: judged.settled(stopped),
            })
            .collect()
    }
}
