//! Oracles that misbehave: a thousand in one stage, and some that never end.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ahp::engine::{Engine, block_on};
use ahp::event::{Event, Trigger};
use ahp::oracle::{HookContext, Mode, Oracle, OracleError};
use ahp::signal::Signal;
use ahp::verdict::{BindingReport, Decision, Outcome, Verdict};
use async_trait::async_trait;

/// How an oracle misbehaves.
#[derive(Debug)]
enum Fault {
    None,
    Panics,
    PanicsWithoutText,
    Fails,
    /// A loop that gives nobody else a turn, until the test is over.
    Loops(Arc<AtomicBool>),
    /// A future that is never ready.
    Hangs,
}

#[derive(Debug)]
struct Faulty(Fault, Mode);

#[async_trait]
impl Oracle for Faulty {
    async fn evaluate(&self, _: &HookContext) -> Result<Vec<Signal>, OracleError> {
        match &self.0 {
            Fault::None => Ok(Vec::new()),
            Fault::Panics => panic!("out of order"),
            Fault::PanicsWithoutText => std::panic::panic_any(7_u8),
            Fault::Fails => Err(OracleError::failed("no answer")),
            Fault::Loops(end) => {
                while !end.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                Ok(Vec::new())
            }
            Fault::Hangs => std::future::pending().await,
        }
    }

    fn mode(&self) -> Mode {
        self.1
    }
}

/// Evaluates an event with one binding of each oracle in one stage.
fn evaluate(oracles: Vec<(String, Faulty)>, options: &str) -> Verdict {
    let mut policy = "hooks:\n  pre-agent-turn:\n".to_owned();
    for (name, _) in &oracles {
        writeln!(policy, "    - {{oracle: {name}, timeout: 300ms{options}}}").unwrap();
    }
    let mut engine = Engine::builder().policy_text(policy);
    for (name, oracle) in oracles {
        engine = engine.oracle(&name, Arc::new(oracle));
    }
    let engine = engine.build().unwrap();
    block_on(engine.evaluate(Event::new(Trigger::PreAgentTurn)))
}

fn of(fault: Fault, mode: Mode) -> Vec<(String, Faulty)> {
    vec![("faulty".to_owned(), Faulty(fault, mode))]
}

#[test]
fn each_fault_gives_what_on_error_says_within_its_time() {
    for mode in [Mode::Inline, Mode::Threaded] {
        for on_error in ["allow", "prompt", "block"] {
            for fault in [Fault::Panics, Fault::PanicsWithoutText, Fault::Fails] {
                let name = format!("{fault:?}");
                let verdict = evaluate(of(fault, mode), &format!(", on_error: {on_error}"));
                let expected = match on_error {
                    "block" => Decision::Block,
                    "prompt" => Decision::Allow,
                    _ => Decision::None,
                };
                assert_eq!(verdict.decision, expected, "{name} {mode:?} {on_error}");
                assert_eq!(verdict.bindings[0].outcome, Outcome::Failed);
                assert!(verdict.bindings[0].error.is_some());
            }
        }
    }
}

#[test]
fn what_never_ends_is_given_up_at_its_timeout() {
    for loops in [true, false] {
        // Again where something else on the machine may have taken the time.
        let took = (0..5).map(|_| {
            let end = Arc::new(AtomicBool::new(false));
            let fault = if loops {
                Fault::Loops(end.clone())
            } else {
                Fault::Hangs
            };
            let verdict = evaluate(of(fault, Mode::Threaded), ", on_error: block");
            end.store(true, Ordering::Relaxed);
            assert_eq!(verdict.decision, Decision::Block);
            Duration::from_micros(verdict.duration_us)
        });
        let in_time = |took: &Duration| *took < Duration::from_millis(400);
        assert!(
            took.into_iter().any(|took| in_time(&took)),
            "loops: {loops}"
        );
    }
}

#[test]
fn a_stage_of_a_thousand_waits_for_none_longer_than_its_timeout() {
    let end = Arc::new(AtomicBool::new(false));
    let mut oracles: Vec<_> = (0..1000)
        .map(|n| {
            let fault = match n % 100 {
                7 => Fault::Panics,
                8 => Fault::Fails,
                _ => Fault::None,
            };
            (format!("oracle-{n}"), Faulty(fault, Mode::Inline))
        })
        .collect();
    oracles[500].1 = Faulty(Fault::Loops(end.clone()), Mode::Threaded);
    oracles[501].1 = Faulty(Fault::Hangs, Mode::Threaded);
    let verdict = evaluate(oracles, "");
    end.store(true, Ordering::Relaxed);
    assert_eq!(verdict.bindings.len(), 1000);
    let failed = |b: &&BindingReport| b.outcome == Outcome::Failed;
    assert_eq!(verdict.bindings.iter().filter(failed).count(), 22);
    // The thousand are judged in that time too, without optimisation.
    let took = Duration::from_micros(verdict.duration_us);
    assert!(took < Duration::from_millis(1500), "{took:?}");
}
