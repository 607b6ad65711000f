//! What names of stores, stacks and machines say: that they are there for tests.

use crate::words::words;

/// Whether one of the words of a name says that the thing is there for tests: `shop_test`, `e2e`.
pub(super) fn says_test(name: &str) -> bool {
    parts(name).any(|part| is_among(words!("test-words"), part))
}

/// Whether the name of a store, a stack or a machine says so: `shop_unit`, `shoptest`, `compose.it.yml`.
pub(super) fn says_test_store(name: &str) -> bool {
    let is_compound = |part: &str| {
        let lower = part.to_ascii_lowercase();
        let word = lower.trim_end_matches(|c: char| c.is_ascii_digit());
        let word = word.strip_suffix('s').unwrap_or(word);
        let stem = word.strip_suffix("test");
        stem.is_some_and(|stem| stem.is_empty() || stem.len() > 2)
            && !words!("not-tests").contains(&word)
    };
    // Alone, `unit` may be anything.
    let is_kind =
        |part: &str| part.len() < name.len() && is_among(words!("test-store-words"), part);
    says_test(name) || parts(name).any(|part| is_compound(part) || is_kind(part))
}

fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric())
}

fn is_among(words: &[&str], part: &str) -> bool {
    words.iter().any(|word| part.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::{says_test, says_test_store};

    #[test]
    fn names_of_stores_say_that_they_are_for_tests() {
        for name in [
            "shop_unit",
            "shoptest",
            "shop-it",
            "test2",
            "compose.it.yml",
            "pytest_gw0",
        ] {
            assert!(says_test_store(name) && !says_test(name), "{name}");
        }
        for name in [
            "unit",
            "latest",
            "shop_latest",
            "contest",
            "testimonials",
            "protests",
            "iot",
        ] {
            assert!(!says_test_store(name), "{name}");
        }
    }
}
