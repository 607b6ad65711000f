//! Target: where a batch goes. A directory and `PUT` take the same file twice without harm; an OTLP store drops doubles by
//! `(ahp.log.id, ahp.seq)`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use ahp::config::{Environment, ShipSettings};
use ahp::engine::{Clock as _, SystemClock};
use chrono::DateTime;
use serde_json::Value;
use ureq::Agent;
use ureq::http::Response;

use crate::disk::{self, Mode};
use crate::error::FleetError;
use crate::http;
use crate::lake::LakeFile;

/// Where a batch goes.
#[derive(Debug)]
pub(super) enum Target {
    /// A directory, such as a mounted share.
    Dir(PathBuf),
    /// A server that keeps what is `PUT`.
    Put(Server),
    /// A collector that speaks OTLP.
    Otlp(Server),
}

/// Where OTLP goes instead of the place that was asked for.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT";

/// The longest pause that a server may ask for.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// In which form records leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Parquet files.
    Tables,
    /// OTLP.
    Events,
}

impl Form {
    /// The form that a place takes.
    pub(super) fn of(to: &str) -> Self {
        if to.starts_with("otlp:") {
            Self::Events
        } else {
            Self::Tables
        }
    }

    /// Whether a file of the spool is in this form.
    pub(super) fn is_of(self, file: &str) -> bool {
        file.ends_with(".parquet") == (self == Self::Tables)
    }
}

/// Where records go that leave for a place, where that is not the one of the settings.
pub(super) fn elsewhere(
    to: &str,
    settings: &ShipSettings,
    environment: &Environment,
) -> Option<String> {
    match environment
        .get(ENDPOINT)
        .filter(|_| Form::of(to) == Form::Events)
    {
        Some(url) => Some(format!("otlp:{url}")),
        None => (settings.to.as_deref() != Some(to)).then(|| to.to_owned()),
    }
}

#[derive(Debug)]
pub(super) struct Server {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
}

/// Why a batch has not arrived.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It may arrive later; the server may have said when.
    Later {
        told: String,
        after: Option<Duration>,
    },
    /// Half of it may arrive.
    TooLarge,
    /// It will not arrive as long as nobody changes something.
    Kept(String),
}

impl Target {
    /// Reads `dir:/PATH`, `https://HOST/PATH/` or `otlp:https://HOST`.
    ///
    /// # Errors
    /// It is something else, or its token or certificates cannot be read.
    pub(super) fn parse(
        to: &str,
        settings: &ShipSettings,
        environment: &Environment,
    ) -> Result<Self, FleetError> {
        if let Some(dir) = to.strip_prefix("dir:") {
            let dir = PathBuf::from(dir);
            return if dir.is_absolute() {
                Ok(Self::Dir(dir))
            } else {
                Err(FleetError::BadTarget(to.to_owned()))
            };
        }
        if let Some(url) = to.strip_prefix("otlp:") {
            if !http::is_private(url) {
                return Err(FleetError::BadTarget(to.to_owned()));
            }
            let url = match environment.get(ENDPOINT) {
                Some(url) => url.to_owned(),
                None => format!("{}/v1/logs", url.trim_end_matches('/')),
            };
            let mut server = Server::new(&url, settings)?;
            let headers = environment
                .get("OTEL_EXPORTER_OTLP_LOGS_HEADERS")
                .unwrap_or_default();
            for pair in headers.split(',') {
                if let Some((name, value)) = pair.split_once('=') {
                    server
                        .headers
                        .push((name.trim().to_owned(), decoded(value.trim())));
                }
            }
            return Ok(Self::Otlp(server));
        }
        Server::new(to, settings).map(Self::Put)
    }

    /// Which form it takes.
    pub(super) const fn form(&self) -> Form {
        match self {
            Self::Otlp(_) => Form::Events,
            Self::Dir(_) | Self::Put(_) => Form::Tables,
        }
    }

    /// Delivers one file. Returns what a person should know of what arrived.
    pub(super) fn deliver(&self, file: &LakeFile) -> Result<Option<String>, Trouble> {
        match self {
            Self::Dir(dir) => {
                disk::write_whole(&dir.join(&file.path), &file.bytes, Mode::Shared).map_err(
                    |error| Trouble::Later {
                        told: error.to_string(),
                        after: None,
                    },
                )?;
                Ok(None)
            }
            Self::Put(server) => server.put(file).map(|()| None),
            Self::Otlp(server) => server.post(&file.bytes),
        }
    }
}

impl Server {
    fn new(url: &str, settings: &ShipSettings) -> Result<Self, FleetError> {
        // What leaves a machine leaves it encrypted; on the machine itself there is nobody between.
        if !http::is_private(url) {
            return Err(FleetError::BadTarget(url.to_owned()));
        }
        let is_meant = is_of_settings(url, settings);
        let mut headers = Vec::new();
        if let Some(path) = settings.token_file.as_ref().filter(|_| is_meant) {
            let token =
                fs::read_to_string(path).map_err(|error| FleetError::io("read", path, error))?;
            headers.push((
                "Authorization".to_owned(),
                format!("Bearer {}", token.trim()),
            ));
        }
        Ok(Self {
            agent: http::agent(
                url,
                settings.ca.as_deref(),
                settings.certificate.as_deref().filter(|_| is_meant),
            )?,
            url: url.to_owned(),
            headers,
        })
    }

    fn put(&self, file: &LakeFile) -> Result<(), Trouble> {
        let url = format!("{}/{}", self.url.trim_end_matches('/'), file.path);
        let mut request = self
            .agent
            .put(&url)
            .header("Content-Type", "application/vnd.apache.parquet");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let answer = request
            .send(&file.bytes[..])
            .map_err(|error| unreachable(&error))?;
        match answer.status().as_u16() {
            // 412: a server that takes nothing twice has it already.
            200 | 201 | 204 | 412 => Ok(()),
            _ => Err(refusal(&answer)),
        }
    }

    fn post(&self, gzipped: &[u8]) -> Result<Option<String>, Trouble> {
        let mut request = self
            .agent
            .post(&self.url)
            .header("Content-Type", "application/json")
            .header("Content-Encoding", "gzip");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut answer = request.send(gzipped).map_err(|error| unreachable(&error))?;
        if !answer.status().is_success() {
            return Err(refusal(&answer));
        }
        // A partial success is not sent again, as the protocol says; it is told.
        let body = answer.body_mut().read_to_string().unwrap_or_default();
        let rejected = serde_json::from_str::<Value>(&body).ok().and_then(|body| {
            let rejected = body.pointer("/partialSuccess/rejectedLogRecords")?;
            rejected
                .as_u64()
                .or_else(|| rejected.as_str()?.parse().ok())
        });
        Ok(rejected
            .filter(|rejected| *rejected > 0)
            .map(|rejected| format!("the collector took the batch but for {rejected} records")))
    }
}

/// Whether a server is that of the settings. What proves who this machine is is for no other, whichever a command or a
/// variable names.
fn is_of_settings(url: &str, settings: &ShipSettings) -> bool {
    let to = settings.to.as_deref().unwrap_or_default();
    let meant = http::origin(to.strip_prefix("otlp:").unwrap_or(to));
    meant.is_some() && http::origin(url) == meant
}

/// A value of a header as the variable gives it: bytes that would end it stand as `%` and two digits.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind
            .get(..2)
            .filter(|digits| *first == b'%' && digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = behind.get(code.map_or(0, |_| 2)..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// How long `Retry-After` asks to wait: seconds, or until a date.
fn pause(value: &str, now: i64) -> Option<Duration> {
    let seconds = value.trim().parse::<u64>().ok();
    let until = || {
        let date = DateTime::parse_from_rfc2822(value.trim()).ok()?;
        u64::try_from((date.timestamp() - now).max(0)).ok()
    };
    let asked = seconds.or_else(until).map(Duration::from_secs);
    asked.map(|asked| asked.min(LONGEST_WAIT))
}

fn unreachable(error: &ureq::Error) -> Trouble {
    Trouble::Later {
        told: error.to_string(),
        after: None,
    }
}

fn refusal<B>(answer: &Response<B>) -> Trouble {
    let status = answer.status();
    let told = format!("the server answered {status}");
    match status.as_u16() {
        408 | 429 | 500 | 502..=504 => {
            let after = answer
                .headers()
                .get("Retry-After")
                .and_then(|value| pause(value.to_str().ok()?, SystemClock.now().timestamp()));
            Trouble::Later { told, after }
        }
        413 => Trouble::TooLarge,
        _ => Trouble::Kept(told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_before_it_stood_in_the_variable() {
        assert_eq!(decoded("Bearer%20a%2Cb%3d"), "Bearer a,b=");
        assert_eq!(decoded("50%, %zz %2"), "50%, %zz %2");
    }

    #[test]
    fn what_proves_who_a_machine_is_goes_to_the_server_of_the_settings_alone() {
        for (to, url, is_meant) in [
            (
                "https://gather.example/ahp/",
                "https://gather.example/other/",
                true,
            ),
            (
                "otlp:https://gather.example",
                "https://GATHER.example/v1/logs",
                true,
            ),
            (
                "https://gather.example/ahp/",
                "https://gather.example.evil/",
                false,
            ),
            (
                "https://gather.example/ahp/",
                "https://gather.example:8443/",
                false,
            ),
            (
                "https://gather.example/ahp/",
                "https://gather.example@evil.example/",
                false,
            ),
            (
                "https://gather.example/ahp/",
                "http://gather.example/ahp/",
                false,
            ),
            ("dir:/mnt/lake", "https://evil.example/", false),
            ("", "https://evil.example/", false),
        ] {
            let mut settings = ShipSettings::default();
            settings.to = (!to.is_empty()).then(|| to.to_owned());
            assert_eq!(is_of_settings(url, &settings), is_meant, "{to} {url}");
        }
    }

    #[test]
    fn a_server_may_ask_for_a_pause_in_seconds_or_until_a_date() {
        let now = 1_445_412_480;
        assert_eq!(pause("7", now), Some(Duration::from_secs(7)));
        let date = "Wed, 21 Oct 2015 07:28:30 GMT";
        assert_eq!(pause(date, now), Some(Duration::from_secs(30)));
        assert_eq!(pause(date, now + 60), Some(Duration::ZERO));
        assert_eq!(pause("soon", now), None);
        assert_eq!(pause(&i64::MAX.to_string(), now), Some(LONGEST_WAIT));
    }
}
