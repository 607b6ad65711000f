//! State: what the records of one binding and one subject add up to. The one place that knows.
//!
//! A *chain* is what one binding finds at one trigger for one subject, from the first violation until it accepts.
//! The subject is the issue, else the session, else the empty text; an event of both counts for both. As issues are
//! found, it is the same in capitals and in small letters. The records move the state so, in the order of the log:
//!
//! | record | what it does |
//! |---|---|
//! | evaluation, binding `accepted` | The chain is closed: no violations, nothing open. `proceed_with_risk` and `reject_modification` hold no more; `acknowledge` and `dismiss` go on holding. |
//! | evaluation, binding `signalled` | One more violation, however many signals come. |
//! | evaluation, binding `failed` | What follows tells of the failure and is no violation. |
//! | evaluation, binding with `waived` | The named `reject_modification` are used up, and the named `proceed_with_risk` unless something else blocks. |
//! | signal, prompt or stronger | Opens the chain or goes on with it; is open until it is answered. |
//! | signal, aid | Nothing. |
//! | response | The signal is no longer open. `acknowledge`, `dismiss`, `proceed_with_risk` and `reject_modification` become waivers, unless `inferred`. |
//! | response that was refused | Nothing. |
//! | evaluation, decision `ask` or `block` | One more stop of its trigger for the subject; another decision sets the count back. |

use std::ops::Deref;

use chrono::DateTime;
use chrono::Utc;
use serde::Deserialize;
use serde::Serialize;
use sha2::Digest as _;
use sha2::Sha256;
use uuid::Uuid;

use super::Body;
use super::Chain;
use super::OpenSignal;
use super::Record;
use super::Waiver;
use crate::signal::Action;
use crate::signal::Intensity;
use crate::verdict::Decision;
use crate::verdict::Outcome;

/// How many unanswered signals of one chain are remembered.
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

/// Returns a subject as all ways to write it are counted.
fn folded(subject: &str) -> String {
    subject.to_ascii_lowercase()
}

/// What one record does to one state.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Evaluated {
        outcome: Outcome,
        waived: Vec<Uuid>,
        /// Whether the operation was blocked, by whichever binding.
        is_blocked: bool,
    },
    Signalled {
        signal: OpenSignal,
        correlation_id: Uuid,
        at: Option<DateTime<Utc>>,
    },
    Answered {
        signal_id: Uuid,
        action: Action,
        fingerprint: String,
        inferred: bool,
    },
    Decided(Decision),
}

/// What the records of one key add up to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct State {
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<Uuid>,
    #[serde(skip_serializing_if = "is_zero")]
    violations: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Intensity>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waivers: Vec<Waiver>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<OpenSignal>,
    #[serde(skip_serializing_if = "is_zero")]
    stopped: u32,
    #[serde(skip_serializing_if = "is_zero")]
    blocked: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl State {
    /// Goes one record further.
    pub(crate) fn apply(&mut self, step: &Step) {
        match step {
            Step::Evaluated {
                outcome,
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
                        *outcome != Outcome::Accepted
                    }
                });
                match outcome {
                    Outcome::Accepted => {
                        *self = Self {
                            waivers: std::mem::take(&mut self.waivers),
                            ..Self::default()
                        };
                    }
                    Outcome::Signalled => {
                        self.violations += 1;
                        self.last = None;
                    }
                    Outcome::Failed
                    | Outcome::Skipped
                    | Outcome::NotRun
                    | Outcome::Disabled
                    | Outcome::Started => {}
                }
            }
            Step::Signalled {
                signal,
                correlation_id,
                at,
            } => {
                self.correlation_id.get_or_insert(*correlation_id);
                self.since = self.since.or(*at);
                self.last = self.last.max(Some(signal.intensity));
                if self.open.len() == MOST_OPEN {
                    self.open.remove(0);
                }
                self.open.push(signal.clone());
            }
            Step::Answered {
                signal_id,
                action,
                fingerprint,
                inferred,
            } => {
                self.open.retain(|s| s.id != *signal_id);
                if !inferred && is_waiver(*action) {
                    self.waivers
                        .retain(|w| w.fingerprint != *fingerprint || w.action != *action);
                    self.waivers.push(Waiver {
                        fingerprint: fingerprint.clone(),
                        action: *action,
                        signal_id: *signal_id,
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

    /// Returns the chain as the engine sees it.
    pub(crate) fn into_chain(self) -> Chain {
        Chain {
            correlation_id: self.correlation_id,
            violations: self.violations,
            since: self.since,
            last: self.last,
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
            if header.intensity == Intensity::Aid {
                return;
            }
            for subject in subjects(record.issue(), session) {
                give(
                    Key::chain(hook, &given.origin.binding, subject),
                    Step::Signalled {
                        signal: OpenSignal {
                            id: header.id,
                            intensity: header.intensity,
                            fingerprint: given.fingerprint.clone(),
                        },
                        correlation_id: header.correlation_id.unwrap_or(header.id),
                        at: Some(record.timestamp),
                    },
                );
            }
        }
        Body::Response(answer) => {
            let (Some(binding), None) = (&answer.binding, &answer.refused) else {
                return;
            };
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
