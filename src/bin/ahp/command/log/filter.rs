//! The filters of the log commands.

use ahp::analysis::Filter;
use ahp::analysis::parse_moment;
use ahp::event::Trigger;
use ahp::signal::Intensity;

use crate::log_file;

#[derive(Debug, Default, clap::Args)]
pub(super) struct FilterArgs {
    /// Not older than this: 30m, 12h, 2d, 3w, a date or a time
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Not newer than this
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Of this trigger
    #[arg(long, value_name = "TRIGGER")]
    hook: Option<Trigger>,
    /// Of this oracle
    #[arg(long, value_name = "NAME")]
    oracle: Option<String>,
    /// Of this binding
    #[arg(long, value_name = "ID")]
    binding: Option<String>,
    /// Of this intensity: block, control, prompt, aid
    #[arg(long, value_name = "INTENSITY", value_parser = intensity)]
    intensity: Option<Intensity>,
    /// Of this issue
    #[arg(long, value_name = "ID")]
    issue: Option<String>,
    /// Of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of this host
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Without an answer
    #[arg(long)]
    unanswered: bool,
}

fn intensity(name: &str) -> Result<Intensity, String> {
    Intensity::find(name).ok_or_else(|| "expected block, control, prompt or aid".to_owned())
}

impl FilterArgs {
    pub(super) fn filter(&self) -> Result<Filter, String> {
        let now = log_file::now();
        let moment = |text: &Option<String>| {
            text.as_deref()
                .map(|text| parse_moment(text, now))
                .transpose()
        };
        Ok(Filter {
            since: moment(&self.since)?,
            until: moment(&self.until)?,
            hook: self.hook,
            oracle: self.oracle.clone(),
            binding: self.binding.clone(),
            intensity: self.intensity,
            issue: self.issue.clone(),
            session: self.session.clone(),
            host: self.host.clone(),
            unanswered: self.unanswered,
        })
    }
}
