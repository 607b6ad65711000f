//! Interrupt: a signal that ends this process ends the programs of its policy too, which have process groups of their own.

use std::fs;
use std::io;
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ahp::process;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The signals by which a host, a terminal or a system ends a process.
const ENDING: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];

/// Listens for them from the first program on.
pub(crate) fn watch() {
    // Without it the programs end at their deadlines, as far as this process is there to see to it.
    process::before_programs(|| drop(listen()));
}

fn listen() -> io::Result<()> {
    let (mut told, tell) = UnixStream::pair()?;
    let which = Arc::new(AtomicUsize::new(0));
    let ignored = ignored();
    for signal in ENDING {
        // `nohup` has it pass this process by, and that must stay so.
        let Some(number) = usize::try_from(signal)
            .ok()
            .filter(|n| ignored >> (n - 1) & 1 == 0)
        else {
            continue;
        };
        signal_hook::flag::register_usize(signal, which.clone(), number)?;
        signal_hook::low_level::pipe::register(signal, tell.try_clone()?)?;
    }
    let end = move || {
        if told.read(&mut [0]).is_ok_and(|count| count > 0) {
            process::kill_all();
            let signal = i32::try_from(which.load(Ordering::SeqCst)).unwrap_or(SIGTERM);
            signal_hook::low_level::emulate_default_handler(signal).ok();
        }
    };
    // What is written to is never closed while the handlers are there.
    thread::Builder::new()
        .name("interrupt".to_owned())
        .spawn(end)?;
    Ok(())
}

/// Returns the signals that this process was started to ignore, a bit for each; none where the system does not tell.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0)
}
