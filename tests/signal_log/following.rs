//! Follow: every line comes once and in order, over rotations and repairs.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use ahp::config::LogSettings;
use ahp::signal::{Action, Actor, Signal};
use ahp::signal_log::{Answer, Body, Follow, Line, SignalLog, respond};
use serde_json::Value;
use uuid::Uuid;

use super::making::{accepted, at, blocked, settings, signal};

fn numbers(follow: &mut Follow) -> Vec<u64> {
    let lines = follow.news().unwrap();
    lines.iter().map(|l| Line::read(l).unwrap().seq).collect()
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

/// A prompt of the oracle `other`.
fn of_other(id: u128) -> Body {
    let mut body = signal(id, Signal::prompt("finding", "found"), "f");
    if let Body::Signal(record) = &mut body {
        "other".clone_into(&mut record.signal.header.source);
    }
    body
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the program is to run while the log is written, until it is stopped"
)]
fn a_tail_shows_the_answers_to_the_signals_that_it_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let log = SignalLog::open(dir.path().join("signals.jsonl"), &settings()).unwrap();
    let ours = |id| signal(id, Signal::prompt("finding", "found"), "f");
    log.append(vec![accepted(), of_other(1), ours(2)], at(0))
        .unwrap();
    let mut tail = Command::new(env!("CARGO_BIN_EXE_ahp"))
        .args(["log", "tail", "-f", "--json", "--oracle", "other", "--log"])
        .arg(log.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    // When the first line comes, the tail knows from where to follow.
    assert_eq!(next()["id"], Uuid::from_u128(1).to_string());

    let answer = |id: u128| {
        let answer = Answer {
            action: Action::Acknowledge,
            details: serde_json::Map::new(),
            by: Actor::Agent,
        };
        respond(&log, &Uuid::from_u128(id).to_string(), answer, at(9)).unwrap();
    };
    log.append(vec![accepted(), ours(3), of_other(4)], at(1))
        .unwrap();
    for id in [3, 2, 4, 1] {
        answer(id);
    }
    log.append(vec![accepted(), of_other(5)], at(10)).unwrap();
    let seen = [next(), next(), next(), next()];
    tail.kill().unwrap();
    tail.wait().unwrap();
    let of = |id: u128| Value::from(Uuid::from_u128(id).to_string());
    assert_eq!(seen[0]["id"], of(4));
    assert_eq!(seen[1]["response"]["signal_id"], of(4));
    assert_eq!(seen[2]["response"]["signal_id"], of(1));
    assert_eq!(seen[3]["id"], of(5));
}
