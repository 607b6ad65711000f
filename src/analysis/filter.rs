//! Filter: which records of a log are looked at.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use uuid::Uuid;

use crate::event::Trigger;
use crate::oracle::folded_name;
use crate::signal::Intensity;
use crate::signal_log::{Body, Line};

/// Which records of a log are looked at; what is not given does not matter.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Not before this.
    pub since: Option<DateTime<Utc>>,
    /// Not after this.
    pub until: Option<DateTime<Utc>>,
    /// Of this trigger.
    pub hook: Option<Trigger>,
    /// Of this oracle, in any spelling.
    pub oracle: Option<String>,
    /// Of this binding.
    pub binding: Option<String>,
    /// Of this intensity.
    pub intensity: Option<Intensity>,
    /// Of this issue.
    pub issue: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// Of this host.
    pub host: Option<String>,
    /// Of entries, those without an answer alone; of a single record this cannot be told.
    pub unanswered: bool,
}

impl Filter {
    /// Whether it lets an evaluation or a signal pass; an answer does not say enough of itself: see [`Passed`].
    pub fn admits(&self, line: &Line<'_>) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        // An issue is one in capitals and in small letters; no two hosts differ in that alone.
        let names = |wanted: &Option<String>, found: Option<&str>| {
            let is_found = |wanted: &str| found.is_some_and(|f| f.eq_ignore_ascii_case(wanted));
            wanted.as_deref().is_none_or(is_found)
        };
        self.admits_time(line)
            && self
                .hook
                .is_none_or(|hook| line.trigger() == Some(hook.name()))
            && names(&self.issue, line.issue())
            && is(&self.session, line.session())
            && names(&self.host, line.host())
            && self.admits_signal(line)
    }

    /// Whether it lets pass everything.
    pub fn is_open(&self) -> bool {
        self.since.is_none()
            && self.until.is_none()
            && self.hook.is_none()
            && self.oracle.is_none()
            && self.binding.is_none()
            && self.intensity.is_none()
            && self.issue.is_none()
            && self.session.is_none()
            && self.host.is_none()
    }

    /// Whether it lets pass what is of a binding and its oracle.
    pub fn admits_binding(&self, id: &str, oracle: &str) -> bool {
        self.binding.as_deref().is_none_or(|binding| binding == id)
            && self
                .oracle
                .as_deref()
                .is_none_or(|wanted| folded_name(oracle) == folded_name(wanted))
    }

    fn admits_time(&self, line: &Line<'_>) -> bool {
        self.since.is_none_or(|since| line.timestamp >= since)
            && self.until.is_none_or(|until| line.timestamp <= until)
    }

    fn admits_signal(&self, line: &Line<'_>) -> bool {
        match &line.body {
            Body::Signal(record) => {
                let header = &record.signal.header;
                self.intensity
                    .is_none_or(|intensity| header.intensity == intensity)
                    && self.admits_binding(&record.origin.binding, &header.source)
            }
            // An evaluation passes where a binding that is asked for took part in it.
            body => {
                let reports = match body {
                    Body::Evaluation(evaluation) => evaluation.bindings.as_slice(),
                    _ => &[],
                };
                let mut reports = reports.iter();
                (self.binding.is_none() && self.oracle.is_none())
                    || reports.any(|r| self.admits_binding(&r.id, &r.oracle))
            }
        }
    }
}

/// A filter over a log that is read in its order: an answer passes where the signal that it answers did.
#[derive(Debug)]
pub struct Passed<'f> {
    filter: &'f Filter,
    signals: HashMap<Uuid, bool>,
}

impl<'f> Passed<'f> {
    /// Nothing has been read yet.
    pub fn new(filter: &'f Filter) -> Self {
        Self {
            filter,
            signals: HashMap::new(),
        }
    }

    /// Whether a record passes; `earlier` tells whether a signal does that was given before the reading began.
    pub fn admits(&mut self, line: &Line<'_>, earlier: impl FnOnce(Uuid) -> bool) -> bool {
        if self.filter.is_open() {
            return true;
        }
        if let Body::Response(answer) = &line.body {
            let id = answer.response.signal_id;
            return *self.signals.entry(id).or_insert_with(|| earlier(id));
        }
        let passes = self.filter.admits(line);
        if let Body::Signal(record) = &line.body {
            self.signals.insert(record.signal.header.id, passes);
        }
        passes
    }
}

/// Reads the moment that something begins with: `30m`, `12h`, `2d` or `3w` ago, a day (UTC), or a time in RFC 3339.
///
/// # Errors
/// What was expected.
pub fn parse_since(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, String> {
    parse_moment(text, NaiveTime::MIN, now)
}

/// Reads the moment that something ends with: like [`parse_since`], but a day is meant whole.
///
/// # Errors
/// What was expected.
pub fn parse_until(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, String> {
    let last = NaiveTime::MIN - TimeDelta::nanoseconds(1);
    parse_moment(text, last, now)
}

fn parse_moment(
    text: &str,
    of_day: NaiveTime,
    now: DateTime<Utc>,
) -> Result<DateTime<Utc>, String> {
    if let Ok(moment) = text.parse::<DateTime<Utc>>() {
        return Ok(moment);
    }
    if let Ok(date) = text.parse::<NaiveDate>() {
        return Ok(date.and_time(of_day).and_utc());
    }
    let units = [
        ("s", 1),
        ("m", 60),
        ("h", 3600),
        ("d", 86_400),
        ("w", 604_800),
    ];
    units
        .into_iter()
        .find_map(|(unit, seconds)| {
            let number: u32 = text.strip_suffix(unit)?.parse().ok()?;
            now.checked_sub_signed(TimeDelta::try_seconds(i64::from(number) * seconds)?)
        })
        .ok_or_else(|| {
            format!("`{text}` is not a time: expected `30m`, `12h`, `2d`, `3w`, `2026-02-09` or `2026-02-09T10:00:00Z`")
        })
}
