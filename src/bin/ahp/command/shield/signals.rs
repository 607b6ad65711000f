//! Signals: what would end this process is noted while it has something to take away again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::exit_code::Exit;

/// The signals that have come since they are noted.
#[derive(Debug)]
pub(super) struct Signals {
    /// The last of them; 0 for none.
    last: Arc<AtomicUsize>,
    /// Whether they do again what they do by themselves.
    are_released: Arc<AtomicBool>,
}

impl Signals {
    /// Notes signals from now on: nothing ends by them.
    pub(super) fn noted() -> io::Result<Self> {
        let (last, are_released) = (Arc::default(), Arc::default());
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&last), number)?;
            flag::register_conditional_default(signal, Arc::clone(&are_released))?;
        }
        Ok(Self { last, are_released })
    }

    /// Returns what this process ends with because a signal has come; none where none has.
    pub(super) fn stopped(&self) -> Option<Exit> {
        let last = self.last.load(Ordering::Relaxed);
        let code = u8::try_from(last + 128).unwrap_or(u8::MAX);
        (last != 0).then_some(Exit::Of(code))
    }

    /// Ends this process if a signal has come, as it would have; later ones do so at once.
    pub(super) fn release(self) {
        self.are_released.store(true, Ordering::Relaxed);
        let last = self.last.load(Ordering::Relaxed);
        if let Some(signal) = i32::try_from(last).ok().filter(|signal| *signal != 0) {
            low_level::emulate_default_handler(signal).ok();
        }
    }
}
