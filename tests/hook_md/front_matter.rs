//! The rules of the fields: what is valid, and that all faults are told at once.

use std::time::Duration;

use ahp::diagnostic::{FileId, SourceMap};
use ahp::event::Trigger;
use ahp::hook_md::{FrontMatter, parse};

/// Parses the fields of a hook in the folder `a-hook`.
fn read(fields: &str) -> Result<FrontMatter, String> {
    read_in("a-hook", &format!("---\n{fields}\n---\nWords\n")).0
}

fn read_in(folder: &str, text: &str) -> (Result<FrontMatter, String>, String) {
    let mut sources = SourceMap::default();
    sources.add("HOOK.md", text);
    let parsed = parse(text, folder, FileId::default());
    let lines: Vec<_> = parsed
        .diagnostics
        .iter()
        .map(|fault| fault.one_line(&sources))
        .collect();
    let lines = lines.join("\n");
    (parsed.front.ok_or_else(|| lines.clone()), lines)
}

const BASE: &str = "name: a-hook\ndescription: d\ntrigger: pre-tool-call";

#[track_caller]
fn fails(fields: &str, says: &str) {
    match read(fields) {
        Ok(front) => panic!("valid: {front:?}"),
        Err(faults) => assert!(faults.contains(says), "{faults}"),
    }
}

#[test]
fn defaults_are_those_of_the_standard() {
    let front = read(BASE).unwrap();
    assert_eq!(front.timeout, Duration::from_secs(30));
    assert_eq!(front.priority, 100);
    assert!(!front.is_async);
    assert!(front.matcher.is_empty());
    assert_eq!(front.trigger, Trigger::PreToolUse);
    assert_eq!(front.event_type, "pre-tool-call");
}

#[test]
fn all_three_generations_of_events_are_known() {
    let names = "pre-session post-session pre-agent-turn post-agent-turn pre-agent-turn-stop \
                 post-agent-turn-stop pre-tool-call post-tool-call post-tool-call-failure pre-subagent \
                 post-subagent pre-context-compact post-context-compact session_start session_end before_agent \
                 after_agent before_tool after_tool after_tool_failure subagent_start subagent_stop pre_compact \
                 before_stop PreToolUse Stop pre-issue-submit post-issue-close";
    for name in names.split_whitespace() {
        let front = read(&format!("name: a-hook\ndescription: d\ntrigger: {name}")).unwrap();
        assert_eq!(front.event_type, name);
    }
    fails(
        "name: a-hook\ndescription: d\ntrigger: before_tools",
        "unknown trigger `before_tools`; did you mean `before_tool`?",
    );
}

#[test]
fn every_fault_is_told_at_once_with_its_place() {
    let faults = read(
        "name: A--Hook-\ntrigger: nope\nmatcher: {tools: x, pattern: '('}\ntimeout: 5s\npriority: 1001\nasync: perhaps\nmetadata: [a]\ncolour: red",
    )
    .unwrap_err();
    for says in [
        "HOOK.md:2:7: error[bad-hook]: `name` must be lower case",
        "two hyphens in a row",
        "start nor end with a hyphen",
        "but the folder is `a-hook`",
        "the field `description` is missing",
        "unknown trigger `nope`",
        "unknown field `tools`; did you mean `tool`?",
        "`matcher.pattern` is not a regular expression",
        "`timeout` is `5s`, not a whole number; the unit is the millisecond",
        "`priority` is 1001; it must lie between 0 and 1000",
        "`async` is neither `true` nor `false`",
        "`metadata` is a list, not a map",
        "HOOK.md:9:1: error[unknown-key]: unknown field `colour`",
    ] {
        assert!(faults.contains(says), "{says}\n---\n{faults}");
    }
}

#[test]
fn names_follow_the_standard() {
    let named = |name: &str, folder: &str| {
        read_in(
            folder,
            &format!("---\nname: {name}\ndescription: d\ntrigger: Stop\n---\n"),
        )
        .0
    };
    for name in ["a", "a-b-2", "安全检查", "123", "größe", &"x".repeat(64)] {
        assert_eq!(named(name, name).unwrap().name, name);
    }
    // Full-width letters and the ligature are what NFKC makes of them, in the name and in the folder.
    assert_eq!(named("ａｂ", "ab").unwrap().name, "ab");
    assert_eq!(named("ﬁx", "ﬁx").unwrap().name, "fix");
    assert_eq!(named("\"  a  \"", "a").unwrap().name, "a");
    for (name, says) in [
        ("a_b", "holds `_`"),
        ("a b", "holds ` `"),
        ("-a", "hyphen"),
        ("a--b", "two hyphens"),
        ("\"\"", "`name` is empty"),
        ("[a]", "`name` is a list"),
    ] {
        let faults = named(name, name).unwrap_err();
        assert!(faults.contains(says), "{faults}");
    }
    let long = "x".repeat(65);
    assert!(named(&long, &long).unwrap_err().contains("65 characters"));
}

#[test]
fn descriptions_have_a_length() {
    let with = |text: &str| read(&format!("name: a-hook\ntrigger: Stop\ndescription: {text}"));
    with(&"é".repeat(1024)).unwrap();
    assert!(with(&"é".repeat(1025)).unwrap_err().contains("1025"));
    assert!(with("\"  \"").unwrap_err().contains("empty"));
    with("|\n  Two\n  lines").unwrap();
}

#[test]
fn numbers_and_truths_may_be_text() {
    let front = read(&format!(
        "{BASE}\ntimeout: \"5000\"\npriority: '7'\nasync_: 'Yes'"
    ))
    .unwrap();
    assert_eq!(front.timeout, Duration::from_secs(5));
    assert_eq!(front.priority, 7);
    assert!(front.is_async);
    for (text, is) in [("true", true), ("1", true), ("no", false), ("False", false)] {
        assert_eq!(
            read(&format!("{BASE}\nasync: {text}")).unwrap().is_async,
            is
        );
    }
    for value in ["99", "600001", "-5", "1.5", "99999999999999999999"] {
        fails(&format!("{BASE}\ntimeout: {value}"), "`timeout`");
    }
    fails(&format!("{BASE}\nasync: true\nasync_: true"), "both given");
}

#[test]
fn metadata_is_text_to_text() {
    let front = read(&format!(
        "{BASE}\nmetadata:\n  version: 1.5\n  locked: true"
    ))
    .unwrap();
    assert_eq!(front.metadata["version"], "1.5");
    assert!(front.is_locked());
    fails(
        &format!("{BASE}\nmetadata: {{a: {{b: c}}}}"),
        "`metadata.a` is a map, not text",
    );
}

#[test]
fn escapes_that_yaml_does_not_know_stand_for_themselves() {
    let text = format!("---\n{BASE}\nmatcher:\n  pattern: \"\\.py$\"\n---\n");
    let (front, said) = read_in("a-hook", &text);
    assert_eq!(front.unwrap().matcher.pattern.as_deref(), Some(r"\.py$"));
    assert!(
        said.contains(r"HOOK.md:6:12: warning[syntax]: an escape that YAML does not know"),
        "{said}"
    );
    assert!(
        said.contains(r"write it in single quotes: `'\.py$'`"),
        "{said}"
    );

    let text = format!("---\n{BASE}\nmatcher: {{pattern: \"\\d\"}}\npriority: x\n---\n");
    let (front, said) = read_in("a-hook", &text);
    assert!(front.is_err());
    assert!(said.contains("HOOK.md:6:11: error"), "{said}");
}

#[test]
fn the_frame_is_required() {
    for (text, says) in [
        ("", "does not start with `---`"),
        ("name: a", "does not start with `---`"),
        ("---\nname: a\n", "is not closed by `---`"),
        ("---\n- a\n---\n", "is a list, not a map"),
        ("---\nname: [a\n---\n", "bracket"),
        ("---\nname: a\nname: b\n---\n", "`name` stands twice"),
        ("---\n---\n", "the field `name` is missing"),
    ] {
        let faults = read_in("a-hook", text).0.unwrap_err();
        assert!(faults.contains(says), "{text:?}: {faults}");
    }
    let dos = format!("\u{feff}---\r\n{}\r\n---\r\n", BASE.replace('\n', "\r\n"));
    read_in("a-hook", &dos).0.unwrap();
    let only = format!("---\n{BASE}\n---");
    read_in("a-hook", &only).0.unwrap();
}
