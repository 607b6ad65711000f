//! In CI: what the change is measured against, by real clones, and the reports that CI systems read.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::world::{Ran, World};

const POLICY: &str = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, id: size, config: {max_files: 2, action: block}}]}\n";

/// A repository whose branch `feature` has three files more than `main`, which went on meanwhile.
fn origin() -> World {
    let origin = World::new(POLICY);
    origin.git_init();
    origin.git(&["checkout", "-q", "-b", "feature"]);
    for n in 0..3 {
        origin.write(&format!("f{n}.txt"), "x");
        origin.commit(&format!("file {n}"));
    }
    origin.git(&["checkout", "-q", "main"]);
    origin.write("other.txt", "x");
    origin.commit("on main");
    // What GitHub checks out for a pull request.
    origin.git(&["checkout", "-q", "-b", "pull", "main"]);
    origin.git(&["merge", "-q", "--no-ff", "-m", "merge", "feature"]);
    origin.git(&["checkout", "-q", "main"]);
    origin
}

fn commit_of(world: &World, reference: &str) -> String {
    let asked = world.command("git").args(["rev-parse", reference]).output();
    String::from_utf8(asked.unwrap().stdout)
        .unwrap()
        .trim()
        .to_owned()
}

/// Clones the way a CI system does.
fn cloned(origin: &World, arguments: &[&str]) -> World {
    let clone = World::new("");
    fs::remove_dir_all(clone.root()).unwrap();
    let mut git = origin.command("git");
    git.args(["clone", "-q"]).args(arguments);
    git.arg(format!("file://{}", origin.root().display()));
    assert!(git.arg(clone.root()).status().unwrap().success());
    clone
}

fn submitted(world: &World, variables: &[(&str, &str)]) -> Ran {
    let mut command = world.command(env!("CARGO_BIN_EXE_ahp"));
    command.args(["run", "pre-issue-submit", "--issue", "FEAT-1"]);
    Ran::of(&command.envs(variables.iter().copied()).output().unwrap())
}

fn is_over_the_limit(ran: &Ran) -> bool {
    ran.code == 2 && ran.stdout.contains("3 files")
}

#[test]
fn a_whole_clone_is_judged_by_what_ci_names() {
    let origin = origin();
    let clone = cloned(&origin, &["--branch", "feature"]);
    let event = clone.path("../event.json");
    let main = commit_of(&origin, "main");
    let of_pull = format!(r#"{{"pull_request": {{"base": {{"sha": "{main}"}}}}}}"#);
    let of_queue = format!(r#"{{"merge_group": {{"base_sha": "{main}"}}}}"#);
    let zeros = "0".repeat(40);
    let before = |commit: &str| format!(r#"{{"before": "{commit}"}}"#);
    let last = commit_of(&origin, "feature~1");
    let place = event.to_str().unwrap();
    for (text, variables, blocks) in [
        (of_pull.as_str(), vec![("GITHUB_EVENT_PATH", place)], true),
        (&of_queue, vec![("GITHUB_EVENT_PATH", place)], true),
        (&before(&last), vec![("GITHUB_EVENT_PATH", place)], false),
        (&before(&zeros), vec![("GITHUB_EVENT_PATH", place)], true),
        (
            "no JSON",
            vec![("GITHUB_EVENT_PATH", place), ("GITHUB_BASE_REF", "main")],
            true,
        ),
        (
            "",
            vec![("CI_MERGE_REQUEST_DIFF_BASE_SHA", main.as_str())],
            true,
        ),
        (
            "",
            vec![("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")],
            true,
        ),
        ("", vec![("CI_COMMIT_BEFORE_SHA", &last)], false),
        ("", vec![("CI_COMMIT_BEFORE_SHA", &zeros)], true),
        ("", vec![("BITBUCKET_PR_DESTINATION_COMMIT", &main)], true),
        (
            "",
            vec![("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main")],
            true,
        ),
        ("", vec![("CHANGE_TARGET", "main")], true),
        (
            "",
            vec![("AHP_BASE", "feature~1"), ("GITHUB_BASE_REF", "main")],
            false,
        ),
        ("", vec![], true),
    ] {
        fs::write(&event, text).unwrap();
        let ran = submitted(&clone, &[&[("CI", "true")], &variables[..]].concat());
        assert_eq!(
            is_over_the_limit(&ran),
            blocks,
            "{variables:?}: {}",
            ran.stdout
        );
        assert_eq!(ran.code == 2, blocks, "{variables:?}: {}", ran.stdout);
    }
}

#[test]
fn a_base_that_is_not_here_is_never_a_pass_and_the_cure_is_told() {
    let origin = origin();
    let main = commit_of(&origin, "main");
    let shallow = cloned(&origin, &["--depth", "1", "--branch", "feature"]);
    let named = [
        ("CI", "true"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", main.as_str()),
    ];
    for variables in [
        &named[..],
        &[("CI", "true")],
        &[("GITHUB_BASE_REF", "main")],
    ] {
        let ran = submitted(&shallow, variables);
        assert_eq!(ran.code, 2, "{variables:?}: {}", ran.stdout);
        assert!(ran.stdout.contains("fetch-depth: 0"), "{}", ran.stdout);
        assert!(ran.stdout.contains("GIT_DEPTH: 0"), "{}", ran.stdout);
    }
    shallow.git(&[
        "fetch",
        "-q",
        "--unshallow",
        "origin",
        "+refs/heads/*:refs/remotes/origin/*",
    ]);
    assert!(is_over_the_limit(&submitted(&shallow, &named)));

    // Nothing names a base, and there is no branch to compare with.
    let alone = World::new(POLICY);
    alone.git_init();
    assert_eq!(submitted(&alone, &[]).code, 0);
    let ran = submitted(&alone, &[("CI", "true")]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    let misspelt = submitted(&alone, &[("AHP_BASE", "no-such-ref")]);
    assert_eq!(misspelt.code, 2, "{}", misspelt.stdout);
    assert!(
        misspelt.stdout.contains("`no-such-ref` is not here"),
        "{}",
        misspelt.stdout
    );
}

#[test]
fn a_merge_that_github_makes_needs_its_first_parent_alone() {
    let origin = origin();
    let clone = cloned(&origin, &["--depth", "2", "--branch", "pull"]);
    let merge = commit_of(&origin, "pull");
    let main = commit_of(&origin, "main~1");
    let event = clone.path("../event.json");
    fs::write(
        &event,
        format!(r#"{{"pull_request": {{"base": {{"sha": "{main}"}}}}}}"#),
    )
    .unwrap();
    let mut variables = vec![
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_PATH", event.to_str().unwrap()),
        ("GITHUB_REF", "refs/pull/7/merge"),
        ("GITHUB_SHA", &merge),
    ];
    let ran = submitted(&clone, &variables);
    assert!(is_over_the_limit(&ran), "{}", ran.stdout);
    // A merge that the author has made is not one of the base and the branch.
    variables[3].1 = &main;
    let ran = submitted(&clone, &variables);
    assert!(
        ran.code == 2 && ran.stdout.contains("fetch-depth: 0"),
        "{}",
        ran.stdout
    );
}

#[test]
fn what_ci_says_counts_for_the_repository_that_it_checked_out() {
    let origin = origin();
    let clone = cloned(&origin, &["--branch", "feature"]);
    let root = clone.root();
    let elsewhere = [
        ("CI", "true"),
        ("GITHUB_BASE_REF", "gone"),
        ("GITHUB_WORKSPACE", "/nowhere"),
    ];
    assert!(is_over_the_limit(&submitted(&clone, &elsewhere)));
    let here = [
        ("CI", "true"),
        ("GITHUB_BASE_REF", "gone"),
        ("GITHUB_WORKSPACE", root.to_str().unwrap()),
    ];
    assert!(
        submitted(&clone, &here)
            .stdout
            .contains("origin/gone` is not here")
    );
}

#[test]
fn a_base_is_named_on_the_command_line_too() {
    let origin = origin();
    let clone = cloned(&origin, &["--branch", "feature"]);
    let run = |base| {
        let base = format!("--base={base}");
        clone.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-1", &base])
    };
    assert!(is_over_the_limit(&run("origin/main")));
    assert_eq!(run("HEAD").code, 0);
    assert_eq!(run("--output=x").code, 2);
    assert!(!clone.path("x").exists());
}

#[test]
fn where_nothing_has_changed_that_is_said() {
    let clone = cloned(&origin(), &["--branch", "feature"]);
    for command in ["ci", "run"] {
        let run = |base: &str| {
            let ran = clone.ahp(&[command, "pre-issue-submit", "--base", base]);
            (ran.code, ran.stderr.contains("nothing has changed since `"))
        };
        assert_eq!(run("HEAD"), (0, true), "{command}");
        assert!(!run("HEAD~1").1, "{command}");
    }
}

#[test]
fn a_base_that_is_not_here_stands_in_every_report() {
    let origin = origin();
    let shallow = cloned(&origin, &["--depth", "1", "--branch", "feature"]);
    let reports = ["--report", "github", "--report", "junit=out.xml"];
    let reports = [&reports[..], &["--report", "sarif=out.sarif"]].concat();
    let event = shallow.path("../event.json");
    fs::write(
        &event,
        r#"{"pull_request": {"base": {"sha": "0123456789"}}}"#,
    )
    .unwrap();
    let elsewhere = ("GITHUB_WORKSPACE", "/another");
    for more in [&[][..], &[elsewhere]] {
        for file in ["out.xml", "out.sarif"] {
            fs::remove_file(shallow.path(file)).ok();
        }
        let mut command = shallow.ahp_command();
        command.args(["ci", "pre-issue-submit", "pre-issue-close"]);
        command.args(&reports).env("GITHUB_ACTIONS", "true");
        command.env("GITHUB_EVENT_PATH", &event);
        let ran = Ran::of(&command.envs(more.iter().copied()).output().unwrap());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.starts_with("blocked: "), "{ran:?}");
        let told = ran.stdout.matches("::error title=base-unknown::").count();
        assert_eq!(told, 1, "{ran:?}");
        let junit = shallow.read("out.xml");
        assert_eq!(junit.matches("name=\"base-unknown\"").count(), 2, "{junit}");
        assert!(junit.contains("<failure"), "{junit}");
        let sarif: Value = serde_json::from_str(&shallow.read("out.sarif")).unwrap();
        assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "base-unknown");
    }
    let words = ["ci", "--format", "json", "--base", "no-such-ref"];
    let ran = shallow.ahp(&words);
    assert_eq!(ran.code, 2, "{ran:?}");
    let verdict: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(verdict["decision"], "block");
}

#[test]
fn faults_and_failed_tests_are_annotated_with_their_line() {
    let world = World::new("hooks:\n  pre-tool-usee: []\n");
    world.write(
        ".ahp/tests.yaml",
        "policy: 'hooks: {}'\ntrigger: pre-tool-use\ncommand: ls\ntests:\n  - {name: 'a, b', expect: block}\n",
    );
    let run = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = world.ahp_command();
        let ran = command.args(words).envs(variables.iter().copied());
        Ran::of(&ran.output().unwrap())
    };
    let github = [("GITHUB_ACTIONS", "true")];
    let check = "::error file=.ahp/hooks.yaml,line=2,col=3,title=unknown-trigger::";
    let test = "::error file=.ahp/tests.yaml,line=5,title=a%2C b::";
    for (command, told) in [("check", check), ("test", test)] {
        for (words, variables, is_told) in [
            (&[command][..], &[][..], false),
            (&[command], &github, true),
            (&[command, "--format", "json"], &github, false),
            (&[command, "--report", "github"], &[], true),
        ] {
            let ran = run(words, variables);
            assert_eq!(ran.code, 1, "{words:?} {ran:?}");
            let has = ran.stdout.lines().any(|line| line.starts_with(told));
            assert_eq!(has, is_told, "{words:?} {}", ran.stdout);
        }
    }
}

#[test]
fn reports_say_what_was_blocked_and_what_passed() {
    let world = World::new(
        "hooks:\n  pre-issue-submit:\n    - {oracle: FileChangeLimiter, id: 'size:100', config: {max_files: 1, action: block}}\n    - {oracle: FileChangeLimiter, id: fine, config: {max_files: 90}}\n    - {oracle: TestGate, id: off, enabled: false}\n",
    );
    world.git_init();
    world.git(&["checkout", "-q", "-b", "feature"]);
    world.write("a file.txt", "x");
    world.write("another.txt", "x");
    world.commit("two files");
    let arguments = [
        "run",
        "pre-issue-submit",
        "--issue",
        "FEAT-1",
        "--report",
        "github",
    ];
    let files = ["--report", "sarif=out.sarif", "--report", "junit=out.xml"];
    let ran = world.ahp(&[&arguments[..], &files].concat());
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    let annotation = ran.stdout.lines().find(|line| line.starts_with("::error "));
    let annotation = annotation.unwrap_or_else(|| panic!("{}", ran.stdout));
    assert!(annotation.contains("title=size%3A100::"), "{annotation}");
    assert!(annotation.contains("%0A- "), "{annotation}");

    let sarif: Value = serde_json::from_str(&world.read("out.sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(run["results"][0]["level"], "error");
    assert_eq!(run["results"][0]["ruleId"], "size:100");
    assert!(run["results"][0]["partialFingerprints"]["ahp/v1"].is_string());
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["id"] == "fine"));

    let junit = roxmltree::Document::parse(world.read("out.xml").leak()).unwrap();
    let case = |id: &str| {
        let all = junit
            .descendants()
            .filter(|node| node.has_tag_name("testcase"));
        let mut of = all.filter(|node| node.attribute("name") == Some(id));
        of.next().unwrap_or_else(|| panic!("no case {id}"))
    };
    let has = |id: &str, tag: &str| case(id).children().any(|node| node.has_tag_name(tag));
    assert!(has("size:100", "failure"));
    assert!(has("off", "skipped"));
    assert!(!has("fine", "failure") && !has("fine", "skipped"));

    let ran = world.ahp(&["run", "pre-issue-submit", "--report", "html=x"]);
    assert!(
        ran.stderr
            .contains("expected `github`, `sarif=FILE` or `junit=FILE`"),
        "{}",
        ran.stderr
    );
    let ran = world.ahp(&["run", "pre-issue-submit", "--report", "sarif=no/such/place"]);
    assert_eq!(ran.code, 1);
    assert!(!Path::new("no").exists());
}
