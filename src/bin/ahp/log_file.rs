//! The log that a command reads or answers: of the project around, or one that is named.

use std::path::PathBuf;

use ahp::config::Config;
use ahp::config::LogSettings;
use ahp::engine::Clock as _;
use ahp::engine::SystemClock;
use ahp::engine::log_path;
use ahp::signal_log::LogError;
use ahp::signal_log::Reader;
use chrono::DateTime;
use chrono::Utc;

use crate::project;

/// Which log.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LogFile {
    /// Use this log instead of the project's own
    #[arg(long, global = true, value_name = "PATH")]
    log: Option<PathBuf>,
}

impl LogFile {
    /// Finds the log and the settings under which it is written.
    pub(crate) fn find(&self) -> (PathBuf, LogSettings) {
        let locations = project::locations(None);
        let settings = Config::load(&locations).config.settings.log;
        let path = self
            .log
            .clone()
            .unwrap_or_else(|| log_path(&locations, &settings.path));
        (path, settings)
    }

    /// Opens the log for reading; a named one must be there.
    pub(crate) fn read(&self) -> Result<Reader, String> {
        let (path, _) = self.find();
        let reader = Reader::open(&path).map_err(|e: LogError| e.to_string())?;
        if self.log.is_some() && reader.is_empty() && !path.exists() {
            return Err(format!("there is no log at `{}`", path.display()));
        }
        Ok(reader)
    }
}

/// Returns the time of the machine.
pub(crate) fn now() -> DateTime<Utc> {
    SystemClock.now()
}
