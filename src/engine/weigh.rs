//! Escalation, waivers and ceilings: what the past and the policy make of a signal (spec §5.3, §7).

use std::sync::Arc;

use uuid::Uuid;

use super::clock::Clock;
use crate::event::Event;
use crate::event::Trigger;
use crate::fact::Facts;
use crate::policy::Binding;
use crate::signal::Action;
use crate::signal::Intensity;
use crate::signal::Origin;
use crate::signal::Severity;
use crate::signal::Signal;
use crate::signal_log::Chain;

/// What became of the signals of one binding.
#[derive(Debug, Default)]
pub(super) struct Weighed {
    pub(super) signals: Vec<Signal>,
    /// The answered signals whose answers held back or changed what was found.
    pub(super) waived: Vec<Uuid>,
}

/// Weighs the signals that one binding gave.
pub(super) fn weigh(
    found: Vec<Signal>,
    binding: &Binding,
    facts: &Arc<Facts>,
    clock: &dyn Clock,
) -> Weighed {
    if found.is_empty() {
        return Weighed::default();
    }
    let event = facts.event();
    let chain = event.subject().map_or_else(Chain::default, |subject| {
        facts.history().chain(event.trigger, &binding.id, subject)
    });
    let ceiling = binding.ceiling.as_ref().and_then(|c| c.of(facts));
    let now = clock.now();
    let mut weighed = Weighed::default();
    for mut signal in found {
        let fingerprint = signal.finding();
        signal = escalate(signal, binding, &chain, event);
        let answered = |action: Action| {
            chain
                .waivers
                .iter()
                .find(|w| w.fingerprint == fingerprint && w.action == action)
        };
        match signal.intensity() {
            Intensity::Prompt => {
                if let Some(waiver) =
                    answered(Action::Acknowledge).or_else(|| answered(Action::Dismiss))
                {
                    weighed.waived.push(waiver.signal_id);
                    continue;
                }
            }
            Intensity::Block if binding.overridable => {
                if let Some(waiver) = answered(Action::ProceedWithRisk) {
                    weighed.waived.push(waiver.signal_id);
                    continue;
                }
            }
            Intensity::Control => {
                if let Some(waiver) = answered(Action::RejectModification) {
                    weighed.waived.push(waiver.signal_id);
                    signal = signal.with_intensity(Intensity::Prompt);
                }
            }
            Intensity::Block | Intensity::Aid => {}
        }
        if let Some(ceiling) = ceiling
            && signal.intensity() > ceiling
        {
            signal = signal.with_intensity(ceiling);
        }
        signal.header.id = clock.new_id();
        signal.header.timestamp = now;
        signal.header.source = binding.oracle_name.to_string();
        signal.header.correlation_id = Some(
            chain
                .correlation_id
                .or_else(|| weighed.signals.first().map(|s| s.header.id))
                .unwrap_or(signal.header.id),
        );
        event.trigger.name().clone_into(&mut signal.context.hook);
        signal.context.issue_id.clone_from(&event.issue_id);
        signal.fingerprint = Some(fingerprint);
        signal.origin = Origin {
            binding: binding.id.to_string(),
            source: binding.source.to_string(),
            overridable: binding.overridable,
        };
        weighed.signals.push(signal);
    }
    weighed
}

/// Makes a repeated violation as strong as the binding's `escalate` says.
fn escalate(signal: Signal, binding: &Binding, chain: &Chain, event: &Event) -> Signal {
    let Some(escalation) = &binding.escalate else {
        return signal;
    };
    // An issue is counted by itself; a session where the binding says so, or where there is no issue.
    if escalation.per_issue && event.issue_id.is_none() && event.session_id.is_none() {
        return signal;
    }
    let tries = usize::try_from(chain.violations).unwrap_or(usize::MAX);
    match escalation
        .steps
        .get(tries)
        .or_else(|| escalation.steps.last())
    {
        Some(&step) => signal.with_intensity(step),
        None => signal,
    }
}

/// Lets a stop through that has been blocked often enough, so that no agent runs for ever.
pub(super) fn limit_stop_blocks(signals: &mut [Signal], facts: &Facts, most: u32) {
    let event = facts.event();
    if event.trigger != Trigger::PreAgentTurnStop {
        return;
    }
    let blocked = signals.iter().any(|s| s.intensity() == Intensity::Block);
    let Some(session) = event.session_id.as_deref().filter(|_| blocked) else {
        return;
    };
    let in_a_row = facts.history().stop_blocks(session);
    if in_a_row < most {
        return;
    }
    for signal in signals {
        if signal.intensity() == Intensity::Block {
            let text = format!(
                "let through after {in_a_row} blocks in a row (max_stop_blocks: {most}), still open: {}",
                signal.payload.text()
            );
            *signal = signal
                .clone()
                .with_intensity(Intensity::Prompt)
                .severity(Severity::High)
                .reason(text);
        }
    }
}
