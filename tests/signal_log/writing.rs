//! Appending: numbers without gaps, the chain, torn tails, hand edits, the clock, what cannot be written.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ahp::config::LogSettings;
use ahp::process::Program;
use ahp::signal_log::{LogError, SignalLog};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::making::{accepted, at, blocked, log, settings};

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Reads a log with nothing but a JSON parser and SHA-256, as somebody else would.
fn check_chain(path: &Path, first_prev: &str) -> Vec<Value> {
    let mut prev = first_prev.to_owned();
    let mut records = Vec::new();
    for line in lines(path) {
        let record: Value = serde_json::from_str(&line).unwrap();
        let hash = record["hash"].as_str().unwrap().to_owned();
        let without = line.replace(&format!(",\"hash\":\"{hash}\""), "");
        let mut expected = String::new();
        for byte in Sha256::digest(without.as_bytes()) {
            write!(expected, "{byte:02x}").unwrap();
        }
        assert_eq!(hash, expected);
        assert_eq!(record["prev"], Value::from(prev));
        prev = hash;
        records.push(record);
    }
    records
}

#[test]
fn records_are_numbered_and_chained() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    let first = log.append(blocked(1, "a"), at(0)).unwrap();
    assert_eq!(
        (first.first_seq, first.last_seq, first.notice),
        (1, 2, None)
    );
    let second = log.append(vec![accepted()], at(60)).unwrap();
    assert_eq!((second.first_seq, second.last_seq), (3, 3));

    let records = check_chain(log.path(), &"0".repeat(64));
    let kinds: Vec<_> = records
        .iter()
        .map(|r| r["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["evaluation", "signal", "evaluation"]);
    assert_eq!(records[1]["signal"]["payload"]["reason"], "2 of 3 done");
    assert_eq!(records[1]["override"], true);
}

#[test]
fn a_torn_tail_is_kept_aside_and_noted_wherever_it_is_torn() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    log.append(blocked(1, "a"), at(0)).unwrap();
    let whole = fs::read(log.path()).unwrap();
    let second_line = whole.iter().position(|b| *b == b'\n').unwrap() + 1;
    for cut in 0..whole.len() {
        for entry in fs::read_dir(dir.path()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        fs::write(log.path(), &whole[..cut]).unwrap();
        let appended = log.append(vec![accepted()], at(1)).unwrap();
        // The second record is whole once all but its newline is there.
        let (kept, torn) = match cut {
            _ if cut + 1 == whole.len() => (2, 0),
            _ if cut + 1 >= second_line => (1, cut.saturating_sub(second_line)),
            _ => (0, cut),
        };
        assert_eq!(appended.first_seq, kept + 1, "cut at {cut}");
        assert_eq!(
            appended.notice.map_or(0, |n| n.torn_bytes),
            torn as u64,
            "cut at {cut}"
        );
        assert_eq!(
            check_chain(log.path(), &"0".repeat(64)).len() as u64,
            kept + 1
        );
        let aside = fs::read(dir.path().join("signals.jsonl.torn")).unwrap_or_default();
        if torn > 0 {
            let kept = &whole[cut - torn..cut];
            assert!(aside.windows(torn).any(|w| w == kept), "cut at {cut}");
        } else {
            assert!(aside.is_empty());
        }
    }
}

#[test]
fn a_tail_of_zeros_after_a_power_cut_is_torn_too() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    log.append(vec![accepted()], at(0)).unwrap();
    let mut bytes = fs::read(log.path()).unwrap();
    bytes.resize(bytes.len() + 5000, 0);
    fs::write(log.path(), bytes).unwrap();
    let appended = log.append(vec![accepted()], at(1)).unwrap();
    assert_eq!(appended.notice.unwrap().torn_bytes, 5000);
    assert_eq!(check_chain(log.path(), &"0".repeat(64)).len(), 2);
}

#[test]
fn records_cut_off_the_end_are_told_as_lost() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    for i in 0..5 {
        log.append(vec![accepted()], at(i)).unwrap();
    }
    let text = fs::read_to_string(log.path()).unwrap();
    let two: String = text.split_inclusive('\n').take(2).collect();
    fs::write(log.path(), two).unwrap();
    let appended = log.append(vec![accepted()], at(9)).unwrap();
    assert_eq!(appended.first_seq, 3);
    assert_eq!(appended.notice.unwrap().lost_records, 3);
    let records = check_chain(log.path(), &"0".repeat(64));
    assert_eq!(records[2]["notice"]["lost_records"], 3);
}

#[test]
fn a_clock_that_jumps_back_is_noted_and_changes_no_order() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    log.append(vec![accepted()], at(3600)).unwrap();
    let appended = log.append(vec![accepted()], at(0)).unwrap();
    assert_eq!(appended.notice.unwrap().clock_back_ms, 3_600_000);
    // The next one goes on from there.
    assert_eq!(log.append(vec![accepted()], at(1)).unwrap().notice, None);
}

#[test]
fn a_file_that_is_no_log_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    for content in ["# My project\n", "{\"name\": 1}\n", "x"] {
        fs::write(log.path(), content).unwrap();
        let error = log.append(vec![accepted()], at(0)).unwrap_err();
        assert!(matches!(error, LogError::Foreign { .. }), "{error}");
        assert_eq!(fs::read_to_string(log.path()).unwrap(), content);
    }
}

#[test]
fn what_cannot_be_written_says_where_and_why() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let log = SignalLog::open(dir.path().join("file/signals.jsonl"), &settings()).unwrap();
    let error = log.append(vec![accepted()], at(0)).unwrap_err().to_string();
    assert!(error.contains("file/signals.jsonl.lock"), "{error}");

    let log = SignalLog::open(dir.path(), &settings()).unwrap();
    let error = log.append(vec![accepted()], at(0)).unwrap_err().to_string();
    assert!(error.contains("must name a file"), "{error}");

    let bad = LogSettings {
        redact: vec!["(".to_owned()],
        ..settings()
    };
    let error = SignalLog::open("x", &bad).unwrap_err().to_string();
    assert!(error.contains("bad pattern `(`"), "{error}");
}

#[test]
fn a_log_that_is_a_link_or_a_pipe_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    std::os::unix::fs::symlink("/dev/full", log.path()).unwrap();
    let error = log.append(vec![accepted()], at(0)).unwrap_err().to_string();
    assert!(error.contains("it is a link"), "{error}");
    let pipe = dir.path().join("pipe.jsonl");
    let made = Program::new(vec!["mkfifo".to_owned(), pipe.display().to_string()]).run();
    assert!(made.unwrap().exit.is_success());
    let piped = SignalLog::open(&pipe, &settings()).unwrap();
    let error = piped.append(vec![accepted()], at(0)).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("it is not a regular file"), "{error}");
}

#[test]
fn rotation_carries_the_chain_over_and_prunes() {
    let dir = tempfile::tempdir().unwrap();
    let settings = LogSettings {
        max_size: 4096,
        keep: 3,
        ..settings()
    };
    let log = SignalLog::open(dir.path().join("signals.jsonl"), &settings).unwrap();
    for i in 0..40_u128 {
        let appended = log
            .append(blocked(i, "a"), at(i64::try_from(i).unwrap()))
            .unwrap();
        assert_eq!(u128::from(appended.first_seq), i * 2 + 1);
        assert_eq!(appended.warnings, [""; 0]);
    }
    let mut segments: Vec<(u64, _)> = fs::read_dir(dir.path())
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name()?.to_str()?.to_owned();
            let number = name.strip_prefix("signals-")?.strip_suffix(".jsonl.zst")?;
            Some((number.parse().ok()?, path))
        })
        .collect();
    segments.sort();
    assert_eq!(segments.len(), 3);
    let mut text = String::new();
    for (first_seq, path) in segments {
        let part = zstd::decode_all(fs::File::open(path).unwrap()).unwrap();
        let part = String::from_utf8(part).unwrap();
        assert!(part.starts_with(&format!("{{\"seq\":{first_seq},")));
        text.push_str(&part);
    }
    text.push_str(&fs::read_to_string(log.path()).unwrap());
    let whole = dir.path().join("whole");
    fs::write(&whole, &text).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let records = check_chain(&whole, first["prev"].as_str().unwrap());
    assert_eq!(records.last().unwrap()["seq"], 80);
}

#[test]
fn a_rotation_that_ended_right_after_its_rename_is_understood() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    log.append(blocked(1, "a"), at(0)).unwrap();
    fs::rename(log.path(), dir.path().join("signals-1.jsonl")).unwrap();
    let appended = log.append(vec![accepted()], at(1)).unwrap();
    assert_eq!((appended.first_seq, appended.notice), (3, None));
}
