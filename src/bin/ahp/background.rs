//! Async bindings in processes of their own, which live on after the host has its answer.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ahp::engine::Background;
use ahp::event::Event;

use crate::debug;

/// The hidden subcommand that such a process runs.
pub(crate) const SUBCOMMAND: &str = "run-in-background";

/// Returns how async bindings are started: `ahp` again, detached, with the event on its stdin.
pub(crate) fn start() -> Background {
    Arc::new(|event: &Event, binding: &str| {
        let Ok(program) = std::env::current_exe() else {
            return;
        };
        let Ok(text) = serde_json::to_vec(event) else {
            return;
        };
        // Who debugs wants to see its end, too, and waits for it where a host reads to the end of our output.
        let (stderr, flag) = if debug::is_on() {
            (Stdio::inherit(), Some("--debug"))
        } else {
            (Stdio::null(), None)
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "this program must outlive the one that starts it, which `process` never lets happen"
        )]
        let child = Command::new(program)
            .args(flag)
            .arg(SUBCOMMAND)
            .arg(binding)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(stderr)
            .process_group(0)
            .spawn();
        // One that cannot be started leaves the outcome `started` in the log without an end.
        if let Ok(mut child) = child
            && let Some(mut stdin) = child.stdin.take()
        {
            stdin.write_all(&text).ok();
        }
    })
}
