//! Guard: what one run of a script may use up, watched while it runs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rhai::Dynamic;

use super::limits::{MAX_OPERATIONS, MOST_OPERATIONS};
use super::memory;
use crate::fact::Facts;
use crate::oracle::HookContext;

/// How much larger the process may grow while a script runs, in bytes.
///
/// The interpreter's own limits bound single values, not their number, and not every way to store one.
const MAX_GROWTH: u64 = 24 << 20;

/// How long a script runs before its memory is looked at for the first time, and between two looks.
const MEMORY_INTERVAL: Duration = Duration::from_micros(300);

/// How many texts that a script prints are kept, and how long each may be.
const MAX_PRINTED: usize = 100;
const MAX_PRINTED_LEN: usize = 2000;

/// How many operations a run that is over may still take until it names a variable.
///
/// Where the interpreter is told to end a run, it forgets where the run was; an error in the place of a variable's value
/// has a place.
const GRACE: u64 = 8;

/// How many operations a run takes until it counts them among those of all runs about the event.
const COUNTED: u64 = 256;

/// Why a run was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It has taken as many operations as it may.
    Operations,
    /// All runs about this event have taken as many as they may.
    Together,
    /// The binding's timeout has passed.
    Deadline,
    /// The process has grown too much.
    Memory,
}

/// What a run sees of the event.
#[derive(Clone, Debug)]
pub(super) enum Sees {
    /// A condition: the facts.
    Facts(Facts),
    /// An oracle: all that oracles see, and until when.
    All(HookContext),
}

impl Sees {
    fn facts(&self) -> &Facts {
        match self {
            Self::Facts(facts) => facts,
            Self::All(context) => &context.facts,
        }
    }
}

struct Run {
    sees: Sees,
    operations: Cell<u64>,
    next_look: Cell<Option<Instant>>,
    baseline: Cell<Option<u64>>,
    stop: Cell<Option<Stop>>,
    /// The operation after which it is ended, wherever it is.
    end: Cell<u64>,
    printed: RefCell<Vec<String>>,
    reached: RefCell<BTreeSet<u32>>,
    last_reached: Cell<Option<u32>>,
}

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

#[derive(Debug, Default)]
pub(super) struct Used {
    pub(super) operations: u64,
    pub(super) stop: Option<Stop>,
    pub(super) printed: Vec<String>,
    /// The places that were reached; only where the script was compiled to note them.
    pub(super) reached: BTreeSet<u32>,
    pub(super) last_reached: Option<u32>,
}

/// Runs `work` as one guarded run on this thread, and tells what it used.
pub(super) fn watch<T>(sees: Sees, work: impl FnOnce() -> T) -> (T, Used) {
    let outer = RUN.replace(Some(Run {
        sees,
        operations: Cell::new(0),
        next_look: Cell::new(None),
        baseline: Cell::new(None),
        stop: Cell::new(None),
        end: Cell::new(u64::MAX),
        printed: RefCell::default(),
        reached: RefCell::default(),
        last_reached: Cell::new(None),
    }));
    let result = work();
    let used = RUN.replace(outer).map_or_else(Used::default, |run| Used {
        operations: run.operations.get(),
        stop: run.stop.get(),
        printed: run.printed.into_inner(),
        reached: run.reached.into_inner(),
        last_reached: run.last_reached.get(),
    });
    (result, used)
}

/// Is told after each operation; a value ends the run.
pub(super) fn progress(operations: u64) -> Option<Dynamic> {
    RUN.with_borrow(|run| run.as_ref().and_then(|run| run.progress(operations)))
        .map(|_| Dynamic::UNIT)
}

/// Whether the run is to end at the variable that is asked for now; the first asking alone, so that nothing that
/// catches the error goes on.
pub(super) fn ends_here() -> bool {
    RUN.with_borrow(|run| {
        run.as_ref().is_some_and(|run| {
            run.end.get() > run.operations.get()
                && run.stop.get().is_some()
                && run.end.replace(0) > 0
        })
    })
}

/// Whether the run should end, for functions that may take long in one operation.
pub(super) fn is_over() -> bool {
    RUN.with_borrow(|run| run.as_ref().is_some_and(|run| run.look().is_some()))
}

/// Returns the facts of the run; none outside of one.
pub(super) fn facts() -> Option<Facts> {
    RUN.with_borrow(|run| Some(run.as_ref()?.sees.facts().clone()))
}

/// Returns what the oracle of the run sees; none where it is a condition.
pub(super) fn context() -> Option<HookContext> {
    RUN.with_borrow(|run| match &run.as_ref()?.sees {
        Sees::Facts(_) => None,
        Sees::All(context) => Some(context.clone()),
    })
}

/// Keeps what a script prints: stdout belongs to the answer to the host.
pub(super) fn print(text: &str) {
    RUN.with_borrow(|run| {
        if let Some(run) = run {
            let mut printed = run.printed.borrow_mut();
            if printed.len() < MAX_PRINTED {
                printed.push(text.chars().take(MAX_PRINTED_LEN).collect());
            }
        }
    });
}

/// Notes that a place of the script was reached.
pub(super) fn reach(place: u32) {
    RUN.with_borrow(|run| {
        if let Some(run) = run {
            run.reached.borrow_mut().insert(place);
            run.last_reached.set(Some(place));
        }
    });
}

impl Run {
    fn progress(&self, operations: u64) -> Option<Stop> {
        self.operations.set(operations);
        if operations >= MAX_OPERATIONS && self.stop.get().is_none() {
            self.stop.set(Some(Stop::Operations));
        }
        if operations.is_multiple_of(COUNTED)
            && self.sees.facts().add_operations(COUNTED) >= MOST_OPERATIONS
            && self.stop.get().is_none()
        {
            self.stop.set(Some(Stop::Together));
        }
        // A clock read costs as much as an operation; eight operations can make 8 MiB at most.
        if operations.is_multiple_of(8) {
            self.look();
        }
        let stop = self.stop.get()?;
        if self.end.get() == u64::MAX {
            self.end.set(operations + GRACE);
        }
        (operations >= self.end.get()).then_some(stop)
    }

    fn look(&self) -> Option<Stop> {
        let now = Instant::now();
        let deadline = match &self.sees {
            Sees::Facts(_) => None,
            Sees::All(context) => context.deadline,
        };
        if deadline.is_some_and(|deadline| now >= deadline) {
            self.stop.set(Some(Stop::Deadline));
        } else if self.next_look.get().is_none() {
            self.next_look.set(Some(now + MEMORY_INTERVAL));
        } else if self.next_look.get().is_some_and(|next| now >= next) {
            self.next_look.set(Some(now + MEMORY_INTERVAL));
            if let Some(resident) = memory::resident() {
                match self.baseline.get() {
                    None => self.baseline.set(Some(resident)),
                    Some(baseline) if resident.saturating_sub(baseline) > MAX_GROWTH => {
                        self.stop.set(Some(Stop::Memory));
                    }
                    Some(_) => {}
                }
            }
        }
        self.stop.get()
    }
}
