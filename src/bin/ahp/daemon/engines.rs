//! Engines: one for each project and each way in which its places are found, kept while they are used.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ahp::config::Locations;
use ahp::engine::{Engine, EngineBuilder};
use serde_json::{Value, json};
use tracing::info;

use crate::answer::Past;
use crate::project;

/// The most engines that are kept at once.
const MOST: usize = 32;

/// How long one is kept that nobody uses.
const UNUSED: Duration = Duration::from_mins(10);

/// How many of the last times are kept of each engine.
const TIMES: usize = 1024;

/// The engines that are in use.
#[derive(Debug)]
pub(crate) struct Engines {
    make: fn(Locations) -> EngineBuilder,
    kept: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    /// Where its places are, but for the directory in which something happens.
    locations: Locations,
    engine: Engine,
    used: Instant,
    count: u64,
    times: VecDeque<Duration>,
}

/// Returns what makes two places the same to an engine: everything but the directory in which something happens.
fn key(locations: &Locations) -> Locations {
    let mut key = locations.clone();
    key.work_dir = PathBuf::new();
    key
}

impl Engines {
    /// Keeps engines that are begun in some way.
    pub(crate) fn new(make: fn(Locations) -> EngineBuilder) -> Self {
        Self {
            make,
            kept: Mutex::default(),
        }
    }

    /// Keeps the engines of a judge who judges for one person.
    pub(crate) fn of_person() -> Arc<Self> {
        Arc::new(Self::new(project::engine))
    }

    /// Returns the engine of a project; what is written there is read again where it has changed.
    ///
    /// # Errors
    /// None can be made.
    pub(crate) fn get(&self, locations: Locations) -> Result<Engine, String> {
        let key = key(&locations);
        let now = Instant::now();
        let is_it = |kept: &&mut Kept| kept.locations == key;
        if let Some(kept) = self.lock().iter_mut().find(is_it) {
            kept.used = now;
            return Ok(kept.engine.clone());
        }
        // Made without the lock: a large policy must not keep the others waiting.
        let engine = (self.make)(locations)
            .build()
            .map_err(|error| error.to_string())?;
        let mut all = self.lock();
        // Another event may have made it meanwhile.
        if let Some(kept) = all.iter_mut().find(is_it) {
            return Ok(kept.engine.clone());
        }
        while all.len() >= MOST {
            let oldest = all.iter().enumerate().min_by_key(|(_, kept)| kept.used);
            let Some((oldest, _)) = oldest else {
                break;
            };
            all.swap_remove(oldest);
        }
        info!("made an engine for {}", key.project_root.display());
        all.push(Kept {
            locations: key,
            engine: engine.clone(),
            used: now,
            count: 0,
            times: VecDeque::new(),
        });
        Ok(engine)
    }

    /// Returns the engine of a project; one of its own that writes nothing where it is not to be logged.
    ///
    /// # Errors
    /// None can be made.
    pub(crate) fn logged(&self, locations: Locations, past: Past) -> Result<Engine, String> {
        match past {
            Past::Log => self.get(locations),
            Past::Given(_) => past
                .known_to((self.make)(locations))
                .build()
                .map_err(|error| error.to_string()),
        }
    }

    /// Gives back the engines that nobody has used for long.
    pub(crate) fn forget_unused(&self) {
        let now = Instant::now();
        self.lock()
            .retain(|kept| now.duration_since(kept.used) < UNUSED);
    }

    /// Notes how long an event took.
    pub(crate) fn took(&self, locations: &Locations, time: Duration) {
        let key = key(locations);
        let mut all = self.lock();
        if let Some(kept) = all.iter_mut().find(|kept| kept.locations == key) {
            kept.count += 1;
            if kept.times.len() == TIMES {
                kept.times.pop_front();
            }
            kept.times.push_back(time);
        }
    }

    /// Says which there are, how much each has judged, and how long the last events took.
    pub(crate) fn status(&self) -> Vec<Value> {
        let all = self.lock();
        let said = all.iter().map(|kept| {
            let mut times: Vec<_> = kept.times.iter().map(Duration::as_micros).collect();
            times.sort_unstable();
            let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(0);
            json!({"project": kept.locations.project_root, "events": kept.count, "p50_us": at(50), "p99_us": at(99)})
        });
        said.collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
