//! Capability: the one table of what becomes of an answer that a host cannot carry, and its application.

use std::fmt;

use serde_json::Map;
use serde_json::Value;

use crate::event::Event;
use crate::message;
use crate::secret;
use crate::signal::Intensity;
use crate::signal::Signal;
use crate::verdict::Decision;
use crate::verdict::Verdict;

use super::Host;
use super::Moment;
use super::Objection;
use super::Rewrite;
use super::Speech;

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
pub enum Way {
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

/// What becomes of each wish: the first way of the list that the host's moment offers.
///
/// A wish to stop is never turned into silence where words are possible, and a change of input that cannot be made
/// is never turned into "go on unchanged" where a block is possible.
pub static RULES: [(Wish, &[Way]); 4] = [
    (
        Wish::Block,
        &[Way::AsIs, Way::Context, Way::Queue, Way::Notice, Way::Log],
    ),
    (
        Wish::Ask,
        &[
            Way::AsIs,
            Way::Block,
            Way::Context,
            Way::Queue,
            Way::Notice,
            Way::Log,
        ],
    ),
    (
        Wish::Rewrite,
        &[
            Way::AsIs,
            Way::Block,
            Way::Context,
            Way::Queue,
            Way::Notice,
            Way::Log,
        ],
    ),
    (Wish::Say, &[Way::AsIs, Way::Queue, Way::Notice, Way::Log]),
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

impl Way {
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

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Host {
    /// Returns what becomes of a wish at one of the host's moments.
    pub fn way(&self, wish: Wish, moment: &Moment) -> Way {
        let ladder = RULES
            .iter()
            .find(|(of, _)| *of == wish)
            .map_or(&[][..], |(_, ladder)| ladder);
        let offered = |way: &Way| match way {
            Way::AsIs => match wish {
                Wish::Block => moment.block,
                Wish::Ask => moment.ask,
                Wish::Rewrite => moment.rewrite != Rewrite::No,
                Wish::Say => moment.context,
            },
            Way::Block => moment.block,
            Way::Context => moment.context,
            Way::Queue => self.hears_later(),
            Way::Notice => moment.notice,
            Way::Log => true,
        };
        ladder.iter().copied().find(offered).unwrap_or(Way::Log)
    }

    /// Whether words can reach the agent at any of the host's moments.
    fn hears_later(&self) -> bool {
        self.moments.iter().any(|m| m.context || m.block)
    }

    /// Reduces a verdict to what the host can carry at this moment.
    ///
    /// `waiting` are the words that earlier moments could not carry; [`Plan::delivers`] says whether they go out now.
    pub fn plan<'a>(
        &self,
        moment: &'a Moment,
        event: &'a str,
        events: &[Event],
        verdict: &'a Verdict,
        waiting: &[String],
    ) -> Plan<'a> {
        let limit = self.text_limit;
        let mut plan = Plan {
            speech: Speech::nothing(moment, event, verdict),
            queue: None,
            delivers: false,
        };
        let mut words = message::for_agent(verdict, limit);
        let mut stop = match verdict.decision {
            Decision::Block => Some(self.way(Wish::Block, moment)),
            Decision::Ask => Some(self.way(Wish::Ask, moment)),
            Decision::Allow | Decision::None => None,
        };
        let mut asks = verdict.decision == Decision::Ask && stop == Some(Way::AsIs);
        if verdict.decision == Decision::Ask && stop == Some(Way::Block) {
            words.push_str("\nAsk the person, respond as they say, then try again.");
        }
        // A question carries the change along; a block makes it pointless.
        if let Some(wanted) = verdict
            .modified_input
            .as_ref()
            .filter(|_| stop.is_none() || asks)
        {
            plan.speech.input = changed_input(moment, events, wanted);
            if plan.speech.input.is_none() {
                words = format!(
                    "Not run: its input must be another.\n{words}\nCall the tool again with this input: {wanted}"
                );
                asks = false;
                stop = Some(match self.way(Wish::Rewrite, moment) {
                    // The moment takes a changed input, only not this one: then it is as if it took none.
                    Way::AsIs if moment.block => Way::Block,
                    Way::AsIs => Way::Context,
                    way => way,
                });
            }
        }
        let way = match stop {
            Some(Way::AsIs | Way::Block) => {
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
                plan.speech.objection = Some(Objection {
                    person,
                    agent: message::cut(&agent, limit),
                    ask: asks,
                });
                return plan;
            }
            Some(way) => way,
            None if verdict.signals.is_empty() => Way::Log,
            None => match self.way(Wish::Say, moment) {
                Way::AsIs => Way::Context,
                way => way,
            },
        };
        if moment.context {
            let mut text = String::new();
            append(&mut text, waiting);
            plan.delivers = !waiting.is_empty();
            if way == Way::Context {
                append(&mut text, &[words]);
            }
            if !text.is_empty() {
                plan.speech.context = Some(message::cut(&text, limit));
            }
        } else if way == Way::Queue {
            plan.queue = Some(words);
        }
        if moment.notice && way == Way::Notice {
            plan.speech.notice = Some(message::for_person(verdict));
        } else if moment.notice && verdict.signals.iter().any(warns) {
            // A warning that reaches the agent alone would leave the person in the dark.
            plan.speech.notice = Some(message::for_person(verdict));
        }
        warn(&mut plan, waiting, &verdict.warnings, limit);
        plan
    }
}

/// Adds what a person should know and no signal says; where she cannot be told, the agent is, now or at a later moment.
fn warn(plan: &mut Plan<'_>, waiting: &[String], warnings: &[String], limit: usize) {
    let Some(words) = warning(warnings) else {
        return;
    };
    // What waits is said with this or a later reply: once is enough, however many calls come before it can be.
    if !plan.speech.moment.notice && waiting.iter().any(|text| text.contains(&words)) {
        return;
    }
    let place = if plan.speech.moment.notice {
        &mut plan.speech.notice
    } else if plan.speech.moment.context {
        &mut plan.speech.context
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
        secret::redact(&words).into_owned()
    })
}

/// What goes out now, and what is kept.
#[derive(Debug)]
pub struct Plan<'a> {
    /// What is said.
    pub speech: Speech<'a>,
    /// Words to keep for a later moment of the session.
    pub queue: Option<String>,
    /// Whether the waiting words go out with this reply.
    pub delivers: bool,
}

fn warns(signal: &Signal) -> bool {
    signal.intensity() >= Intensity::Prompt
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
fn changed_input(moment: &Moment, events: &[Event], updated: &Value) -> Option<Value> {
    let [event] = events else {
        // One answer for several calls cannot say which of them it changes.
        return None;
    };
    match moment.rewrite {
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
