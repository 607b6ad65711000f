//! Words: the lists of `policies/words.txt`, by which rules and predicates know programs, files and hosts. The compiler takes
//! the file apart; a list that is not there is an error of the build.

#![expect(
    clippy::indexing_slicing,
    reason = "run by the compiler, which would tell"
)]

const TEXT: &str = include_str!("../../policies/words.txt");

/// Returns a list of `policies/words.txt` as a slice: of its words, or of its lines with `lines`.
macro_rules! words {
    ($name:literal) => {
        $crate::danger::words::words!($name, b' ')
    };
    ($name:literal, lines) => {
        $crate::danger::words::words!($name, b'\n')
    };
    ($name:literal, $between:expr) => {{
        const PARTS: &[u8] = $crate::danger::words::list($name).as_bytes();
        const COUNT: usize = $crate::danger::words::count(PARTS, $between);
        const WORDS: [&str; COUNT] = $crate::danger::words::split(PARTS, $between);
        &WORDS
    }};
}
pub(crate) use words;

/// Returns the words of a list that a rule names; none where there is no such list.
pub(super) fn find(name: &str) -> Option<impl Iterator<Item = &'static str> + use<>> {
    let (_, rest) = TEXT.split_once(&format!("\n[{name}]\n"))?;
    let list = rest.split("\n\n").next().unwrap_or(rest);
    Some(list.split_ascii_whitespace())
}

/// Returns the text of a list, which a blank line ends.
pub(crate) const fn list(name: &str) -> &'static str {
    let (text, name) = (TEXT.as_bytes(), name.as_bytes());
    let mut at = 0;
    while !is_header(text, at, name) {
        at += 1;
        assert!(at < text.len(), "policies/words.txt has no such list");
    }
    let start = at + name.len() + 3;
    let mut end = start;
    while end + 1 < text.len() && !(text[end] == b'\n' && text[end + 1] == b'\n') {
        end += 1;
    }
    TEXT.split_at(end).0.split_at(start).1
}

const fn is_header(text: &[u8], at: usize, name: &[u8]) -> bool {
    let end = at + name.len() + 1;
    if end + 1 >= text.len() || text[at] != b'[' || text[end] != b']' || text[end + 1] != b'\n' {
        return false;
    }
    let mut i = 0;
    while i < name.len() {
        if text[at + 1 + i] != name[i] {
            return false;
        }
        i += 1;
    }
    true
}

const fn ends(byte: u8, between: u8) -> bool {
    byte == b'\n' || byte == between
}

/// Returns how many parts a list has.
pub(crate) const fn count(list: &[u8], between: u8) -> usize {
    let (mut parts, mut at) = (0, 0);
    while at < list.len() {
        if !ends(list[at], between) && (at + 1 == list.len() || ends(list[at + 1], between)) {
            parts += 1;
        }
        at += 1;
    }
    parts
}

/// Takes a list apart.
pub(crate) const fn split<const COUNT: usize>(
    list: &'static [u8],
    between: u8,
) -> [&'static str; COUNT] {
    let mut parts = [""; COUNT];
    let (mut part, mut start, mut at) = (0, 0, 0);
    while at <= list.len() {
        if at == list.len() || ends(list[at], between) {
            if at > start {
                // Cut at ASCII characters of a text, it is one again.
                if let Ok(text) = str::from_utf8(list.split_at(at).0.split_at(start).1) {
                    parts[part] = text;
                }
                part += 1;
            }
            start = at + 1;
        }
        at += 1;
    }
    parts
}

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
    use super::{find, says_test, says_test_store};

    #[test]
    fn compiler_and_rules_read_a_list_alike() {
        let named: Vec<&str> = find("artifacts").unwrap().collect();
        assert_eq!(named, words!("artifacts"));
        assert!(named.len() > 100);
        assert!(words!("secret-owners", lines).contains(&"GH github"));
        assert!(find("nosuch").is_none());
    }

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
