//! Signal: the record of one signal that an event was given.

use serde::{Deserialize, Serialize};

use super::LONGEST_OBJECT;
use crate::event::{Event, Subagent};
use crate::signal::{Origin, Severity, Signal};
use crate::signal_log::asked::AskedAbout;

/// One signal, with what is known beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "FlatSignal")]
pub struct SignalRecord {
    /// The signal whole.
    pub signal: Signal,
    /// Which binding gave it.
    #[serde(flatten)]
    pub origin: Origin,
    /// What was found, apart from the words.
    pub fingerprint: String,
    /// The identity of the first finding, by which it is counted: a digest of the rule and the object. Records of earlier
    /// versions have none; [`Self::identity`] has one for each.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub identity: String,
    /// The rule that was broken, else the kind of the signal.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// What broke it: a command, a path, an item; none where that is the issue or the session itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// What else broke it, each a finding of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoFound>,
    /// How grave what was found is, where the oracle says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The subagent, as the evaluation has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What it asks about, where it is of a question about a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedAbout>,
}

/// One more finding of a signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlsoFound {
    /// Its identity.
    pub identity: String,
    /// What broke the rule.
    pub object: String,
}

/// A signal as it is read: a flattened member would have everything beside it read twice.
#[derive(Deserialize)]
struct FlatSignal {
    signal: Signal,
    binding: String,
    source: String,
    #[serde(default, rename = "override")]
    overridable: bool,
    fingerprint: String,
    #[serde(default)]
    identity: String,
    #[serde(default)]
    rule: String,
    object: Option<String>,
    #[serde(default)]
    also: Vec<AlsoFound>,
    severity: Option<Severity>,
    session_id: Option<String>,
    host: Option<String>,
    agent: Option<String>,
    asked: Option<AskedAbout>,
}

impl From<FlatSignal> for SignalRecord {
    fn from(flat: FlatSignal) -> Self {
        Self {
            signal: flat.signal,
            origin: Origin {
                binding: flat.binding,
                source: flat.source,
                overridable: flat.overridable,
            },
            fingerprint: flat.fingerprint,
            identity: flat.identity,
            rule: flat.rule,
            object: flat.object,
            also: flat.also,
            severity: flat.severity,
            session_id: flat.session_id,
            host: flat.host,
            agent: flat.agent,
            asked: flat.asked,
        }
    }
}

impl SignalRecord {
    /// Returns the record of a signal that an event was given.
    pub fn of(event: &Event, signal: &Signal) -> Self {
        let object = event.object();
        let short = |object: String| object.chars().take(LONGEST_OBJECT).collect();
        let mut findings = signal.findings(object.as_deref()).into_iter();
        let (identity, object) = findings.next().unwrap_or_default();
        let also = findings.map(|(identity, object)| AlsoFound {
            identity,
            object: short(object.unwrap_or_default()),
        });
        let rule = signal.rule.as_ref().unwrap_or(&signal.header.kind);
        Self {
            fingerprint: signal.finding(),
            identity,
            rule: rule.clone(),
            object: object.map(short),
            also: also.collect(),
            origin: signal.origin.clone(),
            severity: signal.severity,
            signal: signal.clone(),
            session_id: event.session_id.clone(),
            host: event.host.clone(),
            agent: (event.subagent.as_ref())
                .and_then(Subagent::called)
                .map(|name| super::short(name).to_owned()),
            asked: None,
        }
    }

    /// Returns each of its findings: the identity, and what broke the rule.
    pub fn findings(&self) -> impl Iterator<Item = (&str, Option<&String>)> {
        let also = self.also.iter();
        let also = also.map(|found| (found.identity.as_str(), Some(&found.object)));
        std::iter::once((self.identity(), self.object.as_ref())).chain(also)
    }

    /// Returns the identity of each of its findings.
    pub fn identities(&self) -> impl Iterator<Item = &str> {
        self.findings().map(|(identity, _)| identity)
    }

    /// Returns the identity of the first finding; of a record without one, its fingerprint.
    pub fn identity(&self) -> &str {
        match self.identity.as_str() {
            "" => &self.fingerprint,
            identity => identity,
        }
    }

    /// Returns the rule that was broken, else the kind of the signal.
    pub fn rule(&self) -> &str {
        match self.rule.as_str() {
            "" => &self.signal.header.kind,
            rule => rule,
        }
    }
}
