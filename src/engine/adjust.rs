//! Escalation, waivers and ceilings: what the past and the policy make of a signal (spec §5.3, §7).

use std::sync::Arc;

use uuid::Uuid;

use super::clock::Clock;
use super::names;
use crate::event::{Event, Subagent, Trigger};
use crate::fact::{Fact, FactValue, Facts};
use crate::policy::Binding;
use crate::secret;
use crate::signal::{Action, Intensity, Origin, Severity, Signal, Strength};
use crate::signal_log::{Chain, of_agent};

/// What became of the signals of one binding.
#[derive(Debug, Default)]
pub(super) struct Adjusted {
    pub(super) signals: Vec<Signal>,
    /// The answered signals whose answers held back or changed what was found.
    pub(super) waived: Vec<Uuid>,
}

/// Adds what a condition went by: which arguments, by their names and never their text, and which counts cannot be told.
pub(super) fn name_grounds(binding: &Binding, facts: &Facts, signals: &mut [Signal]) {
    if signals.is_empty() {
        return;
    }
    let mut told = Vec::new();
    if binding.asks(Fact::ToolArgumentsFrom) {
        let past = facts.past();
        told = past.map_or_else(Vec::new, |past| past.told_by_others(facts));
        if told.is_empty() && facts.get(Fact::ToolArgumentsFrom) == FactValue::Unknown {
            let why = "where its arguments come from cannot be told, as not all results were seen";
            told.push(why.to_owned());
        }
    }
    for name in binding.marks() {
        let found = facts.mark(name);
        if found.number().is_none() {
            told.push(format!("`marks.{name}` cannot be told, it is {found}"));
        }
    }
    if told.is_empty() {
        return;
    }
    for signal in signals {
        signal.payload.add_detail(&told.join("; "));
    }
}

/// Adjusts the signals that a binding found by judging.
pub(super) fn adjust(
    found: Vec<Signal>,
    binding: &Binding,
    facts: &Arc<Facts>,
    clock: &dyn Clock,
) -> Adjusted {
    if found.is_empty() {
        return Adjusted::default();
    }
    let event = facts.event();
    let escalation = binding.escalate.as_ref().map(|escalation| {
        let subject = counted_for(event, escalation.per_issue);
        let chain = chain(facts, binding, subject);
        (&escalation.steps, chain, event.object())
    });
    let found = found
        .into_iter()
        .map(|signal| {
            let step = escalation.as_ref().and_then(|(steps, chain, object)| {
                let identities = signal.identities(object.as_deref()).into_iter();
                let violations = identities.map(|identity| chain.violations(&identity));
                let violations = violations.max().unwrap_or(0);
                let tries = usize::try_from(violations).unwrap_or(usize::MAX);
                steps.get(tries).or_else(|| steps.last()).copied()
            });
            let ceiling = binding.ceiling.as_ref();
            let ceiling = ceiling.and_then(|ceiling| ceiling.of(facts, &signal));
            limited(signal, step, ceiling)
        })
        .collect();
    adjust_settled(found, binding, facts, clock)
}

/// Adjusts signals whose strength is settled: of a failure, which `on_error` has spoken about, or of what nobody waits for.
pub(super) fn adjust_settled(
    found: Vec<Signal>,
    binding: &Binding,
    facts: &Arc<Facts>,
    clock: &dyn Clock,
) -> Adjusted {
    if found.is_empty() {
        return Adjusted::default();
    }
    let event = facts.event();
    let chain = chain(facts, binding, event.subject().unwrap_or_default());
    let object = event.object();
    let now = clock.now();
    let mut adjusted = Adjusted::default();
    for mut signal in found {
        let fingerprint = signal.finding();
        let answered = |action: Action| {
            let answers = chain.answers_to(&signal, object.as_deref(), action);
            (!answers.is_empty()).then_some(answers)
        };
        let dismissed = || answered(Action::Acknowledge).or_else(|| answered(Action::Dismiss));
        match signal.intensity() {
            // The log does not tell who answered, and an agent's answer never lifts what is critical.
            _ if signal.severity == Some(Severity::Critical) => {}
            Intensity::Prompt if let Some(answers) = dismissed() => {
                adjusted.waived.extend(answers);
                continue;
            }
            // What was answered as a prompt does not come back as the block that repeating it escalates to.
            Intensity::Block
                if binding.escalate.is_some()
                    && let Some(answers) = dismissed() =>
            {
                adjusted.waived.extend(answers);
                continue;
            }
            Intensity::Block if binding.overridable => {
                if let Some(answers) = answered(Action::ProceedWithRisk) {
                    adjusted.waived.extend(answers);
                    continue;
                }
            }
            Intensity::Control => {
                if let Some(answers) = answered(Action::RejectModification) {
                    adjusted.waived.extend(answers);
                    signal = signal.with_intensity(Intensity::Prompt);
                }
            }
            Intensity::Block | Intensity::Prompt | Intensity::Aid => {}
        }
        // What an oracle quotes reaches hosts, people and files: the one place that they all come from.
        names::keep_on_lines(&mut signal, facts);
        secret::redact_payload(&mut signal.payload);
        signal.header.id = clock.new_id();
        signal.header.timestamp = now;
        signal.header.source = binding.oracle_name.to_string();
        signal.header.correlation_id = Some(
            signal
                .identities(object.as_deref())
                .iter()
                .find_map(|identity| chain.find(identity))
                .map_or(signal.header.id, |found| found.correlation_id),
        );
        event.trigger.name().clone_into(&mut signal.context.hook);
        signal.context.issue_id.clone_from(&event.issue_id);
        signal.fingerprint = Some(fingerprint);
        signal.origin = Origin {
            binding: binding.id.to_string(),
            source: binding.source.to_string(),
            overridable: binding.overridable,
        };
        adjusted.signals.push(signal);
    }
    adjusted
}

/// Whether somebody was told in this session (or for this issue) that a binding could not judge for this reason.
pub(super) fn was_told(binding: &Binding, facts: &Facts, identity: &str) -> bool {
    let subject = facts.event().subject().unwrap_or_default();
    chain(facts, binding, subject).find(identity).is_some()
}

fn chain(facts: &Facts, binding: &Binding, subject: &str) -> Chain {
    let trigger = facts.event().trigger;
    facts.history().chain(trigger, &binding.id, subject)
}

/// Returns for whom repeated violations are counted; an event of neither issue nor session counts for the project.
fn counted_for(event: &Event, per_issue: bool) -> &str {
    let (issue, session) = (event.issue_id.as_deref(), event.session_id.as_deref());
    let subject = if per_issue {
        issue.or(session)
    } else {
        session.or(issue)
    };
    subject.unwrap_or_default()
}

/// Makes a signal as strong as a step of `escalate` says, and no stronger than the ceiling. What is critical is asked
/// about at least, if its oracle would stop it.
fn limited(signal: Signal, step: Option<Strength>, ceiling: Option<Strength>) -> Signal {
    let given = signal.strength();
    let wanted = step.unwrap_or(given);
    let strength = match ceiling {
        // Nothing can become a control: there would be nothing to change.
        Some(Strength::Control) if wanted >= Strength::Control && given != Strength::Control => {
            Strength::Prompt
        }
        Some(ceiling) => wanted.min(ceiling),
        None => wanted,
    };
    let least = match signal.severity {
        Some(Severity::Critical) => given.min(Strength::Ask),
        _ => Strength::Aid,
    };
    signal.with_strength(strength.max(least))
}

/// Lets a stop through that has been blocked often enough, so that no agent runs for ever.
pub(super) fn limit_stop_blocks(signals: &mut [Signal], facts: &Facts, most: u32) {
    let event = facts.event();
    if !event.trigger.is_stop() {
        return;
    }
    if !signals.iter().any(|s| s.intensity() == Intensity::Block) {
        return;
    }
    let history = facts.history();
    // Those of no session count for the project.
    let session = event.session_id.as_deref().unwrap_or_default();
    let agent = event.subagent.as_ref().and_then(Subagent::own_name);
    let in_a_row = match (event.trigger, agent) {
        (Trigger::PreAgentTurnStop, _) => history.stop_blocks(session),
        (trigger, Some(agent)) if !session.is_empty() => {
            history.stopped(trigger, &of_agent(session, agent))
        }
        (trigger, _) => history.stopped(trigger, session),
    };
    if in_a_row < most {
        return;
    }
    let why = format!("after {in_a_row} blocks in a row (max_stop_blocks: {most})");
    let_through(signals, &why);
}

/// Lets a stop through that comes after a block, where no log is there to count the blocks.
pub(super) fn limit_uncounted_stop_blocks(signals: &mut [Signal], event: &Event) {
    let is_again = event.stop.as_ref().is_some_and(|stop| stop.active);
    if event.trigger.is_stop() && is_again {
        let_through(signals, "after a block, since no log counts them");
    }
}

fn let_through(signals: &mut [Signal], why: &str) {
    for signal in signals {
        if signal.intensity() == Intensity::Block {
            let text = format!("let through {why}, still open: {}", signal.payload.text());
            *signal = signal
                .clone()
                .with_intensity(Intensity::Prompt)
                .severity(Severity::High)
                .reason(text);
        }
    }
}
