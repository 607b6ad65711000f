//! Follow: every line comes once and in order, over rotations and repairs.

use std::fs;
use std::io::Write as _;

use ahp::config::LogSettings;
use ahp::signal_log::Follow;
use ahp::signal_log::Line;
use ahp::signal_log::SignalLog;

use super::making::accepted;
use super::making::at;
use super::making::blocked;
use super::making::settings;

fn numbers(follow: &mut Follow) -> Vec<u64> {
    let lines = follow.news().unwrap();
    lines.iter().map(|l| Line::parse(l).unwrap().seq).collect()
}

#[test]
fn every_new_line_comes_once_over_rotations() {
    let dir = tempfile::tempdir().unwrap();
    let settings = LogSettings {
        max_size: 4096,
        keep: 100,
        ..settings()
    };
    let log = SignalLog::open(dir.path().join("signals.jsonl"), &settings).unwrap();
    let mut waiting = Follow::new(log.path()).unwrap();
    assert_eq!(numbers(&mut waiting), [0; 0]);
    log.append(blocked(1, "a"), at(0)).unwrap();
    assert_eq!(numbers(&mut waiting), [1, 2]);

    let mut follow = Follow::new(log.path()).unwrap();
    assert_eq!(numbers(&mut follow), [0; 0]);
    let mut seen = Vec::new();
    for i in 0..60 {
        log.append(blocked(1, "a"), at(i)).unwrap();
        // Asked so seldom that several rotations lie between.
        if i % 13 == 0 {
            seen.extend(numbers(&mut follow));
        }
    }
    seen.extend(numbers(&mut follow));
    let all: Vec<u64> = (3..=122).collect();
    assert_eq!(seen, all);
}

#[test]
fn a_torn_line_is_waited_for_until_it_is_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let log = SignalLog::open(dir.path().join("signals.jsonl"), &settings()).unwrap();
    log.append(vec![accepted()], at(0)).unwrap();
    let mut follow = Follow::new(log.path()).unwrap();
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(log.path())
        .unwrap();
    file.write_all(b"{\"seq\":2,\"timestamp").unwrap();
    assert_eq!(numbers(&mut follow), [0; 0]);
    log.append(vec![accepted()], at(1)).unwrap();
    assert_eq!(numbers(&mut follow), [2]);
}
