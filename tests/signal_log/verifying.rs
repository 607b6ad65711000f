//! Verify: every kind of damage is named at its record, over rotated files too.

use std::fs;
use std::path::Path;

use ahp::config::LogSettings;
use ahp::signal_log::{DamageKind, SignalLog, verify};

use super::making::{accepted, at, blocked, log, settings};

/// Writes ten records, changes the lines, and returns what is found.
fn after(change: impl Fn(&mut Vec<String>)) -> Option<(DamageKind, Option<u64>, u64)> {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    for i in 0..5 {
        log.append(blocked(7, "a"), at(i)).unwrap();
    }
    let text = fs::read_to_string(log.path()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    fs::write(log.path(), lines.join("\n") + "\n").unwrap();
    let found = verify(log.path()).unwrap();
    found.damage.map(|d| (d.kind, d.seq, d.line))
}

/// Gives a changed line the hash that it would have.
fn rehash(line: &str) -> String {
    use sha2::Digest as _;
    use std::fmt::Write as _;
    let (head, _) = line.split_once(",\"hash\":").unwrap();
    let mut hash = String::new();
    for byte in sha2::Sha256::digest(format!("{head}}}").as_bytes()) {
        write!(hash, "{byte:02x}").unwrap();
    }
    format!("{head},\"hash\":\"{hash}\"}}")
}

#[test]
fn an_untouched_log_is_sound() {
    assert_eq!(after(|_| {}), None);
}

#[test]
fn each_kind_of_damage_is_named() {
    let edit = |line: &str| line.replace("2 of 3", "3 of 3");
    assert_eq!(
        after(|lines| lines[3] = edit(&lines[3])),
        Some((DamageKind::Edited, Some(4), 4))
    );
    assert_eq!(
        after(|lines| lines[3] = rehash(&edit(&lines[3]))),
        Some((DamageKind::Rewritten, Some(4), 4))
    );
    assert_eq!(
        after(|lines| drop(lines.remove(3))),
        Some((DamageKind::Deleted, Some(5), 4))
    );
    assert_eq!(
        after(|lines| drop(lines.drain(3..6))),
        Some((DamageKind::Deleted, Some(7), 4))
    );
    assert_eq!(
        after(|lines| lines.truncate(8)),
        Some((DamageKind::Truncated, Some(9), 8))
    );
    assert_eq!(
        after(|lines| lines.swap(3, 4)),
        Some((DamageKind::Reordered, Some(5), 4))
    );
    assert_eq!(
        after(|lines| lines.insert(5, lines[2].clone())),
        Some((DamageKind::Inserted, Some(3), 6))
    );
    assert_eq!(
        after(|lines| lines.insert(5, "{\"kind\":\"signal\"}".to_owned())),
        Some((DamageKind::Inserted, None, 6))
    );
    assert_eq!(
        after(|lines| lines[4].truncate(50)),
        Some((DamageKind::Garbled, None, 5))
    );
    // The last record, rewritten with a hash of its own, has no successor that would tell.
    assert_eq!(
        after(|lines| lines[9] = rehash(&edit(&lines[9]))),
        Some((DamageKind::Rewritten, Some(10), 10))
    );
}

#[test]
fn a_torn_tail_is_no_damage_but_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    log.append(blocked(1, "a"), at(0)).unwrap();
    let mut bytes = fs::read(log.path()).unwrap();
    bytes.extend_from_slice(b"{\"seq\":3,\"time");
    fs::write(log.path(), bytes).unwrap();
    let found = verify(log.path()).unwrap();
    assert_eq!(
        (found.damage, found.torn_tail, found.records),
        (None, 14, 2)
    );

    log.append(vec![accepted()], at(1)).unwrap();
    let found = verify(log.path()).unwrap();
    assert_eq!((found.damage, found.torn_tail), (None, 0));
    assert_eq!((found.notices, found.torn_bytes), (1, 14));
}

fn rotated(dir: &Path, keep: u32) -> SignalLog {
    let settings = LogSettings {
        max_size: 4096,
        keep,
        ..settings()
    };
    let log = SignalLog::open(dir.join("signals.jsonl"), &settings).unwrap();
    for i in 0..40 {
        log.append(blocked(1, "a"), at(i)).unwrap();
    }
    log
}

fn parts(dir: &Path) -> Vec<(u64, std::path::PathBuf)> {
    let mut parts: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name()?.to_str()?;
            let seq = name.strip_prefix("signals-")?.strip_suffix(".jsonl.zst")?;
            Some((seq.parse().ok()?, path.clone()))
        })
        .collect();
    parts.sort();
    parts
}

#[test]
fn rotated_files_are_checked_with_the_current_one() {
    let dir = tempfile::tempdir().unwrap();
    let log = rotated(dir.path(), 100);
    let found = verify(log.path()).unwrap();
    assert_eq!(
        (found.damage, found.first_seq, found.last_seq),
        (None, 1, 80)
    );
    assert_eq!(
        (found.records, found.files),
        (80, parts(dir.path()).len() as u64 + 1)
    );

    // A missing file.
    let (first_seq, part) = parts(dir.path())[2].clone();
    let bytes = fs::read(&part).unwrap();
    fs::remove_file(&part).unwrap();
    let damage = verify(log.path()).unwrap().damage.unwrap();
    assert_eq!(damage.kind, DamageKind::Deleted);
    assert!(
        damage
            .detail
            .starts_with(&format!("records {first_seq} to ")),
        "{damage}"
    );

    // A file edited within.
    let text = String::from_utf8(zstd::decode_all(&*bytes).unwrap()).unwrap();
    let edited = text.replacen("2 of 3", "9 of 9", 1);
    fs::write(&part, zstd::encode_all(edited.as_bytes(), 1).unwrap()).unwrap();
    let damage = verify(log.path()).unwrap().damage.unwrap();
    assert_eq!(
        (damage.kind, damage.seq),
        (DamageKind::Edited, Some(first_seq + 1))
    );
    assert_eq!(damage.file, part);
}

#[test]
fn pruned_files_are_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let log = rotated(dir.path(), 2);
    let found = verify(log.path()).unwrap();
    assert_eq!(found.damage, None);
    assert!(found.first_seq > 1);
}

#[test]
fn a_log_that_is_not_there_is_sound_and_empty() {
    let dir = tempfile::tempdir().unwrap();
    let found = verify(dir.path().join("signals.jsonl")).unwrap();
    assert_eq!((found.damage, found.records), (None, 0));
}
