//! A command line.

#![no_main]

use ahp::engine::{Engine, block_on};
use ahp::event::Event;
use ahp::shell::{Surroundings, analyse};
use ahp::verdict::Decision;

thread_local! {
    static ENGINE: Engine = Engine::builder()
        .policy_text("hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}")
        .root("/project")
        .without_log()
        .build()
        .unwrap();
}

/// Whether a prefix leaves what stands behind it in command position, in the same place and with the same meaning.
fn is_prefix(prefix: &str) -> bool {
    let mut words = prefix.split(|c: char| !c.is_ascii_alphanumeric());
    let moves = words.any(|word| matches!(word, "alias" | "cd" | "chdir" | "popd" | "pushd" | "PWD" | "HOME"));
    !moves && prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b" -_./=:,;&|\n".contains(&b))
}

/// `rm -rf .ahp` as a command of its own is never let pass, whatever stands before it.
fn holds(prefix: &str) {
    let line = format!("{prefix}\nrm -rf .ahp");
    let event = Event::tool_use("Bash", serde_json::json!({"command": line}));
    let decision = ENGINE.with(|engine| block_on(engine.evaluate(event)).decision);
    assert_ne!(decision, Decision::None, "{line}");
}

libfuzzer_sys::fuzz_target!(|command: &str| {
    let analysis = analyse(
        command,
        Surroundings {
            work_dir: "/project/src".into(),
            home: Some("/home/user".into()),
            project_root: "/project".into(),
        },
    );
    analysis.issue_commands();
    analysis.git_commit_messages();
    analysis.writes();
    if is_prefix(command) {
        holds(command);
    }
});
