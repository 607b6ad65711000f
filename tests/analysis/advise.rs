//! `ahp log advise`: logs of which the right advice is known, and edits that keep comments and layout.

use std::collections::BTreeMap;
use std::path::Path;

use ahp::analysis::{Change, Filter, Proposal, Stats, advise, edit};
use ahp::config::{Config, LayerSource};
use ahp::session::{MarkRecord, Truth};
use ahp::signal::{Action, Intensity};
use ahp::signal_log::Reader;

use super::making::Life;
use crate::world::World;

const POLICY: &str = "\
# Our rules.
hooks:
  pre-issue-submit:
    # The first one.
    - oracle: ChecklistValidator   # must stay first
      id: checklist
      priority: 1

    - {oracle: FileChangeLimiter, id: size}
    - oracle: TestGate
      id: tests
      timeout: 30s  # seconds
";

fn proposals(policy: &str, life: impl FnOnce(&mut Life)) -> (Vec<Proposal>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("signals.jsonl");
    life(&mut Life::new(&path));
    let stats = Stats::collect(&Reader::open(path).unwrap(), &Filter::default()).unwrap();
    let layer = [(LayerSource::Project, ".ahp/hooks.yaml", policy)];
    let loaded = Config::from_layers(&layer, Path::new("."));
    assert!(!loaded.is_broken(), "{:?}", loaded.diagnostics);
    let found = advise(&stats, &loaded.config, &loaded.sources);
    let texts = found
        .iter()
        .map(
            |p| match edit(p, &loaded.config, &loaded.sources, ".ahp/hooks.yaml") {
                Ok(edit) => edit.after,
                Err(reason) => reason,
            },
        )
        .collect();
    (found, texts)
}

/// Warnings of as many sessions, each dismissed.
fn dismissed(life: &mut Life, times: i64) {
    life.issue = None;
    for i in 0..times {
        life.session = format!("s{i}");
        let id = life.give(i * 100, "size", Intensity::Prompt, 10);
        life.answer(i * 100 + 1, "size", id, Action::Dismiss);
        life.accept(i * 100 + 2, "checklist", 10);
        life.accept(i * 100 + 3, "tests", 10);
    }
}

#[test]
fn what_is_mostly_dismissed_is_noise() {
    let (found, texts) = proposals(POLICY, |life| dismissed(life, 25));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].rule, found[0].binding.as_str()),
        ("noise", "size")
    );
    assert_eq!(found[0].layer, LayerSource::Project);
    assert_eq!(found[0].place, ".ahp/hooks.yaml:9");
    assert!(
        found[0]
            .why
            .contains("25 findings of `finding`, 25 dismissed"),
        "{}",
        found[0].why
    );
    let rate = found[0].confidence;
    assert_eq!(
        (rate.cases, rate.of, rate.low, rate.high),
        (25, 25, 0.87, 1.0)
    );
    assert_eq!(
        texts[0],
        POLICY.replace(
            "{oracle: FileChangeLimiter",
            "{intensity: aid, oracle: FileChangeLimiter"
        )
    );
}

#[test]
fn three_events_give_no_advice() {
    let (found, _) = proposals(POLICY, |life| dismissed(life, 3));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn what_times_out_gets_a_longer_timeout_in_place() {
    let (found, texts) = proposals(POLICY, |life| {
        dismissed(life, 4);
        for i in 0..30 {
            if i % 5 == 0 {
                life.fail(
                    1000 + i,
                    "tests",
                    "timed out: took longer than its timeout of 30s",
                );
            } else {
                life.accept(1000 + i, "tests", 10);
            }
        }
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].rule, "times-out");
    assert_eq!(
        texts[0],
        POLICY.replace("timeout: 30s  #", "timeout: 60s  #")
    );
}

#[test]
fn what_is_slow_to_repair_is_taught_up_front() {
    let (found, texts) = proposals(POLICY, |life| {
        for i in 0..12 {
            let start = i * 10_000;
            life.give(start, "checklist", Intensity::Block, 10);
            life.accept(start + 4000, "checklist", 10);
            life.accept(start + 4001, "size", 10);
            life.accept(start + 4002, "tests", 10);
        }
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].rule, "blind-spot");
    assert!(matches!(found[0].change, Some(Change::Teach { .. })));
    assert!(
        texts[0].contains(
            "hooks:\n  post-issue-start:\n    - oracle: checklist-oracle\n      id: checklist-up-front\n      intensity: aid\n"
        ),
        "{}",
        texts[0]
    );
    assert!(texts[0].contains("# must stay first"));
}

/// A guard that never ran had no occasion: that is no reason to switch it off.
#[test]
fn what_is_overridden_asks_and_what_is_silent_stays() {
    let (found, texts) = proposals(POLICY, |life| {
        life.issue = None;
        for i in 0..60 {
            life.session = format!("s{i}");
            let id = life.give(i * 100, "checklist", Intensity::Block, 10);
            life.answer(i * 100 + 1, "checklist", id, Action::ProceedWithRisk);
            life.accept_waived(i * 100 + 2, "checklist", id);
            life.accept(i * 100 + 3, "size", 10);
        }
    });
    let rules: Vec<_> = found.iter().map(|p| (p.rule, p.binding.as_str())).collect();
    assert_eq!(rules, [("overridden", "checklist")]);
    // A comment behind the first key stays behind it.
    assert!(
        texts[0].contains("- oracle: ChecklistValidator   # must stay first\n      intensity: ask\n      id: checklist\n"),
        "{}",
        texts[0]
    );
}

/// The same warning, asked again and again in one session and answered once, is one finding.
#[test]
fn calls_are_not_findings() {
    let (found, _) = proposals(POLICY, |life| {
        life.issue = None;
        for i in 0..50 {
            let id = life.give(i * 100, "size", Intensity::Prompt, 10);
            life.answer(i * 100 + 1, "size", id, Action::Dismiss);
        }
    });
    assert!(found.is_empty(), "{found:?}");
}

/// Where a binding holds several rules, one that is noise does not weaken the others.
#[test]
fn no_guard_is_disarmed_for_one_of_its_rules() {
    let (found, texts) = proposals(POLICY, |life| {
        dismissed(life, 25);
        life.rule = "another";
        life.give(9000, "size", Intensity::Prompt, 10);
    });
    assert_eq!((found.len(), found[0].rule), (1, "noise"));
    assert_eq!(found[0].change, None);
    assert!(texts[0].contains("found out by a person"), "{}", texts[0]);
}

const SHELL: &str = "\
hooks:
  pre-tool-use:
    - oracle: PermissionChecker
      id: shell
      override: true
      config: {preset: none, dangerous_commands: [npm publish, rm -r]}
";

/// Risks taken with one command by as many sessions; another one of the same guard is heeded.
fn publish(world: &World, sessions: usize) {
    let event = |session: usize, command: &str| {
        serde_json::json!({
            "trigger": "pre-tool-use", "session_id": format!("s{session}"),
            "tool": {"name": "Bash", "input": {"command": command}},
        })
        .to_string()
    };
    let run = |commands: &[&str]| {
        let all = (0..sessions).flat_map(|n| commands.iter().map(move |c| event(n, c)));
        let text = all.collect::<Vec<_>>().join("\n");
        world.ahp_fed(&["run", "--events", "-"], text.as_bytes());
    };
    run(&["npm publish", "rm -r build"]);
    for record in world.log() {
        if record["object"] == "npm publish" {
            let id = record["signal"]["header"]["id"].as_str().unwrap();
            let done = world.ahp(&["respond", id, "proceed_with_risk", "--by", "human"]);
            assert_eq!(done.code, 0, "{}", done.stderr);
        }
    }
    run(&["npm publish"]);
}

/// Of a guard of many rules one command is allowed, nothing else; it is shown what that would have changed.
#[test]
fn one_overridden_command_is_allowed_and_no_more() {
    let world = World::new(&SHELL.replace('\n', "\r\n"));
    publish(&world, 9);
    let advice = world.ahp(&["log", "advise", "--format", "json"]).json();
    let advice = advice[0].as_array().unwrap();
    assert_eq!(advice.len(), 1, "{advice:?}");
    assert_eq!(advice[0]["rule"], "allow-command");
    assert_eq!(advice[0]["change"]["allow"]["command"], "=npm publish");
    assert_eq!(advice[0]["confidence"]["of"], 9);
    let effect = &advice[0]["effect"];
    // 18 events had something against them; those of `rm -r` stay as they are.
    assert_eq!(effect["judged"], 18, "{effect}");
    let changes = effect["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 9, "{effect}");
    assert!(
        changes
            .iter()
            .all(|c| c["old"] == "block" && c["new"] == "none")
    );

    // Nobody at a terminal has said yes.
    let refused = world.ahp(&["log", "advise", "--apply"]);
    assert_ne!(refused.code, 0);
    assert_eq!(world.read(".ahp/hooks.yaml"), SHELL.replace('\n', "\r\n"));
    let done = world.ahp(&["log", "advise", "--apply", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let expected = SHELL.replace(
        "config: {preset",
        "config: {allow_commands: [\"=npm publish\"], preset",
    );
    assert_eq!(
        world.read(".ahp/hooks.yaml"),
        expected.replace('\n', "\r\n")
    );
    assert!(world.ahp(&["log", "advise"]).stdout.contains("no advice"));
    for (command, decision) in [
        ("npm publish", "none"),
        ("npm publish ./x", "block"),
        ("npm publish --access public", "block"),
        ("sudo npm publish", "block"),
        ("npm publish > out", "block"),
        ("npm publish && rm -r build", "block"),
    ] {
        assert_eq!(judged(&world, "after", command), decision, "{command}");
    }
}

/// Returns what is decided about a command of a session.
fn judged(world: &World, session: &str, command: &str) -> String {
    let event = serde_json::json!({
        "trigger": "pre-tool-use", "session_id": session,
        "tool": {"name": "Bash", "input": {"command": command}},
    });
    let ran = world.ahp_fed(
        &["run", "--events", "-", "--format", "json"],
        event.to_string().as_bytes(),
    );
    let told: serde_json::Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    told["decision"].as_str().unwrap().to_owned()
}

/// Where the policy lets it through already, only the figures of before speak for it.
#[test]
fn a_change_that_changes_nothing_is_not_proposed() {
    let world = World::new(SHELL);
    publish(&world, 9);
    world.write(".ahp/hooks.yaml", SHELL.replace("npm publish, ", ""));
    assert_eq!(
        world
            .ahp(&["log", "advise", "--format", "json"])
            .stdout
            .trim(),
        "[]"
    );
}

/// An agent answers what its own session was told, by whatever it names the signal.
#[test]
fn an_agent_answers_no_signal_of_another_session() {
    let world = World::new(SHELL);
    judged(&world, "B", "rm -r build");
    let id = |world: &World, session: &str| {
        let log = world.log();
        let of = |r: &&serde_json::Value| r["session_id"] == session && r["signal"].is_object();
        let found = log.iter().rev().find(of).unwrap();
        found["signal"]["header"]["id"].as_str().unwrap().to_owned()
    };
    let of_b = id(&world, "B");
    let stopped = |session: &str, command: &str, expected: &str| {
        assert_eq!(
            judged(&world, session, command),
            expected,
            "{session}: {command}"
        );
    };
    let by_id = format!("ahp respond {of_b} proceed_with_risk");
    let short = format!(
        "ahp respond {} dismiss --note last",
        of_b.get(of_b.len() - 8..).unwrap()
    );
    let piped = format!(
        "ahp respond --stdin <<< '{{\"signal_id\": \"{of_b}\", \"action\": \"proceed_with_risk\"}}'"
    );
    for command in [&by_id, &short, &piped] {
        stopped("B", command, "none");
    }
    // Each refusal is told to A, and is then its newest signal.
    stopped("A", "ahp respond last proceed_with_risk", "block");
    for command in [
        by_id.as_str(),
        &short,
        &piped,
        "ahp respond ffffffff dismiss",
        "ahp respond $ID dismiss",
        "sleep 1; ahp respond last dismiss",
        "cd .. && ahp respond last dismiss",
        "ahp respond last dismiss --log x.jsonl",
    ] {
        stopped("A", command, "block");
    }
    stopped("A", "ahp respond last retry_after_fix", "none");
    stopped("B", "ahp respond last retry_after_fix", "block");
}

/// Whatever form the list has, it keeps it.
#[test]
fn a_list_of_commands_keeps_its_form() {
    for (config, expected) in [
        (
            "config: {allow_commands: [ls]}",
            "config: {allow_commands: [\"=npm publish\", ls]}",
        ),
        (
            "config: {allow_commands: []}",
            "config: {allow_commands: [\"=npm publish\"]}",
        ),
        (
            "priority: 3",
            "config: {allow_commands: [\"=npm publish\"]}\n      priority: 3",
        ),
        (
            "config:\n        allow_commands:\n          # often\n          - ls",
            "config:\n        allow_commands:\n          # often\n          - \"=npm publish\"\n          - ls",
        ),
    ] {
        let policy = format!(
            "hooks:\n  pre-tool-use:\n    - oracle: PermissionChecker\n      id: shell\n      {config}\n"
        );
        let (found, texts) = proposals(&policy, |life| {
            (life.issue, life.hook) = (None, "pre-tool-use");
            (life.oracle, life.rule) = (Some("permission-checker"), "custom");
            life.object = Some("npm publish".to_owned());
            for i in 0..12 {
                life.session = format!("s{i}");
                let id = life.give(i * 100, "shell", Intensity::Block, 10);
                life.answer(i * 100 + 1, "shell", id, Action::ProceedWithRisk);
                life.accept_waived(i * 100 + 2, "shell", id);
            }
        });
        assert_eq!(found.len(), 1, "{config}: {found:?}");
        let one = policy.replace(config, expected);
        let other = one.replace(
            "id: shell\n      config: {allow_commands: [\"=npm publish\"]}\n",
            "config: {allow_commands: [\"=npm publish\"]}\n      id: shell\n",
        );
        assert!(
            texts[0] == one || texts[0] == other,
            "{config}:\n{}",
            texts[0]
        );
    }
}

#[test]
fn what_is_in_force_already_is_not_proposed_again() {
    let noisy = |life: &mut Life| dismissed(life, 25);
    let slow = |life: &mut Life| {
        for i in 0..12 {
            life.give(i * 10_000, "checklist", Intensity::Block, 10);
            life.accept(i * 10_000 + 4000, "checklist", 10);
        }
    };
    let (found, texts) = proposals(POLICY, noisy);
    assert_eq!(found.len(), 1);
    assert_eq!(proposals(&texts[0], noisy).0.len(), 0);
    let (found, texts) = proposals(POLICY, slow);
    assert_eq!(found.len(), 1);
    assert_eq!(proposals(&texts[0], slow).0.len(), 0);
}

#[test]
fn a_locked_binding_is_left_alone() {
    let locked = POLICY.replace("id: size}", "id: size, locked: true}");
    let (found, texts) = proposals(&locked, |life| dismissed(life, 25));
    assert!(found[0].locked);
    assert!(
        texts[0].contains("is locked by .ahp/hooks.yaml:9"),
        "{}",
        texts[0]
    );
}

/// Who asks for a change and gets none must not take it for one that was made.
#[test]
fn apply_fails_where_nothing_can_be_applied() {
    let locked = POLICY.replace("id: size}", "id: size, locked: true}");
    let world = World::new(&locked);
    dismissed(&mut Life::new(world.log_place()), 25);
    let done = world.ahp(&["log", "advise", "--apply", "--yes"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert_eq!(world.read(".ahp/hooks.yaml"), locked);
}

#[test]
fn apply_edits_the_file() {
    let world = World::new(POLICY);
    dismissed(&mut Life::new(world.log_place()), 25);
    let run = |more: &[&str]| world.ahp(&[&["log", "advise"], more].concat()).stdout;
    let said = run(&[]);
    assert!(
        said.contains("+    - {intensity: aid, oracle: FileChangeLimiter, id: size}"),
        "{said}"
    );
    assert_eq!(world.read(".ahp/hooks.yaml"), POLICY);
    run(&["--apply", "--yes"]);
    assert_ne!(world.read(".ahp/hooks.yaml"), POLICY);
    assert!(run(&["--rules"]).contains("blind-spot"));

    // Line ends and what is written beside stay as they are.
    let windows = POLICY.replace('\n', "\r\n");
    let world = World::new(&windows);
    dismissed(&mut Life::new(world.log_place()), 25);
    world.ahp(&["log", "advise", "--apply", "--yes"]);
    let after = world.read(".ahp/hooks.yaml");
    assert!(after != windows && after.contains("aid"), "{after}");
    assert_eq!(
        after.matches('\n').count(),
        after.matches("\r\n").count(),
        "{after:?}"
    );
}

#[test]
fn a_mark_that_nothing_feeds_or_that_cannot_be_told_is_named() {
    const MARKS: &str = r"
marks:
  tests_passed: {on: post-tool-use, when: {tool.ok: true}}
hooks:
  pre-tool-use:
    - {oracle: Say, id: push, when: {marks.tests_passed: 0}, config: {intensity: block, text: no tests}}
";
    let asking = |count: [u64; 2], fed: Option<Truth>, days: i64| {
        let (found, _) = proposals(MARKS, |life| {
            for i in 0..20 {
                let asked = Some(count);
                let fed = fed.filter(|_| i == 0);
                let record = MarkRecord {
                    asked,
                    fed,
                    ..MarkRecord::default()
                };
                life.marks = BTreeMap::from([("tests_passed".to_owned(), record)]);
                life.pass(i * days * 86_400 / 19, "pre-tool-use");
            }
        });
        let told = found.iter().map(|p| (p.rule, p.binding.clone()));
        told.collect::<Vec<_>>()
    };
    let named = |rule| vec![(rule, "marks.tests_passed".to_owned())];
    assert_eq!(asking([0, 0], None, 40), named("stale-mark"));
    assert_eq!(asking([0, 0], None, 20), []);
    assert_eq!(asking([1, 1], Some(Truth::Yes), 40), []);
    assert_eq!(asking([0, 1], Some(Truth::Maybe), 20), named("untold-mark"));
}
