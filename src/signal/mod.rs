//! Signal: the unit of intervention; header, context and payload (S4 §4.2).

mod intensity;
mod manner;
mod payload;
mod response;
mod strength;

pub use self::intensity::Intensity;
pub use self::manner::Manner;
pub use self::payload::{Aid, Block, Control, Modification, Payload, Prompt, Severity};
pub use self::response::{Action, Actor, Response};
pub use self::strength::Strength;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use sha2::Digest as _;
use uuid::Uuid;

/// The most steps that a signal names one by one.
const MOST_STEPS: usize = 50;
/// The most files that a signal names one by one.
const MOST_FILES: usize = 100;
/// The most findings of a signal that are counted one by one.
const MOST_FINDINGS: usize = 50;

/// One intervention.
///
/// An oracle makes it with [`Signal::block`] and its siblings; the engine then gives it its id, time,
/// source and place in a chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Signal {
    /// Who, when, how strongly.
    pub header: Header,
    /// About what.
    pub context: SignalContext,
    /// What it says.
    pub payload: Payload,
    /// What was found, apart from the words: equal findings have equal fingerprints, and waivers hold by it.
    #[serde(skip)]
    pub fingerprint: Option<String>,
    /// Which binding gave it: id and `file:line`. Logged beside the signal, not in it.
    #[serde(skip)]
    pub origin: Origin,
    /// How grave what was found is, where the oracle says so.
    #[serde(skip)]
    pub severity: Option<Severity>,
    /// What a host does with it beyond what its intensity says.
    #[serde(skip)]
    pub manner: Option<Manner>,
    /// The rule that was broken, where it is finer than the kind.
    #[serde(skip)]
    pub rule: Option<String>,
    /// What breaks it, each a finding of its own; none where that is what the event acts on.
    #[serde(skip)]
    pub objects: Vec<String>,
}

/// Which binding gave a signal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The binding's id.
    pub binding: String,
    /// `file:line` of the binding, in the layer that set it last.
    pub source: String,
    /// Whether `proceed_with_risk` may lift a block of this binding.
    #[serde(default, rename = "override")]
    pub overridable: bool,
}

/// The head of a signal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// UUID v7.
    pub id: Uuid,
    /// The kind of finding, in kebab-case: `checklist-incomplete`.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it was given.
    pub timestamp: DateTime<Utc>,
    /// The oracle, in kebab-case.
    pub source: String,
    /// How strongly it intervenes; always that of the payload.
    pub intensity: Intensity,
    /// The id of the first signal of this chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<Uuid>,
}

/// What a signal is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalContext {
    /// The trigger's canonical name.
    pub hook: String,
    /// The issue, if the event has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue_id: Option<String>,
    /// The files concerned, relative to the project where they lie in it.
    #[serde(default)]
    pub files: Vec<String>,
    /// The lines concerned, where the oracle knows them; at most a hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The file, relative to the project where it lies in it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl Signal {
    fn new(kind: &str, payload: Payload) -> Self {
        Self {
            header: Header {
                id: Uuid::nil(),
                kind: kind.to_owned(),
                timestamp: DateTime::UNIX_EPOCH,
                source: String::new(),
                intensity: payload.intensity(),
                correlation_id: None,
            },
            context: SignalContext::default(),
            payload,
            fingerprint: None,
            origin: Origin::default(),
            severity: None,
            manner: None,
            rule: None,
            objects: Vec::new(),
        }
    }

    /// Makes a block: the operation does not go on.
    pub fn block(kind: &str, reason: impl Into<String>) -> Self {
        Self::new(
            kind,
            Payload::Block(Block {
                reason: reason.into(),
                resolvable: true,
                resolution_path: Vec::new(),
            }),
        )
    }

    /// Makes a control: the operation goes on with changed parameters.
    pub fn control(kind: &str, modifications: Vec<Modification>) -> Self {
        Self::new(
            kind,
            Payload::Control(Control {
                reason: String::new(),
                modifications,
                reversible: true,
            }),
        )
    }

    /// Makes a prompt: a warning that may be answered.
    pub fn prompt(kind: &str, message: impl Into<String>) -> Self {
        Self::new(
            kind,
            Payload::Prompt(Prompt {
                severity: Severity::Medium,
                message: message.into(),
                suggestions: Vec::new(),
                continue_allowed: true,
            }),
        )
    }

    /// Makes an aid: advice that changes nothing.
    pub fn aid(kind: &str, context_info: impl Into<String>) -> Self {
        Self::new(
            kind,
            Payload::Aid(Aid {
                context_info: context_info.into(),
                ..Aid::default()
            }),
        )
    }

    /// Makes a block or a prompt or an aid, as `intensity` says; a control without modifications is a block.
    pub fn with(intensity: Intensity, kind: &str, text: impl Into<String>) -> Self {
        match intensity {
            Intensity::Block | Intensity::Control => Self::block(kind, text),
            Intensity::Prompt => Self::prompt(kind, text),
            Intensity::Aid => Self::aid(kind, text),
        }
    }

    /// Sets the steps of a block, the suggestions of a prompt or the follow-ups of an aid; past fifty it says how many
    /// more there are.
    #[must_use]
    pub fn steps<S: Into<String>>(mut self, steps: impl IntoIterator<Item = S>) -> Self {
        let steps = cut(steps.into_iter().map(Into::into).collect(), MOST_STEPS);
        match &mut self.payload {
            Payload::Block(block) => block.resolution_path = steps,
            Payload::Prompt(prompt) => prompt.suggestions = steps,
            Payload::Aid(aid) => aid.follow_ups = steps,
            Payload::Control(_) => {}
        }
        self
    }

    /// Sets how grave what was found is, by which a policy may choose the strength.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        if let Payload::Prompt(prompt) = &mut self.payload {
            prompt.severity = severity;
        }
        self
    }

    /// Says what a host does with it beyond what its intensity says.
    #[must_use]
    pub const fn manner(mut self, manner: Manner) -> Self {
        self.manner = Some(manner);
        self
    }

    /// Whether it says something that a person should know, and holds nothing up.
    pub(crate) fn warns(&self) -> bool {
        let is_prompt = self.intensity() == Intensity::Prompt && !self.asks();
        is_prompt || self.manner == Some(Manner::Warns)
    }

    /// Whether the agent is told of it.
    pub fn is_for_agent(&self) -> bool {
        !matches!(self.manner, Some(Manner::ForPerson | Manner::ForLog))
    }

    /// Says that somebody must answer this prompt before the operation may go on.
    #[must_use]
    pub fn must_be_answered(mut self) -> Self {
        if let Payload::Prompt(prompt) = &mut self.payload {
            prompt.continue_allowed = false;
        }
        self
    }

    /// Says that the agent cannot resolve this block itself.
    #[must_use]
    pub fn unresolvable(mut self) -> Self {
        if let Payload::Block(block) = &mut self.payload {
            block.resolvable = false;
        }
        self
    }

    /// Says why a control changes what it changes.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        match &mut self.payload {
            Payload::Control(control) => control.reason = reason.into(),
            Payload::Block(block) => block.reason = reason.into(),
            Payload::Prompt(prompt) => prompt.message = reason.into(),
            Payload::Aid(aid) => aid.context_info = reason.into(),
        }
        self
    }

    /// Names the files concerned; past a hundred it says how many more there are.
    #[must_use]
    pub fn files<S: Into<String>>(mut self, files: impl IntoIterator<Item = S>) -> Self {
        self.context.files = cut(files.into_iter().map(Into::into).collect(), MOST_FILES);
        self
    }

    /// Names the lines concerned, of which the first hundred are kept.
    #[must_use]
    pub fn locations<S: Into<String>>(
        mut self,
        places: impl IntoIterator<Item = (S, u32)>,
    ) -> Self {
        let places = places.into_iter().take(MOST_FILES);
        let places = places.map(|(file, line)| Location {
            file: file.into(),
            line,
        });
        self.context.locations = places.collect();
        self
    }

    /// Says which rule what breaks: the identity of the finding, by which it is counted and by which it escalates.
    #[must_use]
    pub fn about(self, rule: impl Into<String>, object: impl Into<String>) -> Self {
        self.about_each(rule, [object])
    }

    /// Says which rule several things break, each of them a finding of its own.
    #[must_use]
    pub fn about_each<S: Into<String>>(
        mut self,
        rule: impl Into<String>,
        objects: impl IntoIterator<Item = S>,
    ) -> Self {
        self.rule = Some(rule.into());
        self.objects = objects.into_iter().map(Into::into).collect();
        self.objects.sort_unstable();
        self.objects.dedup();
        self
    }

    /// Returns its findings: the identity of each, made of the rule, else the kind, and the object, else that of the event;
    /// and the object. The words are not part of it. Past fifty objects the rest is one finding.
    pub fn findings(&self, of_event: Option<&str>) -> Vec<(String, Option<String>)> {
        let rule = self.rule.as_deref().unwrap_or(&self.header.kind);
        if self.objects.is_empty() {
            let identity = digest([rule, of_event.unwrap_or_default()]);
            return vec![(identity, of_event.map(str::to_owned))];
        }
        let (first, rest) = self.objects.split_at(self.objects.len().min(MOST_FINDINGS));
        let of = |object: &String| (digest([rule, object]), Some(object.clone()));
        let mut findings: Vec<_> = first.iter().map(of).collect();
        if !rest.is_empty() {
            let parts = std::iter::once(rule).chain(rest.iter().map(String::as_str));
            findings.push((digest(parts), Some(format!("… and {} more", rest.len()))));
        }
        findings
    }

    /// Returns the identities of its findings.
    pub fn identities(&self, of_event: Option<&str>) -> Vec<String> {
        let findings = self.findings(of_event).into_iter();
        findings.map(|(identity, _)| identity).collect()
    }

    /// Says what was found, apart from the words; order matters, so sort what has none.
    #[must_use]
    pub fn fingerprint<S: AsRef<str>>(mut self, parts: impl IntoIterator<Item = S>) -> Self {
        self.fingerprint = Some(digest(parts));
        self
    }

    /// Whether its findings are told apart by rule and object alone: then an answer holds by these, however it is worded.
    pub const fn is_told_apart(&self) -> bool {
        self.fingerprint.is_none() && !self.objects.is_empty()
    }

    /// Returns the fingerprint of what was found: of rule and objects where the oracle gave none, and of kind and words
    /// where it named no object.
    pub fn finding(&self) -> String {
        match &self.fingerprint {
            Some(given) => given.clone(),
            None if self.objects.is_empty() => {
                digest([self.header.kind.as_str(), self.payload.text()])
            }
            None => digest(self.rule.iter().chain(&self.objects)),
        }
    }

    /// Returns how strongly it intervenes.
    pub const fn intensity(&self) -> Intensity {
        self.header.intensity
    }

    /// Gives it another force, saying the same.
    #[must_use]
    pub fn with_intensity(mut self, intensity: Intensity) -> Self {
        self.payload = self.payload.with_intensity(intensity);
        self.header.intensity = self.payload.intensity();
        self
    }

    /// Returns how strongly it intervenes, asking apart from warning.
    pub fn strength(&self) -> Strength {
        if self.asks() {
            Strength::Ask
        } else {
            self.intensity().into()
        }
    }

    /// Gives it another strength, saying the same.
    #[must_use]
    pub fn with_strength(self, strength: Strength) -> Self {
        if self.strength() == strength {
            return self;
        }
        let severity = self.severity;
        let mut signal = self.with_intensity(strength.intensity());
        if let Payload::Prompt(prompt) = &mut signal.payload {
            prompt.continue_allowed = strength != Strength::Ask;
            prompt.severity = severity.unwrap_or(prompt.severity);
        }
        signal
    }

    /// Whether it is a prompt that somebody must answer before the operation may go on.
    pub fn asks(&self) -> bool {
        matches!(&self.payload, Payload::Prompt(prompt) if !prompt.continue_allowed)
    }
}

/// Returns the first 16 digits of a hash: 64 bits, enough to tell one binding's findings apart.
pub(crate) fn digest<S: AsRef<str>>(parts: impl IntoIterator<Item = S>) -> String {
    let mut hash = sha2::Sha256::new();
    for part in parts {
        hash.update(part.as_ref().as_bytes());
        hash.update([0]);
    }
    let mut digits = hex(&hash.finalize());
    digits.truncate(16);
    digits
}

/// Writes bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |n: u8| DIGITS.get(usize::from(n)).copied().unwrap_or(b'0');
    let mut text = Vec::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
    String::from_utf8(text).unwrap_or_default()
}

impl<'de> Deserialize<'de> for Signal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Raw {
            header: Header,
            context: SignalContext,
            payload: Value,
        }
        let raw = Raw::deserialize(deserializer)?;
        // The payload's shape is told by the intensity, not guessed from its fields.
        let payload = match raw.header.intensity {
            Intensity::Block => serde_json::from_value(raw.payload).map(Payload::Block),
            Intensity::Control => serde_json::from_value(raw.payload).map(Payload::Control),
            Intensity::Prompt => serde_json::from_value(raw.payload).map(Payload::Prompt),
            Intensity::Aid => serde_json::from_value(raw.payload).map(Payload::Aid),
        }
        .map_err(serde::de::Error::custom)?;
        Ok(Self {
            header: raw.header,
            context: raw.context,
            payload,
            fingerprint: None,
            origin: Origin::default(),
            severity: None,
            manner: None,
            rule: None,
            objects: Vec::new(),
        })
    }
}

/// Keeps the first entries of a list, and says how many more there are.
fn cut(mut entries: Vec<String>, most: usize) -> Vec<String> {
    let more = entries.len().saturating_sub(most);
    if more > 0 {
        entries.truncate(most);
        entries.push(format!("… and {more} more"));
    }
    entries
}

/// Returns how many entries a list had before it was cut.
pub(crate) fn uncut_len(entries: &[String]) -> usize {
    let last = entries.last().and_then(|last| last.strip_prefix("… and "));
    let more = last.and_then(|last| last.strip_suffix(" more")?.parse::<usize>().ok());
    more.map_or(entries.len(), |more| entries.len() - 1 + more)
}
