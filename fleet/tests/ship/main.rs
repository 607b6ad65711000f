//! What `ahp-fleet ship` and `export` send and what they do not: the program itself, over logs that are written here.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may stop, and the program itself is what is tested"
)]

mod carried;
mod collector;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::collector::Collector;

/// A machine with one log.
struct Machine {
    dir: tempfile::TempDir,
    lines: Vec<String>,
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Machine {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            lines: Vec::new(),
        }
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("signals.jsonl")
    }

    /// Adds a record, chained to the one before it.
    fn record(&mut self, body: &Value) {
        let last = self.lines.last().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["hash"].as_str().unwrap().to_owned()
        });
        let prev = last.unwrap_or_else(|| "0".repeat(64));
        let mut record =
            json!({"seq": self.lines.len() + 1, "timestamp": "2026-02-09T10:00:00.000000Z"});
        let members = record.as_object_mut().unwrap();
        members.extend(body.as_object().unwrap().clone());
        members.insert("prev".to_owned(), prev.into());
        let text = record.to_string();
        let hash = Sha256::digest(text.as_bytes());
        let digits: Vec<String> = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let hash = digits.concat();
        let bare = text.strip_suffix('}').unwrap();
        self.lines.push(format!("{bare},\"hash\":\"{hash}\"}}"));
        self.write();
    }

    fn write(&self) {
        fs::write(self.log(), self.lines.join("\n") + "\n").unwrap();
    }

    fn evaluation(&mut self, environment: &str) {
        self.record(
            &json!({"kind": "evaluation", "hook": "pre-tool-use", "decision": "block", "tool": "Bash", "digest": "d",
            "event": {"trigger": "pre-tool-use", "work_dir": "/", "environment": environment},
            "bindings": [], "skipped": 0, "duration_us": 5}),
        );
    }

    fn signal(&mut self) {
        let id = "018f0000-0000-7000-8000-000000000001";
        let header = json!({"id": id, "type": "finding", "timestamp": "2026-02-09T10:00:00Z", "source": "SecurityScanner",
            "intensity": "block", "correlation_id": id});
        let payload = json!({"reason": "no", "resolvable": true, "resolution_path": []});
        self.record(&json!({"kind": "signal", "host": "codex", "binding": "b", "source": "hooks.yaml:1",
            "override": false, "fingerprint": "f", "severity": "critical",
            "signal": {"header": header, "context": {"hook": "pre-tool-use", "files": []}, "payload": payload}}));
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)], input: &str) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ahp-fleet"))
            .args(arguments)
            .arg("--log")
            .arg(self.log())
            .current_dir(self.dir.path())
            .env_clear()
            .env("HOME", self.dir.path())
            .env("AHP_MACHINE_ID", "machine-7")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // What takes no input has closed it.
        let _closed = child.stdin.take().unwrap().write_all(input.as_bytes());
        let done = child.wait_with_output().unwrap();
        Ran {
            code: done.status.code().unwrap(),
            out: String::from_utf8_lossy(&done.stdout).into_owned(),
            err: String::from_utf8_lossy(&done.stderr).into_owned(),
        }
    }

    fn ship(&self, to: &str, variables: &[(&str, &str)]) -> Ran {
        self.run(&["ship", "--to", to], variables, "")
    }

    fn exported(&self, format: &str) -> Value {
        let ran = self.run(
            &["export", "--format", format],
            &[],
            &(self.lines.join("\n") + "\n"),
        );
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str(ran.out.lines().next().unwrap()).unwrap()
    }
}

#[test]
fn a_foreign_log_that_lies_outside_of_its_project_does_not_leave() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    let home = machine.dir.path();
    let project = home.join("project");
    fs::create_dir_all(&project).unwrap();
    let notes = home.join(".local/state/ahp/logs");
    fs::create_dir_all(&notes).unwrap();
    let log = machine.log();
    fs::write(
        notes.join("0123456789abcdef"),
        format!("{}\0{}", log.display(), project.display()),
    )
    .unwrap();
    let lake = home.join("lake");
    let ran = Command::new(env!("CARGO_BIN_EXE_ahp-fleet"))
        .args(["ship", "--to", &format!("dir:{}", lake.display())])
        .current_dir(home)
        .env_clear()
        .envs([
            ("HOME", home.as_os_str()),
            ("AHP_MACHINE_ID", "machine-7".as_ref()),
        ])
        .output()
        .unwrap();
    let told = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{told}");
    assert!(
        told.contains("begun on another machine or for another project"),
        "{told}"
    );
    assert!(!lake.exists() || fs::read_dir(&lake).unwrap().next().is_none());
}

#[test]
fn an_edited_last_record_is_told() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    let lake = format!("dir:{}", machine.dir.path().join("lake").display());
    assert_eq!(machine.ship(&lake, &[]).code, 0);
    machine.evaluation("local");
    let last = machine.lines.last_mut().unwrap();
    *last = last.replace("\"block\"", "\"allow\"");
    machine.write();
    let ran = machine.ship(&lake, &[]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        ran.err.contains("the last 1 records do not verify"),
        "{}",
        ran.err
    );
}

#[test]
fn what_a_variable_names_is_reached_encrypted_or_not_at_all() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    let collector = Collector::start();
    let ran = machine.ship(
        "otlp:https://collector.example",
        &[(
            "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
            "http://collector.example/v1/logs",
        )],
    );
    assert_eq!(ran.code, 1);
    assert!(
        ran.err
            .contains("`http://collector.example/v1/logs` is not a place to ship to"),
        "{}",
        ran.err
    );
    let ran = machine.ship(
        "otlp:https://collector.example",
        &[
            ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", &collector.url),
            (
                "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
                "Authorization=Bearer%20a%2Cb, X-Team=web",
            ),
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let headers = collector.headers();
    assert!(
        headers.contains(&"authorization: bearer a,b".to_owned()),
        "{headers:?}"
    );
    assert!(headers.contains(&"x-team: web".to_owned()), "{headers:?}");
}

#[test]
fn a_place_that_is_not_encrypted_is_refused_as_it_was_written() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    let ran = machine.ship("otlp:http://collector.example", &[]);
    assert!(
        ran.err
            .contains("`otlp:http://collector.example` is not a place"),
        "{}",
        ran.err
    );
}

#[test]
fn a_finding_outside_of_a_session_has_no_empty_member() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    machine.signal();
    let finding = machine.exported("ocsf");
    assert_eq!(
        finding["ai_agent"],
        json!({"uid": "codex", "type_id": 99, "type": "codex"})
    );
    assert_eq!(finding["class_uid"], 2004);
    assert_eq!(finding["severity_id"], 5);
    assert_eq!(finding["disposition_id"], 2);
}

#[test]
fn a_record_of_another_environment_than_its_resource_says_so() {
    let mut machine = Machine::new();
    machine.evaluation("ci");
    machine.evaluation("local");
    let request = machine.exported("otlp");
    let resource = &request["resourceLogs"][0];
    let of = |attributes: &Value, key: &str| {
        let attributes = attributes.as_array().unwrap();
        let found = attributes.iter().find(|given| given["key"] == key);
        found.map(|given| given["value"]["stringValue"].clone())
    };
    let environment = of(
        &resource["resource"]["attributes"],
        "deployment.environment.name",
    );
    assert_eq!(environment, Some("local".into()));
    let records = &resource["scopeLogs"][0]["logRecords"];
    assert_eq!(
        of(&records[0]["attributes"], "ahp.environment"),
        Some("ci".into())
    );
    assert_eq!(of(&records[1]["attributes"], "ahp.environment"), None);
}

/// The names of the files of a table in a lake, in their order.
fn files(lake: &Path, table: &str) -> Vec<String> {
    let days = fs::read_dir(lake.join(table)).into_iter().flatten();
    let files = days.flat_map(|day| fs::read_dir(day.unwrap().path()).unwrap());
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

impl Machine {
    fn lake(&self) -> (PathBuf, String) {
        let lake = self.dir.path().join("lake");
        let to = format!("dir:{}", lake.display());
        (lake, to)
    }
}

#[test]
fn a_server_that_takes_nothing_however_small_is_told_after_few_tries() {
    let mut machine = Machine::new();
    for _ in 0..5 {
        machine.evaluation("local");
        machine.signal();
    }
    let collector = Collector::answering(|_| "413 Too Large");
    let ran = machine.ship(&format!("otlp:{}", collector.base()), &[]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        ran.err.contains("not even one evaluation with its signals"),
        "{}",
        ran.err
    );
    assert!(collector.requests() < 8, "{}", collector.requests());
    // One that takes less gets less.
    let collector = Collector::answering(|number| {
        if number < 2 {
            "413 Too Large"
        } else {
            "200 OK"
        }
    });
    let ran = machine.ship(&format!("otlp:{}", collector.base()), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn how_far_a_log_is_counts_for_each_place() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    let (lake, to) = machine.lake();
    let other = machine.dir.path().join("other");
    assert_eq!(
        machine.ship(&format!("dir:{}", other.display()), &[]).code,
        0
    );
    assert_eq!(machine.ship(&to, &[]).code, 0);
    assert_eq!(files(&lake, "evaluations"), files(&other, "evaluations"));
    let collector = Collector::start();
    let variable = ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", collector.url.as_str());
    assert_eq!(
        machine
            .ship("otlp:https://collector.example", &[variable])
            .code,
        0
    );
    assert_eq!(collector.requests(), 1);
}

#[test]
fn the_fault_of_one_log_or_of_a_project_keeps_no_other_log_back() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    let (lake, to) = machine.lake();
    let home = machine.dir.path();
    fs::create_dir_all(home.join(".ahp")).unwrap();
    fs::write(home.join(".ahp/hooks.yaml"), "hooks: {nonsense: [").unwrap();
    fs::create_dir_all(home.join("first/signals.jsonl")).unwrap();
    let first = home.join("first/signals.jsonl").display().to_string();
    let ran = machine.run(&["ship", "--to", &to, "--log", &first], &[], "");
    assert_eq!(files(&lake, "evaluations").len(), 1, "{}", ran.err);
    assert_eq!(ran.code, 1, "{}", ran.err);
}

#[test]
fn what_keeps_several_logs_back_is_told_once() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    let home = machine.dir.path();
    let others = ["first", "second", "third"].map(|name| {
        fs::create_dir_all(home.join(name)).unwrap();
        let log = home.join(name).join("signals.jsonl");
        fs::copy(machine.log(), &log).unwrap();
        log.display().to_string()
    });
    let ship = |extra: &[&str]| {
        let logs = others.iter().flat_map(|log| ["--log", log]);
        let arguments = ["ship"].into_iter().chain(extra.iter().copied());
        machine.run(&arguments.chain(logs).collect::<Vec<_>>(), &[], "")
    };
    let down = ship(&["--to", "http://127.0.0.1:9/", "--for", "1s"]);
    assert_eq!(
        (down.code, down.err.lines().count()),
        (1, 1),
        "{}",
        down.err
    );
    assert!(down.err.contains("and 1 more: "), "{}", down.err);
}

#[test]
fn what_is_not_encrypted_passes_through_no_proxy() {
    let mut machine = Machine::new();
    machine.evaluation("local");
    let (proxy, collector) = (Collector::start(), Collector::start());
    let proxies = ["ALL_PROXY", "HTTP_PROXY", "http_proxy", "https_proxy"];
    let variables = proxies.map(|name| (name, proxy.base()));
    let to = format!("otlp:{}", collector.base());
    assert_eq!(machine.ship(&to, &variables).code, 0);
    assert_eq!((proxy.headers().len(), collector.requests()), (0, 1));
}

#[test]
fn a_team_that_is_no_name_leaves_as_a_hash() {
    for (team, is_name) in [("payments", true), ("/srv/secret path tok", false)] {
        let mut machine = Machine::new();
        machine.evaluation("local");
        let home = machine.dir.path();
        fs::create_dir_all(home.join(".ahp")).unwrap();
        let policy = format!("settings: {{labels: {{team: \"{team}\"}}}}\n");
        fs::write(home.join(".ahp/hooks.yaml"), policy).unwrap();
        let shown = machine.run(&["ship", "--dry-run", "--to", "dir:/x"], &[], "");
        assert_eq!(
            shown.out.contains(team),
            is_name,
            "{}{}",
            shown.out,
            shown.err
        );
    }
}
