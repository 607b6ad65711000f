//! Start: a shield is started by a plan of what listens at that moment, and made again where a socket came or went before all
//! was mounted; and the agent is waited for.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use ahp::shield::Plan;
use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGHUP, SIGTERM};

use super::signals::Signals;
use crate::exit_code::Exit;
use crate::output;

/// How often a shield is made again at most: who opens and closes sockets without end keeps one from starting.
const MOST_TRIES: usize = 12;

/// Why a shield does not stand.
#[derive(Debug)]
pub(super) struct NotMade {
    pub(super) why: String,
    /// What listens since its plan was made.
    pub(super) came: Vec<PathBuf>,
}

impl NotMade {
    pub(super) fn because(why: &impl ToString) -> Self {
        Self {
            why: why.to_string(),
            came: Vec::new(),
        }
    }
}

/// Makes a shield by a plan that covers what listens now; where that does not do, and a socket came or went meanwhile, once
/// more with a new list. It never stands with less covered than listens.
pub(super) fn made<T>(
    plan: &Plan,
    mut make: impl FnMut(&Plan) -> Result<T, NotMade>,
) -> Result<T, String> {
    let mut tries = 0;
    loop {
        let plan = plan.covering().map_err(|error| error.to_string())?;
        let failed = match make(&plan) {
            Ok(made) => return Ok(made),
            Err(failed) => failed,
        };
        let gone = plan.gone();
        let Some(socket) = failed.came.first().or(gone.first()) else {
            return Err(failed.why);
        };
        let socket = socket.display();
        tries += 1;
        if tries == MOST_TRIES {
            return Err(format!(
                "in each of {tries} tries a socket came or went before everything was mounted, at last `{socket}`: end \
                 what opens it, and start again"
            ));
        }
        output::error(format!(
            "ahp: `{socket}` came or went while the shield was made: it is made again"
        ));
    }
}

/// Lets the agent begin once everything that listens is covered by what was mounted.
#[derive(Debug)]
pub(super) struct Gate(Mutex<Passage>);

#[derive(Debug)]
struct Passage {
    plan: Plan,
    has_begun: bool,
    refused: Option<NotMade>,
}

impl Gate {
    pub(super) fn new(plan: &Plan) -> Self {
        Self(Mutex::new(Passage {
            plan: plan.clone(),
            has_begun: false,
            refused: None,
        }))
    }

    /// Takes the plan that is about to be mounted.
    pub(super) fn mounts(&self, plan: &Plan) {
        let mut passage = lock(&self.0);
        passage.plan = plan.clone();
        passage.refused = None;
    }

    /// Returns the plan that is mounted.
    pub(super) fn plan(&self) -> Plan {
        lock(&self.0).plan.clone()
    }

    /// Says to what is mounted whether it may become the agent.
    pub(super) fn begin(&self) -> bool {
        let mut passage = lock(&self.0);
        if passage.has_begun {
            // What comes later listens to an agent that is there already, and its plan stands.
            return true;
        }
        passage.refused = match passage.plan.uncovered() {
            Ok(came) if came.is_empty() => None,
            Ok(came) => Some(NotMade {
                why: "a socket is not covered".to_owned(),
                came,
            }),
            Err(error) => Some(NotMade::because(&error)),
        };
        passage.has_begun = passage.refused.is_none();
        passage.has_begun
    }

    /// Returns what kept the agent from beginning; none where it has begun.
    pub(super) fn refused(&self) -> Option<NotMade> {
        let mut passage = lock(&self.0);
        if passage.has_begun {
            return None;
        }
        let other = || NotMade::because(&"the shield was not made");
        Some(passage.refused.take().unwrap_or_else(other))
    }
}

/// Waits for the agent with the terminal as it is. What the terminal says is for the agent alone; who ends this process ends
/// the agent with it.
#[derive(Debug)]
pub(super) struct Supervisor(Arc<Mutex<Option<Pid>>>);

impl Supervisor {
    /// Ends what runs with the signals that end this process.
    pub(super) fn new() -> io::Result<Self> {
        let (mut told, tell) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, tell.try_clone()?)?;
        }
        let child = Arc::<Mutex<Option<Pid>>>::default();
        let ending = child.clone();
        thread::Builder::new().spawn(move || {
            // The writing ends are never closed.
            while io::Read::read(&mut told, &mut [0]).is_ok_and(|count| count > 0) {
                if let Some(child) = *lock(&ending) {
                    // What `bwrap` holds ends with it.
                    rustix::process::kill_process(child, Signal::KILL).ok();
                }
            }
        })?;
        Ok(Self(child))
    }

    /// Runs a command and returns its own exit code; starts nothing once a signal has come.
    pub(super) fn run(&self, argv: &[String], signals: &Signals) -> Result<Exit, String> {
        let cannot = |error: io::Error| format!("the shield cannot be started: {error}");
        let (starter, words) = argv.split_first().ok_or("nothing is to be started")?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the agent gets the terminal itself and may take as long as it likes"
        )]
        let mut command = Command::new(starter);
        let mut child = {
            let mut now = lock(&self.0);
            if let Some(exit) = signals.stopped() {
                return Ok(exit);
            }
            let child = command.args(words).spawn().map_err(cannot)?;
            *now = Some(Pid::from_child(&child));
            child
        };
        let status = child.wait();
        *lock(&self.0) = None;
        Ok(status.map_err(cannot)?.into())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
