//! What every oracle asks of the machine: programs that may be missing, files that are read once.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use ahp::event::Trigger;
use ahp::fact::FactSource;
use ahp::oracle::Definition;
use ahp::oracle::builtin::BUILTINS;

use crate::world::{World, is_here};

const ISSUE: &str = "---\nid: FEAT-0001\nsolution: done\nchecklist:\n  - {id: c1, item: It holds, checked: true, verification: \"lint_clean: a.py\"}\n---\n";
const WRITE: &str = r#"{"file_path": "a.txt", "content": "x\n"}"#;

/// What an oracle says where a program is missing that it would ask.
struct Missing {
    oracle: &'static str,
    /// Whether git is missing too, and not only all else.
    git: bool,
    files: &'static [(&'static str, &'static str)],
    config: &'static str,
    says: &'static str,
}

const MISSING: &[Missing] = &[
    Missing {
        oracle: "change-logger",
        git: true,
        files: &[],
        config: "{}",
        says: "a.txt is new",
    },
    Missing {
        oracle: "command-hooks",
        git: false,
        files: &[(
            "hooks.json",
            r#"{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "no-such-hook"}]}]}}"#,
        )],
        config: "{file: hooks.json}",
        says: "no-such-hook",
    },
    Missing {
        oracle: "commit-message-validator",
        git: true,
        files: &[],
        config: "{}",
        says: "`git` program",
    },
    Missing {
        oracle: "completion-verifier",
        git: false,
        files: &[("ruff.toml", "")],
        config: "{}",
        says: "the linter `ruff` is not installed",
    },
    Missing {
        oracle: "context-loader",
        git: true,
        files: &[],
        config: "{include_git_history: true}",
        says: "FEAT-0001",
    },
    Missing {
        oracle: "dependency-checker",
        git: false,
        files: &[
            ("Cargo.toml", "[package]\nname = \"p\"\n"),
            ("Cargo.lock", "version = 4\n"),
        ],
        config: "{}",
        says: "`cargo` is not installed",
    },
    Missing {
        oracle: "file-change-limiter",
        git: true,
        files: &[],
        config: "{}",
        says: "`git` program",
    },
    Missing {
        oracle: "lint-checker",
        git: false,
        files: &[("ruff.toml", "")],
        config: "{}",
        says: "install ruff",
    },
    Missing {
        oracle: "retrospective-generator",
        git: true,
        files: &[],
        config: "{}",
        says: ".ahp/retrospectives/FEAT-0001.md",
    },
    Missing {
        oracle: "review-trigger",
        git: false,
        files: &[(".github/CODEOWNERS", "* @all\n")],
        config: "{create_pr: true}",
        says: "gh",
    },
    Missing {
        oracle: "security-scanner",
        git: false,
        files: &[],
        config: "{scanners: [no-such-scanner]}",
        says: "no-such-scanner",
    },
    Missing {
        oracle: "test-gate",
        git: false,
        files: &[],
        config: "{command: no-such-runner}",
        says: "no-such-runner",
    },
];

/// The trigger at which an oracle asks most: one of an issue, if it judges at any.
fn trigger(definition: &Definition) -> Trigger {
    let meant = match definition.triggers {
        [] => &[Trigger::PostToolUse][..],
        some => some,
    };
    let of_issue = meant.iter().find(|t| t.name().contains("issue"));
    *of_issue.unwrap_or(&meant[0])
}

/// A project in which one oracle is bound, and something has changed.
fn world(bound: &[&Definition], trigger: Trigger, config: &str) -> World {
    let bindings: Vec<String> = bound
        .iter()
        .map(|d| {
            format!(
                "    - {{oracle: {}, config: {config}, on_error: block, timeout: 60s}}\n",
                d.name
            )
        })
        .collect();
    World::new(&format!(
        "hooks:\n  {}:\n{}",
        trigger.name(),
        bindings.concat()
    ))
}

fn arguments(trigger: Trigger) -> Vec<&'static str> {
    let mut arguments = vec!["run", trigger.name(), "--issue", "FEAT-0001"];
    if trigger.is_tool() {
        arguments.extend(["--tool", "Write", "--input", WRITE]);
    }
    arguments
}

#[test]
fn every_oracle_that_asks_programs_says_which_one_is_missing() {
    let mut wrong = Vec::new();
    for definition in BUILTINS {
        if definition.programs == ahp::oracle::Programs::None
            && !definition.needs.contains(&FactSource::Git)
        {
            continue;
        }
        let Some(row) = MISSING.iter().find(|row| row.oracle == definition.kebab) else {
            wrong.push(format!(
                "{} asks programs: give it a row that says what comes of it where they are missing",
                definition.name
            ));
            continue;
        };
        let trigger = trigger(definition);
        let world = world(&[definition], trigger, row.config);
        for (path, text) in row.files {
            world.write(path, text);
        }
        world.git_init();
        world.git(&["remote", "add", "origin", "https://github.com/o/r"]);
        world.git(&["checkout", "-q", "-b", "work"]);
        world.write("Issues/FEAT-0001.md", ISSUE);
        world.write("a.txt", "x\n");
        world.write("a.py", "x = 1\n");
        let bin = world.home().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let there: &[&str] = if row.git { &["sh"] } else { &["sh", "git"] };
        for program in there {
            let found = ahp::process::installed(program).unwrap();
            symlink(found, bin.join(program)).unwrap();
        }
        let ran = world
            .ahp_command()
            .args(arguments(trigger))
            .env("PATH", &bin)
            .env("AHP_TRUST", "all")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        if !said.contains(row.says) {
            wrong.push(format!("{} at {trigger}: {ran:?}", definition.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A traced program, where programs can be traced here.
#[expect(clippy::disallowed_methods, reason = "a test starts real processes")]
fn can_trace(world: &World) -> bool {
    let traced = |program: &Path| {
        Command::new("strace")
            .args(["-f", "-qq", "-o"])
            .arg(world.home().join("try"))
            .arg(program)
            .status()
    };
    let can = is_here("strace") && traced(Path::new("true")).is_ok_and(|status| status.success());
    if !can {
        eprintln!("SKIPPED: nothing can be traced here");
    }
    can
}

/// Returns how often each file of the project was opened by `ahp` itself, by the system calls that it made.
fn opened(root: &Path, trace: &str) -> BTreeMap<PathBuf, usize> {
    let (own, _) = trace.split_once(' ').unwrap();
    let others: Vec<&str> = trace
        .lines()
        .filter(|line| line.contains(" execve("))
        .filter_map(|line| line.split(' ').next())
        .filter(|pid| *pid != own)
        .collect();
    let mut times = BTreeMap::new();
    for line in trace.lines() {
        let pid = line.split(' ').next().unwrap();
        let is_file = !line.contains("O_DIRECTORY") && !line.contains("O_PATH");
        let Some((_, call)) = line.split_once("openat(AT_FDCWD, \"") else {
            continue;
        };
        if others.contains(&pid) || !is_file || call.contains("= -1") {
            continue;
        }
        let path = root.join(call.split('"').next().unwrap());
        let Ok(path) = path.strip_prefix(root) else {
            continue;
        };
        if !path.starts_with(".git") && !path.starts_with(".ahp") {
            *times.entry(path.to_owned()).or_default() += 1;
        }
    }
    times
}

#[test]
fn no_file_is_read_twice_in_one_event() {
    let submitted: Vec<&Definition> = BUILTINS
        .iter()
        .copied()
        .filter(|d| d.triggers.contains(&Trigger::PreIssueSubmit))
        .collect();
    let mut runs: Vec<(Vec<&Definition>, Trigger)> = BUILTINS
        .iter()
        // It reads its hook file when the policy is made, and again when it is obeyed.
        .filter(|d| d.kebab != "command-hooks")
        .map(|d| (vec![*d], trigger(d)))
        .collect();
    runs.push((submitted, Trigger::PreIssueSubmit));
    for (bound, trigger) in runs {
        let names: Vec<&str> = bound.iter().map(|d| d.name).collect();
        let world = world(&bound, trigger, "{}");
        if !can_trace(&world) {
            return;
        }
        world.write("src/lib.rs", "pub fn f() {}\n");
        world.write(".github/CODEOWNERS", "* @all\n");
        world.write("requirements.txt", "pip\n");
        world.git_init();
        world.git(&["checkout", "-q", "-b", "work"]);
        world.write("Issues/FEAT-0001.md", ISSUE);
        world.write("src/lib.rs", "pub fn f() {}\n\npub fn g() {}\n");
        world.write("new.rs", "fn h() {}\n");
        world.write("large.py", "x = 1\n".repeat(400_000));
        let trace = world.home().join("trace");
        let ran = world
            .command("strace")
            .args(["-f", "-qq", "-e", "trace=openat,execve", "-o"])
            .arg(&trace)
            .arg(env!("CARGO_BIN_EXE_ahp"))
            .args(arguments(trigger))
            .env("AHP_TRUST", "all")
            .output()
            .unwrap();
        let root = world.root().canonicalize().unwrap();
        let times = opened(&root, &fs::read_to_string(&trace).unwrap());
        let twice: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
        assert!(
            twice.is_empty(),
            "{names:?} at {trigger}: {twice:?}\n{ran:?}"
        );
        if names.contains(&"SecurityScanner") {
            assert!(times.contains_key(Path::new("large.py")), "{times:?}");
        }
    }
}
