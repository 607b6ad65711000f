//! State: what the records of one binding and one subject add up to. The one place that knows.
//!
//! A *finding* is a rule and the object that breaks it, told apart by its identity ([`crate::signal::Signal::identity`]).
//! A *chain* is what one binding finds at one trigger for one subject. A finding stands in it from its first signal until
//! the binding judges the same object again and does not find it. The object is what a tool call acts on
//! ([`crate::event::Event::object`]); all other events of a subject have the same. The subject is the issue, else the session, else the empty text; an event of both counts for both. As issues are
//! found, it is the same in capitals and in small letters. The records move the state so, in the order of the log:
//!
//! | record | what it does |
//! |---|---|
//! | evaluation, binding `accepted` | The findings of this object stand no more, and nothing of it is open. What it had of `proceed_with_risk` and `reject_modification` holds no more; `acknowledge` and `dismiss` go on holding. |
//! | evaluation, binding `signalled` | Of the findings of this object those stand that are found again. |
//! | evaluation, binding `failed` | What follows tells of the failure: it stands, and is not a violation. |
//! | evaluation, binding with `waived` | The named `reject_modification` are used up, and the named `proceed_with_risk` unless something else blocks. |
//! | signal | Its findings stand; one more violation of each, however many signals of it come. Stronger than an aid, it is open until it is answered. |
//! | response | The signal is no longer open. `acknowledge`, `dismiss`, `proceed_with_risk` and `reject_modification` become waivers, unless `inferred`. |
//! | response that was refused | Nothing. |
//! | signal of a question about a call | The session has a question of which the answer is not known, until a response to it or the end of the session. |
//! | evaluation, decision `ask` or `block` | One more stop of its trigger for the subject; another decision sets the count back. |

use std::ops::Deref;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::asked::OpenQuestion;
use super::record::short;
use super::{Body, Chain, OpenSignal, Record, Standing, Waiver};
use crate::event::Trigger;
use crate::signal::{Action, Intensity};
use crate::verdict::{Decision, Outcome};

/// How many findings of one chain are remembered, and how many unanswered signals.
const MOST_STANDING: usize = 256;
const MOST_OPEN: usize = 64;

/// Whose state it is: a hash of trigger, binding and subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(pub(crate) [u8; 16]);

impl Key {
    /// The chain of a binding.
    pub(crate) fn chain(hook: &str, binding: &str, subject: &str) -> Self {
        Self::of(&["chain", hook, binding, &folded(subject)])
    }

    /// The stops of a trigger.
    pub(crate) fn stops(hook: &str, subject: &str) -> Self {
        Self::of(&["stops", hook, &folded(subject)])
    }

    /// The questions of a session.
    pub(crate) fn questions(session: &str) -> Self {
        Self::of(&["questions", session])
    }

    fn of(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let mut key = [0; 16];
        for (to, from) in key.iter_mut().zip(hash.finalize()) {
            *to = from;
        }
        Self(key)
    }
}

/// Returns what the stops of one subagent count for: a session may have several at once, each with a gate of its own.
pub(crate) fn of_agent(session: &str, agent_id: &str) -> String {
    format!("{session}\n{}", short(agent_id))
}

/// Returns a subject as all ways to write it are counted.
fn folded(subject: &str) -> String {
    subject.to_ascii_lowercase()
}

/// What one record does to one state.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Evaluated {
        outcome: Outcome,
        object: Option<String>,
        waived: Vec<Uuid>,
        /// Whether the operation was blocked, by whichever binding.
        is_blocked: bool,
    },
    /// The object of the signal is that of the evaluation before it.
    Signalled {
        signal: OpenSignal,
        correlation_id: Uuid,
        at: DateTime<Utc>,
    },
    Answered {
        signal_id: Uuid,
        action: Action,
        fingerprint: String,
        inferred: bool,
    },
    Decided(Decision),
    Asked(OpenQuestion),
    Heard(Uuid),
    SessionOver,
}

/// What the records of one key add up to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct State {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    standing: Vec<Found>,
    /// The object of the evaluation of which signals may follow, and whether they tell of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    is_failure: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waivers: Vec<Waiver>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<OpenSignal>,
    #[serde(skip_serializing_if = "is_zero")]
    stopped: u32,
    #[serde(skip_serializing_if = "is_zero")]
    blocked: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<OpenQuestion>,
}

/// A finding that stands, and where it is between an evaluation and the signals of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Found {
    #[serde(flatten)]
    standing: Standing,
    /// Its object was judged again, and no signal of it came since: unless one follows, it is gone.
    #[serde(default, skip_serializing_if = "is_false")]
    is_gone: bool,
    /// The evaluation at hand is counted.
    #[serde(default, skip_serializing_if = "is_false")]
    is_counted: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_false(b: &bool) -> bool {
    !*b
}

impl State {
    /// Goes one record further.
    pub(crate) fn apply(&mut self, step: &Step) {
        match step {
            Step::Evaluated {
                outcome,
                object,
                waived,
                is_blocked,
            } => {
                self.waivers.retain(|w| {
                    if holds_on(w.action) {
                        true
                    } else if waived.contains(&w.signal_id) {
                        // A risk that nobody could take is still to be taken.
                        *is_blocked && w.action == Action::ProceedWithRisk
                    } else {
                        *outcome != Outcome::Accepted || w.object != *object
                    }
                });
                self.evaluate(*outcome, object.as_ref());
            }
            Step::Signalled {
                signal,
                correlation_id,
                at,
            } => self.find(signal, *correlation_id, *at),
            Step::Answered {
                signal_id,
                action,
                fingerprint,
                inferred,
            } => {
                let open = self.open.iter().position(|s| s.id == *signal_id);
                let open = open.map(|place| self.open.remove(place));
                let (object, identities) =
                    open.map_or((None, Vec::new()), |open| (open.object, open.identities));
                if !inferred && is_waiver(*action) {
                    self.waivers
                        .retain(|w| w.fingerprint != *fingerprint || w.action != *action);
                    self.waivers.push(Waiver {
                        fingerprint: fingerprint.clone(),
                        action: *action,
                        signal_id: *signal_id,
                        identities,
                        object,
                    });
                }
            }
            Step::Decided(decision) => {
                self.stopped = if *decision >= Decision::Ask {
                    self.stopped + 1
                } else {
                    0
                };
                self.blocked = if *decision == Decision::Block {
                    self.blocked + 1
                } else {
                    0
                };
            }
            Step::Asked(question) => {
                // Asked again about the same call, the answer is to the last time.
                self.questions
                    .retain(|q| q.about.call != question.about.call || q.at == question.at);
                if self.questions.len() == MOST_OPEN {
                    self.questions.remove(0);
                }
                self.questions.push(question.clone());
            }
            Step::Heard(id) => self.questions.retain(|q| q.id != *id),
            Step::SessionOver => self.questions.clear(),
        }
    }

    fn evaluate(&mut self, outcome: Outcome, object: Option<&String>) {
        let is_of = |of: &Option<String>| of.as_ref() == object;
        match outcome {
            Outcome::Accepted => {
                self.standing
                    .retain(|found| !found.is_gone && !is_of(&found.standing.object));
                self.open.retain(|signal| !is_of(&signal.object));
            }
            Outcome::Signalled => {
                self.standing.retain(|found| !found.is_gone);
                for found in &mut self.standing {
                    found.is_gone = is_of(&found.standing.object);
                    found.is_counted = false;
                }
            }
            Outcome::Failed => {}
            Outcome::Skipped | Outcome::NotRun | Outcome::Disabled | Outcome::Started => return,
        }
        self.is_failure = outcome == Outcome::Failed;
        self.object = object.filter(|_| outcome != Outcome::Accepted).cloned();
    }

    fn find(&mut self, signal: &OpenSignal, correlation_id: Uuid, at: DateTime<Utc>) {
        let object = self.object.clone();
        for identity in &signal.identities {
            self.stand(identity, signal.intensity, correlation_id, at);
        }
        if signal.intensity == Intensity::Aid {
            return;
        }
        if self.open.len() == MOST_OPEN {
            self.open.remove(0);
        }
        self.open.push(OpenSignal {
            object,
            ..signal.clone()
        });
    }

    /// Lets a finding stand.
    fn stand(
        &mut self,
        identity: &str,
        intensity: Intensity,
        correlation_id: Uuid,
        at: DateTime<Utc>,
    ) {
        let known = self
            .standing
            .iter()
            .position(|found| found.standing.identity == identity);
        let place = known.unwrap_or_else(|| {
            if self.standing.len() == MOST_STANDING {
                self.standing.remove(0);
            }
            self.standing.push(Found {
                standing: Standing {
                    identity: identity.to_owned(),
                    object: None,
                    correlation_id,
                    violations: 0,
                    since: at,
                    last: intensity,
                },
                is_gone: false,
                is_counted: false,
            });
            self.standing.len() - 1
        });
        if let Some(found) = self.standing.get_mut(place) {
            let standing = &mut found.standing;
            standing.object.clone_from(&self.object);
            if found.is_counted {
                standing.last = standing.last.max(intensity);
            } else {
                standing.violations += u32::from(!self.is_failure);
                standing.last = intensity;
            }
            found.is_counted = true;
            found.is_gone = false;
        }
    }

    /// Whether it says nothing, so that it need not be kept.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns how many evaluations in a row were stopped.
    pub(crate) const fn stopped(&self) -> u32 {
        self.stopped
    }

    /// Returns how many evaluations in a row were blocked.
    pub(crate) const fn blocked(&self) -> u32 {
        self.blocked
    }

    /// Returns what was asked about a call.
    pub(crate) fn into_questions(self, call: &str) -> Vec<OpenQuestion> {
        let mut questions = self.questions;
        questions.retain(|q| q.about.call == call);
        questions
    }

    /// Returns the chain as the engine sees it.
    pub(crate) fn into_chain(self) -> Chain {
        Chain {
            standing: self
                .standing
                .into_iter()
                .filter(|found| !found.is_gone)
                .map(|found| found.standing)
                .collect(),
            waivers: self.waivers,
            open: self.open,
        }
    }
}

/// Whether an answer changes what the same finding leads to.
const fn is_waiver(action: Action) -> bool {
    holds_on(action) || matches!(action, Action::ProceedWithRisk | Action::RejectModification)
}

/// Whether an answer holds however often the finding comes; the others are used up.
const fn holds_on(action: Action) -> bool {
    matches!(action, Action::Acknowledge | Action::Dismiss)
}

/// Tells what a record does, to each state that it touches.
pub(crate) fn steps<S: Deref<Target = str>, E>(
    record: &Record<S, E>,
    mut give: impl FnMut(Key, Step),
) {
    let (Some(hook), session) = (record.trigger(), record.session()) else {
        return;
    };
    match &record.body {
        Body::Evaluation(evaluation) => {
            if hook == Trigger::PostSubagent.name()
                && let (Some(session), Some(agent)) = (session, &evaluation.agent_id)
            {
                let decided = Step::Decided(evaluation.decision);
                give(Key::stops(hook, &of_agent(session, agent)), decided);
            }
            if hook == Trigger::PostSession.name()
                && let Some(session) = session
            {
                give(Key::questions(session), Step::SessionOver);
            }
            for subject in subjects(record.issue(), session) {
                for report in &evaluation.bindings {
                    if matches!(
                        report.outcome,
                        Outcome::Accepted | Outcome::Signalled | Outcome::Failed
                    ) {
                        give(
                            Key::chain(hook, &report.id, subject),
                            Step::Evaluated {
                                outcome: report.outcome,
                                object: evaluation.object.clone(),
                                waived: report.waived.clone(),
                                is_blocked: evaluation.decision == Decision::Block,
                            },
                        );
                    }
                }
                give(
                    Key::stops(hook, subject),
                    Step::Decided(evaluation.decision),
                );
            }
        }
        Body::Signal(given) => {
            let header = &given.signal.header;
            if let (Some(about), Some(session)) = (&given.asked, session) {
                let question = OpenQuestion {
                    id: header.id,
                    about: about.clone(),
                    at: record.timestamp,
                    binding: given.origin.binding.clone(),
                    subject: record.issue().or(Some(session)).map(str::to_owned),
                    fingerprint: given.fingerprint.clone(),
                    intensity: header.intensity,
                };
                give(Key::questions(session), Step::Asked(question));
            }
            for subject in subjects(record.issue(), session) {
                give(
                    Key::chain(hook, &given.origin.binding, subject),
                    Step::Signalled {
                        signal: OpenSignal {
                            id: header.id,
                            intensity: header.intensity,
                            fingerprint: given.fingerprint.clone(),
                            identities: given.identities().map(str::to_owned).collect(),
                            object: None,
                        },
                        correlation_id: header.correlation_id.unwrap_or(header.id),
                        at: record.timestamp,
                    },
                );
            }
        }
        Body::Response(answer) => {
            let (Some(binding), None) = (&answer.binding, &answer.refused) else {
                return;
            };
            if let Some(session) = session {
                give(
                    Key::questions(session),
                    Step::Heard(answer.response.signal_id),
                );
            }
            for subject in subjects(answer.subject.as_deref(), session) {
                give(
                    Key::chain(hook, binding, subject),
                    Step::Answered {
                        signal_id: answer.response.signal_id,
                        action: answer.response.action,
                        fingerprint: answer.fingerprint.clone().unwrap_or_default(),
                        inferred: answer.response.inferred,
                    },
                );
            }
        }
    }
}

/// Returns what a record counts for: its issue and its session, or the project.
fn subjects<'a>(issue: Option<&'a str>, session: Option<&'a str>) -> impl Iterator<Item = &'a str> {
    let (first, second) = match (issue, session) {
        (Some(issue), Some(session)) if issue != session => (issue, Some(session)),
        (Some(one), _) | (None, Some(one)) => (one, None),
        (None, None) => ("", None),
    };
    std::iter::once(first).chain(second)
}
