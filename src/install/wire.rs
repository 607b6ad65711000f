//! Wire: a hook that stands in a host's settings, and whether the host would wait for it and heed it.

use std::net::SocketAddr;
use std::time::Duration;

use crate::host::{Form, Host, HostEvent, Shape};

use super::http;
use super::line::{called, is_alone, refuses_aloud};
use super::places::Places;

/// A hook that stands in a host's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The host's event.
    pub event: String,
    /// The command line that it runs, or the address that it asks over HTTP.
    pub command: String,
    /// The tools that it is run for, where not for all.
    pub matcher: Option<String>,
    /// The permission rule for whose calls alone it is run.
    pub rule: Option<String>,
    /// What it is, where the host has several types: `command`, `http`, `prompt`.
    pub kind: Option<String>,
    /// How long the host waits for it, where that is written.
    pub timeout: Option<Duration>,
    /// Whether the host goes on without its answer.
    pub is_async: bool,
    /// Whether the host stops what it was asked about where the hook fails, is late or is not there.
    pub closes: bool,
}

impl Wire {
    /// Makes a wire for all tools that the host waits for as long as it waits for any.
    pub(super) fn new(event: &str, command: &str) -> Self {
        Self {
            event: event.to_owned(),
            command: command.to_owned(),
            matcher: None,
            rule: None,
            kind: None,
            timeout: None,
            is_async: false,
            closes: false,
        }
    }

    /// Limits it to the tools of a matcher; some hosts write one for all tools, too.
    pub(super) fn matching(mut self, matcher: Option<&str>) -> Self {
        self.matcher = matcher
            .filter(|text| !matches!(*text, "" | "*"))
            .map(str::to_owned);
        self
    }

    /// Whether it is asked over HTTP.
    pub fn is_http(&self) -> bool {
        http::is_address(&self.command)
    }

    /// Returns whom it asks in place of this program, or of the judge that answers over HTTP here; none where it asks us.
    pub(super) fn stranger(&self, places: &Places, judge: Option<SocketAddr>) -> Option<String> {
        let is_us = if self.is_http() {
            judge.is_some_and(|judge| http::is_at(&self.command, judge))
        } else {
            places.calls_us(&self.command)
        };
        (!is_us).then(|| format!("`{}` does not call this `ahp`", self.command))
    }

    /// Returns the program that it calls, by name or by path; none where only a shell can tell, or where it is asked over HTTP.
    pub fn program(&self) -> Option<String> {
        let (name, homes) = called(&self.command)?;
        let has_home = homes.iter().any(|home| name.starts_with(home));
        (!has_home && is_alone(&self.command)).then_some(name)
    }

    /// Returns why the host would let things pass that its command would stop; none where it would not.
    pub fn weakness(&self, host: &Host) -> Option<String> {
        if self.is_async {
            return Some("it is `async`, so that nothing waits for its answer".to_owned());
        }
        if let Some(kind) = self.kind.as_deref()
            && !matches!(kind, "command" | "http")
        {
            return Some(format!("it is of type `{kind}`, which does not call `ahp`"));
        }
        if let Some(rule) = &self.rule {
            return Some(format!("its rule `{rule}` leaves calls out"));
        }
        let is_in_settings = matches!(
            host.settings.map(|settings| settings.form),
            Some(Form::Json(_) | Form::Toml | Form::Codex)
        );
        if is_in_settings && !self.is_http() && !is_alone(&self.command) {
            return Some("its command line holds more than the call of `ahp`".to_owned());
        }
        let is_named = |name: &&str| name.eq_ignore_ascii_case(&self.event);
        let host_event = host.events.iter().find(|m| m.names.iter().any(is_named));
        if let Some(matcher) = &self.matcher
            && host_event.and_then(|m| m.matcher) != Some(matcher)
        {
            return Some(format!("its matcher `{matcher}` leaves tools out"));
        }
        let can_close = matches!(
            host.settings.map(|settings| settings.form),
            Some(Form::Json(Shape::GroupsClosing | Shape::Cursor))
        );
        if can_close && !self.closes && host_event.is_some_and(HostEvent::gates) {
            return Some("it does not say that what it cannot judge is blocked".to_owned());
        }
        let is_open = is_in_settings && !self.closes && !self.is_http();
        if is_open && host_event.is_some_and(HostEvent::gates) && !refuses_aloud(&self.command) {
            return Some("it does not refuse where `ahp` is missing or dies".to_owned());
        }
        let limit = self.timeout?;
        let own = self.patience().unwrap_or(host.timeout * 4 / 5);
        (limit <= own).then(|| {
            format!(
                "it is cut off after {} s and takes up to {} s",
                limit.as_secs_f64(),
                own.as_secs_f64()
            )
        })
    }

    /// Returns how long the command says that it may take.
    fn patience(&self) -> Option<Duration> {
        let seconds = if self.is_http() {
            http::timeout_of(&self.command)?
        } else {
            let (_, rest) = self.command.split_once(" --timeout ")?;
            rest.split_whitespace().next()?.parse().ok()?
        };
        Duration::try_from_secs_f64(seconds).ok()
    }
}
