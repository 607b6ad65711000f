//! Pull: the newest bundle from a static server, asked for only where it has changed.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use ahp::config::{BundleSettings, Environment, parse_duration};
use ahp::engine::{Clock as _, SystemClock};
use ureq::Agent;
use ureq::http::header::{ETAG, IF_NONE_MATCH, LOCATION};

use super::archive::MOST_PACKED;
use super::store::{State, Store};
use super::take::{Offer, SIGNATURE, Taken, told};
use super::{Machine, say, signature};
use crate::error::FleetError;
use crate::http;
use crate::identity::machine_id;
use crate::timer::{Job, Schedule};

/// How many redirections are followed.
const MOST_REDIRECTS: usize = 3;

/// The most bytes of a signature.
const MOST_SIGNATURE: u64 = 4096;

/// It runs as root, who alone changes the policy of a machine.
const JOB: Job = Job {
    name: "bundle",
    meaning: "Fetch the signed policy of this machine",
    arguments: "bundle pull",
    is_of_machine: true,
};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How long to wait before a bundle that does not verify is fetched once more
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = parse_duration)]
    pause: Duration,
    #[command(flatten)]
    schedule: Schedule,
    #[command(flatten)]
    machine: Machine,
}

/// What a server gave.
struct Answer {
    body: Vec<u8>,
    etag: Option<String>,
}

/// Asks the server, and puts in force what it has.
pub(super) fn run(environment: &Environment, args: &Args) -> Result<ExitCode, FleetError> {
    if let Some(done) = args.schedule.begin(&JOB)? {
        return Ok(done);
    }
    let store = args.machine.store_to_write()?;
    let settings = args.machine.fleet()?.bundle.ok_or_else(|| {
        FleetError::Refused(
            "there is no server to ask: `settings.fleet.bundle` in /etc/ahp/hooks.yaml gives `url` and `keys`"
                .to_owned(),
        )
    })?;
    if !http::is_private(&settings.url) {
        return Err(FleetError::Refused(format!(
            "`{}` is not a place to fetch policy from: expected `https://HOST/PATH`",
            settings.url
        )));
    }
    let machine = machine_id(environment)?;
    let first = fetch(&store, &settings, &machine);
    let done = match first {
        // The two files of a static server change one after the other.
        Err(Trouble::NotTaken(_)) => {
            thread::sleep(args.pause);
            fetch(&store, &settings, &machine)
        }
        done => done,
    };
    match done {
        Ok(text) => say(&text),
        Err(Trouble::NotTaken(error) | Trouble::Other(error)) => {
            Err(FleetError::Refused(format!("`{}`: {error}", settings.url)))
        }
    }
}

enum Trouble {
    /// The bundle that came is not what it must be.
    NotTaken(FleetError),
    Other(FleetError),
}

impl From<FleetError> for Trouble {
    fn from(error: FleetError) -> Self {
        Self::Other(error)
    }
}

fn fetch(store: &Store, settings: &BundleSettings, machine: &str) -> Result<String, Trouble> {
    let agent = http::agent(&settings.url, settings.ca.as_deref(), None)?;
    let is_there = store.in_force()?.is_some();
    let known = store.state()?.etag.filter(|_| is_there);
    let Some(answer) = get(&agent, &settings.url, known.as_deref(), MOST_PACKED)? else {
        note_checked(store, |_| {})?;
        return Ok("nothing new".to_owned());
    };
    let url = format!("{}{SIGNATURE}", settings.url);
    let signed = get(&agent, &url, None, MOST_SIGNATURE)?;
    let signed = signed.map_or_else(Vec::new, |answer| answer.body);
    let offer = Offer {
        keys: &signature::configured(Some(settings))?,
        machine,
        now: SystemClock.now(),
        is_by_hand: false,
        is_whole: false,
    };
    let (manifest, taken) = offer
        .take(store, &answer.body, &String::from_utf8_lossy(&signed))
        .map_err(Trouble::NotTaken)?;
    note_checked(store, |state| state.etag = answer.etag)?;
    let notice = match taken {
        Taken::Already => "nothing new".to_owned(),
        taken => told(&manifest, taken),
    };
    Ok(notice)
}

/// Notes that the server was asked with success, and what is new.
fn note_checked(store: &Store, change: impl FnOnce(&mut State)) -> Result<(), FleetError> {
    let _alone = store.lock()?;
    let mut state = store.state()?;
    state.checked_at = Some(SystemClock.now());
    change(&mut state);
    store.save(&state)
}

/// Gets a file; none where it is the one that is known.
fn get(
    agent: &Agent,
    url: &str,
    known: Option<&str>,
    most: u64,
) -> Result<Option<Answer>, FleetError> {
    let mut at = url.to_owned();
    for _ in 0..=MOST_REDIRECTS {
        let mut request = agent.get(&at);
        if let Some(etag) = known {
            request = request.header(IF_NONE_MATCH, etag);
        }
        let mut answer = request.call().map_err(|error| {
            FleetError::Refused(format!("the server cannot be reached: {error}"))
        })?;
        let header = |name| {
            let value = answer.headers().get(name)?;
            Some(value.to_str().ok()?.to_owned())
        };
        match answer.status().as_u16() {
            200 => {
                let etag = header(ETAG);
                let body = answer.body_mut().with_config().limit(most).read_to_vec();
                let body = body.map_err(|error| {
                    FleetError::Refused(format!("what the server gave cannot be read: {error}"))
                })?;
                return Ok(Some(Answer { body, etag }));
            }
            304 => return Ok(None),
            301 | 302 | 303 | 307 | 308 => {
                let mut to = header(LOCATION).unwrap_or_default();
                if to.starts_with('/') && !to.starts_with("//") {
                    to.insert_str(0, origin(&at).unwrap_or_default());
                }
                if origin(&to).is_none() || origin(&to) != origin(&at) {
                    return Err(FleetError::Refused(format!(
                        "the server leads to `{to}`, which is another place; only its own are followed"
                    )));
                }
                at = to;
            }
            status => return Err(FleetError::Refused(format!("the server answered {status}"))),
        }
    }
    Err(FleetError::Refused(
        "the server leads in a circle".to_owned(),
    ))
}

/// Returns scheme, host and port of an address that may be asked.
fn origin(url: &str) -> Option<&str> {
    if !http::is_private(url) {
        return None;
    }
    let host = url.find("://")? + 3;
    let end = url.get(host..)?.find('/').map_or(url.len(), |at| host + at);
    url.get(..end)
}
