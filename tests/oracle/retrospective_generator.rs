//! RetrospectiveGenerator.

use ahp::event::Trigger;
use ahp::signal::{Intensity, Signal};
use ahp::signal_log::{Body, Chain, History, Record};
use ahp::workspace::MemoryWorkspace;
use serde_json::{Value, json};

use super::bench::{Bench, config_error};
use crate::workspace::repository::Repository;
use crate::world::steps;

const NAME: &str = "RetrospectiveGenerator";

/// A log of one issue, written as its records are.
#[derive(Debug, Default)]
struct Log(Vec<Value>);

impl Log {
    fn push(mut self, time: &str, body: Value) -> Self {
        let mut record = body;
        record["seq"] = (self.0.len() + 1).into();
        record["timestamp"] = format!("2026-02-09T{time}:00Z").into();
        record["prev"] = "".into();
        record["hash"] = "".into();
        self.0.push(record);
        self
    }

    fn evaluation(self, time: &str, hook: &str, decision: &str, bindings: &[(&str, &str)]) -> Self {
        let reports: Vec<Value> = bindings
            .iter()
            .map(|(id, outcome)| json!({"id": id, "oracle": id, "outcome": outcome, "source": "hooks.yaml:1", "duration_us": 500, "error": null}))
            .collect();
        self.push(
            time,
            json!({"kind": "evaluation", "hook": hook, "decision": decision, "issue_id": "FEAT-0123",
                "digest": "0", "bindings": reports, "duration_us": 1000}),
        )
    }

    fn signal(self, time: &str, binding: &str, intensity: &str, text: &str) -> Self {
        let payload = match intensity {
            "block" => json!({"reason": text, "resolvable": true, "resolution_path": []}),
            _ => {
                json!({"severity": "medium", "message": text, "suggestions": [], "continue_allowed": true})
            }
        };
        self.push(
            time,
            json!({"kind": "signal", "binding": binding, "source": "hooks.yaml:1", "fingerprint": "f",
                "signal": {
                    "header": {"id": "0190c3a0-0000-7000-8000-000000000000", "type": "t", "timestamp": "2026-02-09T10:00:00Z",
                        "source": binding, "intensity": intensity},
                    "context": {"hook": "pre-issue-submit", "issue_id": "FEAT-0123", "files": []},
                    "payload": payload}}),
        )
    }

    fn response(self, time: &str, binding: &str, action: &str) -> Self {
        self.push(
            time,
            json!({"kind": "response", "binding": binding, "subject": "FEAT-0123",
                "response": {"signal_id": "0190c3a0-0000-7000-8000-000000000000", "consumed_at": "2026-02-09T10:00:00Z", "action": action}}),
        )
    }
}

impl History for Log {
    fn chain(&self, _: Trigger, _: &str, _: &str) -> Chain {
        Chain::default()
    }

    fn stop_blocks(&self, _: &str) -> u32 {
        0
    }

    fn stopped(&self, _: Trigger, _: &str) -> u32 {
        0
    }

    fn records(&self, subject: &str) -> Vec<Record> {
        assert_eq!(subject, "FEAT-0123");
        let body = |record: &Value| match record["kind"].as_str().unwrap() {
            "evaluation" => Body::Evaluation(serde_json::from_value(record.clone()).unwrap()),
            "signal" => Body::Signal(serde_json::from_value(record.clone()).unwrap()),
            _ => Body::Response(serde_json::from_value(record.clone()).unwrap()),
        };
        let read = |record: &Value| Record {
            seq: 1,
            timestamp: record["timestamp"].as_str().unwrap().parse().unwrap(),
            body: body(record),
            notice: None,
            prev: String::new(),
            hash: String::new(),
        };
        self.0.iter().map(read).collect()
    }
}

/// The story that the seed tells: blocked, fixed, warned, acknowledged, through.
fn log() -> Log {
    Log::default()
        .evaluation("08:00", "pre-issue-start", "none", &[])
        .evaluation(
            "10:00",
            "pre-issue-submit",
            "block",
            &[("checklist", "signalled"), ("tests", "failed")],
        )
        .signal(
            "10:00",
            "checklist",
            "block",
            "checklist is not complete: 2 of 3 items done, open: [chk-003] API docs",
        )
        .evaluation(
            "10:15",
            "pre-issue-submit",
            "block",
            &[("checklist", "signalled")],
        )
        .signal(
            "10:15",
            "checklist",
            "block",
            "checklist is not complete | still",
        )
        .evaluation(
            "10:20",
            "pre-issue-submit",
            "block",
            &[("checklist", "signalled")],
        )
        .signal("10:20", "checklist", "block", "checklist is not complete")
        .evaluation(
            "10:45",
            "pre-issue-submit",
            "allow",
            &[("checklist", "accepted"), ("size", "signalled")],
        )
        .signal("10:45", "size", "prompt", "large change: 25 files")
        .response("10:46", "size", "dismiss")
        .evaluation(
            "10:50",
            "pre-issue-submit",
            "allow",
            &[("checklist", "accepted"), ("size", "signalled")],
        )
        .signal("10:50", "size", "prompt", "large change: 26 files")
        .response("10:51", "size", "dismiss")
        .evaluation("12:50", "pre-issue-close", "none", &[])
}

const ISSUE: &str = "---\nid: FEAT-0123\ntitle: Login\ntype: feature\nstatus: closed\nsolution: implemented\nfiles: [src/a.rs]\n---\n- [x] a\n";

fn judge(workspace: impl ahp::workspace::Workspace + 'static, log: Log, config: &str) -> Signal {
    let bench = Bench::new(Trigger::PostIssueClose, workspace)
        .issue("FEAT-0123")
        .history(log);
    let mut signals = bench.judge(NAME, config);
    assert_eq!(signals.len(), 1);
    signals.remove(0)
}

fn closed() -> Repository {
    let repository = Repository::new();
    repository
        .write("Issues/Features/closed/FEAT-0123-login.md", ISSUE)
        .commit("first");
    repository.git("checkout -q -b work");
    repository
        .write("src/a.rs", "x\n")
        .commit("feat: login (FEAT-0123)");
    repository
}

#[test]
fn an_answer_that_nobody_gave_is_not_told_as_one() {
    let inferred = |action: &str, by: &str| {
        json!({"kind": "response", "binding": "size", "subject": "FEAT-0123",
            "response": {"signal_id": "0190c3a0-0000-7000-8000-000000000000", "consumed_at": "2026-02-09T10:00:00Z",
                "action": action, "by": by, "inferred": true}})
    };
    let gated = "the tests could not be run; it said last:\nno such file";
    let log = Log::default()
        .evaluation(
            "10:00",
            "pre-issue-submit",
            "allow",
            &[("size", "signalled")],
        )
        .signal("10:00", "size", "prompt", gated)
        .push("10:10", inferred("dismiss", "agent"))
        .push("10:11", inferred("dismiss", "agent"))
        .push("10:12", inferred("acknowledge", "human"));
    let repository = closed();
    judge(repository.workspace(), log, "{}");
    let place = repository.root().join(".ahp/retrospectives/FEAT-0123.md");
    let text = std::fs::read_to_string(place).unwrap();
    for said in [
        "| prompts dismissed | 0 |",
        "- `acknowledge`, 1 time: size",
        "- 2 answers concluded from what came next",
        "it said last: no such file",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("were dismissed"), "{text}");
}

#[test]
fn the_story_of_an_issue_is_written_down() {
    let repository = closed();
    let signal = judge(repository.workspace(), log(), "");
    assert_eq!(signal.intensity(), Intensity::Aid);
    assert_eq!(
        signal.payload.text(),
        "the retrospective of FEAT-0123 is in .ahp/retrospectives/FEAT-0123.md: 7 events evaluated, stopped 3 times, 1 commit"
    );
    assert_eq!(
        steps(&signal),
        [
            "`checklist` spoke up 3 times at `pre-issue-submit` before it was content: say up front what it wants",
            "2 prompts of `size` were dismissed: narrow it or drop it",
            "`tests` could not judge 1 time: see `ahp log show`",
        ]
    );
    let text = std::fs::read_to_string(repository.root().join(".ahp/retrospectives/FEAT-0123.md"))
        .unwrap();
    let commit = repository.git("rev-parse --short=7 HEAD");
    let expected = [
        "# Retrospective of FEAT-0123: Login",
        "- Solution: implemented",
        "- Checklist: 1 of 1 item done",
        "| checklist | pre-issue-submit | block | 3 | 45 min | checklist is not complete |",
        "| size | pre-issue-submit | prompt | 2 | was answered or left | large change: 26 files |",
        "- `dismiss`, 2 times: size",
        "1 changed file, 1 line added and 0 removed.",
        &format!("- {commit} feat: login (FEAT-0123) (Tess)"),
        "- `src/a.rs`",
        "| time in work, from start to the last submit | 2 h 50 min |",
        "| time in review, from the last submit to the close | 2 h |",
        "| events stopped | 3 |",
        "| mean time to fix | 45 min |",
        "| prompts dismissed | 2 |",
        "| time that the checks took | 7 ms |",
        "| 2026-02-09 08:00 | `pre-issue-start` passed |",
        "| 2026-02-09 10:15 | block by `checklist`: checklist is not complete \\| still |",
        "| 2026-02-09 10:46 | `size` was answered with `dismiss` |",
    ];
    for expected in expected {
        assert!(
            text.lines().any(|line| line == expected),
            "{expected}\n\n{text}"
        );
    }
}

#[test]
fn figures_and_place_can_be_chosen() {
    let repository = closed();
    judge(
        repository.workspace(),
        log(),
        "{generate_metrics: false, path: docs/retro/}",
    );
    let text = std::fs::read_to_string(repository.root().join("docs/retro/FEAT-0123.md")).unwrap();
    assert!(!text.contains("## Figures"), "{text}");
    judge(repository.workspace(), log(), "path: 'docs/{id}/story.md'");
    assert!(repository.root().join("docs/FEAT-0123/story.md").exists());
}

#[test]
fn a_closed_issue_is_moved_to_the_archive() {
    let repository = closed();
    let signal = judge(repository.workspace(), log(), "archive_issue: true");
    let to = "Issues/Features/archived/FEAT-0123-login.md";
    assert!(
        signal
            .payload
            .text()
            .ends_with(&format!("; its file was moved to {to}"))
    );
    assert!(repository.root().join(to).exists());
    assert!(
        !repository
            .root()
            .join("Issues/Features/closed/FEAT-0123-login.md")
            .exists()
    );
    assert_eq!(signal.context.files[1], to);
}

#[test]
fn an_open_issue_and_an_occupied_place_are_left_alone() {
    let repository = closed();
    let path = "Issues/Features/closed/FEAT-0123-login.md";
    repository.write(path, ISSUE.replace("closed", "open"));
    let signal = judge(repository.workspace(), log(), "archive_issue: true");
    assert!(
        steps(&signal).contains(
            &"The issue's file was not archived: its status is open, not closed".to_owned()
        )
    );
    repository
        .write(path, ISSUE)
        .write("Issues/Features/archived/FEAT-0123-login.md", "other");
    let signal = judge(repository.workspace(), log(), "archive_issue: true");
    assert!(
        steps(&signal)
            .last()
            .unwrap()
            .contains("there is a file Issues/Features/archived/FEAT-0123-login.md already")
    );
    assert!(repository.root().join(path).exists());
}

#[test]
fn without_log_git_and_issue_it_says_so() {
    let signal = judge(
        MemoryWorkspace::new("/project"),
        Log::default(),
        "archive_issue: true",
    );
    assert_eq!(
        signal.payload.text(),
        "no retrospective of FEAT-0123 was written: no file below Issues, no commit and no record names it"
    );
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_owned();
    let workspace = || ahp::workspace::DiskWorkspace::new(root.clone(), root.join("Issues"));
    judge(workspace(), Log::default(), "");
    let path = root.join(".ahp/retrospectives/FEAT-0123.md");
    assert!(!path.exists());
    // What is known of an issue whose file is gone is told, and that it is gone.
    let signal = judge(workspace(), log(), "");
    assert!(
        steps(&signal)
            .contains(&"The issue's file was not read: no file was found for it".to_owned()),
        "{signal:?}"
    );
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text.contains("The issue itself tells nothing here: no file was found for it."),
        "{text}"
    );
}

#[test]
fn where_the_branch_is_gone_commits_that_name_the_issue_count() {
    let repository = closed();
    repository.git("checkout -q main");
    repository.git("merge -q --no-ff --no-edit work");
    repository.git("branch -q -d work");
    repository.commit("feat: FEAT-01234 is another one");
    let signal = judge(repository.workspace(), Log::default(), "");
    assert!(signal.payload.text().ends_with("1 commit"), "{signal:?}");
}

#[test]
fn thousands_of_records_are_cut_to_a_readable_length() {
    let mut log = Log::default();
    for _ in 0..3000 {
        log = log.evaluation(
            "10:00",
            "pre-issue-submit",
            "block",
            &[("checklist", "signalled")],
        );
        log = log.signal("10:00", "checklist", "block", "not complete");
    }
    let repository = closed();
    judge(repository.workspace(), log, "");
    let text = std::fs::read_to_string(repository.root().join(".ahp/retrospectives/FEAT-0123.md"))
        .unwrap();
    assert!(
        text.lines().count() < 300 && text.contains("… and 5801 more."),
        "{text}"
    );
}

#[test]
fn a_wrong_configuration_is_told_at_its_place() {
    for path in ["/etc/x", "../x", "''"] {
        let error = config_error(NAME, &format!("path: {path}"));
        assert!(
            error.starts_with("hooks.yaml:1:7 ")
                && error.contains("expected a relative path without `..`"),
            "{error}"
        );
    }
    assert_eq!(
        config_error(NAME, "archive: true"),
        "hooks.yaml:1:1 unknown key `archive`"
    );
    assert_eq!(
        config_error(NAME, "generate_metrics: 3"),
        "hooks.yaml:1:19 expected `true` or `false`, found `3`"
    );
}

#[test]
fn a_check_that_was_never_content_is_not_said_to_have_been() {
    let repository = closed();
    let mut log = Log::default();
    for at in ["10:00", "10:05", "10:10"] {
        log = log
            .evaluation(at, "pre-issue-submit", "allow", &[("size", "signalled")])
            .signal(at, "size", "prompt", "large change: 25 files");
    }
    assert_eq!(
        steps(&judge(repository.workspace(), log, "")),
        [
            "`size` spoke up 3 times at `pre-issue-submit` and was never content: is what it wants worth wanting?"
        ]
    );
}

#[test]
fn a_finding_is_over_where_the_same_is_judged_again_without_it() {
    let judged = |log: Log, at: &str, object: &str, found: &[&str], waived: &[&str]| {
        let outcome = if found.is_empty() {
            "accepted"
        } else {
            "signalled"
        };
        let mut log = log.push(
            at,
            json!({"kind": "evaluation", "hook": "pre-issue-submit", "decision": "allow", "issue_id": "FEAT-0123",
                "digest": "0", "object": object, "duration_us": 1000, "bindings": [{"id": "shell", "oracle": "shell",
                "outcome": outcome, "source": "hooks.yaml:1", "duration_us": 500, "error": null, "waived": waived}]}),
        );
        for identity in found {
            log = log.signal(at, "shell", "prompt", identity);
            let signal = log.0.last_mut().unwrap();
            signal["identity"] = (*identity).into();
            signal["signal"]["header"]["id"] = id_of(identity).into();
        }
        log
    };
    let log = judged(Log::default(), "10:00", "push", &["force", "tag"], &[]);
    // Another command repairs nothing of this one; of this one a finding goes, and the other stays.
    let log = judged(log, "10:10", "ls", &[], &[]);
    let log = judged(log, "10:20", "push", &["force"], &[]);
    let log = judged(log, "10:30", "push", &[], &[id_of("force")]);
    let repository = closed();
    judge(repository.workspace(), log, "");
    let written =
        std::fs::read_to_string(repository.root().join(".ahp/retrospectives/FEAT-0123.md"));
    let written = written.unwrap();
    let row = |said: &str| {
        let mut rows = written
            .lines()
            .filter(|line| line.ends_with(&format!("| {said} |")));
        rows.next()
            .unwrap_or_else(|| panic!("{said} in {written}"))
            .to_owned()
    };
    assert!(row("tag").contains("| 1 | 20 min |"), "{written}");
    assert!(
        row("force").contains("| 2 | was answered or left |"),
        "{written}"
    );
    assert!(
        written.contains("| findings, prompt at the strongest | 2 |"),
        "{written}"
    );
}

fn id_of(identity: &str) -> &'static str {
    match identity {
        "force" => "0190c3a0-0000-7000-8000-000000000001",
        _ => "0190c3a0-0000-7000-8000-000000000002",
    }
}
