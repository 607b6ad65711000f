//! The log that a command reads or answers: of the project around, or one that is named.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ahp::analysis::each_line;
use ahp::config::{Config, Locations, LogSettings};
use ahp::engine::{Clock as _, SystemClock, log_place};
use ahp::signal::Response;
use ahp::signal_log::{
    Answer, LogError, LogPlace, Reader, SignalLog, Verification, respond, verify,
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ask;
use crate::output;
use crate::project;

/// Which log.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LogFile {
    /// Read this log instead of the project's own; all its records are used, wherever they were written
    #[arg(long, global = true, value_name = "PATH")]
    log: Option<PathBuf>,
}

impl LogFile {
    /// Whether one is named.
    pub(crate) const fn is_named(&self) -> bool {
        self.log.is_some()
    }

    /// Finds the log and the settings under which it is written.
    pub(crate) fn find(&self) -> Result<(LogPlace, LogSettings), String> {
        let locations = project::locations(None);
        let config = Config::load(&locations).config;
        let place = match &self.log {
            // Whoever names a log may name a link to it.
            Some(path) => path.canonicalize().unwrap_or_else(|_| path.clone()).into(),
            None => log_place(&locations, &config).map_err(|fault| fault.message)?,
        };
        Ok((place, config.settings.log))
    }

    /// Opens the log for reading; a named one must be there. What another machine wrote is told.
    pub(crate) fn read(&self) -> Result<Reader, String> {
        let (place, _) = self.find()?;
        if self.log.is_none()
            && let Some(checked) = by_judge(&place)
        {
            for fault in checked.map_or_else(|why| vec![why], |checked| checked.faults()) {
                output::error(format!("not verified: {fault}"));
            }
            let whole: LogPlace = place.path().to_owned().into();
            return Reader::open(whole).map_err(|e| e.to_string());
        }
        let reader = Reader::open(place.clone()).map_err(|e| e.to_string())?;
        if self.log.is_some() && reader.is_empty() && !place.path().exists() {
            let path = place.path().display();
            return Err(format!("there is no log at `{path}`"));
        }
        if self.log.is_some() && !reader.is_empty() && !has_records(&reader) {
            let path = place.path().display();
            return Err(format!(
                "`{path}` is not a signal log: no line of it is a record"
            ));
        }
        let foreign = self.foreign()?;
        if self.log.is_some() && !foreign.is_empty() {
            output::error(
                "not written here: this log, or a part of it, is of another machine or project",
            );
        } else {
            for path in &foreign {
                output::error(format!(
                    "`{}` is left out: it was not written here, or is damaged, as `ahp log verify` tells; `--log` reads it",
                    path.display()
                ));
            }
        }
        Ok(reader)
    }

    /// Returns the files of the log that this machine did not write for this project.
    pub(crate) fn foreign(&self) -> Result<Vec<PathBuf>, String> {
        let (place, _) = self.find()?;
        let (own, _) = Self::default().find()?;
        let reader = Reader::open(place.known_as(&own)).map_err(|e| e.to_string())?;
        reader.foreign().map_err(|e| e.to_string())
    }
}

/// Whether a log has any record.
pub(crate) fn has_records(reader: &Reader) -> bool {
    let mut any = false;
    let read = each_line(reader, |_, _| {
        any = true;
        ControlFlow::Break(())
    });
    any || read.is_err()
}

/// What the chain of a log comes to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Checked {
    path: PathBuf,
    pub(crate) found: Verification,
    /// The files of it that this machine did not write for this project.
    foreign: Vec<PathBuf>,
}

impl Checked {
    fn faults(&self) -> Vec<String> {
        let foreign = self.foreign.iter();
        let foreign = foreign.map(|path| format!("`{}` was not written here", path.display()));
        let damage = self.found.damage.as_ref().map(ToString::to_string);
        foreign.chain(damage).collect()
    }
}

/// Checks the log of a project.
pub(crate) fn check(locations: &Locations) -> Result<Checked, String> {
    let config = Config::load(locations).config;
    let place = log_place(locations, &config).map_err(|fault| fault.message)?;
    let told = |error: LogError| error.to_string();
    let reader = Reader::open(place.clone()).map_err(told)?;
    Ok(Checked {
        path: place.path().to_owned(),
        foreign: reader.foreign().map_err(told)?,
        found: verify(place).map_err(told)?,
    })
}

/// Has the judge outside the shield check a log, for the key by which it is known is hidden inside; none outside a shield.
fn by_judge(place: &LogPlace) -> Option<Result<Checked, String>> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Some(ask::log::<Checked>()?.and_then(|checked| {
        if real(&checked.path) == real(place.path()) {
            return Ok(checked);
        }
        let path = checked.path.display();
        Err(format!(
            "the judge outside the shield knows no log but `{path}`"
        ))
    }))
}

/// Says what the chain of a project's log comes to, inside a shield as its judge says.
pub(crate) fn verified(place: LogPlace) -> Result<Verification, String> {
    match by_judge(&place) {
        Some(checked) => Ok(checked?.found),
        None => verify(place).map_err(|error| error.to_string()),
    }
}

/// Whether an answer in a log would be believed.
///
/// # Errors
/// It would not, in words.
pub(crate) fn is_heard(place: &LogPlace) -> Result<(), String> {
    if place.is_known() {
        return Ok(());
    }
    Err("this machine has no key by which it would know the answer again; make the user's state directory (`$XDG_STATE_HOME/ahp`, else `~/.local/state/ahp`) writable".to_owned())
}

/// Answers a signal in the log of a project.
pub(crate) fn answer(
    locations: &Locations,
    signal: &str,
    answer: Answer,
) -> Result<Vec<Response>, String> {
    let config = Config::load(locations).config;
    let place = log_place(locations, &config).map_err(|fault| fault.message)?;
    is_heard(&place)?;
    let log = SignalLog::open(place, &config.settings.log).map_err(|error| error.to_string())?;
    let records = respond(&log, signal, answer, now()).map_err(|error| error.to_string())?;
    Ok(records.into_iter().map(|record| record.response).collect())
}

/// Returns the time of the machine.
pub(crate) fn now() -> DateTime<Utc> {
    SystemClock.now()
}
