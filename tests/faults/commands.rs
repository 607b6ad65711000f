//! A table of commands of bindings that misbehave, run by `ahp` itself and watched from outside.

use std::fs;
use std::time::Duration;

use super::watched::{Expected, LONG, QUICK, assert_nothing_is_left, in_time, watch};
use crate::world::World;

/// What `ahp` may use of memory, in MiB: what tests print is kept, up to a bound, to be read for failures.
const MEMORY: u64 = 192;

/// Each with its script, how long it may take, and what it comes to.
const FAULTS: &[(&str, &str, Duration, Expected)] = &[
    (
        "well",
        "echo 'test result: ok. 1 passed; 0 failed'",
        LONG,
        ("none", "accepted", ""),
    ),
    ("failing", "exit 1", LONG, ("block", "signalled", "gate.sh")),
    (
        "not-there",
        "exec ./no-such-program",
        LONG,
        ("block", "signalled", "gate.sh"),
    ),
    (
        "sleeping",
        "echo $$ >> $PIDS; exec sleep 60",
        QUICK,
        ("block", "failed", "timed out"),
    ),
    (
        "ignores-term",
        "trap '' TERM; echo $$ >> $PIDS; while :; do sleep 0.05; done",
        QUICK,
        ("block", "failed", "timed out"),
    ),
    (
        "stopped",
        "echo $$ >> $PIDS; kill -STOP $$",
        QUICK,
        ("block", "failed", "timed out"),
    ),
    (
        "endless-output",
        "echo $$ >> $PIDS; exec yes",
        QUICK,
        ("block", "failed", "timed out"),
    ),
    (
        "reads-for-ever",
        "echo $$ >> $PIDS; exec cat",
        LONG,
        ("none", "accepted", ""),
    ),
    (
        "gigabyte",
        "head -c 1000000000 /dev/zero; exit 1",
        LONG,
        ("block", "signalled", "gate.sh"),
    ),
    (
        "killed",
        "kill -KILL $$",
        LONG,
        ("block", "signalled", "gate.sh"),
    ),
    (
        "holds-pipes",
        "sleep 60 & echo $! >> $PIDS; exit 1",
        LONG,
        ("block", "signalled", "gate.sh"),
    ),
    (
        "leaves-children",
        "(trap '' TERM; while :; do sleep 0.05; done) >/dev/null 2>&1 & echo $! >> $PIDS; exit 1",
        LONG,
        ("block", "signalled", "gate.sh"),
    ),
];

#[test]
fn commands_that_misbehave() {
    for (name, script, timeout, expected) in FAULTS {
        let world = World::new("");
        fs::create_dir_all(world.home().join(".ahp")).unwrap();
        let policy = format!(
            "hooks:\n  pre-issue-submit:\n    - {{oracle: TestGate, timeout: {}ms, config: {{command: 'sh ./gate.sh', exit_code_suffices: true}}}}\n",
            timeout.as_millis()
        );
        fs::write(world.home().join(".ahp/hooks.yaml"), policy).unwrap();
        let run = || {
            world.write("gate.sh", script);
            world.ahp(&["trust", "-y"]);
            watch(&world, &["run", "pre-issue-submit", "--issue", "FEAT-1"])
        };
        in_time(*timeout, expected.2, run).check(name, *timeout, MEMORY, *expected);
        assert_nothing_is_left(name, &world);
    }
}
