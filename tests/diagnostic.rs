//! Codes of diagnostics, and the names that they offer for misspelt ones.

use ahp::diagnostic::{Code, SourceMap, nearest};

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

#[test]
fn nothing_is_compared_that_is_too_long_to_be_a_name() {
    let (long, longer) = ("a".repeat(90), "a".repeat(110));
    assert_eq!(nearest(&long, [&*"a".repeat(91)]).map(str::len), Some(91));
    for (given, known) in [(&long, &longer), (&longer, &long)] {
        assert_eq!(nearest(given, [&**known]), None);
    }
}

#[test]
fn what_was_approved_is_known_by_how_it_was_read_and_not_by_its_name() {
    let mut sources = SourceMap::default();
    let named = sources.add("rules.yaml (approved)", "");
    let twice = sources.add("rules.yaml (approved)", "");
    let approved = sources.add_approved("rules.yaml", "");
    for (file, is_approved, path) in [
        (named, false, "rules.yaml (approved)"),
        (twice, false, "rules.yaml (approved)"),
        (approved, true, "rules.yaml"),
    ] {
        assert_eq!(sources.is_approved(file), is_approved, "{file:?}");
        assert_eq!(sources.get(file).unwrap().path(), path, "{file:?}");
    }
}
