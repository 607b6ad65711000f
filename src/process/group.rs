//! The process group of a program: how it is told to end, and made to.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// How long a group that was told to end may take before the caller goes on without it.
const QUICK_END: Duration = Duration::from_millis(20);

/// Waits two seconds for the group to go away and then kills it. A program of its own, because it must do
/// so also when the process that started it has long given its verdict and ended.
const KILL_LATER: &str = "i=0
while [ $i -lt 20 ] && kill -s 0 -- -$0 2>/dev/null; do sleep 0.1; i=$((i+1)); done
kill -s KILL -- -$0 2>/dev/null";

/// Makes a command in a process group of its own.
#[expect(
    clippy::disallowed_methods,
    reason = "this module is the one that runs programs"
)]
pub(super) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.process_group(0);
    command
}

/// Whether the program has ended; it is not reaped, so that its number still means it.
pub(super) fn has_ended(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // An error means that there is no such child any more: it has ended.
    !matches!(rustix::process::waitid(WaitId::Pid(pid), options), Ok(None))
}

/// Tells every process of the group to end.
pub(super) fn terminate(pid: Pid) {
    // The group may be gone already, which is what is wanted.
    rustix::process::kill_process_group(pid, Signal::TERM).ok();
}

/// Ends what is left of the group of a program that was told to end or has ended; it is killed after two
/// seconds, which are not waited for.
pub(super) fn end(pid: Pid, mut child: Child) -> Option<std::process::ExitStatus> {
    let status = if has_ended(pid) {
        child.wait().ok()
    } else {
        None
    };
    let patience = Instant::now() + QUICK_END;
    while is_alive(pid) {
        if Instant::now() >= patience {
            kill_later(pid, child, status.is_none());
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    status
}

fn is_alive(pid: Pid) -> bool {
    rustix::process::test_kill_process_group(pid).is_ok()
}

/// Kills what is left of a group after two seconds, by a program of its own; at once where there is none.
pub(super) fn killer(pid: Pid) -> Option<Child> {
    let killer = command("sh")
        .args(["-c", KILL_LATER, &pid.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if killer.is_err() {
        rustix::process::kill_process_group(pid, Signal::KILL).ok();
    }
    killer.ok()
}

fn kill_later(pid: Pid, mut child: Child, reap: bool) {
    let killer = killer(pid);
    let reaper = move || {
        if reap {
            child.wait().ok();
        }
        if let Some(mut killer) = killer {
            killer.wait().ok();
        }
    };
    // Without a thread there may be a zombie until this process ends; nothing better can be done then.
    std::thread::Builder::new()
        .name("reaper".to_owned())
        .spawn(reaper)
        .ok();
}
