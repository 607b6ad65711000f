//! ahp-fleet ship: carries what is new in the logs of this user to the place that gathers them.

mod cursor;
mod round;
mod target;

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use ahp::config::{Config, Environment, Locations, Settings, parse_duration};
use ahp::engine::{Clock as _, SystemClock, log_place};
use ahp::signal_log::{KnownLog, LogPlace, known_logs};

use self::round::{Carrier, How, Outcome};
use self::target::{Form, Target, Trouble, elsewhere};
use crate::error::FleetError;
use crate::identity::Identity;
use crate::timer::{Job, Schedule, random_part};
use crate::{settings, state_dir, tell};

/// The first pause after a failure, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(15);

/// How many logs are named that one fault keeps back.
const MOST_NAMED: usize = 3;

/// It runs as the user, who alone may read the logs.
const JOB: Job = Job {
    name: "ship",
    meaning: "Carry the signal logs of ahp",
    arguments: "fleet ship",
    is_of_machine: false,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to: `dir:/PATH`, `https://HOST/PATH/` or `otlp:https://HOST`; else `settings.fleet.ship.to`
    #[arg(long, value_name = "PLACE")]
    to: Option<String>,
    /// A log to carry; else every log that was written by this user
    #[arg(long, value_name = "PATH")]
    log: Vec<PathBuf>,
    /// Send nothing; print what would leave
    #[arg(long)]
    dry_run: bool,
    /// How long a run may take
    #[arg(long = "for", value_name = "DURATION", default_value = "60s", value_parser = parse_duration)]
    patience: Duration,
    /// Every evaluation by OTLP, not only those that were stopped
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    schedule: Schedule,
}

pub(crate) fn run(environment: &Environment, args: &Args) -> Result<ExitCode, FleetError> {
    if let Some(done) = args.schedule.begin(&JOB)? {
        return Ok(done);
    }
    let settings = settings(environment)?;
    let state = state_dir(environment)?;
    let logs = if args.log.is_empty() {
        known_logs(&state).map_err(|error| FleetError::io("read", &state, error))?
    } else {
        let named = args.log.iter().cloned();
        let named = named.map(|path| KnownLog {
            path,
            project: None,
        });
        named.collect()
    };
    if logs.is_empty() {
        tell("no log has been written yet");
    }
    let ship = &settings.fleet.ship;
    let to = args.to.as_deref().or(ship.to.as_deref());
    let how = How {
        state: &state,
        all: args.all || ship.all,
        elsewhere: to.and_then(|to| elsewhere(to, ship, environment)),
    };
    if args.dry_run {
        let form = to.map_or(Form::Tables, Form::of);
        return Ok(dry_run(environment, &settings, args, &logs, &how, form));
    }
    let target = Target::parse(to.ok_or(FleetError::NoTarget)?, ship, environment)?;
    let until = Instant::now() + args.patience;
    let mut faults = Faults::default();
    let mut is_whole = true;
    let mut spooled = 0;
    for log in &logs {
        let mut carry_one = || {
            let (identity, place) = find(environment, &settings, args, log)?;
            let Some(mut carrier) = Carrier::take_up_alone(place, &identity, &how)? else {
                tell(&format!(
                    "`{}` is being carried by another process",
                    log.path.display()
                ));
                return Ok(true);
            };
            if spooled > ship.spool {
                tell(&format!(
                    "`{}` waits: {spooled} bytes are waiting to be sent",
                    log.path.display()
                ));
                return Ok(false);
            }
            let done = carry(&mut carrier, &target, until, &mut faults);
            spooled += carrier.spooled_bytes();
            done
        };
        let done = carry_one();
        is_whole &= faults.unless_faulty(log, done);
    }
    Ok(if faults.tell() && is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What keeps logs back, each with the logs: what several have in common is told once.
#[derive(Debug, Default)]
struct Faults(Vec<(String, Vec<String>)>);

impl Faults {
    /// The fault of one log keeps no other back.
    fn unless_faulty(&mut self, log: &KnownLog, done: Result<bool, FleetError>) -> bool {
        done.unwrap_or_else(|error| {
            self.add(&log.path.display().to_string(), error.to_string());
            true
        })
    }

    fn add(&mut self, log: &str, why: String) {
        let log = format!("`{log}`");
        match self.0.iter_mut().find(|(known, _)| *known == why) {
            Some((_, logs)) => logs.push(log),
            None => self.0.push((why, vec![log])),
        }
    }

    /// Tells of them, a line each; returns whether there is none.
    fn tell(&self) -> bool {
        for (why, logs) in &self.0 {
            let (shown, more) = logs.split_at(logs.len().min(MOST_NAMED));
            let more = match more.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            tell(&format!("{}{more}: {why}", shown.join(", ")));
        }
        self.0.is_empty()
    }
}

/// Carries one log as far as it goes in the time; returns whether all of it arrived whole. What other logs may share is told by
/// `faults`.
fn carry(
    carrier: &mut Carrier<'_>,
    target: &Target,
    until: Instant,
    faults: &mut Faults,
) -> Result<bool, FleetError> {
    let name = carrier.log.path().display().to_string();
    let now = SystemClock.now().timestamp();
    if carrier.cursor.not_before > now {
        tell(&format!(
            "`{name}` waits: the server asked for {} more seconds",
            carrier.cursor.not_before - now
        ));
        return Ok(false);
    }
    let (mut sent, mut is_whole, mut pause) = (0, true, FIRST_PAUSE);
    loop {
        match carrier.round(target)? {
            Outcome::Done { told } => {
                is_whole &= tell_of(&name, &told);
                break;
            }
            Outcome::Arrived { records, told } => {
                pause = FIRST_PAUSE;
                sent += records;
                is_whole &= tell_of(&name, &told);
            }
            Outcome::Stuck(Trouble::Later { told, after }) => {
                let wait = after
                    .unwrap_or_else(|| pause / 2 + random_part(pause / 2))
                    .min(LONGEST_PAUSE);
                if Instant::now() + wait >= until {
                    faults.add(&name, format!("{told}; it is tried again at the next run"));
                    let not_before =
                        after.map_or(0, |after| now + i64::try_from(after.as_secs()).unwrap_or(0));
                    carrier.cursor.not_before = not_before;
                    carrier.save()?;
                    return Ok(false);
                }
                thread::sleep(wait);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            // A server that takes less takes the half, or in the end nothing: that many tries need no pause.
            Outcome::Stuck(Trouble::TooLarge) => {
                if Instant::now() >= until {
                    is_whole = false;
                }
            }
            Outcome::Stuck(Trouble::Kept(told)) => {
                let kept = "the batch is kept, and nothing more is sent until that is put right";
                faults.add(&name, format!("{told}; {kept}"));
                carrier.cursor.kept = Some(told);
                carrier.save()?;
                return Ok(false);
            }
        }
        if Instant::now() >= until {
            tell(&format!(
                "`{name}`: the time is over; the rest is sent by the next run"
            ));
            break;
        }
    }
    if sent > 0 {
        tell(&format!("`{name}`: {sent} records sent"));
    }
    Ok(is_whole)
}

/// Tells what a person should know of a log; returns whether there is nothing.
fn tell_of(name: &str, told: &[String]) -> bool {
    for text in told {
        tell(&format!("`{name}`: {text}"));
    }
    told.is_empty()
}

/// Prints what would leave: the rows of the tables, or the requests of OTLP, as JSON. What keeps a log back is told.
fn dry_run(
    environment: &Environment,
    settings: &Settings,
    args: &Args,
    logs: &[KnownLog],
    how: &How<'_>,
    form: Form,
) -> ExitCode {
    let mut faults = Faults::default();
    let mut is_whole = true;
    for log in logs {
        let show = || {
            let (identity, place) = find(environment, settings, args, log)?;
            let told = Carrier::take_up(place, &identity, how)?.show(form)?;
            Ok(tell_of(&log.path.display().to_string(), &told))
        };
        is_whole &= faults.unless_faulty(log, show());
    }
    if faults.tell() && is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns who a log is of, and which of its files count.
fn find(
    environment: &Environment,
    settings: &Settings,
    args: &Args,
    log: &KnownLog,
) -> Result<(Identity, LogPlace), FleetError> {
    let dir = log.project.as_deref().or_else(|| log.path.parent());
    let locations = Locations::find(environment, dir);
    let config = Config::load(&locations).config;
    // A log that a person names is counted whole. Of the others only what this machine wrote leaves it, wherever the policy
    // has the project's log lie now.
    let place = LogPlace::from(&log.path);
    let place = if args.log.is_empty() {
        let own = log_place(&locations, &config);
        let own = own.map_err(|fault| FleetError::Policy(fault.message.clone()))?;
        if own.path() == log.path {
            own
        } else {
            place.known_as(&own)
        }
    } else {
        place
    };
    // A team is that of the log's own project, wherever this is run.
    let team = config.settings.team;
    let project = Some(locations.project_root.as_path());
    let identity = Identity::find(environment, settings, team, project)?;
    Ok((identity, place))
}
