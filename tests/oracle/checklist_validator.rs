//! ChecklistValidator.

use ahp::event::Trigger;
use ahp::signal::{Intensity, Signal};
use ahp::workspace::MemoryWorkspace;

use super::bench::{Bench, config_error};
use crate::world::steps;

const NAME: &str = "ChecklistValidator";

const TWO_OF_THREE: &str = "---
id: FEAT-0123
type: feature
---

## Acceptance Criteria

- [x] Unit tests
- [x] Login form

## Technical Tasks

- [ ] API docs
";

fn judge(issue: &str, config: &str) -> Vec<Signal> {
    bench(issue).judge(NAME, config)
}

fn bench(issue: &str) -> Bench {
    let workspace = MemoryWorkspace::new("/project").with_file("Issues/FEAT-0123-x.md", issue);
    Bench::new(Trigger::PreIssueSubmit, workspace).issue("FEAT-0123")
}

fn only(signals: Vec<Signal>) -> Signal {
    let [signal] = <[Signal; 1]>::try_from(signals).unwrap();
    signal
}

#[test]
fn a_complete_checklist_is_accepted() {
    assert!(judge("---\nid: FEAT-0123\n---\n- [x] a\n- [~] given up\n", "").is_empty());
    assert!(judge("---\nid: FEAT-0123\n---\nno checklist\n", "").is_empty());
    let no_issue = Bench::new(Trigger::PreAgentTurnStop, MemoryWorkspace::new("/project"));
    assert!(no_issue.judge(NAME, "").is_empty());
}

#[test]
fn an_open_item_blocks_with_its_id_line_and_step() {
    let signal = only(judge(TWO_OF_THREE, ""));
    assert_eq!(signal.intensity(), Intensity::Block);
    assert_eq!(signal.header.kind, "checklist-incomplete");
    assert_eq!(
        signal.payload.text(),
        "checklist is not complete: 2 of 3 items done, open: [chk-003] API docs (line 13)"
    );
    assert_eq!(steps(&signal), ["Complete `chk-003` (line 13): API docs"]);
    assert_eq!(signal.context.files, ["Issues/FEAT-0123-x.md"]);
}

#[test]
fn only_allow_partial_lets_open_items_pass() {
    for config in [
        "",
        "min_completion_rate: 0.5",
        "{allow_partial: false, min_completion_rate: 0}",
    ] {
        assert_eq!(
            only(judge(TWO_OF_THREE, config)).intensity(),
            Intensity::Block,
            "{config}"
        );
    }
    let passed = only(judge(
        TWO_OF_THREE,
        "{allow_partial: true, min_completion_rate: 0.66}",
    ));
    assert_eq!(passed.intensity(), Intensity::Prompt);
    assert_eq!(
        passed.payload.text(),
        "checklist is not complete: 2 of 3 items done (66.6 %, at least 66 % are needed), open: [chk-003] API docs (line 13)"
    );
    assert_eq!(steps(&passed), ["Complete `chk-003` (line 13): API docs"]);
    for config in [
        "allow_partial: true",
        "{allow_partial: true, min_completion_rate: 0.67}",
    ] {
        let signal = only(judge(TWO_OF_THREE, config));
        assert_eq!(signal.intensity(), Intensity::Block, "{config}");
    }
}

#[test]
fn sections_and_ids_choose_what_counts() {
    assert!(judge(TWO_OF_THREE, "sections: acceptance criteria").is_empty());
    assert_eq!(judge(TWO_OF_THREE, "sections: [Technical Tasks]").len(), 1);
    assert!(judge(TWO_OF_THREE, "ids: [chk-001, CHK-002]").is_empty());
    assert_eq!(judge(TWO_OF_THREE, "ids: chk-003").len(), 1);
    let signal = only(judge(TWO_OF_THREE, "ids: [chk-001, chk-009]"));
    assert_eq!(signal.header.kind, "checklist-missing");
    assert!(signal.payload.text().contains("`chk-009`"), "{signal:?}");
    let signal = only(judge(TWO_OF_THREE, "sections: Review"));
    assert!(
        signal.payload.text().contains("there is no such heading"),
        "{signal:?}"
    );
    // A section that is there and has no items, or one of several, is enough.
    assert!(judge(TWO_OF_THREE, "sections: [Review, Acceptance Criteria]").is_empty());
    let deeper = "---\nid: FEAT-0123\n---\n## Tasks\n### Backend\n- [ ] a\n## Other\n- [ ] b\n";
    let signal = only(judge(deeper, "sections: Tasks"));
    assert_eq!(steps(&signal).len(), 1);
}

#[test]
fn a_list_in_the_front_matter_has_ids_and_an_order() {
    let issue = "---\nid: FEAT-0123\nchecklist:\n- {id: chk-a, item: Code, checked: false}\n- {id: chk-b, item: Docs, checked: false, depends_on: [chk-a]}\n- {id: chk-c, item: Plan, checked: true}\n---\n";
    let signal = only(judge(issue, "sections: Technical Tasks"));
    assert_eq!(
        steps(&signal),
        [
            "Complete `chk-a` (line 4): Code",
            "Complete `chk-b` (line 5): Docs, after `chk-a`"
        ]
    );
}

#[test]
fn an_issue_that_cannot_be_found_or_read_blocks() {
    let missing =
        Bench::new(Trigger::PreIssueSubmit, MemoryWorkspace::new("/project")).issue("FEAT-9");
    let signal = only(missing.judge(NAME, ""));
    assert_eq!(
        (signal.header.kind.as_str(), signal.intensity()),
        ("issue-not-found", Intensity::Block)
    );
    assert!(
        signal
            .payload
            .text()
            .contains("no issue `FEAT-9` was found below `Issues`")
    );

    let signal = only(judge(
        "---\nid: FEAT-0123\ntitle: [open\n---\n- [x] a\n",
        "",
    ));
    assert_eq!(
        (signal.header.kind.as_str(), signal.intensity()),
        ("issue-unreadable", Intensity::Block)
    );
    assert!(
        signal.payload.text().contains("Issues/FEAT-0123-x.md:3:"),
        "{signal:?}"
    );
    assert_eq!(steps(&signal), ["Fix line 3 of Issues/FEAT-0123-x.md"]);
}

#[test]
fn equal_findings_have_equal_fingerprints() {
    let first = only(judge(TWO_OF_THREE, "")).finding();
    let moved =
        format!("{TWO_OF_THREE}\n- [x] One more\n").replace("## Technical", "\n\n## Technical");
    assert_eq!(only(judge(&moved, "")).finding(), first);
    let other = TWO_OF_THREE.replace("API docs", "User manual");
    assert_ne!(only(judge(&other, "")).finding(), first);
    // What has an id is the same finding however it is worded.
    for (with_id, reworded) in [
        (
            "---\nid: FEAT-0123\nchecklist:\n  - {id: c1, item: Docs, checked: false}\n---\n",
            "---\nid: FEAT-0123\nchecklist:\n  - {id: c1, item: Write the docs, checked: false}\n---\n",
        ),
        (
            "---\nid: FEAT-0123\n---\n- [ ] chk-007: API docs\n",
            "---\nid: FEAT-0123\n---\n- [x] more\n- [ ] chk-007: Docs\n",
        ),
    ] {
        let first = only(judge(with_id, "")).finding();
        assert_eq!(only(judge(reworded, "")).finding(), first);
        let other = with_id.replace("c1", "c2").replace("chk-007", "chk-008");
        assert_ne!(only(judge(&other, "")).finding(), first);
    }
}

#[test]
fn ten_thousand_open_items_are_cut_to_a_readable_length() {
    let issue = format!("---\nid: FEAT-0123\n---\n{}", "- [ ] item\n".repeat(10_000));
    let signal = only(judge(&issue, ""));
    assert!(signal.payload.text().ends_with("and 9980 more"));
    assert_eq!(steps(&signal).len(), 41);
    assert!(steps(&signal)[40].starts_with("Complete the other 9960 open items"));
}

#[test]
fn a_wrong_configuration_is_told_at_its_place() {
    let cases = [
        (
            "min_completion_rate: 90",
            "hooks.yaml:1:22 `90` is not a share of a whole; expected 0 to 1, such as `0.9`",
        ),
        (
            "min_completion_rate: -1",
            "hooks.yaml:1:22 `-1` is not a share of a whole; expected 0 to 1",
        ),
        (
            "allow_partial: maybe",
            "hooks.yaml:1:16 expected `true` or `false`, found the text `maybe`",
        ),
        (
            "allow_parital: true",
            "hooks.yaml:1:1 unknown key `allow_parital`",
        ),
        (
            "sections: {a: b}",
            "hooks.yaml:1:11 expected text, or a list of texts, found a map",
        ),
    ];
    for (config, expected) in cases {
        assert_eq!(config_error(NAME, config), expected);
    }
}

/// Whoever words an item in another way must not make a new finding of it.
#[test]
fn an_item_without_an_id_is_known_by_its_words() {
    let of = |item: &str| {
        let issue = format!("---\nid: FEAT-0123\n---\n- [ ] {item}\n");
        only(judge(&issue, "")).finding()
    };
    let first = of("Write the tests for `login`");
    for same in [
        "write the **tests** for login.",
        "Write, for login, the tests!",
    ] {
        assert_eq!(of(same), first, "{same}");
    }
    assert_ne!(of("Write the docs for `login`"), first);
}
