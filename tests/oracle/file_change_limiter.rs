//! FileChangeLimiter.

use std::time::{Duration, Instant};

use ahp::event::Trigger;
use ahp::oracle::OracleError;
use ahp::signal::{Intensity, Modification, Payload, Severity, Signal};
use ahp::workspace::{Change, ChangedFile, Changes, GitError, MemoryWorkspace};

use super::bench::{Bench, changes, config_error};
use crate::world::steps;

const NAME: &str = "FileChangeLimiter";

fn judge(changes: Changes, config: &str) -> Option<Signal> {
    let workspace = MemoryWorkspace::new("/project").with_changes(changes);
    let mut signals = Bench::new(Trigger::PreIssueSubmit, workspace).judge(NAME, config);
    assert!(signals.len() <= 1);
    signals.pop()
}

/// 25 files: 12 of the API, 8 of its docs, 5 tests.
fn twenty_five() -> Changes {
    let api = (0..12).map(|n| format!("src/api/{n}.rs"));
    let docs = (0..8).map(|n| format!("docs/{n}.md"));
    let tests = (0..5).map(|n| format!("tests/{n}.rs"));
    changes(api.chain(docs).chain(tests))
}

fn modifications(signal: &Signal) -> &[Modification] {
    match &signal.payload {
        Payload::Control(control) => &control.modifications,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_small_change_is_accepted() {
    assert!(judge(changes(["a"]), "").is_none());
    assert!(judge(twenty_five(), "max_files: 25").is_none());
    assert!(judge(twenty_five(), "exclude: ['docs/**']").is_none());
    assert!(judge(twenty_five(), "{max_files: 25, max_lines: 25}").is_none());
}

#[test]
fn a_control_is_a_real_split() {
    let signal = judge(twenty_five(), "").unwrap();
    assert_eq!(signal.intensity(), Intensity::Control);
    let modifications = modifications(&signal);
    let targets: Vec<_> = modifications.iter().map(|m| m.target.as_str()).collect();
    assert_eq!(targets, ["batch_size", "batch.1", "batch.2"]);
    assert_eq!(
        (&modifications[0].original, &modifications[0].updated),
        (&25.into(), &20.into())
    );
    let mut all = Vec::new();
    for batch in &modifications[1..] {
        let files = batch.updated.as_array().unwrap();
        assert!(files.len() <= 20);
        all.extend(files.iter().map(|f| f.as_str().unwrap().to_owned()));
    }
    assert_eq!(all, twenty_five().paths);
    assert_eq!(modifications[1].reason, "20 files: `docs/`, `src/`");
    assert_eq!(modifications[2].reason, "5 files in `tests/`");
    assert!(
        signal
            .payload
            .text()
            .contains("25 files, at most 20 are accepted; split into 2 batches")
    );
}

#[test]
fn batches_may_be_smaller_than_the_limit() {
    let signal = judge(twenty_five(), "batch_size: 8").unwrap();
    let batches = &modifications(&signal)[1..];
    let reasons: Vec<_> = batches.iter().map(|m| m.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "8 files in `docs/`",
            "8 files in `src/api/`",
            "4 files: `src/api/6.rs`, `src/api/7.rs`, `src/api/8.rs`, `src/api/9.rs`",
            "5 files in `tests/`",
        ]
    );
}

#[test]
fn a_prompt_proposes_the_steps() {
    let signal = judge(twenty_five(), "action: prompt").unwrap();
    assert_eq!(signal.intensity(), Intensity::Prompt);
    assert_eq!(
        signal.payload.text(),
        "large change: 25 files, at most 20 are accepted; consider to submit it in steps"
    );
    assert_eq!(
        steps(&signal),
        [
            "Step 1 of 2: 20 files: `docs/`, `src/`",
            "Step 2 of 2: 5 files in `tests/`"
        ]
    );
    let Payload::Prompt(prompt) = &signal.payload else {
        panic!()
    };
    assert_eq!(
        (prompt.severity, prompt.continue_allowed),
        (Severity::Medium, true)
    );
}

#[test]
fn a_block_tells_the_steps() {
    let signal = judge(twenty_five(), "action: block").unwrap();
    assert_eq!(signal.intensity(), Intensity::Block);
    assert_eq!(steps(&signal).len(), 2);
    assert_eq!(signal.context.files.len(), 25);
}

#[test]
fn lines_are_limited_too() {
    let file = |path: &str, added| ChangedFile {
        path: path.to_owned(),
        old_path: None,
        change: Change::Modified,
        added_lines: added,
        removed_lines: added,
    };
    let files = vec![
        file("a", Some(50)),
        file("b", Some(100)),
        file("image.png", None),
    ];
    let signal = judge(Changes::of(files, None), "max_lines: 200").unwrap();
    assert!(
        signal
            .payload
            .text()
            .contains("large change: 3 files; 300 changed lines, at most 200 are accepted")
    );
    assert_eq!(modifications(&signal).len(), 3);
}

#[test]
fn the_same_files_are_the_same_finding() {
    let finding = |c| judge(c, "").unwrap().finding();
    assert_eq!(finding(twenty_five()), finding(twenty_five()));
    let more = changes(
        twenty_five()
            .paths
            .into_iter()
            .chain(["one/more".to_owned()]),
    );
    assert_ne!(finding(more), finding(twenty_five()));
}

#[test]
fn without_git_the_oracle_fails() {
    let bench = Bench::new(Trigger::PreIssueSubmit, MemoryWorkspace::new("/project"));
    let error = bench.try_judge(NAME, "").unwrap_err();
    assert!(
        matches!(&error, OracleError::Failed(text) if text.contains("not in a git repository")),
        "{error:?}"
    );
    let broken =
        MemoryWorkspace::new("/project").with_git_error(GitError::NoProgram("x".to_owned()));
    assert!(
        Bench::new(Trigger::PreIssueSubmit, broken)
            .try_judge(NAME, "")
            .is_err()
    );
}

#[test]
fn ten_thousand_files_are_split_at_once() {
    let many = changes((0..10_000).map(|n| format!("src/{}/{}/{n}.rs", n % 10, n % 100)));
    let start = Instant::now();
    let signal = judge(many.clone(), "").unwrap();
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    let batches = &modifications(&signal)[1..];
    assert_eq!(
        batches
            .iter()
            .map(|b| b.updated.as_array().unwrap().len())
            .sum::<usize>(),
        10_000
    );
    assert_eq!(steps(&judge(many, "action: block").unwrap()).len(), 51);
}

#[test]
fn a_wrong_configuration_is_told_at_its_place() {
    let cases = [
        (
            "max_files: 0",
            "hooks.yaml:1:12 `0` would accept no change; expected a whole number of at least 1",
        ),
        (
            "max_files: -3",
            "hooks.yaml:1:12 integer `-3` is out of range; expected a whole number of at least 0",
        ),
        (
            "max_files: many",
            "hooks.yaml:1:12 expected a whole number of at least 0, found the text `many`",
        ),
        (
            "batch_size: 30",
            "hooks.yaml:1:13 batches of 30 files would be past `max_files`, which is 20",
        ),
        (
            "batch_size: 0",
            "hooks.yaml:1:13 `0` would accept no change; expected a whole number of at least 1",
        ),
        (
            "action: stop",
            "hooks.yaml:1:9 `stop` is not one of the values offered",
        ),
        (
            "control_action: drop",
            "hooks.yaml:1:17 `drop` is not one of the values offered",
        ),
        (
            "exclude: ['a[']",
            "hooks.yaml:1:10 `a[` has a `[` without its `]`",
        ),
        ("max_file: 3", "hooks.yaml:1:1 unknown key `max_file`"),
    ];
    for (config, expected) in cases {
        assert_eq!(config_error(NAME, config), expected);
    }
}

#[test]
fn what_is_excluded_is_written_as_in_gitignore() {
    for (pattern, left_out) in [
        ("dist", true),
        ("gen/", true),
        ("./gen/**", true),
        ("/gen/**", true),
        ("/dist", false),
        ("*.js", true),
        ("dist/*.js", false),
    ] {
        let change = changes((0..25).map(|n| format!("gen/dist/{n}.js")));
        let told = judge(change, &format!("exclude: ['{pattern}']"));
        assert_eq!(told.is_none(), left_out, "{pattern}");
    }
}
