//! Names of tests, as their runners write them and as people do.

/// What stands between the parts of a name: modules, classes, files, titles, parameters.
const SEPARATORS: &[char] = &['/', '.', '[', ']', '>', '#'];

/// Returns the part of a test's name that stands in its source: `adds` of `com.p.SumTest.adds`, of `sums::adds` and of
/// `a.test.js > sums > adds`; `test_a` of `test_a[1]`, `TestA` of `TestA/sub`.
pub(in crate::oracle) fn short(name: &str) -> &str {
    let name = name.rsplit(" > ").next().unwrap_or(name);
    let name = name.rsplit("::").next().unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    if name.contains(' ') {
        return name;
    }
    // A test of Go begins with a capital, and no part of its package's path does.
    name.split('/')
        .filter_map(|part| part.rsplit('.').next())
        .find(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))
        .or_else(|| name.rsplit('.').next())
        .unwrap_or(name)
}

/// Returns a (short) name without what a run may compute in it: numbers, times, addresses, ids.
pub(in crate::oracle) fn template(name: &str) -> String {
    let mut template = String::with_capacity(name.len());
    for word in name.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let (word, end) = match word.char_indices().next_back() {
            Some((at, last)) if !last.is_ascii_alphanumeric() => word.split_at(at),
            _ => (word, ""),
        };
        let is_hex = word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit());
        let has_digit = word.contains(|c: char| c.is_ascii_digit());
        if has_digit && (is_hex || word.starts_with("0x")) {
            template.push(COMPUTED);
        } else {
            let mut was_digit = false;
            for c in word.chars() {
                if !c.is_ascii_digit() {
                    template.push(c);
                } else if !was_digit {
                    template.push(COMPUTED);
                }
                was_digit = c.is_ascii_digit();
            }
        }
        template.push_str(end);
    }
    template
}

/// What stands in a template for what is computed.
const COMPUTED: char = '\u{0}';

/// Returns what of a template stands in the source as it is; none where that would tell it from nothing.
pub(in crate::oracle) fn fixed(template: &str) -> Vec<&str> {
    // Of an example in the documentation, `src/lib.rs - add (line 4)`, it is the item, or that of the file itself.
    if let Some((place, _)) = template.split_once(" (line ") {
        let item = place.rsplit([' ', ':']).next();
        return vec![item.filter(|item| *item != "-").unwrap_or("//!")];
    }
    let parts = template.split(COMPUTED).map(str::trim);
    parts
        .filter(|part| part.chars().filter(|c| c.is_alphabetic()).count() >= 3)
        .collect()
}

/// Whether a test is the one, or one of those, that a person means: by its name, its class, its module or its file. A name
/// that only holds the other one is another name.
pub(in crate::oracle) fn is_meant(test: &str, wanted: &str) -> bool {
    let (test, wanted) = (parts(test), parts(wanted));
    !wanted.is_empty() && test.windows(wanted.len()).any(|part| part == wanted)
}

fn parts(name: &str) -> Vec<&str> {
    let parts = name.split("::").flat_map(|part| part.split(SEPARATORS));
    parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{fixed, is_meant, short, template};

    #[test]
    fn a_name_is_known_again_whatever_is_computed_in_it() {
        for (name, other, is_same, parts) in [
            ("adds 1 and 2", "adds 10 and 3", true, "adds|and"),
            (
                "at 2026-11-26T10:15:00Z",
                "at 2027-01-02T03:04:05Z",
                true,
                "",
            ),
            ("of 7f3a9c01d2 rows", "of 0123456789 rows", true, "rows"),
            ("at 0x7f, cleared", "at 0x80, cleared", true, ", cleared"),
            ("adds 1", "subtracts 1", false, "adds"),
            ("reads facade", "reads decade", false, "reads facade"),
            ("17", "18", true, ""),
            (
                "src/a.rs - m::add (line 4)",
                "src/a.rs - m::add (line 17)",
                true,
                "add",
            ),
            ("add (line 4)", "add (line 4) - compile", false, "add"),
            (
                "src/lib.rs - (line 1)",
                "src/lib.rs - (line 3)",
                true,
                "//!",
            ),
        ] {
            assert_eq!(template(name) == template(other), is_same, "{name}");
            assert_eq!(fixed(&template(name)).join("|"), parts, "{name}");
        }
    }

    #[test]
    fn a_name_is_cut_to_what_stands_in_the_source() {
        for (name, expected) in [
            (
                "tests/test_a.py > tests/test_a.py::TestA::test_b[1-2]",
                "test_b",
            ),
            ("a.test.js > sums > adds two numbers", "adds two numbers"),
            ("sums::tests::adds", "adds"),
            ("com.example.SumTest.adds", "adds"),
            ("example.com/p/sub.TestAdds/zero", "TestAdds"),
            ("example.com/p.TestAdds", "TestAdds"),
            ("TestAdds/zero", "TestAdds"),
        ] {
            assert_eq!(short(name), expected, "{name}");
        }
    }

    #[test]
    fn a_test_is_meant_by_whole_parts_of_its_name() {
        for (test, wanted, expected) in [
            ("sums::tests::adds", "adds", true),
            ("sums::tests::adds", "sums", true),
            ("sums::tests::adds", "tests::adds", true),
            ("sums::tests::adds", "add", false),
            ("sums::tests::adds_more", "adds", false),
            (
                "t/test_a.py > t/test_a.py::A::test_b[1-2]",
                "t/test_a.py",
                true,
            ),
            (
                "t/test_a.py > t/test_a.py::A::test_b[1-2]",
                "A::test_b",
                true,
            ),
            ("t/test_a.py > t/test_a.py::A::test_b[1-2]", "test", false),
            (
                "a.test.js > sums > adds two numbers",
                "adds two numbers",
                true,
            ),
            ("a.test.js > sums > adds two numbers", "adds two", false),
            ("example.com/p.TestAdds/zero", "TestAdds", true),
            ("example.com/p.TestAddsMore", "TestAdds", false),
            ("anything", "", false),
            ("anything", "::", false),
        ] {
            assert_eq!(is_meant(test, wanted), expected, "{test} {wanted}");
        }
    }
}
