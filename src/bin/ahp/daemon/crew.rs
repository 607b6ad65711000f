//! Crew: the threads that serve connections; one that is done waits a while for the next, for a new one costs more than an event.

use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::warn;

use super::{Load, MOST_CONNECTIONS, Service, Share, connection};
use crate::answer::STACK;

/// How long a thread waits for the next connection.
const WAITS: Duration = Duration::from_secs(10);

/// The threads that serve connections, one each.
pub(super) struct Crew(Arc<Inner>);

struct Inner {
    service: Arc<dyn Service>,
    load: Arc<Load>,
    build: String,
    waiting: Mutex<Waiting>,
    has_come: Condvar,
}

#[derive(Default)]
struct Waiting {
    connections: VecDeque<UnixStream>,
    threads: usize,
}

impl Crew {
    pub(super) fn new(service: &Arc<dyn Service>, load: &Arc<Load>, build: &str) -> Self {
        Self(Arc::new(Inner {
            service: service.clone(),
            load: load.clone(),
            build: build.to_owned(),
            waiting: Mutex::default(),
            has_come: Condvar::new(),
        }))
    }

    /// Serves a connection, on a thread that waits where there is one.
    pub(super) fn take(&self, stream: UnixStream) {
        let mut waiting = self.0.lock();
        if waiting.threads > waiting.connections.len() {
            waiting.connections.push_back(stream);
            self.0.has_come.notify_one();
            return;
        }
        drop(waiting);
        let inner = self.0.clone();
        let work = move || inner.work(stream);
        let thread = thread::Builder::new().stack_size(STACK).spawn(work);
        if let Err(error) = thread {
            warn!("no thread could be started: {error}");
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves a connection, and those that come while it waits.
    fn work(&self, first: UnixStream) {
        let mut next = Some(first);
        while let Some(stream) = next {
            let load = &self.load;
            let share = Share::take(&load.connections, 1, MOST_CONNECTIONS, "connections");
            if share.is_some() {
                connection::serve(&stream, &*self.service, load, &self.build);
            }
            drop((stream, share));
            let mut waiting = self.lock();
            waiting.threads += 1;
            let (mut waiting, _) = self
                .has_come
                .wait_timeout_while(waiting, WAITS, |waiting| waiting.connections.is_empty())
                .unwrap_or_else(PoisonError::into_inner);
            waiting.threads -= 1;
            next = waiting.connections.pop_front();
        }
    }
}
