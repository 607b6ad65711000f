//! Redactor: cuts secrets and too much text out of what is logged, and marks what was cut.

use std::borrow::Cow;

use regex::Regex;
use serde_json::{Map, Value};

use super::{Body, LogError};
use crate::config::LogEvents;
use crate::event::Event;
use crate::secret;
use crate::secret::marks;
use crate::signal::{Payload, Signal};
use crate::verdict::BindingReport;

/// How long one text may be, in bytes.
const LONGEST_TEXT: usize = 4 << 10;
/// How much text one event or signal may hold, in bytes.
const MOST_TEXT: usize = 32 << 10;
/// How many entries one list or map may have.
const MOST_ENTRIES: usize = 256;

/// A private key among the lines of a list.
#[derive(Debug, Default)]
struct KeyLines {
    is_open: bool,
}

impl KeyLines {
    /// Cuts a line that stands behind the first of a key, up to the last.
    fn cut(&mut self, line: &mut String) -> bool {
        let was_open = self.is_open;
        self.is_open = secret::opens_key(line) || (was_open && !secret::ends_key(line));
        if was_open {
            *line = marks::redacted("private-key");
        }
        was_open
    }
}

/// Cuts secrets and too much text out of records before they are written.
#[derive(Debug)]
pub(super) struct Redactor {
    patterns: Vec<Regex>,
}

impl Redactor {
    pub(super) fn new(patterns: &[String]) -> Result<Self, LogError> {
        let patterns = patterns
            .iter()
            .map(|pattern| {
                Regex::new(pattern).map_err(|error| LogError::Pattern {
                    pattern: pattern.clone(),
                    reason: error.to_string(),
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { patterns })
    }

    /// Whether nothing would be cut out of what this JSON says; in doubt it says no.
    pub(super) fn leaves(&self, json: &str) -> bool {
        let bytes = json.as_bytes();
        self.patterns.is_empty()
            && json.len() <= LONGEST_TEXT
            && memchr::memchr_iter(b',', bytes).count() < MOST_ENTRIES
            && !secret::may_hold(bytes)
    }

    /// Returns an event as JSON, cleaned.
    pub(super) fn event(&self, event: &Event) -> serde_json::Result<String> {
        let mut value = serde_json::to_value(event)?;
        let mut left = MOST_TEXT;
        self.clean_value(&mut value, &mut left);
        serde_json::to_string(&value)
    }

    /// Returns the reports of bindings, cleaned.
    pub(super) fn reports<'a>(
        &self,
        reports: impl Iterator<Item = &'a BindingReport>,
    ) -> Vec<Cow<'a, BindingReport>> {
        let mut left = MOST_TEXT;
        reports
            .map(|report| match &report.error {
                None => Cow::Borrowed(report),
                Some(error) => {
                    let mut error = error.clone();
                    self.clean_text(&mut error, &mut left);
                    Cow::Owned(BindingReport {
                        error: Some(error),
                        ..report.clone()
                    })
                }
            })
            .collect()
    }

    /// Cleans one record; of the event it leaves what `events` allows.
    pub(super) fn clean(&self, body: &mut Body, events: LogEvents) {
        let mut left = MOST_TEXT;
        match body {
            Body::Evaluation(evaluation) => {
                match events {
                    LogEvents::None => evaluation.event = None,
                    LogEvents::Redacted => {
                        if let Some(event) = &mut evaluation.event {
                            self.clean_value(event, &mut left);
                        }
                    }
                    LogEvents::Full => {}
                }
                let mut left = MOST_TEXT;
                for report in &mut evaluation.bindings {
                    if let Some(error) = &mut report.error {
                        self.clean_text(error, &mut left);
                    }
                }
                let evaluation = &mut **evaluation;
                let texts = [
                    &mut evaluation.note,
                    &mut evaluation.agent,
                    &mut evaluation.agent_id,
                ];
                for text in texts.into_iter().flatten() {
                    self.clean_text(text, &mut left);
                }
            }
            Body::Signal(record) => {
                self.clean_signal(&mut record.signal, &mut left);
                let record = &mut **record;
                let also = record.also.iter_mut().map(|found| &mut found.object);
                let beside = [&mut record.object, &mut record.agent].into_iter();
                for text in beside.flatten().chain(also) {
                    self.clean_text(text, &mut left);
                }
            }
            Body::Response(record) => {
                self.clean_map(&mut record.response.details, &mut left);
                if let Some(refused) = &mut record.refused {
                    self.clean_text(refused, &mut left);
                }
            }
        }
    }

    fn clean_signal(&self, signal: &mut Signal, left: &mut usize) {
        match &mut signal.payload {
            Payload::Block(block) => {
                self.clean_text(&mut block.reason, left);
                self.clean_texts(&mut block.resolution_path, left);
            }
            Payload::Control(control) => {
                self.clean_text(&mut control.reason, left);
                for modification in &mut control.modifications {
                    self.clean_text(&mut modification.reason, left);
                    self.clean_value(&mut modification.original, left);
                    self.clean_value(&mut modification.updated, left);
                }
            }
            Payload::Prompt(prompt) => {
                self.clean_text(&mut prompt.message, left);
                self.clean_texts(&mut prompt.suggestions, left);
            }
            Payload::Aid(aid) => {
                self.clean_text(&mut aid.context_info, left);
                self.clean_texts(&mut aid.best_practices, left);
                self.clean_texts(&mut aid.follow_ups, left);
            }
        }
        self.clean_texts(&mut signal.context.files, left);
        for location in &mut signal.context.locations {
            self.clean_text(&mut location.file, left);
        }
    }

    fn clean_texts(&self, texts: &mut Vec<String>, left: &mut usize) {
        if texts.len() > MOST_ENTRIES {
            let cut = texts.len() - MOST_ENTRIES;
            texts.truncate(MOST_ENTRIES);
            texts.push(marks::cut(cut, "entries"));
        }
        let mut key = KeyLines::default();
        for text in texts {
            if !key.cut(text) {
                self.clean_text(text, left);
            }
        }
    }

    fn clean_value(&self, value: &mut Value, left: &mut usize) {
        self.clean_part(value, false, left);
    }

    /// Cleans a value; of one that is a secret itself, nothing but its form stays.
    fn clean_part(&self, value: &mut Value, is_secret: bool, left: &mut usize) {
        match value {
            Value::String(text) if is_secret && !text.is_empty() => marks::SECRET.clone_into(text),
            Value::Number(_) if is_secret => *value = marks::SECRET.into(),
            Value::String(text) => self.clean_text(text, left),
            Value::Array(values) => {
                let cut = values.len().saturating_sub(MOST_ENTRIES);
                values.truncate(MOST_ENTRIES);
                let mut key = KeyLines::default();
                for value in &mut *values {
                    let is_cut = match value {
                        Value::String(text) if !is_secret => key.cut(text),
                        _ => false,
                    };
                    if !is_cut {
                        self.clean_part(value, is_secret, left);
                    }
                }
                if cut > 0 {
                    values.push(marks::cut(cut, "entries").into());
                }
            }
            Value::Object(map) => self.clean_entries(map, is_secret, left),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn clean_map(&self, map: &mut Map<String, Value>, left: &mut usize) {
        self.clean_entries(map, false, left);
    }

    fn clean_entries(&self, map: &mut Map<String, Value>, is_secret: bool, left: &mut usize) {
        let cut = map.len().saturating_sub(MOST_ENTRIES);
        if cut > 0 {
            *map = std::mem::take(map).into_iter().take(MOST_ENTRIES).collect();
        }
        for (name, value) in &mut *map {
            let is_secret = is_secret || secret::is_secret_field(name);
            self.clean_part(value, is_secret, left);
        }
        self.clean_names(map);
        if cut > 0 {
            map.insert("…".to_owned(), marks::cut(cut, "entries").into());
        }
    }

    /// Cuts the secrets out of the names of entries; no two entries become one.
    fn clean_names(&self, map: &mut Map<String, Value>) {
        let clean: Vec<_> = map.keys().map(|n| self.without_secrets(n)).collect();
        if clean.iter().all(Option::is_none) {
            return;
        }
        let entries = std::mem::take(map);
        for (at, ((name, value), clean)) in entries.into_iter().zip(clean).enumerate() {
            let mut name = clean.unwrap_or(name);
            if map.contains_key(&name) {
                name.push_str(&format!(" #{at}"));
            }
            map.insert(name, value);
        }
    }

    /// Cuts the secrets of a text, then what is too long; `left` is what the whole may still hold.
    fn clean_text(&self, text: &mut String, left: &mut usize) {
        if let Some(clean) = self.without_secrets(text) {
            *text = clean;
        }
        let most = LONGEST_TEXT.min(*left);
        if text.len() > most {
            let keep = text.floor_char_boundary(most);
            let cut = text.len() - keep;
            text.truncate(keep);
            text.push_str(&marks::cut(cut, "bytes"));
            *left -= keep;
        } else {
            *left -= text.len();
        }
    }

    /// Returns the text with its secrets cut; none where it has none.
    pub(super) fn without_secrets(&self, text: &str) -> Option<String> {
        let patterns = self.patterns.iter();
        let matches = patterns.flat_map(|pattern| pattern.find_iter(text));
        secret::cut(text, matches.map(|found| (found.range(), "pattern")))
    }
}
