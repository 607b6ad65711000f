//! The filters of the log commands.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ahp::analysis::{Filter, each_line, parse_since, parse_until};
use ahp::config::Config;
use ahp::diagnostic::nearest;
use ahp::event::Trigger;
use ahp::host::{HOSTS, Host};
use ahp::oracle::folded_name;
use ahp::signal::Intensity;
use ahp::signal_log::{Body, Reader};

use crate::log_file;
use crate::project;

#[derive(Debug, Default, clap::Args)]
pub(super) struct FilterArgs {
    /// Only records from this time on: 30m, 12h, 2d, 3w, a day like 2026-02-09 (UTC), or a time like 2026-02-09T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only records up to this time; a day is included as a whole
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Only those of this trigger
    #[arg(long, value_name = "TRIGGER")]
    hook: Option<Trigger>,
    /// Only those of this oracle
    #[arg(long, value_name = "NAME")]
    oracle: Option<String>,
    /// Only those of this binding
    #[arg(long, value_name = "ID")]
    binding: Option<String>,
    /// Only those of this intensity: block, control, prompt, aid
    #[arg(long, value_name = "INTENSITY", value_parser = intensity)]
    intensity: Option<Intensity>,
    /// Only those of this issue
    #[arg(long, value_name = "ID")]
    issue: Option<String>,
    /// Only those of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only those of this host
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
}

fn intensity(name: &str) -> Result<Intensity, String> {
    Intensity::find(name).ok_or_else(|| "expected block, control, prompt or aid".to_owned())
}

/// The filters where signals are listed, each with what became of it.
#[derive(Debug, Default, clap::Args)]
pub(super) struct SignalFilterArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Only those without an answer
    #[arg(long)]
    unanswered: bool,
}

impl SignalFilterArgs {
    pub(super) fn filter(&self, reader: &Reader) -> Result<Filter, String> {
        Ok(Filter {
            unanswered: self.unanswered,
            ..self.filter.filter(reader)?
        })
    }
}

impl FilterArgs {
    /// Returns the filter; a name that neither the policy nor the log has is a mistake.
    pub(super) fn filter(&self, reader: &Reader) -> Result<Filter, String> {
        let now = log_file::now();
        let since = self.since.as_deref().map(|text| parse_since(text, now));
        let until = self.until.as_deref().map(|text| parse_until(text, now));
        let host = self.host.as_deref();
        let filter = Filter {
            since: since.transpose()?,
            until: until.transpose()?,
            hook: self.hook,
            oracle: self.oracle.clone(),
            binding: self.binding.clone(),
            intensity: self.intensity,
            issue: self.issue.clone(),
            session: self.session.clone(),
            host: host.map(|name| Host::find(name).map_or(name, |host| host.name).to_owned()),
            unanswered: false,
        };
        check(&filter, reader)?;
        Ok(filter)
    }
}

/// The names by which signals are selected.
#[derive(Default)]
struct Names {
    bindings: BTreeSet<String>,
    oracles: BTreeSet<String>,
    hosts: BTreeSet<String>,
}

impl Names {
    /// Returns the names that are known without the log.
    fn of_policy() -> Self {
        let mut names = Self::default();
        let config = Config::load(&project::locations(None)).config;
        for spec in config.bindings.values().flatten() {
            names.bindings.insert(spec.id.clone());
            names.oracles.insert(spec.target.name().to_owned());
        }
        names.hosts = HOSTS.iter().map(|host| host.name.to_owned()).collect();
        names
    }

    /// Adds those that the log has.
    fn add_logged(&mut self, reader: &Reader) -> Result<(), String> {
        let read = each_line(reader, |_, line| {
            self.hosts.extend(line.host().map(str::to_owned));
            match &line.body {
                Body::Evaluation(evaluation) => {
                    for report in &evaluation.bindings {
                        self.bindings.insert(report.id.to_string());
                        self.oracles.insert(report.oracle.to_string());
                    }
                }
                Body::Signal(record) => {
                    self.bindings.insert(record.origin.binding.clone());
                    self.oracles.insert(record.signal.header.source.clone());
                }
                Body::Response(_) => {}
            }
            ControlFlow::Continue(())
        });
        read.map_err(|error| error.to_string())
    }

    /// Returns what is said of the first name that a filter asks for and none of these is.
    fn unknown(&self, filter: &Filter) -> Option<String> {
        let is_same: Same = |wanted, name| wanted.eq_ignore_ascii_case(name);
        let is_oracle: Same = |wanted, name| folded_name(wanted) == folded_name(name);
        let is_binding: Same = |wanted, name| wanted == name;
        let asked = [
            ("binding", &filter.binding, &self.bindings, is_binding),
            ("oracle", &filter.oracle, &self.oracles, is_oracle),
            ("host", &filter.host, &self.hosts, is_same),
        ];
        asked.into_iter().find_map(|(what, wanted, known, is)| {
            let wanted = wanted.as_deref()?;
            if known.iter().any(|name| is(wanted, name)) {
                return None;
            }
            let near = nearest(wanted, known.iter().map(String::as_str));
            let near = near.map(|near| format!("; did you mean `{near}`?"));
            Some(format!(
                "neither the policy nor the log has the {what} `{wanted}`{}",
                near.unwrap_or_default()
            ))
        })
    }
}

/// Whether what was asked for means a name.
type Same = fn(&str, &str) -> bool;

/// Finds a name that is nowhere; the log is read only where the policy does not know it.
fn check(filter: &Filter, reader: &Reader) -> Result<(), String> {
    if filter.binding.is_none() && filter.oracle.is_none() && filter.host.is_none() {
        return Ok(());
    }
    let mut names = Names::of_policy();
    if names.unknown(filter).is_none() {
        return Ok(());
    }
    names.add_logged(reader)?;
    names.unknown(filter).map_or(Ok(()), Err)
}
