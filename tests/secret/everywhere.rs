//! What is found anywhere is cut everywhere: each row of the tables, in each form, in each place that something is kept in.

use std::fs;
use std::path::Path;

use ahp::engine::block_on;
use ahp::event::{Event, Trigger};
use ahp::signal_log::{Evaluation, SignalLog};
use ahp::verdict::Verdict;
use serde_json::{Value, json};

use super::table::{COMMANDS, FORMATS, example, rows, secret};
use crate::signal_log::making::{at, settings};
use crate::world::World;

/// The forms in which a secret is met: argument, option, assignment, JSON, URL, header, here-document, list.
fn forms(text: &str) -> Vec<Value> {
    vec![
        json!({"command": format!("tool {text} --verbose")}),
        json!({"command": format!("tool --with '{text}'")}),
        json!({"command": format!("KEY={text} make all")}),
        json!({"command": format!("cat > f <<EOF\nKEY={text}\nEOF\n")}),
        json!({"command": format!("curl -H 'X-Key: {text}' https://example.org")}),
        json!({"command": format!("curl 'https://example.org/?a=1&key={text}&b=2'")}),
        json!({"command": format!("curl -d '{}' x", json!({"key": text}))}),
        json!({"content": format!("key = \"{text}\"\n"), "n": {"list": [1, text]}}),
        json!({text: "as the name of an entry"}),
    ]
}

/// All rows: a text and the secret in it.
fn secrets() -> Vec<(String, String)> {
    let formats = rows(FORMATS).map(|row| (example(row[7]), secret(&row)));
    let commands = rows(COMMANDS).map(|row| (row[3].to_owned(), "hunter22".to_owned()));
    formats.chain(commands).collect()
}

#[test]
fn no_secret_of_an_event_is_in_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signals.jsonl");
    let log = SignalLog::open(&file, &settings()).unwrap();
    for (text, secret) in secrets() {
        // A command is one as a whole, and not the value of something else.
        let inputs = if secret == "hunter22" {
            vec![
                json!({"command": text}),
                json!({"a": [{"b": format!("x; {text}")}]}),
            ]
        } else {
            forms(&text)
        };
        for input in inputs {
            let event = Event::tool_use("Bash", input.clone());
            let verdict = Verdict::none(Trigger::PreToolUse);
            let evaluation = Evaluation {
                policy: "",
                note: None,
                event: &event,
                verdict: &verdict,
                skipped: 0,
            };
            block_on(log.append_evaluation(evaluation, Vec::new(), at(0), None)).unwrap();
            let written = fs::read_to_string(&file).unwrap();
            let line = written.lines().next_back().unwrap();
            let escaped = json!(secret).to_string();
            let escaped = escaped.trim_matches('"');
            assert!(!line.contains(escaped), "{input}: {line}");
            assert!(line.contains("[redacted: "), "{input}: {line}");
        }
    }
}

/// Whether any file below a folder holds a text.
fn holds(dir: &Path, text: &str) -> Option<String> {
    fs::read_dir(dir).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path, text);
        }
        let bytes = fs::read(&path).unwrap_or_default();
        let is_there = String::from_utf8_lossy(&bytes).contains(text);
        is_there.then(|| path.display().to_string())
    })
}

#[test]
fn no_secret_is_in_an_answer_a_file_a_report_or_an_export() {
    let world = World::new(
        "hooks:\n  pre-tool-use:\n    - SecurityScanner\n    - id: said\n      oracle: PermissionChecker\n      \
         config: {deny_commands: ['*tool*']}\n",
    );
    let all = secrets();
    // Each of them in one of many calls: processes take time.
    for chunk in all.chunks(25) {
        let lines: Vec<&str> = chunk.iter().map(|(text, _)| text.as_str()).collect();
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s1", "cwd": world.root(),
            "tool_name": "Bash", "tool_input": {"command": lines.join("\n")},
        });
        let ran = world.ahp_fed(
            &["hook", "--host", "claude-code"],
            event.to_string().as_bytes(),
        );
        let odd = format!("odd {}", lines[0]);
        let journal = json!({"hook_event_name": odd, "session_id": "s1", "cwd": world.root()});
        let noted = world.ahp_fed(
            &["hook", "--host", "claude-code"],
            journal.to_string().as_bytes(),
        );
        for (_, secret) in chunk {
            for text in [&ran.stdout, &ran.stderr, &noted.stdout, &noted.stderr] {
                assert!(!text.contains(secret.as_str()), "{secret}: {text}");
            }
        }
    }
    world.ahp(&["log", "report", "-o", "report.html"]);
    let export = world.ahp(&["log", "export"]);
    let shown = world.ahp(&["log", "show", "--json"]);
    let doctor = world.ahp(&["doctor"]);
    assert!(
        export.stdout.lines().count() > all.len() / 25,
        "{}",
        export.stderr
    );
    for (text, secret) in &all {
        for ran in [&export, &shown, &doctor] {
            assert!(
                !ran.stdout.contains(secret.as_str()),
                "{text}: {}",
                ran.stdout
            );
        }
        assert_eq!(holds(world.dir.path(), secret), None, "{text}");
    }
}
