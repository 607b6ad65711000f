//! The rules as data: the program's own are sound and written in one form; files of a user's own are checked whole.

use std::collections::BTreeSet;

use ahp::danger::{NothingKnown, PRESETS, RuleFile, Selection, all_rules, check, judge, near};
use ahp::shell::{Surroundings, analyse};
use serde_json::{Value, json};

use super::known::repository;

/// Returns each file of rules of the program with its name.
fn files() -> Vec<(String, String)> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/policies/rules");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), text)
        })
        .collect();
    files.sort();
    files
}

#[test]
fn the_rules_of_the_program_are_sound() {
    for (name, text) in files() {
        let faults = check(name.trim_end_matches(".rules"), &text);
        assert!(faults.is_empty(), "{name}: {faults:#?}");
    }
    let rules = all_rules();
    assert!(rules.len() > 400, "only {} rules", rules.len());
    for preset in PRESETS {
        assert!(rules.iter().any(|rule| rule.preset == *preset), "{preset}");
    }
    // Several files may make one preset.
    let mut ids = BTreeSet::new();
    for rule in rules {
        assert!(ids.insert(&rule.id), "`{}` stands twice", rule.id);
    }
}

/// The form: one blank where there is one, two at the start of what belongs to a rule, a blank line before a section and
/// its comment and nowhere else, patterns before `unless:` before
/// `why:` before `try:`.
#[test]
fn the_rules_of_the_program_are_written_in_one_form() {
    let mut wrong = Vec::new();
    for (name, text) in files() {
        assert!(text.starts_with("# ") && text.ends_with('\n'), "{name}");
        let mut before = "";
        for (number, line) in (1..).zip(text.lines()) {
            let inner = line.strip_prefix("  ").unwrap_or(line);
            let opens = |line: &str| line.starts_with('[') || line.starts_with('#');
            let rank = |line: &str| match line.strip_prefix("  ") {
                Some(inner) if inner.starts_with("unless: ") => 2,
                Some(inner) if inner.starts_with("why: ") => 3,
                Some(inner) if inner.starts_with("try: ") => 4,
                Some(_) => 1,
                None => 0,
            };
            let blanks = inner.trim() != inner || inner.contains("  ") || inner.contains('\t');
            let empty_lines = line.is_empty() && before.is_empty();
            let opens_at_once =
                opens(line) && number > 1 && !before.is_empty() && !before.starts_with('#');
            let parted = !line.is_empty() && !opens(line) && before.is_empty();
            let order = match rank(line) {
                0 => matches!(rank(before), 1..=3),
                here @ (1 | 2) => rank(before) > here,
                here => rank(before) >= here,
            };
            let is_formed = ![blanks, empty_lines, opens_at_once, parted, order].contains(&true);
            if !is_formed {
                wrong.push(format!("{name}:{number}: {line}"));
            }
            before = line;
        }
        assert!(!text.ends_with("\n\n"), "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_line() {
    let text = "\
stray
[git] -C
push-main graev
  push @nosuch
  why: x
late high sometimes
  push %$nosuch
  push @secret:x
  push @env
  unless: @nosuch
  unless:

[]
empty low
  x
  why: x
  try: y
";
    let told: Vec<String> = check("own", text)
        .iter()
        .map(|fault| format!("{}: {}", fault.line, fault.message))
        .collect();
    let expected = [
        "1: a rule belongs below a section: `[program]`",
        "3: `graev` is not a severity; expected one of",
        "3: `own:push-main` has no way out: `try: …`",
        "4: there is no predicate `@nosuch`",
        "6: behind the severity only `strict` may stand",
        "6: `own:late` has no reason: `why: …`",
        "6: `own:late` has no way out: `try: …`",
        "7: there is no list `$nosuch`",
        "8: `@secret` takes no value",
        "9: `@env` takes a value: `@name:value`",
        "10: there is no predicate `@nosuch`",
        "11: nothing stands behind it: `unless: CONDITIONS`",
        "13: a section names programs",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for line in expected {
        assert!(
            told.iter().any(|told| told.starts_with(line)),
            "{line}\n{told:#?}"
        );
    }
}

/// `unless:` excuses a rule whichever of its patterns holds, in a file of a user's own as in the program's; who asks why a
/// rule does not hold is told what excused.
#[test]
fn what_excuses_a_rule_stands_once_for_all_its_patterns() {
    let text = "[deploy] -e\nproduction high\n  production\n  --all\n  unless: --dry-run\n  unless: @env:SANDBOX\n  why: x\n  try: y\n";
    let selection = Selection {
        files: vec![RuleFile::new("own", text).unwrap()],
        ..Selection::default()
    };
    for (command, is_broken, missing) in [
        ("deploy production", true, None),
        ("deploy --all", true, None),
        ("deploy production --dry-run=none", true, None),
        (
            "deploy production --dry-run",
            false,
            Some("unless: --dry-run"),
        ),
        (
            "SANDBOX=1 deploy --all",
            false,
            Some("unless: @env:SANDBOX"),
        ),
    ] {
        let analysis = analyse(command, Surroundings::default());
        let found = judge(&analysis, &selection);
        assert_eq!(!found.is_empty(), is_broken, "{command}: {found:?}");
        let near = near(&analysis, &selection, &NothingKnown);
        let told: Vec<_> = near.iter().map(|near| near.missing.as_deref()).collect();
        assert_eq!(told, [missing], "{command}");
    }
}

#[test]
fn a_file_of_a_users_own_takes_no_name_of_the_program() {
    let text = "[a]\nb low\n  c\n  why: d\n  try: e\n";
    assert!(RuleFile::new("own", text).is_ok());
    assert!(RuleFile::new("git", text).is_err());
    assert_eq!(
        RuleFile::new("own", &text.repeat(2)).unwrap_err()[0].message,
        "the rule `own:b` stands twice"
    );
}

/// Every way out that a rule names as a command passes the whole policy that `init` writes, in a repository that tracks it, and
/// the rules that hold beside it where the rule is a strict one.
#[test]
fn no_way_out_is_stopped_by_the_policy() {
    let world = repository();
    world.write(".ahp/hooks.yaml", "extends: [ahp:standard]\n");
    world.write(".gitignore", "data/\n");
    world.commit("policy");
    // A way out is for a branch of one's own.
    world.git(&["switch", "-q", "-c", "work"]);
    let mut wrong = Vec::new();
    let mut ways = Vec::new();
    for rule in all_rules() {
        let commands = rule.instead.split('`').skip(1).step_by(2);
        for command in commands.filter(|command| command.contains(' ')) {
            let command = command.replace(['<', '>'], "");
            let preset = if rule.strict {
                &*rule.preset
            } else {
                "standard"
            };
            let selection = Selection {
                presets: vec![preset.to_owned()],
                ..Selection::default()
            };
            for found in judge(&analyse(&command, Surroundings::default()), &selection) {
                wrong.push(format!(
                    "{}: `{command}` is stopped by {}",
                    rule.id, found.rule
                ));
            }
            ways.push((rule.id.clone(), command));
        }
    }
    let events: Vec<String> = ways
        .iter()
        .map(|(_, command)| {
            let tool = json!({"name": "Bash", "input": {"command": command}});
            json!({"trigger": "pre-tool-use", "tool": tool, "work_dir": world.root()}).to_string()
        })
        .collect();
    world.write("../events.jsonl", events.join("\n"));
    let ran = world.ahp(&["run", "--events", "../events.jsonl", "--format", "json"]);
    let verdicts: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(verdicts.len(), ways.len(), "{}{}", ran.stdout, ran.stderr);
    for ((rule, command), verdict) in ways.iter().zip(verdicts) {
        let verdict: Value = serde_json::from_str(verdict).unwrap();
        if matches!(verdict["decision"].as_str(), Some("block" | "ask")) {
            let said = verdict["signals"][0]["payload"].to_string();
            wrong.push(format!("{rule}: `{command}` is stopped: {said}"));
        }
    }
    assert!(ways.len() > 100, "only {} commands", ways.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A way out is more than a person: where nothing else is left, the way says what to look at meanwhile.
#[test]
fn every_way_out_is_one_that_an_agent_can_take() {
    let only_a_person = ["ask a person", "let a person", "a person "];
    let idle = |way: &str| only_a_person.iter().any(|start| way.starts_with(start));
    let wrong: Vec<_> = all_rules()
        .iter()
        .filter(|rule| idle(&rule.instead))
        .map(|rule| format!("{}: {}", rule.id, rule.instead))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_reason_and_way_out_is_short() {
    for rule in all_rules() {
        assert!(
            rule.reason.chars().count() <= 120,
            "{}: {}",
            rule.id,
            rule.reason
        );
        assert!(
            rule.instead.chars().count() <= 160,
            "{}: {}",
            rule.id,
            rule.instead
        );
    }
}
