//! Every recorded payload of every host: what it means, and the reply of each intensity in the host's own form.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on says where by panicking"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use ahp::event::Trigger;
use ahp::host;
use ahp::host::{Decoded, Fallback, HOSTS, Host, Input, Wish};
use ahp::signal::{Modification, Signal};
use ahp::verdict::Verdict;
use serde_json::Value;

/// One payload: `tests/host/<host>/<version>/<event>[.<n>].json`, or with `in-subagent.` or `mcp.` before the event.
struct Case {
    host: &'static Host,
    name: String,
    event: String,
    bytes: Vec<u8>,
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    found.sort();
    found
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host");
    let mut cases = Vec::new();
    for host_dir in folders(&root).into_iter().filter(|p| p.is_dir()) {
        let name = host_dir.file_name().unwrap().to_str().unwrap().to_owned();
        let host = Host::find(&name).unwrap_or_else(|| panic!("tests/host/{name} is not a host"));
        for version in folders(&host_dir) {
            for file in folders(&version) {
                let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
                let words: Vec<&str> = stem
                    .split('.')
                    .filter(|w| !matches!(*w, "in-subagent" | "mcp"))
                    .collect();
                // Names with dots of their own, such as `tool.execute.before`.
                let event = (1..=words.len())
                    .rev()
                    .map(|n| words[..n].join("."))
                    .find(|event| host.event(event).is_some())
                    .unwrap_or_else(|| words[0].to_owned());
                let version = version.file_name().unwrap().to_str().unwrap();
                cases.push(Case {
                    host,
                    name: format!("{name}/{version}/{stem}"),
                    event,
                    bytes: fs::read(&file).unwrap(),
                });
            }
        }
    }
    cases
}

fn decode(case: &Case, host: Option<&'static Host>) -> Decoded {
    host::decode(&Input {
        bytes: &case.bytes,
        host,
        event: Some(&case.event),
        arguments: &[],
        work_dir: Path::new("/elsewhere"),
    })
    .unwrap_or_else(|e| panic!("{}: {e}", case.name))
}

fn signal(mut signal: Signal) -> Signal {
    "checklist-validator".clone_into(&mut signal.header.source);
    signal
}

fn verdict(trigger: Trigger, signals: Vec<Signal>, input: Option<Value>) -> Verdict {
    {
        let mut verdict = Verdict::of(trigger, signals);
        verdict.modified_input = input;
        verdict
    }
}

/// One verdict of each kind.
fn verdicts(decoded: &Decoded, trigger: Trigger) -> Vec<(&'static str, Verdict)> {
    let mut all = vec![
        ("none", Verdict::none(trigger)),
        (
            "block",
            verdict(
                trigger,
                vec![signal(
                    Signal::block("open", "2 items are open").steps(["tick one", "tick two"]),
                )],
                None,
            ),
        ),
        (
            "ask",
            verdict(
                trigger,
                vec![signal(
                    Signal::prompt("risky", "this is risky").must_be_answered(),
                )],
                None,
            ),
        ),
        (
            "prompt",
            verdict(
                trigger,
                vec![signal(Signal::prompt("hm", "a warning").steps(["do this"]))],
                None,
            ),
        ),
        (
            "aid",
            verdict(trigger, vec![signal(Signal::aid("tip", "a tip"))], None),
        ),
    ];
    if let Some(tool) = decoded.events.first().and_then(|e| e.tool.as_ref())
        && trigger == Trigger::PreToolUse
        && let Some(object) = tool.input.as_object()
        && let Some(key) = object.keys().next()
    {
        let mut changed = object.clone();
        changed.insert(key.clone(), "changed".into());
        let modification = Modification {
            target: format!("tool.input.{key}"),
            original: object[key].clone(),
            updated: "changed".into(),
            reason: "safer".to_owned(),
        };
        let control = signal(Signal::control("rewritten", vec![modification]));
        all.insert(
            3,
            (
                "control",
                verdict(trigger, vec![control], Some(Value::Object(changed))),
            ),
        );
    }
    all
}

fn show(reply: &host::Reply) -> String {
    let mut text = format!("exit {}", reply.exit_code());
    if !reply.stdout.is_empty() {
        write!(text, "\n    stdout {}", reply.stdout).unwrap();
    }
    if !reply.stderr.is_empty() {
        write!(text, "\n    stderr {:?}", reply.stderr).unwrap();
    }
    text
}

#[test]
fn every_payload_becomes_an_event_and_every_answer_the_hosts_own() {
    let mut sheets: Vec<(&str, String)> = Vec::new();
    for case in cases() {
        let decoded = decode(&case, Some(case.host));
        let mut text = format!("== {} ({})\n", case.name, decoded.event);
        for event in &decoded.events {
            writeln!(text, "  event {}", serde_json::to_string(event).unwrap()).unwrap();
        }
        if let Some(trigger) = decoded.host_event.expect(&case.name).trigger {
            for (kind, verdict) in verdicts(&decoded, trigger) {
                let reply = case.host.answer(&decoded, vec![verdict], None);
                writeln!(text, "  {kind}: {}", show(&reply)).unwrap();
            }
        } else {
            writeln!(
                text,
                "  ignored: {}",
                show(&case.host.no_opinion(&decoded.event))
            )
            .unwrap();
        }
        match sheets.last_mut() {
            Some((host, sheet)) if *host == case.host.name => sheet.push_str(&text),
            _ => sheets.push((case.host.name, text)),
        }
    }
    insta::with_settings!({snapshot_path => "host", prepend_module_to_snapshot => false, omit_expression => true}, {
        for (host, sheet) in sheets {
            insta::assert_snapshot!(host, sheet);
        }
    });
}

#[test]
fn every_host_has_a_case() {
    let cases = cases();
    for host in HOSTS.iter().filter(|h| h.name != "git") {
        assert!(
            cases.iter().any(|c| c.host.name == host.name),
            "no case in tests/host/{}",
            host.name
        );
    }
    assert!(HOSTS.is_sorted_by(|a, b| a.name < b.name));
}

#[test]
fn who_speaks_is_told_by_the_payload() {
    for case in cases() {
        // The program that embeds it says who it is: its payloads are Claude Code's.
        if case.host.name == "claude-agent-sdk" {
            continue;
        }
        let decoded = decode(&case, None);
        // A bare subagent event of Copilot looks like nobody's in particular.
        assert_eq!(decoded.host.name, case.host.name, "{}", case.name);
    }
}

#[test]
fn a_block_before_a_tool_is_one_in_the_hosts_own_reading() {
    for case in cases() {
        let decoded = decode(&case, Some(case.host));
        let Some(host_event) = decoded
            .host_event
            .filter(|m| m.trigger == Some(Trigger::PreToolUse))
        else {
            continue;
        };
        assert!(
            host_event.block,
            "{}: before a tool every host can block",
            case.name
        );
        for (kind, verdict) in verdicts(&decoded, Trigger::PreToolUse) {
            let stops = kind == "block"
                || (kind == "ask" && case.host.fallback(Wish::Ask, host_event) == Fallback::Block)
                || (kind == "control" && case.host.fallback(Wish::Rewrite, host_event) == Fallback::Block)
                // One answer cannot change the input of several calls.
                || (kind == "control" && decoded.events.len() > 1);
            let reply = case.host.answer(&decoded, vec![verdict], None);
            assert_eq!(
                case.host.obeys(&reply),
                stops,
                "{} {kind}: {}",
                case.name,
                show(&reply)
            );
        }
        // A change of what is no part of the input reaches only who gets the verdict itself.
        let split = Modification {
            target: "batch_size".to_owned(),
            original: 6.into(),
            updated: 2.into(),
            reason: String::new(),
        };
        let control = signal(Signal::control("large-change", vec![split]));
        let split = verdict(Trigger::PreToolUse, vec![control], None);
        let reply = case.host.answer(&decoded, vec![split], None);
        let is_made = host_event.gets_verdict || host_event.is_permission;
        assert_eq!(
            case.host.obeys(&reply),
            !is_made,
            "{}: {}",
            case.name,
            show(&reply)
        );
    }
}

#[test]
fn no_opinion_is_never_allow_and_stdout_is_one_object_or_nothing() {
    for case in cases() {
        let decoded = decode(&case, Some(case.host));
        let Some(trigger) = decoded.host_event.unwrap().trigger else {
            continue;
        };
        for (kind, verdict) in verdicts(&decoded, trigger) {
            let reply = case.host.answer(&decoded, vec![verdict], None);
            let context = format!("{} {kind}: {}", case.name, show(&reply));
            // Kiro CLI hands whatever stands there to the model.
            let is_text = case.host.name == "kiro-cli" && reply.exit_code() == 0;
            assert!(
                is_text || reply.stdout.is_empty() || reply.object().is_object(),
                "{context}"
            );
            if kind != "control" && case.host.name != "native" {
                assert!(!reply.stdout.contains("allow"), "{context}");
            }
            if kind == "none" && case.host.name != "native" {
                assert!(matches!(reply.stdout.as_str(), "" | "{}"), "{context}");
                assert!(reply.stderr.is_empty() && !reply.blocks, "{context}");
            }
            if reply.blocks {
                assert!(!reply.stderr.trim().is_empty(), "{context}");
            }
        }
    }
}

#[test]
fn what_a_moment_cannot_carry_waits_for_one_that_can() {
    let dir = tempfile::tempdir().unwrap();
    let cases = cases();
    let find = |name: &str| {
        let case = cases.iter().find(|c| c.name == name).unwrap();
        decode(case, Some(case.host))
    };
    let queue = host::Queue::new(dir.path(), "gemini-cli", "s");
    let gemini = Host::find("gemini-cli").unwrap();
    let before = find("gemini-cli/0.61.0/BeforeTool");
    let aid = verdict(
        Trigger::PreToolUse,
        vec![signal(Signal::aid("tip", "remember the tests"))],
        None,
    );
    let reply = gemini.answer(&before, vec![aid], Some(&queue));
    assert_eq!(reply.stdout, "{}");
    let after = find("gemini-cli/0.61.0/AfterTool");
    let reply = gemini.answer(
        &after,
        vec![Verdict::none(Trigger::PostToolUse)],
        Some(&queue),
    );
    assert!(
        reply.stdout.contains("remember the tests"),
        "{}",
        reply.stdout
    );
    let reply = gemini.answer(
        &after,
        vec![Verdict::none(Trigger::PostToolUse)],
        Some(&queue),
    );
    assert_eq!(reply.stdout, "{}");
}

#[test]
fn a_warning_is_shown_to_the_person_else_to_the_agent() {
    let cases = cases();
    for (name, field) in [
        ("claude-code/2.1.329/PreToolUse", "systemMessage"),
        ("copilot/1.0.102/preToolUse", "additionalContext"),
    ] {
        let case = cases.iter().find(|c| c.name == name).unwrap();
        let verdict = {
            let mut verdict = Verdict::of(Trigger::PreToolUse, Vec::new());
            verdict.warnings = vec!["the log cannot be written".to_owned()];
            verdict
        };
        let reply = case
            .host
            .answer(&decode(case, Some(case.host)), vec![verdict], None);
        assert_eq!(
            reply.object()[field],
            "ahp: warning: the log cannot be written",
            "{name}"
        );
    }
}

#[test]
fn an_unknown_event_passes_with_a_note() {
    let decoded = host::decode(&Input {
        bytes: br#"{"hook_event_name":"Frobnicated","session_id":"s","transcript_path":"t"}"#,
        host: Host::find("claude-code"),
        event: None,
        arguments: &[],
        work_dir: Path::new("/p"),
    })
    .unwrap();
    assert!(decoded.host_event.is_none() && decoded.events.is_empty());
    assert!(decoded.notes[0].contains("Frobnicated"));
    assert_eq!(
        decoded.host.no_opinion("Frobnicated"),
        host::Reply::nothing()
    );
}

#[test]
fn a_command_wired_for_one_host_answers_the_one_that_speaks() {
    let bytes = br#"{"hookEventName":"Stop","sessionId":"s","cwd":"/p","stop_hook_active":false}"#;
    let decoded = host::decode(&Input {
        bytes,
        host: Host::find("claude-code"),
        event: None,
        arguments: &[],
        work_dir: Path::new("/p"),
    })
    .unwrap();
    assert_eq!(decoded.host.name, "vscode");
    assert!(decoded.notes[0].contains("wired for claude-code"));
}

#[test]
fn git_hooks_are_told_as_the_command_that_they_stop() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("MSG"),
        "feat: it's done\n\nbody\n# comment\n",
    )
    .unwrap();
    let told = |event: &str, arguments: &[&str], bytes: &[u8]| {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        let decoded = host::decode(&Input {
            bytes,
            host: Host::find("git"),
            event: Some(event),
            arguments: &arguments,
            work_dir: dir.path(),
        })
        .unwrap();
        decoded.events[0].tool.as_ref().unwrap().input["command"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(told("pre-commit", &[], b""), "git commit");
    assert_eq!(
        told("commit-msg", &["MSG"], b""),
        "git commit -m 'feat: it'\\''s done\n\nbody'"
    );
    assert_eq!(
        told(
            "pre-push",
            &["origin", "git@x:y.git"],
            b"refs/heads/a 1 refs/heads/b 2\nHEAD 1 refs/heads/it's 0\n(delete) 00 refs/tags/v1 2\n"
        ),
        r"git push origin a:b 'HEAD:it'\''s' :refs/tags/v1"
    );
    // A terminal shows the words as they are, and git writes on behind them.
    let git = Host::find("git").unwrap();
    let decoded = host::decode(&Input {
        bytes: b"",
        host: Some(git),
        event: Some("pre-commit"),
        arguments: &[],
        work_dir: dir.path(),
    })
    .unwrap();
    let signal = Signal::block("t", "no").steps(["x"]);
    for signals in [vec![signal], vec![Signal::aid("t", "a word")], vec![]] {
        let is_silent = signals.is_empty();
        let verdict = Verdict::of(Trigger::PreToolUse, signals);
        let reply = git.answer(&decoded, vec![verdict], None);
        assert_eq!(reply.stderr.is_empty(), is_silent, "{reply:?}");
        assert!(is_silent || reply.stderr.ends_with('\n'), "{reply:?}");
        assert!(!reply.stderr.ends_with("\n\n"), "{reply:?}");
    }
}

#[test]
fn input_that_tells_no_event_is_an_error_that_says_so() {
    let error = |bytes: &[u8]| {
        host::decode(&Input {
            bytes,
            host: None,
            event: None,
            arguments: &[],
            work_dir: Path::new("/p"),
        })
        .unwrap_err()
        .to_string()
    };
    assert!(error(b"not json").contains("not JSON"));
    assert!(error(b"[1]").contains("expected a JSON object"));
    assert!(error(b"{}").contains("names no trigger"));
    assert!(
        error(br#"{"hook_event_name":"PreToolUse","transcript_path":"t"}"#)
            .contains("no tool call")
    );
    assert!(error(br#"{"trigger":"pre-tool-use","tol":1}"#).contains("unknown field `tol`"));
    assert!(error(br#"{"trigger":"pre-tool-yuse"}"#).contains("did you mean"));
}

/// The schemas that a host itself carries: `tests/schemas/<host>/<event in kebab-case>.json`.
#[test]
fn replies_hold_to_the_hosts_own_schemas() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    let mut checked = 0;
    for case in cases() {
        let decoded = decode(&case, Some(case.host));
        let Some(trigger) = decoded.host_event.and_then(|m| m.trigger) else {
            continue;
        };
        let mut event = String::new();
        for c in decoded.event.chars() {
            if c.is_ascii_uppercase() && !event.is_empty() {
                event.push('-');
            }
            event.push(c.to_ascii_lowercase());
        }
        let Ok(text) = fs::read_to_string(root.join(case.host.name).join(format!("{event}.json")))
        else {
            continue;
        };
        let schema: Value = serde_json::from_str(&text).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        for (kind, verdict) in verdicts(&decoded, trigger) {
            let reply = case.host.answer(&decoded, vec![verdict], None);
            if reply.stdout.is_empty() {
                continue;
            }
            let faults: Vec<String> = schema
                .iter_errors(&reply.object())
                .map(|e| e.to_string())
                .collect();
            assert!(
                faults.is_empty(),
                "{} {kind}: {} {faults:?}",
                case.name,
                reply.stdout
            );
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} replies were checked");
}
