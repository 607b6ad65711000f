//! Patterns: the light engine and the full one answer alike, and errors fit on one line.

use ahp::pattern::Pattern;
use proptest::prelude::*;
use regex::Regex;

#[test]
fn both_engines_find_the_same_place() {
    let pattern = Pattern::new(r"rm\s+-rf\s+/").unwrap();
    assert_eq!(pattern.find("sudo rm  -rf /"), Some(5..14));
    let long = format!("{}rm -rf /", "x ".repeat(4096));
    assert_eq!(pattern.find(&long).map(|r| r.len()), Some(8));
    assert!(pattern.is_match("删除 rm -rf /"));
}

#[test]
fn classes_are_unicode_on_text_that_is_not_ascii() {
    assert_eq!(Pattern::new(r"^\w+$").unwrap().find("表格"), Some(0..6));
    assert!(Pattern::new(r"\p{Han}").unwrap().is_match("x 表"));
    assert!(!Pattern::new(r"\p{Han}").unwrap().is_match("x"));
}

#[test]
fn an_error_is_one_line() {
    for (text, expected) in [
        ("(a", "unclosed group"),
        ("a{1000}{1000}{1000}", "too large"),
        ("(?=x)", "look-around"),
        (r"(a)\1", "backreferences are not supported"),
    ] {
        let error = Pattern::new(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(!error.contains('\n') && !error.ends_with('.'), "{error}");
    }
    assert!(Pattern::new(&"a".repeat(16_385)).is_err());
}

/// Patterns of the pieces that users write, put together at random; most compile.
fn pattern() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c]{1,3}",
        Just(r"\s+".to_owned()),
        Just(r"\S*".to_owned()),
        Just(r"\w+?".to_owned()),
        Just(r"\W".to_owned()),
        Just(r"\d{1,2}".to_owned()),
        Just(r"\b".to_owned()),
        Just("[^a-b ]".to_owned()),
        Just("[[:upper:]]".to_owned()),
        Just("(a|b c)*".to_owned()),
        Just("(?i:B)".to_owned()),
        Just("(?s:.)".to_owned()),
        Just(".*".to_owned()),
        Just("^".to_owned()),
        Just("$".to_owned()),
        Just("|".to_owned()),
        Just("(?m)".to_owned()),
        Just(r"\x41".to_owned()),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_light_engine_answers_as_the_full_one(text in pattern(), haystack in "[a-cA-C0-2 \n_./-]{0,40}") {
        let (Ok(pattern), Ok(full)) = (Pattern::new(&text), Regex::new(&text)) else {
            return Ok(());
        };
        prop_assert_eq!(pattern.find(&haystack), full.find(&haystack).map(|m| m.range()));
        prop_assert_eq!(pattern.is_match(&haystack), full.is_match(&haystack));
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,30}", haystack in "\\PC{0,30}") {
        if let Ok(pattern) = Pattern::new(&text) {
            pattern.find(&haystack);
        }
    }
}
