//! The issue of an event is found in one way by every oracle that asks for it.

use ahp::event::{Event, Trigger};

use super::project::{Project, only};

const ISSUE: &str = "---\nid: FEAT-0001\nstatus: open\ntitle: T\n---\n\n- [ ] an open item\n";

#[test]
fn an_event_without_an_issue_is_about_that_of_the_branch() {
    let project = Project::new(&[("Issues/Features/open/FEAT-0001-t.md", ISSUE)]).in_git();
    let stop = Event::new(Trigger::PreAgentTurnStop);
    let judge = |oracle: &str| project.judge_event(oracle, "", stop.clone(), 10.0).unwrap();
    assert!(judge("ChecklistValidator").is_empty());
    project.git(&["checkout", "-q", "-b", "me/FEAT-0001-a-title"]);
    let signals = judge("ChecklistValidator");
    assert_eq!(only(&signals).0, "checklist-incomplete");
    assert_eq!(only(&judge("ContextLoader")).0, "issue-context");
    // A branch that only looks as if it were named after an issue.
    project.git(&["checkout", "-q", "-b", "me/fix-12"]);
    assert!(judge("ChecklistValidator").is_empty());
    assert!(judge("ContextLoader").is_empty());
}
