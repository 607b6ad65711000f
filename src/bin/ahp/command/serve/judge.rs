//! Judge: the engines of the projects that are asked about, and what an event comes to in them.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;
use std::time::Instant;

use ahp::config::Config;
use ahp::config::Environment;
use ahp::config::Locations;
use ahp::engine::Engine;
use ahp::engine::block_on;
use ahp::engine::log_path;
use ahp::event::Event;
use ahp::event::Trigger;
use ahp::host;
use ahp::host::HOSTS;
use ahp::host::Host;
use ahp::host::Input;
use ahp::host::Queue;
use ahp::message;
use ahp::signal::Action;
use ahp::signal::Actor;
use ahp::signal::Signal;
use ahp::signal_log::Answer;
use ahp::signal_log::SignalLog;
use ahp::signal_log::respond;
use ahp::verdict::Decision;
use ahp::verdict::Verdict;
use serde_json::Map;
use serde_json::Value;

use super::known::Known;
use crate::log_file;
use crate::project;

/// The most engines that are kept at once.
const MOST_ENGINES: usize = 32;

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
    engines: Mutex<BTreeMap<PathBuf, Engine>>,
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
    ) -> Self {
        Self {
            environment: Environment::of_process(),
            locations,
            is_fixed,
            timeout,
            believes_humans,
            engines: Mutex::default(),
            known: Known::default(),
        }
    }

    /// Returns the root of the project, and how many faults its policy has.
    pub(super) fn project(&self) -> (PathBuf, usize) {
        let faults = self
            .engine(self.locations.clone())
            .map_or(1, |engine| engine.state().faults().len());
        (self.locations.project_root.clone(), faults)
    }

    /// Returns the state directory of the user.
    pub(super) fn state_dir(&self) -> Option<&Path> {
        self.locations.state_dir.as_deref()
    }

    fn locations_of(&self, event: &Event) -> Locations {
        match &event.work_dir {
            Some(dir) if !self.is_fixed => Locations::find(&self.environment, Some(dir)),
            _ => self.locations.clone(),
        }
    }

    fn engine(&self, locations: Locations) -> Result<Engine, String> {
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = engines.get(&locations.project_root) {
            return Ok(engine.clone());
        }
        if engines.len() >= MOST_ENGINES {
            engines.clear();
        }
        let root = locations.project_root.clone();
        let engine = project::engine(locations)
            .build()
            .map_err(|error| error.to_string())?;
        engines.insert(root, engine.clone());
        Ok(engine)
    }

    /// Judges an event, with the issue events that its command line brings along. What cannot be judged is blocked
    /// before it happens.
    pub(super) fn evaluate(&self, mut event: Event) -> Judged {
        let trigger = event.trigger;
        let locations = self.locations_of(&event);
        if event.work_dir.is_none() {
            event.work_dir = Some(locations.work_dir.clone());
        }
        let deadline = Instant::now() + self.timeout;
        let work = AssertUnwindSafe(|| -> Result<Judged, String> {
            let engine = self.engine(locations)?;
            let all = block_on(engine.evaluate_all(event, Some(deadline)));
            let verdicts = all.into_iter().map(|one| {
                let issue_id = one.event.issue_id.clone();
                (issue_id, one.verdict)
            });
            Ok(Judged {
                verdicts: verdicts.collect(),
            })
        });
        let failed = || Err("ahp itself failed; please report it with the event".to_owned());
        std::panic::catch_unwind(work)
            .unwrap_or_else(|_| failed())
            .unwrap_or_else(|why| not_judged(trigger, &why))
    }

    /// Judges what a host would give its hook; returns the decision and the host's own answer.
    pub(super) fn hook(
        &self,
        host: &str,
        event: Option<&str>,
        payload: &Map<String, Value>,
    ) -> Result<(Decision, Value), String> {
        let Some(host) = Host::find(host) else {
            let names: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
            return Err(format!(
                "unknown host `{host}`: expected one of `{}`",
                names.join("`, `")
            ));
        };
        let bytes = serde_json::to_vec(payload).map_err(|error| error.to_string())?;
        let decoded = host::decode(&Input {
            bytes: &bytes,
            host: Some(host),
            event,
            arguments: &[],
            work_dir: &self.locations.work_dir,
        })
        .map_err(|error| error.to_string())?;
        let mut judged = Vec::new();
        for event in &decoded.events {
            judged.extend(self.evaluate(event.clone()).verdicts);
        }
        let judged = Judged { verdicts: judged };
        let decision = judged.decision();
        let queue = self
            .state_dir()
            .zip(decoded.session_id.as_deref())
            .map(|(dir, session)| Queue::new(dir, decoded.host.name, session));
        let verdicts = judged.verdicts.into_iter().map(|(_, verdict)| verdict);
        let reply = decoded
            .host
            .answer(&decoded, verdicts.collect(), queue.as_ref());
        if reply.blocks && reply.stdout.is_empty() {
            return Err(format!(
                "`{}` is told of a block by an exit code, which a reply cannot carry; ask with `ahp/evaluate`: {}",
                decoded.host.name, reply.stderr
            ));
        }
        let object = match reply.object() {
            Value::Null => Value::Object(Map::new()),
            object => object,
        };
        Ok((decision, object))
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
        let settings = Config::load(&self.locations).config.settings.log;
        let path = log_path(&self.locations, &settings.path);
        let log = SignalLog::open(path, &settings).map_err(|error| error.to_string())?;
        let answer = Answer {
            action,
            details,
            by,
        };
        respond(&log, signal, answer, log_file::now()).map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// What stands for an event that could not be judged.
fn not_judged(trigger: Trigger, why: &str) -> Judged {
    let signal = if trigger.is_pre() {
        Signal::block("not-judged", why).steps(["run `ahp doctor`", "try again"])
    } else {
        Signal::prompt("not-judged", why)
    };
    Judged {
        verdicts: vec![(None, Verdict::of(trigger, vec![signal]))],
    }
}
