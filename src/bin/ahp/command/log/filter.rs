//! The filters of the log commands.

use ahp::analysis::{Filter, parse_since, parse_until};
use ahp::event::Trigger;
use ahp::signal::Intensity;

use crate::log_file;

#[derive(Debug, Default, clap::Args)]
pub(super) struct FilterArgs {
    /// Not older than this: 30m, 12h, 2d, 3w, a day like 2026-02-09 (UTC), or a time like 2026-02-09T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Not newer than this; a day is included whole
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
    pub(super) fn filter(&self) -> Result<Filter, String> {
        Ok(Filter {
            unanswered: self.unanswered,
            ..self.filter.filter()?
        })
    }
}

impl FilterArgs {
    pub(super) fn filter(&self) -> Result<Filter, String> {
        let now = log_file::now();
        let since = self.since.as_deref().map(|text| parse_since(text, now));
        let until = self.until.as_deref().map(|text| parse_until(text, now));
        Ok(Filter {
            since: since.transpose()?,
            until: until.transpose()?,
            hook: self.hook,
            oracle: self.oracle.clone(),
            binding: self.binding.clone(),
            intensity: self.intensity,
            issue: self.issue.clone(),
            session: self.session.clone(),
            host: self.host.clone(),
            unanswered: false,
        })
    }
}
