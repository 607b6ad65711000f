//! `ahp oracle` and `ahp test`, as they are typed.

use std::fs;
use std::path::Path;

use ahp::process::Exit;
use ahp::process::Program;

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs `ahp` in a project, as a user without a home of her own.
fn ahp(project: &Path, arguments: &[&str]) -> Ran {
    let mut argv = vec![env!("CARGO_BIN_EXE_ahp").to_owned()];
    argv.extend(arguments.iter().map(ToString::to_string));
    let home = project.join("home");
    let finished = Program::new(argv)
        .dir(project)
        .env("AHP_HOME", home.to_str().unwrap())
        .env("NO_COLOR", "1")
        .run()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran {
        code: match finished.exit {
            Exit::Code(code) => code,
            _ => -1,
        },
        stdout: text(&finished.stdout),
        stderr: text(&finished.stderr),
    }
}

fn project() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir_all(place.path().join(".ahp")).unwrap();
    place
}

#[test]
fn a_new_oracle_is_tested_bound_listed_and_run() {
    let place = project();
    let root = place.path();
    for trigger in ["pre-tool-use", "pre-issue-submit", "pre-agent-turn"] {
        let name = format!("For{}", trigger.replace('-', " "));
        let made = ahp(root, &["oracle", "new", &name, "--trigger", trigger]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        let again = ahp(root, &["oracle", "new", &name]);
        assert_eq!(again.code, 1);
        assert!(
            again.stderr.contains("is there already"),
            "{}",
            again.stderr
        );
        let binding = made.stdout.split("hooks.yaml:\n\n").nth(1).unwrap();
        let binding = binding.split("\n\nthen:").next().unwrap();
        fs::write(root.join(".ahp/hooks.yaml"), binding).unwrap();
        let checked = ahp(root, &["check"]);
        assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    }
    let tested = ahp(root, &["test", "--junit", "out.xml", "--coverage"]);
    assert_eq!(tested.code, 0, "{}{}", tested.stdout, tested.stderr);
    assert!(
        tested.stdout.contains("6 passed, 0 failed, in 3 files"),
        "{}",
        tested.stdout
    );
    assert!(
        !tested.stdout.contains("never reached"),
        "{}",
        tested.stdout
    );
    let junit = fs::read_to_string(root.join("out.xml")).unwrap();
    assert!(
        junit.contains("<testsuites name=\"ahp test\" tests=\"6\""),
        "{junit}"
    );

    let listed = ahp(root, &["oracle", "list"]);
    assert!(
        listed.stdout.contains("forpre-tool-use"),
        "{}",
        listed.stdout
    );
    assert!(listed.stdout.contains("branch-guard"), "{}", listed.stdout);

    let event = r#"{"trigger": "pre-tool-use", "tool": {"name": "Write", "input": {"file_path": "a", "content": "a TODO"}}}"#;
    fs::write(root.join("event.json"), event).unwrap();
    let arguments = ["oracle", "run", "forpre-tool-use", "--event", "event.json"];
    let ran = ahp(
        root,
        &[&arguments[..], &["--config", "{intensity: block}"]].concat(),
    );
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("block forpre-tool-use: TODO is not wanted here"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains(" operations"), "{}", ran.stdout);
    let wrong = ahp(
        root,
        &[&arguments[..], &["--config", "{intensity: loud}"]].concat(),
    );
    assert_eq!(wrong.code, 1);
    assert!(
        wrong
            .stderr
            .contains("`loud` is not one of the values offered"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_failed_test_shows_the_difference_and_can_be_rewritten() {
    let place = project();
    let root = place.path();
    fs::write(
        root.join(".ahp/branch.yaml"),
        "oracle: branch-guard\ntrigger: pre-tool-use\nproject: {git: {}}\ntests:\n  - name: a push\n    command: git push origin main\n    expect: none\n",
    )
    .unwrap();
    let failed = ahp(root, &["test"]);
    assert_eq!(failed.code, 1);
    let told =
        "FAIL  .ahp/branch.yaml:5 a push\n        decision\n          - none\n          + block\n";
    assert!(failed.stdout.contains(told), "{}", failed.stdout);
    let updated = ahp(root, &["test", "--update"]);
    assert_eq!(updated.code, 0, "{}", updated.stderr);
    let passed = ahp(root, &["test", "--verbose"]);
    assert_eq!(passed.code, 0, "{}", passed.stdout);
    assert!(
        passed.stdout.contains("ok    .ahp/branch.yaml:5 a push"),
        "{}",
        passed.stdout
    );
}

#[test]
fn a_script_that_does_not_compile_and_a_name_that_is_misspelt_are_told() {
    let place = project();
    let root = place.path();
    fs::create_dir_all(root.join(".ahp/oracles")).unwrap();
    fs::write(
        root.join(".ahp/oracles/bad.rhai"),
        "fn evaluate(ctx) {\n    let = 1;\n}\n",
    )
    .unwrap();
    let shown = ahp(root, &["oracle", "show", "bad"]);
    assert_eq!(shown.code, 1);
    assert!(
        shown.stderr.contains(".ahp/oracles/bad.rhai:2:9: "),
        "{}",
        shown.stderr
    );
    assert!(
        shown.stderr.contains("2 |     let = 1;"),
        "{}",
        shown.stderr
    );
    let shown = ahp(root, &["oracle", "show", "brnch-guard"]);
    assert!(
        shown.stderr.contains("did you mean `branch-guard`?"),
        "{}",
        shown.stderr
    );
    fs::write(
        root.join(".ahp/tests.yaml"),
        "oracle: x\ntests:\n  - nme: a\n    expect: none\n",
    )
    .unwrap();
    let tested = ahp(root, &["test"]);
    assert_eq!(tested.code, 1);
    assert!(
        tested.stdout.contains("unknown key `nme`"),
        "{}",
        tested.stdout
    );
}

#[test]
fn check_finds_a_misspelt_fact_in_a_script() {
    let place = project();
    let root = place.path();
    fs::create_dir_all(root.join(".ahp/oracles")).unwrap();
    let script = "fn evaluate(ctx) {\n    if ctx.files.chnged.is_empty() { accept() } else { block(\"x\") }\n}\n";
    fs::write(root.join(".ahp/oracles/mine.rhai"), script).unwrap();
    fs::write(
        root.join(".ahp/hooks.yaml"),
        "hooks: {pre-issue-submit: [{oracle: mine}]}\n",
    )
    .unwrap();
    let checked = ahp(root, &["check"]);
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    let told = "`.ahp/oracles/mine.rhai:2:18` asks for a fact `files.chnged`";
    assert!(checked.stdout.contains(told), "{}", checked.stdout);
    assert!(
        checked.stdout.contains("did you mean `files.changed`?"),
        "{}",
        checked.stdout
    );
}
