//! A daemon that is killed in the middle of its work: every event is answered, and the log is whole.

use std::collections::BTreeMap;
use std::fs;
use std::sync::mpsc;

use ahp::signal_log::{Body, Reader, verify};
use serde_json::Value;

use super::socket::{Daemon, payload};
use crate::world::{World, sized};

/// Small files, so that the log is turned over meanwhile, again and again.
const POLICY: &str = "settings: {log: {max_size: 64KiB, keep: 100000}}
hooks:
  pre-tool-use:
    - oracle: PermissionChecker
      config: {dangerous_commands: ['git push --force']}
";

const CALLERS: usize = 8;

/// How many bytes a file may have above its bound: what one event writes.
const ONE_EVENT: u64 = 8 << 10;

#[test]
fn every_event_is_answered_and_the_log_is_whole_whenever_the_daemon_is_killed() {
    let each = sized(10, 250);
    let world = World::new(POLICY);
    let (told, answered) = mpsc::channel();
    let mut kills = 0;
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (world, told) = (&world, told.clone());
            scope.spawn(move || {
                for n in 0..each {
                    let event = payload(world, "git push --force");
                    let event = event.replace("\"t\"", &format!("\"{caller}-{n}\""));
                    let ran = world.ahp_fed(&["hook", "--host", "claude-code"], event.as_bytes());
                    assert!(ran.code == 0 && ran.stdout.contains("\"deny\""), "{ran:?}");
                    told.send(()).unwrap();
                }
            });
        }
        drop(told);
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut daemon = Some(Daemon::start(&world, &[]));
        let mut left = 0;
        // The others are somewhere in the middle whenever one has its answer.
        while answered.recv().is_ok() {
            if left == 0 {
                if let Some(daemon) = daemon.take() {
                    daemon.kill();
                    kills += 1;
                }
                daemon = Some(Daemon::start(&world, &[]));
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                left = 1 + random % 24;
            }
            left -= 1;
        }
    });
    assert!(kills > each / 10, "{kills}");
    let found = verify(world.log_place()).unwrap();
    assert_eq!((found.damage, found.lost_records), (None, 0));
    assert_eq!(found.records, found.last_seq);
    assert_eq!(world.ahp(&["log", "verify"]).code, 0);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for record in Reader::open(world.log_place()).unwrap().records() {
        if let Body::Evaluation(evaluation) = record.unwrap().body {
            let event = evaluation.event.unwrap_or_default();
            let id = event.pointer("/tool/use_id").and_then(Value::as_str);
            *seen.entry(id.unwrap().to_owned()).or_default() += 1;
        }
    }
    assert_eq!(
        seen.len(),
        CALLERS * each,
        "an answer was given that is not in the log"
    );
    // Who was not answered judges again, and only then is an event there twice.
    let twice = seen.values().filter(|count| **count > 1).count();
    assert!(
        seen.values().all(|count| *count <= 2) && twice <= kills * CALLERS,
        "{twice} of {kills}"
    );
    for file in fs::read_dir(world.path(".ahp")).unwrap().flatten() {
        if file
            .path()
            .extension()
            .is_none_or(|suffix| suffix != "jsonl")
        {
            continue;
        }
        let length = file.metadata().unwrap().len();
        assert!(
            length <= (64 << 10) + ONE_EVENT,
            "{:?}: {length}",
            file.path()
        );
    }
}
