//! Codes of diagnostics, and the names that they offer for misspelt ones.

use ahp::diagnostic::{Code, nearest};

#[test]
fn codes_are_unique_and_have_a_meaning() {
    let mut names: Vec<_> = Code::ALL.iter().map(|c| c.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Code::ALL.len());
    assert!(Code::ALL.iter().all(|c| c.meaning().ends_with('.')));
}

#[test]
fn a_slip_is_found_and_a_stranger_is_not() {
    let known = ["oracle", "config", "when", "priority"];
    assert_eq!(nearest("orcale", known), Some("oracle"));
    assert_eq!(nearest("Priorty", known), Some("priority"));
    assert_eq!(nearest("banana", known), None);
}
