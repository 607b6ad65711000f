//! `ahp log stats`: every figure of a log made by hand.

use ahp::analysis::{BindingStats, Filter, Intensities, Stats};
use ahp::signal::{Action, Intensity};
use ahp::signal_log::Reader;
use serde_json::json;

use super::making::Life;

fn stats(life: impl FnOnce(&mut Life)) -> Stats {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("signals.jsonl");
    life(&mut Life::new(&path));
    Stats::collect(&Reader::open(path).unwrap(), &Filter::default()).unwrap()
}

fn binding<'s>(stats: &'s Stats, id: &str) -> &'s BindingStats {
    stats.bindings.iter().find(|b| b.id == id).unwrap()
}

/// Two issues, two hosts, two days, three bindings.
fn story(life: &mut Life) {
    // FEAT-0123: two blocks, repaired after 900 s at the third try.
    let first = life.give(0, "checklist", Intensity::Block, 100);
    life.answer_as(600, "checklist", first, Action::RetryAfterFix, true);
    let second = life.give(600, "checklist", Intensity::Block, 200);
    life.answer(890, "checklist", second, Action::RetryAfterFix);
    life.accept(900, "checklist", 300);
    // A prompt that is acknowledged and so waived: no repair.
    let prompt = life.give(1000, "size", Intensity::Prompt, 10);
    life.answer(1010, "size", prompt, Action::Acknowledge);
    life.accept_waived(1020, "size", prompt);
    // FEAT-0200 on another host the next day: one block, repaired after 100 s at the second try.
    life.issue = Some("FEAT-0200");
    life.host = "codex";
    let day = 86_400;
    let block = life.give(day, "checklist", Intensity::Block, 400);
    life.accept(day + 100, "checklist", 500);
    life.answer_as(day + 100, "checklist", block, Action::RetryAfterFix, true);
    // Said explicitly later: takes the place of what was inferred.
    life.answer(day + 110, "checklist", block, Action::ProceedWithRisk);
    let dismissed = life.give(day + 200, "size", Intensity::Prompt, 20);
    life.answer(day + 210, "size", dismissed, Action::Dismiss);
    let control = life.give(day + 300, "size", Intensity::Control, 30);
    life.answer(day + 310, "size", control, Action::RejectModification);
    life.give(day + 400, "size", Intensity::Prompt, 40);
    // A binding that fails, once by its timeout, then accepts: no violation was repaired.
    life.fail(day + 500, "tests", "timed out: took longer than 30s");
    life.fail(day + 600, "tests", "cargo is not installed");
    life.accept(day + 700, "tests", 60);
    life.give(day + 800, "tests", Intensity::Aid, 70);
}

#[test]
fn every_figure_of_a_binding_is_right() {
    let stats = stats(story);
    let checklist = &binding(&stats, "checklist").figures;
    assert_eq!(
        (checklist.triggered, checklist.accepted, checklist.signalled),
        (5, 2, 3)
    );
    assert_eq!(
        checklist.signals,
        Intensities {
            block: 3,
            ..Intensities::default()
        }
    );
    assert_eq!((checklist.answered, checklist.inferred), (3, 1));
    assert_eq!(
        serde_json::to_value(&checklist.responses).unwrap(),
        json!({"retry_after_fix": 2, "proceed_with_risk": 1})
    );
    assert_eq!(checklist.consumption_rate, Some(1.0));
    assert_eq!(
        (checklist.dismissal_rate, checklist.override_rate),
        (Some(0.0), Some(0.0))
    );
    // (900 + 100) / 2 seconds, (3 + 2) / 2 tries.
    assert_eq!((checklist.fates.findings, checklist.fates.repaired), (2, 2));
    assert_eq!(checklist.mean_time_to_repair_s, Some(500.0));
    assert_eq!(checklist.mean_tries, Some(2.5));
    // 100 s is below 5 minutes, 900 s is not below 15.
    assert_eq!(checklist.repair_times, [0, 1, 0, 1, 0, 0, 0]);
    assert_eq!((checklist.p50_us, checklist.p99_us), (Some(300), Some(500)));

    let size = &binding(&stats, "size").figures;
    assert_eq!((size.triggered, size.accepted, size.signalled), (5, 0, 4));
    assert_eq!(
        size.signals,
        Intensities {
            prompt: 3,
            control: 1,
            ..Intensities::default()
        }
    );
    assert_eq!(size.answered, 3);
    assert_eq!(size.consumption_rate, Some(0.75));
    // One finding of each issue: the last word on the second one is the rejection.
    assert_eq!((size.fates.findings, size.fates.dismissed), (2, 2));
    assert_eq!(size.dismissal_rate, Some(1.0));
    assert_eq!((size.fates.repaired, size.mean_time_to_repair_s), (0, None));

    let tests = &binding(&stats, "tests").figures;
    assert_eq!((tests.triggered, tests.errors, tests.timeouts), (4, 2, 1));
    assert_eq!(
        tests.signals,
        Intensities {
            prompt: 2,
            aid: 1,
            ..Intensities::default()
        }
    );
    assert_eq!((tests.fates.findings, tests.fates.repaired), (0, 0));
    assert_eq!(tests.p50_us, Some(70));
}

/// Pieces of a long log are counted at once: whatever falls on their borders, the figures are those of the whole.
#[test]
fn a_long_log_is_counted_as_one() {
    const LIVES: u32 = 1000;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("signals.jsonl");
    let mut life = Life::new(&path);
    for n in 0..i64::from(LIVES) {
        let start = n * 1000;
        let first = life.give(start, "checklist", Intensity::Block, 100);
        life.give(start + 50, "checklist", Intensity::Block, 200);
        life.answer_as(start + 50, "checklist", first, Action::RetryAfterFix, true);
        life.answer(start + 60, "checklist", first, Action::ProceedWithRisk);
        life.source = ".ahp/hooks.yaml:9";
        life.accept(start + 100, "checklist", 300);
    }
    let reader = Reader::open(&path).unwrap();
    assert!(reader.size() > 2 << 20, "{}", reader.size());
    let stats = Stats::collect(&reader, &Filter::default()).unwrap();
    let lives = u64::from(LIVES);
    assert_eq!((stats.records, stats.evaluations), (lives * 7, lives * 3));
    let checklist = binding(&stats, "checklist");
    // The place is the latest.
    assert_eq!(checklist.source, ".ahp/hooks.yaml:9");
    let figures = &checklist.figures;
    assert_eq!(
        (figures.fates.repaired, figures.mean_tries),
        (lives, Some(3.0))
    );
    assert_eq!(figures.mean_time_to_repair_s, Some(100.0));
    assert_eq!(figures.responses, [("proceed_with_risk", lives)].into());
    assert_eq!((figures.answered, figures.inferred), (lives, 0));
    assert_eq!((figures.p50_us, figures.p99_us), (Some(200), Some(300)));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Whatever was done to a log, all readers count the same records of it, and no other line.
    #[test]
    fn all_readers_count_the_same_records_of_a_damaged_log(
        damage in proptest::collection::vec((0..40_000_usize, proptest::prelude::any::<u8>()), 0..12),
        taken_out in proptest::collection::vec(0..40_usize, 0..3),
        put_in in proptest::collection::vec((0..40_usize, 0..40_usize), 0..3),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("signals.jsonl");
        story(&mut Life::new(&path));
        let mut log = std::fs::read(&path).unwrap();
        for (at, byte) in damage {
            let at = at % log.len();
            log[at] = byte;
        }
        let mut lines: Vec<_> = log.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        for at in taken_out {
            lines.remove(at % lines.len());
        }
        for (from, to) in put_in {
            let copy = lines[from % lines.len()].clone();
            lines.insert(to % lines.len(), copy);
        }
        std::fs::write(&path, lines.join(&b'\n')).unwrap();
        let reader = Reader::open(&path).unwrap();
        let counted: Vec<u64> = reader.records().filter_map(Result::ok).map(|r| r.seq).collect();
        proptest::prop_assert!(counted.is_sorted_by(|a, b| a < b), "{counted:?}");
        let stats = Stats::collect(&reader, &Filter::default()).unwrap();
        proptest::prop_assert_eq!(stats.records, counted.len() as u64);
        let mut listed = Vec::new();
        ahp::analysis::each_line(&reader, |_, line| {
            listed.push(line.seq);
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
        proptest::prop_assert_eq!(&listed, &counted);
        let mut newest = Vec::new();
        reader
            .newest_first(|_, line| {
                newest.push(line.seq);
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        newest.reverse();
        proptest::prop_assert_eq!(newest, counted);
    }
}

#[test]
fn every_figure_of_a_group_is_right() {
    let stats = stats(story);
    assert_eq!(stats.evaluations, 14);
    assert_eq!(stats.records, 14 + 10 + 7);
    assert_eq!(
        serde_json::to_value(&stats.decisions).unwrap(),
        json!({"none": 4, "allow": 7, "ask": 0, "block": 3})
    );
    let groups = |groups: &[ahp::analysis::GroupStats]| -> Vec<_> {
        let seen = groups.iter().map(|g| {
            let signals = g.signals.total();
            (
                g.name.clone(),
                g.evaluations,
                g.stopped,
                signals,
                g.answered,
                g.fates.repaired,
            )
        });
        seen.collect()
    };
    assert_eq!(
        groups(&stats.issues),
        [
            ("FEAT-0123".to_owned(), 5, 2, 3, 3, 1),
            ("FEAT-0200".to_owned(), 9, 1, 7, 3, 1)
        ]
    );
    assert_eq!(stats.issues[0].mean_time_to_repair_s, Some(900.0));
    assert_eq!(
        groups(&stats.days),
        [
            ("2026-02-09".to_owned(), 5, 2, 3, 3, 1),
            ("2026-02-10".to_owned(), 9, 1, 7, 3, 1)
        ]
    );
    // What is answered and repaired is so wherever its signals were given.
    assert_eq!(
        groups(&stats.hosts),
        [
            ("claude-code".to_owned(), 5, 2, 3, 3, 1),
            ("codex".to_owned(), 9, 1, 7, 3, 1)
        ]
    );
    let oracles: Vec<_> = stats
        .oracles
        .iter()
        .map(|o| (o.name.as_str(), o.figures.triggered))
        .collect();
    assert_eq!(
        oracles,
        [
            ("checklist-oracle", 5),
            ("size-oracle", 5),
            ("tests-oracle", 4)
        ]
    );
}

#[test]
fn json_has_the_keys_of_the_specification() {
    let stats = serde_json::to_value(stats(story)).unwrap();
    assert_eq!(
        stats["signals"],
        json!({"block": 3, "control": 1, "prompt": 5, "aid": 1})
    );
    assert_eq!(stats["responses"]["dismiss"], 1);
    let binding = &stats["bindings"][0];
    for key in [
        "id",
        "hook",
        "oracle",
        "triggered",
        "accepted",
        "signals",
        "consumption_rate",
        "dismissal_rate",
        "override_rate",
        "mean_time_to_repair_s",
        "mean_tries",
        "errors",
        "timeouts",
        "p50_us",
        "p99_us",
    ] {
        assert!(binding.get(key).is_some(), "{key}");
    }
}

#[test]
fn filters_leave_out_what_is_not_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("signals.jsonl");
    story(&mut Life::new(&path));
    let reader = Reader::open(path).unwrap();
    let count = |filter: Filter| Stats::collect(&reader, &filter).unwrap();
    let of_issue = count(Filter {
        issue: Some("FEAT-0123".to_owned()),
        ..Filter::default()
    });
    assert_eq!((of_issue.evaluations, of_issue.signals.total()), (5, 3));
    let of_binding = count(Filter {
        binding: Some("size".to_owned()),
        ..Filter::default()
    });
    assert_eq!(of_binding.signals.total(), 4);
    // What answers others' signals is not counted: acknowledged, dismissed, rejected.
    assert_eq!(
        (of_binding.bindings.len(), of_binding.total.answered),
        (1, 3)
    );
    let of_oracle = count(Filter {
        oracle: Some("size-oracle".to_owned()),
        ..Filter::default()
    });
    assert_eq!((of_oracle.bindings.len(), of_oracle.total.answered), (1, 3));
    let controls = count(Filter {
        intensity: Some(Intensity::Control),
        ..Filter::default()
    });
    assert_eq!((controls.signals.total(), controls.total.answered), (1, 1));
    // Neither the host nor the oracle stands in an answer: it is counted where its signal is.
    let of_host = count(Filter {
        host: Some("codex".to_owned()),
        ..Filter::default()
    });
    assert_eq!((of_host.evaluations, of_host.total.answered), (9, 3));
    assert_eq!(of_host.total.consumption_rate, Some(0.4286));
    // An oracle's events are those that it judged.
    assert_eq!((of_oracle.evaluations, of_oracle.records), (5, 5 + 4 + 3));
    // What was given until then and answered later is answered, as `log show` shows it.
    let until = count(Filter {
        until: Some(super::making::at(1005)),
        ..Filter::default()
    });
    assert_eq!((until.signals.total(), until.total.answered), (3, 3));
    let since = count(Filter {
        since: Some(super::making::at(86_400)),
        ..Filter::default()
    });
    assert_eq!(since.evaluations, 9);
}

/// Each fate that a finding can have, told by what happened, not by how often it was said.
#[test]
fn every_finding_has_the_fate_that_the_records_tell() {
    let stats = stats(|life| {
        life.hook = "pre-tool-use";
        life.issue = None;
        let acts_on = |life: &mut Life, object: &str| life.object = Some(object.to_owned());
        // Another command between is not a repair, and asking thrice is one finding.
        for second in 0..3 {
            acts_on(life, "npm publish");
            life.give(second * 10, "shell", Intensity::Block, 5);
            acts_on(life, "ls");
            life.accept(second * 10 + 1, "shell", 5);
        }
        // A warning that nobody heeded.
        acts_on(life, "git push");
        life.give(40, "shell", Intensity::Prompt, 5);
        // The same file is written again, without what was found; the agent wanted to stop in between.
        acts_on(life, "src/a.rs");
        life.give(50, "shell", Intensity::Block, 5);
        life.pass(60, "pre-agent-turn-stop");
        life.accept(110, "shell", 5);
        // An answer that held it back.
        acts_on(life, "cargo publish");
        let risk = life.give(120, "shell", Intensity::Block, 5);
        life.answer(121, "shell", risk, Action::ProceedWithRisk);
        life.accept_waived(122, "shell", risk);
        life.pass(130, "post-session");
        // Of a session that is still at work it is not known yet.
        life.session = "s2".to_owned();
        acts_on(life, "npm publish");
        life.give(140, "shell", Intensity::Block, 5);
    });
    let shell = &binding(&stats, "shell").figures;
    let fates = shell.fates;
    assert_eq!((fates.findings, fates.open()), (5, 1));
    assert_eq!(
        (fates.repaired, fates.overridden, fates.dismissed),
        (1, 1, 0)
    );
    assert_eq!((fates.heeded, fates.ignored), (1, 1));
    assert_eq!(shell.mean_time_to_repair_s, Some(60.0));
    assert_eq!((shell.mean_tries, shell.mean_turns), (Some(2.0), Some(1.0)));
    let first = &stats.findings[0];
    assert_eq!(first.object.as_deref(), Some("npm publish"));
    assert_eq!((first.fates.findings, first.signals.block), (2, 4));
    assert_eq!(stats.rules.len(), 1);
    assert_eq!(stats.rules[0].fates, fates);
    let sessions: Vec<_> = stats.sessions.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(sessions, ["s1", "s2"]);
}

/// A session that says no more for a day is over, whether or not its host tells of an end.
#[test]
fn silence_ends_a_session() {
    let lived = |seconds: i64| {
        stats(|life| {
            (life.hook, life.issue) = ("pre-tool-use", None);
            life.object = Some("git push".to_owned());
            life.give(0, "shell", Intensity::Prompt, 5);
            life.session = "s2".to_owned();
            life.accept(seconds, "shell", 5);
        })
        .total
        .fates
    };
    assert_eq!((lived(3600).open(), lived(3600).ignored), (1, 0));
    assert_eq!((lived(90_000).open(), lived(90_000).ignored), (0, 1));
}

/// A day without events has its place among the others.
#[test]
fn every_day_is_on_the_axis() {
    let stats = stats(|life| {
        life.accept(0, "shell", 5);
        life.accept(3 * 86_400, "shell", 5);
    });
    let days: Vec<_> = stats
        .days
        .iter()
        .map(|day| (day.name.as_str(), day.evaluations))
        .collect();
    assert_eq!(
        days,
        [
            ("2026-02-09", 1),
            ("2026-02-10", 0),
            ("2026-02-11", 0),
            ("2026-02-12", 1)
        ]
    );
}

#[test]
fn an_empty_log_has_no_figures() {
    let stats = stats(|_| {});
    assert_eq!((stats.records, stats.bindings.len()), (0, 0));
    assert_eq!(stats.total.consumption_rate, None);
}
