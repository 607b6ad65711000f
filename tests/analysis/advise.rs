//! `ahp log advise`: logs of which the right advice is known, and edits that keep comments and layout.

use std::path::Path;

use ahp::analysis::Change;
use ahp::analysis::Filter;
use ahp::analysis::Proposal;
use ahp::analysis::Stats;
use ahp::analysis::advise;
use ahp::analysis::edit;
use ahp::config::Config;
use ahp::config::LayerSource;
use ahp::signal::Action;
use ahp::signal::Intensity;
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

fn dismissed(life: &mut Life, times: i64) {
    for i in 0..times {
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
    assert_eq!(found[0].layer, Some(LayerSource::Project));
    assert_eq!(found[0].place, ".ahp/hooks.yaml:9");
    assert!(
        found[0].why.contains("25 signals, 100%"),
        "{}",
        found[0].why
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

#[test]
fn what_never_runs_is_stale_and_what_is_overridden_is_weakened() {
    let (found, texts) = proposals(POLICY, |life| {
        for i in 0..60 {
            let id = life.give(i * 100, "checklist", Intensity::Block, 10);
            life.answer(i * 100 + 1, "checklist", id, Action::ProceedWithRisk);
            life.accept(i * 100 + 2, "size", 10);
        }
    });
    let rules: Vec<_> = found.iter().map(|p| (p.rule, p.binding.as_str())).collect();
    assert_eq!(rules, [("overridden", "checklist"), ("stale", "tests")]);
    // A comment behind the first key stays behind it.
    assert!(
        texts[0].contains("- oracle: ChecklistValidator   # must stay first\n      intensity: prompt\n      id: checklist\n"),
        "{}",
        texts[0]
    );
    assert!(texts[1].contains("- oracle: TestGate\n      enabled: false\n      id: tests\n"));
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

#[test]
fn apply_edits_the_file() {
    let world = World::new(POLICY);
    dismissed(&mut Life::new(&world.path(".ahp/signals.jsonl")), 25);
    let run = |more: &[&str]| world.ahp(&[&["log", "advise"], more].concat()).stdout;
    let said = run(&[]);
    assert!(
        said.contains("+    - {intensity: aid, oracle: FileChangeLimiter, id: size}"),
        "{said}"
    );
    assert_eq!(world.read(".ahp/hooks.yaml"), POLICY);
    run(&["--apply"]);
    assert_ne!(world.read(".ahp/hooks.yaml"), POLICY);
    assert!(run(&["--rules"]).contains("blind-spot"));
}
