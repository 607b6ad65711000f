//! Each intensity that an oracle says it can give, given.

use ahp::event::{Event, Trigger};
use ahp::oracle::builtin::BUILTINS;
use ahp::signal::{Intensity, Signal};
use serde_json::json;

use super::project::{Project, script, submission, tool};

/// One way to make an oracle speak.
struct Row {
    oracle: &'static str,
    gives: Intensity,
    /// What is committed.
    files: &'static [(&'static str, &'static str)],
    /// What is changed since.
    changed: &'static [(&'static str, &'static str)],
    config: &'static str,
    event: fn() -> Event,
}

fn bash(command: &str) -> Event {
    tool("Bash", json!({"command": command}))
}

fn written() -> Event {
    let mut event = tool("Write", json!({"file_path": "a.txt", "content": "x\n"}));
    event.trigger = Trigger::PostToolUse;
    event
}

fn at(trigger: Trigger) -> Event {
    let mut event = submission();
    event.trigger = trigger;
    event
}

const OPEN: &[(&str, &str)] = &[(
    "Issues/FEAT-0001.md",
    "---\nid: FEAT-0001\nsolution: x\ndependencies: [FEAT-0002]\n---\n- [x] one\n- [ ] two\n",
)];
const TWO: &[(&str, &str)] = &[("a.txt", "x\n"), ("b.txt", "x\n")];
/// A file that a ruff of the project's own finds fault with, and fixes.
const RUFF: &[(&str, &str)] = &[("ruff.toml", ""), (".gitignore", ".venv\n.ahp\n")];
const BAD: &[(&str, &str)] = &[("a.py", "\tx\n")];
const FAILED: &[(&str, &str)] = &[(
    "out.xml",
    r#"<testsuite tests="1"><testcase classname="a" name="bad"><failure message="no"/></testcase></testsuite>"#,
)];
const IGNORED: &[(&str, &str)] = &[(".gitignore", "out.xml\n")];
/// A key in the form of one service, put together so that no scanner takes this file for a leak.
const GRAVE: &[(&str, &str)] = &[("a.py", concat!("key = \"AKIA", "Q4ZC7XK2M5PD3WVE\"\n"))];
/// A hook file of Claude Code whose one command prints an answer.
macro_rules! hooks {
    ($answer:literal) => {
        &[(
            "hooks.json",
            concat!(
                r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo '"#,
                $answer,
                r#"'"}]}]}}"#
            ),
        )]
    };
}

const ROWS: &[Row] = &[
    Row {
        oracle: "change-logger",
        gives: Intensity::Aid,
        files: &[],
        changed: TWO,
        config: "",
        event: written,
    },
    Row {
        oracle: "checklist-validator",
        gives: Intensity::Block,
        files: OPEN,
        changed: &[],
        config: "",
        event: submission,
    },
    Row {
        oracle: "checklist-validator",
        gives: Intensity::Prompt,
        files: OPEN,
        changed: &[],
        config: "{allow_partial: true, min_completion_rate: 0.5}",
        event: submission,
    },
    Row {
        oracle: "command-hooks",
        gives: Intensity::Block,
        files: hooks!(
            r#"{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"deny\"}}"#
        ),
        changed: &[],
        config: "{file: hooks.json}",
        event: || bash("ls"),
    },
    Row {
        oracle: "command-hooks",
        gives: Intensity::Control,
        files: hooks!(
            r#"{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"updatedInput\": {\"command\": \"ls -l\"}}}"#
        ),
        changed: &[],
        config: "{file: hooks.json}",
        event: || bash("ls"),
    },
    Row {
        oracle: "command-hooks",
        gives: Intensity::Prompt,
        files: hooks!(
            r#"{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"ask\"}}"#
        ),
        changed: &[],
        config: "{file: hooks.json}",
        event: || bash("ls"),
    },
    Row {
        oracle: "command-hooks",
        gives: Intensity::Aid,
        files: hooks!(
            r#"{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"additionalContext\": \"a hint\"}}"#
        ),
        changed: &[],
        config: "{file: hooks.json}",
        event: || bash("ls"),
    },
    Row {
        oracle: "commit-message-validator",
        gives: Intensity::Prompt,
        files: &[],
        changed: &[],
        config: "{pattern: '^feat: '}",
        event: || bash("git commit -m nonsense"),
    },
    Row {
        oracle: "completion-verifier",
        gives: Intensity::Block,
        files: &[],
        changed: &[("a.py", "x = 1\n")],
        config: "{require_tests: true}",
        event: submission,
    },
    Row {
        oracle: "context-loader",
        gives: Intensity::Aid,
        files: OPEN,
        changed: &[],
        config: "",
        event: || at(Trigger::PreIssueStart),
    },
    Row {
        oracle: "dependency-checker",
        gives: Intensity::Block,
        files: OPEN,
        changed: &[],
        config: "",
        event: submission,
    },
    Row {
        oracle: "file-change-limiter",
        gives: Intensity::Block,
        files: &[],
        changed: TWO,
        config: "{max_files: 1, action: block}",
        event: submission,
    },
    Row {
        oracle: "file-change-limiter",
        gives: Intensity::Control,
        files: &[],
        changed: TWO,
        config: "{max_files: 1, action: control}",
        event: submission,
    },
    Row {
        oracle: "file-change-limiter",
        gives: Intensity::Prompt,
        files: &[],
        changed: TWO,
        config: "{max_files: 1, action: prompt}",
        event: submission,
    },
    Row {
        oracle: "lint-checker",
        gives: Intensity::Block,
        files: RUFF,
        changed: BAD,
        config: "{action: block}",
        event: submission,
    },
    Row {
        oracle: "lint-checker",
        gives: Intensity::Control,
        files: RUFF,
        changed: BAD,
        config: "{auto_fix: true}",
        event: submission,
    },
    Row {
        oracle: "lint-checker",
        gives: Intensity::Prompt,
        files: RUFF,
        changed: BAD,
        config: "{action: prompt}",
        event: submission,
    },
    Row {
        oracle: "permission-checker",
        gives: Intensity::Block,
        files: &[],
        changed: &[],
        config: "",
        event: || bash("rm -rf /"),
    },
    Row {
        oracle: "permission-checker",
        gives: Intensity::Prompt,
        files: &[],
        changed: &[],
        config: "{require_confirmation: true}",
        event: || bash("rm -rf /"),
    },
    Row {
        oracle: "retrospective-generator",
        gives: Intensity::Aid,
        files: OPEN,
        changed: &[],
        config: "",
        event: || at(Trigger::PostIssueClose),
    },
    Row {
        oracle: "review-trigger",
        gives: Intensity::Aid,
        files: &[(".github/CODEOWNERS", "* @all\n")],
        changed: TWO,
        config: "",
        event: submission,
    },
    Row {
        oracle: "security-scanner",
        gives: Intensity::Block,
        files: &[],
        changed: GRAVE,
        config: "",
        event: submission,
    },
    Row {
        oracle: "security-scanner",
        gives: Intensity::Prompt,
        files: &[],
        changed: &[(
            "tests/a.py",
            concat!("password = \"q8Rt", "Zp2Lx9Vb4Nw7\"\n"),
        )],
        config: "{severity_threshold: high}",
        event: submission,
    },
    Row {
        oracle: "self-protection",
        gives: Intensity::Block,
        files: &[],
        changed: &[],
        config: "",
        event: || bash("rm -rf .ahp"),
    },
    Row {
        oracle: "test-gate",
        gives: Intensity::Block,
        files: IGNORED,
        changed: FAILED,
        config: "{report: out.xml}",
        event: submission,
    },
    Row {
        oracle: "test-gate",
        gives: Intensity::Prompt,
        files: IGNORED,
        changed: FAILED,
        config: "{report: out.xml, require_all_pass: false}",
        event: submission,
    },
];

#[test]
fn every_oracle_gives_each_intensity_that_it_says_and_no_other() {
    for definition in BUILTINS {
        for intensity in definition.intensities {
            assert!(
                ROWS.iter()
                    .any(|row| row.oracle == definition.kebab && row.gives == *intensity),
                "{} says that it can give `{intensity}`: give it a row that shows it",
                definition.name
            );
        }
    }
    let mut wrong = Vec::new();
    for row in ROWS {
        let definition = BUILTINS.iter().find(|d| d.kebab == row.oracle).unwrap();
        let project = Project::new(row.files).in_git();
        script(
            &project,
            ".venv/bin/ruff",
            "case \"$*\" in *--fix*) sed -i 's/\\t/    /' a.py; exit 0;; esac; echo 'a.py:1:1: W191 tabs'; exit 1",
        );
        for (path, text) in row.changed {
            project.write(path, text);
        }
        let given = project.judge_event(definition.name, row.config, (row.event)(), 60.0);
        let given: Vec<Intensity> = match given {
            Ok(signals) => signals.iter().map(Signal::intensity).collect(),
            Err(error) => {
                wrong.push(format!("{} {}: {error}", row.oracle, row.config));
                continue;
            }
        };
        if !given.contains(&row.gives) {
            wrong.push(format!(
                "{} {} gives {given:?} and not {}",
                row.oracle, row.config, row.gives
            ));
        }
        if !given.iter().all(|g| definition.intensities.contains(g)) {
            wrong.push(format!(
                "{} {} gives {given:?}, which it does not say that it can",
                row.oracle, row.config
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
