//! Slice: what some lines add up to; many slices are counted at once, then put together in order.

use std::collections::HashMap;

use super::figures::Counts;
use super::figures::Intensities;
use super::keys::ByKey;
use super::keys::Key;
use super::keys::Keys;
use crate::analysis::Filter;
use crate::signal::Action;
use crate::signal::Intensity;
use crate::signal_log::Kind;
use crate::signal_log::Line;
use crate::signal_log::LineReport;
use crate::signal_log::Lines;
use crate::verdict::Decision;
use crate::verdict::Outcome;

/// No index.
pub(super) const NONE: u32 = u32::MAX;

/// A list of named things that is found by the key of the name.
#[derive(Debug)]
pub(super) struct Named<N, T> {
    places: HashMap<Key, u32, ByKey>,
    pub(super) items: Vec<(N, T)>,
}

impl<N, T> Default for Named<N, T> {
    fn default() -> Self {
        Self {
            places: HashMap::default(),
            items: Vec::new(),
        }
    }
}

impl<N, T: Default> Named<N, T> {
    fn with_capacity(capacity: usize) -> Self {
        Self {
            places: HashMap::with_capacity_and_hasher(capacity, ByKey::default()),
            items: Vec::with_capacity(capacity),
        }
    }

    /// Returns the place of a name, which is made where it is new.
    pub(super) fn place(&mut self, key: Key, name: impl FnOnce() -> N) -> u32 {
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let place = u32::try_from(self.items.len()).unwrap_or(NONE);
        self.items.push((name(), T::default()));
        self.places.insert(key, place);
        place
    }

    pub(super) fn at(&mut self, place: u32) -> Option<&mut T> {
        self.item(place).map(|(_, item)| item)
    }

    pub(super) fn item(&mut self, place: u32) -> Option<&mut (N, T)> {
        self.items.get_mut(usize::try_from(place).ok()?)
    }
}

/// Who a binding is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct BindingName {
    pub(super) hook: String,
    pub(super) id: String,
    pub(super) oracle: String,
    pub(super) source: String,
}

/// What is counted of a group: an issue, a host or a day.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) evaluations: u64,
    pub(super) stopped: u64,
    pub(super) signals: Intensities,
    pub(super) first_ms: Option<i64>,
    pub(super) last_ms: Option<i64>,
}

/// Where something is counted: places in the lists of a slice, or of the sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) binding: u32,
    pub(super) issue: u32,
    pub(super) host: u32,
    pub(super) day: u32,
}

/// What must be seen in the order of the log.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ordered {
    /// A binding judged; `chain` is the key of trigger, binding and subject.
    Judged {
        chain: Key,
        places: Places,
        outcome: Outcome,
        waived: bool,
        ms: i64,
    },
    /// A signal was given, which is counted at some places; its answer will be, too.
    Given { signal: Key, places: Places },
    /// A prompt or stronger was given.
    Violated { chain: Key, ms: i64 },
    /// A signal was answered.
    Answered {
        signal: Key,
        action: Action,
        inferred: bool,
        refused: bool,
    },
}

/// What some lines add up to.
#[derive(Debug, Default)]
pub(super) struct Slice {
    pub(super) records: u64,
    pub(super) bad_lines: u64,
    pub(super) evaluations: u64,
    pub(super) hooks: Named<String, u64>,
    pub(super) decisions: [u64; 4],
    pub(super) bindings: Named<BindingName, (Counts, Vec<u32>)>,
    pub(super) issues: Named<String, Group>,
    pub(super) hosts: Named<String, Group>,
    pub(super) days: Named<String, Group>,
    pub(super) ordered: Vec<Ordered>,
    pub(super) first_ms: Option<i64>,
    pub(super) last_ms: Option<i64>,
}

/// At what, about what and when a binding judged.
struct At<'l> {
    hook: &'l str,
    key: Key,
    subject: Key,
    places: Places,
    ms: i64,
}

impl Slice {
    /// Counts some lines.
    pub(super) fn count(bytes: &[u8], filter: &Filter, keys: &Keys) -> Self {
        let mut slice = Self {
            // About one event for this many bytes; a list that grows moves what it holds.
            ordered: Vec::with_capacity(bytes.len() / 256),
            issues: Named::with_capacity(bytes.len() / 2048),
            ..Self::default()
        };
        let is_open = filter.is_open();
        let mut lines = Lines::new(bytes);
        while let Some(line) = lines.next() {
            match line {
                // An answer is counted where its signal is, which is known when the slices are put together.
                Ok(line) if line.kind == Kind::Response => slice.answer(line, is_open, keys),
                Ok(line) if is_open || filter.admits(line) => slice.add(line, filter, keys),
                Ok(_) => {}
                Err(_) => slice.bad_lines += 1,
            }
        }
        slice
    }

    /// Counts a record; returns its time.
    fn record(&mut self, line: &Line<'_>) -> i64 {
        self.records += 1;
        let ms = milliseconds(line.timestamp).unwrap_or_default();
        self.first_ms.get_or_insert(ms);
        self.last_ms = Some(ms);
        ms
    }

    fn answer(&mut self, line: &Line<'_>, is_open: bool, keys: &Keys) {
        if is_open {
            self.record(line);
        }
        if let Some(response) = &line.response {
            self.ordered.push(Ordered::Answered {
                signal: keys.of_id(response.signal_id),
                action: response.action,
                inferred: response.inferred,
                refused: line.refused.is_some(),
            });
        }
    }

    fn add(&mut self, line: &Line<'_>, filter: &Filter, keys: &Keys) {
        let Some(hook) = line.trigger() else { return };
        let ms = self.record(line);
        let subject = line.issue().or(line.session_id.as_deref());
        let subject = subject.unwrap_or_default();
        let key = keys.of(hook);
        let day = line.timestamp.get(..10).unwrap_or_default();
        let day = self.days.place(keys.of(day), || day.to_owned());
        let issue = line.issue().map_or(NONE, |issue| {
            self.issues.place(keys.of(issue), || issue.to_owned())
        });
        let host = line.host.as_deref().map_or(NONE, |host| {
            self.hosts.place(keys.of(host), || host.to_owned())
        });
        match line.kind {
            Kind::Evaluation => {
                self.evaluations += 1;
                let trigger = self.hooks.place(key, || hook.to_owned());
                if let Some(count) = self.hooks.at(trigger) {
                    *count += 1;
                }
                let decision = line.decision.unwrap_or(Decision::None);
                if let Some(count) = self.decisions.get_mut(decision as usize) {
                    *count += 1;
                }
                for group in [
                    self.days.at(day),
                    self.issues.at(issue),
                    self.hosts.at(host),
                ]
                .into_iter()
                .flatten()
                {
                    group.evaluations += 1;
                    group.stopped += u64::from(decision >= Decision::Ask);
                    group.first_ms.get_or_insert(ms);
                    group.last_ms = Some(ms);
                }
                let at = At {
                    hook,
                    key,
                    subject: keys.of(subject),
                    places: Places {
                        binding: NONE,
                        issue,
                        host,
                        day,
                    },
                    ms,
                };
                for report in &line.bindings {
                    if filter.admits_binding(&report.id, &report.oracle) {
                        self.add_report(report, &at, keys);
                    }
                }
            }
            Kind::Signal => {
                let (Some(signal), Some(id)) = (&line.signal, line.binding.as_deref()) else {
                    return;
                };
                let intensity = signal.header.intensity;
                let key = key.with(keys.of(id));
                let binding = self.bindings.place(key, || BindingName {
                    hook: hook.to_owned(),
                    id: id.to_owned(),
                    oracle: signal.header.source.to_string(),
                    source: line.source.as_deref().unwrap_or_default().to_owned(),
                });
                for signals in [
                    self.bindings
                        .at(binding)
                        .map(|(counts, _)| &mut counts.signals),
                    self.days.at(day).map(|g| &mut g.signals),
                    self.issues.at(issue).map(|g| &mut g.signals),
                    self.hosts.at(host).map(|g| &mut g.signals),
                ]
                .into_iter()
                .flatten()
                {
                    signals.add(intensity);
                }
                self.ordered.push(Ordered::Given {
                    signal: keys.of_id(signal.header.id),
                    places: Places {
                        binding,
                        issue,
                        host,
                        day,
                    },
                });
                if intensity >= Intensity::Prompt {
                    self.ordered.push(Ordered::Violated {
                        chain: key.with(keys.of(subject)),
                        ms,
                    });
                }
            }
            Kind::Response => {}
        }
    }

    fn add_report(&mut self, report: &LineReport<'_>, at: &At<'_>, keys: &Keys) {
        let key = at.key.with(keys.of(&report.id));
        let place = self.bindings.place(key, || BindingName {
            hook: at.hook.to_owned(),
            id: report.id.to_string(),
            oracle: report.oracle.to_string(),
            source: report.source.to_string(),
        });
        if let Some((name, (counts, durations))) = self.bindings.item(place) {
            // The place is the latest.
            if *name.source != *report.source {
                name.source.clear();
                name.source.push_str(&report.source);
            }
            let timed_out = report.error.as_deref();
            let timed_out = timed_out.is_some_and(|error| error.starts_with("timed out"));
            counts.add_outcome(report.outcome, timed_out);
            if matches!(
                report.outcome,
                Outcome::Accepted | Outcome::Signalled | Outcome::Failed
            ) {
                durations.push(u32::try_from(report.duration_us).unwrap_or(u32::MAX));
                self.ordered.push(Ordered::Judged {
                    chain: key.with(at.subject),
                    places: Places {
                        binding: place,
                        ..at.places
                    },
                    outcome: report.outcome,
                    waived: !report.waived.is_empty(),
                    ms: at.ms,
                });
            }
        }
    }
}

/// Reads the milliseconds since 1970 of `2026-02-09T10:00:00.123456Z`; faster than a general parser by far.
fn milliseconds(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        text.as_bytes().get(from..to)?.iter().try_fold(0, |n, b| {
            b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let seconds = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    let fraction = match text.as_bytes().get(19) {
        Some(b'.') => number(20, 23).unwrap_or(0),
        _ => 0,
    };
    // Days since 1970 of a date of the Gregorian calendar, counted from the first of March.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some(((days - 719_468) * 86_400 + seconds) * 1000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;
    use chrono::Utc;

    #[test]
    fn times_are_read_as_chrono_reads_them() {
        for text in [
            "1970-01-01T00:00:00Z",
            "2026-02-09T10:00:00.123456Z",
            "2024-02-29T23:59:59Z",
            "2000-03-01T00:00:00.5Z",
            "2100-12-31T12:30:45.999Z",
        ] {
            let expected: DateTime<Utc> = text.parse().unwrap();
            let found = milliseconds(text).unwrap();
            assert!(expected.timestamp_millis() - found < 1000, "{text}");
            assert!(expected.timestamp_millis() >= found, "{text}");
        }
        assert_eq!(milliseconds("soon"), None);
    }
}
