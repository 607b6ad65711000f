//! What holds for every oracle alike, told by its definition: a new one is judged here without a line of its own.

use std::fs;
use std::time::{Duration, Instant};

use ahp::event::{Event, Trigger};
use ahp::fact::FactSource;
use ahp::oracle::builtin::BUILTINS;
use ahp::oracle::{ConfigError, Definition};
use ahp::signal::{Payload, Signal};
use ahp::verdict::Verdict;
use serde_json::Value;

use super::project::{Project, path_before, refused, script, submission, tool};
use crate::world::World;

/// What a key takes that is a text, a list of texts or a map; what takes numbers and choices is told by its type.
const SAMPLES: &[(&str, &str, &str)] = &[
    ("change-logger", "path", "changes.jsonl"),
    ("checklist-validator", "sections", "[Work]"),
    ("checklist-validator", "ids", "c1"),
    ("command-hooks", "file", "hooks.json"),
    ("commit-message-validator", "pattern", "'^(feat|fix)'"),
    (
        "commit-message-validator",
        "required_fields",
        "[type, body]",
    ),
    ("completion-verifier", "test_globs", "['**/t_*.py']"),
    ("completion-verifier", "doc_globs", "docs/**"),
    ("context-loader", "max_bytes", "4096"),
    ("dependency-checker", "manifest_files", "[Cargo.toml]"),
    ("file-change-limiter", "exclude", "['*.lock']"),
    ("lint-checker", "linters", "[ruff]"),
    ("permission-checker", "dangerous_commands", "[rm -rf]"),
    ("permission-checker", "allow_commands", "[rm -rf x]"),
    ("permission-checker", "protected_paths", "[migrations/**]"),
    ("permission-checker", "preset", "[git, cloud]"),
    ("permission-checker", "rules", "[]"),
    ("retrospective-generator", "path", "'retro/{id}.md'"),
    ("review-trigger", "reviewers", "['@me']"),
    ("review-trigger", "command", "'true'"),
    ("review-trigger", "webhook", "$HOOK"),
    ("security-scanner", "rules", "[no-secrets]"),
    (
        "security-scanner",
        "allow",
        "{paths: ['x/**'], fingerprints: []}",
    ),
    ("security-scanner", "scanners", "['true']"),
    ("self-protection", "paths", "[secrets]"),
    ("test-gate", "command", "'true'"),
    ("test-gate", "report", "[out/*.xml]"),
    ("test-gate", "coverage_report", "lcov.info"),
    ("test-gate", "coverage_threshold", "80"),
    ("test-gate", "max_age", "12h"),
    ("test-gate", "own_runners", "[tools/run.sh]"),
];

/// What an oracle cannot be without.
fn needed(oracle: &str) -> &'static str {
    match oracle {
        "command-hooks" => "file: hooks.json, ",
        _ => "",
    }
}

/// A project with the file that one oracle needs.
fn project() -> Project {
    Project::new(&[("hooks.json", r#"{"hooks": {}}"#)])
}

fn keys(definition: &Definition) -> Vec<(String, Value, Value)> {
    let schema = (definition.schema)().to_value();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(key, property)| (key.clone(), property.clone(), schema.clone()))
        .collect()
}

/// Returns values that a key takes, in YAML.
fn values(oracle: &str, key: &str, property: &Value, schema: &Value) -> Vec<String> {
    let sample = SAMPLES
        .iter()
        .find(|(o, k, _)| *o == oracle && *k == key)
        .map(|(_, _, value)| (*value).to_owned());
    if let Some(sample) = sample {
        return vec![sample];
    }
    let property = property
        .get("anyOf")
        .and_then(|any| any.as_array()?.first())
        .unwrap_or(property);
    let property = property
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|path| schema.pointer(path.trim_start_matches('#')))
        .unwrap_or(property);
    let choices: Vec<String> = ["enum", "oneOf"]
        .iter()
        .filter_map(|kind| property.get(*kind)?.as_array())
        .flatten()
        .filter_map(|choice| choice.as_str().or_else(|| choice.get("const")?.as_str()))
        .map(str::to_owned)
        .collect();
    if !choices.is_empty() {
        return choices;
    }
    let types = property.get("type").unwrap_or(&Value::Null).to_string();
    if types.contains("boolean") {
        vec!["true".to_owned(), "false".to_owned()]
    } else if types.contains("integer") {
        vec!["3".to_owned()]
    } else if types.contains("number") {
        vec!["0.5".to_owned()]
    } else {
        panic!("{oracle}: `{key}` needs a sample: {property}")
    }
}

#[test]
fn every_key_takes_what_its_schema_says_and_refuses_what_it_does_not() {
    let project = project();
    for definition in BUILTINS {
        let (name, kebab) = (definition.name, definition.kebab);
        for (key, property, schema) in keys(definition) {
            let base = if key == "file" { "" } else { needed(kebab) };
            for value in values(kebab, &key, &property, &schema) {
                let config = format!("{{{base}{key}: {value}}}");
                if let Err(ConfigError(faults)) = project.oracle(name, &config) {
                    panic!("{name} refuses {config}: {faults:?}");
                }
            }
            let config = format!("{{{base}{key}: {{no: such}}}}");
            let Err(ConfigError(faults)) = project.oracle(name, &config) else {
                panic!("{name} takes {config}");
            };
            // At the very value: behind the key, not at the beginning.
            let at = config.find(&format!("{key}: {{no")).unwrap() + key.len() + 2;
            assert!(
                faults.iter().all(|f| f
                    .label
                    .as_ref()
                    .is_some_and(|l| l.span.start as usize >= at)),
                "{name} {config}: {faults:?}"
            );
        }
    }
}

#[test]
fn every_oracle_refuses_a_key_that_it_does_not_have() {
    let project = project();
    for definition in BUILTINS {
        let config = format!("{{{}no_such_key: 1}}", needed(definition.kebab));
        let said = refused(project.oracle(definition.name, &config));
        assert!(said.contains("no_such_key"), "{}: {said}", definition.name);
    }
}

/// An event at which an oracle is meant to judge: one of an issue, if it judges at any, which is where it reads most.
fn event(definition: &Definition) -> Event {
    let meant = match definition.triggers {
        [] => &[Trigger::PreToolUse, Trigger::PreIssueSubmit][..],
        some => some,
    };
    let is_of_tool = |trigger: &&Trigger| trigger.name().contains("tool");
    let trigger = meant
        .iter()
        .find(|trigger| !is_of_tool(trigger))
        .unwrap_or(&meant[0]);
    let write =
        || serde_json::json!({"file_path": "big.txt", "content": "x = 1\n".repeat(200_000)});
    {
        let mut event = if is_of_tool(&trigger) {
            tool("Write", write())
        } else {
            submission()
        };
        event.trigger = *trigger;
        event
    }
}

/// Returns how much an agent is told of a signal, where nothing bounds it.
fn verdict_of(signal: &Signal) -> usize {
    let mut verdict = Verdict::none(Trigger::PreIssueSubmit);
    verdict.signals.push(signal.clone());
    ahp::message::for_agent(&verdict, usize::MAX).len()
}

#[test]
fn no_oracle_is_overwhelmed() {
    let project = project().in_git();
    project.write(
        "Issues/FEAT-0001.md",
        format!(
            "---\nid: FEAT-0001\ntitle: T\nsolution: x\ndependencies: [{}]\n---\n\n{}",
            "FEAT-0002, ".repeat(1_000),
            "- [ ] not done\n".repeat(10_000)
        ),
    );
    for n in 0..10_000 {
        project.write(&format!("many/{}/f{n}.txt", n % 100), "x\n");
    }
    let line = "x = 1 # nothing to see\n";
    project.write("big.txt", line.repeat((50 << 20) / line.len()));
    project.write(
        "blob.bin",
        (0..=255_u8).cycle().take(1 << 20).collect::<Vec<_>>(),
    );
    let package = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"0123456789abcdef0123456789abcdef\"\n\n";
    project.write("Cargo.lock", package.repeat(20_000));
    let mut slow = Vec::new();
    for definition in BUILTINS {
        let config = format!("{{{}}}", needed(definition.kebab).trim_end_matches(", "));
        let event = event(definition);
        let trigger = event.trigger;
        let started = Instant::now();
        let signals = project
            .judge_event(definition.name, &config, event, 60.0)
            .unwrap_or_else(|e| panic!("{} at {trigger}: {e}", definition.name));
        slow.push((started.elapsed(), definition.name, trigger));
        for signal in &signals {
            // What programs read is data and not words: a split of all files into batches.
            let mut words = signal.clone();
            if let Payload::Control(control) = &mut words.payload {
                control.modifications.clear();
            }
            for (signal, most) in [(&words, 24 << 10), (signal, 512 << 10)] {
                let said = serde_json::to_string(signal).unwrap().len();
                assert!(
                    said < most,
                    "{} at {trigger} says {said} bytes",
                    definition.name
                );
            }
            let told = verdict_of(signal);
            assert!(told < 48 << 10, "{} tells {told} bytes", definition.name);
        }
    }
    slow.sort_unstable_by_key(|(time, ..)| std::cmp::Reverse(*time));
    assert!(slow[0].0 < Duration::from_secs(30), "{:?}", &slow[..3]);
}

#[test]
fn no_oracle_waits_for_git_past_its_time_nor_leaves_it_behind() {
    for definition in BUILTINS {
        if !definition.needs.contains(&FactSource::Git) {
            continue;
        }
        let trigger = definition
            .triggers
            .first()
            .unwrap_or(&Trigger::PreIssueSubmit);
        let world = World::new(&format!(
            "hooks: {{{}: [{{oracle: {}, timeout: 400ms, on_error: block}}]}}\n",
            trigger.name(),
            definition.name
        ));
        world.git_init();
        let slow = Project::new(&[]);
        script(&slow, "git", "echo $$ >> \"$HOME/pids\"; exec sleep 47");
        let started = Instant::now();
        let ran = world
            .ahp_command()
            .args(["run", trigger.name(), "--issue", "FEAT-0001"])
            .env("PATH", path_before(&slow))
            .env("AHP_TRUST", "all")
            .output()
            .unwrap();
        let took = started.elapsed();
        assert!(
            took < Duration::from_secs(10),
            "{}: {took:?}",
            definition.name
        );
        let pids = fs::read_to_string(world.home().join("pids")).unwrap_or_default();
        for pid in pids.lines() {
            let until = Instant::now() + Duration::from_secs(5);
            let is_git = || {
                fs::read_to_string(format!("/proc/{pid}/cmdline"))
                    .is_ok_and(|line| line.contains("sleep\x0047"))
            };
            while is_git() && Instant::now() < until {
                std::thread::yield_now();
            }
            assert!(!is_git(), "{} leaves git behind: {ran:?}", definition.name);
        }
    }
}

/// What reads files past the workspace, and why it may.
const OWN_READS: &[(&str, &str)] = &[
    (
        "command_hooks.rs",
        "the hook file, which may lie in the user's home",
    ),
    (
        "dependency_checker/maven.rs",
        "the user's settings of Maven",
    ),
    (
        "dependency_checker/npm.rs",
        "what is installed, which git ignores",
    ),
    (
        "lint_checker/fix.rs",
        "files before and after a fixer has changed them",
    ),
    (
        "permission_checker/mod.rs",
        "further rules, when it is made",
    ),
    (
        "security_scanner/rule_file.rs",
        "the rules, when they are loaded",
    ),
    (
        "self_protection/binary.rs",
        "what may be this program under another name",
    ),
    ("self_protection/index.rs", "git's own index"),
    ("test_gate/mod.rs", "reports that the run has just written"),
];

#[test]
fn oracles_read_the_projects_files_through_the_workspace_which_reads_each_once() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/oracle/builtin"));
    let mut found = Vec::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            if path.ends_with("tests.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            if [
                "fs::read(",
                "fs::read_to_string(",
                "File::open(",
                "regular_file::text(",
                "regular_file::read_linked(",
            ]
            .iter()
            .any(|call| code.contains(call))
            {
                found.push(path.strip_prefix(root).unwrap().display().to_string());
            }
        }
    }
    found.sort_unstable();
    let allowed: Vec<&str> = OWN_READS.iter().map(|(file, _)| *file).collect();
    assert_eq!(
        found, allowed,
        "read through `context.workspace()`, or say here why not"
    );
}
