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
    use super::{is_meant, short};

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
