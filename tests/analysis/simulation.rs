//! Advice on made-up months of which the right advice is known: how much of what it says is right, and how much of what is
//! right it says.
//!
//! `cargo test --test main -- analysis::simulation --nocapture` prints the figures that stand in `docs/signal-log.md`.

use std::collections::BTreeSet;
use std::path::Path;

use ahp::analysis::{Change, Filter, Stats, advise};
use ahp::config::{Config, LayerSource};
use ahp::danger::{CommandPattern, Selection, judge};
use ahp::shell::{Surroundings, analyse};
use ahp::signal::{Action, Actor, Intensity};
use ahp::signal_log::Reader;

use super::making::Life;

const SEEDS: u64 = 20;

const POLICY: &str = "\
hooks:
  pre-tool-use:
    - {oracle: PermissionChecker, id: shell, override: true}
  pre-issue-submit:
    - {oracle: ChecklistValidator, id: checklist}
    - {oracle: FileChangeLimiter, id: size}
    - {oracle: TestGate, id: tests}
  post-issue-start:
    - {oracle: ContextLoader, id: context}
";

/// Chance that repeats itself.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    fn percent(&mut self, rate: u64) -> bool {
        self.below(100) < rate
    }
}

/// A month as it is told: when it is, and in which session.
struct Month<'l> {
    life: &'l mut Life,
    chance: Chance,
    seconds: i64,
}

impl Month<'_> {
    fn session(&mut self) {
        self.seconds += i64::try_from(self.chance.between(3600, 9000)).unwrap();
        self.life.session = format!("s{}", self.seconds);
    }

    fn wait(&mut self, seconds: u64) -> i64 {
        self.seconds += i64::try_from(seconds).unwrap();
        self.seconds
    }

    fn at(&mut self, hook: &'static str, oracle: &'static str, rule: &'static str, object: &str) {
        (self.life.hook, self.life.oracle, self.life.rule) = (hook, Some(oracle), rule);
        self.life.object = (!object.is_empty()).then(|| object.to_owned());
    }

    fn shell(&mut self, rule: &'static str, command: &str) {
        self.at("pre-tool-use", "permission-checker", rule, command);
    }

    fn submit(&mut self, oracle: &'static str) {
        self.at("pre-issue-submit", oracle, "finding", "");
    }

    /// Everyday life, of which nothing is to be learnt.
    fn everyday(&mut self) {
        for _ in 0..self.chance.between(10, 25) {
            self.session();
            self.shell("git", "cargo test");
            let now = self.wait(5);
            self.life.accept(now, "shell", 900);
        }
    }

    /// A block that a person lifts, or that is heeded.
    fn block(&mut self, binding: &str, is_lifted: bool) {
        let now = self.wait(2);
        let id = self.life.give(now, binding, Intensity::Block, 900);
        if is_lifted {
            let now = self.wait(20);
            self.life.answer(now, binding, id, Action::ProceedWithRisk);
            self.life.accept_waived(now + 5, binding, id);
        }
    }

    /// A finding that is repaired after some time and tries.
    fn repair(&mut self, binding: &str, intensity: Intensity, seconds: u64, tries: u64) {
        for _ in 0..tries {
            let now = self.wait(seconds / tries);
            self.life.give(now, binding, intensity, 900);
        }
        let now = self.wait(seconds / tries);
        self.life.accept(now, binding, 900);
    }
}

type Advice = BTreeSet<(String, String, Option<String>)>;

fn advice(rule: &str, binding: &str, object: &str) -> (String, String, Option<String>) {
    let object = (!object.is_empty()).then(|| object.to_owned());
    (rule.to_owned(), binding.to_owned(), object)
}

/// What a month was like: its name, how it went, and which advice is right.
type Pattern = (
    &'static str,
    fn(&mut Month<'_>),
    &'static [(&'static str, &'static str, &'static str)],
);

const PATTERNS: &[Pattern] = &[
    (
        "a command that people let through",
        |m| {
            for _ in 0..m.chance.between(12, 30) {
                m.session();
                m.shell("npm:publish", "npm publish");
                let is_lifted = m.chance.percent(95);
                m.block("shell", is_lifted);
            }
        },
        &[("allow-command", "shell", "npm publish")],
    ),
    (
        "a command that the agent lets through itself",
        |m| {
            m.life.by = Actor::Agent;
            for _ in 0..m.chance.between(12, 30) {
                m.session();
                m.shell("npm:publish", "npm publish");
                m.block("shell", true);
            }
        },
        &[],
    ),
    (
        "a gate that the agent overrides itself",
        |m| {
            m.life.by = Actor::Agent;
            for _ in 0..m.chance.between(12, 30) {
                m.session();
                m.submit("file-change-limiter");
                m.block("size", true);
            }
        },
        &[],
    ),
    (
        "a command that people let through at times",
        |m| {
            for _ in 0..m.chance.between(12, 30) {
                m.session();
                m.shell("npm:publish", "npm publish");
                let is_lifted = m.chance.percent(30);
                m.block("shell", is_lifted);
            }
        },
        &[],
    ),
    (
        "a command that was let through a few times",
        |m| {
            for _ in 0..m.chance.between(2, 5) {
                m.session();
                m.shell("npm:publish", "npm publish");
                m.block("shell", true);
            }
        },
        &[],
    ),
    (
        "two commands of one rule, one of them let through",
        |m| {
            for _ in 0..m.chance.between(12, 25) {
                m.session();
                m.shell("git:push-force", "git push --force origin topic");
                m.block("shell", true);
                m.shell("git:push-force", "git push --force origin main");
                m.block("shell", false);
            }
        },
        &[("allow-command", "shell", "git push --force origin topic")],
    ),
    (
        "one session that tries the same thing over and over",
        |m| {
            m.session();
            m.shell("npm:publish", "npm publish");
            for _ in 0..40 {
                m.block("shell", false);
            }
            m.block("shell", true);
        },
        &[],
    ),
    (
        "many commands, each let through once",
        |m| {
            for n in 0..m.chance.between(20, 40) {
                m.session();
                m.shell("filesystem:remove", &format!("rm -r build-{n}"));
                m.block("shell", true);
            }
        },
        &[],
    ),
    (
        "blocks that are heeded",
        |m| {
            for _ in 0..m.chance.between(20, 40) {
                m.session();
                m.shell("git:push-force", "git push --force");
                m.block("shell", false);
            }
        },
        &[],
    ),
    (
        "a gate that is repaired in minutes",
        |m| {
            for _ in 0..m.chance.between(15, 30) {
                m.session();
                m.submit("checklist-validator");
                let seconds = m.chance.between(60, 900);
                let tries = m.chance.between(1, 2);
                m.repair("checklist", Intensity::Block, seconds, tries);
            }
        },
        &[],
    ),
    (
        "a gate that takes long to repair",
        |m| {
            for _ in 0..m.chance.between(15, 30) {
                m.session();
                m.submit("checklist-validator");
                let seconds = if m.chance.percent(85) { 7200 } else { 300 };
                m.repair("checklist", Intensity::Block, seconds, 2);
            }
        },
        &[("blind-spot", "checklist", "")],
    ),
    (
        "a gate that takes long now and then",
        |m| {
            for _ in 0..m.chance.between(15, 30) {
                m.session();
                m.submit("checklist-validator");
                let seconds = if m.chance.percent(20) { 7200 } else { 300 };
                m.repair("checklist", Intensity::Block, seconds, 1);
            }
        },
        &[],
    ),
    (
        "a gate that is mostly overridden",
        |m| {
            for _ in 0..m.chance.between(25, 40) {
                m.session();
                m.submit("checklist-validator");
                let is_lifted = m.chance.percent(80);
                m.block("checklist", is_lifted);
            }
        },
        &[("overridden", "checklist", "")],
    ),
    (
        "warnings that nobody heeds",
        |m| {
            for _ in 0..m.chance.between(25, 40) {
                m.session();
                m.submit("file-change-limiter");
                let now = m.wait(2);
                m.life.give(now, "size", Intensity::Prompt, 900);
            }
            m.wait(172_800);
        },
        &[("noise", "size", "")],
    ),
    (
        "warnings of which most are heeded",
        |m| {
            for _ in 0..m.chance.between(25, 40) {
                m.session();
                m.submit("file-change-limiter");
                if m.chance.percent(70) {
                    m.repair("size", Intensity::Prompt, 200, 1);
                } else {
                    let now = m.wait(2);
                    m.life.give(now, "size", Intensity::Prompt, 900);
                }
            }
            m.wait(172_800);
        },
        &[],
    ),
    (
        "a guard without an occasion",
        |m| {
            for _ in 0..m.chance.between(60, 100) {
                m.session();
                let now = m.wait(1);
                m.life.pass(now, "pre-issue-submit");
            }
        },
        &[],
    ),
    (
        "tests that run out of time",
        |m| {
            m.submit("test-gate");
            for n in 0..m.chance.between(50, 90) {
                m.session();
                let now = m.wait(30);
                if n % 5 == 0 || m.chance.percent(5) {
                    m.life.fail(
                        now,
                        "tests",
                        "timed out: took longer than its timeout of 30s",
                    );
                } else {
                    m.life.accept(now, "tests", 9_000_000);
                }
            }
        },
        &[("times-out", "tests", "")],
    ),
    (
        "tests that ran out of time once",
        |m| {
            m.submit("test-gate");
            for n in 0..m.chance.between(50, 90) {
                m.session();
                let now = m.wait(30);
                if n == 20 {
                    m.life.fail(
                        now,
                        "tests",
                        "timed out: took longer than its timeout of 30s",
                    );
                } else {
                    m.life.accept(now, "tests", 9_000_000);
                }
            }
        },
        &[],
    ),
    (
        "tests that fail to run",
        |m| {
            m.submit("test-gate");
            for n in 0..m.chance.between(50, 90) {
                m.session();
                let now = m.wait(30);
                if n % 5 == 0 || m.chance.percent(5) {
                    m.life.fail(now, "tests", "cargo is not installed");
                } else {
                    m.life.accept(now, "tests", 9_000_000);
                }
            }
        },
        &[("flaky", "tests", "")],
    ),
    (
        "slow advice",
        |m| {
            m.at("post-issue-start", "context-loader", "context", "");
            for _ in 0..m.chance.between(25, 40) {
                m.session();
                let now = m.wait(10);
                let is_slow = m.chance.percent(85);
                m.life.give(
                    now,
                    "context",
                    Intensity::Aid,
                    if is_slow { 4_000_000 } else { 90_000 },
                );
            }
        },
        &[("slow", "context", "")],
    ),
];

/// Advice that is right for one command is wrong where it lets others pass.
fn assert_no_neighbour_passes(allowed: &str) {
    let selection = |list: &[&str]| Selection {
        dangerous: vec![
            CommandPattern::new("npm publish"),
            CommandPattern::new("git push"),
        ],
        allowed: list.iter().map(|c| CommandPattern::new(c)).collect(),
        ..Selection::default()
    };
    let passes = |command: &str, list: &[&str]| {
        judge(&analyse(command, Surroundings::default()), &selection(list)).is_empty()
    };
    let own = allowed.trim_start_matches('=');
    assert!(!passes(own, &[]) && passes(own, &[allowed]), "{allowed}");
    for neighbour in [
        format!("{own} +main:main"),
        format!("{own} --mirror"),
        format!("{own} --all"),
        format!("{own} ./x"),
        format!("sudo {own}"),
        format!("{own} > out"),
    ] {
        assert!(!passes(&neighbour, &[allowed]), "{allowed}: {neighbour}");
    }
}

fn given(pattern: fn(&mut Month<'_>), seed: u64) -> Advice {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("signals.jsonl");
    let mut life = Life::new(&path);
    life.issue = None;
    let mut month = Month {
        life: &mut life,
        chance: Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1),
        seconds: 0,
    };
    month.everyday();
    pattern(&mut month);
    month.everyday();
    let stats = Stats::collect(&Reader::open(path).unwrap(), &Filter::default()).unwrap();
    let layer = [(LayerSource::Project, ".ahp/hooks.yaml", POLICY)];
    let loaded = Config::from_layers(&layer, Path::new("."));
    advise(&stats, &loaded.config, &loaded.sources)
        .into_iter()
        .map(|p| {
            if let Some(Change::Allow { command }) = &p.change {
                assert_no_neighbour_passes(command);
            }
            (
                p.rule.to_owned(),
                p.binding,
                p.finding.and_then(|(_, object)| object),
            )
        })
        .collect()
}

#[test]
fn advice_on_made_up_months_is_right() {
    let (mut right, mut wrong, mut missed) = (0_u64, 0_u64, 0_u64);
    for (name, pattern, expected) in PATTERNS {
        let expected: Advice = expected.iter().map(|(r, b, o)| advice(r, b, o)).collect();
        let (mut wrong_here, mut missed_here) = (0_u64, 0_u64);
        for seed in 1..=SEEDS {
            let given = given(*pattern, seed);
            right += given.intersection(&expected).count() as u64;
            wrong_here += given.difference(&expected).count() as u64;
            missed_here += expected.difference(&given).count() as u64;
        }
        println!("{name}: {wrong_here} wrong, {missed_here} missed");
        wrong += wrong_here;
        missed += missed_here;
    }
    println!(
        "{} patterns, {SEEDS} months each: precision {right}/{}, recall {right}/{}",
        PATTERNS.len(),
        right + wrong,
        right + missed
    );
    // A change of the rules that makes them worse is seen here before a user sees it.
    assert!(
        right * 100 >= (right + wrong) * 97,
        "{wrong} wrong of {}",
        right + wrong
    );
    assert!(
        right * 100 >= (right + missed) * 90,
        "{missed} missed of {}",
        right + missed
    );
}
