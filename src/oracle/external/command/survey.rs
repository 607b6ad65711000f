//! What a file with command hooks says, for whoever looks over a project.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::HookFile;
use super::file::trigger_of;
use super::run::is_own_wire;
use crate::diagnostic::nearest;
use crate::event::Trigger;
use crate::host::HOSTS;
use crate::regular_file;

/// What a file with command hooks says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookFileSurvey {
    /// How many commands it has that are not wires of ours.
    pub commands: usize,
    /// At which triggers they run.
    pub triggers: BTreeSet<Trigger>,
    /// The longest time that they ask for at one of these.
    pub longest: Option<Duration>,
    /// The names of events that no host has, each with the name that was likely meant.
    pub unknown_events: Vec<(String, Option<String>)>,
}

/// The longest file with command hooks that is looked over, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// Looks over a file with command hooks; none where it is not one, or cannot be read.
pub fn survey(path: &Path) -> Option<HookFileSurvey> {
    let text = regular_file::text(path, MAX_FILE).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let events = value.get("hooks")?.as_object()?;
    let of_hosts = || {
        HOSTS
            .iter()
            .flat_map(|host| host.events)
            .flat_map(|m| m.names)
    };
    let is_known = |name: &str| {
        trigger_of(name).is_some() || of_hosts().any(|known| known.eq_ignore_ascii_case(name))
    };
    let unknown = events.keys().filter(|name| !is_known(name));
    // Those that have hook files; what other programs call their events is not meant.
    let with_files = || HOSTS.iter().filter(|host| host.settings.is_some());
    let names = || {
        with_files()
            .flat_map(|host| host.events)
            .flat_map(|e| e.names)
    };
    let near = |name: &str| nearest(name, names().copied()).map(str::to_owned);
    let unknown_events = unknown.map(|name| (name.clone(), near(name))).collect();
    let file = HookFile::parse(text.as_bytes(), None).ok();
    let handlers = file.iter().flat_map(HookFile::all);
    let handlers: Vec<_> = handlers.filter(|handler| !is_own_wire(handler)).collect();
    Some(HookFileSurvey {
        longest: file.as_ref().and_then(HookFile::longest),
        commands: handlers.len(),
        triggers: handlers.iter().map(|handler| handler.trigger).collect(),
        unknown_events,
    })
}
