//! Kept: the judge of one person, for all projects, who judges what only computes; what starts programs is judged by the
//! caller, whose environment, terminal and limits are those that the programs are to have.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ahp::config::{Environment, Locations};
use ahp::engine::Engine;
use ahp::event::Trigger;
use ahp::host::{Decoded, Host, Reply};
use ahp::verdict::Verdict;
use serde_json::{Value, json};
use tracing::debug;

use super::Service;
use super::engines::Engines;
use crate::answer;
use crate::answer::{Deadlines, Judge, Past, Trouble, Upcoming};
use crate::ask::Request;

/// The judge of one person.
#[derive(Debug)]
pub(crate) struct Kept {
    engines: Arc<Engines>,
    since: Instant,
}

impl Kept {
    /// Judges by engines that others may use too.
    pub(crate) fn new(engines: Arc<Engines>) -> Self {
        Self {
            engines,
            since: Instant::now(),
        }
    }
}

/// One request.
struct Asked<'a> {
    engines: &'a Engines,
    environment: Environment,
    here: Locations,
    accept: RefCell<&'a mut dyn FnMut() -> bool>,
    state: Cell<Said>,
}

/// What the caller has been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Nothing,
    Accepted,
    Refused,
}

impl Asked<'_> {
    fn accepts(&self) -> bool {
        if self.state.get() == Said::Nothing {
            let heard = (self.accept.borrow_mut())();
            self.state
                .set(if heard { Said::Accepted } else { Said::Refused });
        }
        self.state.get() == Said::Accepted
    }
}

impl Judge for Asked<'_> {
    fn locations(&self, dir: Option<&Path>) -> Locations {
        match dir {
            Some(dir) => Locations::find(&self.environment, Some(dir)),
            None => self.here.clone(),
        }
    }

    fn tells_project(&self, host: &Host) -> bool {
        self.environment.project_dir(host).is_some()
    }

    fn host_dirs(&self, host: &Host, dir: &Path) -> Vec<PathBuf> {
        answer::host_dirs(&self.environment, &self.here, host, dir)
    }

    fn depth(&self) -> u32 {
        // Callers that stand in a hook do not ask.
        0
    }

    fn engine(&self, locations: Locations, _: Trigger, past: Past) -> Result<Engine, String> {
        self.engines.logged(locations, past)
    }

    fn settings_changed(&self, _: &Decoded) -> Option<Verdict> {
        // Such an event is not taken.
        None
    }

    fn take(&self, decoded: &Decoded) -> Result<(), Trouble> {
        // More than one event is judged for these, or what the caller alone can see.
        let is_more = decoded.host_event.is_some_and(|host_event| {
            host_event.is_permission
                || host_event.is_settings
                || host_event.trigger == Some(Trigger::PreAgentTurnStop)
        });
        if is_more {
            self.state.set(Said::Refused);
            return Err(Trouble::Elsewhere);
        }
        Ok(())
    }

    fn begin(&self, event: &Upcoming<'_>) -> Result<(), Trouble> {
        if event.is_all && event.prepared.only_computes() && self.accepts() {
            return Ok(());
        }
        self.state.set(Said::Refused);
        Err(Trouble::Elsewhere)
    }
}

impl Service for Kept {
    fn hook(
        &self,
        request: Request,
        body: &[u8],
        accept: &mut dyn FnMut() -> bool,
    ) -> Option<Reply> {
        let begun = Instant::now();
        let call = request.call();
        let variables = request.env.iter();
        let environment = Environment::of(
            request.cwd,
            variables.map(|(name, value)| (name.as_str(), value.as_str())),
        );
        let asked = Asked {
            engines: &self.engines,
            here: Locations::find(&environment, None),
            environment,
            accept: RefCell::new(accept),
            state: Cell::new(Said::Nothing),
        };
        let deadlines = Deadlines::of(&call);
        let mut decision = None;
        let reply = answer::reply(&call, |progress| {
            let reply = answer::evaluate(&call, body, &asked, progress, deadlines);
            decision = progress.decision;
            reply
        });
        if !asked.accepts() {
            return None;
        }
        let took = begun.elapsed();
        debug!(
            host = call.host.as_deref().unwrap_or("-"),
            event = call.event.as_deref().unwrap_or("-"),
            ?decision,
            us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            "judged"
        );
        self.engines.took(&asked.here, took);
        Some(reply)
    }

    fn respond(&self, _: &[u8]) -> Option<Reply> {
        None
    }

    fn status(&self, _: &[String]) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "pid": std::process::id(),
            "uptime_s": self.since.elapsed().as_secs(),
            "memory_bytes": memory(),
            "engines": self.engines.status(),
        })
    }

    fn tidy(&self) {
        self.engines.forget_unused();
    }
}

/// Returns how much memory this process holds, where the system tells.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
