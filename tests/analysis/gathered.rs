//! `--sums`: the figures of many machines, from rows as `fleet/sums.py LAKE all` writes them.

use ahp::analysis::Stats;
use serde_json::{Value, json};

use crate::world::World;

/// Two teams with one binding; the figures of both are those of each added up.
fn rows() -> Vec<Value> {
    let binding = |by: &str, grp: &str, runs: u64, findings: u64, repaired: u64| {
        let mut row = json!({
            "sums": "bindings", "by": by, "grp": grp, "hook": "pre-tool-use", "binding": "size", "oracle": "file-change-limiter",
            "source": ".ahp/hooks.yaml:3", "triggered": runs, "accepted": runs - findings, "signalled": findings, "slow_runs": 1,
            "prompts": findings, "retry_after_fix": repaired, "dismiss": findings - repaired, "findings": findings,
            "dismissed": findings - repaired, "repaired": repaired, "occasions": findings, "repair_ms": repaired * 90_000, "tries": repaired * 2,
            "in_1m": 0, "p50_us": 40, "p99_us": 900,
        });
        for class in ["in_5m", "in_15m", "in_1h", "in_4h", "in_1d"] {
            row[class] = json!(repaired);
        }
        for none in [
            "errors",
            "timeouts",
            "blocks",
            "controls",
            "aids",
            "proceed_with_risk",
            "abort",
            "accept_modification",
            "reject_modification",
            "acknowledge",
            "apply_suggestion",
            "suggestion_applied",
            "suggestion_deferred",
            "inferred",
            "refused",
            "overridden",
            "overridden_by_agent",
            "dismissed_by_agent",
            "heeded",
            "ignored",
            "hard_repairs",
        ] {
            row[none] = json!(0);
        }
        row
    };
    let group = |by: &str, grp: &str, evaluations: u64| {
        json!({
            "sums": "groups", "by": by, "grp": grp, "evaluations": evaluations, "stopped": 2, "blocks": 0, "controls": 0,
            "prompts": 3, "aids": 0, "answered": 3, "findings": 3, "occasions": 3, "repaired": 1, "overridden": 0,
            "overridden_by_agent": 0, "dismissed": 2, "dismissed_by_agent": 0, "heeded": 0, "ignored": 0, "repair_ms": 90_000, "first_ms": 1_770_000_000_000_u64, "last_ms": 1_770_000_900_000_u64,
        })
    };
    vec![
        binding("", "", 500, 60, 4),
        json!({
            "sums": "rules", "by": "", "grp": "", "hook": "pre-tool-use", "binding": "size", "rule": "files", "blocks": 0,
            "controls": 0, "prompts": 60, "aids": 0, "findings": 60, "occasions": 60, "repaired": 4, "overridden": 0,
            "overridden_by_agent": 0, "dismissed": 56, "dismissed_by_agent": 16, "heeded": 0, "ignored": 0,
        }),
        json!({"sums": "events", "by": "", "grp": "", "hook": "pre-tool-use", "decision": "none", "evaluations": 440}),
        json!({"sums": "events", "by": "", "grp": "", "hook": "pre-tool-use", "decision": "ask", "evaluations": 60}),
        json!({"sums": "gaps", "by": "", "log_id": "l1", "first_seq": 1, "last_seq": 9, "missing": 2, "doubled": 0}),
        json!({"sums": "silent", "by": "", "machine": "m7", "last_ms": 1_770_000_000_000_u64}),
        binding("policy", "acme@41+aa", 300, 50, 1),
        binding("policy", "acme@42+bb", 200, 10, 3),
        group("policy", "acme@41+aa", 300),
        group("policy", "acme@42+bb", 200),
        group("team", "", 500),
        binding("team", "", 500, 60, 4),
        group("day", "2026-02-09", 250),
        group("day", "2026-02-11", 250),
        json!({"sums": "records", "by": "", "records": 600, "logs": 3, "machines": 2, "first_ms": 1_770_000_000_000_u64, "last_ms": 1_770_000_900_000_u64}),
    ]
}

fn text(rows: &[Value]) -> String {
    let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

#[test]
fn the_rows_become_the_figures_that_a_log_gives() {
    let stats = Stats::of_sums(&text(&rows())).unwrap();
    assert_eq!((stats.records, stats.evaluations), (600, 500));
    assert_eq!(stats.decisions["ask"], 60);
    assert_eq!(stats.hooks["pre-tool-use"], 500);
    let size = &stats.bindings[0];
    assert_eq!((size.id.as_str(), size.figures.triggered), ("size", 500));
    assert_eq!(size.figures.mean_time_to_repair_s, Some(90.0));
    assert_eq!(size.figures.mean_tries, Some(2.0));
    assert_eq!(size.figures.consumption_rate, Some(1.0));
    assert_eq!(
        (size.figures.p50_us, size.figures.p99_us),
        (Some(40), Some(900))
    );
    assert_eq!(size.figures.repair_times, [0, 4, 0, 0, 0, 0, 0]);
    assert_eq!(stats.oracles[0].figures.fates.findings, 60);
    let fates = stats.rules[0].fates;
    assert_eq!((fates.dismissed, fates.by_agent()), (56, 16));
    assert_eq!(fates.occasions, 60);
    // The day without records is there too.
    let days: Vec<_> = stats.days.iter().map(|day| day.evaluations).collect();
    assert_eq!(days, [250, 0, 250]);
    let gathered = stats.gathered.unwrap();
    assert_eq!((gathered.machines, gathered.logs), (2, 3));
    let versions: Vec<_> = gathered
        .policies
        .iter()
        .map(|part| part.group.name.as_str())
        .collect();
    assert_eq!(versions, ["acme@41+aa", "acme@42+bb"]);
    assert_eq!(gathered.policies[1].bindings[0].figures.fates.repaired, 3);
    assert_eq!(
        (
            gathered.gaps[0].missing,
            gathered.silent[0].machine.as_str()
        ),
        (2, "m7")
    );
}

#[test]
fn rows_that_are_not_whole_are_told_by_line_and_key() {
    let changed = |line: usize, key: &str, value: Value| {
        let mut rows = rows();
        rows[line - 1][key] = value;
        text(&rows)
    };
    let mut torn = text(&rows());
    torn.truncate(torn.len() - 40);
    let mut without_end = rows();
    without_end.pop();
    let mut twice = rows();
    twice.push(twice[twice.len() - 1].clone());
    for (text, told) in [
        (
            changed(1, "blocks", json!(-1)),
            "line 1: expected a whole number, 0 or more, at `blocks`",
        ),
        (
            changed(1, "hook", json!(3)),
            "line 1: expected a text at `hook`",
        ),
        (
            changed(4, "decision", json!("maybe")),
            "line 4: `maybe` is not a decision",
        ),
        (
            changed(6, "last_ms", Value::Null),
            "line 6: expected milliseconds since 1970 at `last_ms`",
        ),
        (
            changed(2, "sums", json!("dogs")),
            "line 2: `dogs` is not a known kind of sums",
        ),
        (torn, "line 15: no row of `fleet/sums.py LAKE all`"),
        (text(&without_end), "that of the `records` is not there"),
        (text(&twice), "line 16: a second row of the `records`"),
        (String::new(), "that of the `records` is not there"),
        ("no json\n".to_owned(), "line 1: no row of"),
        ("[1]\n".to_owned(), "line 1: no row of"),
    ] {
        let fault = Stats::of_sums(&text).unwrap_err();
        assert!(fault.contains(told), "{told}: {fault}");
    }
}

fn world() -> World {
    let world = World::new("hooks: {pre-tool-use: [{oracle: FileChangeLimiter, id: size}]}");
    world.write("sums.ndjson", text(&rows()));
    world
}

fn run(world: &World, arguments: &[&str]) -> (i32, String) {
    let ran = world.ahp(arguments);
    (ran.code, format!("{}{}", ran.stdout, ran.stderr))
}

#[test]
fn versions_of_a_policy_stand_side_by_side() {
    let (code, told) = run(
        &world(),
        &["log", "stats", "--sums", "sums.ndjson", "--by", "policy"],
    );
    assert_eq!(code, 0, "{told}");
    for part in [
        "2 machines, 500 events",
        "acme@41+aa",
        "acme@42+bb",
        "2 records are missing from 1 log",
        "1 machine sent nothing",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // A directory of such files says the same.
    let (_, of_directory) = run(&world(), &["log", "stats", "--sums", ".", "--by", "policy"]);
    assert_eq!(of_directory, told);
}

#[test]
fn holes_and_silent_machines_are_named() {
    for (by, part) in [
        ("gaps", "l1"),
        ("silent", "m7"),
        ("team", "size"),
        ("day", "2026-02-11"),
        ("rule", "files"),
    ] {
        let (code, told) = run(
            &world(),
            &["log", "stats", "--sums", "sums.ndjson", "--by", by],
        );
        assert!(code == 0 && told.contains(part), "{by}: {told}");
    }
}

#[test]
fn advice_and_report_are_of_many_machines_too() {
    let world = world();
    let (code, told) = run(&world, &["log", "advise", "--sums", "sums.ndjson"]);
    assert!(
        code == 0 && told.contains("noise: size at pre-tool-use"),
        "{told}"
    );
    assert!(
        told.contains("60 findings of `files`, 56 dismissed"),
        "{told}"
    );
    let (code, told) = run(
        &world,
        &["log", "report", "--sums", "sums.ndjson", "-o", "-"],
    );
    assert_eq!(code, 0, "{told}");
    for part in [
        "Signals of 2 machines",
        "<h2>Policies</h2>",
        "acme@42+bb",
        "What is missing",
        "m7",
    ] {
        assert!(told.contains(part), "{part}");
    }
}

#[test]
fn what_agents_answered_and_what_came_at_once_is_no_advice_over_many_machines_either() {
    // What is blocked, so that it would be advice to ask instead; and what is dismissed, so that it would be noise.
    for (changes, expected) in [
        (
            json!({"blocks": 60, "prompts": 0, "overridden": 56, "dismissed": 0}),
            Some("56 overridden by people"),
        ),
        (
            json!({"blocks": 60, "prompts": 0, "overridden": 56, "overridden_by_agent": 56, "dismissed": 0}),
            None,
        ),
        (
            json!({"blocks": 60, "prompts": 0, "overridden": 56, "dismissed": 0, "occasions": 2}),
            None,
        ),
        (json!({}), Some("56 dismissed")),
        (json!({"occasions": 2}), None),
    ] {
        let mut rows = rows();
        for (key, value) in changes.as_object().unwrap() {
            rows[1][key] = value.clone();
        }
        rows[1]["dismissed_by_agent"] = json!(0);
        let world = world();
        world.write("sums.ndjson", text(&rows));
        let (_, told) = run(&world, &["log", "advise", "--sums", "sums.ndjson"]);
        match expected {
            Some(expected) => assert!(told.contains(expected), "{changes}: {told}"),
            None => assert!(!told.contains("60 findings"), "{changes}: {told}"),
        }
    }
}

#[test]
fn a_group_of_signals_alone_has_no_time() {
    let mut rows = rows();
    let day = rows.iter().position(|row| row["by"] == "day").unwrap();
    rows[day]["first_ms"] = Value::Null;
    rows[day]["last_ms"] = Value::Null;
    let stats = Stats::of_sums(&text(&rows)).unwrap();
    assert_eq!((stats.days[0].first, stats.days[0].last), (None, None));
}

#[test]
fn what_sums_do_not_have_is_said() {
    let world = world();
    for (arguments, told) in [
        (
            &["stats", "--by", "team"][..],
            "`--sums FILE` gives their figures",
        ),
        (
            &["stats", "--sums", "sums.ndjson", "--by", "session"],
            "is not gathered",
        ),
        (
            &["stats", "--sums", "sums.ndjson", "--since", "2d"],
            "cannot be used with",
        ),
        (
            &["advise", "--sums", "sums.ndjson", "--apply", "--yes"],
            "so nothing is changed by them",
        ),
        (&["stats", "--sums", "nowhere.ndjson"], "`nowhere.ndjson`"),
        (
            &["stats", "--log", "x", "--sums", "sums.ndjson"],
            "name two sources",
        ),
    ] {
        let (code, said) = run(&world, &[&["log"], arguments].concat());
        assert!(code != 0 && said.contains(told), "{arguments:?}: {said}");
    }
}
