//! Break-glass: for some hours locked bindings only advise, because a person with root says so, by name and with a reason.
//!
//! What they find is logged all the same, and each evaluation says that the glass was broken.

use std::collections::BTreeSet;
use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

use ahp::config::{Environment, parse_duration};
use ahp::diagnostic::nearest;
use ahp::engine::{Clock as _, SystemClock};
use chrono::{DateTime, SubsecRound as _, Utc};
use serde::{Deserialize, Serialize};

use super::store::{Store, read_json, remove_file};
use super::{Machine, say};
use crate::error::FleetError;

/// The file that `ahp` reads too.
const NAME: &str = "break-glass.json";

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How long: no duration here is longer than a day
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration, required_unless_present = "end")]
    duration: Option<Duration>,
    /// Why, for the log
    #[arg(long, required_unless_present = "end")]
    reason: Option<String>,
    /// A binding that only advises; else all that are locked
    #[arg(long, value_name = "ID")]
    binding: Vec<String>,
    /// End it now
    #[arg(long, conflicts_with_all = ["duration", "reason", "binding"])]
    end: bool,
    #[command(flatten)]
    machine: Machine,
}

/// Who broke it, why, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BreakGlass {
    pub(super) by: String,
    pub(super) reason: String,
    pub(super) since: DateTime<Utc>,
    pub(super) until: DateTime<Utc>,
    /// The bindings that it is for; all locked ones where it names none.
    pub(super) bindings: Vec<String>,
}

impl BreakGlass {
    /// Reads what is noted; none where the glass is whole.
    pub(super) fn read(store: &Store) -> Result<Option<Self>, FleetError> {
        read_json(&store.0.join(NAME))
    }
}

impl fmt::Display for BreakGlass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.bindings.is_empty() {
            "all locked bindings".to_owned()
        } else {
            format!("`{}`", self.bindings.join("`, `"))
        };
        let (by, until, why) = (&self.by, self.until, &self.reason);
        write!(
            f,
            "BROKEN GLASS: until {until} {what} only advise, by {by}: {why}"
        )
    }
}

pub(super) fn run(environment: &Environment, args: &Args) -> Result<ExitCode, FleetError> {
    let store = args.machine.store_to_write()?;
    if args.end {
        let _alone = store.lock()?;
        let path = store.0.join(NAME);
        remove_file(&path).map_err(|error| FleetError::io("remove", &path, error))?;
        return say("every locked binding holds again");
    }
    let (Some(duration), Some(reason)) = (args.duration, &args.reason) else {
        return Err(FleetError::Refused(
            "`--for` and `--reason` are needed".to_owned(),
        ));
    };
    if reason.trim().is_empty() {
        return Err(FleetError::Refused(
            "`--reason` is empty; it stands in every log".to_owned(),
        ));
    }
    let in_force = args.machine.in_force();
    if args.machine.forbids_break_glass(&in_force)? {
        return Err(FleetError::Refused(
            "the policy forbids it: `settings.forbid` names `break-glass`".to_owned(),
        ));
    }
    let locked = in_force.bindings.values().flatten();
    let locked: BTreeSet<&str> = locked
        .filter(|spec| spec.locked)
        .map(|spec| spec.id.as_str())
        .collect();
    if let Some(id) = args.binding.iter().find(|id| !locked.contains(id.as_str())) {
        let near = nearest(id, locked.iter().copied());
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if locked.is_empty() => "it has none".to_owned(),
            None => {
                let locked: Vec<&str> = locked.into_iter().collect();
                format!("they are `{}`", locked.join("`, `"))
            }
        };
        return Err(FleetError::Refused(format!(
            "no locked binding of the policy in force is called `{id}`; {hint}"
        )));
    }
    let since = SystemClock.now().trunc_subsecs(0);
    let by = ["SUDO_USER", "USER", "LOGNAME"];
    let glass = BreakGlass {
        by: by
            .into_iter()
            .find_map(|name| environment.get(name))
            .unwrap_or("root")
            .to_owned(),
        reason: reason.trim().to_owned(),
        since,
        until: since + chrono::Duration::from_std(duration).unwrap_or_default(),
        bindings: args.binding.clone(),
    };
    let _alone = store.lock()?;
    store.write(NAME, &glass)?;
    say(&glass.to_string())
}
