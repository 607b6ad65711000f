//! Durability: many processes write at once and are killed at any instruction; what was acknowledged is there.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ahp::config::LogSettings;
use ahp::signal_log::{Body, Reader, SignalLog, verify};

use super::making::{accepted, at, settings};
use crate::world::sized;

/// Set in a process that is one of the writers: the log, the writer's name, and how many records.
const WRITER: &str = "AHP_TEST_LOG_WRITER";

fn small_files() -> LogSettings {
    LogSettings {
        max_size: 512 << 10,
        keep: 100_000,
        ..settings()
    }
}

/// The body of a writer process: this test binary runs itself with `WRITER` set and this test alone.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test tells its own processes by the environment what they are"
)]
fn writer_process() {
    let Ok(task) = std::env::var(WRITER) else {
        return;
    };
    let mut fields = task.split('\n');
    let path = fields.next().unwrap();
    let name = fields.next().unwrap();
    let records: u32 = fields.next().unwrap().parse().unwrap();
    let log = SignalLog::open(path, &small_files()).unwrap();
    for i in 0..records {
        let mut body = accepted();
        let mark = format!("{name}-{i}");
        if let Body::Evaluation(evaluation) = &mut body {
            evaluation.note = Some(mark.clone());
        }
        let appended = log.append(vec![body], at(0)).unwrap();
        // Said only once the append has returned.
        let mut out = std::io::stdout().lock();
        writeln!(out, "\ndone {mark} {}", appended.first_seq).unwrap();
        out.flush().unwrap();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a process that is to be killed at a chosen moment is held, not run to its end"
)]
fn start(path: &Path, name: &str, records: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "signal_log::durability::writer_process",
            "--exact",
            "--nocapture",
        ])
        .env(WRITER, format!("{}\n{name}\n{records}", path.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs writers, kills each second one after as many answers as `kill_after` says, and returns what was acknowledged.
fn write_and_kill(path: &Path, processes: u32, records: u32) -> Vec<(String, u64)> {
    let children: Vec<(u32, Child)> = (0..processes)
        .map(|i| (i, start(path, &format!("w{i}"), records)))
        .collect();
    let readers: Vec<_> = children
        .into_iter()
        .map(|(i, mut child)| {
            std::thread::spawn(move || {
                let mut random = u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
                random ^= random >> 29;
                let kill_after = (i % 2 == 1).then(|| random % u64::from(records));
                let out = BufReader::new(child.stdout.take().unwrap());
                let mut done = Vec::new();
                for line in out.lines() {
                    let line = line.unwrap();
                    let Some(said) = line.strip_prefix("done ") else {
                        continue;
                    };
                    let (mark, seq) = said.split_once(' ').unwrap();
                    done.push((mark.to_owned(), seq.parse().unwrap()));
                    if kill_after == Some(done.len() as u64) {
                        child.kill().unwrap();
                    }
                }
                child.wait().unwrap();
                done
            })
        })
        .collect();
    readers
        .into_iter()
        .flat_map(|reader| reader.join().unwrap())
        .collect()
}

#[test]
fn what_killed_writers_acknowledged_is_there() {
    let (processes, records) = sized((12, 60), (64, 2000));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("signals.jsonl");
    let done = write_and_kill(&path, processes, records);
    // The next writer repairs what the last killed one left.
    let log = SignalLog::open(&path, &small_files()).unwrap();
    log.append(vec![accepted()], at(1)).unwrap();

    let found = verify(&path).unwrap();
    assert_eq!(found.damage, None);
    assert_eq!((found.torn_tail, found.lost_records), (0, 0));
    assert_eq!(found.records, found.last_seq);
    let mut seen = HashSet::new();
    for record in Reader::open(&path).unwrap().records() {
        let record = record.unwrap();
        if let Body::Evaluation(evaluation) = record.body
            && let Some(mark) = evaluation.note
        {
            assert!(
                seen.insert((mark.clone(), record.seq)),
                "{mark} is there twice"
            );
        }
    }
    assert!(done.len() as u64 >= u64::from(processes / 2 * records));
    for (mark, seq) in done {
        assert!(
            seen.contains(&(mark.clone(), seq)),
            "{mark} was acknowledged and is not there"
        );
    }
}

/// A file-size limit is what a full disk looks like to a writer: part of a write goes through, the rest does not.
#[test]
fn a_write_that_goes_through_in_part_is_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("signals.jsonl");
    let log = SignalLog::open(&path, &settings()).unwrap();
    for i in 0..4 {
        log.append(vec![accepted()], at(i)).unwrap();
    }
    let before = fs::read(&path).unwrap();
    // The limit is of 1 KiB blocks and hits in the middle of a line; the signal that comes with it is ignored.
    let blocks = before.len() / 1024 + 1;
    let script = format!(
        "trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" signal_log::durability::writer_process --exact --nocapture"
    );
    #[expect(
        clippy::disallowed_methods,
        reason = "the limit is set by a shell around this test binary"
    )]
    let done = Command::new("bash")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(WRITER, format!("{}\nlimited\n50", path.display()))
        .output()
        .unwrap();
    assert!(!done.status.success());
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("FileTooLarge"), "{said}");
    let after = fs::read(&path).unwrap();
    assert!(after.starts_with(&before) && after.ends_with(b"\n"));
    assert_eq!(verify(&path).unwrap().damage, None);
    // With room again, the log goes on as if nothing had been.
    let appended = log.append(vec![accepted()], at(9)).unwrap();
    assert_eq!(appended.notice, None);
}

#[test]
fn threads_of_one_process_share_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let log = SignalLog::open(dir.path().join("signals.jsonl"), &small_files()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for i in 0..50 {
                    log.append(vec![accepted(), accepted()], at(i)).unwrap();
                }
            });
        }
    });
    let found = verify(log.path()).unwrap();
    assert_eq!((found.damage, found.last_seq), (None, 800));
}
