//! A run of `ahp`, watched from outside: its verdict, its time, its memory, and what it leaves behind.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::World;

/// What a verdict may take beyond the timeout of what it waits for.
const SLACK: Duration = Duration::from_millis(100);

/// What `ahp` may use of memory, in MiB, whatever a hook writes.
pub(super) const MEMORY: u64 = 64;

pub(super) const QUICK: Duration = Duration::from_millis(400);
pub(super) const LONG: Duration = Duration::from_mins(2);

/// The decision, the outcome of the first binding, and what the verdict says.
pub(super) type Expected = (&'static str, &'static str, &'static str);

/// What a run of `ahp` came to, seen from outside.
pub(super) struct Seen {
    pub(super) verdict: Value,
    pub(super) text: String,
    wall: Duration,
    peak_kib: u64,
}

/// Runs `ahp`, and watches it.
pub(super) fn watch(world: &World, arguments: &[&str]) -> Seen {
    let start = Instant::now();
    let mut child = world
        .ahp_command()
        .args(arguments)
        .args(["--format", "json"])
        .env("PIDS", world.root().join("pids"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak_kib = peak_kib.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    let wall = start.elapsed();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let verdict = serde_json::from_str(text.lines().next().unwrap_or_default())
        .unwrap_or_else(|e| panic!("{e}: {text}\n{}", String::from_utf8_lossy(&output.stderr)));
    Seen {
        verdict,
        text,
        wall,
        peak_kib,
    }
}

/// Waits until the processes that a hook noted are gone: those that ignore TERM are killed after two seconds.
pub(super) fn assert_nothing_is_left(name: &str, world: &World) {
    let pids = fs::read_to_string(world.root().join("pids")).unwrap_or_default();
    let patience = Instant::now() + Duration::from_secs(4);
    for pid in pids.lines() {
        let stat = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        while !stat().is_empty() && !stat().contains(") Z ") {
            assert!(
                Instant::now() < patience,
                "{name}: process {pid} is left: {}",
                stat()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Evaluates, again where something else on the machine may have taken the time.
pub(super) fn in_time(timeout: Duration, says: &str, evaluate: impl Fn() -> Seen) -> Seen {
    for _ in 0..4 {
        let seen = evaluate();
        if timeout != QUICK || (seen.took() < timeout + SLACK && seen.text.contains(says)) {
            return seen;
        }
    }
    evaluate()
}

impl Seen {
    /// What the first hook or command came to, behind what is bound to every tool call.
    pub(super) fn outcome(&self) -> &Value {
        let reports = self.verdict["bindings"].as_array().unwrap();
        let hook = reports.iter().find(|report| report["source"] != "built-in");
        &hook.unwrap()["outcome"]
    }

    /// How long the verdict took, by its own account.
    fn took(&self) -> Duration {
        Duration::from_micros(self.verdict["duration_us"].as_u64().unwrap())
    }

    /// Whether it is what was expected, in time and with little memory.
    pub(super) fn check(&self, name: &str, timeout: Duration, memory: u64, expected: Expected) {
        let (decision, outcome, says) = expected;
        let text = &self.text;
        assert_eq!(self.verdict["decision"], decision, "{name}: {text}");
        assert_eq!(self.outcome(), outcome, "{name}: {text}");
        assert!(text.contains(says), "{name}: {text}");
        assert!(
            self.peak_kib < memory << 10,
            "{name}: {} KiB",
            self.peak_kib
        );
        let took = self.took();
        assert!(took < timeout + SLACK, "{name}: the verdict took {took:?}");
    }

    /// The row of a table: a fault, how long the whole process took, its peak of memory.
    pub(super) fn row(&self, shown: &str) -> String {
        let millis = self.wall.as_millis();
        format!("| {shown} | {millis} ms | {} MiB |", self.peak_kib >> 10)
    }
}
