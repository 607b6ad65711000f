//! Runs the oracles of one stage: together, each within its time, none able to harm the others.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::fact::Facts;
use crate::guard::Guards;
use crate::oracle::{ConfigError, HookContext, Mode, Oracle, OracleError};
use crate::policy::Binding;
use crate::signal::Signal;
use crate::trust::Trust;

/// The stack of an oracle's thread: deep syntax trees and scripts need more than the system's usual share.
const STACK: usize = 8 << 20;

/// How long an oracle that runs programs may take past its deadline to end them, before it is given up: a process that
/// answered and ended at the deadline itself would leave them behind.
const LAST_WORDS: Duration = Duration::from_millis(80);

/// What one oracle gave, and how long it took.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) binding: Arc<Binding>,
    pub(super) result: Result<Vec<Signal>, OracleError>,
    pub(super) duration: Duration,
}

/// What the bindings of a stage share.
#[derive(Clone, Debug)]
pub(super) struct StageContext {
    pub(super) facts: Arc<Facts>,
    pub(super) state_dir: Arc<Path>,
    pub(super) trust: Trust,
    pub(super) guards: Arc<Guards>,
    /// When the whole evaluation must have answered.
    pub(super) deadline: Option<Instant>,
    /// Whether the oracles do what they leave to be done without being waited for.
    pub(super) is_unawaited: bool,
}

/// Runs the bindings of one stage together; the results come in the order of the bindings.
pub(super) async fn stage(bindings: &[Arc<Binding>], shared: &StageContext) -> Vec<Judged> {
    let started = Instant::now();
    let mut slots: Vec<Option<Judged>> = Vec::with_capacity(bindings.len());
    let mut threads = Vec::new();
    let mut inline = Vec::new();
    for (n, binding) in bindings.iter().enumerate() {
        slots.push(None);
        match binding.oracle.oracle(&shared.facts) {
            Err(ConfigError(faults)) => {
                let message = faults
                    .first()
                    .map_or("the configuration is wrong", |f| &f.message);
                if let Some(slot) = slots.last_mut() {
                    *slot = Some(Judged {
                        binding: binding.clone(),
                        result: Err(OracleError::failed(message)),
                        duration: started.elapsed(),
                    });
                }
            }
            Ok(oracle) => {
                let Some(oracle) = (if shared.is_unawaited {
                    oracle.unawaited(&shared.facts)
                } else {
                    Some(oracle)
                }) else {
                    continue;
                };
                let own = oracle
                    .timeout(&shared.facts)
                    .filter(|_| !binding.says_timeout);
                let timeout = own.map_or(binding.timeout, |own| own.max(binding.timeout));
                let mut deadline = started.checked_add(timeout);
                if let (Some(own), Some(whole)) = (deadline, shared.deadline) {
                    let whole = whole.checked_sub(LAST_WORDS).unwrap_or(whole);
                    deadline = Some(own.min(whole));
                }
                let job = Job {
                    n,
                    binding: binding.clone(),
                    context: HookContext {
                        facts: shared.facts.clone(),
                        binding: binding.id.clone(),
                        deadline: deadline.or(shared.deadline),
                        state_dir: shared.state_dir.clone(),
                        trust: shared.trust.clone(),
                        guards: shared.guards.clone(),
                        outside: binding.outside,
                    },
                    oracle,
                };
                match job.oracle.mode() {
                    Mode::Inline => inline.push(job),
                    Mode::Threaded => threads.push(job),
                }
            }
        }
    }
    // Threads first, so that they work while the inline ones are judged here.
    let waiting = start(threads, &mut slots);
    let mut waiting_here = u32::try_from(inline.len()).unwrap_or(u32::MAX);
    for mut job in inline {
        let n = job.n;
        job.context.deadline = share(&job.binding, shared.deadline, waiting_here);
        waiting_here -= 1;
        let judged = job.run_here().await;
        if let Some(slot) = slots.get_mut(n) {
            *slot = Some(judged);
        }
    }
    if let Some(waiting) = waiting {
        waiting.collect(&mut slots).await;
    }
    slots.into_iter().flatten().collect()
}

/// Returns when an oracle must have answered that is asked after others: its time begins now, and of the whole time it
/// has an equal share of what is left, so that a slow one before it takes nothing away from it.
fn share(binding: &Binding, whole: Option<Instant>, waiting: u32) -> Option<Instant> {
    let now = Instant::now();
    let own = now.checked_add(binding.timeout);
    let fair = whole.and_then(|whole| {
        let whole = whole.checked_sub(LAST_WORDS).unwrap_or(whole);
        now.checked_add(whole.saturating_duration_since(now) / waiting.max(1))
    });
    match (own, fair) {
        (Some(own), Some(fair)) => Some(own.min(fair)),
        (own, fair) => own.or(fair),
    }
}

/// One oracle that is due.
struct Job {
    n: usize,
    binding: Arc<Binding>,
    oracle: Arc<dyn Oracle>,
    context: HookContext,
}

impl Job {
    async fn run_here(self) -> Judged {
        let started = Instant::now();
        let deadline = self.context.deadline;
        let mut judging = CatchUnwind(Box::pin(self.oracle.evaluate(&self.context)));
        // Most only compute: their answer is there at once, without a timer, which not every runtime has.
        let at_once = poll_fn(|context| Poll::Ready(Pin::new(&mut judging).poll(context)));
        let result = match (at_once.await, deadline) {
            (Poll::Ready(result), _) => result,
            (Poll::Pending, Some(deadline)) if tokio::runtime::Handle::try_current().is_ok() => {
                tokio::time::timeout_at(deadline.into(), judging)
                    .await
                    .unwrap_or_else(|_| Err(timed_out(&self.binding)))
            }
            (Poll::Pending, _) => judging.await,
        };
        Judged {
            binding: self.binding,
            result,
            duration: started.elapsed(),
        }
    }
}

/// The oracles that judge on threads of their own.
struct Waiting {
    results: Results,
    open: Vec<(usize, Arc<Binding>, Option<Instant>)>,
    started: Instant,
}

/// Where the threads put what they found: awaited inside a tokio runtime, waited for elsewhere.
enum Results {
    Awaited(tokio::sync::mpsc::UnboundedReceiver<(usize, Judged)>),
    Blocking(mpsc::Receiver<(usize, Judged)>),
}

#[derive(Clone)]
enum Sink {
    Awaited(tokio::sync::mpsc::UnboundedSender<(usize, Judged)>),
    Blocking(mpsc::Sender<(usize, Judged)>),
}

impl Sink {
    fn send(&self, n: usize, judged: Judged) {
        // A receiver that is gone has given its answer already: this one came too late.
        match self {
            Self::Awaited(sender) => sender.send((n, judged)).ok(),
            Self::Blocking(sender) => sender.send((n, judged)).ok(),
        };
    }
}

fn start(jobs: Vec<Job>, slots: &mut [Option<Judged>]) -> Option<Waiting> {
    if jobs.is_empty() {
        return None;
    }
    let runtime = tokio::runtime::Handle::try_current().ok();
    let (sink, results) = if runtime.is_some() {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
        (Sink::Awaited(sender), Results::Awaited(receiver))
    } else {
        let (sender, receiver) = mpsc::channel();
        (Sink::Blocking(sender), Results::Blocking(receiver))
    };
    let started = Instant::now();
    let mut open = Vec::with_capacity(jobs.len());
    for job in jobs {
        let (n, binding) = (job.n, job.binding.clone());
        let given_up = job.context.deadline.and_then(|d| d.checked_add(LAST_WORDS));
        let sink = sink.clone();
        let runtime = runtime.clone();
        let body = move || {
            let started = Instant::now();
            let judging = CatchUnwind(Box::pin(job.oracle.evaluate(&job.context)));
            let result = match &runtime {
                Some(runtime) => runtime.block_on(judging),
                None => block_on(judging),
            };
            sink.send(
                job.n,
                Judged {
                    binding: job.binding,
                    result,
                    duration: started.elapsed(),
                },
            );
        };
        match std::thread::Builder::new().stack_size(STACK).spawn(body) {
            Ok(_) => open.push((n, binding, given_up)),
            Err(error) => {
                if let Some(slot) = slots.get_mut(n) {
                    *slot = Some(Judged {
                        binding,
                        result: Err(OracleError::failed(format!("no thread to run on: {error}"))),
                        duration: Duration::ZERO,
                    });
                }
            }
        }
    }
    Some(Waiting {
        results,
        open,
        started,
    })
}

impl Waiting {
    async fn collect(mut self, slots: &mut [Option<Judged>]) {
        while let Some(next) = self.open.iter().map(|(_, _, deadline)| *deadline).min() {
            match self.next(next).await {
                Some((n, judged)) => {
                    self.open.retain(|(open, _, _)| *open != n);
                    if let Some(slot) = slots.get_mut(n) {
                        slot.get_or_insert(judged);
                    }
                }
                None => self.expire(slots),
            }
        }
    }

    /// Returns the next result; none where the time is up first.
    async fn next(&mut self, until: Option<Instant>) -> Option<(usize, Judged)> {
        match (&mut self.results, until) {
            (Results::Awaited(receiver), Some(until)) => {
                tokio::time::timeout_at(until.into(), receiver.recv())
                    .await
                    .ok()
                    .flatten()
            }
            (Results::Awaited(receiver), None) => receiver.recv().await,
            (Results::Blocking(receiver), Some(until)) => receiver
                .recv_timeout(until.saturating_duration_since(Instant::now()))
                .ok(),
            (Results::Blocking(receiver), None) => receiver.recv().ok(),
        }
    }

    /// Gives up on those whose time is up; their threads end by themselves, and what they then say is not heard.
    fn expire(&mut self, slots: &mut [Option<Judged>]) {
        let now = Instant::now();
        let waited = self.started.elapsed();
        self.open.retain(|(n, binding, deadline)| {
            if deadline.is_some_and(|d| d > now) {
                return true;
            }
            if let Some(slot) = slots.get_mut(*n) {
                slot.get_or_insert(Judged {
                    binding: binding.clone(),
                    result: Err(timed_out(binding)),
                    duration: waited,
                });
            }
            false
        });
    }
}

fn timed_out(binding: &Binding) -> OracleError {
    OracleError::TimedOut(format!(
        "took longer than its timeout of {:?}",
        binding.timeout
    ))
}

type Judging<'a> = Pin<Box<dyn Future<Output = Result<Vec<Signal>, OracleError>> + Send + 'a>>;

/// A future whose panic is an error.
struct CatchUnwind<'a>(Judging<'a>);

impl Future for CatchUnwind<'_> {
    type Output = Result<Vec<Signal>, OracleError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let judging = &mut self.0;
        match std::panic::catch_unwind(AssertUnwindSafe(|| judging.as_mut().poll(context))) {
            Ok(poll) => poll,
            Err(panic) => {
                let text = panic
                    .downcast_ref::<&str>()
                    .map(|s| (*s).to_owned())
                    .or_else(|| panic.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "without a message".to_owned());
                Poll::Ready(Err(OracleError::Panicked(text)))
            }
        }
    }
}

/// Waits for a future on this thread, without a runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
