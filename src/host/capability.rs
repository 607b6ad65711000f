//! Capability: the one table of what becomes of an answer that a host cannot carry, and its application.

use std::fmt;

use serde_json::{Map, Value};

use crate::event::Event;
use crate::message;
use crate::signal::{Intensity, Payload, Signal};
use crate::verdict::{Decision, Verdict};
use crate::visible::visible;

use super::{Host, HostEvent, HostResponse, Objection, Rewrite};

/// How much of the warnings is told, in characters.
const WARNING: usize = 2_000;

/// What a verdict wishes of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// That the operation does not go on.
    Block,
    /// That the person is asked.
    Ask,
    /// That the tool's input is changed.
    Rewrite,
    /// That the agent is told something.
    Say,
}

/// How a wish is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// In the host's own form.
    AsIs,
    /// By a block whose words say what is wanted.
    Block,
    /// By words in the agent's context.
    Context,
    /// By words that are kept for the next event of the session that can carry them.
    Queue,
    /// By words to the person.
    Notice,
    /// In the signal log alone.
    Log,
}

/// What becomes of each wish: the first fallback of the list that the host's event offers.
///
/// A wish to stop is never turned into silence where words are possible, and a change of input that cannot be made
/// is never turned into "go on unchanged" where a block is possible.
pub static RULES: [(Wish, &[Fallback]); 4] = [
    (
        Wish::Block,
        &[
            Fallback::AsIs,
            Fallback::Context,
            Fallback::Queue,
            Fallback::Notice,
            Fallback::Log,
        ],
    ),
    (
        Wish::Ask,
        &[
            Fallback::AsIs,
            Fallback::Block,
            Fallback::Context,
            Fallback::Queue,
            Fallback::Notice,
            Fallback::Log,
        ],
    ),
    (
        Wish::Rewrite,
        &[
            Fallback::AsIs,
            Fallback::Block,
            Fallback::Context,
            Fallback::Queue,
            Fallback::Notice,
            Fallback::Log,
        ],
    ),
    (
        Wish::Say,
        &[
            Fallback::AsIs,
            Fallback::Queue,
            Fallback::Notice,
            Fallback::Log,
        ],
    ),
];

impl Wish {
    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Ask => "ask",
            Self::Rewrite => "rewrite",
            Self::Say => "say",
        }
    }
}

impl Fallback {
    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsIs => "as is",
            Self::Block => "block with words",
            Self::Context => "context",
            Self::Queue => "queued",
            Self::Notice => "shown to the person",
            Self::Log => "log only",
        }
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Host {
    /// Returns what becomes of a wish at one of the host's events.
    pub fn fallback(&self, wish: Wish, host_event: &HostEvent) -> Fallback {
        // The person is being asked already, and what there is to say was said before the call.
        if host_event.is_permission && wish != Wish::Block {
            return Fallback::Log;
        }
        let ladder = RULES
            .iter()
            .find(|(of, _)| *of == wish)
            .map_or(&[][..], |(_, ladder)| ladder);
        let offered = |fallback: &Fallback| match fallback {
            Fallback::AsIs => match wish {
                Wish::Block => host_event.block,
                Wish::Ask => host_event.ask,
                Wish::Rewrite => host_event.rewrite != Rewrite::No,
                Wish::Say => host_event.context,
            },
            Fallback::Block => host_event.block,
            Fallback::Context => host_event.context,
            Fallback::Queue => self.hears_later(),
            Fallback::Notice => host_event.notice,
            Fallback::Log => true,
        };
        ladder
            .iter()
            .copied()
            .find(offered)
            .unwrap_or(Fallback::Log)
    }

    /// Returns what becomes of a change that cannot be made: where the event takes a changed input, only not this change, it is as
    /// if it took none.
    fn instead_of_change(&self, host_event: &HostEvent) -> Fallback {
        match self.fallback(Wish::Rewrite, host_event) {
            Fallback::AsIs if host_event.block => Fallback::Block,
            Fallback::AsIs => Fallback::Context,
            fallback => fallback,
        }
    }

    /// Whether words can reach the agent at any of the host's events.
    fn hears_later(&self) -> bool {
        self.events.iter().any(|m| m.context || m.block)
    }

    /// Reduces a verdict to what the host can carry at this event.
    ///
    /// `waiting` are the words that earlier events could not carry; [`Plan::delivers`] says whether they go out now.
    pub fn plan<'a>(
        &self,
        host_event: &'a HostEvent,
        event: &'a str,
        events: &[Event],
        verdict: &'a Verdict,
        waiting: &[String],
    ) -> Plan<'a> {
        let limit = self.text_limit;
        let mut plan = Plan {
            response: HostResponse::nothing(host_event, event, verdict),
            queue: None,
            delivers: false,
        };
        let mut words = message::for_agent(verdict, limit);
        if host_event.notice {
            let told = message::to_person_alone(verdict, limit);
            plan.response.notice = (!told.is_empty()).then(|| told.join("\n"));
        }
        // An agent that a gate sends back to its work goes on, whoever would rather end it.
        let holds_on = verdict.stops() && host_event.is_stop();
        if host_event.ends_run && !holds_on {
            plan.response.ends = message::end_of_run(verdict, limit);
        }
        let mut stop = match verdict.decision {
            Decision::Block => Some(self.fallback(Wish::Block, host_event)),
            Decision::Ask => Some(self.fallback(Wish::Ask, host_event)),
            Decision::Allow | Decision::None => {
                let is_lost =
                    !host_event.gets_verdict && host_event.gates() && changes_parameters(verdict);
                is_lost.then(|| {
                    words = format!(
                        "Not run: it must be done otherwise, and only you can change that.\n{words}"
                    );
                    self.instead_of_change(host_event)
                })
            }
        };
        let mut asks = verdict.decision == Decision::Ask && stop == Some(Fallback::AsIs);
        if verdict.decision == Decision::Ask && stop == Some(Fallback::Block) {
            words.push_str("\nAsk the person, respond as they say, then try again.");
        }
        // A question carries the change along; a block makes it pointless.
        if let Some(wanted) = verdict
            .modified_input
            .as_ref()
            .filter(|_| stop.is_none() || asks)
        {
            plan.response.input = changed_input(host_event, events, wanted);
            if plan.response.input.is_none() {
                words = format!(
                    "Not run: its input must be another.\n{words}\nCall the tool again with this input: {}",
                    visible(&wanted.to_string())
                );
                asks = false;
                stop = Some(self.instead_of_change(host_event));
            }
        }
        let fallback = match stop {
            Some(Fallback::AsIs | Fallback::Block) => {
                let mut agent = if words.trim().is_empty() {
                    format!("blocked by the policy at {}", verdict.trigger)
                } else {
                    words
                };
                plan.delivers = !waiting.is_empty();
                append(&mut agent, waiting);
                let mut person = message::for_person(verdict);
                if person.is_empty() {
                    person = message::cut(&agent, 300);
                }
                // An objection is the one thing that every host shows: what is amiss is said with it.
                for text in [&mut agent, &mut person] {
                    append(text, warning(&verdict.warnings).as_slice());
                }
                plan.response.objection = Some(Objection {
                    person,
                    agent: message::cut(&agent, limit),
                    ask: asks,
                });
                return plan;
            }
            Some(fallback) => fallback,
            None if words.is_empty() => Fallback::Log,
            None => match self.fallback(Wish::Say, host_event) {
                Fallback::AsIs => Fallback::Context,
                fallback => fallback,
            },
        };
        if host_event.context {
            let mut text = String::new();
            append(&mut text, waiting);
            plan.delivers = !waiting.is_empty();
            if fallback == Fallback::Context {
                append(&mut text, &[words]);
            }
            if !text.is_empty() {
                plan.response.context = Some(message::cut(&text, limit));
            }
        } else if fallback == Fallback::Queue {
            let later = message::for_later(verdict, limit);
            plan.queue = (!later.is_empty()).then_some(later);
        }
        // A warning that reaches the agent alone would leave the person in the dark.
        let warned = verdict.signals.iter().any(warns);
        if host_event.notice && (fallback == Fallback::Notice || warned) {
            let mut text = message::for_person(verdict);
            append(&mut text, plan.response.notice.as_slice());
            plan.response.notice = Some(text);
        }
        warn(&mut plan, waiting, &verdict.warnings, limit);
        plan
    }
}

/// Adds what a person should know and no signal says; where she cannot be told, the agent is, now or at a later event.
fn warn(plan: &mut Plan<'_>, waiting: &[String], warnings: &[String], limit: usize) {
    let Some(words) = warning(warnings) else {
        return;
    };
    // What waits is said with this or a later reply: once is enough, however many calls come before it can be.
    if !plan.response.host_event.notice && waiting.iter().any(|text| text.contains(&words)) {
        return;
    }
    let place = if plan.response.host_event.notice {
        &mut plan.response.notice
    } else if plan.response.host_event.context {
        &mut plan.response.context
    } else {
        &mut plan.queue
    };
    let mut text = place.take().unwrap_or_default();
    append(&mut text, &[words]);
    *place = Some(message::cut(&text, limit));
}

fn warning(warnings: &[String]) -> Option<String> {
    (!warnings.is_empty()).then(|| {
        let words = format!("ahp: warning: {}", warnings.join("; "));
        message::cut(&message::shown(&words), WARNING)
    })
}

/// What goes out now, and what is kept.
#[derive(Debug)]
pub struct Plan<'a> {
    /// What is said.
    pub response: HostResponse<'a>,
    /// Words to keep for a later event of the session.
    pub queue: Option<String>,
    /// Whether the waiting words go out with this reply.
    pub delivers: bool,
}

/// Whether a verdict changes what is no part of a tool's input, such as into how many batches a change is split.
fn changes_parameters(verdict: &Verdict) -> bool {
    verdict.signals.iter().any(|signal| match &signal.payload {
        Payload::Control(control) => control.modifications.iter().any(|m| !m.is_of_input()),
        _ => false,
    })
}

fn warns(signal: &Signal) -> bool {
    signal.intensity() >= Intensity::Prompt || signal.warns()
}

fn append(text: &mut String, more: &[String]) {
    for part in more {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(part);
    }
}

/// Returns the changed input in the form in which the host takes it; none where it cannot.
fn changed_input(host_event: &HostEvent, events: &[Event], updated: &Value) -> Option<Value> {
    let [event] = events else {
        // One answer for several calls cannot say which of them it changes.
        return None;
    };
    match host_event.rewrite {
        Rewrite::No => None,
        Rewrite::Replace => Some(updated.clone()),
        Rewrite::Merge => {
            let before = event.tool.as_ref()?.input.as_object()?;
            let after = updated.as_object()?;
            if before.keys().any(|key| !after.contains_key(key)) {
                return None;
            }
            let changed: Map<String, Value> = after
                .iter()
                .filter(|(key, value)| before.get(*key) != Some(*value))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            Some(Value::Object(changed))
        }
    }
}
