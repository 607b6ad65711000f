//! Judge: the engines of the projects that are asked about, and what an event comes to in them.

use std::cell::Cell;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ahp::config::{Environment, Locations};
use ahp::engine::{Engine, block_on};
use ahp::event::{Event, Trigger};
use ahp::host::{self, Decoded, Host, Reply};
use ahp::message;
use ahp::process::depth;
use ahp::signal::{Action, Actor, Signal};
use ahp::signal_log::Answer;
use ahp::verdict::{Decision, Verdict};
use serde_json::{Map, Value};

use super::known::Known;
use crate::answer::{self, Call, Deadlines, Past};
use crate::command::hook::settings_changed;
use crate::daemon::engines::Engines;
use crate::log_file;

/// The most characters of a message to a client.
const MESSAGE: usize = 9_000;

/// Judges events by the policies of their projects.
#[derive(Debug)]
pub(super) struct Judge {
    environment: Environment,
    locations: Locations,
    /// Whether one project's policy judges every event.
    is_fixed: bool,
    timeout: Duration,
    believes_humans: bool,
    engines: Arc<Engines>,
    /// Where it answers over HTTP.
    address: Option<SocketAddr>,
    pub(super) known: Known,
}

/// What an event came to: each verdict with the issue that it is about.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) verdicts: Vec<(Option<String>, Verdict)>,
}

impl Judged {
    /// Returns the strongest decision.
    pub(super) fn decision(&self) -> Decision {
        let all = self.verdicts.iter().map(|(_, verdict)| verdict.decision);
        all.max().unwrap_or(Decision::None)
    }

    /// Returns the tool's input as it is to be; none where nothing changes it, or nothing goes on.
    pub(super) fn modified_input(&self) -> Option<&Value> {
        if self.decision() == Decision::Block {
            return None;
        }
        self.verdicts
            .iter()
            .find_map(|(_, verdict)| verdict.modified_input.as_ref())
    }

    /// Says it to the agent: the reasons, the way out of each, and how to answer.
    pub(super) fn message(&self) -> String {
        let said = self
            .verdicts
            .iter()
            .map(|(_, verdict)| message::for_agent(verdict, MESSAGE))
            .filter(|text| !text.is_empty());
        said.collect::<Vec<_>>().join("\n\n")
    }
}

impl Judge {
    pub(super) fn new(
        locations: Locations,
        is_fixed: bool,
        timeout: Duration,
        believes_humans: bool,
        engines: Arc<Engines>,
    ) -> Self {
        Self {
            environment: Environment::of_process(),
            locations,
            is_fixed,
            timeout,
            believes_humans,
            engines,
            address: None,
            known: Known::default(),
        }
    }

    /// Says where it answers over HTTP.
    pub(super) fn at(mut self, address: SocketAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// Returns the root of the project, and how many faults its policy has.
    pub(super) fn project(&self) -> (PathBuf, usize) {
        let faults = self
            .engines
            .get(self.locations.clone())
            .map_or(1, |engine| engine.state().faults().len());
        (self.locations.project_root.clone(), faults)
    }

    /// Returns the state directory of the user.
    pub(super) fn state_dir(&self) -> Option<&Path> {
        self.locations.state_dir.as_deref()
    }

    /// Judges an event, with the issue events that its command line brings along. What cannot be judged is blocked
    /// before it happens. Where one project is fixed, another in which the event happens can only add to it.
    pub(super) fn evaluate(&self, mut event: Event) -> Judged {
        let trigger = event.trigger;
        let here = answer::Judge::locations(self, event.work_dir.as_deref());
        let fixed = self.is_fixed.then(|| self.locations.clone());
        let fixed = fixed.filter(|fixed| fixed.project_root != here.project_root);
        event.work_dir.get_or_insert_with(|| here.work_dir.clone());
        let deadline = Instant::now() + self.timeout;
        let work = AssertUnwindSafe(|| -> Result<Judged, String> {
            let mut verdicts = Vec::new();
            for locations in fixed.into_iter().chain([here]) {
                let begun = Instant::now();
                let engine = self.engines.get(locations.clone())?;
                if !host::is_canary(&event) {
                    engine.keep_first(&engine.state());
                }
                let all = block_on(engine.evaluate_all(event.clone(), Some(deadline)));
                verdicts.extend(
                    all.into_iter()
                        .map(|one| (one.event.issue_id.clone(), one.verdict)),
                );
                self.engines.took(&locations, begun.elapsed());
            }
            Ok(Judged { verdicts })
        });
        let failed = || Err("ahp itself failed; please report it with the event".to_owned());
        std::panic::catch_unwind(work)
            .unwrap_or_else(|_| failed())
            .unwrap_or_else(|why| not_judged(trigger, &why))
    }

    /// Judges what a host would give its hook, as `ahp hook` does; `timeout` is how long the caller waits, in seconds.
    ///
    /// # Errors
    /// There is no such host.
    pub(super) fn hook(
        &self,
        host: &str,
        event: Option<&str>,
        timeout: Option<f64>,
        payload: &[u8],
    ) -> Result<(Decision, Reply), String> {
        let found = Host::find(host).ok_or_else(|| Host::unknown_name(host))?;
        let own = self.timeout.as_secs_f64();
        let call = Call {
            host: Some(host.to_owned()),
            event: event.map(str::to_owned),
            arguments: Vec::new(),
            timeout: Some(timeout.map_or(own, |asked| asked.min(own))),
            index: None,
        };
        let deadlines = Deadlines::of(&call);
        let decision = Cell::new(None);
        let mut work_dir = None;
        let begun = Instant::now();
        let reply = answer::reply(&call, |progress| {
            let reply = answer::evaluate(&call, payload, self, progress, deadlines);
            decision.set(progress.decision);
            let mut events = progress.decoded.iter().flat_map(|decoded| &decoded.events);
            work_dir = events.find_map(|event| event.work_dir.clone());
            reply
        });
        let here = answer::Judge::locations(self, work_dir.as_deref());
        self.engines.took(&here, begun.elapsed());
        let stands_in = || {
            if found.obeys(&reply) {
                Decision::Block
            } else {
                Decision::None
            }
        };
        Ok((decision.get().unwrap_or_else(stands_in), reply))
    }

    /// Records the answer to a signal; a person's word is taken only where the program was started for one.
    pub(super) fn respond(
        &self,
        signal: &str,
        action: Action,
        details: Map<String, Value>,
        by: Actor,
    ) -> Result<(), String> {
        let by = if self.believes_humans {
            by
        } else {
            Actor::Agent
        };
        let answer = Answer {
            action,
            details,
            by,
        };
        log_file::answer(&self.locations, signal, answer).map(drop)
    }
}

impl answer::Judge for Judge {
    fn locations(&self, dir: Option<&Path>) -> Locations {
        match dir {
            Some(dir) => Locations::find(&self.environment, Some(dir)),
            None => self.locations.clone(),
        }
    }

    fn tells_project(&self, _: &Host) -> bool {
        self.is_fixed
    }

    fn host_dirs(&self, _: &Host, dir: &Path) -> Vec<PathBuf> {
        let root = Some(&self.locations.project_root);
        let root = root.filter(|root| self.is_fixed && *root != dir);
        root.cloned().into_iter().collect()
    }

    fn depth(&self) -> u32 {
        depth()
    }

    fn engine(&self, locations: Locations, _: Trigger, past: Past) -> Result<Engine, String> {
        self.engines.logged(locations, past)
    }

    fn settings_changed(&self, decoded: &Decoded) -> Option<Verdict> {
        settings_changed(&self.environment, &self.locations, decoded, self.address)
    }
}

/// What stands for an event that could not be judged.
pub(super) fn not_judged(trigger: Trigger, why: &str) -> Judged {
    let signal = if trigger.is_pre() {
        Signal::block("not-judged", why).steps(["run `ahp doctor`", "try again"])
    } else {
        Signal::prompt("not-judged", why)
    };
    Judged {
        verdicts: vec![(None, Verdict::of(trigger, vec![signal]))],
    }
}
