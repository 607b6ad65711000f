//! `ahp oracle` and `ahp test`, as they are typed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use crate::world::World;

/// A binding would mean another oracle, or the file would have another name than was asked for.
#[test]
fn a_new_oracle_takes_no_name_that_it_cannot_have() {
    let world = World::new("");
    for (name, told) in [
        (
            "PermissionChecker",
            "an oracle `permission-checker` is there already",
        ),
        (
            "permission_checker",
            "an oracle `permission-checker` is there already",
        ),
        ("../x", "is not a name"),
        ("Bad Name!", "is not a name"),
    ] {
        let refused = world.ahp(&["oracle", "new", name]);
        assert_eq!(refused.code, 1, "{name}: {}", refused.stdout);
        assert!(refused.stderr.contains(told), "{name}: {}", refused.stderr);
    }
    assert!(!world.path(".ahp/oracles").exists());
}

#[test]
fn a_new_oracle_is_tested_bound_listed_and_run() {
    let world = World::new("");
    for trigger in ["pre-tool-use", "pre-issue-submit", "pre-agent-turn"] {
        let name = format!("For{}", trigger.replace('-', " "));
        let made = world.ahp(&["oracle", "new", &name, "--trigger", trigger]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        let again = world.ahp(&["oracle", "new", &name]);
        assert_eq!(again.code, 1);
        assert!(
            again.stderr.contains("is there already"),
            "{}",
            again.stderr
        );
        let binding = made.stdout.split("hooks.yaml:\n\n").nth(1).unwrap();
        let binding = binding.split("\n\nthen:").next().unwrap();
        world.write(".ahp/hooks.yaml", binding);
        let checked = world.ahp(&["check"]);
        assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    }
    let tested = world.ahp(&["test", "--junit", "out.xml", "--coverage"]);
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
    let junit = world.read("out.xml");
    assert!(
        junit.contains("<testsuites name=\"ahp test\" tests=\"6\""),
        "{junit}"
    );

    let listed = world.ahp(&["oracle", "list"]);
    assert!(
        listed.stdout.contains("forpre-tool-use"),
        "{}",
        listed.stdout
    );
    assert!(listed.stdout.contains("branch-guard"), "{}", listed.stdout);

    let event = r#"{"trigger": "pre-tool-use", "tool": {"name": "Write", "input": {"file_path": "a", "content": "a TODO"}}}"#;
    world.write("event.json", event);
    let arguments = ["oracle", "run", "forpre-tool-use", "--event", "event.json"];
    let ran = world.ahp(&[&arguments[..], &["--config", "{intensity: block}"]].concat());
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("block forpre-tool-use: TODO is not wanted here"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains(" operations"), "{}", ran.stdout);
    for (timeout, code) in [("500ms", 2), ("2s", 2), ("60", 2), ("soon", 1)] {
        let further = ["--config", "{intensity: block}", "--timeout", timeout];
        let ran = world.ahp(&[&arguments[..], &further].concat());
        assert_eq!(ran.code, code, "{timeout}: {}", ran.stderr);
    }
    let wrong = world.ahp(&[&arguments[..], &["--config", "{intensity: loud}"]].concat());
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
    let world = World::new("");
    world.write(".ahp/branch.yaml", "oracle: branch-guard\ntrigger: pre-tool-use\nproject: {git: {}}\ntests:\n  - name: a push\n    command: git push origin main\n    expect: none\n",
    );
    let failed = world.ahp(&["test"]);
    assert_eq!(failed.code, 1);
    let told =
        "FAIL  .ahp/branch.yaml:5 a push\n        decision\n          - none\n          + block\n";
    assert!(failed.stdout.contains(told), "{}", failed.stdout);
    let updated = world.ahp(&["test", "--update"]);
    assert_eq!(updated.code, 0, "{}", updated.stderr);
    let passed = world.ahp(&["test", "--verbose"]);
    assert_eq!(passed.code, 0, "{}", passed.stdout);
    assert!(
        passed.stdout.contains("ok    .ahp/branch.yaml:5 a push"),
        "{}",
        passed.stdout
    );
}

#[test]
fn a_script_that_does_not_compile_and_a_name_that_is_misspelt_are_told() {
    let world = World::new("");
    world.write(
        ".ahp/oracles/bad.rhai",
        "fn evaluate(ctx) {\n    let = 1;\n}\n",
    );
    let shown = world.ahp(&["oracle", "show", "bad"]);
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
    world.write(
        ".ahp/bad.yaml",
        "oracle: bad\ntrigger: pre-tool-use\ntests:\n  - {name: a, command: ls, expect: none}\n  - {name: b, command: ls, settings: {timeout: 2s}, expect: none}\n",
    );
    let tested = world.ahp(&["test"]).stdout;
    assert_eq!(tested.matches("bad.rhai:2:9").count(), 1, "{tested}");
    assert!(
        tested.contains("FAIL  .ahp/bad.yaml:5 b\n        policy: the fault of .ahp/bad.yaml:4\n"),
        "{tested}"
    );
    let shown = world.ahp(&["oracle", "show", "brnch-guard"]);
    assert!(
        shown.stderr.contains("did you mean `branch-guard`?"),
        "{}",
        shown.stderr
    );
    world.write(
        ".ahp/tests.yaml",
        "oracle: x\ntests:\n  - nme: a\n    expect: none\n",
    );
    let tested = world.ahp(&["test"]);
    assert_eq!(tested.code, 1);
    assert!(
        tested.stdout.contains("unknown key `nme`"),
        "{}",
        tested.stdout
    );
}

#[test]
fn check_finds_a_misspelt_fact_in_a_script() {
    let world = World::new("");
    let script = "fn evaluate(ctx) {\n    if ctx.files.chnged.is_empty() { accept() } else { block(\"x\") }\n}\n";
    world.write(".ahp/oracles/mine.rhai", script);
    world.write(
        ".ahp/hooks.yaml",
        "hooks: {pre-issue-submit: [{oracle: mine}]}\n",
    );
    let checked = world.ahp(&["check"]);
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    let told = "`.ahp/oracles/mine.rhai:2:18` asks for a fact `files.chnged`";
    assert!(checked.stdout.contains(told), "{}", checked.stdout);
    assert!(
        checked.stdout.contains("did you mean `files.changed`?"),
        "{}",
        checked.stdout
    );
}

#[test]
fn rows_of_a_table_are_rewritten_each_for_itself() {
    let world = World::new("");
    let before = "\
# kept
oracle: branch-guard
trigger: pre-tool-use
project: {git: {}}
tests:
  - name: a push to ${branch}
    command: git push origin ${branch}
    expect: none # what most of them give
    table:
      - {branch: main}
      - {branch: main, expect: allow} # kept
      - {branch: topic, expect: block}
      - {branch: other}
      - branch: main
      - branch: main
        expect: {decision: none, signals: []}
      - {branch: main, expect: {decision: none, signals: []}}
";
    world.write(".ahp/table.yaml", before);
    assert_eq!(world.ahp(&["test"]).code, 1);
    let updated = world.ahp(&["test", "--update"]);
    assert_eq!(updated.code, 0, "{}", updated.stderr);
    assert!(
        updated.stdout.contains(".ahp/table.yaml: 6 rewritten"),
        "{}",
        updated.stdout
    );
    let after = world.read(".ahp/table.yaml");
    for kept in [
        "# kept\n",
        "    expect: none # what most of them give\n",
        "      - {branch: main, expect: block}\n",
        "      - {branch: main, expect: block} # kept\n",
        "      - {branch: topic, expect: none}\n",
        "      - {branch: other}\n",
        "      - expect: block\n        branch: main\n",
        "      - branch: main\n        expect:\n          decision: block\n          signals:\n",
        "      - {branch: main, expect: {\"decision\":\"block\",\"signals\":[{\"intensity\":\"block\"",
    ] {
        assert!(after.contains(kept), "{kept}\n{after}");
    }
    let passed = world.ahp(&["test"]);
    assert_eq!(passed.code, 0, "{}\n{after}", passed.stdout);
}

#[test]
fn a_test_finds_the_scripts_of_the_user_and_of_the_settings() {
    let world = World::new("settings: {oracles: [rules]}\n");
    let script = "fn evaluate(ctx) { block(\"no\") }\n";
    world.write("rules/of-project.rhai", script);
    world.write("../home/.ahp/oracles/of-user.rhai", script);
    for name in ["of-project", "of-user"] {
        let test = format!(
            "oracle: {name}\ntrigger: pre-tool-use\ntests:\n  - name: it is found\n    expect: block\n"
        );
        world.write(&format!(".ahp/tests/{name}.yaml"), test);
    }
    let tested = world.ahp(&["test", "-v"]);
    assert_eq!(tested.code, 0, "{}", tested.stdout);
    assert!(tested.stdout.contains("2 passed"), "{}", tested.stdout);
}

#[test]
fn watched_tests_run_again_when_a_file_changes() {
    let world = World::new("");
    let test = |expect: &str| {
        format!(
            "oracle: branch-guard\ntrigger: pre-tool-use\nproject: {{git: {{}}}}\ntests:\n  - name: a push\n    command: git push origin main\n    expect: {expect}\n"
        )
    };
    world.write(".ahp/tests/push.yaml", test("none"));
    let mut child = world
        .ahp_command()
        .args(["test", "--watch"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, lines) = mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            sender.send(line).ok();
        }
    });
    // A bound for a broken watch alone: each line comes when it is written.
    let run = || {
        let mut told = Vec::new();
        loop {
            let line = lines.recv_timeout(Duration::from_mins(1)).unwrap();
            if line.contains("waiting for changes") {
                return told.join("\n");
            }
            told.push(line);
        }
    };
    let first = run();
    assert!(first.contains("0 passed, 1 failed"), "{first}");
    world.write(".ahp/tests/push.yaml", test("block"));
    let second = run();
    assert!(second.contains("1 passed, 0 failed"), "{second}");
    world.write(".ahp/tests/more.yaml", test("block"));
    let third = run();
    assert!(third.contains("2 passed, 0 failed, in 2 files"), "{third}");
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
}

#[test]
fn no_test_is_passed_over_in_silence() {
    let world = World::new("");
    let test = "oracle: PermissionChecker\ntrigger: pre-tool-use\ncommand: rm -rf /\n";
    for tests in [
        "tests: [{expect: none}]\n",
        "tests: # of it\n  - expect: none\n",
        "tests:\n  - expect: none\n",
    ] {
        world.write(".ahp/tests/one.yaml", format!("{test}{tests}"));
        let ran = world.ahp(&["test"]);
        assert_eq!(ran.code, 1, "{tests}: {}", ran.stdout);
        assert!(
            ran.stdout.contains("FAIL  .ahp/tests/one.yaml"),
            "{}",
            ran.stdout
        );
        let page = format!("# Page\n\n```yaml\n{test}{tests}```\n");
        world.write(".ahp/tests/one.yaml", "");
        world.write(".ahp/tests/one.md", page);
        assert_eq!(world.ahp(&["test"]).code, 1, "{tests}");
        fs::remove_file(world.path(".ahp/tests/one.md")).unwrap();
    }
    world.write(".ahp/tests/one.yaml", "testsuite: x\ntests:none\n");
    assert_eq!(world.ahp(&["test"]).code, 0);
}

#[test]
fn what_a_test_says_in_vain_is_told() {
    let world = World::new("");
    let common = "trigger: pre-tool-use\ncommand: ls\nexpect: none";
    for (text, told) in [
        (
            "pack: safe-shell\nconfig: {preset: strict}\ntests: [{TEST}]",
            "`config` changes nothing beside `pack`",
        ),
        (
            "pack: safe-shell\ntests: [{TEST, binding: {intensity: aid}}]",
            "`binding` changes nothing beside `pack`",
        ),
        (
            "oracle: PermissionChecker\ntests: [{TEST, policy: {hooks: {}}, config: {preset: strict}}]",
            "`config` changes nothing beside `policy`",
        ),
        (
            "oracle: PermissionChecker\ntests: [{TEST, table: []}]",
            "expected a list of rows, at least one",
        ),
    ] {
        let test = common.replace('\n', ", ");
        world.write(".ahp/tests/one.yaml", text.replace("TEST", &test));
        let ran = world.ahp(&["test"]);
        assert_eq!(ran.code, 1, "{text}: {}", ran.stdout);
        assert!(ran.stdout.contains(told), "{text}: {}", ran.stdout);
    }
    let sound = "oracle: PermissionChecker\nconfig: {preset: strict}\n\
                 tests: [{pack: safe-shell, trigger: pre-tool-use, command: ls, expect: none}]";
    world.write(".ahp/tests/one.yaml", sound);
    let ran = world.ahp(&["test"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}
