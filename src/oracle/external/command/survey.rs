//! What a file with command hooks says, for whoever looks over a project.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use super::HookFile;
use super::file::{KINDS, OF_GROUP, OF_HANDLER, trigger_of};
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
    /// What no host heeds, each with the name that was likely meant.
    pub unheeded: Vec<(String, Option<String>)>,
    /// What keeps the whole file from being read as its hosts read it.
    pub fault: Option<String>,
    /// What runs under the file's own host alone, whatever binds the file.
    pub elsewhere: Vec<String>,
}

/// The longest file with command hooks that is looked over, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// Looks over a file with command hooks; none where it is not one, or cannot be read.
pub fn survey(path: &Path) -> Option<HookFileSurvey> {
    let text = regular_file::text(path, MAX_FILE).ok()?;
    let mut found = HookFileSurvey::default();
    let parsed = serde_json::from_str::<Value>(&text);
    if let Ok(value) = &parsed {
        for (event, entries) in value.get("hooks")?.as_object()? {
            found.look_at_event(event, entries);
        }
    }
    match HookFile::parse(text.as_bytes(), None) {
        // What was counted holds only where nobody can tell what the hooks are.
        Ok(file) => {
            let handlers = file.all().iter();
            let handlers: Vec<_> = handlers.filter(|handler| !is_own_wire(handler)).collect();
            found.longest = file.longest();
            found.commands = handlers.len();
            found.triggers = handlers.iter().map(|handler| handler.trigger).collect();
        }
        Err(why) => {
            found.unheeded.push((why.clone(), None));
            found.fault = Some(why);
        }
    }
    Some(found)
}

impl HookFileSurvey {
    fn look_at_event(&mut self, event: &str, entries: &Value) {
        let of_hosts = HOSTS.iter().flat_map(|host| host.events);
        let mut of_hosts = of_hosts.flat_map(|mapping| mapping.names);
        let trigger = trigger_of(event).map(|(trigger, _)| trigger);
        if let Some(trigger) = trigger {
            // What the file says of it is looked at below.
            self.triggers.insert(trigger);
        } else if of_hosts.any(|known| *known == event) {
            let message = format!("the hooks of `{event}` run under their own host alone");
            self.elsewhere.push(message);
        } else {
            // Those that have hook files; what other programs call their events is not meant.
            let with_files = HOSTS.iter().filter(|host| host.settings.is_some());
            let names = with_files.flat_map(|host| host.events);
            let near = nearest(event, names.flat_map(|mapping| mapping.names).copied());
            let message = format!("no host has the event `{event}`, so its hooks never run");
            self.unheeded.push((message, near.map(str::to_owned)));
        }
        for (n, entry) in entries.as_array().into_iter().flatten().enumerate() {
            let Some(entry) = entry.as_object() else {
                continue;
            };
            let at = format!("hooks.{event}[{n}]");
            let Some(group) = entry.get("hooks").and_then(Value::as_array) else {
                self.commands += usize::from(trigger.is_some());
                self.look_at_handler(&at, entry, &[OF_HANDLER, OF_GROUP]);
                continue;
            };
            self.look_at_keys(&at, entry, &[OF_GROUP]);
            if group.is_empty() {
                self.unheeded.push((format!("`{at}.hooks` is empty"), None));
            }
            for (n, member) in group.iter().enumerate() {
                if let Some(member) = member.as_object() {
                    self.commands += usize::from(trigger.is_some());
                    self.look_at_handler(&format!("{at}.hooks[{n}]"), member, &[OF_HANDLER]);
                }
            }
        }
    }

    fn look_at_handler(&mut self, at: &str, handler: &Map<String, Value>, known: &[&[&str]]) {
        self.look_at_keys(at, handler, known);
        match handler.get("type").and_then(Value::as_str) {
            None | Some("command") => {}
            Some(kind) if KINDS.contains(&kind) => {
                let message =
                    format!("`{at}` is of type `{kind}`, which only its own host can run");
                self.elsewhere.push(message);
            }
            Some(kind) => {
                let near = nearest(kind, KINDS.iter().copied()).map(str::to_owned);
                self.unheeded.push((
                    format!("`{at}` is of type `{kind}`, which no host has"),
                    near,
                ));
            }
        }
    }

    fn look_at_keys(&mut self, at: &str, map: &Map<String, Value>, known: &[&[&str]]) {
        let known = || known.iter().copied().flatten().copied();
        for key in map.keys().filter(|key| known().all(|known| known != **key)) {
            let near = nearest(key, known()).map(str::to_owned);
            self.unheeded
                .push((format!("nobody reads the key `{key}` of `{at}`"), near));
        }
    }
}
