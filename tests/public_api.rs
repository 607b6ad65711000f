//! Uses the crate as a host program does, from outside only.

use ahp::event::Trigger;

#[test]
fn every_trigger_has_one_canonical_name() {
    let names: Vec<_> = Trigger::ALL.iter().map(|t| t.name()).collect();
    assert_eq!(names.len(), 27);
    assert_eq!(names[names.len() - 1], "post-context-compact");
}
