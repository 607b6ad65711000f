//! How far a log is carried, whatever becomes of it, of the place and of other logs meanwhile; and what leaves of a record.

use std::fs;
use std::path::Path;
use std::process::Command;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};

use super::{Machine, files};
use crate::collector::Collector;

impl Machine {
    /// Writes the log anew from a record on: so many other ones.
    fn rewrite(&mut self, from: usize, records: usize) {
        self.lines.truncate(from - 1);
        for _ in 0..records {
            self.evaluation("rewritten");
        }
        self.write();
    }

    /// Returns the rows that a dry run prints.
    fn would_leave(&self, variables: &[(&str, &str)]) -> Vec<Value> {
        let ran = self.run(&["ship", "--dry-run"], variables, "");
        assert_eq!(ran.code, 0, "{}", ran.err);
        let lines = ran.out.lines().map(serde_json::from_str);
        lines.map(Result::unwrap).collect()
    }
}

/// The records that the files of a lake have, by log: from where to where.
fn ranges(lake: &Path) -> Vec<(String, String)> {
    let names = files(lake, "evaluations").into_iter();
    let ranges = names.map(|name| {
        let name = name.strip_suffix(".parquet").unwrap();
        let (log, range) = name.split_once('-').unwrap();
        (log.to_owned(), range.to_owned())
    });
    ranges.collect()
}

#[test]
fn a_log_that_was_written_anew_is_carried_on_or_again_and_said_so() {
    type Change = fn(&mut Machine);
    let cases: [(&str, Change, &str, &[&str], usize); 6] = [
        ("nothing", |_| {}, "", &["1-3"], 1),
        (
            "two more",
            |machine| machine.rewrite(4, 2),
            "",
            &["1-3", "4-5"],
            1,
        ),
        (
            "anew from the third on",
            |machine| machine.rewrite(3, 3),
            "records up to 3 were changed after they had been carried",
            &["1-3", "5-5"],
            1,
        ),
        (
            "the last one alone",
            |machine| machine.rewrite(3, 1),
            "records up to 3 were changed after they had been carried",
            &["1-3"],
            1,
        ),
        (
            "from the first on",
            |machine| machine.rewrite(1, 4),
            "",
            &["1-3", "1-4"],
            2,
        ),
        (
            "shorter than what was carried",
            |machine| machine.rewrite(3, 0),
            "",
            &["1-2", "1-3"],
            2,
        ),
    ];
    for (what, change, told, expected, logs) in cases {
        let mut machine = Machine::new();
        for _ in 0..3 {
            machine.evaluation("local");
        }
        let (lake, to) = machine.lake();
        assert_eq!(machine.ship(&to, &[]).code, 0);
        change(&mut machine);
        let ran = machine.ship(&to, &[]);
        assert_eq!(ran.code, i32::from(!told.is_empty()), "{what}: {}", ran.err);
        assert!(ran.err.contains(told), "{what}: {}", ran.err);
        let found = ranges(&lake);
        let mut names: Vec<&str> = found.iter().map(|(_, range)| &**range).collect();
        names.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected, "{what}: {}", ran.err);
        let mut ids: Vec<&str> = found.iter().map(|(log, _)| &**log).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), logs, "{what}");
        // What was carried is not carried twice.
        machine.ship(&to, &[]);
        assert_eq!(ranges(&lake), found, "{what}");
    }
}

#[test]
fn what_a_person_should_know_waits_until_its_batch_has_arrived() {
    let mut machine = Machine::new();
    for _ in 0..3 {
        machine.evaluation("local");
    }
    machine.lines[1] = machine.lines[1].replace("\"block\"", "\"allow\"");
    machine.write();
    let told = "do not verify and were left out";
    for answer in ["503 Unavailable", "413 Too Large", "500 Broken"] {
        let collector = Collector::answering(match answer {
            "503 Unavailable" => |n| if n == 0 { "503 Unavailable" } else { "200 OK" },
            "413 Too Large" => |n| if n == 0 { "413 Too Large" } else { "200 OK" },
            _ => |n| if n == 0 { "500 Broken" } else { "200 OK" },
        });
        let to = format!("otlp:{}", collector.base());
        let ship = || machine.run(&["ship", "--for", "1ms", "--to", &to], &[], "");
        let said = [(); 5].map(|()| {
            let ran = ship();
            (ran.code, ran.err.matches(told).count())
        });
        let times: usize = said.iter().map(|(_, times)| times).sum();
        assert_eq!(times, 1, "{answer}: {said:?}");
        assert_eq!(said.first().unwrap().0, 1, "{answer}: {said:?}");
        assert_eq!(said.last(), Some(&(0, 0)), "{answer}: {said:?}");
    }
}

#[test]
fn a_collector_is_told_once_of_what_does_not_verify_at_the_end_of_a_log() {
    type Harm = fn(&mut String);
    let harms: [(&str, Harm); 4] = [
        ("cut off", |_| {}),
        ("edited", |line| {
            *line = line.replace("\"block\"", "\"allow\"");
        }),
        ("torn", |line| line.truncate(line.len() / 2)),
        ("foreign", |line| *line = "{\"a\":1}".to_owned()),
    ];
    for (what, harm) in harms {
        let mut machine = Machine::new();
        machine.evaluation("local");
        machine.evaluation("local");
        harm(machine.lines.last_mut().unwrap());
        machine.write();
        if what == "cut off" {
            let length = fs::metadata(machine.log()).unwrap().len();
            let log = fs::File::options().write(true).open(machine.log());
            log.unwrap().set_len(length - 9).unwrap();
        }
        let collector = Collector::start();
        let to = format!("otlp:{}", collector.base());
        let ship = || machine.run(&["ship", "--to", &to], &[], "");
        let ran = ship();
        assert_eq!(ran.code, 1, "{what}: {}", ran.err);
        // The batch, and the event that the records behind it are broken.
        assert_eq!(collector.requests(), 2, "{what}: {}", ran.err);
        let ran = ship();
        assert_eq!(
            (ran.code, collector.requests()),
            (1, 2),
            "{what}: {}",
            ran.err
        );
    }
}

/// What a signal says of what was found, and what leaves of it.
#[test]
fn a_rule_leaves_by_its_name_and_what_is_no_name_as_a_hash() {
    for (rule, kind, seen) in [
        ("git-force-push", "dangerous", "git-force-push"),
        ("", "dangerous", "dangerous"),
        ("deny:rm -rf /home/alice", "dangerous", "deny:"),
        ("/home/alice/secret.txt", "dangerous", ""),
        ("", "read of /home/alice", ""),
    ] {
        let mut machine = Machine::new();
        machine.evaluation("local");
        let id = "018f0000-0000-7000-8000-000000000001";
        let header = json!({"id": id, "type": kind, "timestamp": "2026-02-09T10:00:00Z", "source": "SecurityScanner",
            "intensity": "block", "correlation_id": id});
        let payload = json!({"reason": "alice did it", "resolvable": true, "resolution_path": []});
        machine.record(&json!({"kind": "signal", "binding": "b", "source": "hooks.yaml:1", "override": false,
            "fingerprint": "alice's print", "identity": "alice's finding", "rule": rule, "object": "/home/alice",
            "session_id": "alice-1", "also": [{"identity": "alice's second", "object": "alice"}, {"identity": "alice's third", "object": "alice"}],
            "signal": {"header": header, "context": {"hook": "pre-tool-use", "files": []}, "payload": payload}}));
        let rows = machine.would_leave(&[]);
        let text = serde_json::to_string(&rows).unwrap();
        assert!(!text.contains("alice"), "{rule}: {text}");
        let signal = rows.iter().find(|row| row["table"] == "signals").unwrap();
        let told = signal["rule"].as_str().unwrap();
        let is_hash = |text: &str| text.len() == 16 && text.chars().all(|c| c.is_ascii_hexdigit());
        match told.strip_prefix(seen) {
            Some("") => {}
            Some(rest) => assert!(is_hash(rest), "{rule}: {told}"),
            None => panic!("{rule}: {told}"),
        }
        for column in ["fingerprint", "finding", "session"] {
            let value = signal[column].as_str().unwrap();
            assert!(is_hash(value), "{column}: {value}");
        }
        // Each of the others is a hash too, in a place that the sums know by its length.
        let also = signal["also_found"].as_str().unwrap();
        let also: Vec<&str> = also.split(' ').collect();
        assert!(
            also.len() == 2 && also.iter().all(|hash| is_hash(hash)),
            "{also:?}"
        );
        // Equal stay equal, so that they can be counted; another salt makes others.
        let again = machine.would_leave(&[]);
        assert_eq!(again, rows);
        // The collector's form says no more.
        assert!(!machine.exported("otlp").to_string().contains("alice"));
        assert!(!machine.exported("ocsf").to_string().contains("alice"));
    }
}

#[test]
fn what_a_record_does_not_have_is_null_in_the_tables_and_left_out_in_rows() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    machine.signal();
    let id = "018f0000-0000-7000-8000-000000000001";
    machine.record(&json!({"kind": "response", "response": {"signal_id": id, "action": "dismiss", "by": "human",
        "consumed_at": "2026-02-09T10:00:00Z", "details": {"note": "words of a person"}, "inferred": false}}));
    let without: [(&str, &[&str]); 3] = [
        (
            "evaluations",
            &[
                "team",
                "repo",
                "policy",
                "ahp",
                "agent_host",
                "session",
                "issue",
                "user",
            ],
        ),
        (
            "signals",
            &["session", "issue", "text", "acted_on", "also_found"],
        ),
        ("answers", &["environment", "policy", "note"]),
    ];
    let rows = machine.would_leave(&[]);
    let (lake, to) = machine.lake();
    let ran = machine.ship(&to, &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for (table, columns) in without {
        let row = rows.iter().find(|row| row["table"] == table).unwrap();
        let day = lake.join(table).join("date=2026-02-09");
        let file = fs::File::open(day.join(&files(&lake, table)[0])).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let written = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
        let cells: Vec<(&String, &Field)> = written.get_column_iter().collect();
        for column in columns {
            assert_eq!(row.get(*column), None, "{table}.{column}: {row}");
            let cell = cells.iter().find(|(name, _)| name == column).unwrap();
            assert_eq!(cell.1, &Field::Null, "{table}.{column}");
        }
        for (name, cell) in cells {
            let is_null = row.get(name).is_none();
            assert_eq!(*cell == Field::Null, is_null, "{table}.{name}");
        }
    }
}

#[test]
fn a_dry_run_prints_what_would_leave_and_neither_sends_nor_notes_anything() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    let (lake, to) = machine.lake();
    let seqs = |machine: &Machine| -> Vec<u64> {
        let ran = machine.run(&["ship", "--dry-run", "--to", &to], &[], "");
        assert_eq!(ran.code, 0, "{}", ran.err);
        let rows = ran
            .out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| row["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!(seqs(&machine), [1]);
    assert_eq!(seqs(&machine), [1]);
    let ship = machine.dir.path().join(".local/state/ahp/ship");
    assert!(!lake.exists() && !ship.exists());
    assert_eq!(machine.ship(&to, &[]).code, 0);
    assert_eq!(seqs(&machine), [0_u64; 0]);
    machine.evaluation("local");
    assert_eq!(seqs(&machine), [2]);
    // What is wrong is told without a place to ship to.
    let last = machine.lines.last_mut().unwrap();
    *last = last.replace("\"block\"", "\"allow\"");
    machine.write();
    let ran = machine.run(&["ship", "--dry-run", "--to", &to], &[], "");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(
        ran.err.contains("the last 1 records do not verify"),
        "{}",
        ran.err
    );
}

#[test]
fn what_is_wrong_with_one_log_keeps_no_other_back() {
    type Harm = fn(&Machine, &Path);
    let notes = |machine: &Machine| machine.dir.path().join(".local/state/ahp/logs");
    let harms: [(&str, Harm); 4] = [
        ("a note that is a folder", |_, notes| {
            fs::create_dir(notes.join("0000000000000000")).unwrap();
        }),
        ("a log that is a folder", |machine, notes| {
            let dir = machine.dir.path().join("a-folder");
            fs::create_dir(&dir).unwrap();
            fs::write(notes.join("0000000000000001"), dir.display().to_string()).unwrap();
        }),
        ("a cursor that is none", |machine, notes| {
            let log = machine.dir.path().join("other.jsonl");
            fs::write(&log, "").unwrap();
            fs::write(notes.join("0000000000000002"), log.display().to_string()).unwrap();
            let ship = machine.dir.path().join(".local/state/ahp/ship");
            fs::create_dir_all(&ship).unwrap();
            for name in fs::read_dir(&ship).unwrap() {
                fs::write(name.unwrap().path(), "no cursor").unwrap();
            }
        }),
        ("a log of somebody else", |machine, notes| {
            let log = machine.dir.path().join("another.jsonl");
            fs::copy(machine.log(), &log).unwrap();
            fs::write(notes.join("0000000000000003"), log.display().to_string()).unwrap();
        }),
    ];
    for (what, harm) in harms {
        let mut machine = Machine::new();
        machine.evaluation("local");
        let notes = notes(&machine);
        fs::create_dir_all(&notes).unwrap();
        harm(&machine, &notes);
        let note = |log: &Path| format!("{}\0{}", log.display(), machine.dir.path().display());
        fs::write(notes.join("ffffffffffffffff"), note(&machine.log())).unwrap();
        let (_, to) = machine.lake();
        let ran = Command::new(env!("CARGO_BIN_EXE_ahp-fleet"))
            .args(["ship", "--to", &to])
            .current_dir(machine.dir.path())
            .env_clear()
            .env("HOME", machine.dir.path())
            .env("AHP_MACHINE_ID", "machine-7")
            .output()
            .unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        // This log was begun by nobody known here, which is told: so its turn has come.
        let own = format!(
            "`{}`: it was begun on another machine",
            machine.log().display()
        );
        assert!(told.contains(&own), "{what}: {told}");
        assert_eq!(ran.status.code(), Some(1), "{what}: {told}");
    }
}

/// A server may take the first file of a batch and refuse the second one for its size.
#[test]
fn what_arrived_before_a_file_was_too_large_is_not_sent_again_under_another_name() {
    for refused in 0..4 {
        let mut machine = Machine::new();
        for _ in 0..4 {
            machine.evaluation("local");
            machine.signal();
        }
        let collector = Collector::answering(match refused {
            0 => |n| {
                if n == 0 {
                    "413 Too Large"
                } else {
                    "201 Created"
                }
            },
            1 => |n| {
                if n == 1 {
                    "413 Too Large"
                } else {
                    "201 Created"
                }
            },
            // And in the half of it too.
            2 => |n| {
                if n == 1 || n == 2 {
                    "413 Too Large"
                } else {
                    "201 Created"
                }
            },
            _ => |_| "201 Created",
        });
        let ran = machine.ship(&format!("{}/lake/", collector.base()), &[]);
        assert_eq!(ran.code, 0, "{refused}: {}", ran.err);
        let mut sent: Vec<(String, u64, u64)> = Vec::new();
        for (number, line) in collector.requested().iter().enumerate() {
            let is_refused = matches!((refused, number), (0, 0) | (1, 1) | (2, 1 | 2));
            let path = line.split(' ').nth(1).unwrap();
            let mut parts = path.trim_end_matches(".parquet").rsplit(['/', '-']);
            let last = parts.next().unwrap().parse().unwrap();
            let first = parts.next().unwrap().parse().unwrap();
            let table = path.split('/').nth(2).unwrap().to_owned();
            if !is_refused {
                sent.push((table, first, last));
            }
        }
        for table in ["evaluations", "signals"] {
            let mut of_table: Vec<_> = sent.iter().filter(|(of, ..)| of == table).collect();
            of_table.sort();
            let mut next = 1;
            for (_, first, last) in of_table {
                assert_eq!(*first, next, "{refused} {table}: {sent:?}");
                next = last + 1;
            }
            assert_eq!(next, 9, "{refused} {table}: {sent:?}");
        }
    }
}

/// Containers of one image have one machine id and one path, and keep no state.
#[test]
fn another_log_at_the_same_path_is_another_one_and_the_same_one_stays_so() {
    let mut machine = Machine::new();
    machine.evaluation("first");
    let (lake, to) = machine.lake();
    let forget = |machine: &Machine| {
        let _none = fs::remove_dir_all(machine.dir.path().join(".local/state/ahp/ship"));
    };
    assert_eq!(machine.ship(&to, &[]).code, 0);
    let first = files(&lake, "evaluations");
    // A cursor that is lost sends the same files.
    forget(&machine);
    assert_eq!(machine.ship(&to, &[]).code, 0);
    assert_eq!(files(&lake, "evaluations"), first);
    // The next job has the same machine and path.
    forget(&machine);
    machine.lines.clear();
    machine.evaluation("second");
    assert_eq!(machine.ship(&to, &[]).code, 0);
    assert_eq!(files(&lake, "evaluations").len(), 2);
    // What was begun by an older program goes on under the name that it has.
    let ship = machine.dir.path().join(".local/state/ahp/ship");
    let cursor = fs::read_dir(&ship).unwrap().flatten().map(|e| e.path());
    let cursor = cursor
        .into_iter()
        .find(|path| path.extension().is_some_and(|e| e == "json"))
        .unwrap();
    let mut old: Value = serde_json::from_slice(&fs::read(&cursor).unwrap()).unwrap();
    old.as_object_mut().unwrap().remove("is_named_by_content");
    fs::write(&cursor, old.to_string()).unwrap();
    machine.evaluation("second");
    machine.evaluation("second");
    assert_eq!(machine.ship(&to, &[]).code, 0);
    let ids: std::collections::BTreeSet<String> =
        ranges(&lake).into_iter().map(|(log, _)| log).collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn what_waits_to_be_sent_is_read_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut machine = Machine::new();
    machine.evaluation("local");
    let ran = machine.run(
        &["ship", "--for", "1ms", "--to", "http://127.0.0.1:1/"],
        &[],
        "",
    );
    assert_eq!(ran.code, 1, "{}", ran.err);
    let mut left = vec![machine.dir.path().join(".local/state/ahp/ship")];
    let mut seen = 0;
    while let Some(at) = left.pop() {
        for path in fs::read_dir(at)
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
        {
            let is_lock = path.extension().is_some_and(|end| end == "lock");
            if path.is_dir() {
                left.push(path);
            } else if !is_lock {
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, 0o600, "{}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 2, "{seen}");
}

/// Each text of a record holds the word, in each form that a path, a command, a tool or a credential has.
#[test]
fn no_word_that_may_be_a_path_or_free_text_leaves_in_any_form() {
    for word in [
        "/srv/alice/packs/house.yaml",
        "rm -rf alice",
        "mcp__alice__query",
        "alice@host: token",
        "https://alice:secret@git.example/x",
        "../alice",
        "ahp:../alice",
        "alice@1:packs/alice.yaml",
        "~/alice/hooks.yaml",
        "é alice",
    ] {
        let mut machine = Machine::new();
        let source = format!("{word}:3");
        machine.record(&json!({"kind": "evaluation", "hook": word, "decision": "block", "tool": word, "digest": "d",
            "host": word, "session_id": word, "issue_id": word, "object": word,
            "event": {"trigger": word, "work_dir": word, "environment": word},
            "bindings": [{"id": word, "oracle": word, "source": source, "outcome": "signalled", "duration_us": 1, "error": word}],
            "skipped": 0, "duration_us": 5}));
        let id = "018f0000-0000-7000-8000-000000000001";
        let header = json!({"id": id, "type": word, "timestamp": "2026-02-09T10:00:00Z", "source": word,
            "intensity": "block", "correlation_id": id});
        let payload = json!({"reason": word, "resolvable": true, "resolution_path": [word]});
        machine.record(&json!({"kind": "signal", "host": word, "binding": word, "source": word, "override": false,
            "fingerprint": word, "identity": word, "rule": word, "object": word, "session_id": word,
            "signal": {"header": header, "context": {"hook": word, "issue_id": word, "files": [word]}, "payload": payload}}));
        machine.record(&json!({"kind": "response", "response": {"signal_id": id, "action": "dismiss", "by": "human",
            "consumed_at": "2026-02-09T10:00:00Z", "details": {"note": word}, "inferred": false}}));
        let rows = machine.would_leave(&[]);
        let (lake, to) = machine.lake();
        assert_eq!(machine.ship(&to, &[]).code, 0);
        let mut told = vec![
            serde_json::to_string(&rows).unwrap(),
            machine.exported("otlp").to_string(),
            machine.exported("ocsf").to_string(),
        ];
        for table in ["evaluations", "bindings", "signals", "answers"] {
            for name in files(&lake, table) {
                let file =
                    fs::File::open(lake.join(table).join("date=2026-02-09").join(name)).unwrap();
                let rows = SerializedFileReader::new(file).unwrap();
                let rows = rows.get_row_iter(None).unwrap();
                told.extend(rows.map(|row| row.unwrap().to_string()));
            }
        }
        for text in told {
            assert!(!text.contains("alice"), "{word}: {text}");
        }
    }
}

/// What is the same on each machine is told as it is: figures are of it.
#[test]
fn what_comes_with_the_program_is_told_by_its_name() {
    for (tool, source, is_told) in [
        ("Bash", "ahp:enterprise:12", true),
        ("run_in_terminal", "acme@42:hooks.yaml:4", true),
        ("Write", ".ahp/hooks.yaml:3", true),
        ("Read", "/etc/ahp/hooks.yaml:3", true),
        ("Read", "built-in (self-protection)", true),
        ("house_payroll_query", "packs/house.yaml:3", false),
        ("mcp__house__query", "/opt/house.yaml:3", false),
    ] {
        let mut machine = Machine::new();
        machine.record(&json!({"kind": "evaluation", "hook": "pre-tool-use", "decision": "block", "tool": tool, "digest": "d",
            "bindings": [{"id": "self-protection.1", "oracle": "permission-checker", "source": source, "outcome": "accepted", "duration_us": 1}],
            "skipped": 0, "duration_us": 5}));
        let text = serde_json::to_string(&machine.would_leave(&[])).unwrap();
        for name in [tool, source] {
            assert_eq!(
                text.contains(&format!("\"{name}\"")),
                is_told,
                "{name}: {text}"
            );
        }
        assert!(
            text.contains("self-protection.1") && text.contains("permission-checker"),
            "{text}"
        );
    }
}
